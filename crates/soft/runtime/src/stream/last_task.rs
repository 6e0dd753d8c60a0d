//! The last submission of a thread.

use std::cell::Cell;

thread_local! {
    static LAST_TASK: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// Notes the number of the task that this thread submitted last, and its stream's.
pub(crate) fn remember(task: (u32, u32)) {
    // During thread exit no query can follow.
    let _ = LAST_TASK.try_with(|last| last.set(task));
}

/// Numbers of this thread's last submitted task, and of its stream; 0 without one.
pub(crate) fn get() -> (u32, u32) {
    LAST_TASK.try_with(Cell::get).unwrap_or((0, 0))
}
