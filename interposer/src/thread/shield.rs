//! Keeps a thread from being cancelled while the tracer works in it.
//!
//! A thread of asynchronous cancel type can be cancelled at any instruction. Then the tracer could leave a lock or half a
//! record behind. So the tracer disables the cancellation of such a thread during its own work, and only then: in the
//! function that the program calls, the thread can be cancelled as without the tracer.

use core::ffi::{CStr, c_int};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Release};

use super::ThreadState;
use crate::loader;

const DISABLED: c_int = 1;
const DEFERRED: c_int = 0;
const ASYNCHRONOUS: c_int = 1;

/// A function of the C library that sets a property and returns the one from before. It may end the thread.
type Setter = unsafe extern "C-unwind" fn(c_int, *mut c_int) -> c_int;

const STATE: &CStr = c"pthread_setcancelstate";
const TYPE: &CStr = c"pthread_setcanceltype";
static SET_STATE: AtomicUsize = AtomicUsize::new(0);
static SET_TYPE: AtomicUsize = AtomicUsize::new(0);

/// Finds the functions of the C library.
pub(crate) fn prepare() {
    SET_STATE.store(loader::next(STATE).unwrap_or(0), Release);
    SET_TYPE.store(loader::next(TYPE).unwrap_or(0), Release);
}

fn setter(address: &AtomicUsize) -> Option<Setter> {
    let address = address.load(Acquire);
    if address == 0 {
        return None;
    }
    // SAFETY: the address is that of a function with the signature `Setter`.
    Some(unsafe { core::mem::transmute::<usize, Setter>(address) })
}

/// The thread cannot be cancelled while this lives. Drop it last: a request to cancel the thread takes effect there.
pub(crate) struct Shield<'t> {
    state: &'t ThreadState,
    set_state: Setter,
    set_type: Setter,
    before: c_int,
}

impl ThreadState {
    /// A shield for a thread that could be cancelled at any instruction; `None` if it needs none, or has none.
    #[cold]
    #[inline(never)]
    pub(crate) fn shield(&self) -> Option<Shield<'_>> {
        if !self.is_fragile() {
            return None;
        }
        let (set_state, set_type) = (setter(&SET_STATE)?, setter(&SET_TYPE)?);
        let mut before = 0;
        // SAFETY: a valid state and a live local.
        if unsafe { set_state(DISABLED, &mut before) } != 0 {
            return None;
        }
        self.set_fragile(false);
        Some(Shield {
            state: self,
            set_state,
            set_type,
            before,
        })
    }
}

impl Drop for Shield<'_> {
    fn drop(&mut self) {
        self.state.set_fragile(true);
        if self.before == DISABLED {
            return;
        }
        let mut unused = 0;
        // In some releases of glibc a thread that is cancelled by `pthread_setcancelstate` has no result. So a request
        // takes effect by the type, as in the program's own call.
        // SAFETY: valid values and a live local. The thread may end in the last call: nothing of the tracer is held any
        // more, and its frames are skipped.
        unsafe {
            (self.set_type)(DEFERRED, &mut unused);
            (self.set_state)(self.before, &mut unused);
            (self.set_type)(ASYNCHRONOUS, &mut unused);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread;

    unsafe extern "C-unwind" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
        fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
    }

    fn kind() -> c_int {
        let (mut kind, mut unused) = (0, 0);
        // SAFETY: as in `shield`.
        unsafe {
            pthread_setcanceltype(DEFERRED, &mut kind);
            pthread_setcanceltype(kind, &mut unused);
        }
        kind
    }

    fn state() -> c_int {
        let (mut state, mut disabled) = (0, 0);
        // SAFETY: as in `shield`.
        unsafe {
            pthread_setcancelstate(DISABLED, &mut state);
            pthread_setcancelstate(state, &mut disabled);
        }
        state
    }

    #[test]
    fn a_fragile_thread_cannot_be_cancelled_behind_a_shield() {
        SET_STATE.store(pthread_setcancelstate as *const () as usize, Release);
        SET_TYPE.store(pthread_setcanceltype as *const () as usize, Release);
        thread::with(|thread| {
            assert!(thread.shield().is_none(), "other threads need no shield");
            thread.set_fragile(true);
            let before = state();
            let shield = thread.shield().unwrap();
            assert!(state() == DISABLED && !thread.is_fragile());
            assert!(thread.shield().is_none(), "one is enough");
            drop(shield);
            assert!(state() == before && thread.is_fragile());
            assert_eq!(kind(), ASYNCHRONOUS);
            thread.set_fragile(false);
            let mut unused = 0;
            // SAFETY: as in `shield`.
            unsafe { pthread_setcanceltype(DEFERRED, &mut unused) };
        });
    }
}
