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

/// The program's function, which may end the thread in the call that enables cancellation again.
type SetState = unsafe extern "C-unwind" fn(c_int, *mut c_int) -> c_int;

const NAME: &CStr = c"pthread_setcancelstate";
static SET_STATE: AtomicUsize = AtomicUsize::new(0);

/// Finds the function of the C library.
pub(crate) fn prepare() {
    SET_STATE.store(loader::next(NAME).unwrap_or(0), Release);
}

/// The thread cannot be cancelled while this lives. Drop it last: a request to cancel the thread takes effect there.
pub(crate) struct Shield<'t> {
    state: &'t ThreadState,
    set_state: SetState,
    before: c_int,
}

impl ThreadState {
    /// A shield for a thread that could be cancelled at any instruction; `None` if it needs none, or has none.
    #[cold]
    #[inline(never)]
    pub(crate) fn shield(&self) -> Option<Shield<'_>> {
        let address = SET_STATE.load(Acquire);
        if !self.is_fragile() || address == 0 {
            return None;
        }
        // SAFETY: the address is that of the function with this name, which has the signature `SetState`.
        let set_state = unsafe { core::mem::transmute::<usize, SetState>(address) };
        let mut before = 0;
        // SAFETY: a valid state and a live local.
        if unsafe { set_state(DISABLED, &mut before) } != 0 {
            return None;
        }
        self.set_fragile(false);
        Some(Shield {
            state: self,
            set_state,
            before,
        })
    }
}

impl Drop for Shield<'_> {
    fn drop(&mut self) {
        self.state.set_fragile(true);
        let mut disabled = 0;
        // SAFETY: the state is the one from before, and the other argument a live local. The thread may end here: nothing
        // of the tracer is held any more, and its frames are skipped.
        unsafe { (self.set_state)(self.before, &mut disabled) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread;

    unsafe extern "C-unwind" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
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
        thread::with(|thread| {
            assert!(thread.shield().is_none(), "other threads need no shield");
            thread.set_fragile(true);
            let before = state();
            let shield = thread.shield().unwrap();
            assert!(state() == DISABLED && !thread.is_fragile());
            assert!(thread.shield().is_none(), "one is enough");
            drop(shield);
            assert!(state() == before && thread.is_fragile());
            thread.set_fragile(false);
        });
    }
}
