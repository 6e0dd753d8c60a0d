//! Descriptions in the program's memory: an argument leads to them.

use crate::readable_memory;

/// The address of an element of an array; 0 without an array.
pub(crate) fn place<T>(array: usize, index: usize) -> usize {
    match array {
        0 => 0,
        _ => array.wrapping_add(index.wrapping_mul(size_of::<T>())),
    }
}

/// A description that the program passed to the call. `None` without an address, and where an engine's calls may pass another value.
pub(crate) fn read<T: Copy>(address: usize) -> Option<T> {
    let is_there = address != 0 && readable_memory::is_there(address, size_of::<T>());
    // SAFETY: the table gives such kinds only to arguments that lead to descriptions, which the call or a tool reads. Where a call
    // may pass another value, the memory was checked above. All fields are integers.
    is_there.then(|| unsafe { core::ptr::read_unaligned(address as *const T) })
}
