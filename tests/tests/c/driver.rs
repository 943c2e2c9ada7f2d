//! The C side: a program around the header that answers for every layout.

use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use nnrp_gen::model::{Element, Field, Layout, Meaning, Registry, Scalar};

use crate::packets::Verdict;
use crate::samples;
use crate::toolchain::write;
use crate::walk;
use crate::writes::{self, WriteRequest, Written};
use nnrp_tests::generated::Fault;

/// Writes the program, and what it is made of, into a folder.
pub fn write_to(folder: &Path, registry: &Registry) {
    write(folder, "driver.h", include_str!("driver.h"));
    write(folder, "floats.h", include_str!("floats.h"));
    write(folder, "packet.h", include_str!("packet.h"));
    write(folder, "write.h", include_str!("write.h"));
    write(folder, "driver.c", &source(registry));
}

/// The program as text.
fn source(registry: &Registry) -> String {
    let name = &registry.protocol.name;
    let mut out = format!(
        "#include \"{name}.h\"\n\n#define N(name) {name}_##name\n#define U(name) {}_##name\n\n\
         #include \"driver.h\"\n#include \"floats.h\"\n",
        name.to_uppercase(),
    );
    let mut done = vec![false; registry.layouts.len()];
    for position in 0..registry.layouts.len() {
        functions(registry, position, &mut done, &mut out);
    }
    out.push_str(&packets(registry));
    out.push_str("static const struct {\n    void (*decode)(const uint8_t *, size_t);\n    void (*encode)(uint8_t *, size_t);\n} cases[] = {\n");
    for layout in &registry.layouts {
        out.push_str(&format!("    {{ decode_{0}, encode_{0} }},\n", layout.name));
    }
    out.push_str("};\n\n");
    out + include_str!("driver.c")
}

/// What the program needs for packets, where the protocol has any.
fn packets(registry: &Registry) -> String {
    if registry.messages.is_empty() {
        return "#define PACKET(bytes, length, limit, more) ((void)(limit), (void)(more))\n\
                #define WRITE(message, room) ((void)(message), (void)(room))\n\n"
            .to_owned();
    }
    let parse = if registry.vocabularies.is_empty() {
        "#define PARSE(bytes, length, more, out, fault) N(packet_parse)(bytes, length, out, fault)\n"
    } else {
        "#define PARSE(bytes, length, more, out, fault) \\\n    N(packet_parse_with)(bytes, length, (more) ? &words : NULL, out, fault)\n"
    };
    let code = match &registry.protocol.errors {
        Some(_) => "#define ERROR_CODE(fault) ((uint32_t)N(fault_error_code)(fault))\n",
        None => "#define ERROR_CODE(fault) 0\n",
    };
    let words = if registry.vocabularies.is_empty() {
        ""
    } else {
        "static struct N(words) words = { knows, &next_value };\n\n"
    };
    format!(
        "#define PACKET decode_packet\n#define WRITE write_packet\n{parse}{code}\n#include \"packet.h\"\n\
         #include \"write.h\"\n\n{words}{}{}{}\n",
        walk::source(registry),
        writes::source(registry),
        include_str!("packet.c"),
    )
}

/// The functions of a layout, behind those of the layouts in it.
fn functions(registry: &Registry, position: usize, done: &mut [bool], out: &mut String) {
    if std::mem::replace(&mut done[position], true) {
        return;
    }
    let layout = &registry.layouts[position];
    for field in &layout.fields {
        if let Element::Layout(inner) = field.element {
            functions(registry, inner, done, out);
        }
    }
    let mut write = String::new();
    let mut read = String::new();
    let mut get = String::new();
    let mut set = String::new();
    for field in layout.values() {
        let access = Access { registry, layout, field };
        write.push_str(&access.each(Access::write));
        read.push_str(&access.each(Access::read));
        get.push_str(&access.each(Access::get));
        set.push_str(&access.set());
    }
    let body = TEMPLATE
        .replace("@write@", &write)
        .replace("@read@", &read)
        .replace("@get@", &get)
        .replace("@set@", &set)
        .replace("@x@", &layout.name)
        .replace("@X@", &layout.name.to_uppercase());
    out.push_str(&body);
}

const TEMPLATE: &str = r#"
static void write_@x@(const struct N(@x@) *in)
{
    (void)in;
@write@}

static void read_@x@(struct N(@x@) *out)
{
    memset(out, 0, sizeof *out);
@read@}

static void get_@x@(const uint8_t *bytes, struct N(@x@) *out)
{
    (void)bytes;
    memset(out, 0, sizeof *out);
@get@}

static void set_@x@(const struct N(@x@) *in, uint8_t *bytes)
{
    (void)in;
    N(@x@_blank)(bytes);
@set@}

