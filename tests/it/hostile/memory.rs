//! What tracing adds to the memory of a program that has very many objects.
#![expect(
    clippy::print_stderr,
    reason = "the figures are shown with --nocapture"
)]

use std::collections::HashSet;

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::StreamId;
use ascend_trace_testkit::whole::opened;

use super::counts::balanced;
use crate::support::compile::hostile;
use crate::support::{Recording, Run};

/// The promised limit, the shared memory included.
const MOST_KILOBYTES: i64 = 32 * 1024;
/// The process's part of it: the rest when all memory for records is used.
const OWN_KILOBYTES: i64 = 8 * 1024;
/// Memory of the software runtime for the tool's events, if all of them are in use: 330 bytes each.
const EVENTS_KILOBYTES: i64 = 32_768 * 330 / 1024;

/// Kilobytes of a kind that the program has printed.
fn kilobytes(out: &str, kind: &str) -> i64 {
    let mut lines = out.lines().filter_map(|line| line.split_once(' '));
    let line = lines.find(|(name, _)| *name == kind);
    line.and_then(|it| it.1.parse().ok())
        .unwrap_or_else(|| panic!("{out}"))
}

/// Runs the program alone and traced; the additional memory when it is traced is bounded. Returns the
/// process's part of that, in kilobytes.
#[track_caller]
fn bounded(words: &[&str], devices: u32) -> (Recording, i64) {
    let runtime = match words {
        ["streams", ..] => EVENTS_KILOBYTES,
        _ => 0,
    };
    let soft = format!("devices={devices},streams=4000,events=400000");
    let run = || Run::new(&hostile("contexts")).words(words).soft(&soft);
    let bare = run().bare().expect(0);
    let recording = run().traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    balanced(&recording);
    let more = |kind| {
        let traced = kilobytes(&recording.outcome.out(), kind);
        traced - kilobytes(&bare.out(), kind)
    };
    let [own, files, shared] = ["own", "files", "shared"].map(more);
    eprintln!("{words:?}: {own} kB more private, {files} of files, {shared} shared");
    assert!(own + files + shared <= MOST_KILOBYTES);
    assert!(own <= OWN_KILOBYTES + runtime, "{own} kB");
    (recording, own)
}

/// How many tasks of a recording have a time.
fn timed(recording: &Recording) -> (usize, usize) {
    let (trace, _) = opened(recording.trace()).unwrap();
    let tasks = trace.tasks();
    (
        tasks.iter().filter(|task| task.time.is_some()).count(),
        tasks.len(),
    )
}

#[test]
fn contexts_one_after_another_take_the_memory_of_one() {
    // More than are followed at one time.
    let (recording, more) = bounded(&["after", "1500"], 1);
    // What every recording takes, of which nothing grows with the contexts.
    assert!(more < 2 * 1024, "{more} kB");
    // All of them are followed.
    let (timed, tasks) = timed(&recording);
    assert_eq!((timed, tasks), (3 * 1500, 3 * 1500));
}

#[test]
fn streams_and_events_with_handles_passed_between_threads_are_distinguished() {
    const EACH: usize = 300;
    let (recording, _) = bounded(&["churn", &EACH.to_string()], 1);
    let (trace, _) = opened(recording.trace()).unwrap();
    let streams = (0..trace.streams().len() as u32).map(StreamId);
    let used: Vec<_> = streams
        .map(|id| trace.stream_tasks(id))
        .filter(|tasks| !tasks.is_empty())
        .collect();
    assert_eq!(used.len(), 4 * EACH);
    for tasks in used {
        let tasks: Vec<_> = tasks.iter().map(|id| trace.task(*id)).collect();
        let numbers: Vec<_> = tasks.iter().map(|task| task.sequence).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        // All in one thread, on a stream that was seen being made.
        let threads = tasks.iter().map(|task| trace.call(task.call).thread);
        assert_eq!(threads.collect::<HashSet<_>>().len(), 1);
        assert!(tasks.iter().all(|task| task.untimed != Untimed::Unknown));
    }
    // Each event was recorded once.
    let records = trace.calls().iter();
    let records = records.filter(|call| trace.function(call.function).name == "aclrtRecordEvent");
    let generations: HashSet<_> = records.map(|call| call.event.unwrap()).collect();
    assert_eq!(generations.len(), 4 * EACH);
    assert!(generations.iter().all(|generation| generation.number == 1));
}

#[test]
fn many_contexts_devices_streams_and_events_stay_below_the_bound() {
    bounded(&["live", "128"], 1);
    bounded(&["devices", "64"], 64);
    bounded(&["streams", "400", "2"], 2);
    bounded(&["events", "4000"], 1);
}

#[test]
#[ignore = "takes a minute; at full size"]
fn very_many_contexts_devices_streams_and_events_stay_below_the_bound() {
    let (recording, _) = bounded(&["after", "10000"], 1);
    assert_eq!(timed(&recording).0, 30_000);
    bounded(&["live", "512"], 1);
    bounded(&["live", "500", "8"], 8);
    bounded(&["devices", "64"], 64);
    bounded(&["streams", "3000", "1"], 1);
    bounded(&["streams", "3000", "8"], 8);
    bounded(&["events", "200000"], 1);
}
