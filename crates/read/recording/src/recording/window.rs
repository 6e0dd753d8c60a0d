//! A range of a recording becomes a trace.

use std::collections::{BTreeSet, HashSet};

use ascend_trace_format::time::DeviceNs;

use crate::TimeRange;
use crate::file::index::{FileSpan, RunSpan, Segment, TimesLink};
use crate::file::{Budget, OpenError};
use crate::graph_calls::{GraphFacts, GraphFunctions, GraphRelation};
use crate::load::{NO_STREAM, TraceBuilder};
use crate::rows::{CallRow, Row, TaskTimeRow};
use crate::trace::{ProcessId, Trace};

use super::Recording;
use super::clocks::DeviceClocks;
use super::open::calls;
use super::times_ahead::{self, Segments};

/// Rows that are decoded for each row that may be kept: launches may lie far before their tasks.
const READ_PER_KEPT: u64 = 8;
/// Segments that are read only for how the graphs were made that are replayed.
const MOST_CAPTURES: usize = 8;

/// Why a range was not read.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    #[error("the range holds more than {0} calls and tasks")]
    TooMany(u64),
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl WindowError {
    /// Reports more than `most`, or, where any number is allowed, more than such a file can have.
    fn more_than(most: u64) -> Self {
        match most {
            u64::MAX => Self::Open(OpenError::TooMuch),
            most => Self::TooMany(most),
        }
    }
}

impl From<std::io::Error> for WindowError {
    fn from(error: std::io::Error) -> Self {
        Self::Open(error.into())
    }
}

/// A task: process, serial of the stream, sequence.
type TaskKey = (ProcessId, u32, u32);

/// The call's facts about a task can move it by its uncertainty, but hardly further than this.
const MOST_SLACK_NS: i64 = 1_000_000;

fn slack(error: i64) -> i64 {
    error.clamp(0, MOST_SLACK_NS)
}

pub(super) fn overlap(span: Option<TimeRange>, range: TimeRange) -> bool {
    span.is_some_and(|span| span.overlaps(range))
}

/// About the number of rows of a span that are in a range.
fn share(rows: u32, span: Option<TimeRange>, range: TimeRange) -> f64 {
    let Some(span) = span.filter(|span| span.overlaps(range)) else {
        return 0.0;
    };
    let part = span.intersection(range).duration().max(1) as f64;
    f64::from(rows) * (part / span.duration().max(1) as f64).min(1.0)
}

impl Recording {
    /// About how many calls and task times a range holds.
    pub fn rows_in(&self, range: impl Into<TimeRange>) -> u64 {
        let range = range.into();
        let groups = self.layout.groups().filter(|it| overlap(it.span(), range));
        let segments = groups.flat_map(|group| &group.segments);
        let rows = segments.map(|segment| {
            share(segment.calls, segment.call_span, range)
                + share(segment.times, segment.task_span, range)
        });
        rows.sum::<f64>() as u64
    }

    /// Reads a range of time: every call and task that has a part in it, the calls that launched
    /// these tasks, and the tasks that these calls launched.
    ///
    /// # Errors
    /// When there are more than about `most` of them, or the file cannot be read.
    pub fn window(&mut self, range: impl Into<TimeRange>, most: u64) -> Result<Trace, WindowError> {
        self.read(range.into(), most, BTreeSet::new())
    }

    /// As [`Recording::window`], and the calls that made the graphs that are replayed there, unless they lie
    /// scattered far before it: these few parts of the file are read for them.
    ///
    /// # Errors
    /// As for a window.
    pub fn window_with_graphs(
        &mut self,
        range: impl Into<TimeRange>,
        most: u64,
    ) -> Result<Trace, WindowError> {
        let range = range.into();
        let groups = self.layout.groups().filter(|it| overlap(it.span(), range));
        let replayed = groups.flat_map(|group| group.totals.replays.keys());
        let replayed = replayed.copied().collect();
        self.read(range, most, replayed)
    }

