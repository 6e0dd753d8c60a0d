//! When something moved: a call began or returned, or a task ended. What only looks does not count: a program that
//! asks again and again whether something is done may hang.

use ascend_trace_format::api::Fact;
use ascend_trace_recording::{Call, Function, Trace};

use crate::Window;
use crate::dependencies::timed_out;

/// The times at which something moved, in bounded memory.
#[derive(Debug, Default)]
pub(super) struct ActivityTimes {
    /// Times after the parts until now.
    ahead: Vec<i64>,
    /// The last one, and the longest time between two. Nanoseconds.
    pub(super) last: Option<i64>,
    pub(super) longest_ns: i64,
}

impl ActivityTimes {
    pub(super) fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for id in window.calls() {
            let call = trace.call(id);
            if !only_looks(trace.function(call.function)) && !timed_out(call) {
                self.ahead.push(call.begin);
                self.ahead.extend(call.result().map(|_| call.end));
            }
            let time = call.task.and_then(|task| trace.task(task).time);
            self.ahead.extend(time.map(|time| time.end));
        }
        self.ahead.sort_unstable();
        let until = match window.part.is_last {
            true => self.ahead.len(),
            false => self.ahead.partition_point(|at| *at < window.part.until),
        };
        for at in self.ahead.drain(..until) {
            let pause = at.saturating_sub(self.last.unwrap_or(at));
            self.longest_ns = self.longest_ns.max(pause);
            self.last = Some(at);
        }
    }
}

/// Whether calls of a function change nothing.
pub(super) fn only_looks(function: &Function) -> bool {
    function.role.only_looks(function.is(Fact::Asks))
}

/// Whether a call asks whether something is done.
pub(super) fn polls(trace: &Trace, call: &Call) -> bool {
    trace.function(call.function).role.asks_for_an_end()
}
