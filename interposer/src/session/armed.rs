//! A process that was started without a recording, and that recorders attach to one after another.
//!
//! Until then, and between two recordings, its calls pass: a wrapper looks at two words and calls the real function. Calls that
//! change objects of the runtime are followed, and leave no record.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64};

use ascend_trace_format::armed::{ARMED_VARIABLE, JoinOutcome, LONGEST_PATH};
use ascend_trace_ring::{ArmedPage, JoinRequest, Session, page_name, sys};

use super::places::{self, SessionPlace};
use super::{
    ARMED, AT_BEGIN, BY_RECORDER, EARLY, EPOCHS, FIRST_EPOCH, FOLLOWED, Hindrance, MARK, OUTSIDE,
    SETTLED, STACKS, STATES, SWITCH, UNMARKED, WITHOUT_CHANNEL, make_mark, note, note_epoch,
};
use crate::functions::TABLE_HASH;
use crate::{environment, process_facts, stacks, syscall_policy};

/// This process is recorded from its begin, or not at all.
const NEVER: u8 = 0;
/// It waits for a recorder.
const WAITING: u8 = 1;
/// A thread makes it join a session, or leave one.
const CHANGING: u8 = 2;
/// It is in a session.
const JOINED: u8 = 3;
/// The session is complete, and the thread that reads times has not ended.
const LEAVING: u8 = 4;

static STATE: AtomicU8 = AtomicU8::new(NEVER);

/// In place of a request until the process has made its first call: that call must not pass.
static UNLISTED: AtomicU32 = AtomicU32::new(1);
/// The page's word with the request; [`UNLISTED`]; or a word that is always 0.
static REQUEST: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const UNMARKED).cast_mut());
/// The page of this process, once it has made its first call.
static PAGE: AtomicPtr<ArmedPage> = AtomicPtr::new(core::ptr::null_mut());
/// The process that has tried to make it.
static LISTED: AtomicU32 = AtomicU32::new(0);
static IS_LISTING: AtomicBool = AtomicBool::new(false);
/// Its pid namespace.
static NAMESPACE: AtomicU64 = AtomicU64::new(0);
/// The number of the last session, as bits of a mark.
static LAST_EPOCH: AtomicU32 = AtomicU32::new(0);

/// Room for paths, used by one thread at a time.
struct PathRoom(UnsafeCell<[u8; LONGEST_PATH]>);

// SAFETY: the folder is written while this process is joining or listing, the session's path while it is changing.
unsafe impl Sync for PathRoom {}

static FOLDER: PathRoom = PathRoom(UnsafeCell::new([0; LONGEST_PATH]));
static SESSION_PATH: PathRoom = PathRoom(UnsafeCell::new([0; LONGEST_PATH]));
/// The session that this process asks for itself; empty for none.
static OWN_SESSION: PathRoom = PathRoom(UnsafeCell::new([0; LONGEST_PATH]));
/// The page with the request for the present session, as its pid namespace and its pid. A forked child has the session of its
/// parent, and the recorder has the lock of the parent's page.
static JOINED_BY: (AtomicU64, AtomicU32) = (AtomicU64::new(0), AtomicU32::new(0));

/// Takes over from the environment that recorders may attach to this process, and that it asks for this session itself. Returns
/// whether they may.
pub(super) fn begin(session: Option<&CStr>) -> Result<bool, Hindrance> {
    // SAFETY: called by the one thread that joins, before any other looks at the folder.
    let room = unsafe { &mut *FOLDER.0.get() };
    match environment::copy(ARMED_VARIABLE.as_bytes(), room) {
        Some(true) if room.starts_with(b"/") => {}
        Some(_) => return Ok(false),
        None => return Err(Hindrance::ForNow),
    }
    let session = session.map_or(&[][..], CStr::to_bytes_with_nul);
    put(&OWN_SESSION, session)?;
    wait_for_recorders()?;
    Ok(true)
}

/// Takes over that recorders may attach to this process, which has the library since now, and where its pages are.
pub(super) fn begin_late(folder: &CStr) -> Result<(), Hindrance> {
    put(&FOLDER, folder.to_bytes_with_nul())?;
    wait_for_recorders()
}

/// Copies a path. Called by the one thread that joins, before any other looks at the room.
fn put(room: &PathRoom, path: &[u8]) -> Result<(), Hindrance> {
    // SAFETY: as the caller sees to.
    let room = unsafe { &mut *room.0.get() };
    if path.len() > room.len() {
        return Err(Hindrance::ForGood);
    }
    for (to, from) in room.iter_mut().zip(path) {
        *to = *from;
    }
    Ok(())
}

