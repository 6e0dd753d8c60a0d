//! Programs that run in virtual time, and recordings of them with the true times.
//!
//! The tool reads the host's clock, which has nothing to do with virtual time. So the program runs twice: on its own,
//! and recorded without times of tasks. The recording then gets the times of the first run, call by call and task by
//! task, from the truth log. A file with these times is what `what-if` predicts from.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::TimeRange;
use ascend_trace_recording::file::{self, FileContents, Writer};
use ascend_trace_recording::rows::{AnchorRow, CallRow, EndRow, Row, TaskTimeRow};
use serde_json::Value;

use crate::support::{Run, program};

use super::script::Script;

/// Copies and fills take 1 µs a byte, and nothing but that.
const SOFT: &str = "tick_ns=1,copy_ns=0,memset_ns=0,d2d_mbps=1,h2d_mbps=1,d2h_mbps=1,memset_mbps=1";

/// The id of the first stream that a program makes: its context has two.
pub(crate) const FIRST_STREAM: i32 = 2;

/// The device's clock is ahead by this much. The times of programs here are whole microseconds, and the tool would take a
/// clock that reads nothing else for one that ticks so coarsely.
const AHEAD_NS: i64 = 7;

/// The possible error of the tool's mapping of that clock, as a part of the time: the assumed rate of
/// any clock.
pub(crate) const MAPPING: i64 = 5_000;

/// A program: the operations of its threads, and options of the software runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clocked {
    pub(crate) scripts: Vec<Script>,
    pub(crate) soft: String,
    /// Each task with a number that this divides has no time in the recording; 0 if all have one.
    pub(crate) untimed_every: u32,
}

/// Subject of a call in the truth log.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TrueCall {
    name: String,
    time: TimeRange,
}

/// A run as the truth log has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Truth {
    /// By thread, in the order in which they began.
    calls: Vec<VecDeque<TrueCall>>,
    /// By device and stream.
    tasks: BTreeMap<(i64, i64), Vec<TimeRange>>,
    /// Output of the program.
    pub(crate) printed: String,
}

impl Truth {
    /// From the first call to the end of the last call or task.
    pub(crate) fn makespan(&self) -> i64 {
        self.range().duration()
    }

    pub(crate) fn range(&self) -> TimeRange {
        let calls = self.calls.iter().flatten().map(|it| it.time);
        let tasks = self.tasks.values().flatten().copied();
        TimeRange::around(calls.chain(tasks).map(Some)).unwrap()
    }

    /// Duration of the calls from the first to the last of these functions, with the time between.
    pub(crate) fn between(&self, first: &str, last: &str) -> i64 {
        let calls = || self.calls.iter().flatten();
        let begin = calls().find(|it| it.name == first).unwrap().time.begin;
        let end = calls().filter(|it| it.name == last).map(|it| it.time.end);
        end.max().unwrap() - begin
    }
}

impl Clocked {
    pub(crate) fn new(soft: &str, scripts: &[&Script]) -> Self {
        Self {
            scripts: scripts.iter().map(|it| (*it).clone()).collect(),
            soft: soft.to_owned(),
            untimed_every: 0,
        }
    }

    fn run(&self, folder: &Path, soft: &str) -> Run {
        let paths = self.scripts.iter().enumerate().map(|(number, script)| {
            let path = folder.join(format!("script{number}"));
            std::fs::write(&path, script.text()).unwrap();
            path.to_str().unwrap().to_owned()
        });
        let paths: Vec<String> = paths.collect();
        let words: Vec<&str> = paths.iter().map(String::as_str).collect();
        Run::new(&program("reruns")).words(&words).soft(soft)
    }

    fn virtually(&self, folder: &Path) -> Run {
        self.run(folder, &format!("{SOFT},{}", self.soft))
    }

    /// Runs it in virtual time.
    #[track_caller]
    pub(crate) fn truth(&self) -> Truth {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("truth");
        let run = self.virtually(folder.path());
        let run = run.variable("SOFTACL_TRUTH", log.to_str().unwrap());
        let outcome = run.bare().expect(0);
        Truth {
            printed: outcome.out(),
            ..read(&std::fs::read_to_string(log).unwrap())
        }
    }

    /// Runs it on the host's clock, and returns its output.
    #[track_caller]
    pub(crate) fn printed(&self) -> String {
        let folder = tempfile::tempdir().unwrap();
        self.run(folder.path(), SOFT).bare().expect(0).out()
    }

