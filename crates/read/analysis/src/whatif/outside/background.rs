//! Threads that look at the runtime at regular times until the program ends, for example at the free memory.
//!
//! Such a thread submits nothing and waits for nothing. A program that takes less time has fewer of its calls, so its last call is not
//! the end of a changed program.

use ascend_trace_format::api::WaitTarget;

use super::pauses::Quartiles;
use crate::whatif::compact_recording::Facts;
use crate::whatif::records::Call;

/// Fewer pauses show nothing.
const LEAST: usize = 8;

/// The spread of the pauses, and the rest of the thread's time, are at most this part, as a divisor.
const REGULAR: i64 = 4;

/// Those of some threads.
pub(super) fn of<'t>(
    facts: &'t Facts,
    threads: &'t [usize],
) -> impl Iterator<Item = usize> + use<'t> {
    let threads = threads.iter().copied();
    threads.filter(|it| is_background(facts, *it))
}

fn is_background(facts: &Facts, thread: usize) -> bool {
    let calls = || facts.threads[thread].calls.iter();
    let only_looks = |call: Call| {
        let shape = facts.call_shapes.get(call.shape as usize);
        shape.is_some_and(|it| {
            let works = it.submits || it.copies || it.polls || it.bounds_life || it.tasks > 0;
            !works && facts.waits(it) == WaitTarget::Nothing
        })
    };
    if !calls().all(only_looks) {
        return false;
    }
    let mut pauses = Vec::new();
    let (mut first, mut reached) = (None, None);
    for call in calls() {
        first.get_or_insert(call.begin);
        if let Some(before) = reached.replace(call.end) {
            pauses.push(call.begin - before);
        }
    }
    let lasts = reached.unwrap_or(0) - first.unwrap_or(0);
    let usual = Quartiles::of(pauses.iter().copied());
    let paused: i64 = pauses.iter().sum();
    pauses.len() >= LEAST
        && usual.spread().saturating_mul(REGULAR) <= usual.second
        && (lasts - paused).saturating_mul(REGULAR) <= lasts
}
