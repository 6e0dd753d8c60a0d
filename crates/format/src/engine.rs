//! What the interposer and an engine that patches functions say to each other.
//!
//! The engine is a library of its own that the interposer loads when the environment names one. It
//! knows how to patch code and what must not be patched; the interposer knows the functions, has
//! the wrappers and keeps the way to what was patched. Both sides are tables of plain words, so
//! that neither has to be built with the other.

/// The number of this agreement. Either side refuses another one.
pub const VERSION: u32 = 1;
/// The environment variable that names the engine's file.
pub const VARIABLE: &str = "ASCEND_TRACE_ENGINE";
/// The engine's one function, of the type [`Entry`].
pub const ENTRY: &core::ffi::CStr = c"ascend_trace_engine";

/// Answers the engine's table, which stays valid; null when it cannot work here.
pub type Entry = unsafe extern "C" fn() -> *const Engine;

/// One function that is to be patched. The caller fills in the first four.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The caller's own number.
    pub id: usize,
    /// Where the function begins.
    pub address: usize,
    /// Its length in bytes, 0 when that is not known.
    pub size: usize,
    /// Where calls are to go; 0 when it is not to be patched, and `outcome` says why.
    pub replacement: usize,
    /// Answer: by calling this, the function is called as it was.
    pub original: usize,
    /// Answer: where it was patched; another address than `address` for a forwarder.
    pub entry: usize,
    /// Answer: an [`Outcome`] code.
    pub outcome: u32,
}

/// What the interposer offers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub version: u32,
    /// The interposer's own memory, first address and length: functions there are never patched.
    pub own: [usize; 2],
    /// Called when every `original` is known and before any patch takes effect: from then on calls
    /// may arrive at the replacements.
    pub publish: unsafe extern "C" fn(patches: *const Patch, count: usize),
}

/// What the engine offers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    pub version: u32,
    /// Patches what can be patched and fills in the answers. Never called by two threads at once.
    pub install: unsafe extern "C" fn(host: *const Host, patches: *mut Patch, count: usize),
}

/// What came of patching a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Outcome {
    /// The engine was not asked, or did not answer.
    Untried = 0,
    Patched = 1,
    /// It only jumps on to another function, which was patched in its place.
    PatchedAtTarget = 2,
    /// The body of a function of the same name without `Impl`, which is the one that is recorded.
    Twin = 3,
    TooSmall = 4,
    SizeUnknown = 5,
    LoopHead = 6,
    EndsEarly = 7,
    CallInside = 8,
    CannotMove = 9,
    Undecodable = 10,
    SharedCode = 11,
    SharedTarget = 12,
    LeadsToHooked = 13,
    LeadsToWrapper = 14,
    NotBound = 15,
    TargetUnknown = 16,
    ThreadsRunning = 17,
    CodeIsLocked = 18,
    Refused = 19,
    NoStub = 20,
    NotCode = 21,
    /// The engine could not be loaded.
    NoEngine = 22,
    /// It uses registers that the jump to the rest of its code takes.
    TakesScratch = 23,
}

impl Outcome {
    /// All, in the order of their codes.
    pub const ALL: [Self; 24] = [
        Self::Untried,
        Self::Patched,
        Self::PatchedAtTarget,
        Self::Twin,
        Self::TooSmall,
        Self::SizeUnknown,
        Self::LoopHead,
        Self::EndsEarly,
        Self::CallInside,
        Self::CannotMove,
        Self::Undecodable,
        Self::SharedCode,
        Self::SharedTarget,
        Self::LeadsToHooked,
        Self::LeadsToWrapper,
        Self::NotBound,
        Self::TargetUnknown,
        Self::ThreadsRunning,
        Self::CodeIsLocked,
        Self::Refused,
        Self::NoStub,
        Self::NotCode,
        Self::NoEngine,
        Self::TakesScratch,
    ];

    /// The outcome with this code.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }

    /// Whether calls of the function are caught wherever they come from.
    pub fn is_patched(self) -> bool {
        matches!(self, Self::Patched | Self::PatchedAtTarget)
    }

    /// Why the function was not patched, for the report; empty if it was.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Patched | Self::PatchedAtTarget => "",
            Self::Untried => "not tried",
            Self::Twin => "the body of the function without Impl, whose calls are recorded",
            Self::TooSmall => "too small to be patched",
            Self::SizeUnknown => "its length is not known",
            Self::LoopHead => "it jumps back to where the patch would be",
            Self::EndsEarly => "it ends, or jumps away, where the patch would be",
            Self::CallInside => "it calls another function where the patch would be",
            Self::CannotMove => "an instruction where the patch would be works only in its place",
            Self::Undecodable => "it has instructions that are not known",
            Self::SharedCode => "another name stands for the same code",
            Self::SharedTarget => "another function jumps on to the same code",
            Self::LeadsToHooked => "it only jumps on to a function that is patched itself",
            Self::LeadsToWrapper => "it only jumps on to a function that has a wrapper",
            Self::NotBound => "it only jumps on to a function that is not bound yet",
            Self::TargetUnknown => "it only jumps on to code of unknown length",
            Self::ThreadsRunning => "other threads were running when it could have been patched",
            Self::CodeIsLocked => "the system does not let code be changed",
            Self::Refused => "the engine's library refused to patch it",
            Self::NoStub => "there is no wrapper for it",
            Self::NotCode => "it does not lie in code that can be read",
            Self::NoEngine => "the engine could not be loaded",
            Self::TakesScratch => "it uses registers that the patch needs",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back_to_their_outcomes_and_refusals_have_reasons() {
        for (code, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, code);
            assert_eq!(Outcome::from_code(code as u32), Some(outcome));
            assert_eq!(outcome.reason().is_empty(), outcome.is_patched());
        }
        assert_eq!(Outcome::from_code(Outcome::ALL.len() as u32), None);
    }
}
