//! Time of the last progress in the records: a watchdog need not read the file.
//!
//! The meaning is that of the report on hangs: a call began or returned, or a task ended. What only looks does not
//! count, nor does a wait that was given up.

use ascend_trace_format::api::{Fact, Function, TIMEOUTS, Untimed};
use ascend_trace_recording::rows::{CallRow, Ending, Row};

use crate::gauge::{FailedCall, Gauge};
use crate::tables;

/// A call that returns an error after this duration was blocked. Nanoseconds.
const BLOCKED_NS: i64 = 1_000_000_000;

/// The last time that something moved.
#[derive(Debug)]
pub(crate) struct ActivityTracker {
    /// By place in the hook table: calls of the function only look.
    looks: Vec<bool>,
    /// Of calls, on the host's clock. 0: nothing has been recorded.
    called_ns: i64,
    /// The same, or when the time of a task came.
    last_ns: i64,
}

impl Default for ActivityTracker {
    fn default() -> Self {
        let only_looks = |it: &Function| it.role.only_looks(it.facts.has(Fact::Asks));
        Self {
            looks: tables::FUNCTIONS.iter().map(only_looks).collect(),
            called_ns: 0,
            last_ns: 0,
        }
    }
}

impl ActivityTracker {
    /// Takes a row with a call that still has its place in the hook table.
    #[inline]
    pub(crate) fn take(&mut self, row: &Row, now_ns: i64) {
        match row {
            Row::Call(call) if self.moves(call) => self.call(call.end_ns),
            // Its end on the host's clock is not known here, and was before.
            Row::TaskTime(time) if time.untimed == Untimed::Timed.code() => {
                self.last_ns = self.last_ns.max(now_ns);
            }
            _ => {}
        }
    }

    /// A call that goes on has begun.
    pub(crate) fn began(&mut self, call: &CallRow) {
        if self.moves(call) {
            self.call(call.begin_ns);
        }
    }

    /// Whether a call is more than a look. Functions that the table does not have do something.
    fn moves(&self, call: &CallRow) -> bool {
        let looks = self.looks.get(usize::from(call.function));
        looks.is_none_or(|it| !it) && !TIMEOUTS.contains(&call.ret)
    }

    fn call(&mut self, at_ns: i64) {
        self.called_ns = self.called_ns.max(at_ns);
        self.last_ns = self.last_ns.max(at_ns);
    }

    pub(crate) fn publish(&self, gauge: &Gauge) {
        gauge.tell_moved(self.called_ns, self.last_ns);
    }
}

/// A failed call that was blocked before, for observers; its function and its code have these names.
pub(crate) fn failed_late(
    call: &CallRow,
    tid: u32,
    names: impl FnOnce() -> Option<(String, String)>,
) -> Option<FailedCall> {
    let is_late = call.end_ns.saturating_sub(call.begin_ns) >= BLOCKED_NS;
    if !is_late || call.ending != Ending::Returned {
        return None;
    }
    let (function, code) = names()?;
    Some(FailedCall {
        tid,
        function,
        code,
        begin_ns: call.begin_ns,
        end_ns: call.end_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, ret: i64, end_ns: i64) -> Row {
        let mut all = tables::FUNCTIONS.iter();
        let function = all.position(|it| it.name == name).unwrap() as u16;
        Row::Call(CallRow {
            function,
            ret,
            begin_ns: 1,
            end_ns,
            ..CallRow::default()
        })
    }

    #[test]
    fn what_only_looks_moves_nothing() {
        let mut moved = ActivityTracker::default();
        moved.take(&call("aclrtQueryEventStatus", 0, 30), 100);
        moved.take(
            &call("aclrtSynchronizeStreamWithTimeout", TIMEOUTS[0], 30),
            100,
        );
        assert_eq!(moved.last_ns, 0);
        moved.take(&call("aclrtSynchronizeStream", 0, 20), 100);
        moved.take(&call("aclrtMalloc", 0, 10), 100);
        assert_eq!((moved.called_ns, moved.last_ns), (20, 20));
    }

    #[test]
    fn a_call_that_fails_at_once_was_not_blocked() {
        let Row::Call(mut failed) = call("aclrtSynchronizeStream", 107_019, 10) else {
            return;
        };
        let names = || Some(("f".to_owned(), "c".to_owned()));
        assert_eq!(failed_late(&failed, 7, names), None);
        failed.end_ns = 2 * BLOCKED_NS;
        let failed_call = failed_late(&failed, 7, names).unwrap();
        assert_eq!((failed_call.tid, failed_call.end_ns), (7, 2 * BLOCKED_NS));
    }
}
