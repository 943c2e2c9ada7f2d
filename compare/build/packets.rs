//! What the other sides need to read and write whole packets: their metadata by message, and how bodies are cut.

use std::fmt::Write;

use nnrp_gen::model::{Content, Message, Registry};

use crate::{pascal, published};

/// The messages in the stream that is measured.
const STREAM: [&str; 18] = [
    "client_hello",
    "session_open",
    "session_open_ack",
    "frame_submit",
    "result_push",
    "partial_result",
    "progress",
    "flow_update",
    "credit_update",
    "backpressure",
    "deadline",
    "cancel",
    "trace_context",
    "object_declare",
    "capability_negotiation",
    "ping",
    "pong",
    "close",
];

/// How a side says things.
struct Side {
    /// The name of its marker and of its enum of metadata.
    name: &'static str,
    /// The type of a layout, as the traits know it.
    layout: fn(&str) -> String,
    /// Between a value of that type and its fields.
    inner: &'static str,
    /// Behind the name of a field.
    suffix: &'static str,
}

const SIDES: [Side; 3] = [
    Side {
        name: "Deku",
        layout: |layout| format!("sides::Deku<crate::with_deku::{}>", pascal(layout)),
        inner: ".0",
        suffix: "_",
    },
    Side {
        name: "Binrw",
        layout: |layout| format!("sides::Binrw<crate::with_binrw::{}>", pascal(layout)),
        inner: ".0",
        suffix: "_",
    },
    Side {
        name: "Published",
        layout: |layout| {
            format!("published::{}", published(layout).expect("it has the messages of the stream"))
        },
        inner: "",
        suffix: "",
    },
];

/// The code of all sides.
pub fn sides(registry: &Registry) -> String {
    let named = |name: &&str| {
        let message = registry.messages.iter().find(|message| message.name == *name);
        message.unwrap_or_else(|| panic!("no message {name}"))
    };
    let messages = STREAM.iter().map(named).collect::<Vec<_>>();
    let mut out = String::new();
    SIDES.iter().for_each(|side| side.code(registry, &messages, &mut out).expect("a string takes all"));
    out
}

