//! Memory that the arguments of a call point to.
//!
//! Calls by name come from outside of the runtime's file: an argument is what the declaration says. A
//! call that only a patch sees may come from inside. There a compiler that knows that the function
//! ignores an argument passes whatever is in the register (clang, from -O2 on). So with an engine at
//! work, memory is asked about before it is read.

use crate::engine::known;
use crate::stubs;

/// How many bytes from `address` on can be read, up to as many as are wanted.
#[inline]
pub(crate) fn readable(address: usize, wanted: usize) -> usize {
    match known::is_there() {
        false => wanted,
        true => stubs::readable_from(address, wanted),
    }
}

/// Whether a value of so many bytes can be read from the address.
#[inline]
pub(crate) fn is_there(address: usize, bytes: usize) -> bool {
    readable(address, bytes) == bytes
}
