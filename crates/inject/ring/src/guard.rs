//! Keeps the recorder alive when another process cuts the session file.
//!
//! An access to a page past the end of a mapped file raises SIGBUS. A named file cannot be sealed against
//! that, and a file without a name cannot be joined from another pid namespace. So the recorder guards
//! its mapping: a signal handler restores the length of the file, and the access is repeated. Only the
//! recorder makes a [`Guard`]; the signals of traced programs are never touched.

use core::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicUsize};

use crate::sys;

/// Mappings that one process guards at a time. A recorder has one.
const PLACES: usize = 64;
/// The handler repairs a file this many times. After that it replaces the page: a process that cuts the
/// file in a loop must not hold the recorder.
const MOST_REPAIRS: u32 = 1000;
/// A place is free, or is being filled in.
const FREE: usize = 0;
const RESERVED: usize = 1;

/// A mapping that the handler looks after.
struct GuardedMapping {
    start: AtomicUsize,
    bytes: AtomicUsize,
    file: AtomicI32,
    /// The file was found shorter, or the memory of a page could not be had.
    is_torn: AtomicBool,
    repairs: AtomicU32,
}

static TABLE: [GuardedMapping; PLACES] = [const {
    GuardedMapping {
        start: AtomicUsize::new(FREE),
        bytes: AtomicUsize::new(0),
        file: AtomicI32::new(-1),
        is_torn: AtomicBool::new(false),
        repairs: AtomicU32::new(0),
    }
}; PLACES];

/// What SIGBUS did before; stored before the handler is installed, and never freed.
static FORMER: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());
static PAGE: AtomicUsize = AtomicUsize::new(4096);
static INSTALL: Once = Once::new();

/// Guards a mapping of a file until it is dropped.
pub(crate) struct Guard {
    /// `None` when there was no free place: then only the length is checked.
    place: Option<&'static GuardedMapping>,
    bytes: usize,
}

impl Guard {
    /// Guards `bytes` bytes from `start`, which are mapped from `file`.
    pub(crate) fn new(start: *mut u8, bytes: usize, file: &File) -> Self {
        INSTALL.call_once(install);
        let reserve = |place: &&GuardedMapping| {
            let start = &place.start;
            start
                .compare_exchange(FREE, RESERVED, AcqRel, Relaxed)
                .is_ok()
        };
        let place = TABLE.iter().find(reserve);
        if let Some(place) = place {
            place.bytes.store(bytes, Relaxed);
            place.file.store(file.as_raw_fd(), Relaxed);
            place.is_torn.store(false, Relaxed);
            place.repairs.store(0, Relaxed);
            place.start.store(start as usize, Release);
        }
        Self { place, bytes }
    }

    /// Restores the length of the file if it is shorter. Returns whether it was shorter at any time since
    /// the last check.
    pub(crate) fn check_length(&self, file: &File) -> io::Result<bool> {
        let is_cut = restore(file.as_raw_fd(), self.bytes);
        let was_torn = self
            .place
            .is_some_and(|place| place.is_torn.swap(false, AcqRel));
        Ok(is_cut? || was_torn)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            place.start.store(FREE, Release);
        }
    }
}

/// Makes a file as long as it was; `false` when it is. Only system calls: the handler uses it.
fn restore(file: RawFd, bytes: usize) -> io::Result<bool> {
    // SAFETY: an all-zero stat is a valid out-parameter.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: `stat` is a live local.
    if unsafe { libc::fstat(file, &mut stat) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if stat.st_size as usize >= bytes {
        return Ok(false);
    }
    // SAFETY: a plain system call; it only lengthens the file.
    match unsafe { libc::ftruncate(file, bytes as libc::off_t) } {
        0 => Ok(true),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Installs the handler. Where SIGBUS is ignored it stays ignored, since the program inherits that.
fn install() {
    // SAFETY: asks the system; it has no effect.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    if let Ok(page) = usize::try_from(page) {
        PAGE.store(page, Relaxed);
    }
    // SAFETY: an all-zero action is a valid out-parameter.
    let mut former: libc::sigaction = unsafe { core::mem::zeroed() };
    // SAFETY: only asks for the action; `former` is a live local.
    let error = unsafe { libc::sigaction(libc::SIGBUS, core::ptr::null(), &mut former) };
    if error != 0 || former.sa_sigaction == libc::SIG_IGN {
        return;
    }
    FORMER.store(Box::into_raw(Box::new(former)), Release);
    // SAFETY: as above.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = on_fault as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
    // SAFETY: the handler has the signature that `SA_SIGINFO` asks for and is safe in a signal handler. The
    // mask is empty.
    unsafe { libc::sigaction(libc::SIGBUS, &action, null_mut()) };
}

/// Handles SIGBUS: repairs a guarded mapping, and leaves any other fault to the former action.
extern "C" fn on_fault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system gives a valid pointer to a handler with `SA_SIGINFO`; this is errno of the thread.
    let (address, errno) = unsafe { ((*info).si_addr() as usize, *libc::__errno_location()) };
    let place = TABLE.iter().find(|place| {
        let start = place.start.load(Acquire);
        start > RESERVED && address.wrapping_sub(start) < place.bytes.load(Relaxed)
    });
    match place {
        Some(place) => repair(place, address),
        None => give_up(),
    }
    // SAFETY: errno of this thread.
    unsafe { *libc::__errno_location() = errno };
}

/// Makes the access at an address possible.
fn repair(place: &GuardedMapping, address: usize) {
    place.is_torn.store(true, Release);
    let (file, bytes) = (place.file.load(Relaxed), place.bytes.load(Relaxed));
    let is_first = place.repairs.fetch_add(1, Relaxed) < MOST_REPAIRS;
    if restore(file, bytes).unwrap_or(false) && is_first {
        return;
    }
    // The file is long enough, so the system has no memory for the page; or the file cannot be repaired.
    let page = PAGE.load(Relaxed);
    let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED) as usize;
    let arguments = [address & !(page - 1), page, access, flags, usize::MAX, 0];
    // SAFETY: replaces one page of a mapping that this crate made; the access that faulted then reads zeros
    // there. All of it are atomics and slots, of which any contents are expected.
    let answer = unsafe { sys::call(libc::SYS_mmap, arguments) };
    if (-4095..0).contains(&answer) {
        give_up();
    }
}

