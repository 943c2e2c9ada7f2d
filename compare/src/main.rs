//! Times our codecs against other crates, layout by layout and then whole packets, all sides in one run.
//!
//! Every side gets the same valid encodings of each layout, which all of them accept. A time is
//! the least of many short batches that alternate between the sides; a ratio is the median over
//! several such turns.
#![forbid(unsafe_code)]

mod inputs;
mod packets;
mod sides;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use nnrp_core::wire::Field;
use sides::{Binrw, Codec, Deku};

/// How often a batch does its work, at the least.
const BATCH: usize = 512;

/// What is timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    Copy,
    View,
    Decode,
    DecodePublished,
    DecodeDeku,
    DecodeBinrw,
    Store,
    Encode,
    EncodePublished,
    EncodeDeku,
    EncodeBinrw,
}

const WORKS: usize = 11;

/// A batch of some work.
struct Job {
    work: Work,
    batch: Box<dyn FnMut()>,
}

/// A layout with all that can be done with it.
struct Subject {
    name: &'static str,
    size: usize,
    /// How many encodings there are.
    inputs: usize,
    /// How often a batch does its work.
    batch: usize,
    jobs: Vec<Job>,
}

impl Subject {
    fn new(name: &'static str, size: usize, inputs: usize) -> Self {
        Self { name, size, inputs, batch: BATCH.div_ceil(inputs) * inputs, jobs: Vec::new() }
    }

    fn job(&mut self, work: Work, mut pass: impl FnMut() + 'static) {
        let passes = self.batch / self.inputs;
        let batch = Box::new(move || (0..passes).for_each(|_| pass()));
        self.jobs.push(Job { work, batch });
    }

    fn decode<T: Codec + 'static>(&mut self, work: Work, inputs: &'static [&'static [u8]]) {
        self.job(work, move || sides::decode_all::<T>(black_box(inputs)));
    }

    fn encode<T: Codec + 'static>(&mut self, work: Work, inputs: &'static [&'static [u8]]) {
        let values = inputs.iter().map(|bytes| T::decode(bytes).unwrap_or_else(|_| sides::refused()));
        let values = values.collect::<Vec<T>>();
        let mut out = vec![0; self.size];
        for (value, bytes) in values.iter().zip(inputs) {
            assert!(value.encode(&mut out) && out == *bytes, "{}: {work:?} writes other bytes", self.name);
        }
        self.job(work, move || sides::encode_all(black_box(&values), black_box(&mut out)));
    }
}

/// Encodings of a layout, as slices in memory.
fn inputs(
    count: usize,
    name: &str,
    size: usize,
    fields: &'static [Field],
    accepts: &dyn Fn(&[u8]) -> bool,
) -> &'static [&'static [u8]] {
    let Some(found) = inputs::valid(size, fields, count, accepts) else {
        panic!("{name}: no encoding that all sides accept")
    };
    let found = found.into_iter().map(|bytes| &*bytes.leak()).collect::<Vec<&'static [u8]>>();
    found.leak()
}

macro_rules! subject {
    ($count:ident, $name:ident $(, $published:path)?) => {{
        type Ours = nnrp_core::$name;
        type ForDeku = Deku<with_deku::$name>;
        type ForBinrw = Binrw<with_binrw::$name>;
        const SIZE: usize = Ours::SIZE;
        static FIELDS: &[Field] = &Ours::FIELDS;
        let inputs = inputs($count, Ours::NAME, SIZE, FIELDS, &|bytes| {
            <Ours as Codec>::decode(bytes).is_ok()
                && ForDeku::decode(bytes).is_ok()
                && ForBinrw::decode(bytes).is_ok()
                $(&& <$published as Codec>::decode(bytes).is_ok_and(|value| value.encode(&mut [0; SIZE])))?
        });
        let mut subject = Subject::new(Ours::NAME, SIZE, inputs.len());
        subject.job(Work::Copy, move || sides::copy_all::<SIZE>(black_box(inputs)));
        subject.job(Work::View, move || sides::view_all::<Ours>(black_box(inputs)));
        subject.decode::<Ours>(Work::Decode, inputs);
        $(subject.decode::<$published>(Work::DecodePublished, inputs);)?
        subject.decode::<ForDeku>(Work::DecodeDeku, inputs);
        subject.decode::<ForBinrw>(Work::DecodeBinrw, inputs);
        let arrays = inputs.iter().filter_map(|bytes| <[u8; SIZE]>::try_from(*bytes).ok()).collect::<Vec<_>>();
        let mut out = vec![0; SIZE];
        subject.job(Work::Store, move || sides::store_all(black_box(&arrays), black_box(&mut out)));
        subject.encode::<Ours>(Work::Encode, inputs);
        $(subject.encode::<$published>(Work::EncodePublished, inputs);)?
        subject.encode::<ForDeku>(Work::EncodeDeku, inputs);
        subject.encode::<ForBinrw>(Work::EncodeBinrw, inputs);
        subject
    }};
}

