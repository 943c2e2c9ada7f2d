//! Registries of other protocols, with files that other programs wrote: partition tables (arrays and nested
//! layouts), packet captures, and time zones, which are big-endian.

use std::path::Path;

use insta::assert_snapshot;
use nnrp_gen::codec;
use nnrp_tests::command::{Ran, run_with};
use nnrp_tests::project::Project;
use nnrp_tests::random::{Random, good};
use nnrp_tests::registry;

const NAMES: [&str; 3] = ["gpt", "pcap", "tzif"];

/// Runs the command on one of them.
fn on(name: &str, arguments: &[&str], input: &[u8]) -> Ran {
    let folder = format!("tests/registries/{name}");
    run_with(&[&["--registry", &folder], arguments].concat(), input)
}

/// Layouts in the files: which registry, which layout, which file, from which byte on.
const PARTS: &[(&str, &str, &str, usize)] = &[
    ("gpt", "mbr", "gpt.img", 0),
    ("gpt", "gpt_header", "gpt.img", 512),
    ("gpt", "gpt_entry", "gpt.img", 1024),
    ("gpt", "gpt_entry", "gpt.img", 1152),
    ("pcap", "pcap_header", "lo.pcap", 0),
    ("pcap", "pcap_record", "lo.pcap", 24),
    ("tzif", "fixed_zone", "fixed.tzif", 0),
    ("tzif", "tzif_header", "fixed.tzif", 54),
];

fn part(name: &str, layout: &str, file: &str, start: usize) -> Vec<u8> {
    let size = registry::foreign(name).layout(layout).unwrap().size as usize;
    registry::fixture(file)[start..start + size].to_vec()
}

#[test]
fn are_good_and_lined_up() {
    for name in NAMES {
        assert!(on(name, &["check"], b"").good().starts_with(&format!("{name} is good")));
        assert_eq!(on(name, &["fmt", "--check"], b"").good(), "");
    }
}

#[test]
fn show() {
    assert_snapshot!("mbr", on("gpt", &["show", "mbr"], b"").good());
    assert_snapshot!("fixed_zone", on("tzif", &["show", "fixed_zone"], b"").good());
    assert_snapshot!("pcap", on("pcap", &["show"], b"").good());
}

#[test]
fn read_what_other_programs_wrote() {
    for (name, layout, file, start) in PARTS {
        let bytes = part(name, layout, file, *start);
        let dump = on(name, &["decode", "--layout", layout, "--file", "-"], &bytes).good();
        let json = on(name, &["decode", "--layout", layout, "--file", "-", "--json"], &bytes).good();
        assert_snapshot!(format!("{layout}_at_{start}"), format!("{dump}\n{json}"));
        let back = on(name, &["encode", "--layout", layout, "-"], json.as_bytes()).good();
        assert_eq!(codec::bytes_of_text(&format!("0x{}", back.trim_end())), Ok(bytes), "{layout}");
    }
}

#[test]
fn faults_have_the_place_in_the_whole() {
    let mut mbr = part("gpt", "mbr", "gpt.img", 0);
    // The third record has blocks and no type.
    mbr[446 + 2 * 16 + 12] = 1;
    let ran = on("gpt", &["decode", "--layout", "mbr", "--file", "-"], &mbr);
    assert_eq!(ran.code, 1);
    assert_snapshot!(ran.err, @"error: byte 490: `mbr_partition.blocks` breaks rule M1: An unused record has no blocks");
    let marked = ran.out.lines().skip_while(|line| !line.contains("partitions[2].blocks")).nth(1).unwrap();
    assert!(marked.contains("^^ byte 490"), "{marked}");

    let mut zone = part("tzif", "fixed_zone", "fixed.tzif", 0);
    zone[19] = 1;
    zone[48] = 2;
    let ran = on("tzif", &["decode", "--layout", "fixed_zone", "--file", "-", "--lenient"], &zone);
    assert_snapshot!(ran.err, @r"
    error: byte 5: `tzif_header.unused` is reserved and must be zero
    error: byte 48: `local_time_type.daylight` has a value that is not known
    ");
}

#[test]
fn go_there_and_back() {
    for name in NAMES {
        let registry = registry::foreign(name);
        for layout in &registry.layouts {
            let mut random = Random::new(3, &layout.name);
            for _ in 0..200 {
                let Some(bytes) = good(&registry, layout, &mut random) else { continue };
                let value = codec::decode(&registry, layout, &bytes).unwrap();
                assert_eq!(codec::encode(&registry, layout, &value), Ok(bytes));
            }
        }
    }
}

/// A crate takes a module in and uses none of it: no lint of the compiler has a word to say.
#[test]
fn private_modules_give_no_warnings() {
    let mut project = Project::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("private"));
    let nnrp = nnrp_tests::command::run(&["emit", "rust", "--standalone"]).good();
    project.module("nnrp", &nnrp);
    let mut main = String::from("#![deny(warnings)]\nmod nnrp;\n");
    for name in NAMES {
        project.module(name, &on(name, &["emit", "rust", "--standalone"], b"").good());
        main.push_str(&format!("mod {name};\n"));
    }
    assert_eq!(project.run(&format!("{main}\nfn main() {{}}\n")), "");
}

