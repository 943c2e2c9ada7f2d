//! Times whole packets against other crates, kind by kind and as a mixed stream.
//!
//! The work is the same for all: header, which message it is, metadata as a value, the split of the body into segments
//! or regions, and of regions into objects, references, payloads and tensor sections; and the way back to the same bytes.
//! Ours does more on the way: it checks each packet by all rules to the last byte of its body, when reading and again
//! when writing. The column `check` is that check alone, without values.

mod sides;
mod stream;

use std::hint::black_box;
use std::time::Instant;

use nnrp_core::{CommonHeader, Message, Packet, Regions};

use crate::{deeper, median};
use sides::{Binrw, Deku, Published, Side};
use stream::Kind;

/// How many packets a batch has, at the least.
const BATCH: usize = 512;

/// What is timed, in the order of the columns.
const WORKS: [&str; 9] = ["check", "ours", "publ.", "deku", "binrw", "ours", "publ.", "deku", "binrw"];

/// The columns of ratios: slower over faster.
const RATIOS: [(usize, usize); 6] = [(2, 1), (3, 1), (4, 1), (6, 5), (7, 5), (8, 5)];

/// Nanoseconds of one packet for each work.
type Times = [f64; WORKS.len()];

type Packets = &'static [&'static [u8]];

/// Packets with all that is done with them.
struct Subject {
    name: String,
    /// Bytes of all packets, and how many there are.
    bytes: usize,
    count: usize,
    jobs: [Box<dyn FnMut()>; WORKS.len()],
}

impl Subject {
    fn new(name: &str, packets: &[Vec<u8>]) -> Self {
        let packets = packets.iter().map(|packet| &*packet.clone().leak()).collect::<Vec<&'static [u8]>>();
        let packets: Packets = packets.leak();
        let room = packets.iter().map(|packet| packet.len()).max().unwrap_or(0);
        let values = packets.iter().map(|bytes| {
            let packet = Packet::parse(bytes).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            (packet.header().to_owned(), packet.message())
        });
        let values = values.collect::<Vec<_>>();
        let mut out = vec![0; room];
        Self {
            name: name.to_owned(),
            bytes: packets.iter().map(|packet| packet.len()).sum(),
            count: packets.len(),
            jobs: [
                Box::new(move || check_all(black_box(packets))),
                Box::new(move || parse_all(black_box(packets))),
                parse::<Published>(name, packets),
                parse::<Deku>(name, packets),
                parse::<Binrw>(name, packets),
                Box::new(move || write_all(black_box(&values), black_box(&mut out))),
                write::<Published>(name, packets, room),
                write::<Deku>(name, packets, room),
                write::<Binrw>(name, packets, room),
            ],
        }
    }

    /// The least times of `rounds` batches of each work, which alternate.
    fn turn(&mut self, rounds: usize) -> Times {
        let mut least = [f64::MAX; WORKS.len()];
        let passes = BATCH.div_ceil(self.count);
        for _ in 0..rounds {
            for (job, least) in self.jobs.iter_mut().zip(&mut least) {
                let start = Instant::now();
                (0..passes).for_each(|_| job());
                *least = least.min(start.elapsed().as_secs_f64() * 1e9 / (passes * self.count) as f64);
            }
        }
        least
    }
}

/// Checks every packet and leaves it where it is.
#[inline(never)]
fn check_all(packets: Packets) {
    for bytes in packets {
        let result = Packet::parse(bytes);
        let Ok(packet) = &result else { crate::sides::refused() };
        black_box(packet);
    }
}

/// Checks every packet and takes it apart.
#[inline(never)]
fn parse_all(packets: Packets) {
    for bytes in packets {
        let Ok(packet) = Packet::parse(bytes) else { crate::sides::refused() };
        let header = packet.header().to_owned();
        let message = packet.message();
        match &message {
            Message::FrameSubmit(_, body) => body.regions.iter().for_each(rows),
            Message::ResultPush(_, body) => body.regions.iter().for_each(rows),
            _ => {}
        }
        black_box((&header, &message));
    }
}

/// Goes through what regions hold.
#[inline(always)]
fn rows(regions: &Regions<'_>) {
    regions.inline_objects.iter().for_each(|object| _ = black_box(object));
    regions.sections().for_each(|section| _ = black_box(section));
    regions.object_references.iter().for_each(|reference| _ = black_box(reference));
    regions.payload_frames_sliced().for_each(|payload| _ = black_box(payload));
}

