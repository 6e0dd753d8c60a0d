//! Operators that no table has: planned, submitted, timed, with their operands.

use std::path::PathBuf;

use super::{counts, text};
use crate::support::compile::built;
use crate::support::{Run, Tables};

const C: &[&str] = &["-std=gnu11", "-O1"];

fn library() -> PathBuf {
    let options = [C, &["-shared", "-fPIC", "-lascendcl"]].concat();
    let source = "untyped_operators_library.c";
    built("libopapi_operators.so", source, &options)
}

pub(super) fn program() -> PathBuf {
    let operators = library();
    let folder = format!("-Wl,-rpath,{}", text(operators.parent().unwrap()));
    let options = [C, &[text(&operators), &folder, "-lascendcl"]].concat();
    built("untyped_operators", "untyped_operators.c", &options)
}

/// The same program, which fetches the operators by name.
fn fetching() -> Run {
    let options = [C, &["-DFETCHED", "-ldl", "-lascendcl"]].concat();
    let program = built("untyped_operators_fetched", "untyped_operators.c", &options);
    Run::new(&program).words(&[text(&library())])
}

#[test]
fn linked_operators_have_tasks_with_times_and_shapes() {
    check(&Run::new(&program()));
}

#[test]
fn fetched_operators_have_tasks_with_times_and_shapes() {
    check(&fetching());
}

#[track_caller]
fn check(run: &Run) {
    let tables = Tables::of(&run.compared());
    let counts = counts(&tables);
    assert_eq!(counts["aclnnOwnInit"], (1, 0));
    assert_eq!(counts["aclnnOwnBlendGetWorkspaceSize"], (6, 0));
    assert_eq!(counts["aclnnOwnBlend"], (7, 0));
    assert_eq!(counts["aclnnOwnWideGetWorkspaceSize"], (2, 0));
    assert_eq!(counts["aclnnOwnWide"], (2, 0));
    // What operators do inside is part of their tasks.
    assert_eq!(counts["aclrtMemsetAsync"], (0, 8));
    tables.all_timed();
    let blend = "arg 0 float32 [4, 2]; arg 1 float16 [2, 3, 4]; arg 3 bfloat16 [4, 2]";
    let other = "arg 0 float16 [2, 3, 4]; arg 1 int64 []; arg 3 bfloat16 [4, 2]";
    // Two of the numbers that come before the last three found no register.
    let wide = "arg 0 float32 [4, 2]; arg 1 float16 [2, 3, 4]; arg 2 int64 []; arg 3 float32 [4, 2]; \
                arg 4 IntArray [0, 1]; arg 10 int64 []; arg 11 Scalar float32 2; arg 12 bfloat16 [4, 2]";
    let without_one = "arg 0 float16 [2, 3, 4]; arg 1 float16 [2, 3, 4]; arg 2 int64 []; \
                       arg 3 float32 [4, 2]; arg 4 IntArray [0, 1]; arg 11 Scalar float32 2; \
                       arg 12 bfloat16 [4, 2]";
    let tasks = tables.tasks.iter();
    let tasks: Vec<_> = tasks
        .map(|task| (task.text("kind"), task.text("name"), task.text("shapes")))
        .collect();
    let blend = ("kernel", "aclnnOwnBlend", blend);
    assert_eq!(
        tasks,
        [
            blend,
            blend,
            blend,
            blend,
            ("kernel", "aclnnOwnBlend", other),
            ("kernel", "aclnnOwnWide", wide),
            ("kernel", "aclnnOwnWide", without_one),
            // Its executor was never seen being made.
            ("kernel", "aclnnOwnBlend", ""),
        ]
    );
}

#[test]
fn codes_of_refused_operators_are_reported() {
    let tables = Tables::of(&Run::new(&program()).compared());
    let codes = |name: &str| {
        let calls = tables.calls.iter().filter(|call| call.text("name") == name);
        let codes: Vec<_> = calls.map(|call| call.text("ret").to_owned()).collect();
        codes
    };
    let planned = codes("aclnnOwnBlendGetWorkspaceSize");
    assert_eq!(planned, ["0", "0", "0", "0", "161001", "0"]);
    assert_eq!(codes("aclnnOwnBlend").last().unwrap(), "161002");
    assert_eq!(codes("aclnnOwnInit"), ["15"]);
}
