//! The culprit of a stall, by its common facts with others.

use ascend_trace_recording::{CallId, StreamId, TaskId, ThreadId, Trace};

use super::{Cause, Culprit, Lane, Stall, Stalls};
use crate::dependencies::{Dependencies, Node};
use crate::nesting::{Nesting, counted};

/// What stalls have in common that have the same to blame.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Blame {
    /// Whether threads stalled, rather than streams.
    pub is_of_threads: bool,
    pub cause: Cause,
    pub whom: Blamed,
    /// The innermost range that the program had named around the call, without a number that counts it.
    pub range: Option<String>,
}

/// A name for whom is to blame. Streams and threads are the same in all parts of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Blamed {
    /// The last work that was waited for.
    Task(StreamId, String),
    /// The stream that was waited for, of which no work is known.
    Stream(StreamId),
    /// The call that came late, held the thread up, or did not return.
    Call(ThreadId, String),
    /// Nobody, or it is not known.
    NotKnown,
}

impl Stalls {
    /// Who is to blame for a stall of these.
    pub fn blame(
        &self,
        trace: &Trace,
        dependencies: &Dependencies,
        nesting: &Nesting,
        stall: &Stall,
    ) -> Blame {
        let whom = self.whom(trace, dependencies, stall);
        let range = match whom {
            Blamed::Call(thread, _) => {
                let middle = stall.begin.midpoint(stall.end);
                nesting.innermost(trace, thread, middle)
            }
            _ => None,
        };
        Blame {
            is_of_threads: matches!(stall.lane, Lane::Thread(_)),
            cause: stall.cause,
            whom,
            range: range.map(|range| counted(&range.name).into_owned()),
        }
    }

    fn whom(&self, trace: &Trace, dependencies: &Dependencies, stall: &Stall) -> Blamed {
        match stall.cause {
            Cause::Drained
            | Cause::Switch
            | Cause::Untimed
            | Cause::Unknown
            | Cause::TracerOverhead => {
                return Blamed::NotKnown;
            }
            _ => {}
        }
        let culprit = self.culprit(trace, dependencies, stall);
        let own = match stall.node {
            Node::Call(call) => Some(call),
            Node::Task(_) => None,
        };
        match (culprit.task, culprit.stream, culprit.call.or(own)) {
            // A host that waited for the device held the stream up, for any target of its wait.
            (_, _, Some(call)) if stall.is_gap() => of_call(trace, call),
            (Some(task), ..) => of_task(trace, task),
            (_, Some(stream), _) => Blamed::Stream(stream),
            (_, _, Some(call)) => of_call(trace, call),
            _ => Blamed::NotKnown,
        }
    }

    /// The culprit, where other stalls are necessary to find it.
    pub(super) fn culprit(
        &self,
        trace: &Trace,
        dependencies: &Dependencies,
        stall: &Stall,
    ) -> Culprit {
        match (stall.cause, stall.node) {
            (Cause::HostBlocked | Cause::ReturnLatency | Cause::QueueFull, Node::Task(task)) => {
                let blocker = self.blocker(trace, dependencies, task, stall);
                blocker.unwrap_or_default()
            }
            (Cause::CollectivePeer, Node::Task(task)) => {
                let peer = self.peers.get(&task).copied();
                Culprit {
                    stream: peer.map(|it| trace.task(it).stream),
                    task: peer,
                    call: peer.map(|it| trace.task(it).call),
                    ..Culprit::default()
                }
            }
            _ => stall.culprit(trace, dependencies),
        }
    }
}

fn of_task(trace: &Trace, id: TaskId) -> Blamed {
    let task = trace.task(id);
    Blamed::Task(task.stream, trace.task_name(task).to_owned())
}

fn of_call(trace: &Trace, id: CallId) -> Blamed {
    let call = trace.call(id);
    let name = trace.function(call.function).name.clone();
    Blamed::Call(call.thread, name)
}
