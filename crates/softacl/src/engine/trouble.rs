//! What goes wrong while a task computes: on a card an exception of the core that ran it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::task::Operator;
use crate::code::RT_VECTOR_CORE;
use crate::stream::Stream;

thread_local! {
    /// The first trouble of the task that runs.
    static NOTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes an index that names no element. The task goes on without it, and its stream reports it then.
#[cfg(feature = "operators")]
pub(crate) fn outside(index: i64, length: usize) {
    note(|| format!("the index {index} is not within {length} elements"));
}

fn note(text: impl FnOnce() -> String) {
    NOTED.with_borrow_mut(|noted| {
        noted.get_or_insert_with(text);
    });
}

/// Performs the effect. A fault in it must not end the engine: all streams would wait for ever.
pub(super) fn perform(operator: &Operator, stream: &Stream) {
    if catch_unwind(AssertUnwindSafe(&operator.effect)).is_err() {
        note(|| "softacl panicked; please report it".to_owned());
    }
    if let Some(text) = NOTED.take() {
        stream.fail_by(RT_VECTOR_CORE, &format!(": {}: {text}", operator.name));
    }
}
