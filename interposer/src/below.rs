//! Calls of the layer below AscendCL (`rt*`), which AscendCL itself is made of, and which some libraries call by
//! themselves.
//!
//! What a function of the runtime does by calling others of the runtime is told by the outermost call: the calls
//! inside it are not recorded, and nothing is put around what they submit. Only what comes into being or goes
//! inside a call that does something else is followed, as when a device's end takes a library's streams.
//! Nor is recorded what the runtime does when the tracer calls it.

use ascend_trace_format::api::Role;
use ascend_trace_format::record::STUB;

use crate::functions::FUNCTIONS;
use crate::thread::{self, ThreadState};
use crate::traits;

/// A call of the runtime's upper layer that is not recorded in the usual way: it is counted as lost, or the recording
/// is off. What it calls below is part of it all the same.
pub(crate) struct Unseen(usize);

impl Unseen {
    #[cold]
    #[inline(never)]
    pub(crate) fn begin(here: usize) -> Self {
        thread::with(|state| state.begin_unseen(here));
        Self(here)
    }
}

impl Drop for Unseen {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        thread::with(|state| state.end_unseen(self.0));
    }
}

/// Whether a call of the function with this id, with the stack at `here`, is part of a call of the runtime's
/// that tells all there is to tell.
#[inline]
pub(crate) fn is_told(id: usize, here: usize) -> bool {
    thread::with(|state| {
        state.is_asking()
            || state.is_in_unseen(here)
            || state.depth() != 0 && is_told_inside(state, id, here)
    })
}

/// The same for a function that no table has.
#[inline]
pub(crate) fn is_unknown_told(here: usize) -> bool {
    thread::with(|state| {
        let is_inside = |outer: Role| !outer.meaning().calls_back;
        state.is_asking()
            || state.is_in_unseen(here)
            || state.depth() != 0 && outer(state, here).is_some_and(is_inside)
    })
}

#[inline(never)]
fn is_told_inside(state: &ThreadState, id: usize, here: usize) -> bool {
    let Some(inner) = FUNCTIONS.get(id) else {
        return false;
    };
    outer(state, here).is_some_and(|outer| tells(outer, inner.role))
}

/// What the innermost call around does, if it is one of the runtime's.
fn outer(state: &ThreadState, here: usize) -> Option<Role> {
    let id = state.innermost(here).filter(|id| *id < usize::from(STUB))?;
    let function = FUNCTIONS.get(id)?;
    traits::of(id)?.is_runtime.then_some(function.role)
}

/// Whether a call of the runtime's with one role tells what one with another role does inside it.
const fn tells(outer: Role, inner: Role) -> bool {
    // What comes inside one that calls back is the program's own callback.
    !outer.meaning().calls_back && (!inner.meaning().changes || outer as u8 == inner as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_call_tells_what_is_done_inside_it() {
        for role in Role::ALL
            .iter()
            .filter(|role| **role != Role::ProcessReport)
        {
            assert!(tells(*role, *role), "{}", role.name());
            assert!(tells(*role, Role::Task), "{}", role.name());
            assert!(tells(*role, Role::SyncStream), "{}", role.name());
        }
    }

    #[test]
    fn what_goes_inside_of_another_call_is_followed() {
        assert!(!tells(Role::ResetDevice, Role::DestroyStream));
        assert!(!tells(Role::ResetDevice, Role::DestroyContext));
        assert!(!tells(Role::Plain, Role::SetDevice));
        assert!(!tells(Role::Task, Role::CreateStream));
    }

    #[test]
    fn callbacks_speak_for_themselves() {
        for role in Role::ALL {
            assert!(!tells(Role::ProcessReport, *role), "{}", role.name());
        }
    }
}
