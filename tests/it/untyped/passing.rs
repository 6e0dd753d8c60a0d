//! Calls that do not return as calls do, or are made from many places at a time.

use std::collections::BTreeMap;

use super::{C, counts, own_library, text};
use crate::support::compile::built;
use crate::support::process::{clean, run};
use crate::support::{Run, Tables};

/// A program that is linked to the library.
fn program(name: &str, source: &str) -> std::path::PathBuf {
    let own = own_library();
    let folder = format!("-Wl,-rpath,{}", text(own.parent().unwrap()));
    built(name, source, &["-O1", text(&own), &folder])
}

#[test]
fn calls_that_are_left_by_longjmp() {
    let program = program("untyped_jump", "untyped_jump.c");
    let tables = Tables::of(&Run::new(&program).compared());
    // Those that never returned have no record; what comes after them is not within them.
    let expected = [("aclOwnErrno", (1, 0)), ("aclOwnPlain", (3, 0))];
    assert_eq!(counts(&tables), BTreeMap::from(expected));
}

#[test]
fn exceptions_pass_through() {
    if run(clean("sh").args(["-c", "command -v c++"])).status != 0 {
        eprintln!("skipped: there is no C++ compiler");
        return;
    }
    let program = program("untyped_throw", "untyped_throw.cc");
    let tables = Tables::of(&Run::new(&program).compared());
    let within: Vec<_> = tables.calls.iter().map(|call| call.text("depth")).collect();
    assert_eq!(within, ["1", "0", "2", "0", "1", "0", "2", "0"]);
    assert!(
        tables
            .calls
            .iter()
            .all(|call| call.text("name") == "aclOwnPlain")
    );
}

#[test]
fn many_threads_at_the_same_time() {
    let program = built("untyped_threads", "untyped_threads.c", C);
    let run = Run::new(&program).words(&[text(&own_library())]);
    let expected = [
        ("aclOwnMixed", (16_000, 0)),
        ("aclOwnPlain", (16_000, 32_000)),
        ("aclOwnVisit", (16_000, 0)),
    ];
    let tables = Tables::of(&run.compared());
    assert_eq!(counts(&tables), BTreeMap::from(expected));
}

#[test]
fn processes_that_fork() {
    let program = program("untyped_fork", "untyped_fork.c");
    let tables = Tables::of(&Run::new(&program).compared());
    assert_eq!(tables.processes().len(), 4);
    let expected = [
        ("aclOwnNothing", (1, 2)),
        ("aclOwnPlain", (3, 4)),
        ("aclOwnVisit", (1, 0)),
    ];
    assert_eq!(counts(&tables), BTreeMap::from(expected));
}

#[test]
fn a_library_that_is_closed_and_opened_again() {
    let program = built("untyped_reopen", "untyped_reopen.c", C);
    let run = Run::new(&program).words(&[text(&own_library())]);
    let tables = Tables::of(&run.compared());
    assert_eq!(counts(&tables), BTreeMap::from([("aclOwnPlain", (3, 0))]));
}

#[test]
fn nothing_is_changed_where_nothing_is_recorded() {
    let program = program("untyped_jump", "untyped_jump.c");
    // A child of a recorded program that cannot join the session any more.
    let line = "ASCEND_TRACE_SESSION=/nowhere exec \"$0\"";
    let run = Run::new(std::path::Path::new("/bin/sh")).words(&["-c", line, text(&program)]);
    assert!(Tables::of(&run.compared()).calls.is_empty());
}
