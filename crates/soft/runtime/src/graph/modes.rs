//! Calls that a capture forbids: the modes of captures and threads.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::state::Graph;
use crate::code::{
    Code, Outcome, RT_CAPTURE_BLOCK_ASYNC, RT_CAPTURE_MODE, RT_PARAM_INVALID, check, fault,
};
use crate::context::Context;
use crate::current;
use crate::ffi::Out;
use crate::stream::Stream;
use crate::sync::lock;

pub(super) const GLOBAL: u32 = 0;
pub(super) const THREAD_LOCAL: u32 = 1;
pub(super) const RELAXED: u32 = 2;

thread_local! {
    static EXCHANGE_MODE: Cell<u32> = const { Cell::new(GLOBAL) };
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// A number that no other thread of the process ever has.
pub(super) fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = THREAD.try_with(|thread| {
        if thread.get() == 0 {
            thread.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        thread.get()
    });
    number.unwrap_or(0)
}

/// Swaps the calling thread's mode with the caller's.
pub(crate) fn exchange(mode: &Out<u32>) -> Outcome {
    let wanted = mode.get()?;
    check(wanted <= RELAXED, "this capture mode does not exist")?;
    current::context()?;
    let old = EXCHANGE_MODE.try_with(|own| own.replace(wanted));
    mode.put(old.unwrap_or(GLOBAL))
}

/// May this thread block in the context now?
fn permits_unsafe(context: &Context) -> bool {
    if !context.has_captures() {
        return true;
    }
    let own = EXCHANGE_MODE.try_with(Cell::get).unwrap_or(GLOBAL);
    let captures: Vec<(u32, bool)> = context
        .graphs()
        .iter()
        .filter_map(|graph: &Arc<Graph>| {
            let state = lock(&graph.state);
            let capture = state.capture.as_ref()?;
            Some((capture.mode, capture.thread == this_thread()))
        })
        .collect();
    let mine = |mode| captures.contains(&(mode, true));
    match own {
        RELAXED => true,
        THREAD_LOCAL => !mine(GLOBAL) && !mine(THREAD_LOCAL),
        _ => !captures.iter().any(|&(mode, _)| mode == GLOBAL) && !mine(THREAD_LOCAL),
    }
}

fn permit(code: Code) -> Outcome {
    current::with(|context| {
        if permits_unsafe(context) {
            Ok(())
        } else {
            fault(code, "a capture forbids what would block the host")
        }
    })
}

/// Refuses a synchronous copy or fill that a capture forbids. The capture goes on.
pub(crate) fn permit_unsafe() -> Outcome {
    permit(RT_CAPTURE_MODE)
}

/// The same for an asynchronous copy that has to block.
pub(crate) fn permit_blocking_copy(stream: &Stream) -> Outcome {
    if stream.route.is_capturing() {
        return fault(
            RT_PARAM_INVALID,
            "pageable host memory cannot be copied in a capture",
        );
    }
    permit(RT_CAPTURE_BLOCK_ASYNC)
}
