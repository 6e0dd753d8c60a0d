//! Joining the collector's session, once per process.

use core::ffi::{CStr, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64};

use ascend_trace_format::session::Timing;
use ascend_trace_ring::Session;

use crate::clock;
use crate::errno::Errno;
use crate::hooks::TABLE_HASH;
use crate::page;
use crate::spin::SpinLock;
use crate::timing::counters;

const NOT_TRIED: u8 = 0;
const JOINING: u8 = 1;
const ON: u8 = 2;
const OFF: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(NOT_TRIED);
static TIMED: AtomicU8 = AtomicU8::new(0);
static CHAINED: AtomicBool = AtomicBool::new(false);
/// Each stream by how long its tasks are.
static AUTO: AtomicBool = AtomicBool::new(false);
/// Of so many tasks of a stream, one is timed.
static SAMPLING: AtomicU32 = AtomicU32::new(1);
static SESSION: SpinLock<Option<Session>> = SpinLock::new(None);
/// Ticks at which this process joined: tells it from another one that had the same pid.
static PROCESS_KEY: AtomicU64 = AtomicU64::new(0);
/// Points to 1 in the process that joined; the kernel clears the page in a forked child.
static MARK: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const UNMARKED).cast_mut());
/// What `MARK` points to until there is a session.
static UNMARKED: AtomicU32 = AtomicU32::new(0);

/// Whether calls are to be recorded, and this is no forked child that has to be told so first: all
/// that most calls need to ask.
#[inline]
pub(crate) fn is_settled() -> bool {
    mark().load(Acquire) != 0
}

/// Whether calls are to be recorded.
#[inline]
pub(crate) fn is_on() -> bool {
    match STATE.load(Acquire) {
        ON => true,
        NOT_TRIED => join(),
        _ => false,
    }
}

/// Whether calls are being recorded, without trying to join.
pub(crate) fn is_joined() -> bool {
    STATE.load(Acquire) == ON
}

/// Whether tasks are to be timed.
#[inline]
pub(crate) fn is_timed() -> bool {
    TIMED.load(Relaxed) != 0
}

/// Whether the end event of a task may be the start of the next.
pub(crate) fn is_chained() -> bool {
    CHAINED.load(Relaxed)
}

/// Whether it is to be found out for each stream how its tasks are timed.
pub(crate) fn is_auto() -> bool {
    AUTO.load(Relaxed)
}

/// Of so many tasks of a stream, one is to be timed.
pub(crate) fn sampling() -> u32 {
    SAMPLING.load(Relaxed)
}

/// The session, for a thread that claims its channel.
pub(crate) fn get() -> Option<Session> {
    *SESSION.lock_patiently()
}

pub(crate) fn process_key() -> u64 {
    PROCESS_KEY.load(Relaxed)
}

/// Joins the session that the environment names. Also called before our own constructor has run:
/// other libraries' constructors may use the runtime.
#[cold]
pub(crate) fn join() -> bool {
    if STATE
        .compare_exchange(NOT_TRIED, JOINING, Acquire, Relaxed)
        .is_err()
    {
        return STATE.load(Acquire) == ON;
    }
    let _errno = Errno::save();
    let joined = try_join().is_some();
    STATE.store(if joined { ON } else { OFF }, Release);
    joined
}

fn try_join() -> Option<()> {
    let session = Session::attach(path()?).ok()?;
    let settings = session.settings()?;
    if settings.table_hash != TABLE_HASH {
        return None;
    }
    clock::choose(settings.ticks);
    let mark = make_mark()?;
    TIMED.store(u8::from(settings.timing != Timing::Off), Relaxed);
    CHAINED.store(settings.timing == Timing::Chained, Relaxed);
    AUTO.store(settings.timing == Timing::Auto, Relaxed);
    if let Timing::Sample(step) = settings.timing {
        SAMPLING.store(step.max(1), Relaxed);
    }
    counters::begin();
    begin_process(session);
    *SESSION.lock_patiently() = Some(session);
    MARK.store(mark, Release);
    Some(())
}

fn begin_process(session: Session) {
    PROCESS_KEY.store(clock::ticks(), Relaxed);
    session.count_process();
}

/// The session file's path. `getenv` and not std's copy, whose lock a forked child may find held.
fn path() -> Option<&'static CStr> {
    // SAFETY: a lookup by a C string; the environment is not changed while the loader or the
    // first call runs, as far as a library can know.
    let value = unsafe { libc::getenv(c"ASCEND_TRACE_SESSION".as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: getenv answers a NUL-terminated string.
    Some(unsafe { CStr::from_ptr(value) })
}

/// A page that holds 1 here and 0 in every child that is forked without our knowing.
fn make_mark() -> Option<*mut AtomicU32> {
    // SAFETY: a fresh private mapping at an address of the kernel's choice.
    let mapped: *mut c_void = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            page::size(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if mapped == libc::MAP_FAILED {
        return None;
    }
    // The kernel clears it even where a child is made by a plain system call. A fork handler does the
    // same as well, since there are kernels that do not know the wish, and layers that only say so.
    // SAFETY: applies to the page mapped above; the handler only stores to an atomic.
    unsafe {
        libc::madvise(mapped, page::size(), libc::MADV_WIPEONFORK);
        libc::pthread_atfork(None, None, Some(clear_mark));
    }
    let mark = mapped.cast::<AtomicU32>();
    // SAFETY: the page is mapped, writable and larger than the value.
    unsafe { (*mark).store(1, Release) };
    Some(mark)
}

extern "C" fn clear_mark() {
    mark().store(0, Release);
}

#[inline]
fn mark() -> &'static AtomicU32 {
    // SAFETY: a static, or a page that stays mapped for as long as the process lives.
    unsafe { &*MARK.load(Acquire) }
}

/// Whether this process is a forked child that has not been told so yet. Only the first caller
/// gets to hear it, and must then clean up.
#[inline]
pub(crate) fn is_new_child() -> bool {
    let mark = mark();
    mark.load(Relaxed) == 0
        && !core::ptr::eq(mark, &raw const UNMARKED)
        && mark.swap(1, Acquire) == 0
}

/// Makes a forked child a process of its own.
#[cold]
pub(crate) fn become_child() {
    SESSION.break_after_fork();
    if let Some(session) = get() {
        begin_process(session);
    }
}
