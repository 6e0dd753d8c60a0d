//! Reads the new part of a growing recording, in ranges of bounded size, and sums it up.

use std::collections::BTreeMap;
use std::fs::File;

use anyhow::Context;

use ascend_trace_analysis::dependencies::is_pending;
use ascend_trace_analysis::{TaskRole, Window};
use ascend_trace_format::record::Counter;
use ascend_trace_recording::recording::WindowError;
use ascend_trace_recording::{Cost, ProcessId, Recording, StreamId, TimeRange, Trace};

use super::families::MetricId;
use super::page::LastSums;
use super::sums::{RecordingSums, process_labels};
use super::text::{LabelValues, MetricSamples, MetricValue};
use crate::cli::open_trace::descriptor_path;

/// Rows of a range that is summed up at once.
const ROWS: u64 = 60_000;
/// Rows before and after it that are looked at with it.
const MARGIN: u64 = 8_000;
/// Rows that are read at most.
const MOST: u64 = 300_000;
/// The shortest range that is read.
const SHORTEST_NS: i64 = 1_000_000;
/// A task without a time for this long holds up only its stream.
const PATIENCE_NS: i64 = 30_000_000_000;

/// A recording on its way into sums.
pub(super) struct SumReader {
    recording: Recording,
    sums: RecordingSums,
    /// Up to here everything is summed up; none before the first call.
    reached: Option<i64>,
    /// The unreadable part.
    unsummed_ns: i64,
}

impl SumReader {
    pub(super) fn open(file: &File) -> anyhow::Result<Self> {
        let recording = Recording::open(descriptor_path(file), |_, _| true);
        Ok(Self {
            recording: recording.context("cannot read the recording")?,
            sums: RecordingSums::default(),
            reached: None,
            unsummed_ns: 0,
        })
    }

    /// Reads the new part of the file.
    pub(super) fn poll(&mut self) -> anyhow::Result<()> {
        let polled = self.recording.poll();
        polled.map(drop).context("cannot read the recording")
    }

    /// Calls that the file has.
    pub(super) fn calls(&mut self) -> u64 {
        self.recording.counts().calls
    }

    /// The last time in the file.
    pub(super) fn last_moment(&self) -> i64 {
        self.recording.span().map_or(i64::MIN, |it| it.end)
    }

    /// Sums up the recording to a time before which the file is complete. `on_sums` gets the sums after
    /// each part.
    pub(super) fn advance(
        &mut self,
        known: i64,
        mut on_sums: impl FnMut(LastSums),
    ) -> anyhow::Result<()> {
        if let (None, Some(span)) = (self.reached, self.recording.span()) {
            self.reached = Some(span.begin - 1);
        }
        while let Some(from) = self.reached.filter(|it| *it < known) {
            let reached = self.part(from, known)?;
            self.reached = Some(reached);
            if reached <= from {
                break;
            }
            on_sums(self.summed(known));
        }
        on_sums(self.summed(known));
        Ok(())
    }

    /// Sums up the rest of a recording that is complete.
    pub(super) fn finish(&mut self, on_sums: impl FnMut(LastSums)) -> anyhow::Result<()> {
        self.recording
            .close()
            .context("cannot read the recording")?;
        self.advance(self.last_moment().saturating_add(1), on_sums)
    }

    /// Sums up the next part, and returns its end.
    fn part(&mut self, from: i64, known: i64) -> anyhow::Result<i64> {
        if self.last_moment() <= from && self.sums.lagging().is_none() {
            return Ok(known);
        }
        let mut until = self.fitting(from, known);
        loop {
            match self.read(TimeRange::new(from, until)) {
                Ok(trace) => return Ok(self.take(&trace, TimeRange::new(from, until), known)),
                Err(WindowError::Open(error)) => {
                    return Err(error).context("cannot read the recording");
                }
                // It is fuller than in the index.
                Err(WindowError::TooMany(_)) if until - from > SHORTEST_NS => {
                    until = from + (until - from) / 2;
                }
                Err(WindowError::TooMany(_)) => {
                    self.unsummed_ns += until - from;
                    return Ok(until);
                }
            }
        }
    }

    /// The end of a range that holds few enough rows.
    fn fitting(&self, from: i64, known: i64) -> i64 {
        let mut until = known;
        while until - from > SHORTEST_NS && self.recording.rows_in((from, until)) > ROWS {
            until = from + (until - from) / 2;
        }
        until
    }

    /// Reads a range, with as much around it as it takes to say what its streams did.
    fn read(&mut self, range: TimeRange) -> Result<Trace, WindowError> {
        let wide = self.widened(range);
        let trace = self.window(wide)?;
        let missing = self.sums.missing(&trace, range);
        let begin = missing.map_or(wide.begin, |it| it.saturating_sub(SHORTEST_NS));
        let wider = TimeRange::new(begin, wide.end);
        if begin >= wide.begin || self.recording.rows_in(wider) > MOST / 2 {
            return Ok(trace);
        }
        match self.window(wider) {
            Err(WindowError::TooMany(_)) => Ok(trace),
            read => read,
        }
    }

    fn window(&mut self, range: TimeRange) -> Result<Trace, WindowError> {
        let mut trace = self.recording.window_with_graphs(range, MOST)?;
        trace.mind_past();
        Ok(trace)
    }

