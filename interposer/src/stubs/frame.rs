//! The data of a call in a stub, laid out for the assembly in `entry`.

use super::{FEW_STACK_BYTES, STACK_BYTES};

/// Registers that pass integers, those of the stack not counted.
#[cfg(target_arch = "x86_64")]
pub(super) const INTEGERS: usize = 6;
#[cfg(target_arch = "aarch64")]
pub(super) const INTEGERS: usize = 8;

/// The registers at the entry of the stub. After the call, those that return values have the function's
/// results.
#[repr(C, align(16))]
pub(super) struct Frame {
    /// `rdi rsi rdx rcx r8 r9 rax r10`, or `x0` to `x7`; after the call the first two are `rax rdx`,
    /// or `x0 x1`.
    pub(super) integers: [u64; 8],
    /// `x8`, where the caller wants a structure.
    structure: u64,
    unused: u64,
    /// Where the arguments on the stack begin.
    pub(super) stack: usize,
    /// How many bytes of them are passed on: a multiple of 16.
    pub(super) passed: usize,
    pub(super) vectors: [[u64; 2]; 8],
}

const _: () = assert!(core::mem::offset_of!(Frame, structure) == 64);
const _: () = assert!(core::mem::offset_of!(Frame, stack) == 80);
const _: () = assert!(core::mem::offset_of!(Frame, passed) == 88);
const _: () = assert!(core::mem::offset_of!(Frame, vectors) == 96);
const _: () = assert!(size_of::<Frame>() == 224);
const _: () = assert!(STACK_BYTES.is_multiple_of(64) && FEW_STACK_BYTES.is_multiple_of(64));

impl Frame {
    /// The integers that were passed in registers, then the words on the stack; the first of each
    /// are the function's arguments, as many as it has.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        let registers = self.integers.iter().take(INTEGERS).copied();
        registers.chain((0..self.passed / 8).map(|index| {
            // SAFETY: the caller's stack, which was found readable up to here.
            unsafe { core::ptr::read((self.stack as *const u64).wrapping_add(index)) }
        }))
    }
}
