//! Answers of the runtime's own that a tracer could change by looking.

use crate::support::{Run, compile};

/// A record's time is readable only after the program itself has seen it done, regardless of the tool's
/// reads: `looks.c` has the sequences.
#[track_caller]
fn answers_are_the_programs_own(words: &[&str]) {
    let program = compile::hostile("looks");
    let recording = Run::new(&program)
        .words(words)
        .soft("devices=64")
        .compared();
    let answers = recording.outcome.out();
    assert!(answers.lines().count() > 400, "{}", recording.outcome);
    let unseen = answers.matches("107006").count();
    assert!(unseen > 100, "the runtime has times without a query");
}

#[test]
fn times_that_a_program_may_read_do_not_depend_on_reads_of_the_tool() {
    answers_are_the_programs_own(&["2", "plain"]);
    answers_are_the_programs_own(&["2", "ex"]);
}

#[test]
#[ignore = "minutes: every sequence of four calls"]
fn times_that_a_program_may_read_in_every_longer_order() {
    for kind in ["plain", "ex"] {
        answers_are_the_programs_own(&["3", kind]);
        answers_are_the_programs_own(&["4", kind]);
    }
}