static void decode_@x@(const uint8_t *bytes, size_t length)
{
    struct N(@x@) out;
    struct N(@x@) got;
    N(fault)      fault = NO_FAULT;
    const int     kind = N(@x@_decode)(bytes, length, &out, &fault);

    check(N(@x@_decode)(bytes, length, &out, NULL) == kind, "@x@ decodes otherwise without a fault");
    check(N(@x@_check)(bytes, length, NULL) == kind, "@x@ is checked as it is decoded");
    verdict(kind, &fault);
    if (kind == 0) {
        uint8_t again[U(@X@_SIZE)];
        uint8_t in_place[U(@X@_SIZE)];
        uint8_t through_getters[U(@X@_SIZE)];

        write_@x@(&out);
        check(N(@x@_validate)(&out, NULL) == 0, "@x@ is valid once decoded");
        check(N(@x@_encode)(&out, again, sizeof again, NULL) == 0, "@x@ is encoded once decoded");
        fwrite(again, 1, sizeof again, stdout);
        set_@x@(&out, in_place);
        check(memcmp(in_place, again, sizeof again) == 0, "the setters of @x@");
        get_@x@(bytes, &got);
        N(@x@_encode)(&got, through_getters, sizeof through_getters, NULL);
        check(memcmp(through_getters, again, sizeof again) == 0, "the getters of @x@");
    }
}

static void encode_@x@(uint8_t *bytes, size_t length)
{
    struct N(@x@) in;
    N(fault)      fault = NO_FAULT;
    int           kind;

    read_@x@(&in);
    memset(bytes, 0xa5, length);
    kind = N(@x@_encode)(&in, bytes, length, &fault);
    verdict(kind, &fault);
    if (kind == 0) {
        fwrite(bytes, 1, length, stdout);
        check(N(@x@_validate)(&in, NULL) == 0, "@x@ is valid as it is encoded");
    } else {
        for (size_t at = 0; at < length; at++) {
            check(bytes[at] == 0xa5, "@x@ was refused and written");
        }
        check(length != U(@X@_SIZE) || N(@x@_validate)(&in, NULL) == kind, "@x@ is refused as it is encoded");
    }
}
"#;

/// How the program reaches a field.
struct Access<'a> {
    registry: &'a Registry,
    layout: &'a Layout,
    field: &'a Field,
}

impl Access<'_> {
    /// A statement for every number or layout of the field.
    fn each(&self, one: fn(&Self, &str, &str) -> String) -> String {
        let member = member(&self.field.name);
        match self.field.count {
            None => format!("    {}\n", one(self, member, "")),
            Some(count) => {
                let statement = one(self, &format!("{member}[at]"), ", at");
                format!("    for (size_t at = 0; at < {count}; at++) {{\n        {statement}\n    }}\n")
            }
        }
    }

    fn inner(&self) -> Option<&str> {
        match self.field.element {
            Element::Layout(inner) => Some(&self.registry.layouts[inner].name),
            Element::Scalar(_) => None,
        }
    }

    fn scalar(&self) -> Scalar {
        match self.field.element {
            Element::Scalar(scalar) => scalar,
            Element::Layout(_) => Scalar::U8,
        }
    }

    fn write(&self, member: &str, _: &str) -> String {
        match (self.inner(), self.scalar()) {
            (Some(inner), _) => format!("write_{inner}(&in->{member});"),
            (None, Scalar::F32) => format!("value(bits_of_float(&in->{member}));"),
            (None, Scalar::F64) => format!("value(bits_of_double(&in->{member}));"),
            (None, _) => format!("value((uint64_t)in->{member});"),
        }
    }

    fn read(&self, member: &str, _: &str) -> String {
        match (self.inner(), self.scalar()) {
            (Some(inner), _) => format!("read_{inner}(&out->{member});"),
            (None, Scalar::F32) => format!("float_of_bits(take(), &out->{member});"),
            (None, Scalar::F64) => format!("double_of_bits(take(), &out->{member});"),
            (None, _) => format!("out->{member} = ({})take();", self.ty()),
        }
    }

    fn get(&self, member: &str, index: &str) -> String {
        let getter = format!("N({}_get_{})", self.layout.name, self.field.name);
        match self.inner() {
            Some(inner) => format!("get_{inner}({getter}(bytes{index}), &out->{member});"),
            None if self.in_place() => format!("out->{member} = {getter}(bytes)[at];"),
            None => format!("out->{member} = {getter}(bytes{index});"),
        }
    }

    fn set(&self) -> String {
        let setter = format!("N({}_set_{})", self.layout.name, self.field.name);
        if self.in_place() {
            return format!("    {setter}(bytes, in->{});\n", member(&self.field.name));
        }
        match self.field.count {
            None => {
                let value = if self.inner().is_some() { "&in->" } else { "in->" };
                format!("    {setter}(bytes, {value}{});\n", member(&self.field.name))
            }
            Some(count) => {
                let value = if self.inner().is_some() { "&in->" } else { "in->" };
                let member = member(&self.field.name);
                format!(
                    "    for (size_t at = 0; at < {count}; at++) {{\n        {setter}(bytes, at, {value}{member}[at]);\n    }}\n"
                )
            }
        }
    }

    /// Whether the accessors hand out the bytes themselves.
    fn in_place(&self) -> bool {
        self.field.count.is_some() && self.field.element == Element::Scalar(Scalar::U8)
    }

    fn ty(&self) -> String {
        let scalar = |scalar: Scalar| match scalar {
            Scalar::F32 => "float".to_owned(),
            Scalar::F64 => "double".to_owned(),
            _ if scalar.is_unsigned() => format!("uint{}_t", scalar.size() * 8),
            _ => format!("int{}_t", scalar.size() * 8),
        };
        match self.field.meaning {
            Meaning::Enum(position) => format!("N({})", self.registry.enums[position].name),
            Meaning::Bitmask(position) => format!("N({})", self.registry.bitmasks[position].name),
            Meaning::Bool => "bool".to_owned(),
            _ => scalar(self.scalar()),
        }
    }
}

