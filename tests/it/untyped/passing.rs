//! Calls that do not return as calls do, or are made from many places at a time.

use std::collections::BTreeMap;

use super::{C, counts, own_library, text};
use crate::support::compile::{built, built_from};
use crate::support::process::has_cxx;
use crate::support::{CsvRow, Run, Tables, run, tool};

/// A program that is linked to the library.
pub(super) fn program(name: &str, source: &str) -> std::path::PathBuf {
    let own = own_library();
    let folder = format!("-Wl,-rpath,{}", text(own.parent().unwrap()));
    built(name, source, &["-O1", "-pthread", text(&own), &folder])
}

#[test]
fn calls_that_are_left_by_longjmp() {
    let program = program("untyped_jump", "untyped_jump.c");
    let tables = Tables::of(&Run::new(&program).compared());
    // Those that never returned are recorded as left; later ones are not inside them.
    let expected = [
        ("aclOwnErrno", (1, 0)),
        ("aclOwnPlain", (3, 0)),
        ("aclOwnVisit", (300, 150)),
    ];
    assert_eq!(counts(&tables), BTreeMap::from(expected));
    for call in &tables.calls {
        let is_left = call.text("name") == "aclOwnVisit";
        assert_eq!(call.text("ending"), if is_left { "left" } else { "" });
        assert_eq!(call.text("ret").is_empty(), is_left);
    }
}

#[test]
fn exceptions_pass_through() {
    if !has_cxx() {
        return;
    }
    let program = program("untyped_throw", "untyped_throw.cc");
    let tables = Tables::of(&Run::new(&program).compared());
    let depths = |name: &str, ending: &str| -> Vec<&str> {
        let is_it = |call: &&CsvRow| call.text("name") == name && call.text("ending") == ending;
        let calls = tables.calls.iter().filter(is_it);
        calls.map(|call| call.text("depth")).collect()
    };
    let returned = depths("aclOwnPlain", "");
    assert_eq!(returned, ["1", "0", "2", "0", "1", "0", "2", "0"]);
    let left = depths("aclOwnVisit", "left");
    assert_eq!(left, ["0", "1", "0", "0", "1", "0"]);
    assert_eq!(tables.calls.len(), returned.len() + left.len());
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
    assert_eq!(tables.processes().len(), 5);
    let expected = [
        ("aclOwnNothing", (1, 3)),
        ("aclOwnPlain", (3, 6)),
        ("aclOwnVisit", (2, 0)),
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

/// More functions than there are stubs.
const MANY: usize = 8292;

#[test]
fn functions_beyond_the_last_stub_are_counted_and_still_called() {
    let numbers = 0..MANY;
    let source: String = numbers
        .map(|number| {
            format!(
                "int aclMany{number}(void);\nint aclMany{number}(void) {{ return {number}; }}\n"
            )
        })
        .collect();
    let library = built_from("libmany.so", &source, &["-shared", "-fPIC"]);
    let fetch = built_from("fetch_many", FETCH_MANY, &["-ldl"]);
    let count = MANY.to_string();
    let words = [text(&library), &count];
    let recording = Run::new(&fetch).words(&words).compared();
    let json = run(tool().arg("info").arg(recording.trace()).arg("--json")).expect(0);
    let info: serde_json::Value = serde_json::from_str(&json.out()).unwrap();
    assert_eq!(info["calls"]["count"], 8192);
    assert_eq!(info["cost"]["functions_without_stub"], 100);
    let shown = run(tool().arg("info").arg(recording.trace())).expect(0);
    let said = "calls of 100 functions that no table has are not seen";
    assert!(shown.out().contains(said), "{}", shown.out());
}

const FETCH_MANY: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    long sum = 0;
    void *library = dlopen(words[1], RTLD_NOW);
    for (int i = 0; count > 2 && i < atoi(words[2]); i++) {
        char name[32];
        snprintf(name, sizeof name, "aclMany%d", i);
        int (*function)(void) = (int (*)(void))dlsym(library, name);
        sum += function() * 3 - i;
    }
    printf("%ld\n", sum);
    return 0;
}
"#;
