//! Counters: how many tasks a stream still has to do, and how many streams of a device work.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;

use ascend_trace_format::api::TaskKind;
use ascend_trace_model::{StreamId, Trace};

use super::output::{Output, Track};
use super::tracks::Tracks;

/// A change of a counter.
type Step = (i64, i64);

pub(super) fn write(output: &mut Output<'_>, trace: &Trace, tracks: &Tracks) -> io::Result<()> {
    let mut devices: BTreeMap<u32, Vec<StreamId>> = BTreeMap::new();
    for index in 0..trace.streams().len() {
        let id = StreamId(index as u32);
        let lane = &tracks.streams[index];
        let track = Track {
            pid: lane.pid,
            tid: lane.slices[0],
        };
        let name = format!("queued on stream {}", trace.stream(id).number());
        let steps = merge(vec![submissions(trace, id), completions(trace, id)]);
        write_counter(output, track, &name, "tasks", steps)?;
        devices.entry(lane.pid).or_default().push(id);
    }
    for (pid, streams) in devices {
        let track = Track { pid, tid: pid };
        let steps = merge(streams.iter().map(|id| work(trace, *id)).collect());
        write_counter(output, track, "busy", "streams", steps)?;
    }
    Ok(())
}

fn write_counter(
    output: &mut Output<'_>,
    track: Track,
    name: &str,
    unit: &str,
    steps: impl Iterator<Item = Step>,
) -> io::Result<()> {
    let mut value = 0;
    let mut written = 0;
    let mut steps = steps.peekable();
    while let Some((time, change)) = steps.next() {
        value += change;
        // Only the last value of a moment counts, and only if it is a new one.
        if steps.peek().is_some_and(|next| next.0 == time) || value == written {
            continue;
        }
        written = value;
        output.event("C", track, |members| {
            members.named(name, "");
            members.at(time);
            members.args(|json| json.name(unit).integer(value));
        })?;
    }
    Ok(())
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
