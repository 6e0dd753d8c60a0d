//! The selection under the cursor.

use ascend_trace_analysis::Stall;
use ascend_trace_recording::{Call, ThreadId, TimeRange, Trace};

use crate::item::{CallOrTask, TrackKey};
use crate::nodes::ReplayNode;
use crate::ranges::RangeId;

/// The selection under the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    Item(CallOrTask),
    /// A stall that is no task and no call: an idle stretch of a stream.
    Gap(Stall),
    /// A range that the program named, and the line that it is on.
    Range(RangeId, u8),
    /// A node of a graph, in one of its replays.
    Node(ReplayNode),
    /// A call that is under way.
    Open(OpenCall),
}

/// A running call, by properties that it keeps when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenCall {
    pub(crate) thread: ThreadId,
    pub(crate) depth: u8,
    pub(crate) begin: i64,
}

impl OpenCall {
    pub(crate) fn of(call: &Call) -> Self {
        Self {
            thread: call.thread,
            depth: call.depth,
            begin: call.begin,
        }
    }

    /// The running call, unless it has returned.
    pub(crate) fn find(self, trace: &Trace) -> Option<&Call> {
        let mut open = trace.open_calls().iter();
        open.find(|call| Self::of(call) == self)
    }
}

impl Selection {
    pub(crate) fn item(self) -> Option<CallOrTask> {
        match self {
            Self::Item(item) => Some(item),
            Self::Gap(_) | Self::Range(..) | Self::Node(_) | Self::Open(_) => None,
        }
    }

    pub(crate) fn span(self, trace: &Trace) -> TimeRange {
        match self {
            Self::Item(item) => item.span(trace),
            Self::Gap(stall) => stall.range(),
            Self::Range(id, _) => id.span(trace),
            Self::Node(node) => TimeRange::new(node.begin, node.end),
            Self::Open(open) => {
                let end = open.find(trace).map_or(open.begin, |call| call.end);
                TimeRange::new(open.begin, end)
            }
        }
    }

    pub(crate) fn track(self, trace: &Trace) -> TrackKey {
        match self {
            Self::Item(item) => item.track(trace),
            Self::Gap(stall) => TrackKey::of_lane(trace, stall.lane),
            Self::Range(id, level) => TrackKey::Ranges(id.thread(trace), level),
            Self::Node(node) => TrackKey::Nodes(trace.lane_of(trace.task(node.replay).stream)),
            Self::Open(open) => TrackKey::of_depth(open.thread, open.depth),
        }
    }

    /// Whether a line shows it.
    pub(crate) fn is_on(self, trace: &Trace, key: TrackKey) -> bool {
        match self {
            Self::Item(item) => item.is_on(trace, key),
            _ => self.track(trace) == key,
        }
    }
}

/// Whether a stall is an idle stretch of a stream that is worth showing, rather than a task or a
/// call.
pub(crate) fn is_gap(stall: &Stall) -> bool {
    stall.is_gap() && stall.is_notable()
}

/// The selection for a stall.
pub(crate) fn of_stall(stall: Stall) -> Selection {
    match is_gap(&stall) {
        true => Selection::Gap(stall),
        false => Selection::Item(CallOrTask::from(stall.node)),
    }
}
