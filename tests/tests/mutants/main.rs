//! For every rule of state there is a test that breaks when the rule is removed, and that is named after it.
//!
//! `mutants/*.toml` says for each rule how its checks are removed: in that file, once, stands `find`, and without the
//! rule `put` would stand there.
//!
//! ```toml
//! [[S4]]
//! file = "session/mod.rs" # in nnrp-core/src/state, or with a slash in front in nnrp-core/src
//! find = "!session.is_open()"
//! put = "false"
//! ```
//!
//! `find` is an expression, or whole statements up to their `;` or `}`; so is `put`, which may be empty in the place of
//! statements. A rule with nothing to remove has a string that says why: `W6 = "…"`.
//!
//! Here it is tested that every rule has such mutants and that they fit the sources.
//! `NNRP_LONG=1 cargo test -p nnrp-tests --test mutants -- --nocapture` makes them and sees which the tests let live.
//! All are built at once, into a copy of the workspace, each behind a question that is answered by the environment; so
//! it takes a few minutes. `NNRP_MUTANT=S4` tries those of one rule alone.

mod list;
mod lives;
mod nursery;

use std::collections::BTreeSet;

use nnrp_tests::rules;

use crate::list::{Mutants, code, source};

#[test]
fn every_rule_has_mutants_that_fit_the_sources() {
    let mutants = Mutants::read();
    let known: BTreeSet<String> = rules::all().into_iter().collect();
    let named: BTreeSet<String> = mutants.rules().map(str::to_owned).collect();
    assert_eq!(named, known, "mutants/*.toml have every rule and no other");

    let mut wrong = Vec::new();
    for mutant in mutants.iter() {
        let text = source(&mutant.file);
        match code(&text).matches(&mutant.find).count() {
            1 => {}
            count => wrong.push(format!("{mutant} is there {count} times and has to be once")),
        }
        if mutant.put == mutant.find {
            wrong.push(format!("{mutant} changes nothing"));
        }
        if mutant.put.is_empty() && !mutant.is_statement() {
            wrong.push(format!("{mutant} has nothing to put in the place of an expression"));
        }
    }
    assert!(wrong.is_empty(), "see the top of mutants/main.rs:\n{}", wrong.join("\n"));
    // And together they can be made.
    for file in mutants.files() {
        assert_ne!(nursery::mutated(&mutants, file), source(file));
    }
}

#[test]
fn no_mutant_lives() {
    if std::env::var_os("NNRP_LONG").is_none() {
        return;
    }
    let mutants = Mutants::read();
    let alive = lives::alive(&mutants, &nursery::grow(&mutants));
    assert!(alive.is_empty(), "no test of the rule notices:\n{}", alive.join("\n"));
}
