//! Decides from its bytes whether a function can be patched at its begin.

pub mod arm;
pub mod x86;

use ascend_trace_format::engine::PatchOutcome;

/// Bytes at a function's begin that a patch may take, on both architectures: a jump to any address.
pub const PATCH: usize = 16;

/// Result of the examination of a function's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeVerdict {
    /// It can be patched; this number of bytes, in whole instructions, is moved elsewhere.
    Sound(usize),
    /// It is nothing but a jump to this address.
    JumpsTo(usize),
    /// It is nothing but a jump to the address that is stored here.
    JumpsThrough(usize),
    Refused(PatchOutcome),
}

/// Examines all bytes of the function at this address.
pub fn examine(code: &[u8], address: usize) -> CodeVerdict {
    #[cfg(target_arch = "x86_64")]
    return x86::examine(code, address);
    #[cfg(target_arch = "aarch64")]
    return arm::examine(code, address);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    CodeVerdict::Refused(PatchOutcome::Undecodable)
}

/// Where the code at `address` jumps on to, if that is all that it does. The bytes are those that
/// could be read there, and may reach beyond the function.
pub fn jump(code: &[u8], address: usize) -> Option<CodeVerdict> {
    #[cfg(target_arch = "x86_64")]
    return x86::jump(code, address);
    #[cfg(target_arch = "aarch64")]
    return arm::jump(code, address);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

/// Whether this is where the loader's lazy binding begins: a slot that leads here is not bound yet.
pub fn is_lazy_binding(code: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::is_lazy_binding(code);
    #[cfg(target_arch = "aarch64")]
    return arm::is_lazy_binding(code);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    false
}

/// Offsets that the function's own branches go to, as far as a patch could matter.
#[derive(Default)]
struct BranchTargets(u64);

impl BranchTargets {
    /// Remembers a branch to `target` in a function that begins at `address`.
    fn note(&mut self, target: usize, address: usize) {
        let offset = target.wrapping_sub(address);
        if offset < 64 {
            self.0 |= 1 << offset;
        }
    }

    /// Whether a branch goes to one of the first `moved` bytes.
    fn hit(&self, moved: usize) -> bool {
        let mask = 1u64
            .checked_shl(moved as u32)
            .map_or(u64::MAX, |bit| bit - 1);
        self.0 & mask != 0
    }
}