fn wait_for_recorders() -> Result<(), Hindrance> {
    note(ARMED, true);
    let made = make_mark()?;
    REQUEST.store((&raw const UNLISTED).cast_mut(), Release);
    STATE.store(WAITING, SeqCst);
    MARK.store(made, Release);
    super::copy_rare();
    Ok(())
}

/// Whether recorders find this process.
pub(crate) fn is_listed() -> bool {
    LISTED.load(Acquire) == sys::process() && page().is_some()
}

/// Whether recorders may attach to this process.
#[inline]
pub(crate) fn is_possible() -> bool {
    STATE.load(Acquire) != NEVER
}

/// Whether no recorder is attached to a process with this mark, or wants to be.
#[inline(always)]
pub(super) fn passes(mark: u32) -> bool {
    // SAFETY: a static, or a word of the page, which stays mapped.
    mark & (STATES | ARMED) == SETTLED | ARMED
        && unsafe { &*REQUEST.load(Relaxed) }.load(Relaxed) == 0
}

/// Whether a recorder wants this process in its session.
#[inline]
pub(super) fn is_requested() -> bool {
    // SAFETY: as above.
    unsafe { &*REQUEST.load(Relaxed) }.load(Relaxed) != 0
}

/// Whether this process is in a session.
pub(crate) fn is_joined() -> bool {
    matches!(STATE.load(Acquire), NEVER | JOINED)
}

/// The process has made a call, and will be found by recorders from now on.
#[cold]
pub(crate) fn list() {
    let process = syscall_policy::pid();
    if LISTED.load(Acquire) == process || IS_LISTING.swap(true, AcqRel) {
        return;
    }
    if LISTED.load(Acquire) != process {
        make_page(process);
        LISTED.store(process, Release);
        ask_for_own_session();
    }
    IS_LISTING.store(false, Release);
}

/// Asks for the session that the environment names. A forked child that has the session of its parent does not.
fn ask_for_own_session() {
    // SAFETY: written before the first call, and only read since.
    let path = CStr::from_bytes_until_nul(unsafe { &*OWN_SESSION.0.get() });
    if STATE.load(Acquire) == WAITING
        && let Some(page) = page()
        && let Some(path) = path.ok().filter(|path| !path.is_empty())
    {
        page.request_own(path);
    }
}

/// A forked child has one thread, which may find its parent's in the middle of this.
pub(super) fn begin_child() {
    IS_LISTING.store(false, Relaxed);
    let state = STATE.load(Relaxed);
    if state == CHANGING || state == LEAVING {
        let is_joined = !super::is_armed();
        STATE.store(if is_joined { JOINED } else { WAITING }, Relaxed);
    }
}

fn make_page(process: u32) {
    let found = syscall_policy::is_allowed().then(|| {
        NAMESPACE.store(process_facts::pid_namespace(), Relaxed);
        with_names(process, |folder, name| {
            ArmedPage::enlist(folder, name, TABLE_HASH)
        })
    });
    let (page, request) = match found.flatten().flatten() {
        Some(page) => (
            core::ptr::from_ref(page).cast_mut(),
            core::ptr::from_ref(page.request()),
        ),
        // Nobody can attach to this process. A forked child must not follow its parent's page.
        None => (core::ptr::null_mut(), &raw const UNMARKED),
    };
    PAGE.store(page, Release);
    REQUEST.store(request.cast_mut(), Release);
}

fn with_names<R>(process: u32, action: impl FnOnce(&CStr, &CStr) -> R) -> Option<R> {
    with_names_in(NAMESPACE.load(Relaxed), process, action)
}

/// The same for a process of another pid namespace.
fn with_names_in<R>(
    namespace: u64,
    process: u32,
    action: impl FnOnce(&CStr, &CStr) -> R,
) -> Option<R> {
    // SAFETY: written before the first call, and only read since.
    let folder = CStr::from_bytes_until_nul(unsafe { &*FOLDER.0.get() }).ok()?;
    let name = page_name(namespace, process);
    Some(action(folder, CStr::from_bytes_until_nul(&name).ok()?))
}

fn page() -> Option<&'static ArmedPage> {
    // SAFETY: null, or the page, which stays mapped.
    unsafe { PAGE.load(Acquire).as_ref() }
}

/// The process ends in an orderly way: its page is removed.
pub(crate) fn unlist() {
    let process = sys::process();
    if LISTED.load(Acquire) == process && page().is_some() && syscall_policy::is_allowed() {
        with_names(process, ArmedPage::remove);
    }
}

/// A session that this process is about to join.
pub(crate) struct Joining {
    request: JoinRequest,
    session: Session,
    place: &'static SessionPlace,
    without_channel: &'static AtomicU64,
    switch: &'static AtomicU32,
}