include!(concat!(env!("OUT_DIR"), "/mirrors.rs"));

/// Nanoseconds of one operation of each work, where it can be done.
type Times = [Option<f64>; WORKS];

/// The least times of `rounds` batches of each work.
fn turn(subject: &mut Subject, rounds: usize) -> Times {
    let mut least: Times = [None; WORKS];
    for _ in 0..rounds {
        for job in &mut subject.jobs {
            let start = Instant::now();
            (job.batch)();
            let time = start.elapsed().as_secs_f64() * 1e9 / subject.batch as f64;
            let place = &mut least[job.work as usize];
            *place = Some(place.map_or(time, |least| least.min(time)));
        }
    }
    least
}

/// Runs further down the stack, so that no turn but one has its values across the same border of a page,
/// which is many times slower.
#[inline(never)]
fn deeper(depth: usize, run: &mut dyn FnMut()) {
    let room = black_box([0u8; 488]);
    if depth == 0 {
        run();
    } else {
        deeper(depth - 1, run);
    }
    black_box(room);
}

/// The columns of ratios: their heads, slower over faster.
const RATIOS: [(&str, Work, Work); 12] = [
    ("copy", Work::Copy, Work::View),
    ("publ.", Work::DecodePublished, Work::View),
    ("deku", Work::DecodeDeku, Work::View),
    ("binrw", Work::DecodeBinrw, Work::View),
    ("copy", Work::Copy, Work::Decode),
    ("publ.", Work::DecodePublished, Work::Decode),
    ("deku", Work::DecodeDeku, Work::Decode),
    ("binrw", Work::DecodeBinrw, Work::Decode),
    ("copy", Work::Store, Work::Encode),
    ("publ.", Work::EncodePublished, Work::Encode),
    ("deku", Work::EncodeDeku, Work::Encode),
    ("binrw", Work::EncodeBinrw, Work::Encode),
];

const HELP: &str = "\
Times our codecs against other crates.

usage: compare [--quick] [--inputs COUNT] [NAME…]

  --quick         shorter, for a first look
  --inputs COUNT  how many encodings of each layout: 64, after which branches are foreseen, or more
  NAME            only the layouts whose name contains it; `packets` for the packets
";

fn main() -> ExitCode {
    let mut quick = false;
    let mut names = Vec::new();
    let mut count = 64;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => quick = true,
            "--inputs" => match arguments.next().and_then(|count| count.parse().ok()) {
                Some(number @ 1..=65_536) => count = number,
                _ => {
                    eprint!("--inputs needs a number from 1 to 65536\n\n{HELP}");
                    return ExitCode::from(2);
                }
            },
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            option if option.starts_with('-') => {
                eprint!("unknown option {option}\n\n{HELP}");
                return ExitCode::from(2);
            }
            name => names.push(name.to_owned()),
        }
    }
    let (turns, rounds) = if quick { (3, 20) } else { (9, 100) };
    let mut subjects = subjects(count);
    subjects.retain(|subject| names.is_empty() || names.iter().any(|name| subject.name.contains(name)));
    let packets = names.is_empty() || names.iter().any(|name| name == "packets");
    if subjects.is_empty() && !packets {
        eprintln!("no layout of that name");
        return ExitCode::from(2);
    }
    let mut times = vec![Vec::new(); subjects.len()];
    for depth in 0..turns {
        for (subject, times) in subjects.iter_mut().zip(&mut times) {
            deeper(depth, &mut || times.push(turn(subject, rounds)));
        }
    }
    if !subjects.is_empty() {
        report(&subjects, &times);
    }
    if packets {
        packets::run(turns, rounds);
    }
    ExitCode::SUCCESS
}

