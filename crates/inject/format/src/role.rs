//! What calls do: the roles of functions, and what each role means to everyone who reacts to calls.

use crate::coded_enum;

coded_enum! {
    /// Effect of a call that the tracer must react to.
    Role {
        /// Recorded, nothing more.
        Plain = 0 "plain",
        /// Submits a task to a stream.
        Task = 1 "task",
        /// Submits an event record.
        RecordEvent = 2 "record-event",
        /// Submits a wait for an event.
        WaitEvent = 3 "wait-event",
        /// Submits a reset of an event.
        ResetEvent = 4 "reset-event",
        /// Blocks the host until a stream is done.
        SyncStream = 5 "sync-stream",
        /// Blocks the host until an event is done.
        SyncEvent = 6 "sync-event",
        /// Blocks the host until every stream of the context is done.
        SyncDevice = 7 "sync-device",
        /// Blocks the host for a separate transfer, outside all streams.
        BlockingCopy = 8 "blocking-copy",
        /// Makes a stream.
        CreateStream = 9 "create-stream",
        /// Ends a stream.
        DestroyStream = 10 "destroy-stream",
        /// Makes an event.
        CreateEvent = 11 "create-event",
        /// Ends an event.
        DestroyEvent = 12 "destroy-event",
        /// Binds the thread to a device and its default context.
        SetDevice = 13 "set-device",
        /// Gives one reference of a device back.
        ResetDevice = 14 "reset-device",
        /// Makes a context and makes it current.
        CreateContext = 15 "create-context",
        /// Ends a context.
        DestroyContext = 16 "destroy-context",
        /// Switches the thread's context.
        SetContext = 17 "set-context",
        /// Returns the thread's context.
        GetContext = 18 "get-context",
        /// Brings the runtime up.
        Initialize = 19 "initialize",
        /// Takes the runtime down.
        Finalize = 20 "finalize",
        /// A stream begins to be captured.
        CaptureBegin = 21 "capture-begin",
        /// A captured graph is complete.
        CaptureEnd = 22 "capture-end",
        /// Asks whether an event is done.
        QueryEvent = 23 "query-event",
        /// Asks whether a stream is done.
        QueryStream = 24 "query-stream",
        /// Returns the handle of the current context's default stream.
        GetDefaultStream = 25 "get-default-stream",
        /// Returns a stream's id.
        GetStreamId = 26 "get-stream-id",
        /// Binds a stream to a model that is built by hand: its tasks do not run when submitted.
        BindStream = 27 "bind-stream",
        /// Undoes `BindStream`.
        UnbindStream = 28 "unbind-stream",
        /// Tasks submitted from here on replace those of a captured task group.
        UpdateBegin = 29 "update-begin",
        /// Ends `UpdateBegin`.
        UpdateEnd = 30 "update-end",
        /// Returns the id of the thread's last task.
        LastTaskId = 31 "last-task-id",
        /// Runs callbacks that are due in the calling thread.
        ProcessReport = 32 "process-report",
        /// Stops a stream's tasks.
        AbortStream = 33 "abort-stream",
        /// Runs a graph on internal streams and waits for it.
        ExecuteGraph = 34 "execute-graph",
        /// Ends a graph.
        DestroyGraph = 35 "destroy-graph",
        /// Begins a graph that is built by hand.
        BuildGraph = 36 "build-graph",
        /// Works on a graph as a whole.
        UseGraph = 37 "use-graph",
        /// Begins a group of captured tasks that can be updated.
        TaskGroupBegin = 38 "task-group-begin",
        /// Ends `TaskGroupBegin`.
        TaskGroupEnd = 39 "task-group-end",
        /// Marks a time of the host, for the reader of the trace.
        Mark = 40 "mark",
        /// Begins a named range of the host's time.
        RangeBegin = 41 "range-begin",
        /// Ends the range that a `RangeBegin` returned.
        RangeEnd = 42 "range-end",
        /// A thread of the program will run the callbacks of a stream.
        SubscribeReports = 43 "subscribe-reports",
        /// Undoes `SubscribeReports`.
        UnsubscribeReports = 44 "unsubscribe-reports",
        /// Takes kernels out of memory: their handles mean nothing any more.
        UnloadKernels = 50 "unload-kernels",
        /// Asks whether the waits of streams for an event are over.
        QueryWaits = 51 "query-waits",
    }
}

/// Whether a call has an argument of some kind to work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectUse {
    /// It need not have one.
    Free,
    /// It works on one.
    Takes,
    /// It hands one out.
    Gives,
}

