//! Counters: how many tasks a stream still has to do, and how many streams of a device work.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ascend_trace_format::api::TaskKind;
use ascend_trace_model::{StreamId, Trace};

/// A change of a counter: when, and by how much.
type Step = (i64, i64);

/// How many tasks wait or run on a stream: its value from each moment on at which it changes.
pub(crate) fn queued(trace: &Trace, stream: StreamId) -> impl Iterator<Item = (i64, i64)> {
    values(merge(vec![
        submissions(trace, stream),
        completions(trace, stream),
    ]))
}

/// How many of these streams work.
pub(crate) fn busy(trace: &Trace, streams: &[StreamId]) -> impl Iterator<Item = (i64, i64)> {
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
