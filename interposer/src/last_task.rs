//! The id of a thread's last task. CANN's operator libraries ask for it right after a launch and tie
//! what they know of the operator to it; a record of ours must not be taken for that task.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Release};

use crate::thread::State;
use crate::{lifecycle, real};

/// What is known of a thread's last task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// It has submitted nothing yet.
    None,
    /// The runtime tells it: nothing of ours came after it.
    Told,
    /// It has this id, and something of ours came after it.
    Kept(u32),
    /// The same while the host copies, with what the runtime told before that: the copy may be a task, or none.
    Copying { kept: u32, told: u32 },
}

/// What the runtime answers to a thread that has submitted nothing.
const NOTHING: u32 = 0;

/// The runtime's function; 1 when it has none.
static GET: AtomicUsize = AtomicUsize::new(0);
const NONE: usize = 1;

fn runtime_says() -> Option<u32> {
    let address = match GET.load(Acquire) {
        0 => {
            let found = real::by_name("aclrtGetThreadLastTaskId").unwrap_or(NONE);
            GET.store(found, Release);
            found
        }
        known => known,
    };
    if address == NONE || lifecycle::is_ending_elsewhere() {
        return None;
    }
    type GetId = unsafe extern "C" fn(*mut u32) -> i32;
    // SAFETY: the address is that of the function with this name, whose signature `GetId` repeats.
    let get = unsafe { core::mem::transmute::<usize, GetId>(address) };
    let mut id = 0;
    // SAFETY: `id` is a live local.
    (unsafe { get(&mut id) } == 0).then_some(id)
}

/// A record of ours is to be submitted. What the thread has submitted itself until now is what counts.
pub(crate) fn keep_if_new(state: &State) {
    match state.last_task() {
        Last::None => state.set_last_task(Last::Kept(NOTHING)),
        Last::Told => keep(state),
        Last::Kept(_) | Last::Copying { .. } => {}
    }
}

/// The host is about to copy what the program has asked the device to.
pub(crate) fn before_copy(state: &State) {
    if let Last::Kept(kept) = state.last_task()
        && let Some(told) = runtime_says()
    {
        state.set_last_task(Last::Copying { kept, told });
    }
}

/// The host has copied.
pub(crate) fn after_copy(state: &State) {
    let last = match state.last_task() {
        Last::Copying { kept, told } if runtime_says() == Some(told) => Last::Kept(kept),
        _ => Last::Told,
    };
    state.set_last_task(last);
}

/// A task of the program's was submitted, and a record of ours is to follow.
pub(crate) fn keep(state: &State) {
    state.set_last_task(runtime_says().map_or(Last::Told, Last::Kept));
}

/// A task was submitted, and nothing of ours after it.
pub(crate) fn release(state: &State) {
    state.set_last_task(Last::Told);
}

/// The program has asked: it gets the id of its own task.
pub(crate) fn answer(state: &State, place: Option<u64>) {
    let (Last::Kept(id), Some(place)) = (state.last_task(), place.filter(|place| *place != 0))
    else {
        return;
    };
    // SAFETY: the call has succeeded and written an id to this place of the program's.
    unsafe { core::ptr::write_unaligned(place as usize as *mut u32, id) };
}