    /// Reads a window, and what made graphs of these processes and serials.
    fn read(
        &mut self,
        range: TimeRange,
        most: u64,
        graphs: BTreeSet<(u32, u32)>,
    ) -> Result<Trace, WindowError> {
        if self.rows_in(range) > most {
            return Err(WindowError::more_than(most));
        }
        let segments: Vec<Segment> = self
            .layout
            .groups()
            .flat_map(|group| &group.segments)
            .copied()
            .collect();
        let index = (self.layout.links(), self.layout.ran());
        let chosen = choose(&segments, index, &self.clocks, range, !graphs.is_empty());
        let mut numbers = CallCounter::new(&segments);
        let needed = chosen.iter().filter(|(_, what)| what.times || what.calls);
        let cost: u64 = needed.map(|(segment, _)| segment.rows()).sum();
        if cost > most.saturating_mul(READ_PER_KEPT) {
            return Err(WindowError::more_than(most));
        }
        let mut window = Window {
            builder: self.builder.clone(),
            range,
            inside: HashSet::new(),
            launched: HashSet::new(),
            times: Vec::new(),
            numbers: Vec::new(),
            kept: 0,
            most: most.saturating_mul(2),
            beyond: self.span.map_or((false, None), |span| {
                (
                    span.begin < range.begin,
                    (range.end < span.end).then_some(range.end),
                )
            }),
            captures: GraphCaptures::new(graphs, self.builder.trace()),
        };
        let length = self.parts.length()?;
        let limit = Budget::most_held(length);
        for (segment, _) in chosen.iter().filter(|(_, what)| what.times) {
            let (rows, warnings) = times_ahead::read(&self.parts, segment, length)?;
            for row in rows {
                window.time(row, &self.clocks);
            }
            self.warn(warnings);
            if window.memory() > limit {
                return Err(WindowError::more_than(most));
            }
        }
        for (segment, _) in chosen.iter().filter(|(_, what)| what.calls || what.graphs) {
            let mut budget = Budget::segment(length, segment.rows());
            let bytes = (segment.offset, segment.end());
            let mut number = numbers.first_of(segment);
            let wanted = self.layout.calls_of(segment);
            let is_call = |kind| kind == wanted;
            let warnings = self.parts.range(bytes, is_call, &mut budget, &mut |item| {
                for row in calls(item) {
                    window.call(row, number);
                    number = number.saturating_add(1);
                }
            })?;
            self.warn(warnings);
            if window.kept > window.most || window.memory() > limit {
                return Err(WindowError::more_than(most));
            }
        }
        let mut budget = Budget::window(length, 0);
        let left = self.layout.left();
        let warnings = left.take(&self.parts, &mut window.builder, range, &mut budget)?;
        self.warn(warnings);
        let entries = self.layout.entries();
        let warnings = entries.take(&self.parts, &mut window.builder, length)?;
        self.warn(warnings);
        if window.memory() > limit {
            return Err(WindowError::more_than(most));
        }
        Ok(window.finish())
    }
}

/// The needed kinds of rows of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct NeededRows {
    times: bool,
    calls: bool,
    /// Only for how graphs were made.
    graphs: bool,
}

/// Whether tasks ran in a range, as far as that is known. How far a task can be moved is not known here.
fn has_run(ran: &RunSpan, clocks: &DeviceClocks, range: TimeRange) -> Option<bool> {
    let (process, device) = ran.clock?;
    let clock = clocks.get(process, device)?;
    let begin = clock.map(DeviceNs::new(ran.begin))?.host;
    let end = clock.map(DeviceNs::new(ran.end))?.host;
    let (begin, end) = (
        begin.minus(MOST_SLACK_NS).ns(),
        end.plus(MOST_SLACK_NS).ns(),
    );
    Some(TimeRange::new(begin, end.max(begin)).overlaps(range))
}

