//! Entries of the log: those of one call, those of one task, and when that ran.

use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::kinds;
use ascend_trace_format::time::{DeviceNs, HostNs};
use ascend_trace_recording::rows::TaskTimeRow;

/// An entry of the log, and a host time by which it had ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogEntry {
    pub(super) activity: kinds::Activity,
    pub(super) seen: HostNs,
}

impl LogEntry {
    /// When it began, on the log's clock.
    pub(super) const fn begin(&self) -> DeviceNs {
        DeviceNs::new(self.activity.begin_ns)
    }

    /// When it ended, on the log's clock.
    pub(super) const fn end(&self) -> DeviceNs {
        DeviceNs::new(self.activity.end_ns)
    }

    /// Whether the log says when it ran.
    pub(super) const fn is_timed(&self) -> bool {
        self.activity.begin_ns != 0
    }
}

/// Entries by the calls that have submitted them.
pub(super) fn groups(entries: &[LogEntry]) -> impl Iterator<Item = &[LogEntry]> {
    let is_one = |one: &LogEntry, other: &LogEntry| {
        one.activity.correlation != 0 && one.activity.correlation == other.activity.correlation
    };
    entries.chunk_by(is_one)
}

/// Splits entries into `count` subjects, if that is possible. A replayed graph of one node has entries
/// of one call only: each replay has the same number of them, with the same names.
pub(super) fn split(
    entries: &[LogEntry],
    count: usize,
    is_one_node: bool,
) -> Option<Vec<&[LogEntry]>> {
    let groups: Vec<&[LogEntry]> = groups(entries).collect();
    if groups.len() == count {
        return Some(groups);
    }
    let each = entries.len().checked_div(count).filter(|each| *each > 0)?;
    let names = |entry: &LogEntry| (entry.activity.name, entry.activity.kind.code());
    let is_even = is_one_node && groups.len() == 1 && entries.len() == each * count;
    let mut repeated = entries.iter().zip(entries.iter().skip(each));
    let is_repeated = is_even && repeated.all(|(one, next)| names(one) == names(next));
    is_repeated.then(|| entries.chunks_exact(each).collect())
}

/// The time of a task in the log, and a host time by which it had ended; `None` when the log does not
/// contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoggedSpan {
    pub(super) begin: DeviceNs,
    pub(super) end: DeviceNs,
    pub(super) seen: HostNs,
}

impl LoggedSpan {
    /// From the first begin to the last end.
    pub(super) fn of(entries: &[LogEntry]) -> Option<Self> {
        let spans = entries.iter().map(|entry| Self {
            begin: entry.begin(),
            end: entry.end(),
            seen: entry.seen,
        });
        let is_whole = entries.iter().all(LogEntry::is_timed);
        spans.reduce(Self::and).filter(|_| is_whole)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            begin: self.begin.min(other.begin),
            end: self.end.max(other.end),
            seen: self.seen.max(other.seen),
        }
    }
}

/// The log's time of a task, as a row.
pub(super) fn time(
    process: u32,
    (stream, sequence): (u32, u32),
    span: Option<LoggedSpan>,
) -> TaskTimeRow {
    let untimed = span.map_or(Untimed::NotLogged, |_| Untimed::Timed);
    TaskTimeRow {
        process,
        stream,
        sequence,
        untimed: untimed.code(),
        begin_device_ns: span.map_or(0, |span| span.begin.ns()),
        end_device_ns: span.map_or(0, |span| span.end.ns()),
        seen_ns: span.map_or(0, |span| span.seen.ns()),
        // It was not begun before the call that submitted it was.
        arming_ns: u32::from(span.is_some()),
        submitting_ns: 0,
        record_ns: 0,
        record_open_ns: 0,
        run_tasks: 0,
    }
}
