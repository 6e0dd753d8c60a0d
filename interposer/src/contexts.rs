//! Finds new contexts, and the current context of each thread.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::kinds;

use crate::objects::{self, CONTEXT_SERIALS, ContextEntry};
use crate::spin::PlainLock;
use crate::thread::ThreadState;
use crate::thread::upper_layers::watch_exit;
use crate::timing::api;
use crate::{emit, session};

/// Registers a context at its creation or its first use.
pub(crate) fn begin_context(context: &ContextEntry, device: u32) {
    if session::is_timed() {
        // Not only with the first task: another thread may come to that while the process ends.
        watch_exit();
    }
    context.device.store(device, Relaxed);
    context.timing.begin();
    context.serial.store(CONTEXT_SERIALS.next(), Relaxed);
    emit::from_inside(&kinds::Context {
        serial: context.serial.load(Relaxed),
        device,
        handle: context.handle.load(Relaxed),
        is_default: context.is_default(),
    });
}

/// Registers a context if no other thread has done so.
pub(crate) fn begin_if_new(context: &ContextEntry, device: u32) {
    static ONE_AT_A_TIME: PlainLock<()> = PlainLock::new(());
    let _turn = ONE_AT_A_TIME.lock_for_a_while();
    if context.serial.load(Relaxed) == 0 {
        begin_context(context, device);
    }
}

/// Returns the calling thread's context, and queries the runtime if no recorded call has set it: the thread
/// uses the default device, or a library has called the layer below. Only for use inside a call of the
/// program that needs a context: elsewhere a failed query would leave an error in the runtime.
pub(crate) fn adopt_context(state: &ThreadState) -> Option<&'static ContextEntry> {
    if let Some(context) = state.context() {
        return Some(context);
    }
    let api = api::get()?;
    let handle = api.current_context()?;
    let known = objects::context(handle).filter(|context| context.serial.load(Relaxed) != 0);
    let context = match known {
        Some(context) => context,
        None => adopt_new(handle, api.device()?)?,
    };
    state.set_context(Some(context));
    Some(context)
}

/// Queries the calling thread's context again: a call below AscendCL may have changed it. The rule of
/// [`adopt_context`] holds. Only for rare calls.
pub(crate) fn refresh_context(state: &ThreadState) {
    let reported = api::get().and_then(api::Api::current_context);
    let known = state.context().map(|context| context.handle.load(Relaxed));
    // A default context may not be known by its handle yet.
    let is_same = known.is_some_and(|known| Some(known) == reported || known == 0);
    if !is_same && reported.is_some() {
        state.set_context(None);
    }
    adopt_context(state);
}

/// Registers an unknown context. The first context of a device is its default one.
fn adopt_new(handle: u64, device: u32) -> Option<&'static ContextEntry> {
    let default = objects::default_context(device)?;
    let exists = default.serial.load(Relaxed) != 0;
    let named = default.handle.load(Relaxed);
    if !exists || named == 0 || named == handle {
        begin_if_new(default, device);
        objects::name_default_context(default, handle);
        return Some(default);
    }
    let context = objects::new_context(handle)?;
    context.handle.store(handle, Relaxed);
    context.alias.store(0, Relaxed);
    begin_context(context, device);
    Some(context)
}
