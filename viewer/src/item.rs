//! The things that lanes show: tasks on streams and calls on host threads.

use std::borrow::Cow;

use ascend_trace_analysis::collectives::CollectiveArguments;
use ascend_trace_analysis::graphs::single_task_label;
use ascend_trace_analysis::memory::MemoryPlace;
use ascend_trace_analysis::{Lane, Node};
use ascend_trace_format::api::{RetKind, TaskKind};
pub(crate) use ascend_trace_recording::Category;
use ascend_trace_recording::summary::DEEPEST;
use ascend_trace_recording::{
    Call, CallId, Direction, ProcessId, StreamId, TaskId, ThreadId, TimeRange, Trace,
};

/// A line of the timeline that holds slices, which never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TrackKey {
    Stream(StreamId),
    /// The nodes of the graphs that run on a stream.
    Nodes(StreamId),
    /// The host functions of a stream.
    Callbacks(StreamId),
    /// The collectives of a communicator, by its handle, that run on a stream.
    Collectives(u64, StreamId),
    /// Ranges that a thread named, from the outside in.
    Ranges(ThreadId, u8),
    /// Calls of a thread at one depth of nesting.
    Thread(ThreadId, u8),
    /// The memory in use of a process in a place of a device.
    Memory(ProcessId, MemoryPlace),
    /// The tracer overhead of a process.
    Cost(ProcessId),
    /// The losses of a process.
    Losses(ProcessId),
}

impl TrackKey {
    /// The line that shows the tasks of a stream: one line shows all streams that have a number, one after another.
    pub(crate) fn of_stream(trace: &Trace, stream: StreamId) -> Self {
        Self::Stream(trace.lane_of(stream))
    }

    /// The line of a stream or a thread.
    pub(crate) fn of_lane(trace: &Trace, lane: Lane) -> Self {
        match lane {
            Lane::Stream(stream) => Self::of_stream(trace, stream),
            Lane::Thread(thread) => Self::Thread(thread, 0),
        }
    }

    /// The line that is shown for this one: that of a stream may be one with other streams.
    pub(crate) fn shown(self, trace: &Trace) -> Self {
        match self {
            Self::Stream(stream) => Self::of_stream(trace, stream),
            Self::Nodes(stream) => Self::Nodes(trace.lane_of(stream)),
            Self::Callbacks(stream) => Self::Callbacks(trace.lane_of(stream)),
            Self::Collectives(comm, stream) => Self::Collectives(comm, trace.lane_of(stream)),
            own => own,
        }
    }

    pub(crate) fn of_call(call: &Call) -> Self {
        Self::of_depth(call.thread, call.depth)
    }

    /// The line of a thread's calls at a depth.
    pub(crate) fn of_depth(thread: ThreadId, depth: u8) -> Self {
        Self::Thread(thread, depth.min(DEEPEST))
    }

    /// The same line as the analyses name it, if they know it.
    pub(crate) fn lane(self) -> Option<Lane> {
        match self {
            Self::Stream(stream) => Some(Lane::Stream(stream)),
            Self::Thread(thread, _) => Some(Lane::Thread(thread)),
            _ => None,
        }
    }

    pub(crate) fn is_stream(self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// The line that represents it together with others when lines are hidden.
    pub(crate) fn owner(self) -> Self {
        match self {
            Self::Nodes(stream) | Self::Callbacks(stream) => Self::Stream(stream),
            Self::Ranges(thread, _) | Self::Thread(thread, _) => Self::Thread(thread, 0),
            own => own,
        }
    }

    /// Whether it shows what another line shows as well.
    pub(crate) fn is_copy(self) -> bool {
        matches!(self, Self::Callbacks(_) | Self::Collectives(..))
    }

    /// Whether it shows a quantity, and nothing that can be selected.
    pub(crate) fn is_meter(self) -> bool {
        matches!(self, Self::Memory(..) | Self::Cost(_) | Self::Losses(_))
    }

    /// Whether it belongs to a device.
    pub(crate) fn is_of_device(self) -> bool {
        matches!(
            self,
            Self::Stream(_)
                | Self::Nodes(_)
                | Self::Callbacks(_)
                | Self::Collectives(..)
                | Self::Memory(..)
        )
    }

    /// Whether arrows may begin and end in it.
    pub(crate) fn has_arrows(self) -> bool {
        matches!(self, Self::Stream(_) | Self::Thread(..))
    }
}

/// Lines that show a task in addition to that of its stream.
pub(crate) fn copies(
    trace: &Trace,
    id: TaskId,
    places: Option<&CollectiveArguments>,
) -> Option<TrackKey> {
    let task = trace.task(id);
    let stream = trace.lane_of(task.stream);
    if task.kind == TaskKind::HostFunc {
        return Some(TrackKey::Callbacks(stream));
    }
    let comm = places?.comm(trace, trace.call(task.call))?;
    Some(TrackKey::Collectives(comm, stream))
}

/// A task or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CallOrTask {
    Task(TaskId),
    Call(CallId),
}

