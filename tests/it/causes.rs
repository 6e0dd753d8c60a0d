use std::collections::BTreeMap;

use ascend_trace_analysis::stalls::IDLE_FLOOR_NS;
use ascend_trace_recording::CallId;
use ascend_trace_testkit::oracle;
use ascend_trace_testkit::scenario::{ExpectedCause, ExpectedReason, SOFT, Scenario};
use ascend_trace_testkit::whole::opened;

use crate::conformance_cases::{Case, cases_in};
use crate::support::compile::{built, conformance_programs};
use crate::support::truth::TruthLogTask;
use crate::support::{CsvRow, Recording, Run, Tables, named, program, truth};

/// Situations in all programs together.
const CASES: usize = 240;
/// Situations of one program.
const PER_PROGRAM: usize = 40;
/// Least number of pending tasks where a queue of the scenarios' 64 places is full: a task takes up to
/// three places, and ended ones may not have been removed.
const LEAST_PENDING: usize = 16;

/// Names of the calls that operations of a script become.
const OPERATIONS: [&str; 11] = [
    "aclrtCreateStream",
    "aclrtDestroyStream",
    "aclrtCreateEventExWithFlag",
    "aclrtDestroyEvent",
    "aclrtMemcpyAsync",
    "aclrtRecordEvent",
    "aclrtStreamWaitEvent",
    "aclrtSynchronizeStream",
    "aclrtSynchronizeEvent",
    "aclrtLaunchHostFunc",
    "aclrtResetEvent",
];

/// A run of a scenario, by the numbers of its calls.
struct Played<'t> {
    tables: &'t Tables,
    calls: Vec<&'t CsvRow>,
    /// By the number of the call in `calls.csv`.
    stalls: BTreeMap<i64, &'t CsvRow>,
    truth: BTreeMap<i64, TruthLogTask>,
}

impl<'t> Played<'t> {
    #[track_caller]
    fn new(tables: &'t Tables, recording: &Recording, scenario: &Scenario) -> Self {
        let mut calls: Vec<&CsvRow> = tables
            .outer_calls()
            .filter(|call| OPERATIONS.contains(&call.text("name")))
            .collect();
        calls.sort_by_key(|call| call.number("begin_ns"));
        assert_eq!(calls.len(), scenario.calls);
        let on_streams = tables
            .stalls
            .iter()
            .filter(|row| row.text("tid").is_empty());
        // A gap before a task and a wait in its time name the same call: the wait counts.
        let mut stalls: BTreeMap<i64, &CsvRow> = BTreeMap::new();
        for stall in on_streams {
            let in_task = ["event-wait", "callback"].contains(&stall.text("cause"));
            let call = stall.number("call");
            if in_task || !stalls.contains_key(&call) {
                stalls.insert(call, stall);
            }
        }
        let matched = truth::matched(&tables.tasks, &recording.truth()).into_iter();
        let truth = matched.map(|(task, entry)| (task.number("call"), entry));
        Self {
            tables,
            calls,
            stalls,
            truth: truth.collect(),
        }
    }

    fn number(&self, call: usize) -> i64 {
        self.calls[call].number("call")
    }

