//! The codes of the operator layer.

use crate::code::{Code, Outcome, fault};

pub const NULL_POINTER: Code = 161_001;
pub const INVALID: Code = 161_002;
/// A call of the runtime underneath has failed.
pub const RUNTIME: Code = 361_001;
pub const INNER_NULL_POINTER: Code = 561_103;

pub const fn null<T>(why: &'static str) -> Outcome<T> {
    fault(NULL_POINTER, why)
}

pub const fn refuse<T>(why: &'static str) -> Outcome<T> {
    fault(INVALID, why)
}

/// Refuses the arguments unless the condition holds.
pub const fn require(holds: bool, why: &'static str) -> Outcome {
    if holds { Ok(()) } else { refuse(why) }
}
