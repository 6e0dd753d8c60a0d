//! The codes of the operator layer.

use crate::code::{Code, Outcome, fault};

pub(crate) const NULL_POINTER: Code = 161_001;
pub(crate) const INVALID: Code = 161_002;
/// A call of the runtime underneath has failed.
pub(crate) const RUNTIME: Code = 361_001;
pub(crate) const INNER_NULL_POINTER: Code = 561_103;

pub(super) const fn null<T>(why: &'static str) -> Outcome<T> {
    fault(NULL_POINTER, why)
}

pub(super) const fn refuse<T>(why: &'static str) -> Outcome<T> {
    fault(INVALID, why)
}

/// Refuses the arguments unless the condition holds.
pub(super) const fn require(holds: bool, why: &'static str) -> Outcome {
    if holds { Ok(()) } else { refuse(why) }
}
