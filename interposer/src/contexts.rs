//! Contexts come into being, and are made known to the threads that use them.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::kinds;

use crate::objects::{self, CONTEXT_SERIALS, ContextEntry};
use crate::spin::PlainLock;
use crate::thread::ThreadState;
use crate::thread::duties::watch_exit;
use crate::timing::api;
use crate::{emit, session};

/// A context comes into being, or is used for the first time.
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

/// The same, unless it is known already: another thread may get to it at the same time.
pub(crate) fn begin_if_new(context: &ContextEntry, device: u32) {
    static ONE_AT_A_TIME: PlainLock<()> = PlainLock::new(());
    let _turn = ONE_AT_A_TIME.lock_for_a_while();
    if context.serial.load(Relaxed) == 0 {
        begin_context(context, device);
    }
}

/// Makes the calling thread's context known, where it was made current without a call that we see: a
/// thread that lives on the default device, or a library that calls the layer below. To be asked inside of
/// a call of the program's that needs a context: else the question leaves its error.
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

/// Makes sure of the calling thread's context: something below AscendCL may have changed it. To be asked as
/// [`adopt_context`], where calls are few.
pub(crate) fn refresh_context(state: &ThreadState) {
    let told = api::get().and_then(api::Api::current_context);
    let known = state.context().map(|context| context.handle.load(Relaxed));
    // A default context may not be known by its handle yet.
    let is_same = known.is_some_and(|known| Some(known) == told || known == 0);
    if !is_same && told.is_some() {
        state.set_context(None);
    }
    adopt_context(state);
}

/// The context of a device that has none yet is its default one.
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