/// By segment, whether it has times of tasks that ran in a range.
fn have_run<'r>(
    segments: &[Segment],
    found: &Segments,
    ran: impl Iterator<Item = &'r RunSpan>,
    clocks: &DeviceClocks,
    range: TimeRange,
) -> Vec<bool> {
    let may = |segment: &Segment| overlap(segment.task_span, range);
    let mut have: Vec<Option<bool>> = vec![None; segments.len()];
    for ran in ran {
        if let Some((number, _)) = found.within(FileSpan::at(ran.segment))
            && let Some(segment) = segments.get(number as usize)
        {
            // Without a clock, no task has a time.
            let has = has_run(ran, clocks, range).unwrap_or_else(|| may(segment));
            let known = &mut have[number as usize];
            *known = Some(known.unwrap_or(false) || has);
        }
    }
    let all = have.into_iter().zip(segments);
    all.map(|(known, segment)| known.unwrap_or_else(|| may(segment)))
        .collect()
}

/// The segments that a range needs, in the order of the file: those with calls in it and with times of tasks in it,
/// and the counterparts of both. With `graphs` also the last ones before it in which graphs were made.
fn choose<'r>(
    segments: &[Segment],
    (links, ran): (
        impl Iterator<Item = TimesLink>,
        impl Iterator<Item = &'r RunSpan>,
    ),
    clocks: &DeviceClocks,
    range: TimeRange,
    graphs: bool,
) -> Vec<(Segment, NeededRows)> {
    let found = Segments::new(segments);
    let have_run = have_run(segments, &found, ran, clocks, range);
    let has_calls = |segment: &Segment| overlap(segment.call_span, range);
    let within = segments.iter().zip(&have_run);
    let within = within.map(|(segment, has_run)| NeededRows {
        times: *has_run,
        calls: has_calls(segment),
        graphs: false,
    });
    let mut needed: Vec<NeededRows> = within.collect();
    for link in links {
        let parts = (found.within(link.times), found.within(link.launches));
        let (Some(times), Some(launches)) = parts else {
            continue;
        };
        let numbers = |(first, last): (u32, u32)| first as usize..=last as usize;
        let (times, launches) = (numbers(times), numbers(launches));
        let are_timed = have_run[times.clone()].contains(&true);
        if segments[launches.clone()].iter().any(has_calls) {
            needed[times].iter_mut().for_each(|it| it.times = true);
        }
        if are_timed {
            needed[launches].iter_mut().for_each(|it| it.calls = true);
        }
    }
    if graphs {
        let end = needed.iter().rposition(|it| it.times || it.calls);
        let before = segments.iter().zip(&mut needed).take(end.unwrap_or(0));
        let makes = |(segment, needed): &(&Segment, &mut NeededRows)| {
            !needed.calls && segment.graph_calls > 0
        };
        let last = before.filter(makes).collect::<Vec<_>>().into_iter().rev();
        last.take(MOST_CAPTURES)
            .for_each(|(_, needed)| needed.graphs = true);
    }
    let all = segments.iter().copied().zip(needed);
    all.filter(|(_, needed)| *needed != NeededRows::default())
        .collect()
}

struct Window {
    builder: TraceBuilder,
    range: TimeRange,
    /// Tasks that have a part in the range.
    inside: HashSet<TaskKey>,
    /// Tasks of the calls that are kept.
    launched: HashSet<TaskKey>,
    times: Vec<(TaskKey, TaskTimeRow)>,
    /// Of the calls that are kept, in the whole file.
    numbers: Vec<u32>,
    kept: u64,
    most: u64,
    /// The recording begins before the range, and ends after it.
    beyond: (bool, Option<i64>),
    captures: GraphCaptures,
}

/// Which calls outside of the range are kept because they made graphs that are replayed in it.
struct GraphCaptures {
    /// By process and serial.
    graphs: BTreeSet<(u32, u32)>,
    functions: GraphFunctions,
}

impl GraphCaptures {
    fn new(graphs: BTreeSet<(u32, u32)>, entities: &Trace) -> Self {
        let functions = match graphs.is_empty() {
            true => GraphFunctions::default(),
            false => GraphFunctions::new(entities.functions().iter()),
        };
        Self { graphs, functions }
    }

