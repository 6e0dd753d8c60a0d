//! Under valgrind: the tool makes no invalid access, and the calls are the same.

use std::path::Path;

use super::{C, counts, linked, own_library, passing, text};
use crate::support::compile::built;
use crate::support::process::{has_cxx, has_valgrind};
use crate::support::{Run, Tables};

/// Not a status of any of these programs.
const FOUND: &str = "--error-exitcode=99";

#[track_caller]
fn check(program: &Path, words: &[&str], options: &[&str]) {
    let plain = Run::new(program).words(words).compared();
    let words = [&["-q", FOUND], options, &[text(program)], words].concat();
    let checked = Run::new(Path::new("valgrind")).words(&words).traced();
    let outcome = &checked.outcome;
    assert_eq!(outcome.status, plain.outcome.status, "{outcome}");
    assert_eq!(outcome.out(), plain.outcome.out(), "{outcome}");
    assert_eq!(outcome.program_err(), "", "{outcome}");
    let (plain, checked) = (Tables::of(&plain), Tables::of(&checked));
    assert_eq!(counts(&checked), counts(&plain));
}

#[test]
fn all_kinds_of_arguments_and_results() {
    if has_valgrind() {
        let own = own_library();
        let program = built("untyped_fetched", "untyped_fetched.c", C);
        check(&program, &[text(&own)], &[]);
        check(
            &linked("untyped_lazy", &["-DUNTYPED_MAIN", "-Wl,-z,lazy"]),
            &[],
            &[],
        );
    }
}

#[test]
fn calls_that_are_left_by_longjmp_or_an_exception() {
    if !has_valgrind() {
        return;
    }
    check(
        &passing::program("untyped_jump", "untyped_jump.c"),
        &[],
        &[],
    );
    if has_cxx() {
        check(
            &passing::program("untyped_throw", "untyped_throw.cc"),
            &[],
            &[],
        );
    }
}

#[test]
fn threads_and_forked_processes() {
    if has_valgrind() {
        let threads = built("untyped_threads", "untyped_threads.c", C);
        check(&threads, &[text(&own_library())], &[]);
        check(
            &passing::program("untyped_fork", "untyped_fork.c"),
            &[],
            &[],
        );
    }
}

#[test]
fn operators() {
    if has_valgrind() {
        // Memory of an operator's arguments is examined before it is known which words are arguments:
        // some are values that the program has never set.
        let options = ["--undef-value-errors=no"];
        check(&super::operators::program(), &[], &options);
    }
}
