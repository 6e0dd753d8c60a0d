//! The engine, once it is loaded.

use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};

use ascend_trace_format::engine::EngineTable;

static ENGINE: AtomicPtr<EngineTable> = AtomicPtr::new(core::ptr::null_mut());

/// Whether an engine was loaded: calls may come from inside the runtime's own files.
#[inline]
pub(crate) fn is_there() -> bool {
    !ENGINE.load(Acquire).is_null()
}

pub(super) fn get() -> Option<&'static EngineTable> {
    // SAFETY: null, or the engine's own static table; the library is never unloaded.
    unsafe { ENGINE.load(Acquire).as_ref() }
}

pub(super) fn set(engine: &'static EngineTable) {
    ENGINE.store(core::ptr::from_ref(engine).cast_mut(), Release);
}