/// The target that a call makes the host wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitTarget {
    /// Nothing that belongs to the role.
    Nothing,
    /// The submitted work of a stream.
    Stream,
    /// The work submitted before an event's record.
    Event,
    /// The submitted work of all streams of a context.
    Device,
    /// A separate transfer.
    Transfer,
    /// The graph that it starts.
    Replay,
}

impl WaitTarget {
    /// Whether the call waits for earlier submissions.
    pub const fn is_sync(self) -> bool {
        matches!(self, Self::Stream | Self::Event | Self::Device)
    }
}

/// Meaning of a role: all code that reacts to roles reads it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleMeaning {
    /// Relation of the stream, the event and the context to the call.
    pub stream: ObjectUse,
    pub event: ObjectUse,
    pub context: ObjectUse,
    /// It submits a task.
    pub submits: bool,
    pub waits: WaitTarget,
    /// It ends a stream and waits for its tasks, unless it is forced.
    pub drains: bool,
    /// It works on all streams of a context, a device or the process.
    pub on_all_streams: bool,
    /// Something comes into being or goes, or changes for all calls to come: that is followed even inside of
    /// another call of the runtime's.
    pub changes: bool,
    /// It begins or ends the time in which streams can have work.
    pub bounds_life: bool,
    /// A call with a graph is about the graph as a whole, for any number.
    pub makes_graph: bool,
    /// The program's functions run inside it.
    pub calls_back: bool,
    /// It is a message to the reader of the trace. Its stream may be missing.
    pub annotates: bool,
}

impl RoleMeaning {
    /// Whether later calls cannot be understood without a call of this role: such calls are in every recording, also in
    /// one that has no other calls of that time.
    pub const fn lasts(&self) -> bool {
        self.changes
            || self.bounds_life
            || self.makes_graph
            || self.annotates
            || matches!(self.stream, ObjectUse::Gives)
            || matches!(self.context, ObjectUse::Gives)
    }
}

/// A role that means nothing beyond its record.
const PLAIN: RoleMeaning = RoleMeaning {
    stream: ObjectUse::Free,
    event: ObjectUse::Free,
    context: ObjectUse::Free,
    submits: false,
    waits: WaitTarget::Nothing,
    drains: false,
    on_all_streams: false,
    changes: false,
    bounds_life: false,
    makes_graph: false,
    calls_back: false,
    annotates: false,
};

/// A role that works on a stream.
const ON_STREAM: RoleMeaning = RoleMeaning {
    stream: ObjectUse::Takes,
    ..PLAIN
};

/// A role that submits a task.
const SUBMITS: RoleMeaning = RoleMeaning {
    submits: true,
    ..ON_STREAM
};

/// A role that submits a task about an event.
const SUBMITS_EVENT: RoleMeaning = RoleMeaning {
    event: ObjectUse::Takes,
    ..SUBMITS
};

/// A role that is a message to the reader of the trace.
const ANNOTATES: RoleMeaning = RoleMeaning {
    annotates: true,
    ..PLAIN
};

const fn waits(waits: WaitTarget, on: RoleMeaning) -> RoleMeaning {
    RoleMeaning { waits, ..on }
}

const fn changes(on: RoleMeaning) -> RoleMeaning {
    RoleMeaning {
        changes: true,
        ..on
    }
}

const fn bounds_life(on: RoleMeaning) -> RoleMeaning {
    RoleMeaning {
        bounds_life: true,
        ..on
    }
}

const fn makes_graph(on: RoleMeaning) -> RoleMeaning {
    RoleMeaning {
        makes_graph: true,
        ..on
    }
}

const fn on_all_streams(on: RoleMeaning) -> RoleMeaning {
    RoleMeaning {
        on_all_streams: true,
        ..on
    }
}

const fn on_event(event: ObjectUse) -> RoleMeaning {
    RoleMeaning { event, ..PLAIN }
}

const fn on_context(context: ObjectUse) -> RoleMeaning {
    RoleMeaning { context, ..PLAIN }
}

const fn gives_stream() -> RoleMeaning {
    RoleMeaning {
        stream: ObjectUse::Gives,
        ..PLAIN
    }
}

/// Return codes of a wait that timed out: for a stream or device, and for an event.
pub const TIMEOUTS: [i64; 2] = [507_046, 507_047];

/// Return code of a thread that waited for callbacks, and got none in the time that it had.
pub const REPORT_TIMEOUT: i64 = 507_012;

/// Return code of a thread that waits for callbacks, and to which no stream is subscribed.
pub const NOT_SUBSCRIBED: i64 = 107_012;

/// Return codes of queries of work that is not done: of a stream, and of an event.
const NOT_DONE: [i64; 2] = [507_004, 507_006];

