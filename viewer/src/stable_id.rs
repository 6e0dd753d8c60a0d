//! Identity of a selection that is valid in every part of a recording.

use ascend_trace_analysis::{Lane, Stall, Stalls};
use ascend_trace_recording::{Range, StreamId, ThreadId, Trace};

use crate::item::CallOrTask;
use crate::ranges::RangeId;
use crate::selection::{OpenCall, Selection, of_stall};

/// A selection by properties that are valid in every part. Ids belong to one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StableId {
    Task {
        stream: StreamId,
        sequence: u32,
        /// Captured tasks have the sequence of the next task that ran: their calls distinguish them.
        launched: i64,
        /// Where it is drawn.
        begin: i64,
    },
    Call {
        thread: ThreadId,
        begin: i64,
        depth: u8,
    },
    Range {
        thread: ThreadId,
        level: u8,
        begin: i64,
        end: i64,
    },
    Stall {
        lane: Lane,
        begin: i64,
        end: i64,
    },
}

impl StableId {
    /// The identity of a selection. A node is named by its replay.
    pub(crate) fn of(selected: Selection, trace: &Trace) -> Option<Self> {
        match selected {
            Selection::Gap(stall) => Some(Self::Stall {
                lane: stall.lane,
                begin: stall.begin,
                end: stall.end,
            }),
            Selection::Item(item) => Some(Self::of_item(item, trace)),
            Selection::Node(node) => Some(Self::of_item(CallOrTask::Task(node.replay), trace)),
            Selection::Open(open) => Some(Self::of_open(open)),
            Selection::Range(id, level) => {
                let range = trace.ranges().get(id.index())?;
                Some(Self::Range {
                    thread: range.thread,
                    level,
                    begin: range.begin,
                    end: range.end,
                })
            }
        }
    }

    /// A call that is under way is the same one when it has returned.
    pub(crate) fn of_open(open: OpenCall) -> Self {
        Self::Call {
            thread: open.thread,
            begin: open.begin,
            depth: open.depth,
        }
    }

    pub(crate) fn of_item(item: CallOrTask, trace: &Trace) -> Self {
        match item {
            CallOrTask::Task(id) => {
                let task = trace.task(id);
                Self::Task {
                    stream: task.stream,
                    sequence: task.sequence,
                    launched: trace.call(task.call).begin,
                    begin: item.span(trace).begin,
                }
            }
            CallOrTask::Call(id) => {
                let call = trace.call(id);
                Self::Call {
                    thread: call.thread,
                    begin: call.begin,
                    depth: call.depth,
                }
            }
        }
    }

    /// Where it begins.
    pub(crate) fn begin(self) -> i64 {
        match self {
            Self::Task { begin, .. }
            | Self::Call { begin, .. }
            | Self::Range { begin, .. }
            | Self::Stall { begin, .. } => begin,
        }
    }

    pub(crate) fn find(self, trace: &Trace, stalls: &Stalls) -> Option<Selection> {
        match self {
            Self::Stall { lane, begin, end } => {
                // Times of a task may differ a little from part to part: its clock is known better
                // in one than in the other.
                let near = stalls.in_window(lane, begin, end);
                let part = |it: &&Stall| it.end.min(end).saturating_sub(it.begin.max(begin));
                // One that only touches it is another one.
                let is_it =
                    |it: &&Stall| it.is_notable() && part(it) >= end.saturating_sub(begin) / 2;
                let found = near.iter().filter(is_it).max_by_key(part)?;
                Some(of_stall(*found))
            }
            Self::Range {
                thread,
                level,
                begin,
                end,
            } => {
                let is_it = |it: &Range| (it.thread, it.begin, it.end) == (thread, begin, end);
                let place = trace.ranges().iter().position(is_it)?;
                Some(Selection::Range(RangeId(place as u32), level))
            }
            Self::Task { .. } | Self::Call { .. } => {
                let item = self.find_item(trace).map(Selection::Item);
                item.or_else(|| self.find_open(trace))
            }
        }
    }

    fn find_open(self, trace: &Trace) -> Option<Selection> {
        let open = trace.open_calls().iter().map(OpenCall::of);
        let mut own = open.filter(|open| Self::of_open(*open) == self);
        own.next().map(Selection::Open)
    }

    pub(crate) fn find_item(self, trace: &Trace) -> Option<CallOrTask> {
        match self {
            Self::Range { .. } | Self::Stall { .. } => None,
            Self::Task {
                stream,
                sequence,
                launched,
                ..
            } => {
                let tasks = trace.stream_tasks(stream);
                let place = tasks.partition_point(|id| trace.task(*id).sequence < sequence);
                let same = tasks[place..].iter().map(|id| (*id, trace.task(*id)));
                let mut same = same.take_while(|(_, task)| task.sequence == sequence);
                let (id, _) = same.find(|(_, task)| trace.call(task.call).begin == launched)?;
                Some(CallOrTask::Task(id))
            }
            Self::Call {
                thread,
                begin,
                depth,
            } => {
                let calls = trace.thread_calls(thread);
                let place = calls.partition_point(|id| trace.call(*id).begin < begin);
                let same = calls[place..].iter().map(|id| (*id, trace.call(*id)));
                let mut same = same.take_while(|(_, call)| call.begin == begin);
                let (id, _) = same.find(|(_, call)| call.depth == depth)?;
                Some(CallOrTask::Call(id))
            }
        }
    }
}