impl From<Node> for CallOrTask {
    fn from(node: Node) -> Self {
        match node {
            Node::Task(task) => Self::Task(task),
            Node::Call(call) => Self::Call(call),
        }
    }
}

impl CallOrTask {
    pub(crate) fn node(self) -> Node {
        match self {
            Self::Task(task) => Node::Task(task),
            Self::Call(call) => Node::Call(call),
        }
    }

    pub(crate) fn track(self, trace: &Trace) -> TrackKey {
        match self {
            Self::Task(task) => TrackKey::of_stream(trace, trace.task(task).stream),
            Self::Call(call) => TrackKey::of_call(trace.call(call)),
        }
    }

    /// Whether a line shows the item.
    pub(crate) fn is_on(self, trace: &Trace, key: TrackKey) -> bool {
        let copy = || match self {
            Self::Task(id) => {
                let call = trace.call(trace.task(id).call);
                let places = CollectiveArguments::of(trace.function(call.function));
                copies(trace, id, places.as_ref())
            }
            Self::Call(_) => None,
        };
        self.track(trace) == key || (key.is_copy() && copy() == Some(key))
    }

    /// The time where the item is drawn. A task without a time is drawn where it probably ran, else at its launch.
    pub(crate) fn span(self, trace: &Trace) -> TimeRange {
        match self {
            Self::Task(id) => {
                let task = trace.task(id);
                let launched = || TimeRange::at(trace.call(task.call).begin);
                let placed = || trace.placement(id).map_or_else(launched, |it| it.range);
                task.time.map_or_else(placed, |time| {
                    TimeRange::new(time.begin, time.end.max(time.begin))
                })
            }
            Self::Call(id) => {
                let call = trace.call(id);
                TimeRange::new(call.begin, call.end.max(call.begin))
            }
        }
    }

    /// The part of its slice in which the task may not have run. Empty for most.
    pub(crate) fn open_part(self, trace: &Trace) -> TimeRange {
        let time = match self {
            Self::Task(id) => trace.task(id).time,
            Self::Call(_) => None,
        };
        match time {
            Some(time) => time.open_part(),
            None if self.is_placed(trace) => self.span(trace),
            None => TimeRange::at(self.span(trace).begin),
        }
    }

    /// Whether it is a task without a time, of which the place where it probably ran is known.
    pub(crate) fn is_placed(self, trace: &Trace) -> bool {
        matches!(self, Self::Task(id) if trace.task(id).time.is_none() && trace.placement(id).is_some())
    }

    pub(crate) fn length(self, trace: &Trace) -> i64 {
        let TimeRange { begin, end } = self.span(trace);
        end.saturating_sub(begin)
    }

    pub(crate) fn category(self, trace: &Trace) -> Category {
        match self {
            Self::Task(id) => Category::of_task(trace.task(id).kind),
            Self::Call(id) => {
                let call = trace.call(id);
                Category::of_call(trace.function(call.function), call.task.is_some())
            }
        }
    }

    /// The name by which it is shown; of a replay: which graph, and which replay of it.
    pub(crate) fn label(self, trace: &Trace) -> Cow<'_, str> {
        match self {
            Self::Task(id) => single_task_label(trace, trace.task(id)),
            Self::Call(_) => self.name(trace).into(),
        }
    }

    /// The launched operation or the called function: items of one name look alike.
    pub(crate) fn name(self, trace: &Trace) -> &str {
        match self {
            Self::Task(id) => trace.task_name(trace.task(id)),
            Self::Call(id) => &trace.function(trace.call(id).function).name,
        }
    }

    /// Which way a copy goes, as far as its arguments say.
    pub(crate) fn direction(self, trace: &Trace) -> Option<&'static str> {
        if self.category(trace) != Category::Copy {
            return None;
        }
        let call = trace.call(self.call(trace));
        Some(match trace.direction(call)? {
            Direction::HostToDevice => "H→D",
            Direction::DeviceToHost => "D→H",
            Direction::DeviceToDevice => "D→D",
            Direction::Peer => "D⇒D",
            Direction::HostToHost => "H→H",
        })
    }

    /// What its colour depends on: the direction of a copy, else its name.
    pub(crate) fn look(self, trace: &Trace) -> &str {
        match self.direction(trace) {
            Some(direction) => direction,
            None => self.name(trace),
        }
    }

    /// The call itself, or the one that submitted the task.
    pub(crate) fn call(self, trace: &Trace) -> CallId {
        match self {
            Self::Task(id) => trace.task(id).call,
            Self::Call(id) => id,
        }
    }

    /// Whether the call failed.
    pub(crate) fn failed(self, trace: &Trace) -> bool {
        let call = trace.call(self.call(trace));
        let function = trace.function(call.function);
        function.ret == RetKind::Error && call.ret != 0
    }
}