/// Whether a code is a result that the program asked for, and not a failure: it waited no longer, or asked whether work is done.
pub fn is_answer(code: i64) -> bool {
    code == REPORT_TIMEOUT || TIMEOUTS.contains(&code) || NOT_DONE.contains(&code)
}

impl Role {
    /// Whether calls ask whether something is done.
    pub const fn asks_for_an_end(self) -> bool {
        matches!(
            self,
            Self::QueryEvent | Self::QueryStream | Self::QueryWaits
        )
    }

    /// Whether calls name the record of an event: the one that they wait for, or ask for.
    pub const fn names_record(self) -> bool {
        matches!(self, Self::WaitEvent | Self::SyncEvent | Self::QueryEvent)
    }

    /// Whether calls set the device or the context of their thread.
    pub const fn sets_current(self) -> bool {
        matches!(self, Self::SetDevice | Self::ResetDevice | Self::SetContext)
    }

    /// Whether calls change nothing: a program that makes only such calls may hang. `asks` is the fact of this name
    /// ([`Fact::Asks`](crate::api::Fact::Asks)).
    pub const fn only_looks(self, asks: bool) -> bool {
        let meaning = self.meaning();
        asks || self.asks_for_an_end() || meaning.calls_back || meaning.annotates
    }

    /// Meaning of the role.
    #[inline]
    pub const fn meaning(self) -> RoleMeaning {
        use ObjectUse::{Gives, Takes};
        match self {
            Self::Plain
            | Self::Initialize
            | Self::LastTaskId
            | Self::UseGraph
            | Self::UnloadKernels => PLAIN,

            Self::Task => SUBMITS,
            Self::RecordEvent | Self::WaitEvent | Self::ResetEvent => SUBMITS_EVENT,

            Self::SyncStream => waits(WaitTarget::Stream, ON_STREAM),
            Self::SyncEvent => waits(WaitTarget::Event, on_event(Takes)),
            Self::SyncDevice => waits(WaitTarget::Device, on_all_streams(PLAIN)),
            Self::BlockingCopy => waits(WaitTarget::Transfer, PLAIN),
            Self::ExecuteGraph => waits(WaitTarget::Replay, PLAIN),

            Self::CreateStream => changes(bounds_life(gives_stream())),
            Self::DestroyStream => RoleMeaning {
                drains: true,
                ..changes(bounds_life(ON_STREAM))
            },
            Self::AbortStream => changes(ON_STREAM),
            Self::GetDefaultStream => gives_stream(),
            Self::QueryStream | Self::GetStreamId => ON_STREAM,
            Self::SubscribeReports | Self::UnsubscribeReports => ON_STREAM,

            Self::CreateEvent => changes(on_event(Gives)),
            Self::DestroyEvent => changes(on_event(Takes)),
            Self::QueryEvent | Self::QueryWaits => on_event(Takes),

            Self::SetDevice => changes(bounds_life(PLAIN)),
            Self::ResetDevice => changes(bounds_life(on_all_streams(PLAIN))),
            Self::CreateContext => changes(bounds_life(on_context(Gives))),
            Self::DestroyContext => changes(bounds_life(on_all_streams(on_context(Takes)))),
            Self::SetContext => changes(on_context(Takes)),
            Self::GetContext => on_context(Gives),
            Self::Finalize => bounds_life(on_all_streams(PLAIN)),

            Self::CaptureBegin | Self::CaptureEnd | Self::BindStream => {
                changes(makes_graph(ON_STREAM))
            }
            Self::UnbindStream => changes(ON_STREAM),
            Self::BuildGraph | Self::DestroyGraph => changes(makes_graph(PLAIN)),
            Self::UpdateBegin | Self::UpdateEnd | Self::TaskGroupBegin | Self::TaskGroupEnd => {
                ON_STREAM
            }

            Self::ProcessReport => RoleMeaning {
                calls_back: true,
                ..PLAIN
            },
            Self::Mark | Self::RangeBegin | Self::RangeEnd => ANNOTATES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_submits_a_task_has_a_stream_to_submit_it_to() {
        for role in Role::ALL {
            let meaning = role.meaning();
            assert!(
                !meaning.submits || meaning.stream == ObjectUse::Takes,
                "{}",
                role.name()
            );
        }
    }

    #[test]
    fn what_bounds_a_life_or_waits_submits_nothing() {
        for role in Role::ALL {
            let meaning = role.meaning();
            let acts = meaning.bounds_life || meaning.waits.is_sync() || meaning.annotates;
            assert!(!(acts && meaning.submits), "{}", role.name());
        }
    }
}
