//! Every example counts its requests itself, and the software runtime knows when each task really ran:
//! the traces must agree with both.

use std::path::{Path, PathBuf};

use crate::support::accuracy::Accuracy;
use crate::support::{CsvRow, Recording, Run, Tables, example, named, place, truth};

/// A device clock that is far from the host's and drifts from it, differently on each device.
const CLOCKS: &str = "clock_offset_ns=987654321012/-4321,drift_ppm=60/-80";

/// A program that loses its processor between two calls measures that as well, so one run without it is
/// needed, among this number. Where other load leaves no such run, every distance from the truth must
/// be explained in one of them. Bars are honest in each.
const ATTEMPTS: usize = 5;

macro_rules! examples {
    ($($name:ident: $program:expr;)+) => {$(
        mod $name {
            #[test]
            fn is_traced_completely_and_in_time() {
                super::check_events(&$program);
            }

            #[test]
            fn is_traced_completely_without_timing() {
                super::check_off(&$program);
            }
        }
    )+};
}

examples! {
    callbacks: crate::support::example("callbacks");
    cross_stream: crate::support::example("cross_stream");
    device_sync: crate::support::example("device_sync");
    event_sync: crate::support::example("event_sync");
    multi_device: crate::support::example("multi_device");
    resources: crate::support::example("resources");
    stream_sync: crate::support::example("stream_sync");
    two_streams: super::rust_example("two_streams");
    overlap: super::rust_example("overlap");
}

/// Cargo builds these before it runs the tests, next to the command.
#[track_caller]
pub(crate) fn rust_example(name: &str) -> PathBuf {
    let program = place::command().with_file_name("examples").join(name);
    assert!(
        program.exists(),
        "no {}: cargo build --examples makes it",
        program.display()
    );
    program
}

/// Every example by its program.
pub(crate) fn all() -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match path.extension().and_then(|end| end.to_str()) {
            Some("c") => programs.push(example(&name)),
            Some("rs") => programs.push(rust_example(&name)),
            _ => {}
        }
    }
    assert!(programs.len() >= 9, "{programs:?}");
    programs
}

/// Counts of an example in its last line.
struct PrintedCounts {
    calls: usize,
    tasks: usize,
    waits: usize,
}

#[track_caller]
fn printed_counts(recording: &Recording) -> PrintedCounts {
    let text = recording.outcome.out();
    let line = text.lines().last().expect("a last line");
    let numbers: Vec<usize> = line
        .split(", ")
        .zip(["calls ", "tasks ", "waits "])
        .map(|(part, name)| {
            part.strip_prefix(name)
                .and_then(|it| it.parse().ok())
                .expect(line)
        })
        .collect();
    let [calls, tasks, waits] = numbers[..] else {
        panic!("{line}");
    };
    assert!(calls > 0 && tasks > 0, "{line}");
    PrintedCounts {
        calls,
        tasks,
        waits,
    }
}

#[track_caller]
fn check_counts(own: &PrintedCounts, tables: &Tables) {
    assert_eq!(tables.outer_calls().count(), own.calls);
    assert_eq!(tables.tasks.len(), own.tasks);
    let waits = tables
        .tasks
        .iter()
        .filter(|task| task.text("kind") == "wait");
    assert_eq!(waits.count(), own.waits);
    for task in &tables.tasks {
        assert!(
            task.number("stream_id") >= 0 && task.number("device") >= 0,
            "{task:?}"
        );
    }
}

