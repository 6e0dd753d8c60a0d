//! Calls that had not returned when the recording ended, or was looked at.

use std::cmp::Reverse;

use ascend_trace_recording::{CallId, Ending, Trace};
use serde::Serialize;

use super::stall::Place;
use super::tables::{Range, overlaps};
use crate::Window;

/// One call that did not return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenCallStats {
    /// Number of the process in the recording: several processes may have the same pid.
    pub process: u32,
    pub pid: u32,
    pub tid: u32,
    /// Name of the thread.
    pub thread: String,
    /// Number of the call, as in `calls.csv`.
    pub call: u32,
    pub name: String,
    /// How many calls it was made in.
    pub depth: u8,
    pub begin_ns: i64,
    /// How long it had lasted.
    pub length_ns: i64,
    /// The stream that it works on or waits for, where the call names one.
    pub device: Option<u32>,
    pub stream_id: Option<i64>,
    /// Where in the program, if stacks were recorded.
    #[serde(flatten)]
    pub at: Option<Place>,
}

impl OpenCallStats {
    fn of(trace: &Trace, id: CallId) -> Self {
        let call = trace.call(id);
        let thread = trace.thread(call.thread);
        let process = trace.process(thread.process);
        let stream = call.stream.map(|stream| trace.stream(stream));
        Self {
            process: process.serial,
            pid: process.pid,
            tid: thread.tid,
            thread: thread.name.clone(),
            call: trace.call_number(id),
            name: trace.function(call.function).name.clone(),
            depth: call.depth,
            begin_ns: call.begin,
            length_ns: call.end.saturating_sub(call.begin),
            device: stream.map(|stream| stream.device),
            stream_id: stream.map(|stream| stream.number()),
            at: call.stack.and_then(|stack| Place::of(trace, stack)),
        }
    }
}

/// Those of a window that have a part in a range.
pub(super) fn of_window<'w>(
    window: &'w Window<'_>,
    range: Range,
) -> impl Iterator<Item = OpenCallStats> + 'w {
    let trace = window.trace;
    let open = window.calls().filter(move |id| {
        let call = trace.call(*id);
        call.ending == Ending::Open && overlaps(range, call.range())
    });
    open.map(|id| OpenCallStats::of(trace, id))
}

/// The longest first; calls inside of a call come after it.
pub(super) fn sorted(mut rows: Vec<OpenCallStats>) -> Vec<OpenCallStats> {
    rows.sort_by_key(|row| (Reverse(row.length_ns), row.process, row.tid, row.depth));
    rows
}
