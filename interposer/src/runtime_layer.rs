//! Calls of the layer below AscendCL (`rt*`), which AscendCL itself is made of, and which some libraries call by
//! themselves.
//!
//! The outermost call of the runtime represents the calls of the runtime inside it: those are not
//! recorded, and their submissions get no events. Only objects that are created or destroyed inside a
//! call with another purpose are followed, as when a device's end destroys a library's streams. Calls
//! of the runtime that the tracer causes are not recorded either.

use ascend_trace_format::api::Role;
use ascend_trace_format::record::STUB;

use crate::function_facts;
use crate::functions::FUNCTIONS;
use crate::thread::{self, ThreadState};

/// A call of the runtime's upper layer that is not recorded in the usual way: it is counted as lost, or
/// the recording is off. Calls below it are still part of it.
pub(crate) struct SuppressNested(usize);

impl SuppressNested {
    #[cold]
    #[inline(never)]
    pub(crate) fn begin(here: usize) -> Self {
        thread::with(|state| state.begin_suppressed(here));
        Self(here)
    }
}

impl Drop for SuppressNested {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        thread::with(|state| state.end_suppressed(self.0));
    }
}

/// Whether a call of the function with this id, with the stack at `here`, is part of a call of the
/// runtime that represents it.
#[inline]
pub(crate) fn is_reported(id: usize, here: usize) -> bool {
    thread::with(|state| {
        state.is_asking()
            || state.is_suppressed(here)
            || state.depth() != 0 && is_reported_inside(state, id, here)
    })
}

/// The same for a function that no table has.
#[inline]
pub(crate) fn reports_unknown(here: usize) -> bool {
    thread::with(|state| {
        let is_inside = |outer: Role| !outer.meaning().calls_back;
        state.is_asking()
            || state.is_suppressed(here)
            || state.depth() != 0 && outer(state, here).is_some_and(is_inside)
    })
}

#[inline(never)]
fn is_reported_inside(state: &ThreadState, id: usize, here: usize) -> bool {
    let Some(inner) = FUNCTIONS.get(id) else {
        return false;
    };
    outer(state, here).is_some_and(|outer| tells(outer, inner.role))
}

/// Role of the innermost enclosing call, if it belongs to the runtime.
fn outer(state: &ThreadState, here: usize) -> Option<Role> {
    let id = state.innermost(here).filter(|id| *id < usize::from(STUB))?;
    let function = FUNCTIONS.get(id)?;
    function_facts::of(id)?.is_runtime.then_some(function.role)
}

/// Whether a call of the runtime with one role represents calls with another role inside it.
const fn tells(outer: Role, inner: Role) -> bool {
    // A call inside one that calls back is the program's callback.
    !outer.meaning().calls_back && (!inner.meaning().changes || outer as u8 == inner as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_call_reports_the_calls_inside_it() {
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
    fn inputs_of_inner_calls_are_followed() {
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
