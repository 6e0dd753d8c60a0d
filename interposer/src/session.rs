//! Joining the collector's session, once per process.

pub(crate) mod armed;
pub(crate) mod places;

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64};

use ascend_trace_format::filter::{Filters, Subject};
use ascend_trace_format::session::{TickSource, Timing};
use ascend_trace_format::window::{Condition, Switch};
use ascend_trace_ring::{AttachError, Session, SessionSettings, sys};

use crate::errno::Errno;
use crate::functions::TABLE_HASH;
use crate::{clock, environment, page, process_facts, stacks, syscall_policy, window};

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
/// The part of a stream's time that events may take.
static BUDGET: AtomicU32 = AtomicU32::new(0);
/// One task in this number is timed; none with 0, while `ctl timing off` lasts.
static SAMPLING: AtomicU32 = AtomicU32::new(1);
/// Where calls of threads without a channel are counted.
static WITHOUT_CHANNEL: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::null_mut());
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
/// The bits of a mark that hold one of them. The others are those of [`RARE`].
const STATES: u32 = 3;

/// Facts about the whole process that keep calls off the fast path, as bits.
static RARE: AtomicU32 = AtomicU32::new(0);
/// The clock is not the processor's counter.
const OTHER_CLOCK: u32 = 4;
/// Stacks are recorded.
const STACKS: u32 = 8;
/// An engine is loaded: arguments may not be those of the declaration.
pub(crate) const ENGINE: u32 = 32;
/// Any call may begin or end the window of the recording.
const WATCHED: u32 = 64;
/// Causes of a pause: the program has paused, or the recorder; the recording begins with a pause; or this is outside its
/// window.
pub(crate) const BY_PROGRAM: u32 = 256;
pub(crate) const BY_RECORDER: u32 = 512;
pub(crate) const AT_BEGIN: u32 = 1024;
pub(crate) const OUTSIDE: u32 = 2048;
/// No recorder is attached to this process.
const ARMED: u32 = 8192;
/// Pauses that the recording shows.
const SHOWN_PAUSES: u32 = BY_PROGRAM | BY_RECORDER | AT_BEGIN | OUTSIDE;
const PAUSES: u32 = SHOWN_PAUSES | ARMED;
/// The recording has a pause that lasts.
pub(crate) const REPORTED: u32 = 4096;
/// Any call may be left out by the filters.
pub(crate) const FILTERED: u32 = 16384;
/// The number of the session in this process. A thread with another number has no channel in the present session.
const EPOCHS: u32 = 0xffff_0000;
const FIRST_EPOCH: u32 = 0x1_0000;

/// These facts begin to be true, or no longer are. Returns all that were true before.
pub(crate) fn note(facts: u32, is_so: bool) -> u32 {
    let before = match is_so {
        true => RARE.fetch_or(facts, SeqCst),
        false => RARE.fetch_and(!facts, SeqCst),
    };
    copy_rare();
    before
}

/// Whether a pause lasts.
#[inline]
pub(crate) fn is_paused() -> bool {
    RARE.load(Relaxed) & PAUSES != 0
}

/// Whether the recording shows a pause, or would have to.
#[inline]
pub(crate) fn shows_pause() -> bool {
    RARE.load(Relaxed) & SHOWN_PAUSES != 0
}

/// Whether no recorder is attached to a process that waits for one.
#[inline]
pub(crate) fn is_armed() -> bool {
    RARE.load(Relaxed) & ARMED != 0
}

/// The present session has this number from now on.
fn note_epoch(epoch: u32) {
    // The function never refuses.
    let _ = RARE.fetch_update(SeqCst, SeqCst, |rare| Some(rare & !EPOCHS | epoch));
    copy_rare();
}

/// Whether a pause lasts, or the recording has one, or filters.
#[inline]
pub(crate) fn may_leave_out() -> bool {
    RARE.load(Relaxed) & (PAUSES | REPORTED | FILTERED) != 0
}

