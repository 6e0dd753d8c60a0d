//! `aclInit`, `aclFinalize` and their reference count.

use crate::code::{INVALID_PARAM, Outcome, REPEAT_FINALIZE, REPEAT_INITIALIZE, fault};
use crate::ffi::complain;
use crate::sync::lock;
use crate::{observers, runtime};

#[derive(Default)]
pub(crate) struct InitState {
    references: u64,
}

impl InitState {
    pub(crate) const fn is_initialised(&self) -> bool {
        self.references > 0
    }
}

/// A repeated call counts, but is answered with the code that programs are told to ignore.
pub(crate) fn initialise() -> Outcome {
    let runtime = runtime::get();
    if let Some(error) = &runtime.options_error {
        complain(error);
        return fault(INVALID_PARAM, "SOFTACL holds an invalid option");
    }
    let mut state = lock(&runtime.init);
    state.references += 1;
    if state.references > 1 {
        return fault(REPEAT_INITIALIZE, "aclInit was called before");
    }
    drop(state);
    observers::initialised();
    Ok(())
}

/// Ends all initialisations at once. Devices stay: the program resets them, or the process ends.
pub(crate) fn finalise() -> Outcome {
    let runtime = runtime::get();
    let mut state = lock(&runtime.init);
    if !state.is_initialised() {
        return fault(REPEAT_FINALIZE, "there is no initialisation to end");
    }
    state.references = 0;
    drop(state);
    observers::finalised();
    runtime.flush_truth();
    Ok(())
}

/// Ends one initialisation and tells how many are left.
pub(crate) fn finalise_one() -> Outcome<u64> {
    let runtime = runtime::get();
    let mut state = lock(&runtime.init);
    if !state.is_initialised() {
        return fault(REPEAT_FINALIZE, "there is no initialisation to end");
    }
    state.references -= 1;
    let left = state.references;
    drop(state);
    if left == 0 {
        observers::finalised();
    }
    runtime.flush_truth();
    Ok(left)
}
