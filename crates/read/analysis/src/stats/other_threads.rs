//! Threads without recorded calls, with their processor time.

use std::cmp::Reverse;

use ascend_trace_recording::rows::OtherThreadRow;
use ascend_trace_recording::{TimeRange, Trace};

use super::tables::Range;
use crate::columns::declare::*;

table_row! {
/// One thread of a recorded process that made no recorded call, or of a child process that is not recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherThreadStats {
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the recorded process that has the thread or that its process comes from").text("process");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "the process id of the thread").text("pid");
    pub tid: u32 => column("tid", Id, |it: &Self| it.tid.into(), "number of the thread").text("tid");
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the thread").text("name");
    pub seen_ns: i64 => column("seen_ns", Duration, |it: &Self| it.seen_ns.into(), "from the first look at the thread to the last one after which it ran").text("seen");
    pub work_ns: i64 => column("work_ns", Duration, |it: &Self| it.work_ns.into(), "how long it used a processor in this time").text("on a processor");
    pub share: f64 => column("share", Share, |it: &Self| it.share.into(), "the same as a part of this time, 0 to 1").text("share %");
    pub runs: u64 => column("runs", Count, |it: &Self| it.runs.into(), "how often it got a processor in this time").text("runs");
}
}

impl From<OtherThreadRow> for OtherThreadStats {
    fn from(row: OtherThreadRow) -> Self {
        Self {
            share: row.share(),
            process: row.process,
            pid: row.pid,
            tid: row.tid,
            name: row.name,
            seen_ns: row.at_ns - row.first_ns,
            work_ns: i64::try_from(row.cpu_ns).unwrap_or(i64::MAX),
            runs: row.runs,
        }
    }
}

/// Those that were seen in the range, the busiest first. Their numbers are those of the whole recording.
pub(super) fn rows(trace: &Trace, range: Range) -> Vec<OtherThreadStats> {
    let others = trace.other_threads().into_iter().map(|it| it.last());
    let seen = |it: &OtherThreadRow| TimeRange::new(it.first_ns, it.at_ns);
    let others = others.filter(|it| range.is_some_and(|range| range.overlaps(seen(it))));
    let mut rows: Vec<OtherThreadStats> = others.map(OtherThreadStats::from).collect();
    rows.sort_by_key(|it| (Reverse(it.work_ns), it.pid, it.tid));
    rows
}
