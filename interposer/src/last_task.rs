//! The id of a thread's last task, and its stream's. CANN's operator libraries query them right after a
//! launch and tie their data about the operator to it; a record of the tool must not be taken for that
//! task.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Release};

use crate::thread::ThreadState;
use crate::thread::last_task_view::{LastTask, Task};
use crate::{real, until_exit};

/// The runtime's result for a thread without submissions.
const NOTHING: Task = Task {
    id: 0,
    stream: Some(0),
};

/// A function of the runtime; 1 when it has none.
struct RuntimeFunction(&'static str, AtomicUsize);

const NONE: usize = 1;

impl RuntimeFunction {
    const fn new(name: &'static str) -> Self {
        Self(name, AtomicUsize::new(0))
    }

    fn address(&self) -> Option<usize> {
        let address = match self.1.load(Acquire) {
            0 => {
                let found = real::by_name(self.0).unwrap_or(NONE);
                self.1.store(found, Release);
                found
            }
            known => known,
        };
        (address != NONE).then_some(address)
    }
}

static TELLS_BOTH: RuntimeFunction = RuntimeFunction::new("rtGetTaskIdAndStreamID");
static TELLS_ID: RuntimeFunction = RuntimeFunction::new("aclrtGetThreadLastTaskId");

fn runtime_says() -> Option<Task> {
    if let Some(address) = TELLS_BOTH.address() {
        type GetBoth = unsafe extern "C" fn(*mut u32, *mut u32) -> i32;
        // SAFETY: the address is that of the function with this name and the signature of `GetBoth`.
        let get = unsafe { core::mem::transmute::<usize, GetBoth>(address) };
        let (mut id, mut stream) = (0, 0);
        // SAFETY: both are live locals.
        let code = until_exit::call(|| unsafe { get(&mut id, &mut stream) })?;
        return (code == 0).then_some(Task {
            id,
            stream: Some(stream),
        });
    }
    type GetId = unsafe extern "C" fn(*mut u32) -> i32;
    // SAFETY: the address is that of the function with this name and the signature of `GetId`.
    let get = unsafe { core::mem::transmute::<usize, GetId>(TELLS_ID.address()?) };
    let mut id = 0;
    // SAFETY: `id` is a live local.
    (until_exit::call(|| unsafe { get(&mut id) })? == 0).then_some(Task { id, stream: None })
}

/// A record of the tool is about to be submitted. The thread's last task before it counts.
pub(crate) fn keep_if_new(state: &ThreadState) {
    match state.last_task() {
        LastTask::None => state.set_last_task(LastTask::Kept(NOTHING)),
        LastTask::Reported => keep(state),
        LastTask::Kept(_) | LastTask::Copying { .. } => {}
    }
}

/// The host is about to do a copy that the program requested from the device.
pub(crate) fn before_copy(state: &ThreadState) {
    if let LastTask::Kept(kept) = state.last_task()
        && let Some(reported) = runtime_says()
    {
        state.set_last_task(LastTask::Copying { kept, reported });
    }
}

/// The host has copied.
pub(crate) fn after_copy(state: &ThreadState) {
    let last = match state.last_task() {
        LastTask::Copying { kept, reported } if runtime_says() == Some(reported) => {
            LastTask::Kept(kept)
        }
        _ => LastTask::Reported,
    };
    state.set_last_task(last);
}

/// A task of the program was submitted, and a record of the tool follows.
pub(crate) fn keep(state: &ThreadState) {
    state.set_last_task(runtime_says().map_or(LastTask::Reported, LastTask::Kept));
}

/// A task was submitted, without a record of the tool after it.
pub(crate) fn release(state: &ThreadState) {
    state.set_last_task(LastTask::Reported);
}

/// Serves the program's query: it gets the runtime's result for its last task. The first argument is
/// the place for the id, the second one, if it exists, that for the stream's.
pub(crate) fn answer(state: &ThreadState, places: &[u64]) {
    let LastTask::Kept(task) = state.last_task() else {
        return;
    };
    let values = [Some(task.id), task.stream];
    for (place, value) in places.iter().zip(values) {
        if let (Some(value), 1..) = (value, *place) {
            // SAFETY: the call has succeeded and written a number of this width to this place of the program's.
            unsafe { core::ptr::write_unaligned(*place as usize as *mut u32, value) };
        }
    }
}