/// The names in the registries that C or C++ has taken.
pub fn member(name: &str) -> &str {
    match name {
        "class" => "class_",
        "register" => "register_",
        "delete" => "delete_",
        "errno" => "errno_",
        "namespace" => "namespace_",
        "signed" => "signed_",
        "typedef" => "typedef_",
        "union" => "union_",
        "EOF" => "EOF_",
        name => name,
    }
}

/// What came of good bytes or values.
#[derive(Debug, PartialEq, Eq)]
pub struct Good {
    /// What was decoded.
    pub values: Vec<u64>,
    /// What was encoded.
    pub bytes: Vec<u8>,
}

/// What a side says.
pub type Answer = Result<Good, Fault>;

/// The running program.
pub struct Driver {
    child: Child,
    to: BufWriter<ChildStdin>,
    from: BufReader<ChildStdout>,
    /// How many values and how many bytes each layout has.
    sizes: Vec<(usize, usize)>,
}

/// Something to do for the program.
pub enum Request {
    /// Decode these bytes.
    Decode(Vec<u8>),
    /// Encode these values into so many bytes.
    Encode(Vec<u64>, usize),
}

/// A packet to read.
pub struct PacketRequest {
    pub bytes: Vec<u8>,
    /// The largest packet of the stream that it comes from.
    pub limit: u32,
    /// Whether more words are good than the registered ones.
    pub more: bool,
}

impl Driver {
    pub fn start(program: &Path, registry: &Registry) -> Self {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let sizes = registry.layouts.iter().map(|layout| {
            let mut values = Vec::new();
            samples::values(registry, layout, &vec![0; layout.size as usize], &mut values);
            (values.len(), layout.size as usize)
        });
        let (to, from) = (BufWriter::with_capacity(1 << 16, to), BufReader::with_capacity(1 << 16, from));
        Self { child, to, from, sizes: sizes.collect() }
    }

    /// Has all requests for layouts answered; `answer` gets each with its number.
    pub fn ask(&mut self, requests: &[(usize, Request)], answer: impl FnMut(usize, Answer)) {
        let sizes = self.sizes.clone();
        self.exchange(
            requests,
            send,
            |from, (layout, request)| receive(from, sizes[*layout], request),
            answer,
        );
    }

    /// Has all requests for packets answered; `answer` gets each with its number.
    pub fn judge(&mut self, requests: &[PacketRequest], answer: impl FnMut(usize, Verdict)) {
        self.exchange(requests, send_packet, |from, _| verdict(from), answer);
    }

    /// Has all packets written; `answer` gets what came of each with its number.
    pub fn write(&mut self, requests: &[WriteRequest], answer: impl FnMut(usize, Written)) {
        self.exchange(requests, send_write, |from, _| written(from), answer);
    }

    fn exchange<R: Sync, A>(
        &mut self,
        requests: &[R],
        send: impl Fn(&mut BufWriter<ChildStdin>, &R) -> std::io::Result<()> + Send,
        receive: impl Fn(&mut BufReader<ChildStdout>, &R) -> std::io::Result<A>,
        mut answer: impl FnMut(usize, A),
    ) {
        let (to, from) = (&mut self.to, &mut self.from);
        let child = &mut self.child;
        std::thread::scope(|scope| {
            // Whoever stops reading must end the program, or it and the sender wait for each other for ever.
            let _ended = Ended(child);
            scope.spawn(move || {
                for request in requests {
                    // A program that ended early is noticed where its answers are read.
                    if send(to, request).is_err() {
                        return;
                    }
                }
                let _ = header(to, FLUSH, 0, 0).and_then(|()| to.flush());
            });
            for (at, request) in requests.iter().enumerate() {
                let read = receive(from, request);
                answer(
                    at,
                    read.unwrap_or_else(|error| panic!("the C program ended at request {at}: {error}")),
                );
            }
        });
    }

