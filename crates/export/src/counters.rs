//! Counters: how many tasks a stream still has to do, how many streams of a device work, how much
//! memory is in use.

mod memory;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ascend_trace_format::api::TaskKind;
use ascend_trace_model::{StreamId, Trace};

use crate::Source;
use crate::tracks::{Track, Tracks};
use memory::{Memory, Place};

/// A counter of an export.
pub(crate) struct Counter<'s> {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    /// The process, or the device below one, that it belongs to.
    pub(crate) pid: u32,
    /// The stream's track, of a stream's counter.
    pub(crate) track: Option<Track>,
    /// Its value from each moment on at which it changes.
    pub(crate) values: Box<dyn Iterator<Item = Step> + 's>,
}

/// Every counter of what is shown. They count all there is, whatever else is left out.
pub(crate) fn all<'s>(source: &'s Source<'_>, tracks: &Tracks) -> Vec<Counter<'s>> {
    let (trace, range) = (source.trace, source.selection.range());
    let mut counters = Vec::new();
    let mut devices: BTreeMap<u32, Vec<StreamId>> = BTreeMap::new();
    for (lane, id) in tracks.streams.iter().zip((0..).map(StreamId)) {
        let Some(tid) = lane.slices.first().copied() else {
            continue;
        };
        counters.push(Counter {
            name: format!("queued on stream {}", trace.stream(id).number()),
            unit: "tasks",
            pid: lane.pid,
            track: Some(Track { pid: lane.pid, tid }),
            values: Box::new(clip(queued(trace, id), range)),
        });
        devices.entry(lane.pid).or_default().push(id);
    }
    counters.extend(devices.into_iter().map(|(pid, streams)| Counter {
        name: "busy".to_owned(),
        unit: "streams",
        pid,
        track: None,
        values: Box::new(clip(busy(trace, &streams), range)),
    }));
    counters.extend(in_use(source, tracks));
    counters
}

/// Memory in use, at the device if that is shown, else at its process.
fn in_use<'s>(source: &'s Source<'_>, tracks: &Tracks) -> Vec<Counter<'s>> {
    let range = source.selection.range();
    let mut counters = Vec::new();
    for ((process, place), values) in Memory::of(source.trace).in_use {
        let track = |device: Option<u32>| {
            let mut all = tracks.processes.iter();
            all.find(|it| (it.process, it.device) == (process, device))
        };
        let (name, found) = match place {
            Place::Host => ("pinned memory in use".to_owned(), track(None)),
            Place::Device(device) => match track(Some(device)) {
                Some(found) => ("memory in use".to_owned(), Some(found)),
                None => (format!("memory in use on device {device}"), track(None)),
            },
        };
        if let Some(found) = found {
            counters.push(Counter {
                name,
                unit: "bytes",
                pid: found.pid,
                track: None,
                values: Box::new(clip(values.into_iter(), range)),
            });
        }
    }
    counters
}

/// The part of a counter inside a range; it begins with the value that it has there.
fn clip(
    values: impl Iterator<Item = Step>,
    range: Option<(i64, i64)>,
) -> impl Iterator<Item = Step> {
    let (first, last) = range.unwrap_or((i64::MIN, i64::MAX));
    let values = values.map(move |(time, value)| (time.max(first), value));
    let mut values = values.take_while(move |step| step.0 <= last).peekable();
    std::iter::from_fn(move || {
        loop {
            let step = values.next()?;
            if values.peek().is_none_or(|next| next.0 != step.0) {
                return Some(step);
            }
        }
    })
}

/// A change of a counter: when, and by how much.
type Step = (i64, i64);

/// How many tasks wait or run on a stream: its value from each moment on at which it changes.
fn queued(trace: &Trace, stream: StreamId) -> impl Iterator<Item = (i64, i64)> {
    values(merge(vec![
        submissions(trace, stream),
        completions(trace, stream),
    ]))
}

/// How many of these streams work.
fn busy<'t>(trace: &'t Trace, streams: &[StreamId]) -> impl Iterator<Item = (i64, i64)> + use<'t> {
    values(merge(streams.iter().map(|id| work(trace, *id)).collect()))
}

/// Adds the steps up. Only the last value of a moment counts, and only if it is a new one.
fn values(steps: impl Iterator<Item = Step>) -> impl Iterator<Item = (i64, i64)> {
    let (mut value, mut told) = (0, 0);
    let mut steps = steps.peekable();
    std::iter::from_fn(move || {
        while let Some((time, change)) = steps.next() {
            value += change;
            if steps.peek().is_some_and(|next| next.0 == time) || value == told {
                continue;
            }
            told = value;
            return Some((time, value));
        }
        None
    })
}

type Steps<'a> = Box<dyn Iterator<Item = Step> + 'a>;

/// Tasks with times, as they enter the stream's queue. Submissions from several threads can be out
/// of order by the length of a call; a queue is in order.
fn submissions(trace: &Trace, stream: StreamId) -> Steps<'_> {
    let tasks = trace.stream_tasks(stream).iter().map(|id| trace.task(*id));
    let timed = tasks.filter_map(|task| Some((trace.call(task.call).begin, task.time?.end)));
    Box::new(timed.scan(i64::MIN, |latest, (begin, end)| {
        *latest = begin.min(end).max(*latest);
        Some((*latest, 1))
    }))
}

fn completions(trace: &Trace, stream: StreamId) -> Steps<'_> {
    let tasks = trace.stream_tasks(stream).iter().map(|id| trace.task(*id));
    Box::new(
        tasks
            .filter_map(|task| task.time)
            .scan(i64::MIN, |latest, time| {
                *latest = time.end.max(*latest);
                Some((*latest, -1))
            }),
    )
}

/// When the stream begins and ends to work; waits and records are no work.
fn work(trace: &Trace, stream: StreamId) -> Steps<'_> {
    let tasks = trace.stream_tasks(stream).iter().map(|id| trace.task(*id));
    let work = tasks.filter(|task| !matches!(task.kind, TaskKind::Wait | TaskKind::Record));
    let times = work
        .filter_map(|task| task.time)
        .scan(i64::MIN, |latest, time| {
            let begin = time.begin.max(*latest);
            *latest = time.end.max(begin);
            Some([(begin, 1), (*latest, -1)])
        });
    Box::new(times.flatten())
}

/// All steps in time order, given sources that are in order themselves.
fn merge(mut sources: Vec<Steps<'_>>) -> impl Iterator<Item = Step> {
    let mut heads = BinaryHeap::new();
    for (index, source) in sources.iter_mut().enumerate() {
        heads.extend(
            source
                .next()
                .map(|(time, change)| Reverse((time, index, change))),
        );
    }
    std::iter::from_fn(move || {
        let Reverse((time, index, change)) = heads.pop()?;
        let next = sources[index].next();
        heads.extend(next.map(|(time, change)| Reverse((time, index, change))));
        Some((time, change))
    })
}