    /// Records it, without the times of tasks.
    #[track_caller]
    pub(crate) fn contents(&self) -> FileContents {
        let folder = tempfile::tempdir().unwrap();
        let run = self.virtually(folder.path());
        let recording = run.options(&["--timing", "off"]).traced();
        let outcome = &recording.outcome;
        assert_eq!(outcome.status, 0, "{outcome}");
        let (contents, warnings) = file::read(File::open(recording.trace()).unwrap()).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        contents
    }

    /// Records it: a file with the times of virtual time, and these times.
    #[track_caller]
    pub(crate) fn recorded(&self, path: &Path) -> Truth {
        let truth = self.truth();
        let contents = retimed_in_part(self.contents(), &truth, self.untimed_every);
        std::fs::write(path, contents).unwrap();
        truth
    }
}

#[track_caller]
fn read(text: &str) -> Truth {
    let mut threads: Vec<(i64, VecDeque<TrueCall>)> = Vec::new();
    let mut truth = Truth::default();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let number = |name: &str| line[name].as_i64().unwrap();
        let time = TimeRange::new(number("begin_ns"), number("end_ns"));
        if line["kind"] != "call" {
            let tasks = truth.tasks.entry((number("device"), number("stream_id")));
            tasks.or_default().push(time);
            continue;
        }
        let thread = number("tid");
        let place = threads.iter().position(|it| it.0 == thread);
        let place = place.unwrap_or_else(|| {
            threads.push((thread, VecDeque::new()));
            threads.len() - 1
        });
        threads[place].1.push_back(TrueCall {
            name: line["name"].as_str().unwrap().to_owned(),
            time,
        });
    }
    threads.sort_by_key(|it| it.1[0].time.begin);
    truth.calls = threads.into_iter().map(|it| it.1).collect();
    truth
}

/// The file with the times of another run of the same program.
#[track_caller]
pub(crate) fn retimed(contents: FileContents, truth: &Truth) -> Vec<u8> {
    retimed_in_part(contents, truth, 0)
}

/// The same, without the times of tasks with numbers that `untimed_every` divides.
#[track_caller]
fn retimed_in_part(contents: FileContents, truth: &Truth, untimed_every: u32) -> Vec<u8> {
    let range = truth.range();
    let mut times = Times::of(&contents, truth);
    times.untimed_every = untimed_every;
    let mut session = contents.session;
    session.start_ns = range.begin;
    let mut writer = Writer::create(Vec::new(), &session, &contents.tables).unwrap();
    for row in contents.rows {
        let row = match row {
            Row::Process(mut row) => {
                row.begin_ns = range.begin;
                Row::Process(row)
            }
            Row::Stream(mut row) => {
                row.acl_id = times.streams.get(&row.serial).map(|it| it.1);
                Row::Stream(row)
            }
            Row::Call(row) => Row::Call(times.call(row)),
            Row::Anchor(_)
            | Row::TaskTime(_)
            | Row::Cost(_)
            | Row::Loss(_)
            | Row::ProcessEnd(_)
            | Row::End(_) => continue,
            other => other,
        };
        writer.push(row).unwrap();
    }
    for row in times.of_tasks() {
        writer.push(row).unwrap();
    }
    let end = EndRow {
        end_ns: range.end,
        exit_status: 0,
        ..EndRow::default()
    };
    writer.finish(end).unwrap()
}

/// The true times of a recording's items.
struct Times<'t> {
    truth: &'t Truth,
    range: TimeRange,
    /// Names of functions by number.
    names: Vec<String>,
    /// By number of the thread: calls that are still to come, and when the last one ended.
    threads: BTreeMap<u32, (VecDeque<TrueCall>, i64)>,
    process: u32,
    /// By serial: device and id.
    streams: BTreeMap<u32, (i64, i32)>,
    /// By serial, in order; and whether the task has a time.
    sequences: BTreeMap<u32, Vec<(u32, bool)>>,
    untimed_every: u32,
    tasks: u32,
}