/// Whether the recording has filters.
#[inline]
pub(crate) fn is_filtered() -> bool {
    RARE.load(Relaxed) & FILTERED != 0
}

/// Copies the facts into the mark of a process that records.
fn copy_rare() {
    let mark = mark();
    loop {
        let (known, wanted) = (mark.load(SeqCst), SETTLED | RARE.load(SeqCst));
        if known & STATES != SETTLED || known == wanted {
            return;
        }
        // Then it is read again: another thread may have changed the facts.
        let _ = mark.compare_exchange(known, wanted, SeqCst, SeqCst);
    }
}

/// The recorder's switch in the session, and its value that this process has taken over.
static SWITCH: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const UNMARKED).cast_mut());
static FOLLOWED: AtomicU32 = AtomicU32::new(0);

/// Whether the recorder has turned its switch, and this process has not followed yet, or another recorder wants it. Calls on the
/// fast path do not look: every other call does, and the harvester.
#[inline]
pub(crate) fn is_switched() -> bool {
    is_turned() || armed::is_requested()
}

/// Whether the recorder has turned its switch.
#[inline]
fn is_turned() -> bool {
    // SAFETY: a static, or a word of the session, which stays mapped.
    unsafe { &*SWITCH.load(Relaxed) }.load(Relaxed) != FOLLOWED.load(Relaxed)
}

/// Whether a process that recorders attach to has nothing to record any more: the recording is complete, or another recorder
/// wants the process, since its own has ended.
pub(crate) fn is_over() -> bool {
    // SAFETY: as above.
    let switch = Switch(unsafe { &*SWITCH.load(Acquire) }.load(SeqCst));
    armed::is_possible() && (switch.is_complete() || armed::is_requested())
}

/// Takes over the state of the switch. Returns the state before and this one.
pub(crate) fn follow_switch() -> (Switch, Switch) {
    // SAFETY: as above.
    let now = unsafe { &*SWITCH.load(Acquire) }.load(SeqCst);
    (Switch(FOLLOWED.swap(now, SeqCst)), Switch(now))
}

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

/// Whether calls are recorded, and this is no forked child that must become a separate process first.
#[inline]
pub(crate) fn is_settled() -> bool {
    mark().load(Acquire) & STATES == SETTLED
}

/// The mark of a process without any of the rare facts, in the session with this number.
pub(crate) const fn plain_mark(epoch: u32) -> u32 {
    SETTLED | epoch
}

/// Whether calls of a thread are recorded that has seen this [`plain_mark`]: also, it has a channel of the present session, if any
/// is free.
#[inline]
pub(crate) fn is_settled_for(plain: u32) -> bool {
    mark().load(Acquire) & (STATES | ARMED | EPOCHS) == plain
}

/// Whether the present session is the one in which a thread has seen this [`plain_mark`].
pub(crate) fn is_of_session(plain: u32) -> bool {
    places::hold().is_none_or(|held| plain_mark(held.epoch()) == plain)
}

/// The same as [`is_settled_for`], and no fact keeps calls off the fast path: the only check of most calls.
#[inline(always)]
pub(crate) fn is_plain(plain: u32) -> bool {
    // Without an order of other memory: a thread at rest has looked at the mark before.
    // SAFETY: as in `mark`.
    unsafe { &*MARK.load(Relaxed) }.load(Relaxed) == plain
}

/// Whether no recording needs the call that begins now, if it changes no objects: no recorder is attached, or the recording is
/// paused and such calls `may_be_left_out`.
#[inline(always)]
pub(crate) fn passes(may_be_left_out: bool) -> bool {
    let mark = mark().load(Relaxed);
    armed::passes(mark) || may_be_left_out && is_plainly_paused(mark)
}

