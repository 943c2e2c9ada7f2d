//! Messages: a number for each, and a table of what is known of them before their bytes are read.

use crate::model::{Direction, Message};

use super::C;
use super::text::{Columns, cite, fill, hex, string};

const TABLE: &str = "\
enum {
    ${directions}
};

/** What is known of a message before its bytes are read. */
struct ${x} {
    uint64_t    value;            /**< Its value in the header. */
    const char *name;             /**< Its name in the registry. */
    uint32_t    metadata;         /**< The layout of its metadata; 0 without. */
    uint32_t    metadata_length;  /**< Bytes of its metadata; 0 without. */
    int         direction;        /**< Who sends it. */
};

/** All ${COUNT} messages, by value. */
static inline const struct ${x} *${x}_table(void)
{
    static const struct ${x} table[] = {
        ${rows}
    };

    return table;
}

/** The message of that value in the header; NULL where there is none. */
static inline const struct ${x} *${x}_find(uint64_t value)
{
    size_t low  = 0;
    size_t high = ${COUNT};

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct ${x} *message = ${x}_table() + middle;

        if (message->value == value) {
            return message;
        }
        if (message->value < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
";

impl C<'_> {
    pub(super) fn messages(&self) -> String {
        let mut messages: Vec<&Message> = self.registry.messages.iter().collect();
        if messages.is_empty() {
            return String::new();
        }
        messages.sort_by_key(|message| message.value);
        let x = self.names.lower("message_info");
        for name in [x.clone(), format!("{x}_table"), format!("{x}_find")] {
            self.names.define(&name, "the message table");
        }
        let direction = |name: &str| self.names.upper(&format!("direction_{name}"));
        for name in ["to_server", "to_client", "both"] {
            self.names.define(&direction(name), "the message table");
        }
        let size = if messages.iter().all(|message| message.value <= 0xff) { 1 } else { 4 };
        let mut values = Columns::default();
        for message in &self.registry.messages {
            let name = self.names.upper(&format!("message_{}", message.name));
            self.names.define(&name, &format!("message `{}`", message.name));
            let size = if message.value > u64::from(u32::MAX) { 8 } else { size };
            let note = format!("{} {}", message.doc, cite(&message.source));
            values.row([format!("#define {name}"), hex(message.value, size)], &note);
        }
        let count = self.names.upper("message_count");
        self.names.define(&count, "the message table");
        let mut rows = Columns::default();
        for message in &messages {
            let layout = message.metadata.map(|position| self.registry.layouts[position].name.as_str());
            let (layout, length) = match layout {
                Some(name) => {
                    (self.names.upper(&format!("layout_{name}")), self.names.upper(&format!("{name}_size")))
                }
                None => ("0".to_owned(), "0".to_owned()),
            };
            let direction = match message.direction {
                Direction::ToServer => direction("to_server"),
                Direction::ToClient => direction("to_client"),
                Direction::Both => direction("both"),
            };
            rows.row(
                [
                    format!("{{ {},", self.names.upper(&format!("message_{}", message.name))),
                    format!("{},", string(&message.name)),
                    format!("{layout},"),
                    format!("{length},"),
                    format!("{direction} }},"),
                ],
                "",
            );
        }
        let mut directions = Columns::default();
        directions.row([direction("to_server"), "= 1,".into()], "From client to server.");
        directions.row([direction("to_client"), "= 2,".into()], "From server to client.");
        directions.row([direction("both"), "= 3,".into()], "Either way.");
        let table = fill(
            TABLE,
            &[("directions", &directions.text()), ("x", &x), ("COUNT", &count), ("rows", &rows.text())],
        );
        format!("{}\n#define {count} {}u\n\n{table}", values.text(), messages.len())
    }
}