/// Maps the session that a recorder wants this process in. `None` without a request, if another thread carries it out, and
/// if the session cannot be joined.
#[cold]
pub(crate) fn begin_joining() -> Option<Joining> {
    if !is_requested() {
        return None;
    }
    STATE
        .compare_exchange(WAITING, CHANGING, AcqRel, Relaxed)
        .ok()?;
    let joining = prepare();
    if joining.is_none() {
        STATE.store(WAITING, Release);
    }
    joining
}

fn prepare() -> Option<Joining> {
    // The page of a forked child's parent is not for the child.
    let page = page().filter(|_| LISTED.load(Acquire) == syscall_policy::pid())?;
    // SAFETY: this thread alone is changing the session.
    let path = unsafe { &mut *SESSION_PATH.0.get() };
    let request = page.take(path)?;
    if !syscall_policy::is_allowed() {
        page.reply(request, JoinOutcome::Unreachable);
        return None;
    }
    match map(CStr::from_bytes_until_nul(path).ok()?) {
        Ok((session, place)) => Some(Joining {
            request,
            session,
            place,
            without_channel: session.without_channel(),
            switch: session.switch(),
        }),
        Err(outcome) => {
            page.reply(request, outcome);
            None
        }
    }
}

fn map(path: &CStr) -> Result<(Session, &'static SessionPlace), JoinOutcome> {
    let mut session = Session::attach(path).map_err(|_| JoinOutcome::Unreachable)?;
    let settings = session.settings().ok_or(JoinOutcome::OtherVersion)?;
    if settings.table_hash != TABLE_HASH {
        session.discard();
        return Err(JoinOutcome::OtherVersion);
    }
    super::take_over(settings, &session).ok_or(JoinOutcome::OtherVersion)?;
    let epoch = LAST_EPOCH.load(Relaxed).wrapping_add(FIRST_EPOCH) & EPOCHS;
    session.set_namespace(NAMESPACE.load(Relaxed));
    let Some(place) = places::prepare(&mut session, epoch) else {
        session.discard();
        return Err(JoinOutcome::Crowded);
    };
    LAST_EPOCH.store(epoch, Relaxed);
    Ok((session, place))
}

/// The session is the present one from now on. Threads that change objects record that; other calls pass until
/// [`end_joining`].
pub(crate) fn publish(joining: &Joining) {
    note(BY_RECORDER, false);
    // The recording may be complete already: the next call follows.
    FOLLOWED.store(0, SeqCst);
    SWITCH.store(core::ptr::from_ref(joining.switch).cast_mut(), Release);
    // Calls that were followed are no losses.
    EARLY.store(0, SeqCst);
    WITHOUT_CHANNEL.store(
        core::ptr::from_ref(joining.without_channel).cast_mut(),
        SeqCst,
    );
    JOINED_BY.0.store(NAMESPACE.load(Relaxed), Relaxed);
    JOINED_BY.1.store(LISTED.load(Relaxed), Relaxed);
    // Channels that are claimed from now on have the process's new key.
    super::count_in(joining.session);
    places::publish(joining.place);
}

/// All calls are recorded from now on.
pub(crate) fn end_joining(joining: &Joining) {
    note_epoch(LAST_EPOCH.load(Relaxed));
    note(ARMED, false);
    STATE.store(JOINED, Release);
    if let Some(page) = page() {
        page.reply(joining.request, JoinOutcome::Joined);
    }
}

/// Whether the recorder of this process has ended without completing the recording. For a thread of the tool.
pub(crate) fn has_lost_recorder() -> bool {
    let (namespace, process) = (JOINED_BY.0.load(Relaxed), JOINED_BY.1.load(Relaxed));
    STATE.load(Acquire) == JOINED
        && with_names_in(namespace, process, ArmedPage::is_abandoned).unwrap_or(false)
}

/// The session is complete, or its recorder has ended and another recorder asks. Calls pass from now on. Returns whether this thread
/// has to see to the end.
#[cold]
pub(crate) fn begin_leaving() -> bool {
    let is_first = STATE
        .compare_exchange(JOINED, LEAVING, AcqRel, Relaxed)
        .is_ok();
    if is_first {
        note(ARMED, true);
    }
    is_first
}

/// Gives the session back, and waits for the next recorder.
#[cold]
pub(crate) fn end_leaving() {
    if STATE
        .compare_exchange(LEAVING, CHANGING, AcqRel, Relaxed)
        .is_err()
    {
        return;
    }
    WITHOUT_CHANNEL.store(core::ptr::null_mut(), SeqCst);
    SWITCH.store((&raw const UNMARKED).cast_mut(), SeqCst);
    FOLLOWED.store(0, SeqCst);
    places::retire();
    note(BY_RECORDER | AT_BEGIN | OUTSIDE | STACKS, false);
    stacks::set(0);
    STATE.store(WAITING, Release);
    if let Some(page) = page() {
        page.note_left();
    }
}
