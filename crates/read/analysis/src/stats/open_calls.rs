//! Calls that had not returned when the recording ended, or was looked at.

use std::cmp::Reverse;

use super::call_sites::{CallSite, called_at, part};
use super::stall_words::stream_words;
use super::tables::{Range, overlaps};
use crate::Window;
use crate::columns::declare::*;
use ascend_trace_recording::{CallId, Ending, Trace};

table_row! {
/// One call that did not return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCallStats {
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the function").text("function");
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "its process id").text("pid");
    pub tid: u32 => column("tid", Id, |it: &Self| it.tid.into(), "number of the thread").text("tid");
    pub thread: String => column("thread", Text, |it: &Self| (&it.thread).into(), "name of the thread").text("thread");
    pub call: u32 => column("call", Id, |it: &Self| it.call.into(), "number of the call in `calls.csv`");
    pub depth: u8 => column("depth", Count, |it: &Self| it.depth.into(), "the number of calls around it");
    => column("", Text, |it: &Self| it.device.zip(it.stream_id).map(stream_words).into(), "the device and the stream").text("stream");
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "when it began").text("since");
    pub length_ns: i64 => column("length_ns", Duration, |it: &Self| it.length_ns.into(), "how long it had lasted").text("for");
    pub device: Option<u32> => column("device", Id, |it: &Self| it.device.into(), "the device of the stream that it works on or waits for; `null` if it names no stream");
    pub stream_id: Option<i64> => column("stream_id", Id, |it: &Self| it.stream_id.into(), "the number of this stream");
    => column("", Text, |it: &Self| it.at.as_ref().map(|it| &it.call_site).into(), "the line of the program that made the call").text("called at").if_any(|it| it.at.is_some());
    ..called_at!();
    pub at: Option<CallSite>;
}
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
            at: call.stack.and_then(|stack| CallSite::of(trace, stack)),
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
