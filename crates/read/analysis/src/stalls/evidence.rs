//! What shows that a stall has the cause that it is said to have.

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::{
    Call, CallId, FunctionId, StreamId, TaskId, ThreadId, TimeRange, Trace,
};

use super::chain::Chain;
use super::culprit::{awaited, split_error};
use super::overhead::spent;
use super::task_role::{TaskRole, takes_time};
use super::{Cause, Culprit, Lane, Stall, Stalls};
use crate::dependencies::{Dependencies, Node};
use crate::intervals::Intervals;
use crate::retention::{HOST_CALLS, MOST_BACK};

/// Activity of the submitting thread that a stream waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadActivity {
    /// Calls of one function.
    Calls(FunctionId),
    /// The tool's own work, by its recorded costs.
    Tracer,
    /// Nothing of AscendCL: the program's own work, or other libraries.
    Outside,
    /// The submission had returned, and its task was on its way to the device.
    InFlight,
    /// Before the last calls of the thread: only a limited number is examined.
    Earlier,
}

/// Activity of a thread while a stream waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivityDuringWait {
    pub doing: ThreadActivity,
    /// Number of calls; 0 for other activity.
    pub calls: u32,
    /// How much of the time was spent so.
    pub total: i64,
}

/// Why no better cause is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownReason {
    /// Something ran, or may have run, that has no device time.
    Untimed(TaskId, Untimed),
    /// Tasks are missing from the trace: they were lost, or are outside the part that was read.
    Missing,
    /// The next task was submitted, and this stream of the device ran most of the time.
    DeviceBusy(StreamId),
    /// The next task was submitted, and the device did not begin it.
    NotStarted,
}

/// What shows that a stall has its cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub culprit: Culprit,
    /// How far the moment may be off at which the device was done with what a call waited for, where the
    /// stall begins or ends there; and how far a stall of a task without a time may be off.
    pub split_error: Option<i64>,
    /// The waits from a wait to its root.
    pub chain: Chain,
    /// Activity of the thread that submitted the next task, longest first. It adds up to the whole
    /// stall, to the nanosecond.
    pub meanwhile: Vec<ActivityDuringWait>,
    pub why: Option<UnknownReason>,
}

impl Stalls {
    /// What shows that a stall of these has its cause.
    pub fn evidence(&self, trace: &Trace, dependencies: &Dependencies, stall: &Stall) -> Evidence {
        let mut evidence = self.brief_evidence(trace, dependencies, stall);
        if let (cause, Node::Task(task)) = (stall.cause, stall.node)
            && cause.is_of_host()
            && stall.is_gap()
        {
            let call = trace.call(trace.task(task).call);
            evidence.meanwhile = self.meanwhile(trace, call, stall.range());
        }
        evidence
    }

    /// The same without the thread's activity, which needs a look at all its calls.
    pub(crate) fn brief_evidence(
        &self,
        trace: &Trace,
        dependencies: &Dependencies,
        stall: &Stall,
    ) -> Evidence {
        let mut evidence = Evidence {
            culprit: self.culprit(trace, dependencies, stall),
            split_error: match stall.bound {
                Some(bound) => Some(bound.error),
                None => split_error(trace, dependencies, stall),
            },
            ..Evidence::default()
        };
        match (stall.cause, stall.node) {
            (Cause::EventWait | Cause::SignalWait, _) => {
                evidence.chain = stall.chain(trace, dependencies);
            }
            (Cause::Unknown, node) => evidence.why = Some(self.why(trace, stall, node)),
            _ => {}
        }
        evidence
    }

    /// The call that held the submitting thread up, and what that waited for.
    pub(super) fn blocker(
        &self,
        trace: &Trace,
        dependencies: &Dependencies,
        task: TaskId,
        stall: &Stall,
    ) -> Option<Culprit> {
        let (thread, until) = submission(trace, task, stall);
        let wanted = |it: &Stall| stall.cause.is_by(it.cause);
        let found = self
            .hosts
            .longest(thread, TimeRange::new(stall.begin, until), wanted)?;
        let Node::Call(call) = found.node else {
            return None;
        };
        let awaited = match found.cause {
            Cause::HostSync => awaited(trace, dependencies, found.node, stall),
            Cause::QueueFull => Culprit {
                stream: trace.call(call).stream,
                ..Culprit::default()
            },
            _ => Culprit::default(),
        };
        Some(Culprit {
            call: Some(call),
            ..awaited
        })
    }

    /// What made up an interval before a task that `submission` put on its stream: calls of its thread by
    /// function, the tool's own work, the time outside of AscendCL, and the task's way to the device.
    fn meanwhile(
        &self,
        trace: &Trace,
        submission: &Call,
        interval: TimeRange,
    ) -> Vec<ActivityDuringWait> {
        let thread = submission.thread;
        let (before, in_flight) = interval.split_at(submission.end);
        let earliest = looked_at_from(trace, thread, before);
        let looked_at = TimeRange::new(earliest, before.end);
        let mut sums = calls_in(trace, thread, looked_at);
        let inside: i64 = sums.iter().map(|sum| sum.total).sum();
        let outside = looked_at.duration().saturating_sub(inside).max(0);
        let of_tracer = spent(trace, thread, looked_at).min(outside);
        let others = [
            (ThreadActivity::Tracer, of_tracer),
            (ThreadActivity::Outside, outside - of_tracer),
            (ThreadActivity::InFlight, in_flight.duration()),
            (ThreadActivity::Earlier, earliest - interval.begin),
        ];
        let others = others.into_iter().filter(|(_, total)| *total > 0);
        sums.extend(others.map(|(doing, total)| ActivityDuringWait {
            doing,
            calls: 0,
            total,
        }));
        sums.sort_by_key(|sum| (-sum.total, sum.doing));
        sums
    }

