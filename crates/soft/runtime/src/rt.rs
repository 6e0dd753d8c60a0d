//! The layer below AscendCL (`rt*`), which collective and graph libraries call by themselves: the part of it
//! that makes contexts and streams, submits and waits. Handles are the same ones.
//!
//! Functions that do the same as one of AscendCL are further names of it, in `exports`. The others are here. Other names do not
//! exist, as in any other library.

mod device;
mod device_info;
mod event;
mod launch;
mod memory;
mod memory_async;
mod model;
mod order;
mod stream;

use crate::code::{INVALID_PARAM, Outcome, RT_PARAM_INVALID, fault};

/// The layer has no special code for a wrong argument.
pub(crate) fn below(body: impl FnOnce() -> Outcome) -> Outcome {
    match body() {
        Err(failed) if failed.code == INVALID_PARAM => fault(RT_PARAM_INVALID, failed.why),
        other => other,
    }
}

/// Declares exported functions of this layer, as `acl!` does.
macro_rules! rt {
    ($(fn $names:tt $arguments:tt $body:block)*) => {
        $($crate::exports::acl!(@each $names $arguments { $crate::rt::below(|| $body) });)*
    };
}
use rt;
