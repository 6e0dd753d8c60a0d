//! The interface between the interposer and an engine that patches functions.
//!
//! The engine is a separate library that the interposer loads when the environment names one. It knows
//! how to patch code and which code must not be patched; the interposer knows the functions, has the
//! wrappers and keeps the way to the original functions. Both sides are tables of plain words, so that
//! they can be built separately.

use crate::coded_enum;

/// The number of this agreement. Either side refuses another one.
pub const VERSION: u32 = 1;
/// The environment variable that names the engine's file.
pub const VARIABLE: &str = "ASCEND_TRACE_ENGINE";
/// The engine's one function, of the type [`EngineEntry`].
pub const ENTRY: &core::ffi::CStr = c"ascend_trace_engine";

/// Returns the engine's table, which stays valid; null if it cannot work here.
pub type EngineEntry = unsafe extern "C" fn() -> *const EngineTable;

/// One function to patch. The caller fills in the first four fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatchRequest {
    /// The caller's own number.
    pub id: usize,
    /// Where the function begins.
    pub address: usize,
    /// Its length in bytes, 0 when that is not known.
    pub size: usize,
    /// Where calls are to go; 0 when it is not to be patched, and `outcome` says why.
    pub replacement: usize,
    /// Result: calls of this address call the function as it was.
    pub original: usize,
    /// Result: where it was patched; another address than `address` for a forwarder.
    pub entry: usize,
    /// Result: an [`PatchOutcome`] code.
    pub outcome: u32,
}

/// Functions of the interposer for the engine.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostTable {
    pub version: u32,
    /// The interposer's own memory, first address and length: functions there are never patched.
    pub own: [usize; 2],
    /// Called when every `original` is known and before any patch takes effect: from then on calls
    /// may arrive at the replacements.
    pub publish: unsafe extern "C" fn(patches: *const PatchRequest, count: usize),
}

/// Functions of the engine for the interposer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EngineTable {
    pub version: u32,
    /// Patches functions where possible and fills in the outcomes. Never called by two threads at once.
    pub install:
        unsafe extern "C" fn(host: *const HostTable, patches: *mut PatchRequest, count: usize),
}

coded_enum! {
    /// Outcome of patching a function; the name is the reason of a refusal, and empty on success.
    PatchOutcome: u32 {
        /// The engine was not asked, or gave no outcome.
        Untried = 0 "not tried",
        Patched = 1 "",
        /// It only jumps on to another function, which was patched in its place.
        PatchedAtTarget = 2 "",
        /// The body of a function of the same name without `Impl`, which is the one that is recorded.
        Twin = 3 "the body of the function without Impl, whose calls are recorded",
        TooSmall = 4 "too small to be patched",
        SizeUnknown = 5 "its length is not known",
        LoopHead = 6 "it jumps back to where the patch would be",
        EndsEarly = 7 "it ends, or jumps away, where the patch would be",
        CallInside = 8 "it calls another function where the patch would be",
        CannotMove = 9 "an instruction where the patch would be works only in its place",
        Undecodable = 10 "it has instructions that are not known",
        SharedCode = 11 "another name has the same code",
        SharedTarget = 12 "another function jumps on to the same code",
        LeadsToHooked = 13 "it only jumps on to a function that is patched itself",
        LeadsToWrapper = 14 "it only jumps on to a function that has a wrapper",
        NotBound = 15 "it only jumps on to a function that is not bound yet",
        TargetUnknown = 16 "it only jumps on to code of unknown length",
        ThreadsRunning = 17 "other threads were running when it could have been patched",
        CodeIsLocked = 18 "the system does not let code be changed",
        Refused = 19 "the engine's library refused to patch it",
        NoStub = 20 "there is no wrapper for it",
        NotCode = 21 "it is not in code that can be read",
        /// The engine could not be loaded.
        NoEngine = 22 "the engine could not be loaded",
        /// It uses registers that the jump to the rest of its code takes.
        TakesScratch = 23 "it uses registers that the patch needs",
    }
}

impl PatchOutcome {
    /// Whether all calls of the function are intercepted, from any place.
    pub fn is_patched(self) -> bool {
        matches!(self, Self::Patched | Self::PatchedAtTarget)
    }

    /// Why the function was not patched, for the report; empty if it was.
    pub fn reason(self) -> &'static str {
        self.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back_to_their_outcomes_and_refusals_have_reasons() {
        for (code, outcome) in PatchOutcome::ALL.iter().copied().enumerate() {
            assert_eq!(outcome as usize, code);
            assert_eq!(PatchOutcome::from_code(code as u32), Some(outcome));
            assert_eq!(outcome.reason().is_empty(), outcome.is_patched());
        }
        assert_eq!(
            PatchOutcome::from_code(PatchOutcome::ALL.len() as u32),
            None
        );
    }
}
