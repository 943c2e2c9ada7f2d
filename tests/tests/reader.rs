//! The reader and the checks on input that nobody would write: no panic, and a place for every problem.

use std::fs;

use nnrp_gen::{Loaded, load_texts};
use nnrp_tests::random::Random;
use nnrp_tests::registry::folder;

/// How many times over to try; `NNRP_LONG=1` tries a hundred times more.
fn rounds(quick: usize) -> usize {
    if std::env::var_os("NNRP_LONG").is_some() { quick * 100 } else { quick }
}

fn texts() -> Vec<(String, String)> {
    let files = nnrp_gen::read::files(&folder()).expect("the registry");
    let read = |path: &std::path::PathBuf| fs::read_to_string(path).expect("it is text");
    files
        .iter()
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), read(path)))
        .collect()
}

/// Draws every problem, and holds them to lie in their texts and in order.
fn examine(loaded: &Loaded) {
    let problems = loaded.report.sorted();
    for pair in problems.windows(2) {
        assert!(pair[0].span <= pair[1].span);
    }
    let drawn = loaded.report.draw(&loaded.sources, false);
    if problems.is_empty() {
        assert!(loaded.registry.is_some());
    } else {
        let first = drawn.lines().next().unwrap_or_default();
        assert_eq!(first.split(':').count().min(4), 4, "{first}");
    }
    assert_eq!(loaded.registry.is_none(), loaded.report.has_errors());
}

fn load(texts: &[(String, String)]) -> Loaded {
    load_texts(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())))
}

#[test]
fn the_registry_is_good() {
    let loaded = load(&texts());
    assert_eq!(loaded.report.draw(&loaded.sources, false), "");
    examine(&loaded);
}

/// Whole words of the registry taken out, doubled, or put in place of one another.
#[test]
fn words_changed() {
    let texts = texts();
    let mut random = Random::new(1, "words_changed");
    let words: Vec<String> = texts
        .iter()
        .flat_map(|(_, text)| text.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .map(str::to_owned)
        .collect();
    for _ in 0..rounds(40) {
        let mut changed = texts.clone();
        let file = random.below(changed.len());
        for _ in 0..1 + random.below(3) {
            let text = changed[file].1.clone();
            let mut pieces: Vec<&str> =
                text.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
            let at = random.below(pieces.len());
            match random.below(4) {
                0 => _ = pieces.remove(at),
                1 => pieces.insert(at, pieces[at]),
                _ => pieces[at] = random.pick::<String>(&words),
            }
            changed[file].1 = pieces.concat();
        }
        examine(&load(&changed));
    }
}

/// Whole lines taken out, doubled or moved.
#[test]
fn lines_changed() {
    let texts = texts();
    let mut random = Random::new(2, "lines_changed");
    for _ in 0..rounds(40) {
        let mut changed = texts.clone();
        let (from, to) = (random.below(changed.len()), random.below(changed.len()));
        let mut lines: Vec<String> = changed[from].1.lines().map(str::to_owned).collect();
        let line = lines.remove(random.below(lines.len()));
        changed[from].1 = lines.join("\n");
        if random.below(2) == 0 {
            let mut lines: Vec<String> = changed[to].1.lines().map(str::to_owned).collect();
            lines.insert(random.below(lines.len()), line);
            changed[to].1 = lines.join("\n");
        }
        examine(&load(&changed));
    }
}

/// Bytes changed to anything.
#[test]
fn letters_changed() {
    let texts = texts();
    let mut random = Random::new(3, "letters_changed");
    for _ in 0..rounds(40) {
        let mut changed = texts.clone();
        let file = random.below(changed.len());
        let mut letters: Vec<char> = changed[file].1.chars().collect();
        for _ in 0..1 + random.below(8) {
            let at = random.below(letters.len());
            letters[at] = *random
                .pick(&['"', '[', ']', '{', '}', '=', ',', '\n', '#', '.', '0', '-', 'é', '\u{0}', '😀']);
        }
        changed[file].1 = letters.into_iter().collect();
        examine(&load(&changed));
    }
}

/// Text that is no registry at all.
#[test]
fn anything() {
    let mut random = Random::new(4, "anything");
    let deep = format!("a = {}", "[".repeat(100_000));
    let dotted = format!("{} = 1", vec!["a"; 50_000].join("."));
    let wide = format!("[protocol]\nname = \"{}\"\n", "x".repeat(1 << 20));
    let rule = |text: &str| {
        format!(
            "[protocol]\nname = \"p\"\nbyte_order = \"big\"\n[[layout]]\nname = \"l\"\nsize = 1\nfields = [{{ offset = 0, name = \"a\", type = \"u8\" }}]\nrules = [{{ id = \"R\", require = \"{text}\" }}]\n"
        )
    };
    let nested = rule(&format!("{}a == 1{}", "(".repeat(50_000), ")".repeat(50_000)));
    let long = rule(&vec!["a == 1"; 50_000].join(" || "));
    for text in ["", "\u{feff}", "=", "[[layout]]", &deep, &dotted, &wide, &nested, &long] {
        examine(&load_texts([("any.toml", text)]));
    }
    for _ in 0..rounds(200) {
        let count = random.below(400);
        let bytes = random.bytes(count);
        examine(&load_texts([("any.toml", String::from_utf8_lossy(&bytes).as_ref())]));
    }
}

/// Layouts that hold many others do not make the checks slow or the sizes overflow.
#[test]
fn layouts_that_grow() {
    let mut text = "[protocol]\nname = \"p\"\nbyte_order = \"big\"\n".to_owned();
    for level in 0..200 {
        text += &format!(
            "[[layout]]\nname = \"l{level}\"\nsize = {}\nfields = [{{ offset = 0, name = \"a\", type = \"[l{}; {}]\" }}]\n",
            i64::MAX,
            level + 1,
            u64::MAX
        );
    }
    examine(&load_texts([("grow.toml", text.as_str())]));
}
