//! Judges the device times of a trace by the truth log: they must be close to it.
//!
//! On a machine with too much work, distant times must at least be explained. A task is measured by
//! events before and after it. Where the program's thread loses its processor between an event and the
//! task, that is measured as well: so a distance from the truth counts as explained when it is no
//! longer than the time for which the thread was between the calls around the task. And where the
//! machine is too busy to compare two clocks, the bars become wide: but never wider than the bounds
//! that the program's calls prove.

use std::collections::BTreeMap;

use super::tables::{CsvRow, Tables};
use super::truth::TruthLogTask;

/// Times may be this far from the truth.
const FAR_NS: i64 = 20_000;
/// Bars of a machine that is not too busy are narrower than this.
const WIDE_NS: i64 = 50_000;
/// Calls that return when all is done.
const WAITS: [&str; 5] = [
    "aclrtSynchronizeStream",
    "aclrtSynchronizeDevice",
    "rtStreamSynchronize",
    "rtStreamSynchronizeWithTimeout",
    "rtDeviceSynchronize",
];
/// No clock drifts faster than one part in this many.
pub(crate) const DRIFT: i64 = 5_000;

/// One task, as far as its times go.
#[derive(Clone, Debug)]
struct Point {
    task: String,
    /// Traced less true time.
    begin: i64,
    end: i64,
    bar: i64,
    /// From the end of the call before the task's launch to the begin of the call after it.
    window: i64,
    at: i64,
}

/// The timed tasks of one device in one process.
#[derive(Debug, Default)]
struct Device {
    points: Vec<Point>,
    /// The shortest time in which the program's calls prove that a task ran.
    proof: i64,
}

/// All devices of a recording.
#[derive(Debug)]
pub(crate) struct Accuracy(BTreeMap<(i64, i64), Device>);

impl Accuracy {
    #[track_caller]
    pub(crate) fn of(tables: &Tables, matched: &[(&CsvRow, TruthLogTask)]) -> Self {
        let windows = windows(tables);
        let mut devices: BTreeMap<(i64, i64), Device> = BTreeMap::new();
        for (task, truth) in matched
            .iter()
            .filter(|(task, _)| task.text("untimed").is_empty())
        {
            let point = Point {
                task: format!("{} {}", task.text("kind"), task.text("task")),
                begin: task.number("begin_ns") - truth.begin,
                end: task.number("end_ns") - truth.end,
                bar: task.number("err_ns"),
                window: windows[task.number("call") as usize],
                at: truth.begin,
            };
            let device = devices.entry((truth.pid, truth.device)).or_default();
            device.points.push(point);
        }
        for ((pid, number), device) in &mut devices {
            device.proof = proof(tables, *pid, *number);
        }
        Self(devices)
    }

    /// Tasks that were judged.
    pub(crate) fn tasks(&self) -> usize {
        self.0.values().map(|device| device.points.len()).sum()
    }

    /// Times that are far from the truth, and bars that are wide.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.judge(|point, _| point.far() > FAR_NS || point.bar > WIDE_NS)
    }

    /// Times that are further from the truth than their bars say. There must be none, however busy the machine
    /// is.
    pub(crate) fn dishonest(&self) -> Vec<String> {
        self.judge(|point, _| point.far() > point.bar)
    }

    /// Times with an unexplained distance from the truth.
    pub(crate) fn unexplained(&self) -> Vec<String> {
        self.judge(|point, device| {
            let drift = device.span() / DRIFT;
            let offset = device.offset();
            // Relative to each other, tasks of a device need no host clock.
            let apart = (point.begin - offset).abs().max((point.end - offset).abs());
            point.far() > point.bar + FAR_NS + point.window
                || apart > FAR_NS + drift + point.window
                || point.bar > WIDE_NS + device.proof + drift
        })
    }

    fn judge(&self, is_fault: impl Fn(&Point, &Device) -> bool) -> Vec<String> {
        let points = self.0.values().flat_map(|device| {
            let points = device.points.iter();
            points.map(move |point| (point, device))
        });
        let faults = points.filter(|(point, device)| is_fault(point, device));
        faults
            .map(|(point, device)| format!("{}: {point:?}, {:?}", point.task, device.proof))
            .collect()
    }
}

impl Point {
    fn far(&self) -> i64 {
        self.begin.abs().max(self.end.abs())
    }
}

impl Device {
    /// By how much the device's clock is misplaced: the median over begins and ends.
    fn offset(&self) -> i64 {
        let ends = self
            .points
            .iter()
            .flat_map(|point| [point.begin, point.end]);
        let mut ends: Vec<i64> = ends.collect();
        ends.sort_unstable();
        ends[ends.len() / 2]
    }

    fn span(&self) -> i64 {
        let times = || self.points.iter().map(|point| point.at);
        times().max().unwrap_or(0) - times().min().unwrap_or(0)
    }
}

/// For each call, by its number: how long its thread was between the calls before and after it.
fn windows(tables: &Tables) -> Vec<i64> {
    let mut threads: BTreeMap<i64, Vec<&CsvRow>> = BTreeMap::new();
    for call in tables.outer_calls() {
        threads.entry(call.number("tid")).or_default().push(call);
    }
    let mut windows = vec![0; tables.calls.len()];
    for calls in threads.values_mut() {
        calls.sort_by_key(|call| call.number("begin_ns"));
        for (place, call) in calls.iter().enumerate() {
            let before = place.checked_sub(1).map_or(*call, |place| calls[place]);
            let after = calls.get(place + 1).copied().unwrap_or(call);
            let window = after.number("begin_ns") - before.number("end_ns");
            windows[call.number("call") as usize] = window;
        }
    }
    windows
}

/// The shortest time from a launch to the end of a wait for its stream or device.
#[track_caller]
pub(crate) fn proof(tables: &Tables, pid: i64, device: i64) -> i64 {
    let own = |call: &&CsvRow| call.number("pid") == pid && call.maybe("device") == Some(device);
    let mut calls: Vec<&CsvRow> = tables.outer_calls().filter(own).collect();
    calls.sort_by_key(|call| call.number("begin_ns"));
    // By thread, and by stream or, for all of its streams, none.
    let mut launched: BTreeMap<(i64, &str), i64> = BTreeMap::new();
    let mut shortest = None;
    for call in calls {
        let (thread, stream) = (call.number("tid"), call.text("stream_id"));
        if call.maybe("task").is_some() {
            for stream in [stream, ""] {
                launched.insert((thread, stream), call.number("begin_ns"));
            }
        } else if WAITS.contains(&call.text("name"))
            && let Some(begin) = launched.get(&(thread, stream))
        {
            let window = call.number("end_ns") - begin;
            shortest = Some(shortest.map_or(window, |it: i64| it.min(window)));
        }
    }
    shortest.expect("the program waits for its tasks")
}
