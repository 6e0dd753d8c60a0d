//! Joining the collector's session, once per process.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64};

use ascend_trace_format::session::Timing;
use ascend_trace_ring::{AttachError, Session, sys};

use crate::errno::Errno;
use crate::functions::TABLE_HASH;
use crate::{clock, environment, identity, page, quiet, stacks};

const NOT_TRIED: u8 = 0;
const JOINING: u8 = 1;
const ON: u8 = 2;
const OFF: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(NOT_TRIED);
static TIMED: AtomicU8 = AtomicU8::new(0);
static CHAINED: AtomicBool = AtomicBool::new(false);
/// Each stream by how long its tasks are.
static AUTO: AtomicBool = AtomicBool::new(false);
/// The hardware log is read; and then tasks have no other times.
static LOG: AtomicBool = AtomicBool::new(false);
static LOG_ALONE: AtomicBool = AtomicBool::new(false);
/// One task in this number is timed.
static SAMPLING: AtomicU32 = AtomicU32::new(1);
/// Null, or one of [`PLACES`]. No lock: a jump out of a signal handler may leave the caller.
static SESSION: AtomicPtr<Session> = AtomicPtr::new(core::ptr::null_mut());
/// The session, and that of the parent process.
static PLACES: [Place; 2] = [const { Place(UnsafeCell::new(MaybeUninit::uninit())) }; 2];
/// Where calls of threads without a channel are counted.
static HOMELESS: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::null_mut());
/// Calls from before the session was joined, by this thread or while another one was joining it.
static EARLY: AtomicU64 = AtomicU64::new(0);
/// Ticks at which this process joined: distinguishes it from an earlier one with the same pid.
static PROCESS_KEY: AtomicU64 = AtomicU64::new(0);
/// Points to [`SETTLED`] in the process that joined; the kernel clears the page in a forked child.
static MARK: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const UNMARKED).cast_mut());
/// What `MARK` points to until there is a session.
static UNMARKED: AtomicU32 = AtomicU32::new(0);

/// Values of a mark: a forked child without its own session, one in which a thread is making it a
/// separate process, a process that records.
const NEW_CHILD: u32 = 0;
const BECOMING: u32 = 2;
const SETTLED: u32 = 1;

/// This library was initialised.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// It is being initialised.
pub(crate) fn note_begun() {
    HAS_BEGUN.store(true, Relaxed);
}

/// Whether this library was initialised. Libraries of the program were initialised before.
pub(crate) fn has_begun() -> bool {
    HAS_BEGUN.load(Relaxed)
}

/// Whether calls are recorded, and this is no forked child that must become a separate process first:
/// the only check of most calls.
#[inline]
pub(crate) fn is_settled() -> bool {
    mark().load(Acquire) == SETTLED
}

/// Whether calls are recorded.
#[inline]
pub(crate) fn is_on() -> bool {
    match STATE.load(Acquire) {
        ON => true,
        NOT_TRIED => join(),
        _ => false,
    }
}

/// Whether tasks are timed.
#[inline]
pub(crate) fn is_timed() -> bool {
    TIMED.load(Relaxed) != 0
}

/// Whether the end event of a task may be the start of the next.
pub(crate) fn is_chained() -> bool {
    CHAINED.load(Relaxed)
}

/// Whether the manner of timing is chosen for each stream.
pub(crate) fn is_auto() -> bool {
    AUTO.load(Relaxed)
}

/// Whether the hardware log is read.
#[inline]
pub(crate) fn wants_log() -> bool {
    LOG.load(Relaxed)
}

/// Whether no events are recorded while the hardware log is read.
#[inline]
pub(crate) fn wants_log_alone() -> bool {
    LOG_ALONE.load(Relaxed)
}

/// One task in this number is timed.
pub(crate) fn sampling() -> u32 {
    SAMPLING.load(Relaxed)
}

/// Counts a call of a thread without a channel, also before a session exists: then it is reported when
/// the session is joined. A signal handler may do so at any time.
pub(crate) fn count_homeless() {
    EARLY.fetch_add(1, SeqCst);
    hand_over_early();
}

/// Counts the calls from before the session there, once it is joined.
fn hand_over_early() {
    // A counting thread looks here after that, and a joining thread counts after this is set: one of
    // the two passes a call on.
    // SAFETY: a counter in the session, which stays mapped.
    if let Some(counter) = unsafe { HOMELESS.load(SeqCst).as_ref() } {
        counter.fetch_add(EARLY.swap(0, SeqCst), Relaxed);
    }
}

/// Room for a session, used by the thread that joins, or that makes a forked child a separate process.
struct Place(UnsafeCell<MaybeUninit<Session>>);

// SAFETY: one thread writes a place before it is published, and does not change it while it may be
// read.
unsafe impl Sync for Place {}

/// The session, for a thread that claims its channel.
pub(crate) fn get() -> Option<Session> {
    // SAFETY: its target was written before, and does not change in this process.
    unsafe { SESSION.load(Acquire).as_ref() }.copied()
}

/// Publishes the session. Called by the thread that joins, or that makes a forked child a separate
/// process: until then no other thread uses it.
fn publish(session: Session) {
    let told = SESSION.load(Relaxed);
    let mut places = PLACES.iter().map(|place| place.0.get().cast::<Session>());
    if let Some(place) = places.find(|place| *place != told) {
        // SAFETY: an unpublished place has no readers.
        unsafe { place.write(session) };
        SESSION.store(place, Release);
    }
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
    let state = match try_join() {
        Ok(()) => ON,
        Err(Hindrance::ForNow) => NOT_TRIED,
        Err(Hindrance::ForGood) => OFF,
    };
    STATE.store(state, Release);
    state == ON
}

