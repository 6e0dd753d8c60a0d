//! Why a lane could not go on.

/// Why a lane could not go on: exactly one cause for each interval.
///
/// [`docs/STALLS.md`](https://docs.rs/ascend-trace) explains each of them to users, and the possible
/// changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// A wait at the head of the stream had not been released by its event.
    EventWait,
    /// A wait at the head of the stream had not seen its notify, or the value it wanted in memory.
    SignalWait,
    /// The stream was empty: its next task had not been submitted.
    HostLate,
    /// The stream was empty, because the thread that submits to it was inside a call that waited
    /// for the device.
    HostBlocked,
    /// The target of a call had been done, and the call had not returned. For a stream: the thread that
    /// submits to it was still inside such a call.
    ReturnLatency,
    /// The stream was empty, because the tool itself took the time of the thread that submits to it.
    TracerOverhead,
    /// A submission did not return until the queue of its stream had room. For a stream: the
    /// thread that submits to it was held up so, by another stream.
    QueueFull,
    /// The stream waited for a function of the program that runs on the host.
    Callback,
    /// The stream waited for a graph to be launched.
    GraphLaunch,
    /// A collective had begun, and the last of its peers had not.
    CollectivePeer,
    /// Nothing more was submitted to the stream before it was destroyed.
    Drained,
    /// The device went from one task to the next.
    Switch,
    /// Tasks without a time ran, for as long as such tasks usually take.
    Untimed,
    /// The stream was idle though its next task had been submitted, or the work between could not be
    /// timed.
    Unknown,
    /// The thread waited for a stream, an event or a device.
    HostSync,
    /// The thread was inside a synchronous copy.
    HostCopy,
}

impl Cause {
    pub const ALL: [Self; 16] = [
        Self::EventWait,
        Self::SignalWait,
        Self::HostLate,
        Self::HostBlocked,
        Self::ReturnLatency,
        Self::TracerOverhead,
        Self::QueueFull,
        Self::Callback,
        Self::GraphLaunch,
        Self::CollectivePeer,
        Self::Drained,
        Self::Switch,
        Self::Untimed,
        Self::Unknown,
        Self::HostSync,
        Self::HostCopy,
    ];

    /// The word for this cause in tables and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EventWait => "event-wait",
            Self::SignalWait => "signal-wait",
            Self::HostLate => "host-late",
            Self::HostBlocked => "host-blocked",
            Self::ReturnLatency => "return-latency",
            Self::TracerOverhead => "tracer-overhead",
            Self::QueueFull => "queue-full",
            Self::Callback => "callback",
            Self::GraphLaunch => "graph-launch",
            Self::CollectivePeer => "collective-peer",
            Self::Drained => "drained",
            Self::Switch => "switch",
            Self::Untimed => "untimed",
            Self::Unknown => "unknown",
            Self::HostSync => "host-sync",
            Self::HostCopy => "host-copy",
        }
    }

    /// Whether the time is lost. A stream without further work, and the short switch between two tasks, are normal; and
    /// tasks without a time are work.
    pub const fn is_notable(self) -> bool {
        !matches!(self, Self::Drained | Self::Switch | Self::Untimed)
    }

    /// Whether the thread that submits to a stream caused its gap, by its activity.
    pub const fn is_of_host(self) -> bool {
        matches!(
            self,
            Self::HostLate
                | Self::HostBlocked
                | Self::ReturnLatency
                | Self::TracerOverhead
                | Self::QueueFull
        )
    }

    /// Whether a stream stalls for this cause because a thread stalled for the other one.
    pub const fn is_by(self, host: Self) -> bool {
        match self {
            Self::QueueFull => matches!(host, Self::QueueFull),
            Self::ReturnLatency => matches!(host, Self::ReturnLatency),
            Self::HostBlocked => matches!(host, Self::HostSync | Self::HostCopy),
            _ => false,
        }
    }
}
