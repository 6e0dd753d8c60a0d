//! Counters: how many tasks a stream still has to do, how many streams of a device work, how much
//! memory is in use.
//!
//! The parts of a trace add changes in any order; values are written in order of time as soon as no
//! earlier change can follow.

mod memory;

use std::collections::BTreeMap;

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{ProcessId, StreamId, Task, TimeRange};

use crate::ExportSource;
use crate::tracks::{SliceTrack, TrackLayout};
use memory::{MemoryInUse, MemoryKind};

/// A counter of an export.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    /// Number of described counters.
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    /// The process, or the device below one, that it belongs to.
    pub(crate) pid: u32,
    /// The stream's track, of a stream's counter.
    pub(crate) track: Option<SliceTrack>,
}

/// Quantity of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CounterSubject {
    Queued(StreamId),
    /// Streams of the device with this number in the export.
    Busy(u32),
    Memory(ProcessId, MemoryKind),
}

/// A change of a counter, or its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CounterStep {
    /// Nanoseconds on the host's clock.
    pub(crate) time: i64,
    /// The difference, or the new value.
    pub(crate) amount: i64,
}

impl CounterStep {
    pub(crate) const fn new(time: i64, amount: i64) -> Self {
        Self { time, amount }
    }
}

/// A counter on its way through a trace.
#[derive(Debug, Default)]
struct RunningCounter {
    counter: Option<Counter>,
    /// Changes that were not written: up, and down. Each is nearly in order.
    ups: Vec<CounterStep>,
    downs: Vec<CounterStep>,
    value: i64,
    reported: i64,
    /// The value before the range is not written yet: it can still change.
    is_waiting: bool,
}

/// How far a stream's tasks have been counted.
#[derive(Clone, Copy, Debug)]
struct StreamProgress {
    submitted: i64,
    completed: i64,
    worked: i64,
}

/// All counters of the selection. They count everything, including slices that are left out.
#[derive(Debug, Default)]
pub(crate) struct TraceCounters {
    gauges: BTreeMap<CounterSubject, RunningCounter>,
    streams: Vec<StreamProgress>,
    memory: MemoryInUse,
    numbers: u64,
}

impl TraceCounters {
    /// Adds a part of a trace and writes everything certain: the description of every counter before
    /// its first value, then its values.
    pub(crate) fn advance<E>(
        &mut self,
        source: &ExportSource<'_>,
        tracks: &TrackLayout,
        on_step: &mut impl FnMut(&Counter, Option<CounterStep>) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = StreamProgress {
            submitted: i64::MIN,
            completed: i64::MIN,
            worked: i64::MIN,
        };
        self.streams.resize(source.trace.streams().len(), first);
        for id in (0..source.trace.streams().len() as u32).map(StreamId) {
            let lane = tracks.stream(source.trace, id);
            if let Some(lane) = lane.filter(|lane| lane.own().is_some()) {
                self.count_tasks(source, id, lane.pid);
            }
        }
        let gauges = &mut self.gauges;
        self.memory.advance(source, &mut |process, place, step| {
            let gauge = gauges
                .entry(CounterSubject::Memory(process, place))
                .or_default();
            gauge.ups.push(step);
        });
        let until = match source.part.is_last {
            true => i64::MAX,
            false => source.part.until,
        };
        let range = source.selection.range();
        for (subject, gauge) in &mut self.gauges {
            if gauge.counter.is_none() {
                let Some(counter) = describe(source, tracks, *subject, self.numbers) else {
                    continue;
                };
                self.numbers += 1;
                on_step(&counter, None)?;
                gauge.counter = Some(counter);
            }
            gauge.report((until, source.part.is_last), range, on_step)?;
        }
        Ok(())
    }

    /// Counts the tasks of a stream, as they enter its queue, run and leave it. Submissions from
    /// several threads can be out of order by the length of a call; a queue is in order.
    fn count_tasks(&mut self, source: &ExportSource<'_>, stream: StreamId, device: u32) {
        let trace = source.trace;
        let lane = trace.lane_of(stream);
        let latest = &mut self.streams[lane.index()];
        let subject = CounterSubject::Queued(lane);
        let mut queued = self.gauges.remove(&subject).unwrap_or_default();
        let busy = self.gauges.entry(CounterSubject::Busy(device)).or_default();
        let tasks = trace.stream_tasks(stream);
        let begin = tasks.partition_point(|id| source.keys.task(*id) < source.part.from);
        let tasks = tasks[begin..].iter();
        for id in tasks.take_while(|id| source.part.holds(source.keys.task(**id))) {
            let task = trace.task(*id);
            let Some(time) = task.time else { continue };
            let submitted = trace.call(task.call).begin.min(time.end);
            latest.submitted = latest.submitted.max(submitted);
            latest.completed = latest.completed.max(time.end);
            queued.ups.push(CounterStep::new(latest.submitted, 1));
            queued.downs.push(CounterStep::new(latest.completed, -1));
            if is_work(task) {
                let begin = time.begin.max(latest.worked);
                latest.worked = time.end.max(begin);
                busy.ups.push(CounterStep::new(begin, 1));
                busy.downs.push(CounterStep::new(latest.worked, -1));
            }
        }
        self.gauges.insert(subject, queued);
    }
}

