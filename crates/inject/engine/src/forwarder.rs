//! From a function to the code that is patched for it.
//!
//! Public functions of AscendCL may be nothing but a jump to a body in another library, by way of an
//! entry of the linker's table. Libraries for patching refuse such a jump, or patch the linker's
//! table, or read a slot that the loader has not filled yet. So it is followed here, and the body
//! is patched.

use ascend_trace_format::engine::PatchOutcome;

use crate::code::{self, CodeVerdict};

/// Jumps that are followed, the linker's own included.
const MOST_JUMPS: usize = 8;
/// Bytes in which a jump must be found.
const JUMP: usize = 64;

/// Access to the mapped memory of the program.
pub trait ProgramMemory {
    /// The code from an address to the end of its mapping.
    fn code(&self, address: usize) -> Option<&[u8]>;
    /// A word of mapped memory.
    fn word(&self, address: usize) -> Option<usize>;
    /// The length of the function that begins at an address, 0 if that is not known.
    fn length(&self, address: usize) -> usize;
    /// Whether an address is inside the interposer.
    fn is_own(&self, address: usize) -> bool;
}

/// The place of the patch for a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchPoint {
    pub address: usize,
    /// Bytes of it that are moved elsewhere.
    pub moved: usize,
    /// Whether the function only jumps there.
    pub is_forwarded: bool,
}

/// Finds the place to patch for the function at `address` with this length, 0 if not known.
pub fn entry(
    memory: &dyn ProgramMemory,
    address: usize,
    length: usize,
) -> Result<PatchPoint, PatchOutcome> {
    let (mut at, mut length) = (address, length);
    for jumps in 0..=MOST_JUMPS {
        let is_forwarded = jumps > 0;
        let or_target = |outcome| {
            if is_forwarded {
                PatchOutcome::TargetUnknown
            } else {
                outcome
            }
        };
        if memory.is_own(at) {
            return Err(PatchOutcome::LeadsToWrapper);
        }
        let rest = memory.code(at).ok_or(or_target(PatchOutcome::NotCode))?;
        match judge(rest, at, length) {
            CodeVerdict::Sound(moved) => {
                return Ok(PatchPoint {
                    address: at,
                    moved,
                    is_forwarded,
                });
            }
            CodeVerdict::Refused(PatchOutcome::SizeUnknown) => {
                return Err(or_target(PatchOutcome::SizeUnknown));
            }
            CodeVerdict::Refused(outcome) => return Err(outcome),
            CodeVerdict::JumpsTo(target) => at = target,
            CodeVerdict::JumpsThrough(slot) => at = bound(memory, slot)?,
        }
        length = memory.length(at);
    }
    Err(PatchOutcome::TargetUnknown)
}

/// A function of known length by all of its code, other code by its first instruction.
fn judge(rest: &[u8], at: usize, length: usize) -> CodeVerdict {
    match rest.get(..length) {
        Some(code) if length > 0 => code::examine(code, at),
        _ => {
            let head = rest.get(..JUMP).unwrap_or(rest);
            code::jump(head, at).unwrap_or(CodeVerdict::Refused(PatchOutcome::SizeUnknown))
        }
    }
}