fn report(subjects: &[Subject], times: &[Vec<Times>]) {
    println!(
        "ns for one encoding (copy, then ours, published, deku, binrw), and how many times ours is faster\n"
    );
    println!(
        "{:31} {:>4} | {:^9} {:^23} | {:^23} | {:^23} | {:^29} | {:^23}",
        "", "", "", "view against", "", "decode against", "", "encode against"
    );
    print!("{:31} {:>4} |", "layout", "size");
    let head = |works: &[(&str, Work)]| works.iter().for_each(|(head, _)| print!(" {head:>5}"));
    head(&NS[..2]);
    head(&RATIOS.map(|(head, ..)| (head, Work::Copy))[..4]);
    print!(" |");
    head(&NS[2..6]);
    print!(" |");
    head(&RATIOS.map(|(head, ..)| (head, Work::Copy))[4..8]);
    print!(" |");
    head(&NS[6..]);
    print!(" |");
    head(&RATIOS.map(|(head, ..)| (head, Work::Copy))[8..]);
    println!();
    let rows = subjects.iter().zip(times);
    let rows = rows.map(|(subject, times)| Row::new(subject, times)).collect::<Vec<_>>();
    rows.iter().for_each(Row::print);
    println!();
    Row::mean(&rows, "geometric mean", |_| true).print();
    if rows.iter().any(|row| row.ns[Work::DecodePublished as usize].is_none()) {
        Row::mean(&rows, "… of those that all have", |row| {
            row.ns[Work::DecodePublished as usize].is_some()
        })
        .print();
    }
}

/// The columns of times, in the order of [`Work`].
const NS: [(&str, Work); 11] = [
    ("copy", Work::Copy),
    ("view", Work::View),
    ("ours", Work::Decode),
    ("publ.", Work::DecodePublished),
    ("deku", Work::DecodeDeku),
    ("binrw", Work::DecodeBinrw),
    ("copy", Work::Store),
    ("ours", Work::Encode),
    ("publ.", Work::EncodePublished),
    ("deku", Work::EncodeDeku),
    ("binrw", Work::EncodeBinrw),
];

/// A line of the table.
struct Row {
    name: String,
    size: String,
    ns: Times,
    ratios: [Option<f64>; RATIOS.len()],
}

impl Row {
    fn new(subject: &Subject, times: &[Times]) -> Self {
        let of = |work: Work| move |times: &Times| times[work as usize];
        let ns = NS.map(|(_, work)| median(times.iter().filter_map(of(work))));
        let ratios = RATIOS.map(|(_, slower, faster)| {
            median(times.iter().filter_map(|times| Some(of(slower)(times)? / of(faster)(times)?)))
        });
        Self { name: subject.name.to_owned(), size: subject.size.to_string(), ns, ratios }
    }

    fn mean(rows: &[Self], name: &str, which: impl Fn(&Self) -> bool) -> Self {
        let rows = rows.iter().filter(|row| which(row)).collect::<Vec<_>>();
        let mean = |value: &dyn Fn(&Self) -> Option<f64>| {
            let logs = rows.iter().filter_map(|row| value(row)).map(f64::ln).collect::<Vec<_>>();
            (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        };
        let name = format!("{name} ({})", rows.len());
        let ns = std::array::from_fn(|at| mean(&|row| row.ns[at]));
        let ratios = std::array::from_fn(|at| mean(&|row| row.ratios[at]));
        Self { name, size: String::new(), ns, ratios }
    }

    fn print(&self) {
        let number = |value: Option<f64>| match value {
            Some(value) => print!(" {value:5.1}"),
            None => print!(" {:>5}", "-"),
        };
        let ns = |works: &[(&str, Work)]| works.iter().for_each(|(_, work)| number(self.ns[*work as usize]));
        let ratios = |values: &[Option<f64>]| values.iter().for_each(|value| number(*value));
        print!("{:31} {:>4} |", self.name, self.size);
        ns(&NS[..2]);
        ratios(&self.ratios[..4]);
        print!(" |");
        ns(&NS[2..6]);
        print!(" |");
        ratios(&self.ratios[4..8]);
        print!(" |");
        ns(&NS[6..]);
        print!(" |");
        ratios(&self.ratios[8..]);
        println!();
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values = values.collect::<Vec<_>>();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
