//! Threads of the runtime's own.

use std::thread::Thread;

/// Starts a detached thread that takes none of the program's signals.
pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Option<Thread> {
    // SAFETY: the sets are plain data that sigfillset and pthread_sigmask fill in; the calling
    // thread gets its own mask back.
    let before = unsafe {
        let (mut all, mut before) = std::mem::zeroed::<(libc::sigset_t, libc::sigset_t)>();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    };
    let spawned = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body);
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    spawned.ok().map(|handle| handle.thread().clone())
}