impl<'t> Times<'t> {
    fn of(contents: &FileContents, truth: &'t Truth) -> Self {
        let mut threads = BTreeMap::new();
        let (mut streams, mut process) = (BTreeMap::new(), 0);
        let mut seen: Vec<(i64, u32)> = Vec::new();
        for row in &contents.rows {
            match row {
                Row::Process(row) => process = row.process,
                // The tool asks for ids only where it times tasks. Programs here use no default stream.
                Row::Stream(row) if !row.is_default => {
                    let next = FIRST_STREAM + streams.len() as i32;
                    let own = (row.device.into(), next);
                    streams.entry(row.serial).or_insert(own);
                }
                Row::Call(row) if !seen.iter().any(|it| it.1 == row.thread) => {
                    seen.push((row.begin_ns, row.thread));
                }
                _ => {}
            }
        }
        seen.sort_unstable();
        assert_eq!(seen.len(), truth.calls.len(), "as many threads make calls");
        for ((_, thread), calls) in seen.into_iter().zip(&truth.calls) {
            threads.insert(thread, (calls.clone(), calls[0].time.begin));
        }
        let functions = contents.tables.functions.iter();
        Self {
            truth,
            range: truth.range(),
            names: functions.map(|it| it.name.clone()).collect(),
            threads,
            process,
            streams,
            sequences: BTreeMap::new(),
            untimed_every: 0,
            tasks: 0,
        }
    }

    /// Calls come in the order in which they were made. softacl logs those that return a code; others take no
    /// virtual time.
    #[track_caller]
    fn call(&mut self, mut row: CallRow) -> CallRow {
        let (calls, now) = self.threads.get_mut(&row.thread).unwrap();
        let name = &self.names[usize::from(row.function)];
        let time = match calls.front() {
            Some(next) if next.name == *name => {
                let time = next.time;
                calls.pop_front();
                time
            }
            _ => TimeRange::new(*now, *now),
        };
        *now = time.end;
        (row.begin_ns, row.end_ns) = (time.begin, time.end);
        if let (Some(task), Some(stream)) = (&mut row.task, row.stream)
            && task.untimed == Untimed::Off.code()
        {
            self.tasks += 1;
            let every = self.untimed_every;
            let is_timed = every == 0 || !self.tasks.is_multiple_of(every);
            task.untimed = match is_timed {
                true => Untimed::Timed.code(),
                false => Untimed::Contended.code(),
            };
            let sequences = self.sequences.entry(stream).or_default();
            sequences.push((task.sequence, is_timed));
        }
        row
    }

    /// Clocks of devices that agree with the host's, and the times of tasks.
    #[track_caller]
    fn of_tasks(&self) -> Vec<Row> {
        let left: Vec<_> = self.threads.values().map(|it| &it.0).collect();
        assert!(
            left.iter().all(|it| it.is_empty()),
            "calls that were not recorded: {left:?}"
        );
        let mut rows: Vec<Row> = Vec::new();
        let after = self.range.end + 1;
        // Between comparisons, a clock may run at another rate: it is compared at each begin and end of
        // a task.
        let tasks = self.truth.tasks.values().flatten();
        let mut compared: Vec<i64> = tasks.flat_map(|it| [it.begin, it.end]).collect();
        compared.extend([self.range.begin, after]);
        compared.sort_unstable();
        compared.dedup();
        for now in compared {
            rows.push(Row::Anchor(AnchorRow {
                process: self.process,
                device: 0,
                before_ns: now,
                after_ns: now,
                device_ns: now + AHEAD_NS,
                source: 0,
            }));
        }
        for (stream, sequences) in &self.sequences {
            let (device, id) = self.streams[stream];
            let place = (device, id.into());
            let times = &self.truth.tasks[&place];
            let mut sequences = sequences.clone();
            sequences.sort_unstable();
            assert_eq!(sequences.len(), times.len(), "tasks of stream {place:?}");
            let timed = sequences.into_iter().zip(times).filter(|it| it.0.1);
            for ((sequence, _), time) in timed {
                rows.push(Row::TaskTime(TaskTimeRow {
                    process: self.process,
                    stream: *stream,
                    sequence,
                    untimed: Untimed::Timed.code(),
                    begin_device_ns: time.begin + AHEAD_NS,
                    end_device_ns: time.end + AHEAD_NS,
                    seen_ns: after,
                    arming_ns: 0,
                    submitting_ns: 0,
                    record_ns: 0,
                    record_open_ns: 0,
                    run_tasks: 0,
                }));
            }
        }
        rows
    }
}

/// Where a test keeps a file with true times.
pub(crate) fn file_in(folder: &Path) -> PathBuf {
    folder.join("virtual.atrace")
}
