//! Work of upper layers for lower ones, which must not know them. It is set before the first call is
//! recorded.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::ThreadState;
use crate::session;

/// Functions for events that lower layers notice.
pub(crate) struct Duties {
    /// This process turns out to be a forked child: its parent's data is forgotten.
    pub(crate) become_child: fn(&ThreadState),
    /// A recorder may have asked for this process.
    pub(crate) look_for_recorder: fn(&ThreadState),
    /// The recorder is done with this process.
    pub(crate) leave: fn(),
    /// The process ends, and the runtime is still there.
    pub(crate) exiting: extern "C" fn(),
}

static DUTIES: AtomicPtr<Duties> = AtomicPtr::new(core::ptr::null_mut());

/// From now on these are done.
pub(crate) fn take_on(duties: &'static Duties) {
    DUTIES.store(core::ptr::from_ref(duties).cast_mut(), Release);
}

fn duties() -> Option<&'static Duties> {
    // SAFETY: null, or what `take_on` was given.
    unsafe { DUTIES.load(Acquire).as_ref() }
}

/// Makes a forked child a separate process, unless that has been done. `false` while another thread
/// does it, and when nothing is recorded there: the parent's data must not be touched.
pub(crate) fn settle(state: &ThreadState) -> bool {
    if let Some(duties) = duties()
        && session::is_new_child()
    {
        (duties.become_child)(state);
    }
    session::is_settled()
}

/// Joins the session of a recorder that has asked for this process. Only for a process that waits for recorders.
#[cold]
pub(crate) fn look_for_recorder(state: &ThreadState) {
    if let Some(duties) = duties() {
        (duties.look_for_recorder)(state);
    }
}

/// The recorder is done with this process, which waits for another one.
#[cold]
pub(crate) fn leave() {
    if let Some(duties) = duties() {
        (duties.leave)();
    }
}

/// The runtime has been used: the tool's exit handler must run before the runtime's.
pub(crate) fn watch_exit() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if let Some(duties) = duties()
        && !WATCHED.swap(true, Relaxed)
    {
        // SAFETY: the function stays for as long as the process.
        unsafe { libc::atexit(duties.exiting) };
    }
}
