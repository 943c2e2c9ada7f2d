//! Vocabularies: length-prefixed words, ascending and each once.

use crate::model::{ByteOrder, Vocabulary};
use crate::wire::FaultKind;

use super::C;
use super::faults::Blame;
use super::text::{cite, doc, fill, string};

const WORDS: &str = "\
${doc}
static inline bool ${x}_registered(${bytes} word)
{
    static const char *const words[] = {
        ${words}
    };
    size_t low = 0;
    size_t high = sizeof words / sizeof *words;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const ${bytes} known = { (const uint8_t *)words[middle], strlen(words[middle]) };
        const int order = ${compare}(known, word);

        if (order == 0) {
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

/* The first word of `rest`, which goes on behind it. */
static inline int ${x}_first_(${bytes} *rest, const uint8_t *start, ${bytes} *word, ${fault} *fault)
{
    const ${bytes} whole = *rest;
    const ${bytes} prefix = ${front}(rest, ${prefix});
    uint64_t length;

    *word = whole;
    ${refuse_prefix}
    length = ${length};
    *word = ${front}(rest, length);
    ${refuse_length}
    return 0;
}

/** The next word of those that were checked; false at their end. */
static inline bool ${x}_next(${bytes} *rest, ${bytes} *word)
{
    return rest->size > 0 && ${x}_first_(rest, rest->data, word, NULL) == 0;
}

/* Checks words, and counts them. `more` may know others than the registered ones. */
static inline int ${x}_check_(
    ${bytes} block, const uint8_t *start, const struct ${more} *more, uint64_t *count, ${fault} *fault)
{
    ${bytes} rest = block;
    ${bytes} before = { block.data, 0 };

    *count = 0;
    while (rest.size > 0) {
        ${bytes} word;
        const int kind = ${x}_first_(&rest, start, &word, fault);

        if (kind != 0) {
            return kind;
        }
        ${refuse_word}
        ${refuse_order}
        before = word;
        *count += 1;
    }
    return 0;
}
";

/// What all vocabularies share.
pub(super) const MORE: &str = "\
/** Words that a reader knows beside the registered ones. */
struct proto_words {
    bool (*knows)(void *context, proto_bytes word);  /**< Whether it knows a word. */
    void *context;                                   /**< What the function is given. */
};

/* Whether `more` knows a word, which is of lower-case letters, digits, `.`, `_` and `-`. */
static inline bool proto_knows_(const struct proto_words *more, proto_bytes word)
{
    if (more == NULL) {
        return false;
    }
    for (size_t at = 0; at < word.size; at++) {
        const uint8_t byte = word.data[at];

        if (!((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '.' || byte == '_'
              || byte == '-')) {
            return false;
        }
    }
    return more->knows(more->context, word);
}
";

impl C<'_> {
    /// A vocabulary, and the check of its words.
    pub(super) fn vocabulary(&self, item: &Vocabulary) -> String {
        let x = self.names.lower(&item.name);
        let what = format!("vocabulary `{}`", item.name);
        for suffix in ["_registered", "_first_", "_next", "_check_"] {
            self.names.define(&format!("{x}{suffix}"), &what);
        }
        let lower = |name: &str| self.names.lower(name);
        let at = |data: &str| format!("{}(start, {data})", lower("offset_"));
        let blame = |kind, field| Blame::new(kind, &item.name, field, &item.id);
        let prefix = item.length_type.size();
        let refuse_prefix = self.refuse(
            &format!("prefix.size != {prefix}"),
            &blame(FaultKind::TooShort, ""),
            &format!("{} + whole.size", at("whole.data")),
        );
        let refuse_length = self.refuse(
            "length == 0 || word->size != length",
            &blame(FaultKind::Length, "length"),
            &at("prefix.data"),
        );
        let refuse_word = self.refuse(
            &format!("!{x}_registered(word) && !{}(more, word)", lower("knows_")),
            &blame(FaultKind::UnknownValue, "word"),
            &at("word.data"),
        );
        let refuse_order = self.refuse(
            &format!("{}(before, word) >= 0", lower("compare_words_")),
            &blame(FaultKind::Rule, "word"),
            &at("word.data"),
        );
        let order = if self.registry.protocol.byte_order == ByteOrder::Big { "be" } else { "le" };
        let length = match prefix {
            1 => "prefix.data[0]".to_owned(),
            size => format!("{}(prefix.data)", lower(&format!("load_u{}{order}_", size * 8))),
        };
        // Sorted as the search wants them.
        let words: String = item.words.iter().map(|(word, _)| format!("{},\n", string(word))).collect();
        let docs = doc([format!("Whether a word is registered. {}", item.doc), cite(&item.source)]);
        fill(
            WORDS,
            &[
                ("doc", &docs),
                ("x", &x),
                ("bytes", &lower("bytes")),
                ("fault", &lower("fault")),
                ("front", &lower("front_")),
                ("compare", &lower("compare_words_")),
                ("more", &lower("words")),
                ("words", &words),
                ("prefix", &prefix.to_string()),
                ("length", &length),
                ("refuse_prefix", &refuse_prefix),
                ("refuse_length", &refuse_length),
                ("refuse_word", &refuse_word),
                ("refuse_order", &refuse_order),
            ],
        )
    }
}