    fn stall(&self, call: usize) -> Option<&'t CsvRow> {
        self.stalls.get(&self.number(call)).copied()
    }

    fn true_time(&self, call: usize) -> (i64, i64) {
        let entry = &self.truth[&self.number(call)];
        (entry.begin, entry.end)
    }

    /// Whether something without a time keeps the cause from being known.
    fn is_blind(&self, call: usize) -> bool {
        let task = self.task(call);
        let lost = task.is_some_and(|task| !task.text("untimed").is_empty());
        lost || self
            .stall(call)
            .is_some_and(|stall| stall.text("why").contains("has no time"))
    }

    fn task(&self, call: usize) -> Option<&'t CsvRow> {
        let number = self.calls[call].maybe("task")?;
        Some(&self.tables.tasks[number as usize])
    }

    fn bar(&self, call: usize, column: &str) -> i64 {
        self.task(call).map_or(0, |task| task.number(column))
    }

    /// Possible difference between the times of these calls' tasks, and the shortest wait that counts.
    fn leeway(&self, calls: [usize; 3]) -> i64 {
        let bars = calls.map(|call| self.bar(call, "err_device_ns"));
        bars.iter().sum::<i64>().max(IDLE_FLOOR_NS)
    }

    /// The time in which the thread was in calls that hold it up, by kind, before a call since a time:
    /// in syncs until the device was done, in syncs from then on, and in long submissions.
    fn held_up(&self, since: i64, call: usize) -> [i64; 3] {
        let [mut waited, mut returned, mut submitted] = [0; 3];
        for (place, other) in self.calls[..call].iter().enumerate() {
            let (begin, end) = (other.number("begin_ns").max(since), other.number("end_ns"));
            if end <= begin {
                continue;
            }
            if other.text("name") == "aclrtSynchronizeStream" {
                let done = self.done_before(place).clamp(begin, end);
                waited += done - begin;
                returned += end - done;
            } else if other.text("name").starts_with("aclrtSynchronize") {
                waited += end - begin;
            } else if self.was_full(place) {
                submitted += end - begin;
            }
        }
        [waited, returned, submitted]
    }

    /// Whether a call that submits took long while many tasks were pending. On a busy machine a call may take as
    /// long because its thread had no processor.
    fn was_full(&self, call: usize) -> bool {
        let (begin, end) = (
            self.calls[call].number("begin_ns"),
            self.calls[call].number("end_ns"),
        );
        let stream = self.calls[call].text("stream_id");
        let is_pending = |other: &usize| {
            let time = self.truth.get(&self.number(*other));
            self.calls[*other].text("stream_id") == stream && time.is_some_and(|it| it.end > begin)
        };
        let is_long = self.calls[call].maybe("task").is_some() && end - begin >= 10_000;
        is_long && (0..call).filter(is_pending).count() >= LEAST_PENDING
    }

    /// The call that made the stream of a call, and the one that submitted the task before.
    fn before(&self, call: usize) -> (usize, Option<usize>) {
        let stream = self.calls[call].text("stream_id");
        let created = self.calls[..call].iter().rposition(|other| {
            other.text("name") == "aclrtCreateStream" && other.text("stream_id") == stream
        });
        let first = created.unwrap_or(0);
        let before = (first..call).rev().find(|other| {
            self.calls[*other].text("stream_id") == stream
                && self.truth.contains_key(&self.number(*other))
        });
        (first, before)
    }

    /// When the device had finished the work before a call on its stream, or the stream was made.
    fn done_before(&self, call: usize) -> i64 {
        let (first, before) = self.before(call);
        before.map_or_else(
            || self.calls[first].number("end_ns"),
            |before| self.true_time(before).1,
        )
    }
}

/// Compares one expectation with the trace. Returns whether the arranged cause occurred: the machine
/// can have stopped the host at any place, which makes it late.
#[track_caller]
fn judge(played: &Played<'_>, ExpectedCause { call, cause }: ExpectedCause) -> bool {
    if played.is_blind(call) {
        return false;
    }
    let stall = played.stall(call);
    let found = stall.map_or("", |stall| stall.text("cause"));
    match cause {
        ExpectedReason::EventWait { record, root } => judge_wait(played, call, record, root),
        ExpectedReason::NoWait => {
            assert_ne!(found, "event-wait", "{stall:?}");
            true
        }
        ExpectedReason::Callback => {
            // A function with an end before its begin takes no time.
            let (begin, end) = played.true_time(call);
            let is_long = end - begin > played.leeway([call; 3]);
            assert!(!is_long || found == "callback", "{stall:?}");
            is_long
        }
        ExpectedReason::Drained => {
            assert_eq!(found, "drained", "{stall:?}");
            true
        }
        // On a machine that is busy the tool can have taken most of it; its costs say so.
        _ if found == "tracer-overhead" => {
            let meanwhile = stall.map_or("", |stall| stall.text("meanwhile"));
            let own = meanwhile
                .split("; ")
                .find_map(|part| part.strip_prefix("tracer-overhead 0 "));
            let own: i64 = own.map_or(0, |own| own.parse().unwrap());
            let length = stall.map_or(0, |stall| stall.number("length_ns"));
            assert!(own * 2 >= length * 3 / 4, "{stall:?}");
            false
        }
        ExpectedReason::HostLate
        | ExpectedReason::HostBlocked { .. }
        | ExpectedReason::QueueFull { .. } => {
            let since = played.done_before(call);
            let submitted = played.calls[call].number("begin_ns");
            let held_up = played.held_up(since, call);
            let total: i64 = held_up.iter().sum();
            let length = submitted - since;
            // The stall is between two tasks, each with a separate bar.
            let before = played.before(call).1;
            let before = before.map_or(0, |before| played.bar(before, "err_ns"));
            let near = length / 8 + 2 * (played.bar(call, "err_ns") + before);
            let mut by_length = [0, 1, 2];
            by_length.sort_by_key(|kind| -held_up[*kind]);
            let [first, second, _] = by_length;
            let close =
                (total * 2 - length).abs() < near || held_up[first] - held_up[second] < near;
            let kinds = ["host-blocked", "return-latency", "queue-full"];
            let expected = match total * 2 < length {
                true => "host-late",
                false => kinds[first],
            };
            let arranged = match cause {
                ExpectedReason::HostLate => "host-late",
                ExpectedReason::HostBlocked { .. } => "host-blocked",
                _ => "queue-full",
            };
            let is_of_host = found == "host-late" || kinds.contains(&found);
            let is_as_expected = found == expected || close && is_of_host;
            assert!(
                is_as_expected,
                "{expected}, {held_up:?} of {length}: {stall:?}"
            );
            if let (ExpectedReason::HostBlocked { call }, "host-blocked") = (cause, found) {
                let blamed = stall.and_then(|stall| stall.maybe("blamed_call"));
                assert_eq!(blamed, Some(played.number(call)), "{stall:?}");
            }
            found == arranged
        }
    }
}