    fn why(&self, trace: &Trace, stall: &Stall, node: Node) -> UnknownReason {
        let Lane::Stream(stream) = stall.lane else {
            return UnknownReason::NotStarted;
        };
        let tasks = trace.stream_tasks(stream);
        let upto = match node {
            Node::Task(task) => {
                let sequence = trace.task(task).sequence;
                tasks.partition_point(|it| trace.task(*it).sequence < sequence)
            }
            Node::Call(_) => tasks.len(),
        };
        let mut sequence = match node {
            Node::Task(task) => trace.task(task).sequence,
            Node::Call(_) => u32::MAX,
        };
        for id in tasks[..upto].iter().rev().take(MOST_BACK) {
            let task = trace.task(*id);
            if sequence != u32::MAX && sequence > task.sequence.saturating_add(1) {
                return UnknownReason::Missing;
            }
            sequence = task.sequence;
            if task.time.is_some() && TaskRole::of(trace, task) != TaskRole::Mark {
                break;
            }
            if task.time.is_none() && takes_time(trace, *id) {
                return UnknownReason::Untimed(*id, task.untimed);
            }
        }
        let busiest = self.busiest(trace, stream, stall);
        busiest.map_or(UnknownReason::NotStarted, UnknownReason::DeviceBusy)
    }

    /// The other stream of the device that worked for most of the stall, if one did.
    fn busiest(&self, trace: &Trace, own: StreamId, stall: &Stall) -> Option<StreamId> {
        let device = trace.stream(own).device;
        let others = (0..trace.streams().len() as u32).map(StreamId);
        let others = others.filter(|it| *it != own && trace.stream(*it).device == device);
        let busy = others.map(|it| (busy_in(trace, it, stall.range()), it));
        let (time, stream) = busy.max_by_key(|(time, _)| *time)?;
        (time * 2 >= stall.length()).then_some(stream)
    }
}

/// The thread that submitted a task, and until when in the stall it had not.
fn submission(trace: &Trace, task: TaskId, stall: &Stall) -> (ThreadId, i64) {
    let call = trace.call(trace.task(task).call);
    (call.thread, call.begin.clamp(stall.begin, stall.end))
}

/// How long a stream worked in an interval.
fn busy_in(trace: &Trace, stream: StreamId, interval: TimeRange) -> i64 {
    let tasks = trace.stream_tasks(stream);
    let over = |id: &TaskId| {
        trace
            .task(*id)
            .time
            .is_some_and(|time| time.end <= interval.begin)
    };
    let first = tasks.partition_point(over);
    let tasks = tasks[first..].iter().map(|id| trace.task(*id));
    let work = tasks.filter(|task| TaskRole::of(trace, task) == TaskRole::Work);
    let times = work.filter_map(|task| Some(task.time?.range()));
    let inside = times.take_while(|time| time.begin < interval.end);
    Intervals::union_of(inside).covered(interval)
}

/// From when on in an interval the calls of a thread are looked at: as far as the last ones reach back.
fn looked_at_from(trace: &Trace, thread: ThreadId, interval: TimeRange) -> i64 {
    let calls = trace.thread_calls(thread);
    let last = calls.partition_point(|id| trace.call(*id).begin < interval.end);
    let first = last
        .checked_sub(HOST_CALLS)
        .map(|place| trace.call(calls[place]));
    first.map_or(interval.begin, |call| interval.clamp(call.begin))
}

/// The program's own calls of a thread that have a part in an interval, summed up by function.
fn calls_in(trace: &Trace, thread: ThreadId, interval: TimeRange) -> Vec<ActivityDuringWait> {
    let calls = trace.thread_calls(thread);
    let last = calls.partition_point(|id| trace.call(*id).begin < interval.end);
    // They are few.
    let mut sums: Vec<ActivityDuringWait> = Vec::new();
    let outer = calls[..last]
        .iter()
        .rev()
        .filter(|id| is_outer(trace, **id));
    for id in outer {
        let call = trace.call(*id);
        if call.end <= interval.begin {
            break;
        }
        let doing = ThreadActivity::Calls(call.function);
        let time = call.range().intersection(interval).duration();
        match sums.iter_mut().find(|sum| sum.doing == doing) {
            Some(sum) => {
                sum.calls += 1;
                sum.total += time;
            }
            None => sums.push(ActivityDuringWait {
                doing,
                calls: 1,
                total: time,
            }),
        }
    }
    sums
}

fn is_outer(trace: &Trace, call: CallId) -> bool {
    trace.call(call).depth == 0
}
