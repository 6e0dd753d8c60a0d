//! Functions of the program that streams run on the host: when they ran, by the host's clock.
//!
//! Events around such a task are reached when its stream comes to it and when the stream goes on. The function runs in
//! between, in another thread. So the runtime gets a function of the tool in its place, which notes the time and calls the
//! program's with its argument. The runtime calls it once for each submission. A place that may be called again is never
//! given to another function. A second call is passed on as well, as long as the place has no other use.

use core::ffi::c_void;
use core::num::NonZeroU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use crate::clock::ticks;
use crate::thread::{self, ThreadState};

/// Functions that may be on their way. Further ones have the times of events alone.
const PLACES: usize = 1024;
/// Places that are looked at for a free one.
const MOST_LOOKS: usize = 8;

/// A place has a use in the upper bits, and these below it.
const IS_TAKEN: u64 = 1;
/// The function has returned.
const HAS_RUN: u64 = 2;
/// No time is wanted any more: the end of the function frees the place.
const IS_LEFT: u64 = 4;
const USE: u64 = 8;

struct HostedSlot {
    state: AtomicU64,
    function: AtomicUsize,
    data: AtomicUsize,
    begin: AtomicU64,
    end: AtomicU64,
}

static ALL: [HostedSlot; PLACES] = [const {
    HostedSlot {
        state: AtomicU64::new(0),
        function: AtomicUsize::new(0),
        data: AtomicUsize::new(0),
        begin: AtomicU64::new(0),
        end: AtomicU64::new(0),
    }
}; PLACES];

/// Where the search for a free place begins.
static NEXT: AtomicU32 = AtomicU32::new(0);

type Function = unsafe extern "C-unwind" fn(*mut c_void);

/// A function that was given to the runtime: a place and its use, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hosted(NonZeroU64);

impl Hosted {
    /// Takes a place for a function and its argument; `None` without a function or a free place.
    pub(crate) fn take(function: *mut c_void, data: *mut c_void) -> Option<Self> {
        if function.is_null() {
            return None;
        }
        for _ in 0..MOST_LOOKS {
            let index = NEXT.fetch_add(1, Relaxed) as usize % PLACES;
            let place = ALL.get(index)?;
            let free = place.state.load(Relaxed);
            let taken = (free & !(USE - 1)).wrapping_add(USE) | IS_TAKEN;
            let is_free = free & IS_TAKEN == 0;
            if is_free
                && place
                    .state
                    .compare_exchange(free, taken, AcqRel, Relaxed)
                    .is_ok()
            {
                place.function.store(function as usize, Relaxed);
                place.data.store(data as usize, Release);
                return Self::new(taken, index);
            }
        }
        None
    }

    fn new(state: u64, index: usize) -> Option<Self> {
        NonZeroU64::new((state / USE) * PLACES as u64 + index as u64).map(Self)
    }

    /// The function that the runtime is given, and its argument.
    pub(crate) fn given(self) -> (*mut c_void, *mut c_void) {
        (run as Function as *mut c_void, self.0.get() as *mut c_void)
    }

    /// Its place and the state of that, also after the function has returned, until the place has another use.
    fn last_place(self) -> Option<(&'static HostedSlot, u64)> {
        let place = ALL.get((self.0.get() % PLACES as u64) as usize)?;
        let state = place.state.load(Acquire);
        (state / USE == self.0.get() / PLACES as u64).then_some((place, state))
    }

    /// Its place, as long as that is taken for it.
    fn place(self) -> Option<&'static HostedSlot> {
        let (place, state) = self.last_place()?;
        (state & IS_TAKEN != 0).then_some(place)
    }

    /// The ticks of its begin and its end, if it has returned. No time is wanted from then on.
    pub(crate) fn finish(self) -> Option<(u64, u64)> {
        let place = self.place()?;
        let has_run = place.state.load(Acquire) & HAS_RUN != 0;
        let times = (place.begin.load(Relaxed), place.end.load(Relaxed));
        self.leave();
        has_run.then_some(times)
    }

    /// No time is wanted any more.
    pub(crate) fn leave(self) {
        let Some(place) = self.place() else { return };
        if place.state.fetch_or(IS_LEFT, AcqRel) & HAS_RUN != 0 {
            place.state.fetch_and(!(USE - 1), AcqRel);
        }
    }
}

/// Calls the program's function. An exception, or a jump, passes through: the place is then never used again.
unsafe extern "C-unwind" fn run(given: *mut c_void) {
    let hosted = NonZeroU64::new(given as u64).map(Hosted);
    let Some((place, state)) = hosted.and_then(Hosted::last_place) else {
        return;
    };
    let data = place.data.load(Acquire) as *mut c_void;
    let function = place.function.load(Relaxed);
    // SAFETY: the program gave this address to the runtime as that of a function with this signature, and it is not 0.
    let function = unsafe { core::mem::transmute::<usize, Function>(function) };
    // A thread of the program may run this, and may not be able to read the processor's counter.
    let is_blind = thread::with(ThreadState::is_blind);
    let now = || if is_blind { 0 } else { ticks() };
    let begin = now();
    // SAFETY: the argument is the one that the program gave with the function.
    unsafe { function(data) };
    if state & (IS_TAKEN | HAS_RUN) != IS_TAKEN {
        return;
    }
    place.end.store(now(), Relaxed);
    place.begin.store(begin, Relaxed);
    if place.state.fetch_or(HAS_RUN, AcqRel) & IS_LEFT != 0 {
        place.state.fetch_and(!(USE - 1), AcqRel);
    }
}

/// The times of functions that the parent has submitted are not wanted in a child.
pub(crate) fn forget() {
    for place in &ALL {
        place.state.fetch_and(!(USE - 1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static CALLS: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C-unwind" fn count(data: *mut c_void) {
        CALLS.fetch_add(data as u32, Relaxed);
    }

    fn take(data: usize) -> Hosted {
        let function = count as Function as *mut c_void;
        Hosted::take(function, data as *mut c_void).unwrap()
    }

    fn call(hosted: Hosted) {
        let (function, data) = hosted.given();
        assert!(!data.is_null());
        // SAFETY: the function is `run`, and the argument its own.
        unsafe { core::mem::transmute::<*mut c_void, Function>(function)(data) };
    }

    /// One test, since others would take places as well.
    #[test]
    fn functions_are_called_with_their_argument_and_places_are_used_again() {
        assert_eq!(
            Hosted::take(core::ptr::null_mut(), core::ptr::dangling_mut()),
            None
        );
        for round in 0..3 * PLACES {
            let before = CALLS.load(Relaxed);
            let hosted = take(7);
            if round % 2 == 0 {
                call(hosted);
                let (begin, end) = hosted.finish().unwrap();
                assert!(begin <= end);
            } else {
                assert_eq!(hosted.finish(), None, "it has not run");
                call(hosted);
            }
            assert_eq!(CALLS.load(Relaxed), before + 7);
            assert_eq!(hosted.finish(), None);
            call(hosted);
            assert_eq!(CALLS.load(Relaxed), before + 14, "it is passed on");
            assert_eq!(hosted.finish(), None, "but not timed");
        }
        // All places are taken.
        let taken: Vec<Hosted> = (0..PLACES).map(|_| take(1)).collect();
        let function = count as Function as *mut c_void;
        assert_eq!(Hosted::take(function, core::ptr::null_mut()), None);
        for hosted in taken {
            hosted.leave();
            call(hosted);
        }
        let left = take(3);
        forget();
        assert_eq!(left.finish(), None);
        let before = CALLS.load(Relaxed);
        call(left);
        assert_eq!(CALLS.load(Relaxed), before + 3);
    }
}
