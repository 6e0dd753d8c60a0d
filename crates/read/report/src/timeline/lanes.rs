//! The lanes of a recording: their order, and their names.

use ascend_trace_recording::{ProcessId, StreamId, ThreadId, Trace};

/// The subject of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum LaneOf {
    /// The first stream with its number.
    Stream(StreamId),
    Ranges(ThreadId),
    Thread(ThreadId),
}

impl LaneOf {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Stream(_) => "stream",
            Self::Ranges(_) => "ranges",
            Self::Thread(_) => "thread",
        }
    }

    fn process(self, trace: &Trace) -> ProcessId {
        match self {
            Self::Stream(id) => trace.stream(id).process,
            Self::Ranges(id) | Self::Thread(id) => trace.thread(id).process,
        }
    }

    /// By process, then devices and their streams, then threads with their ranges above them.
    pub(super) fn order(self, trace: &Trace) -> impl Ord + use<> {
        let process = trace.process(self.process(trace));
        let rank = process.rank_number().unwrap_or(u64::MAX);
        let (part, first, second) = match self {
            Self::Stream(id) => {
                let stream = trace.stream(id);
                (0, i64::from(stream.device), stream.number())
            }
            Self::Ranges(id) => (1, i64::from(id.0), 0),
            Self::Thread(id) => (1, i64::from(id.0), 1),
        };
        (rank, self.process(trace), part, first, second)
    }

    pub(super) fn label(self, trace: &Trace) -> String {
        let thread = |id: ThreadId| {
            let thread = trace.thread(id);
            match thread.name.as_str() {
                "" => format!("thread {}", thread.tid),
                name => format!("{name} {}", thread.tid),
            }
        };
        match self {
            Self::Stream(id) => {
                let stream = trace.stream(id);
                let default = if stream.is_default { " (default)" } else { "" };
                format!("stream {}{default}", stream.number())
            }
            Self::Ranges(id) => format!("ranges of {}", thread(id)),
            Self::Thread(id) => thread(id),
        }
    }

    pub(super) fn group(self, trace: &Trace) -> String {
        let process = trace.process(self.process(trace));
        let mut name = match process.name.as_str() {
            "" => format!("process {}", process.pid),
            name => format!("{name} {}", process.pid),
        };
        if !process.rank.is_empty() {
            name.push_str(&format!(" rank {}", process.rank));
        }
        if !process.host.is_empty() {
            name.push_str(&format!(" on {}", process.host));
        }
        match self {
            Self::Stream(id) => format!("{name}, device {}", trace.stream(id).device),
            _ => name,
        }
    }
}
