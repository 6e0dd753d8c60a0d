//! Calls made by a program, against what its trace recorded and counted.
#![expect(
    clippy::print_stderr,
    reason = "the figures are shown with --nocapture"
)]

use serde_json::Value;

use crate::support::{Recording, run, tool};

/// Counts of the program's calls in the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) recorded: u64,
    pub(super) lost: u64,
}

impl Counts {
    #[track_caller]
    pub(super) fn of(recording: &Recording) -> Self {
        let outcome = run(tool().arg("info").arg(recording.trace()).arg("--json")).expect(0);
        let document: Value = serde_json::from_str(&outcome.out()).unwrap();
        Self {
            recorded: document["calls"]["count"].as_u64().unwrap(),
            lost: document["lost"]["calls"].as_u64().unwrap(),
        }
    }
}

/// Counts that a program prints about its calls when some of them never returned: those may or may not
/// be recorded. All others are recorded or counted, and each once.
#[track_caller]
pub(super) fn between(recording: &Recording) -> Counts {
    let counts = Counts::of(recording);
    let (returned, begun) = (recording.number("returned"), recording.number("begun"));
    eprintln!("returned {returned}, begun {begun}, {counts:?}");
    let known = counts.recorded + counts.lost;
    assert!(
        (returned..=begun).contains(&known),
        "{counts:?} of {returned} to {begun}\n{}",
        recording.outcome
    );
    counts
}

/// Checks the invariant: made = recorded + counted as lost. A program of `tests/hostile` prints `made
/// N` on a separate line, with the number of its AscendCL calls.
#[track_caller]
pub(super) fn balanced(recording: &Recording) -> Counts {
    let outcome = &recording.outcome;
    let made = outcome
        .out()
        .lines()
        .find_map(|line| line.strip_prefix("made ")?.parse().ok());
    let made: u64 = made.unwrap_or_else(|| panic!("no line `made N`: {outcome}"));
    let counts = Counts::of(recording);
    eprintln!(
        "made {made}, recorded {}, counted as lost {}",
        counts.recorded, counts.lost
    );
    assert_eq!(made, counts.recorded + counts.lost, "{counts:?}\n{outcome}");
    counts
}
