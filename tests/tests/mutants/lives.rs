//! Which mutants live: those that no test of their rule notices.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nnrp_tests::rules::is_after;

use crate::list::Mutants;
use crate::nursery::Suite;

/// Tests of a rule that take longer hang, which is noticed, too.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long all tests together may take.
const MORE_PATIENCE: Duration = Duration::from_secs(900);

/// What running some tests came to.
enum Ran {
    /// All passed.
    Well,
    /// These failed.
    Failed(Vec<String>),
    /// The program broke, or did not come to an end.
    Broke,
}

/// The mutants that live, for people to read.
pub fn alive(mutants: &Mutants, suites: &[Suite]) -> Vec<String> {
    let suites: Vec<(&Suite, Vec<String>)> = suites.iter().map(|suite| (suite, names(suite))).collect();
    let only = std::env::var("NNRP_MUTANT").ok();
    let mut alive = Vec::new();
    let mut count = 0;
    for (suite, _) in &suites {
        assert!(matches!(run(suite, 0, &[]), Ran::Well), "the tests fail also without a mutant");
    }
    for mutant in mutants.iter().filter(|mutant| only.as_ref().is_none_or(|only| *only == mutant.rule)) {
        count += 1;
        let noticed = suites.iter().find_map(|(suite, names)| {
            let named: Vec<&str> =
                names.iter().filter(|name| is_after(last(name), &mutant.rule)).map(String::as_str).collect();
            if named.is_empty() {
                return None;
            }
            match run(suite, mutant.number, &named) {
                Ran::Well => None,
                Ran::Failed(failed) => {
                    Some(failed.iter().map(|name| last(name)).collect::<Vec<_>>().join(", "))
                }
                Ran::Broke => Some("broke".to_owned()),
            }
        });
        match noticed {
            Some(by) => println!("{:4} {}: {by}", mutant.number, mutant.rule),
            None => {
                println!("{:4} LIVES {mutant}", mutant.number);
                alive.push(mutant.to_string());
            }
        }
    }
    println!("{count} mutants, {} of them live", alive.len());
    alive
}

/// The function of a test, without its modules.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The tests of a suite.
fn names(suite: &Suite) -> Vec<String> {
    let done = Command::new(&suite.program)
        .args(["--list", "--format=terse"])
        .current_dir(&suite.folder)
        .output()
        .expect("the tests can be listed");
    let text = String::from_utf8(done.stdout).expect("UTF-8");
    text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// Runs those tests, or all, where a mutant lives.
fn run(suite: &Suite, mutant: usize, names: &[&str]) -> Ran {
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutant.log");
    let file = File::create(&log).expect("the log can be made");
    let mut child = Command::new(&suite.program)
        .arg("--exact")
        .args(names)
        .current_dir(&suite.folder)
        .env("NNRP_MUTANT_NUMBER", mutant.to_string())
        .env_remove("NNRP_LONG")
        .stdin(Stdio::null())
        .stderr(file.try_clone().expect("a second handle"))
        .stdout(file)
        .spawn()
        .expect("the tests run");
    let start = Instant::now();
    let patience = if names.is_empty() { MORE_PATIENCE } else { PATIENCE };
    let status = loop {
        match child.try_wait().expect("the tests can be waited for") {
            Some(status) => break status,
            None if start.elapsed() < patience => std::thread::sleep(Duration::from_millis(5)),
            None => {
                child.kill().expect("it runs");
                child.wait().expect("it ends");
                return Ran::Broke;
            }
        }
    };
    match status.code() {
        Some(0) => Ran::Well,
        // What the tests' own runner says where some of them failed.
        Some(101) => {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            let failed =
                text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
            Ran::Failed(failed.map(str::to_owned).collect())
        }
        _ => Ran::Broke,
    }
}