/// Why there is no session.
enum Hindrance {
    /// It may be there at the next call.
    ForNow,
    /// No session exists to join.
    ForGood,
}

/// Number of tries after a temporary failure.
static TRIES: AtomicU32 = AtomicU32::new(16);

/// The C library's functions may not be used yet: a library that replaces them may be the caller.
fn try_join() -> Result<(), Hindrance> {
    let session = Session::attach(path()?).map_err(hindrance)?;
    let settings = session.settings().ok_or(Hindrance::ForGood)?;
    if settings.table_hash != TABLE_HASH {
        return Err(Hindrance::ForGood);
    }
    clock::choose(settings.ticks);
    let mark = make_mark()?;
    stacks::set(settings.stacks);
    TIMED.store(u8::from(settings.timing != Timing::Off), Relaxed);
    CHAINED.store(settings.timing == Timing::Chained, Relaxed);
    let log_alone = settings.timing == Timing::Hardware;
    AUTO.store(settings.timing == Timing::Auto || log_alone, Relaxed);
    LOG.store(settings.timing == Timing::Both || log_alone, Relaxed);
    LOG_ALONE.store(log_alone, Relaxed);
    if let Timing::Sample(step) = settings.timing {
        SAMPLING.store(step.max(1), Relaxed);
    }
    clock::begin();
    let homeless = core::ptr::from_ref(session.homeless());
    let session = begin_process(session);
    publish(session);
    HOMELESS.store(homeless.cast_mut(), SeqCst);
    hand_over_early();
    MARK.store(mark, Release);
    Ok(())
}

/// Whether a failure may be temporary. The cause may also last, so tries are limited.
fn hindrance(error: AttachError) -> Hindrance {
    let passes = match error {
        AttachError::System(number) => [
            libc::EAGAIN,
            libc::EINTR,
            libc::EMFILE,
            libc::ENFILE,
            libc::ENOMEM,
        ]
        .contains(&number),
        AttachError::Foreign => false,
    };
    match passes && TRIES.fetch_sub(1, Relaxed) > 1 {
        true => Hindrance::ForNow,
        false => Hindrance::ForGood,
    }
}

fn begin_process(mut session: Session) -> Session {
    quiet::pid();
    PROCESS_KEY.store(clock::ticks_directly(), Relaxed);
    session.set_namespace(identity::pid_namespace());
    identity::note_command_line();
    session.count_process();
    session
}

/// Room for the session file's path, used by the one who joins.
struct Path(UnsafeCell<[u8; 4096]>);

// SAFETY: only one thread at a time is `JOINING`.
unsafe impl Sync for Path {}

/// The session file's path. To be called by the one who joins.
fn path() -> Result<&'static CStr, Hindrance> {
    static PATH: Path = Path(UnsafeCell::new([0; 4096]));
    // SAFETY: no other thread runs this, and no reference from an earlier try remains.
    let room = unsafe { &mut *PATH.0.get() };
    match environment::copy(b"ASCEND_TRACE_SESSION", room) {
        Some(true) => CStr::from_bytes_until_nul(room).map_err(|_| Hindrance::ForGood),
        Some(false) => Err(Hindrance::ForGood),
        None => Err(Hindrance::ForNow),
    }
}

/// A page that holds 1 here and 0 in every child that is forked without our knowing.
fn make_mark() -> Result<*mut AtomicU32, Hindrance> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let mapped: *mut c_void = sys::map(page::size(), flags, -1)
        .map_err(|number| hindrance(AttachError::System(number)))?;
    // The kernel clears it even where a child is made by a plain system call. A fork handler does the
    // same as well, since there are kernels that do not know the wish, and layers that only say so.
    // SAFETY: applies to the page mapped above; the handler only stores to an atomic.
    unsafe {
        sys::advise(mapped, page::size(), libc::MADV_WIPEONFORK);
        libc::pthread_atfork(None, None, Some(clear_mark));
    }
    let mark = mapped.cast::<AtomicU32>();
    // SAFETY: the page is mapped, writable and larger than the value.
    unsafe { (*mark).store(SETTLED, Release) };
    Ok(mark)
}

extern "C" fn clear_mark() {
    mark().store(NEW_CHILD, Release);
}

#[inline]
fn mark() -> &'static AtomicU32 {
    // SAFETY: a static, or a page that stays mapped for as long as the process lives.
    unsafe { &*MARK.load(Acquire) }
}

/// Whether this process is a forked child without its own state yet. Only the first caller gets true,
/// and must then clean up and end that with [`become_child`] or [`turn_off`]: until then no other
/// thread records.
#[inline]
pub(crate) fn is_new_child() -> bool {
    let mark = mark();
    !core::ptr::eq(mark, &raw const UNMARKED)
        && mark
            .compare_exchange(NEW_CHILD, BECOMING, Acquire, Relaxed)
            .is_ok()
}

/// A forked child is about to continue in its only thread. No other thread joins a session that its
/// parent was joining, and the parent reports the calls it had counted.
pub(crate) fn begin_child() {
    let _ = STATE.compare_exchange(JOINING, NOT_TRIED, Relaxed, Relaxed);
    EARLY.store(0, Relaxed);
}

/// Nothing is recorded in this process from now on.
#[cold]
pub(crate) fn turn_off() {
    STATE.store(OFF, Release);
    MARK.store((&raw const UNMARKED).cast_mut(), Release);
}

/// Makes a forked child a separate process.
#[cold]
pub(crate) fn become_child() {
    if let Some(session) = get() {
        publish(begin_process(session));
    }
    mark().store(SETTLED, Release);
}