    fn want(&self, builder: &mut TraceBuilder, row: &CallRow) -> bool {
        let Some(graph) = row.graph.filter(|_| !self.graphs.is_empty()) else {
            return false;
        };
        if self.functions.concern(&GraphFacts::from(row)) != GraphRelation::Making {
            return false;
        }
        let thread = builder.thread_of(row.thread);
        let process = builder.trace().thread(thread).process;
        let mut replayed = self.graphs.iter().filter(|it| it.1 == graph.serial);
        replayed.any(|(number, _)| builder.process_of(*number) == process)
    }
}

/// Counts the calls of the file up to each of some segments, which are asked for in order.
struct CallCounter<'s> {
    segments: std::slice::Iter<'s, Segment>,
    calls: u32,
}

impl<'s> CallCounter<'s> {
    fn new(segments: &'s [Segment]) -> Self {
        Self {
            segments: segments.iter(),
            calls: 0,
        }
    }

    /// The number of the first call of a segment.
    fn first_of(&mut self, wanted: &Segment) -> u32 {
        for segment in self.segments.by_ref() {
            let first = self.calls;
            self.calls = self.calls.saturating_add(segment.calls);
            if segment.offset == wanted.offset {
                return first;
            }
        }
        self.calls
    }
}

impl Window {
    /// About the number of bytes of kept rows.
    fn memory(&self) -> u64 {
        /// In a set, half of which may be empty.
        const KEY: usize = 2 * size_of::<TaskKey>();
        let keys = (self.inside.len() + self.launched.len()) * KEY;
        let times = self.times.len() * size_of::<(TaskKey, TaskTimeRow)>();
        (keys + times) as u64 + self.builder.rows_memory()
    }

    fn time(&mut self, row: TaskTimeRow, clocks: &DeviceClocks) {
        let process = self.builder.process_of(row.process);
        let stream = self.builder.stream_of(row.process, row.stream, 0);
        let device = self.builder.trace().stream(stream).device;
        let clock = clocks.get(row.process, device);
        let map = |device| clock.and_then(|clock| clock.map(DeviceNs::new(device)));
        let key = (process, row.stream, row.sequence);
        if row.untimed == 0
            && let (Some(begin), Some(end)) = (map(row.begin_device_ns), map(row.end_device_ns))
            && end.host.plus(slack(end.error)).ns() >= self.range.begin
            && begin.host.minus(slack(begin.error)).ns() <= self.range.end
        {
            // With the other tasks of its run.
            let tasks = row.run().unwrap_or(1);
            let sequences = row.sequence..=row.sequence.saturating_add(tasks - 1);
            self.inside
                .extend(sequences.map(|it| (process, row.stream, it)));
        }
        self.times.push((key, row));
    }

    fn call(&mut self, row: CallRow, number: u32) {
        let overlaps = TimeRange::new(row.begin_ns, row.end_ns).overlaps(self.range);
        let key = row.task.map(|task| {
            let thread = self.builder.thread_of(row.thread);
            let process = self.builder.trace().thread(thread).process;
            (process, row.stream.unwrap_or(NO_STREAM), task.sequence)
        });
        if !overlaps && !key.is_some_and(|key| self.inside.contains(&key)) {
            if self.captures.want(&mut self.builder, &row) {
                self.numbers.push(number);
                self.builder.apply(Row::Call(row));
            }
            return;
        }
        self.kept += 1;
        // The caller gives up a range that is far fuller than in its index.
        if self.kept <= self.most {
            self.launched.extend(key);
            self.numbers.push(number);
            self.builder.apply(Row::Call(row));
        }
    }

    fn finish(mut self) -> Trace {
        for (key, row) in self.times {
            if self.launched.contains(&key) {
                self.builder.apply(Row::TaskTime(row));
            }
        }
        self.builder.set_call_numbers(self.numbers, self.beyond);
        self.builder.finish()
    }
}
