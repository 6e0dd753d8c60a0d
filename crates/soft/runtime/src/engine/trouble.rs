//! Failures while a task computes: on a card an exception of the core that ran it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The first trouble of the task that runs.
    static NOTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes a failure of the task that runs. The first note counts.
pub(crate) fn note(text: impl FnOnce() -> String) {
    NOTED.with_borrow_mut(|noted| {
        noted.get_or_insert_with(text);
    });
}

/// Performs a task's effect, and returns the failure. A fault in it must not end the engine: all
/// streams would wait for ever.
pub(super) fn perform(effect: &dyn Fn()) -> Option<String> {
    if catch_unwind(AssertUnwindSafe(effect)).is_err() {
        note(|| "softacl panicked; please report it".to_owned());
    }
    NOTED.take()
}
