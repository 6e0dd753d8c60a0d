//! The context of the calling thread.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Weak};

use crate::code::{Fault, Outcome, RT_CONTEXT_NULL};
use crate::context::{Context, device_contexts};
use crate::device::{self, Device};
use crate::observers::{self, device_state};
use crate::per_process::{self, PerProcess};
use crate::process;

/// The device of threads that set none; negative when there is no such device.
static DEFAULT_DEVICE: PerProcess<AtomicI32> = PerProcess::new(|| AtomicI32::new(-1));

/// A thread's context, and the process that it belongs to.
type ThreadContext = (u64, ManuallyDrop<Weak<Context>>);

thread_local! {
    /// Needs no destructor: at exit those of the main thread run before the program's exit handlers and
    /// destructors, which may still use the runtime. The value that an ended thread leaves does not
    /// keep the context alive.
    static CONTEXT: RefCell<Option<ThreadContext>> = const { RefCell::new(None) };
}

const _: () = assert!(!std::mem::needs_drop::<ThreadContext>());

/// Threads that set no device use this one from now on.
pub(crate) fn set_default_device(device: i32) {
    DEFAULT_DEVICE.get().store(device, Ordering::Release);
}

/// Runs `body` with the calling thread's context.
pub(crate) fn with<T>(body: impl FnOnce(&Arc<Context>) -> Outcome<T>) -> Outcome<T> {
    const NONE: Fault = Fault {
        code: RT_CONTEXT_NULL,
        why: "this thread has no current context",
    };
    if let Some(context) = remembered() {
        return body(&context);
    }
    let default = DEFAULT_DEVICE.get().load(Ordering::Acquire);
    if default < 0 {
        return Err(NONE);
    }
    set_device(default)?;
    body(&remembered().ok_or(NONE)?)
}

fn remembered() -> Option<Arc<Context>> {
    let current = CONTEXT.try_with(|current| match &*current.borrow() {
        Some((generation, context)) if *generation == per_process::generation() => {
            context.upgrade()
        }
        _ => None,
    });
    current.ok().flatten().filter(|context| context.is_alive())
}

pub(crate) fn context() -> Outcome<Arc<Context>> {
    with(|context| Ok(Arc::clone(context)))
}

/// The device that the calling thread uses.
pub(crate) fn device() -> Outcome<&'static Device> {
    Ok(context()?.device)
}

/// After a reset: a context that ended is no longer this thread's.
pub(crate) fn forget_dead() {
    if remembered().is_none() {
        set(None);
    }
}

pub(crate) fn set(context: Option<Arc<Context>>) {
    let next = context.map(|context| {
        let remembered = ManuallyDrop::new(Arc::downgrade(&context));
        (per_process::generation(), remembered)
    });
    if let Ok(Some((_, old))) = CONTEXT.try_with(|current| current.replace(next)) {
        drop(ManuallyDrop::into_inner(old));
    }
}

/// `aclrtSetDevice`: the device's default context becomes the thread's.
pub(crate) fn set_device(id: i32) -> Outcome {
    process::require_usable()?;
    let device = device::of(id)?;
    observers::device_changes(device.id, device_state::SET_PRE);
    let context = device_contexts::of(device).acquire()?;
    set(Some(context));
    observers::device_changes(device.id, device_state::SET_POST);
    Ok(())
}