/// Each wait is linked to the latest recording of its event when it was submitted. That holds for
/// programs that record and wait in one thread.
#[track_caller]
fn check_waits(own: &PrintedCounts, tables: &Tables) {
    let links: Vec<&CsvRow> = tables
        .dependencies
        .iter()
        .filter(|link| link.text("kind") == "record-wait")
        .collect();
    assert_eq!(links.len(), own.waits);
    for link in links {
        let end = |name| &tables.tasks[link.number(name) as usize];
        let (record, wait) = (end("from_number"), end("to_number"));
        assert_eq!((record.text("kind"), wait.text("kind")), ("record", "wait"));
        let call = |task: &CsvRow| &tables.calls[task.number("call") as usize];
        let event = call(wait).number("event_serial");
        let latest = tables.calls[..wait.number("call") as usize]
            .iter()
            .filter(|call| call.text("name") == "aclrtRecordEvent")
            .filter(|call| call.number("event_serial") == event)
            .max_by_key(|call| call.number("begin_ns"));
        assert_eq!(latest, Some(call(record)), "{wait:?}");
    }
}

#[track_caller]
fn check_events(program: &Path) {
    let (mut faults, mut unexplained) = (Vec::new(), Vec::new());
    for _ in 0..ATTEMPTS {
        let recording = Run::new(program).soft(CLOCKS).compared();
        let own = printed_counts(&recording);
        let tables = Tables::of(&recording);
        check_counts(&own, &tables);
        check_waits(&own, &tables);
        tables.all_timed();
        named::no_run_was_over(&recording.trace());
        let tasks = tables.as_submitted();
        let matched = truth::matched(&tasks, &recording.truth());
        let accuracy = Accuracy::of(&tables, &matched);
        assert_eq!(accuracy.tasks(), own.tasks);
        // A thread may lose its processor between the runtime's look at the clock and the tool's, where the host runs a
        // function. `host_functions` judges these times.
        let mut dishonest = accuracy.dishonest();
        dishonest.retain(|it| !it.starts_with("hostfunc "));
        assert_eq!(dishonest, [""; 0], "beyond their bars");
        faults = accuracy.faults();
        if faults.is_empty() {
            return;
        }
        unexplained.push(accuracy.unexplained());
    }
    assert!(
        unexplained.iter().any(Vec::is_empty),
        "in no run were all times close or explained; the last: {faults:#?}, {unexplained:#?}"
    );
}

#[track_caller]
fn check_off(program: &Path) {
    let recording = Run::new(program).options(&["--timing", "off"]).compared();
    let own = printed_counts(&recording);
    let tables = Tables::of(&recording);
    check_counts(&own, &tables);
    check_waits(&own, &tables);
    for task in &tables.tasks {
        assert_eq!(task.text("untimed"), "timing-off", "{task:?}");
        assert_eq!(task.maybe("begin_ns"), None, "{task:?}");
    }
    // Nothing but the program's own tasks was ever on a stream.
    let executed = truth::read(&recording.truth());
    assert_eq!(executed.len(), own.tasks);
    assert!(!executed.iter().any(truth::TruthLogTask::is_tracers));
}

#[test]
fn cross_stream_waits_belong_to_the_record_of_their_round() {
    let recording = Run::new(&example("cross_stream")).traced();
    let tables = Tables::of(&recording);
    let of_kind = |kind| {
        let tasks = tables
            .tasks
            .iter()
            .filter(move |task| task.text("kind") == kind);
        tasks
            .map(|task| (task.number("call"), task.number("task")))
            .collect::<Vec<_>>()
    };
    // In the order of their calls: a record, then a wait on either consumer.
    let (mut records, mut waits) = (of_kind("record"), of_kind("wait"));
    records.sort_unstable();
    waits.sort_unstable();
    assert_eq!((records.len(), waits.len()), (4, 8));
    let expected = waits
        .chunks(2)
        .zip(&records)
        .flat_map(|(waits, record)| waits.iter().map(|wait| (record.1, wait.1)));
    let links = tables
        .dependencies
        .iter()
        .filter(|link| link.text("kind") == "record-wait");
    let links = links.map(|link| (link.number("from_number"), link.number("to_number")));
    let (mut expected, mut links): (Vec<_>, Vec<_>) = (expected.collect(), links.collect());
    expected.sort_unstable();
    links.sort_unstable();
    assert_eq!(links, expected);
}