impl Side {
    fn code(&self, registry: &Registry, messages: &[&Message], out: &mut String) -> std::fmt::Result {
        let Self { name, layout: of, inner, suffix } = self;
        let layout = |message: &Message| message.metadata.map(|layout| of(&registry.layouts[layout].name));
        writeln!(out, "pub struct {name};\n\npub enum {name}Metadata {{")?;
        for message in messages {
            let holds = layout(message).map_or(String::new(), |layout| format!("({layout})"));
            writeln!(out, "    {}{holds},", pascal(&message.name))?;
        }
        writeln!(out, "}}\n\nimpl Side for {name} {{")?;
        writeln!(out, "    type Header = {};", of("common_header"))?;
        writeln!(out, "    type Metadata = {name}Metadata;")?;
        let types = [
            ("Prelude", "body_region_prelude"),
            ("Object", "inline_object_block_header"),
            ("Reference", "object_reference_block"),
            ("Descriptor", "typed_payload_descriptor"),
            ("Section", "tensor_section_descriptor"),
        ];
        for (item, layout) in types {
            writeln!(out, "    type {item} = {};", of(layout))?;
        }
        writeln!(
            out,
            "    #[inline(always)]\n    fn metadata(kind: u8, bytes: &[u8]) -> Option<{name}Metadata> {{"
        )?;
        writeln!(out, "        Some(match kind {{")?;
        for message in messages {
            let (value, variant) = (message.value, pascal(&message.name));
            match layout(message) {
                Some(layout) => writeln!(
                    out,
                    "            {value} => {name}Metadata::{variant}(<{layout} as Codec>::decode(bytes).ok()?),"
                )?,
                None => {
                    writeln!(out, "            {value} if bytes.is_empty() => {name}Metadata::{variant},")?
                }
            }
        }
        writeln!(out, "            _ => return None,\n        }})\n    }}\n")?;
        writeln!(
            out,
            "    #[inline(always)]\n    fn store(metadata: &{name}Metadata, out: &mut [u8]) -> Option<usize> {{"
        )?;
        writeln!(out, "        match metadata {{")?;
        for message in messages {
            let variant = pascal(&message.name);
            match message.metadata {
                Some(layout) => {
                    let size = registry.layouts[layout].size;
                    writeln!(
                        out,
                        "            {name}Metadata::{variant}(it) => it.encode(out.get_mut(..{size})?).then_some({size}),"
                    )?;
                }
                None => writeln!(out, "            {name}Metadata::{variant} => Some(0),")?,
            }
        }
        writeln!(out, "        }}\n    }}\n")?;
        writeln!(
            out,
            "    #[inline(always)]\n    fn split<'a>(metadata: &{name}Metadata, body: &'a [u8]) -> Option<Body<'a, Self>> {{"
        )?;
        writeln!(out, "        match metadata {{")?;
        for message in messages {
            let variant = pascal(&message.name);
            let field = |field: usize| {
                let layout = &registry.layouts[message.metadata.expect("it has a length")];
                format!("it{inner}.{}{suffix} as usize", layout.fields[field].name)
            };
            let lengths = message.segments.iter().map(|segment| match segment.length {
                Some(length) => format!("Some({})", field(length)),
                None => "None".to_owned(),
            });
            let lengths = lengths.collect::<Vec<_>>().join(", ");
            let regions = message.segments.iter().any(|segment| matches!(segment.content, Content::Body(_)));
            let cut = match regions {
                true => "Body::regions(body)".to_owned(),
                false => format!("Body::segments(body, [{lengths}])"),
            };
            let holds = match (message.metadata.is_some(), lengths.contains("it")) {
                (true, true) => "(it)",
                (true, false) => "(_)",
                (false, _) => "",
            };
            writeln!(out, "            {name}Metadata::{variant}{holds} => {cut},")?;
        }
        writeln!(out, "        }}\n    }}\n")?;
        writeln!(
            out,
            "    #[inline(always)]\n    fn lengths(prelude: &Self::Prelude) -> [usize; 6] {{\n        ["
        )?;
        let regions =
            registry.bodies.iter().find(|body| body.name == "regions").expect("it is in the registry");
        for part in &regions.parts {
            let field = &registry.layouts[regions.prelude].fields[part.length].name;
            writeln!(out, "            prelude{inner}.{field}{suffix} as usize,")?;
        }
        writeln!(out, "        ]\n    }}\n")?;
        let sized = |name: &str, fields: &[&str]| {
            let fields = fields.iter().map(|field| format!("{name}{inner}.{field}{suffix} as usize"));
            fields.collect::<Vec<_>>().join(", ")
        };
        let object = sized("object", &["object_bytes"]);
        let slice = sized("descriptor", &["offset", "length"]);
        let section = sized("section", &["codec_table_bytes", "length_table_bytes", "payload_bytes"]);
        writeln!(
            out,
            "    #[inline(always)]\n    fn object(object: &Self::Object) -> usize {{\n        {object}\n    }}\n"
        )?;
        writeln!(
            out,
            "    #[inline(always)]\n    fn slice(descriptor: &Self::Descriptor) -> (usize, usize) {{\n        ({slice})\n    }}\n"
        )?;
        writeln!(
            out,
            "    #[inline(always)]\n    fn section(section: &Self::Section) -> [usize; 3] {{\n        [{section}]\n    }}\n"
        )?;
        match *name {
            // It has a function for this.
            "Published" => writeln!(
                out,
                "    #[inline(always)]\n    fn head(bytes: &[u8]) -> Option<Head<'_, Self>> {{\n        let (header, metadata, body) = published::header::CommonHeader::parse_packet(bytes).ok()?;\n        Some(Head {{ kind: header.message_type as u8, header, metadata, body }})\n    }}"
            )?,
            _ => writeln!(
                out,
                "    #[inline(always)]\n    fn head(bytes: &[u8]) -> Option<Head<'_, Self>> {{\n        let (head, rest) = bytes.split_at_checked(40)?;\n        let header = Self::Header::decode(head).ok()?;\n        let (metadata, body) = rest.split_at_checked(header{inner}.meta_len{suffix} as usize)?;\n        let fits = body.len() == header{inner}.body_len{suffix} as usize;\n        fits.then_some(Head {{ kind: header{inner}.msg_type{suffix} as u8, header, metadata, body }})\n    }}"
            )?,
        }
        writeln!(out, "}}\n")
    }
}
