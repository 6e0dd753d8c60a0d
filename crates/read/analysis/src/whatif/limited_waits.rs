//! Loops of waits with a time limit: the program does something else now and then, and waits on. Together they are one wait.

use ascend_trace_format::api::{WaitTarget, is_answer};
use ascend_trace_recording::{Call, EventId, FunctionId, StreamId, Trace};

/// A longer pause between two calls is work of the host, and ends a loop. Nanoseconds.
const MOST_PAUSE_NS: i64 = 10_000_000;

/// The target of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    function: FunctionId,
    stream: Option<StreamId>,
    event: Option<EventId>,
}

/// By thread: the target and the end of its last call, if that reached its time limit.
#[derive(Debug, Default)]
pub(super) struct LimitedWaits {
    threads: Vec<Option<(Wait, i64)>>,
}

impl LimitedWaits {
    /// Takes in the next call of a thread. Returns whether it goes on with the wait of the call before it.
    pub(super) fn take(&mut self, trace: &Trace, call: &Call) -> bool {
        if call.depth > 0 {
            return false;
        }
        let thread = call.thread.index();
        let waits = trace.function(call.function).role.meaning().waits != WaitTarget::Nothing;
        let wait = waits.then(|| Wait {
            function: call.function,
            stream: call.stream,
            event: call.event.map(|it| it.event),
        });
        if self.threads.len() <= thread {
            if wait.is_none() {
                return false;
            }
            self.threads.resize(thread + 1, None);
        }
        let is_over = call.result().is_none_or(|code| !is_answer(code));
        let now = wait.filter(|_| !is_over).map(|it| (it, call.end));
        let before = std::mem::replace(&mut self.threads[thread], now);
        before
            .is_some_and(|(before, end)| Some(before) == wait && call.begin - end <= MOST_PAUSE_NS)
    }
}