/// Puts the former action back: the access is repeated and has its usual effect.
fn give_up() {
    let former = FORMER.load(Acquire);
    // SAFETY: stored before the handler was installed, and never freed.
    unsafe { libc::sigaction(libc::SIGBUS, former, null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(bytes: usize) -> (File, *mut u8) {
        let file = tempfile::tempfile().unwrap();
        file.set_len(bytes as u64).unwrap();
        let start = sys::map(bytes, libc::MAP_SHARED, file.as_raw_fd()).unwrap();
        (file, start.cast())
    }

    #[test]
    fn an_access_past_the_end_of_a_cut_file_repairs_it() {
        let bytes = 1 << 18;
        let (file, start) = mapped(bytes);
        let guard = Guard::new(start, bytes, &file);
        assert!(!guard.check_length(&file).unwrap());
        file.set_len(0).unwrap();
        // SAFETY: mapped above; the guard repairs the file.
        unsafe {
            start.add(bytes - 1).write_volatile(7);
            assert_eq!(start.add(bytes - 1).read_volatile(), 7);
        }
        assert_eq!(file.metadata().unwrap().len(), bytes as u64);
        assert!(guard.check_length(&file).unwrap(), "it is reported");
        assert!(!guard.check_length(&file).unwrap(), "once");
        drop(guard);
        // SAFETY: nothing refers to it any more.
        unsafe { sys::unmap(start.cast(), bytes) };
    }

    #[test]
    fn a_file_that_cannot_be_repaired_gives_zeros() {
        let bytes = 1 << 18;
        let (file, start) = mapped(bytes);
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let read_only = File::open(path).unwrap();
        let guard = Guard::new(start, bytes, &read_only);
        file.set_len(0).unwrap();
        // SAFETY: mapped above; the guard maps other memory there.
        unsafe {
            assert_eq!(start.read_volatile(), 0);
            start.write_volatile(7);
            assert_eq!(start.read_volatile(), 7);
        }
        assert!(guard.check_length(&read_only).is_err());
        drop(guard);
        // SAFETY: nothing refers to it any more.
        unsafe { sys::unmap(start.cast(), bytes) };
    }

    #[test]
    fn a_fault_elsewhere_has_its_usual_effect() {
        let bytes = 1 << 16;
        let (file, start) = mapped(bytes);
        let guard = Guard::new(start, bytes, &file);
        let (other, unguarded) = mapped(bytes);
        other.set_len(0).unwrap();
        // SAFETY: the child only reads memory, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: mapped above; the access ends the child.
            unsafe {
                unguarded.read_volatile();
                libc::_exit(0);
            }
        }
        let mut status = 0;
        // SAFETY: waits for the child; `status` is a live local.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGBUS);
        drop(guard);
        // SAFETY: nothing refers to them any more.
        unsafe {
            sys::unmap(start.cast(), bytes);
            sys::unmap(unguarded.cast(), bytes);
        }
    }

    #[test]
    fn a_cut_that_no_access_has_met_is_repaired_by_the_check() {
        let bytes = 1 << 16;
        let (file, start) = mapped(bytes);
        let guard = Guard::new(start, bytes, &file);
        file.set_len(100).unwrap();
        assert!(guard.check_length(&file).unwrap());
        assert_eq!(file.metadata().unwrap().len(), bytes as u64);
        drop(guard);
        // SAFETY: nothing refers to it any more.
        unsafe { sys::unmap(start.cast(), bytes) };
    }
}