    fn widened(&self, range: TimeRange) -> TimeRange {
        let span = self.recording.span().unwrap_or(range);
        let mut step = SHORTEST_NS;
        let mut wide = range;
        while wide.begin > span.begin && self.recording.rows_in((wide.begin, range.begin)) < MARGIN
        {
            wide.begin = wide.begin.saturating_sub(step).max(span.begin);
            step = step.saturating_mul(2);
        }
        // Times that have arrived meanwhile count, unless they are too far back.
        let lagging = self.sums.lagging().unwrap_or(wide.begin);
        if lagging < wide.begin && self.recording.rows_in((lagging, wide.begin)) < 4 * MARGIN {
            wide.begin = lagging.saturating_sub(SHORTEST_NS);
        }
        step = SHORTEST_NS;
        while wide.end < span.end && self.recording.rows_in((range.end, wide.end)) < MARGIN {
            wide.end = wide.end.saturating_add(step).min(span.end);
            step = step.saturating_mul(2);
        }
        wide
    }

    /// Sums up the known part of a range, and returns its end.
    fn take(&mut self, trace: &Trace, range: TimeRange, known: i64) -> i64 {
        let window = Window::whole(trace);
        let pending = match self.recording.complete() {
            true => Vec::new(),
            false => pending(&window),
        };
        let is_recent = |it: &&PendingStream| it.submitted_ns > known.saturating_sub(PATIENCE_NS);
        let recent = pending.iter().filter(is_recent).map(|it| it.from);
        let settled = recent.fold(range.end, i64::min).max(range.begin);
        // Memory has a limit, for any number of waiting tasks.
        let settled = match settled == range.begin && range.end < known {
            true => range.end,
            false => settled,
        };
        let limits: BTreeMap<StreamId, i64> =
            pending.iter().map(|it| (it.stream, it.from)).collect();
        let settled_range = TimeRange::new(range.begin, settled);
        self.sums.take(&window, settled_range, &limits);
        settled
    }

    /// All that is known now.
    fn summed(&mut self, known: i64) -> LastSums {
        let mut samples = MetricSamples::default();
        self.show_counts(&mut samples);
        let entities = self.recording.entities();
        show_costs(&mut samples, entities);
        self.sums.show(&mut samples, entities);
        LastSums {
            samples,
            reached: self.reached.unwrap_or(known),
        }
    }

    /// Counts of the index, which has everything in the file.
    fn show_counts(&mut self, samples: &mut MetricSamples) {
        let counts = self.recording.counts();
        let entities = self.recording.entities();
        let none = LabelValues::new();
        for (thread, calls) in &counts.threads {
            let labels = process_labels(entities, entities.thread(*thread).process);
            samples.add(MetricId::Calls, &labels, MetricValue::Count(*calls));
        }
        let start = entities.session().start_realtime_ns;
        let events = entities.counter(Counter::InjectedEvents as u16);
        for (metric, value) in [
            (MetricId::Failed, MetricValue::Count(counts.errors)),
            (MetricId::Injected, MetricValue::Count(events)),
            (MetricId::Start, MetricValue::time(start)),
            (MetricId::Unsummed, MetricValue::time(self.unsummed_ns)),
        ] {
            samples.add(metric, &none, value);
        }
    }
}

/// Tracer overhead of each process.
fn show_costs(samples: &mut MetricSamples, entities: &Trace) {
    let mut sums: BTreeMap<ProcessId, Cost> = BTreeMap::new();
    for (thread, series) in entities.costs().threads() {
        if let Some(last) = series.last() {
            let sum = sums.entry(entities.thread(thread).process).or_default();
            *sum = sum.plus(last);
        }
    }
    for (process, cost) in sums {
        for (kind, ns) in [
            ("recording", cost.recording_ns),
            ("timing", cost.timing_ns),
            ("reading", cost.reading_ns),
        ] {
            let mut labels = process_labels(entities, process);
            labels.push(("kind", kind.to_owned()));
            samples.add(MetricId::Overhead, &labels, MetricValue::Time(ns));
        }
    }
}

/// A stream with tasks that may still get times.
struct PendingStream {
    stream: StreamId,
    /// They run from here on at the earliest.
    from: i64,
    /// When the first of them was submitted.
    submitted_ns: i64,
}

fn pending(window: &Window<'_>) -> Vec<PendingStream> {
    let trace = window.trace;
    let streams = (0..trace.streams().len() as u32).map(StreamId);
    let first = streams.filter_map(|stream| {
        let tasks = trace.stream_tasks(stream);
        let waits = |task| {
            let class = TaskRole::of(trace, trace.task(task));
            is_pending(trace, task) && class != TaskRole::Mark
        };
        let place = tasks.iter().position(|id| waits(*id))?;
        let times = tasks[..place].iter().filter_map(|id| trace.task(*id).time);
        let done = times.map(|time| time.end).max();
        let call = trace.call(trace.task(tasks[place]).call);
        Some(PendingStream {
            stream,
            from: done.unwrap_or(call.begin).max(call.begin),
            submitted_ns: call.end,
        })
    });
    first.collect()
}
