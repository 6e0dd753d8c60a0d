//! Programs that cut the memory that they share with the recorder, or write over it.

use ascend_trace_testkit::whole::opened;

use super::counts::Counts;
use crate::support::compile::hostile;
use crate::support::{Recording, Run};

fn recorded(name: &str, words: &[&str], status: i32) -> Recording {
    let recording = Run::new(&hostile(name)).words(words).traced();
    recording.outcome.clone().expect(status);
    recording
}

/// The trace has the program as its only process, and says that it is not complete.
#[track_caller]
fn is_one_process_and_not_complete(recording: &Recording) {
    let (trace, _) = opened(recording.trace()).unwrap();
    let outcome = &recording.outcome;
    assert_eq!(trace.processes().len(), 1, "{outcome}");
    assert!(trace.end().is_some(), "{outcome}");
    assert!(!trace.is_complete(), "{outcome}");
}

#[test]
fn a_program_that_cuts_the_memory_of_its_recording_keeps_its_status_and_its_first_calls() {
    // Nothing is left; a part of the header; the channels, but no calls under way and no segments.
    for bytes in ["0", "40", "600000"] {
        let recording = recorded("cut", &[bytes, "0"], 3);
        let outcome = &recording.outcome;
        assert_eq!(outcome.out(), "repaired\n", "{outcome}");
        let reports = outcome
            .err()
            .matches("another process cut the memory")
            .count();
        assert_eq!(reports, 1, "{outcome}");
        assert_eq!(Counts::of(&recording).recorded, 20, "{bytes}: {outcome}");
        is_one_process_and_not_complete(&recording);
    }
}

#[test]
fn calls_after_a_cut_are_recorded_where_their_thread_has_room() {
    let recording = recorded("cut", &["0", "30"], 3);
    assert_eq!(Counts::of(&recording).recorded, 50);
    is_one_process_and_not_complete(&recording);
}

#[test]
fn damage_of_the_shared_memory_introduces_no_process() {
    let parts = ["header", "channels", "segments", "all"];
    let seeds = [("1", "2"), ("3", "4"), ("5", "6"), ("7", "8")];
    for (part, (one, two)) in parts.into_iter().zip(seeds) {
        for seed in [one, two] {
            let recording = recorded("scribble", &[part, seed], 5);
            let outcome = &recording.outcome;
            assert_eq!(outcome.out(), "scribbled\n", "{part} {seed}: {outcome}");
            assert!(
                outcome.err().contains("made no sense"),
                "{part} {seed}: {outcome}"
            );
            is_one_process_and_not_complete(&recording);
        }
    }
}

#[test]
fn a_channel_with_an_owner_that_does_not_exist_introduces_no_process() {
    for part in ["owner", "ghost"] {
        let recording = recorded("scribble", &[part, "0"], 5);
        assert_eq!(Counts::of(&recording).recorded, 10, "{part}");
        is_one_process_and_not_complete(&recording);
    }
}
