//! From a wait back to its origin: the chain of waits to the root.
//!
//! A wait ends when its record is reached. Going back from there along the record's stream, the time
//! until the wait began is filled with work, with waits for other streams, or with nothing because the
//! host had not submitted the next task. Each wait leads on to another stream; the chain ends where the
//! time is accounted for.

use ascend_trace_recording::{CallId, StreamId, TaskId, Trace};

use super::culprit::is_over;
use super::task_role::{TaskRole, held_stream};
use super::{IDLE_FLOOR_NS, Stall};
use crate::dependencies::{Dependencies, Node};
use crate::released;

/// Largest length of a chain.
const LONGEST: usize = 64;

/// Tasks of one stream that are looked at for one link.
const TASKS: usize = 100_000;

/// One wait of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The wait.
    pub wait: TaskId,
    /// Target of the wait: a record of an event, or the task that set a notify or a value.
    pub record: TaskId,
    /// Where that is.
    pub stream: StreamId,
    /// The last task on that stream before the record that kept the wait waiting.
    pub task: Option<TaskId>,
}

/// Origin of a chain of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This task ran.
    Task(TaskId),
    /// This call came late.
    Call(CallId),
}

/// The waits that one stall consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// From the stall's own wait on.
    pub links: Vec<Link>,
    /// `None` where the record of the last wait is not known.
    pub root: Option<Root>,
}

/// Work before a record on its stream.
enum WorkBeforeRecord {
    /// It worked on this task at least since the wait began.
    Work(TaskId),
    /// It waited, and then ran up to this task.
    Wait(TaskId, Option<TaskId>),
    /// The call that submitted the next task was not made yet.
    Host(CallId),
}

impl Stall {
    /// The chain of waits from this stall to its root; empty for a stall that is no wait.
    pub fn chain(&self, trace: &Trace, dependencies: &Dependencies) -> Chain {
        let mut chain = Chain::default();
        let Node::Task(mut wait) = self.node else {
            return chain;
        };
        let is_wait = |task: TaskId| {
            matches!(
                TaskRole::of(trace, trace.task(task)),
                TaskRole::EventWait | TaskRole::SignalWait
            )
        };
        while is_wait(wait) && chain.links.len() < LONGEST {
            let Some(record) = released::tasks(trace, dependencies, Node::Task(wait)).next() else {
                chain.root = None;
                break;
            };
            let stream = trace.task(record).stream;
            let link = |task| Link {
                wait,
                record,
                stream,
                task,
            };
            match before(trace, dependencies, record, self.begin) {
                WorkBeforeRecord::Work(task) => {
                    chain.links.push(link(last_work(trace, record, self)));
                    chain.root = Some(Root::Task(task));
                    break;
                }
                WorkBeforeRecord::Host(call) => {
                    chain.links.push(link(last_work(trace, record, self)));
                    chain.root = Some(Root::Call(call));
                    break;
                }
                WorkBeforeRecord::Wait(other, task) => {
                    chain
                        .links
                        .push(link(task.filter(|it| !is_over(trace, *it, self))));
                    chain.root = Some(Root::Task(other));
                    wait = other;
                }
            }
        }
        chain
    }
}

/// What occupied the stream of a record from `since` until the record was reached.
fn before(
    trace: &Trace,
    dependencies: &Dependencies,
    record: TaskId,
    since: i64,
) -> WorkBeforeRecord {
    let record_call = trace.task(record).call;
    let mut ran = None;
    // The submission that the examined item had to follow, and its earliest begin.
    let mut next = (record_call, Node::Task(record).range(trace).end);
    // The examined item, if it is a function on the host: the stream reached it some time before the function ran.
    let mut function = None;
    for id in earlier(trace, record).take(TASKS) {
        let task = trace.task(id);
        let Some(time) = task.time else { continue };
        let class = TaskRole::of(trace, task);
        let is_wait = matches!(class, TaskRole::EventWait | TaskRole::SignalWait);
        if class == TaskRole::Mark || is_wait && !held_stream(trace, dependencies, id) {
            continue;
        }
        let gap = next.1.saturating_sub(time.end.max(since));
        let is_submitted = function.is_some() && trace.call(next.0).begin <= since;
        if gap >= IDLE_FLOOR_NS && trace.call(next.0).begin > time.end && !is_submitted {
            return WorkBeforeRecord::Host(next.0);
        }
        if is_wait && time.end > since {
            return WorkBeforeRecord::Wait(id, ran);
        }
        if time.end <= since {
            // It had ended before: later work filled the time.
            return function
                .or(ran)
                .map_or(WorkBeforeRecord::Host(next.0), WorkBeforeRecord::Work);
        }
        if time.begin <= since {
            return WorkBeforeRecord::Work(id);
        }
        ran = ran.or(Some(id));
        next = (task.call, time.begin);
        function = Some(id).filter(|_| class == TaskRole::Callback);
    }
    let is_late = trace.call(next.0).begin > since;
    match function.or(ran) {
        Some(task) if !is_late => WorkBeforeRecord::Work(task),
        _ => WorkBeforeRecord::Host(next.0),
    }
}

/// The tasks before one on its stream, latest first.
fn earlier(trace: &Trace, id: TaskId) -> impl Iterator<Item = TaskId> {
    let task = trace.task(id);
    let tasks = trace.stream_tasks(task.stream);
    let before = tasks.partition_point(|it| trace.task(*it).sequence < task.sequence);
    tasks[..before].iter().rev().copied()
}

/// The last task before a record on its stream that is work, if it ran in the time of the stall.
fn last_work(trace: &Trace, record: TaskId, stall: &Stall) -> Option<TaskId> {
    let is_work = |id: &TaskId| {
        let class = TaskRole::of(trace, trace.task(*id));
        trace.runs(trace.task(*id)) && matches!(class, TaskRole::Work | TaskRole::Callback)
    };
    let last = earlier(trace, record).take(TASKS).find(is_work);
    last.filter(|task| !is_over(trace, *task, stall))
}