#[test]
fn compile_standalone_and_read_the_same() {
    let mut project = Project::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("foreign"));
    for name in NAMES {
        let rust = on(name, &["emit", "rust", "--standalone"], b"").good();
        assert!(!rust.contains("nnrp_core"), "{name} needs nnrp-core");
        project.module(name, &rust);
    }
    let fixture = |name: &str| format!("include_bytes!({:?})", registry::here().join("fixtures").join(name));
    let main = r#"
use scratch::gpt::{GptEntry, GptHeader, Mbr, OsType};
use scratch::pcap::{LinkType, PcapHeader, PcapRecord};
use scratch::tzif::{FixedZone, Version};

const GPT: &[u8] = GPT_FILE;
const PCAP: &[u8] = PCAP_FILE;
const TZIF: &[u8] = TZIF_FILE;

fn main() {
    let mbr = Mbr::decode(&GPT[..512]).unwrap();
    assert_eq!(mbr.partitions[0].os_type, OsType::PROTECTIVE);
    assert_eq!(mbr.to_bytes().unwrap(), GPT[..512]);
    let header = GptHeader::decode(&GPT[512..604]).unwrap();
    assert_eq!(header.disk_guid.time_low, 0x0123_4567);
    assert_eq!(header.to_bytes().unwrap(), GPT[512..604]);
    let entry = GptEntry::view(&GPT[1024..1152]).unwrap();
    assert_eq!(entry.first_lba(), 2048);
    assert_eq!(char::from_u32(entry.name()[0].into()), Some('n'));
    assert_eq!(entry.to_owned().to_bytes().unwrap(), GPT[1024..1152]);

    let capture = PcapHeader::decode(&PCAP[..24]).unwrap();
    assert_eq!(capture.link_type, LinkType::ETHERNET);
    let record = PcapRecord::decode(&PCAP[24..40]).unwrap();
    assert_eq!(record.captured, record.length);

    let zone = FixedZone::decode(&TZIF[..54]).unwrap();
    assert_eq!((zone.header.version, zone.type_.ut_offset), (Version::Two, -19_800));
    assert_eq!(zone.to_bytes().unwrap(), TZIF[..54]);
    let mut broken = TZIF[..54].to_vec();
    broken[48] = 2;
    println!("{}", FixedZone::decode(&broken).unwrap_err());
}
"#;
    let main = main
        .replace("GPT_FILE", &fixture("gpt.img"))
        .replace("PCAP_FILE", &fixture("lo.pcap"))
        .replace("TZIF_FILE", &fixture("fixed.tzif"));
    assert_eq!(project.run(&main), "byte 48: `local_time_type.daylight` has a value that is not known\n");
}

/// A registry's text without any of its docs.
fn undocumented(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("doc") {
        let (before, found) = rest.split_at(at);
        let value = found[3..].trim_start().strip_prefix('=').map(str::trim_start);
        let end = value.and_then(|value| Some((value, value.strip_prefix('"')?.find('"')? + 2)));
        match end {
            Some((value, end)) if before.ends_with(|letter: char| letter.is_whitespace()) => {
                // An inline table has a comma in front of it.
                out.push_str(before.trim_end_matches(' ').trim_end_matches(','));
                rest = &value[end..];
            }
            _ => {
                out.push_str(before);
                out.push_str("doc");
                rest = &found[3..];
            }
        }
    }
    out + rest
}

/// Whoever writes no docs still gets some: a crate that denies what has none takes the module as it is.
#[test]
fn what_nobody_documented_has_docs() {
    let mut project = Project::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("undocumented"));
    let mut undocumented_values = 0;
    for name in ["gpt", "kinds", "relay", "tzif"] {
        let files = nnrp_gen::read::files(&registry::here().join("registries").join(name)).unwrap();
        let texts = files.iter().map(|file| undocumented(&std::fs::read_to_string(file).unwrap()));
        let texts: Vec<_> = texts.map(|text| ("undocumented.toml", text)).collect();
        let loaded = nnrp_gen::load_texts(texts.iter().map(|(name, text)| (*name, text.as_str())));
        let registry = loaded.into_result().unwrap_or_else(|problems| panic!("{name}: {problems}"));
        let values = registry.enums.iter().flat_map(|item| &item.values).map(|value| &value.doc);
        let bits = registry.bitmasks.iter().flat_map(|item| &item.bits).map(|bit| &bit.doc);
        let fields = registry.layouts.iter().flat_map(|item| &item.fields).map(|field| &field.doc);
        for doc in values.chain(bits).chain(fields) {
            assert_eq!(doc, "", "{name}");
            undocumented_values += 1;
        }
        project.module(name, &nnrp_gen::emit::rust::module(&registry, true, false));
    }
    assert!(undocumented_values > 100);
    // The project denies missing docs.
    assert_eq!(project.run("fn main() { println!(\"{}\", scratch::gpt::Mbr::SIZE) }"), "512\n");
}