/// A wait with a record after a host function that ends when everything has been submitted. The device
/// may reach the wait when that function, or even the record, has ended: the real order decides the
/// expected result.
#[track_caller]
fn judge_wait(played: &Played<'_>, call: usize, record: usize, root: usize) -> bool {
    let stall = played.stall(call);
    let (begin, end) = played.true_time(call);
    let (recorded, opened) = (played.true_time(record).1, played.true_time(root).1);
    let leeway = played.leeway([call, record, root]);
    if recorded <= begin + leeway {
        let cause = stall.map_or("", |stall| stall.text("cause"));
        let is_over = recorded < begin - leeway;
        assert!(!is_over || cause != "event-wait", "{stall:?}");
        return false;
    }
    let stall = stall.unwrap_or_else(|| panic!("call {call}: no stall"));
    assert_eq!(stall.text("cause"), "event-wait", "{stall:?}");
    let blamed = stall.number("blamed_call");
    assert_eq!(blamed, played.number(record), "{stall:?}");
    // The truth: the wait ended as the record was reached.
    assert_eq!(recorded, end);
    let is_root = stall.text("root") == "aclrtLaunchHostFunc";
    if opened <= begin + leeway {
        assert!(opened >= begin - leeway || !is_root, "{stall:?}");
        return false;
    }
    assert!(is_root, "{stall:?}, {begin}..{end}, root until {opened}");
    true
}

/// The streams that the program made: their numbers, and their lives.
fn lives<'t>(played: &Played<'t>) -> Vec<(&'t str, i64, i64)> {
    let made = played.calls.iter().enumerate();
    let made = made.filter(|(_, call)| call.text("name") == "aclrtCreateStream");
    made.map(|(place, create)| {
        let handle = create.text("args");
        let destroy = played.calls[place..]
            .iter()
            .find(|call| call.text("name") == "aclrtDestroyStream" && call.text("args") == handle);
        let (begin, end) = (create.number("end_ns"), destroy.unwrap().number("begin_ns"));
        (create.text("stream_id"), begin, end)
    })
    .collect()
}

/// Each stream's time is made up of its work and its stalls, to the nanosecond.
#[track_caller]
fn adds_up(played: &Played<'_>) {
    let lives = lives(played);
    for &(stream, begin, end) in &lives {
        // A stream that ran nothing is shown by its order of creation, which may be another's number.
        let same =
            |other: &&(&str, i64, i64)| other.0 == stream && other.1 <= end && begin <= other.2;
        if lives.iter().filter(same).count() > 1 {
            continue;
        }
        let own = |row: &&CsvRow| {
            row.text("stream_id") == stream
                && row
                    .maybe("begin_ns")
                    .is_some_and(|it| it >= begin && it < end)
        };
        let stalls = played.tables.stalls.iter().filter(own);
        let stalls = stalls.filter(|row| row.text("tid").is_empty());
        let mut parts: Vec<(i64, i64)> = stalls
            .map(|row| (row.number("begin_ns"), row.number("end_ns")))
            .collect();
        let idle: i64 = parts.iter().map(|(begin, end)| end - begin).sum();
        if !played.tables.tasks.iter().any(|row| own(&row)) {
            assert!(parts.is_empty(), "{stream} had nothing to wait for");
            continue;
        }
        let tasks = played.tables.tasks.iter().filter(own);
        let work = tasks.filter(|task| task.text("kind") == "memcpy");
        parts.extend(work.map(|task| (task.number("begin_ns"), task.number("end_ns"))));
        parts.sort_unstable();
        let (mut covered, mut reached) = (0, begin);
        for (from, to) in parts {
            assert!(
                from <= reached,
                "nothing is said of {reached}..{from} on {stream}"
            );
            covered += (to - from.max(reached)).max(0);
            reached = reached.max(to);
        }
        assert!(
            reached >= end && idle <= end - begin,
            "stream {stream}: from {begin} to {end}, reached {reached}, idle {idle}"
        );
        assert_eq!(covered, reached - begin);
    }
}

