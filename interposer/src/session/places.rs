//! The sessions of this process. A normal recording has one. A process that recorders attach to has one after another.
//!
//! Threads write into a session without a lock, and a thread may rest for hours in the middle of that. So the memory of a
//! session stays mapped, with other contents once the process has left it. It is used again for a later session when no thread
//! has a channel there.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};

use ascend_trace_ring::Session;

/// Sessions that threads of the process may have channels of at the same time.
const MOST: usize = 1024;

/// Memory with a session.
pub(crate) struct SessionPlace {
    session: UnsafeCell<MaybeUninit<Session>>,
    /// The first session in this memory, which is as large as the memory. Later sessions may be smaller.
    room: UnsafeCell<MaybeUninit<Session>>,
    /// Both have been written.
    is_set: AtomicBool,
    /// It is the present one, or is being prepared.
    is_taken: AtomicBool,
    /// Threads that have a channel there, or are looking at it.
    users: AtomicU32,
    /// The number of the session in this process, as bits of a mark.
    epoch: AtomicU32,
}

// SAFETY: the session is written while the place is taken, not published, and without users.
unsafe impl Sync for SessionPlace {}

static PLACES: [SessionPlace; MOST] = [const {
    SessionPlace {
        session: UnsafeCell::new(MaybeUninit::uninit()),
        room: UnsafeCell::new(MaybeUninit::uninit()),
        is_set: AtomicBool::new(false),
        is_taken: AtomicBool::new(false),
        users: AtomicU32::new(0),
        epoch: AtomicU32::new(0),
    }
}; MOST];

/// Null, or one of [`PLACES`]. No lock: a jump out of a signal handler may leave the caller.
static PRESENT: AtomicPtr<SessionPlace> = AtomicPtr::new(core::ptr::null_mut());

impl SessionPlace {
    /// Whether a session fits in the memory of the place, for the thread that has taken it.
    fn has_room_for(&self, session: &Session) -> bool {
        // SAFETY: where it is set, it has been written, and this thread alone has the place.
        !self.is_set.load(Acquire)
            || unsafe { (*self.room.get()).assume_init() }.bytes() >= session.bytes()
    }
}

fn present() -> Option<&'static SessionPlace> {
    // SAFETY: null, or a static.
    unsafe { PRESENT.load(SeqCst).as_ref() }
}

/// The present session, which keeps its memory while this lives.
pub(crate) struct HeldSession(&'static SessionPlace);

/// The present session, if there is one.
pub(crate) fn hold() -> Option<HeldSession> {
    loop {
        let place = present()?;
        place.users.fetch_add(1, SeqCst);
        let held = HeldSession(place);
        // The process may have left it, and may be about to use the place again.
        if present().is_some_and(|now| core::ptr::eq(now, place)) {
            return Some(held);
        }
    }
}

impl HeldSession {
    pub(crate) fn session(&self) -> Session {
        // SAFETY: a published place has been written, and is not written again while it has users.
        unsafe { (*self.0.session.get()).assume_init() }
    }

    /// Its number in this process, as bits of a mark.
    pub(crate) fn epoch(&self) -> u32 {
        self.0.epoch.load(Relaxed)
    }

    /// The calling thread has a channel there from now on, until [`release`].
    pub(crate) fn keep(self) -> &'static SessionPlace {
        let place = self.0;
        core::mem::forget(self);
        place
    }
}

impl Drop for HeldSession {
    fn drop(&mut self) {
        release(self.0);
    }
}

/// Whether the session at this place is the present one.
pub(crate) fn is_present(place: &SessionPlace) -> bool {
    present().is_some_and(|now| core::ptr::eq(now, place))
}

/// A thread has no channel there any more.
pub(crate) fn release(place: &SessionPlace) {
    // A forked child has begun to count again.
    let _ = (place.users).fetch_update(AcqRel, Acquire, |users| users.checked_sub(1));
}

/// A place for the next session, in the memory of an earlier one if that is possible. The session may be moved there. `None` if
/// threads have channels of too many sessions.
pub(crate) fn prepare(session: &mut Session, epoch: u32) -> Option<&'static SessionPlace> {
    let wanted = *session;
    let is_free = |place: &&SessionPlace| {
        let claims = || {
            place
                .is_taken
                .compare_exchange(false, true, SeqCst, Relaxed)
        };
        if claims().is_err() {
            return false;
        }
        let is_free = place.users.load(SeqCst) == 0 && place.has_room_for(&wanted);
        if !is_free {
            place.is_taken.store(false, SeqCst);
        }
        is_free
    };
    let place = PLACES.iter().find(is_free)?;
    // SAFETY: the place has no users, and this thread alone has it. The new session has no users either.
    unsafe {
        match place.is_set.load(Acquire) {
            true => session.move_into((*place.room.get()).assume_init_ref()),
            false => drop((*place.room.get()).write(*session)),
        }
        (*place.session.get()).write(*session);
    }
    place.is_set.store(true, SeqCst);
    place.epoch.store(epoch, SeqCst);
    Some(place)
}

/// The session at this place, which [`prepare`] has returned, is the present one from now on.
pub(crate) fn publish(place: &'static SessionPlace) {
    PRESENT.store(core::ptr::from_ref(place).cast_mut(), SeqCst);
}

/// The process has left its session: the memory is given back.
pub(crate) fn retire() {
    let Some(place) = present() else { return };
    PRESENT.store(core::ptr::null_mut(), SeqCst);
    let has_users = place.users.load(SeqCst) != 0;
    // SAFETY: a place that was published has been written, and others only read it.
    let (session, room) = unsafe {
        (
            (*place.session.get()).assume_init(),
            (*place.room.get()).assume_init(),
        )
    };
    // Where the session could not be moved, its memory is separate.
    let separate = (!session.is_in(&room)).then_some(session);
    for memory in [Some(room), separate].into_iter().flatten() {
        // SAFETY: no thread takes it for the present one. Those that have a channel there write into zeros without a reader.
        unsafe { memory.retire(has_users) };
    }
    place.is_taken.store(false, SeqCst);
}

/// Changes the present session of a forked child, which no other thread uses.
pub(crate) fn change(change: impl FnOnce(Session) -> Session) {
    PLACES
        .iter()
        .for_each(|place| place.users.store(0, Relaxed));
    if let Some(place) = present() {
        // SAFETY: as the caller says.
        unsafe {
            let session = place.session.get();
            (*session).write(change((*session).assume_init()));
        }
    }
}
