//! Memory that the arguments of a call point to.
//!
//! Calls by name come from outside of the runtime's file: an argument has its declared meaning. A call
//! that only a patch intercepts may come from inside. There a compiler that knows that the function
//! ignores an argument passes any value of the register (clang, from -O2 on). So with an active engine,
//! memory is checked before it is read.

use crate::engine::loaded;
use crate::stubs;

/// How many bytes from `address` on can be read, up to as many as are wanted.
#[inline]
pub(crate) fn readable(address: usize, wanted: usize) -> usize {
    match loaded::is_there() {
        false => wanted,
        true => stubs::readable_from(address, wanted),
    }
}

/// Whether a value of this size can be read from the address.
#[inline]
pub(crate) fn is_there(address: usize, bytes: usize) -> bool {
    readable(address, bytes) == bytes
}