/// The target of a slot of the linker's table.
fn bound(memory: &dyn ProgramMemory, slot: usize) -> Result<usize, PatchOutcome> {
    let target = memory.word(slot).ok_or(PatchOutcome::TargetUnknown)?;
    let is_lazy = memory.code(target).is_some_and(code::is_lazy_binding);
    // An empty slot is a weak reference, or one that the loader has yet to fill.
    if target == 0 || is_lazy {
        return Err(PatchOutcome::NotBound);
    }
    Ok(target)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Default)]
    struct FakeMemory {
        code: BTreeMap<usize, Vec<u8>>,
        words: BTreeMap<usize, usize>,
        own: usize,
    }

    impl FakeMemory {
        /// A function that can be patched.
        fn body(mut self, at: usize) -> Self {
            self.code.insert(at, [&[0x90; 20][..], &[0xc3]].concat());
            self
        }

        /// `jmp target`.
        fn jump(mut self, at: usize, target: usize) -> Self {
            let distance = (target as i64 - at as i64 - 5) as i32;
            let code = [&[0xe9][..], &distance.to_le_bytes()].concat();
            self.code.insert(at, code);
            self
        }

        /// `jmp *slot`, as in the linker's table, and the content of the slot.
        fn table(mut self, at: usize, slot: usize, target: usize) -> Self {
            let distance = (slot as i64 - at as i64 - 6) as i32;
            let code = [&[0xff, 0x25][..], &distance.to_le_bytes()].concat();
            self.code.insert(at, code);
            self.words.insert(slot, target);
            self
        }

        fn entry(&self, at: usize) -> Result<PatchPoint, PatchOutcome> {
            entry(self, at, self.length(at))
        }
    }

    impl ProgramMemory for FakeMemory {
        fn code(&self, address: usize) -> Option<&[u8]> {
            self.code.get(&address).map(Vec::as_slice)
        }

        fn word(&self, address: usize) -> Option<usize> {
            self.words.get(&address).copied()
        }

        fn length(&self, address: usize) -> usize {
            self.code.get(&address).map_or(0, Vec::len)
        }

        fn is_own(&self, address: usize) -> bool {
            self.own == address
        }
    }

    fn at(address: usize, is_forwarded: bool) -> Result<PatchPoint, PatchOutcome> {
        Ok(PatchPoint {
            address,
            moved: 16,
            is_forwarded,
        })
    }

    #[test]
    fn a_body_is_patched_itself_and_a_forwarder_at_its_target() {
        let memory = FakeMemory::default()
            .jump(0x1000, 0x2000)
            .table(0x2000, 0x3000, 0x4000)
            .body(0x4000);
        assert_eq!(memory.entry(0x4000), at(0x4000, false));
        assert_eq!(memory.entry(0x1000), at(0x4000, true));
    }

    #[test]
    fn an_unbound_entry_is_not_followed() {
        let lazy = |target| {
            let mut memory = FakeMemory::default().table(0x1000, 0x3000, target);
            let binding = vec![0x68, 1, 0, 0, 0, 0xe9, 0, 0xff, 0xff, 0xff];
            memory.code.insert(0x1006, binding);
            memory.entry(0x1000)
        };
        assert_eq!(lazy(0x1006), Err(PatchOutcome::NotBound));
        assert_eq!(lazy(0), Err(PatchOutcome::NotBound));
    }

    #[test]
    fn a_jump_to_a_wrapper_or_to_nowhere_is_refused() {
        let mut memory = FakeMemory::default().jump(0x1000, 0x2000);
        assert_eq!(memory.entry(0x1000), Err(PatchOutcome::TargetUnknown));
        memory.own = 0x2000;
        assert_eq!(memory.entry(0x1000), Err(PatchOutcome::LeadsToWrapper));
        assert_eq!(memory.entry(0x5000), Err(PatchOutcome::NotCode));
        let slot = FakeMemory::default().table(0x1000, 0x3000, 0x9999);
        assert_eq!(slot.entry(0x1000), Err(PatchOutcome::TargetUnknown));
    }

    #[test]
    fn jumps_in_a_circle_end() {
        let memory = FakeMemory::default()
            .jump(0x1000, 0x2000)
            .jump(0x2000, 0x1000);
        assert_eq!(memory.entry(0x1000), Err(PatchOutcome::TargetUnknown));
    }

    #[test]
    fn code_of_unknown_length_is_refused() {
        let memory = FakeMemory::default().body(0x1000);
        assert_eq!(entry(&memory, 0x1000, 0), Err(PatchOutcome::SizeUnknown));
        // Longer than the mapping.
        assert_eq!(entry(&memory, 0x1000, 99), Err(PatchOutcome::SizeUnknown));
    }
}
