//! What lanes are called.

use ascend_trace_analysis::critical::Segment;
use ascend_trace_recording::{ProcessId, Stream, Thread, Trace};

use crate::tracks::ProcessTrack;

pub(crate) fn process_name(trace: &Trace, track: &ProcessTrack) -> String {
    let process = trace.process(track.process);
    let mut name = match process.name.as_str() {
        "" => format!("process {}", process.pid),
        name => name.to_owned(),
    };
    if !process.rank.is_empty() {
        name.push_str(&format!(" rank {}", process.rank));
    }
    if !process.host.is_empty() {
        name.push_str(&format!(" on {}", process.host));
    }
    match track.device {
        None => name,
        Some(device) => {
            let card = trace.card(track.process, device).number;
            let card = card.map_or_else(String::new, |number| format!("card {number}, "));
            format!("{name} device {device} ({card}pid {})", process.pid)
        }
    }
}

/// The device of a process that readers show by itself.
pub(crate) fn device_name(trace: &Trace, process: ProcessId, device: u32) -> String {
    match trace.card(process, device).number {
        Some(card) => format!("NPU {device} (card {card})"),
        None => format!("NPU {device}"),
    }
}

pub(crate) fn thread_name(thread: &Thread) -> String {
    match thread.name.as_str() {
        "" => format!("thread {}", thread.tid),
        name => name.to_owned(),
    }
}

pub(crate) fn stream_name(stream: &Stream) -> String {
    let mut name = format!("stream {}", stream.number());
    if stream.is_default {
        name.push_str(" (default)");
    }
    name
}

/// How the track of a stream's idle time is called.
pub(crate) fn stalls_name(stream: &Stream) -> String {
    format!("stream {} idle", stream.number())
}

/// The name of the track for tasks of a stream without a time, which are where they probably ran.
pub(crate) fn placed_name(stream: &Stream) -> String {
    format!("stream {} probable times", stream.number())
}

/// How the track of what ran inside of a stream's tasks is called.
pub(crate) fn parts_name(stream: &Stream) -> String {
    format!("stream {} parts", stream.number())
}

/// The name of a track of a lane: the first is called like the lane, the others have a number.
pub(crate) fn numbered(name: String, place: usize) -> String {
    match place {
        0 => name,
        _ => format!("{name} ({})", place + 1),
    }
}

/// Importers take a slice without a name for an error.
pub(crate) const UNNAMED: &str = "unnamed";

/// The category of tasks that are where they probably ran.
pub(crate) const PROBABLE: &str = "probable";
/// The track of the critical path, and the category of its pieces.
pub(crate) const CRITICAL_PATH: &str = "critical path";
pub(crate) const CRITICAL: &str = "critical";

/// Activity of a piece of the critical path: `computing MatMul`.
pub(crate) fn piece_name(piece: &Segment) -> String {
    format!("{} {}", piece.kind.name(), piece.name)
}

/// The track on which the recording as a whole is described, and the mark there.
pub(crate) const RECORDING: &str = "recording";
pub(crate) const RECORDED: &str = "ascend-trace";