    /// Ends the program, which must be content.
    pub fn finish(mut self) {
        drop(self.to);
        assert!(self.child.wait().is_ok_and(|status| status.success()), "the C program failed");
    }
}

/// Ends the program when a test fails.
struct Ended<'a>(&'a mut Child);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.kill();
        }
    }
}

/// What the program is told to do.
const DECODE: u32 = 0;
const ENCODE: u32 = 1;
const FLUSH: u32 = 2;
const PACKET: u32 = 3;
const PACKET_WITH_WORDS: u32 = 4;
const WRITE: u32 = 5;

fn send(to: &mut BufWriter<ChildStdin>, (layout, request): &(usize, Request)) -> std::io::Result<()> {
    let (what, payload) = match request {
        Request::Decode(bytes) => (DECODE, bytes.clone()),
        Request::Encode(values, room) => {
            let mut payload = (*room as u32).to_ne_bytes().to_vec();
            payload.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
            (ENCODE, payload)
        }
    };
    header(to, what, *layout, payload.len())?;
    to.write_all(&payload)
}

fn send_packet(to: &mut BufWriter<ChildStdin>, request: &PacketRequest) -> std::io::Result<()> {
    let what = if request.more { PACKET_WITH_WORDS } else { PACKET };
    let payload = [&request.limit.to_ne_bytes()[..], &request.bytes].concat();
    header(to, what, 0, payload.len())?;
    to.write_all(&payload)
}

fn send_write(to: &mut BufWriter<ChildStdin>, request: &WriteRequest) -> std::io::Result<()> {
    let payload = request.payload();
    header(to, WRITE, request.message, payload.len())?;
    to.write_all(&payload)
}

fn header(to: &mut impl Write, what: u32, layout: usize, length: usize) -> std::io::Result<()> {
    [what, layout as u32, length as u32].iter().try_for_each(|number| to.write_all(&number.to_ne_bytes()))
}

fn receive(
    from: &mut impl Read,
    (values, size): (usize, usize),
    request: &Request,
) -> std::io::Result<Answer> {
    if let Some(fault) = fault(from)? {
        return Ok(Err(fault));
    }
    let mut good = Good { values: Vec::new(), bytes: vec![0; size] };
    if let Request::Decode(_) = request {
        good.values = vec![0; values];
        for value in &mut good.values {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes)?;
            *value = u64::from_ne_bytes(bytes);
        }
    }
    from.read_exact(&mut good.bytes)?;
    Ok(Ok(good))
}

/// A fault, if there is one.
fn fault(from: &mut impl Read) -> std::io::Result<Option<Fault>> {
    let kind = text(from)?;
    if kind.is_empty() {
        return Ok(None);
    }
    let (layout, field, rule) = (text(from)?, text(from)?, text(from)?);
    Ok(Some(Fault {
        kind,
        layout,
        field,
        rule: Some(rule).filter(|rule| !rule.is_empty()),
        offset: number(from)? as usize,
        code: Some(number(from)?).filter(|code| *code != 0),
        sentence: text(from)?,
    }))
}

/// What the program says of a packet.
fn verdict(from: &mut impl Read) -> std::io::Result<Verdict> {
    let found = fault(from)?;
    let (ends, code) = (number(from)? != 0, number(from)?);
    let packet = match found {
        Some(fault) => Err((fault, ends, code)),
        None => {
            let mut pieces = Vec::new();
            while number(from)? != 0 {
                pieces.push((number(from)?, number(from)?));
            }
            Ok(pieces)
        }
    };
    let found = fault(from)?;
    let (missing, length) = (number(from)?, number(from)?);
    let stream = match found {
        Some(fault) => Err(fault),
        None => Ok((missing, length)),
    };
    Ok(Verdict { packet, stream })
}

/// What the program says of a packet that it wrote.
fn written(from: &mut impl Read) -> std::io::Result<Written> {
    let found = fault(from)?;
    let size = number(from)? as usize;
    let packet = match found {
        Some(fault) => Err(fault),
        None => {
            let mut packet = vec![0; size];
            from.read_exact(&mut packet)?;
            Ok(packet)
        }
    };
    Ok(Written { size, packet })
}

fn number(from: &mut impl Read) -> std::io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_ne_bytes(bytes))
}

fn text(from: &mut impl Read) -> std::io::Result<String> {
    let mut bytes = vec![0; number(from)? as usize];
    from.read_exact(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