/// Whether a process with this mark is in a pause that the recording shows, and nothing else keeps its calls off the fast path.
#[inline(always)]
fn is_plainly_paused(mark: u32) -> bool {
    const OTHERS: u32 = ENGINE | WATCHED | FILTERED | ARMED;
    mark & (STATES | REPORTED | OTHERS) == SETTLED | REPORTED
        && mark & SHOWN_PAUSES != 0
        && !is_switched()
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

/// The part of a stream's time that events may take where the manner of timing is chosen; 0 for no limit.
pub(crate) fn budget() -> u32 {
    BUDGET.load(Relaxed)
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
    if let Some(counter) = unsafe { WITHOUT_CHANNEL.load(SeqCst).as_ref() } {
        counter.fetch_add(EARLY.swap(0, SeqCst), Relaxed);
    }
}

/// The session, for a thread that looks at it.
pub(crate) fn get() -> Option<Session> {
    places::hold().map(|held| held.session())
}

/// The window of the recording has begun or ended in this process.
pub(crate) fn note_window(has_begun: bool) {
    note(WATCHED, window::watches_simple_calls());
    if let Some(session) = get().filter(|_| has_begun) {
        session.count_begun();
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

/// This library has been loaded into a running process: recorders may attach to it from now on, by a page in this folder.
pub(crate) fn begin_late(folder: &CStr) {
    let may_begin = |from| {
        STATE
            .compare_exchange(from, JOINING, Acquire, Relaxed)
            .is_ok()
    };
    if may_begin(OFF) || may_begin(NOT_TRIED) {
        let begun = armed::begin_late(folder);
        STATE.store(if begun.is_ok() { ON } else { OFF }, Release);
    }
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
    let path = path()?;
    // Its own request is for the session that the environment names.
    if armed::begin(path)? {
        return Ok(());
    }
    let path = path.ok_or(Hindrance::ForGood)?;
    let mut session = Session::attach(path).map_err(hindrance)?;
    let settings = session.settings().ok_or(Hindrance::ForGood)?;
    if settings.table_hash != TABLE_HASH {
        return Err(Hindrance::ForGood);
    }
    let mark = make_mark()?;
    take_over(settings, &session).ok_or(Hindrance::ForGood)?;
    let switch = core::ptr::from_ref(session.switch());
    SWITCH.store(switch.cast_mut(), Release);
    let without_channel = core::ptr::from_ref(session.without_channel());
    session.set_namespace(process_facts::pid_namespace());
    let place = places::prepare(&mut session, 0).ok_or(Hindrance::ForGood)?;
    count_in(session);
    places::publish(place);
    WITHOUT_CHANNEL.store(without_channel.cast_mut(), SeqCst);
    hand_over_early();
    MARK.store(mark, Release);
    copy_rare();
    Ok(())
}

struct Rules(UnsafeCell<Filters>);

// SAFETY: written by the thread that joins the session, before any other thread finds that calls are filtered.
unsafe impl Sync for Rules {}

/// The filters of the recording.
static RULES: Rules = Rules(UnsafeCell::new(Filters::NONE));
/// The subjects of the rules.
static SUBJECTS: AtomicU32 = AtomicU32::new(0);

/// Takes the filters of the session over. `None` if an earlier session had other filters: threads may still read those.
fn set_rules(rules: &Filters) -> Option<()> {
    if !rules.is_empty() && SUBJECTS.load(Relaxed) == 0 {
        // SAFETY: no other thread reads the rules before it finds their subjects.
        unsafe { *RULES.0.get() = *rules };
        SUBJECTS.store(rules.subjects(), Release);
    }
    note(FILTERED, !rules.is_empty());
    (rules.is_empty() || self::rules() == Some(rules)).then_some(())
}

/// The filters of the recording, if it has some.
#[inline]
pub(crate) fn rules() -> Option<&'static Filters> {
    let has_some = SUBJECTS.load(Acquire) != 0;
    // SAFETY: there are subjects, so the rules were written, and they are never written again.
    has_some.then(|| unsafe { &*RULES.0.get() })
}

/// Whether filters of the recording are about this subject.
pub(crate) fn filters_by(subject: Subject) -> bool {
    SUBJECTS.load(Relaxed) & subject.bit() != 0
}

/// Takes over how the recorder wants to record. `None` for what this build does not know.
fn take_over(settings: SessionSettings, session: &Session) -> Option<()> {
    // It may have changed since the recording began.
    let (timing, budget) = session.timing()?;
    clock::choose(settings.ticks);
    note(OTHER_CLOCK, settings.ticks != TickSource::Counter);
    note(STACKS, settings.stacks != 0);
    stacks::set(settings.stacks);
    // Where an earlier session had events, they are destroyed before their contexts.
    let is_timed = settings.timing != Timing::Off || armed::is_possible() && is_timed();
    TIMED.store(u8::from(is_timed), Relaxed);
    let log_alone = settings.timing == Timing::Hardware;
    LOG.store(settings.timing == Timing::Both || log_alone, Relaxed);
    LOG_ALONE.store(log_alone, Relaxed);
    set_timing(timing, budget);
    window::arm(settings.window);
    note(WATCHED, window::watches_simple_calls());
    note(AT_BEGIN, settings.window.is_paused);
    note(OUTSIDE, settings.window.start != Condition::None);
    set_rules(&settings.filters)?;
    clock::begin();
    Some(())
}

fn set_timing(timing: Timing, budget: u32) {
    CHAINED.store(timing == Timing::Chained, Relaxed);
    AUTO.store(matches!(timing, Timing::Auto | Timing::Hardware), Relaxed);
    BUDGET.store(budget, Relaxed);
    let step = match timing {
        Timing::Sample(step) => step.max(1),
        Timing::Off => 0,
        _ => 1,
    };
    SAMPLING.store(step, Relaxed);
}

/// Follows a change of the timing during the recording. Streams and records of the program were followed since the begin, so events may
/// be recorded again at any time. The recorder changes no recording that began without timing.
pub(crate) fn follow_timing() {
    if is_timed()
        && let Some(session) = get()
        && let Some((timing, budget)) = session.timing()
    {
        set_timing(timing, budget);
    }
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

/// This process is one of the session from now on.
fn count_in(session: Session) {
    syscall_policy::pid();
    PROCESS_KEY.store(clock::ticks_directly(), Relaxed);
    process_facts::note_command_line();
    session.count_process();
}

/// Room for the session file's path, used by the one who joins.
struct Path(UnsafeCell<[u8; 4096]>);

// SAFETY: only one thread at a time is `JOINING`.
unsafe impl Sync for Path {}

/// The session file's path; `None` if the environment has none. To be called by the one who joins.
fn path() -> Result<Option<&'static CStr>, Hindrance> {
    static PATH: Path = Path(UnsafeCell::new([0; 4096]));
    // SAFETY: no other thread runs this, and no reference from an earlier try remains.
    let room = unsafe { &mut *PATH.0.get() };
    match environment::copy(b"ASCEND_TRACE_SESSION", room) {
        Some(true) => CStr::from_bytes_until_nul(room)
            .map(|path| Some(path).filter(|path| !path.is_empty()))
            .map_err(|_| Hindrance::ForGood),
        Some(false) => Ok(None),
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
        let _ = sys::advise(mapped, page::size(), libc::MADV_WIPEONFORK);
        libc::pthread_atfork(None, None, Some(clear_mark));
    }
    let mark = mapped.cast::<AtomicU32>();
    // SAFETY: the page is mapped, writable and larger than the value.
    unsafe { (*mark).store(SETTLED | RARE.load(SeqCst), Release) };
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
    armed::begin_child();
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
    if armed::is_possible() {
        armed::list();
    }
    places::change(|mut session| {
        session.set_namespace(process_facts::pid_namespace());
        session
    });
    if let Some(session) = get() {
        count_in(session);
    }
    mark().store(SETTLED | RARE.load(SeqCst), Release);
    copy_rare();
}