#[test]
fn arranged_causes_are_found_and_add_up() {
    let script = program("script");
    let (mut arranged, mut all) = (0, 0);
    for seed in 1..=(CASES / PER_PROGRAM) as u64 {
        let scenario = Scenario::new(seed, PER_PROGRAM);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script");
        std::fs::write(&path, &scenario.script).unwrap();
        let run = Run::new(&script)
            .words(&[path.to_str().unwrap()])
            .soft(SOFT);
        let recording = run.traced();
        let out = recording.outcome.out();
        assert_eq!(
            out.trim(),
            format!("{} calls", scenario.calls),
            "{}",
            recording.outcome
        );
        let tables = Tables::of(&recording);
        tables.all_timed();
        let played = Played::new(&tables, &recording, &scenario);
        all += scenario.expected.len();
        for expected in &scenario.expected {
            arranged += usize::from(judge(&played, *expected));
        }
        adds_up(&played);
        assert!(named::no_run_was_over(&recording.trace()) > 0);
    }
    // The machine changed the others, which were judged by the real order.
    assert!(arranged * 2 > all, "{arranged} of {all} came about");
}

/// The record that each wait is linked to, by call.
fn links(tables: &Tables) -> BTreeMap<i64, i64> {
    let call_of = |row: &CsvRow, end: &str| {
        let number = row.number(&format!("{end}_number"));
        match row.text(&format!("{end}_type")) {
            "task" => tables.tasks[number as usize].number("call"),
            _ => number,
        }
    };
    let is_record = |row: &&CsvRow| row.text("from_name").starts_with("aclrtRecordEvent");
    let is_wait = |row: &&CsvRow| {
        ["record-wait", "captured"].contains(&row.text("kind"))
            || row.text("to_name").starts_with("aclrtSynchronizeEvent")
    };
    let links = tables.dependencies.iter().filter(is_record).filter(is_wait);
    links
        .filter(|row| ["record-wait", "captured", "sync", "timed-out"].contains(&row.text("kind")))
        .map(|row| (call_of(row, "to"), call_of(row, "from")))
        .collect()
}

/// Asserts that each wait of a recording is linked to the record that AscendCL binds it to.
#[track_caller]
fn check_waits(recording: &Recording) -> usize {
    let tables = Tables::of(recording);
    let (trace, _) = opened(recording.trace()).unwrap();
    let links = links(&tables);
    let has_losses = trace.losses().calls > 0;
    let waits = oracle::waits(&trace);
    for (wait, record) in &waits {
        let wait = i64::from(wait.0);
        let expected = record.map(|CallId(record)| i64::from(record));
        let call = &tables.calls[wait as usize];
        let found = links.get(&wait).copied();
        // Calls get lost on a busy machine. Then the last existing record may not be the wait's: its
        // generation says so.
        let is_other = expected.is_some_and(|record| {
            let record = &tables.calls[record as usize];
            record.text("event_generation") != call.text("event_generation")
        });
        if has_losses && is_other {
            assert_eq!(found, None, "{call:?}");
            continue;
        }
        assert_eq!(found, expected, "{call:?}");
    }
    waits.len()
}

#[test]
fn waits_of_every_example_are_linked_as_the_semantics_of_events_say() {
    let mut waits = 0;
    for program in super::examples::all() {
        let recording = Run::new(&program).traced();
        waits += check_waits(&recording);
    }
    assert!(waits > 10, "{waits}");
}

/// The conformance cases of the software runtime that wait for events.
fn conformance() -> Vec<Case> {
    let sections = std::fs::read_dir(conformance_programs()).unwrap();
    let sections = sections.map(|section| section.unwrap().path());
    let cases = sections
        .filter(|it| it.is_dir())
        .flat_map(|it| cases_in(&it));
    let waits = |case: &Case| {
        ["StreamWaitEvent", "SynchronizeEvent"]
            .iter()
            .any(|it| case.text.contains(it))
    };
    cases.filter(waits).collect()
}

#[test]
fn waits_of_every_conformance_case_are_linked_as_the_semantics_of_events_say() {
    let cases = conformance();
    assert!(cases.len() >= 10, "{cases:?}");
    let mut waits = 0;
    for case in cases {
        let words = ["-std=gnu11", "-O1", "-pthread", "-lascendcl", "-ldl", "-lm"];
        let section = case.source.parent().and_then(|it| it.file_name()).unwrap();
        let stem = case.source.file_stem().unwrap();
        let name = format!("conformance_{}_{}", section.display(), stem.display());
        let program = built(&name, case.source.to_str().unwrap(), &words);
        let run = Run::new(&program).words(&case.words());
        waits += check_waits(&run.soft(&case.options).traced());
    }
    assert!(waits > 50, "{waits}");
}

#[test]
fn waits_of_random_programs_are_linked_as_the_semantics_of_events_say() {
    let scenario = Scenario::new(99, PER_PROGRAM);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    std::fs::write(&path, &scenario.script).unwrap();
    let run = Run::new(&program("script")).words(&[path.to_str().unwrap()]);
    assert!(check_waits(&run.soft(SOFT).traced()) > 10);
}