#[inline(never)]
fn write_all(values: &[(CommonHeader, Message<'_>)], out: &mut [u8]) {
    for (header, message) in values {
        if message.encode_into(header, out).is_err() {
            crate::sides::refused();
        }
        black_box(&mut *out);
    }
}

/// Takes every packet apart with another crate.
fn parse<S: Side + 'static>(name: &str, packets: Packets) -> Box<dyn FnMut()> {
    #[inline(never)]
    fn all<S: Side>(packets: Packets) {
        for bytes in packets {
            let result = sides::Packet::<S>::parse(bytes);
            let Some(packet) = &result else { crate::sides::refused() };
            black_box(packet);
        }
    }
    for bytes in packets {
        let side = std::any::type_name::<S>();
        assert!(sides::Packet::<S>::parse(bytes).is_some(), "{name}: {side} refuses {bytes:02x?}");
    }
    Box::new(move || all::<S>(black_box(packets)))
}

/// Writes every packet with another crate.
fn write<S: Side + 'static>(name: &str, packets: Packets, room: usize) -> Box<dyn FnMut()> {
    #[inline(never)]
    fn all<S: Side>(values: &[sides::Packet<'_, S>], out: &mut [u8]) {
        for value in values {
            if value.write(out).is_none() {
                crate::sides::refused();
            }
            black_box(&mut *out);
        }
    }
    let mut out = vec![0; room];
    let values = packets.iter().filter_map(|bytes| sides::Packet::<S>::parse(bytes)).collect::<Vec<_>>();
    for (value, bytes) in values.iter().zip(packets) {
        let written = value.write(&mut out).and_then(|size| out.get(..size));
        assert_eq!(written, Some(*bytes), "{name}: {} writes other bytes", std::any::type_name::<S>());
    }
    Box::new(move || all::<S>(black_box(&values), black_box(&mut out)))
}

/// Times all kinds and the mixed stream, and prints a table.
pub fn run(turns: usize, rounds: usize) {
    let kinds = stream::kinds();
    let subject = |kind: &Kind| Subject::new(kind.name, &kind.packets);
    let mut subjects = kinds.iter().map(subject).collect::<Vec<_>>();
    subjects.push(Subject::new("mixed stream", &stream::mixed(&kinds)));
    let mut times = vec![Vec::new(); subjects.len()];
    for depth in 0..turns {
        for (subject, times) in subjects.iter_mut().zip(&mut times) {
            deeper(depth, &mut || times.push(subject.turn(rounds)));
        }
    }
    println!(
        "\nns for one packet: header, message, metadata, split of the body; how many times ours is faster; MB/s\n"
    );
    println!(
        "{:23} {:>5} | {:^36} | {:^20} | {:^30} | {:^20}",
        "", "", "parse", "parse against", "write", "write against"
    );
    print!("{:23} {:>5} |", "packet", "size");
    WORKS[..5].iter().for_each(|head| print!(" {head:>6}"));
    print!("  |");
    RATIOS[..3].iter().for_each(|(slower, _)| print!(" {:>6}", WORKS[*slower]));
    print!(" |");
    WORKS[5..].iter().for_each(|head| print!(" {head:>6}"));
    print!("   |");
    RATIOS[3..].iter().for_each(|(slower, _)| print!(" {:>6}", WORKS[*slower]));
    println!();
    for (subject, times) in subjects.iter().zip(&times) {
        print_row(subject, times);
    }
    if let (Some(subject), Some(times)) = (subjects.last(), times.last()) {
        let speed = |work: usize| {
            let ns = median(times.iter().map(|times| times[work])).unwrap_or(f64::NAN);
            subject.bytes as f64 / subject.count as f64 / ns * 1e3
        };
        print!("{:23} {:>5} |", "  in MB/s", "");
        (0..5).for_each(|work| print!(" {:6.0}", speed(work)));
        print!("  | {:20} |", "");
        (5..9).for_each(|work| print!(" {:6.0}", speed(work)));
        println!("   |");
    }
}

fn print_row(subject: &Subject, times: &[Times]) {
    let ns = |work: usize| median(times.iter().map(|times| times[work])).unwrap_or(f64::NAN);
    let ratio = |(slower, faster): &(usize, usize)| {
        let ratio = median(times.iter().map(|times| times[*slower] / times[*faster]));
        print!(" {:6.1}", ratio.unwrap_or(f64::NAN));
    };
    print!("{:23} {:5.0} |", subject.name, subject.bytes as f64 / subject.count as f64);
    (0..5).for_each(|work| print!(" {:6.1}", ns(work)));
    print!("  |");
    RATIOS[..3].iter().for_each(ratio);
    print!(" |");
    (5..9).for_each(|work| print!(" {:6.1}", ns(work)));
    print!("   |");
    RATIOS[3..].iter().for_each(ratio);
    println!();
}