/// Waits and records are no work.
fn is_work(task: &Task) -> bool {
    !matches!(task.kind, TaskKind::Wait | TaskKind::Record)
}

/// Name and place of a counter, if its subject is shown.
fn describe(
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    subject: CounterSubject,
    number: u64,
) -> Option<Counter> {
    let host = |process: ProcessId, device: Option<u32>| {
        let mut all = tracks.processes.iter();
        let found = all.find(|it| (it.process, it.device) == (process, device));
        found.map(|it| it.pid)
    };
    let counter = |name: String, unit, pid, track| Counter {
        number,
        name,
        unit,
        pid,
        track,
    };
    Some(match subject {
        CounterSubject::Queued(stream) => {
            let track = tracks.streams.get(stream.index())?.own()?;
            let name = format!("queued on stream {}", source.trace.stream(stream).number());
            counter(name, "tasks", track.pid, Some(track))
        }
        CounterSubject::Busy(pid) => counter("busy".to_owned(), "streams", pid, None),
        CounterSubject::Memory(process, MemoryKind::Host) => {
            let pid = host(process, None)?;
            counter("pinned memory in use".to_owned(), "bytes", pid, None)
        }
        CounterSubject::Memory(
            process,
            kind @ (MemoryKind::Device(device) | MemoryKind::Cached(device)),
        ) => {
            let name = match kind {
                MemoryKind::Cached(_) => "memory of the caching allocator",
                _ => "memory",
            };
            match host(process, Some(device)) {
                Some(pid) => counter(format!("{name} in use"), "bytes", pid, None),
                None => {
                    let name = format!("{name} in use on device {device}");
                    counter(name, "bytes", host(process, None)?, None)
                }
            }
        }
    })
}

impl RunningCounter {
    /// Writes the values of the counter before a time, which may be the last one. Only the last value
    /// of a timestamp counts, and only if it differs. Inside a range it begins with the value at its
    /// begin.
    fn report<E>(
        &mut self,
        (until, is_last): (i64, bool),
        range: Option<TimeRange>,
        on_step: &mut impl FnMut(&Counter, Option<CounterStep>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(counter) = &self.counter else {
            return Ok(());
        };
        let range = range.unwrap_or(TimeRange::EVERYTHING);
        let first = range.begin;
        self.ups.sort_by_key(|step| step.time);
        self.downs.sort_by_key(|step| step.time);
        let ups = self.ups.partition_point(|step| step.time < until);
        let downs = self.downs.partition_point(|step| step.time < until);
        let (mut rising, mut falling) = (&self.ups[..ups], &self.downs[..downs]);
        let mut next = earliest(&mut rising, &mut falling);
        let may_change = |next: Option<CounterStep>| match next {
            Some(next) => next.time <= first,
            // Later parts have later times, but they may still be before the range.
            None => until <= first && !is_last,
        };
        if std::mem::take(&mut self.is_waiting) && !may_change(next) && self.value != self.reported
        {
            self.reported = self.value;
            on_step(counter, Some(CounterStep::new(first, self.value)))?;
        }
        self.is_waiting = next.is_none() && may_change(next);
        while let Some(CounterStep { time, amount }) = next {
            self.value = self.value.saturating_add(amount);
            next = earliest(&mut rising, &mut falling);
            let is_over = next.is_none_or(|next| next.time != time) && !may_change(next);
            self.is_waiting = next.is_none() && !is_over;
            if time <= range.end && is_over && self.value != self.reported {
                self.reported = self.value;
                on_step(counter, Some(CounterStep::new(time.max(first), self.value)))?;
            }
        }
        self.ups.drain(..ups);
        self.downs.drain(..downs);
        Ok(())
    }
}

/// Takes the earlier one of the first steps of two lists.
fn earliest<'s>(one: &mut &'s [CounterStep], other: &mut &'s [CounterStep]) -> Option<CounterStep> {
    let from = match (one.first(), other.first()) {
        (Some(a), Some(b)) if b.time < a.time => other,
        (Some(_), _) => one,
        (None, _) => other,
    };
    from.split_off_first().copied()
}
