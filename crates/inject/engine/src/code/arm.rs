//! aarch64.

use ascend_trace_format::engine::PatchOutcome;

mod registers;

use super::{BranchTargets, CodeVerdict, PATCH};

/// Effect of one instruction on the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InstructionFlow {
    Next,
    /// A jump that may not be taken.
    Branch(usize),
    Jump(usize),
    Call,
    /// Leaves the function, or jumps to a target that is not in the instruction.
    Away,
    /// No instruction.
    Nothing,
}

/// `value`'s lowest `bits` as a signed number of instructions, from `address` on.
fn relative(address: usize, value: u32, bits: u32) -> usize {
    let shifted = (value << (32 - bits)) as i32 >> (32 - bits);
    address.wrapping_add_signed(shifted as isize * 4)
}

fn flow(word: u32, address: usize) -> InstructionFlow {
    if word & 0xffff_0000 == 0 {
        return InstructionFlow::Nothing;
    }
    if word & 0xfc00_0000 == 0x1400_0000 {
        return InstructionFlow::Jump(relative(address, word, 26));
    }
    if word & 0xfc00_0000 == 0x9400_0000 {
        return InstructionFlow::Call;
    }
    // Conditions (b.cond, bc.cond) and comparisons with zero have 19 bits, tests of a bit 14.
    if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        return InstructionFlow::Branch(relative(address, word >> 5, 19));
    }
    if word & 0x7e00_0000 == 0x3600_0000 {
        return InstructionFlow::Branch(relative(address, word >> 5, 14));
    }
    // Through registers, with or without a check of the address.
    if word & 0xfe00_0000 == 0xd600_0000 {
        return match (word >> 21) & 7 {
            1 => InstructionFlow::Call,
            _ => InstructionFlow::Away,
        };
    }
    // A breakpoint.
    if word & 0xffe0_001f == 0xd420_0000 {
        return InstructionFlow::Away;
    }
    InstructionFlow::Next
}

/// Instructions of the code with their addresses.
fn words(code: &[u8], address: usize) -> impl Iterator<Item = (usize, u32)> {
    code.as_chunks::<4>()
        .0
        .iter()
        .enumerate()
        .map(move |(index, bytes)| (address.wrapping_add(index * 4), u32::from_le_bytes(*bytes)))
}

/// See [`super::examine`].
pub fn examine(code: &[u8], address: usize) -> CodeVerdict {
    if let Some(jump) = jump(code, address) {
        let leaves = |target: usize| target.wrapping_sub(address) >= code.len();
        if !matches!(jump, CodeVerdict::JumpsTo(target) if !leaves(target)) {
            return jump;
        }
    }
    if code.len() < PATCH {
        return CodeVerdict::Refused(PatchOutcome::TooSmall);
    }
    let mut targets = BranchTargets::default();
    for (at, word) in words(code, address) {
        let flow = flow(word, at);
        if let InstructionFlow::Branch(target) | InstructionFlow::Jump(target) = flow {
            targets.note(target, address);
        }
        if at.wrapping_sub(address) < PATCH {
            if let Some(outcome) = obstacle(flow) {
                return CodeVerdict::Refused(outcome);
            }
            // The jump behind the moved code takes one of them, and the code goes on without its value.
            if registers::may_name(word, &[16, 17]) {
                return CodeVerdict::Refused(PatchOutcome::TakesScratch);
            }
        }
    }
    if targets.hit(PATCH) {
        return CodeVerdict::Refused(PatchOutcome::LoopHead);
    }
    CodeVerdict::Sound(PATCH)
}

fn obstacle(flow: InstructionFlow) -> Option<PatchOutcome> {
    match flow {
        InstructionFlow::Next | InstructionFlow::Branch(_) => None,
        InstructionFlow::Jump(_) | InstructionFlow::Away => Some(PatchOutcome::EndsEarly),
        InstructionFlow::Call => Some(PatchOutcome::CallInside),
        InstructionFlow::Nothing => Some(PatchOutcome::Undecodable),
    }
}

/// `nop` and the marks for indirect jumps, `bti` of all kinds.
fn is_padding(word: u32) -> bool {
    word == 0xd503_201f || word & 0xffff_ff3f == 0xd503_241f
}

/// See [`super::jump`].
pub fn jump(code: &[u8], address: usize) -> Option<CodeVerdict> {
    let mut words = words(code, address).skip_while(|(_, word)| is_padding(*word));
    let (at, first) = words.next()?;
    if let InstructionFlow::Jump(target) = flow(first, at) {
        return Some(CodeVerdict::JumpsTo(target));
    }
    let page = page(first, at)?;
    let (_, load) = words.next()?;
    let slot = page.1.wrapping_add(offset(load, page.0)?);
    // The linker's entries also leave the slot's address in x16, for the binding.
    let (_, mut last) = words.next()?;
    if last & 0xffc0_0000 == 0x9100_0000 && (last >> 5) & 31 == page.0 {
        last = words.next()?.1;
    }
    let is_jump = last == 0xd61f_0000 | (load & 31) << 5;
    is_jump.then_some(CodeVerdict::JumpsThrough(slot))
}

/// `adrp`: the register and the page that it gets.
fn page(word: u32, address: usize) -> Option<(u32, usize)> {
    if word & 0x9f00_0000 != 0x9000_0000 {
        return None;
    }
    let value = ((word >> 5) & 0x7_ffff) << 2 | (word >> 29) & 3;
    let pages = (value << 11) as i32 >> 11;
    let page = (address & !0xfff).wrapping_add_signed(pages as isize * 4096);
    Some((word & 31, page))
}

/// `ldr` of 64 bits from a register and an offset.
fn offset(word: u32, base: u32) -> Option<usize> {
    let is_load = word & 0xffc0_0000 == 0xf940_0000 && (word >> 5) & 31 == base;
    is_load.then_some(((word >> 10) & 0xfff) as usize * 8)
}

/// See [`super::is_lazy_binding`]: the first entry of the linker's table, which keeps x16 and the
/// return address.
pub fn is_lazy_binding(code: &[u8]) -> bool {
    let mut words = words(code, 0).map(|(_, word)| word);
    words.find(|word| !is_padding(*word)) == Some(0xa9bf_7bf0)
}

/// Length of a patch, if all instructions in its place work unchanged at any address.
pub fn movable(code: &[u8], address: usize) -> Option<usize> {
    let stays = |(at, word): (usize, u32)| {
        let is_address = word & 0x1f00_0000 == 0x1000_0000;
        let is_literal = word & 0x3b00_0000 == 0x1800_0000;
        flow(word, at) == InstructionFlow::Next && !is_address && !is_literal
    };
    let head = code.get(..PATCH)?;
    words(head, address).all(stays).then_some(PATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: usize = 0x40_0000;
    const NOP: u32 = 0xd503_201f;
    const RET: u32 = 0xd65f_03c0;
    /// stp x29, x30, [sp, #-32]!
    const PUSH: u32 = 0xa9be_7bfd;
    /// mov x29, sp
    const FRAME: u32 = 0x9100_03fd;
    /// bti c
    const MARK: u32 = 0xd503_245f;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn verdict(words: &[u32]) -> CodeVerdict {
        examine(&bytes(words), AT)
    }

    #[test]
    fn an_ordinary_begin_is_sound() {
        assert_eq!(
            verdict(&[PUSH, FRAME, 0xf900_0bf3, 0xaa00_03f3, NOP, RET]),
            CodeVerdict::Sound(16)
        );
        // cbz x0, +0x40 leaves the patch forwards.
        assert_eq!(
            verdict(&[0xb400_0200, PUSH, FRAME, NOP, NOP, RET]),
            CodeVerdict::Sound(16)
        );
    }

    #[test]
    fn jumps_at_the_begin_are_forwarders() {
        assert_eq!(verdict(&[0x1400_0400]), CodeVerdict::JumpsTo(AT + 0x1000));
        assert_eq!(
            verdict(&[MARK, 0x17ff_fbff]),
            CodeVerdict::JumpsTo(AT + 4 - 0x1004)
        );
        // The linker's: adrp x16, +1 page; ldr x17, [x16, #24]; add x16, x16, #24; br x17
        let entry = [0xb000_0010, 0xf940_0e11, 0x9100_6210, 0xd61f_0220];
        assert_eq!(verdict(&entry), CodeVerdict::JumpsThrough(AT + 0x1018));
        // Without a table: adrp x0, +1 page; ldr x0, [x0, #24]; br x0
        let direct = [0xb000_0000, 0xf940_0c00, 0xd61f_0000];
        assert_eq!(verdict(&direct), CodeVerdict::JumpsThrough(AT + 0x1018));
        // The same load, then a call: no forwarder.
        let other = [0xb000_0000, 0xf940_0c00, 0xd63f_0000, NOP, RET];
        assert_eq!(
            verdict(&other),
            CodeVerdict::Refused(PatchOutcome::CallInside)
        );
    }

    #[test]
    fn small_functions_are_refused() {
        assert_eq!(
            verdict(&[NOP, RET]),
            CodeVerdict::Refused(PatchOutcome::TooSmall)
        );
        assert_eq!(
            verdict(&[0x5280_0000, RET, NOP, NOP, RET]),
            CodeVerdict::Refused(PatchOutcome::EndsEarly)
        );
        assert_eq!(
            verdict(&[PUSH, 0, NOP, NOP, RET]),
            CodeVerdict::Refused(PatchOutcome::Undecodable)
        );
    }

    #[test]
    fn a_loop_that_goes_back_into_the_patch_is_refused() {
        let back = |to: i32| {
            // From the sixth instruction.
            let conditional = 0x5400_0001 | ((to - 5) as u32 & 0x7_ffff) << 5;
            verdict(&[PUSH, FRAME, NOP, NOP, NOP, conditional, RET])
        };
        for inside in 0..4 {
            assert_eq!(back(inside), CodeVerdict::Refused(PatchOutcome::LoopHead));
        }
        assert_eq!(back(4), CodeVerdict::Sound(16));
        // tbnz w0, #0, back to the second; cbnz and b likewise
        for word in [
            0x3700_0000 | ((-3i32 as u32) & 0x3fff) << 5,
            0x3500_0000 | ((-3i32 as u32) & 0x7_ffff) << 5,
            0x1400_0000 | ((-3i32 as u32) & 0x3ff_ffff),
        ] {
            let code = [PUSH, FRAME, NOP, NOP, word, RET];
            assert_eq!(verdict(&code), CodeVerdict::Refused(PatchOutcome::LoopHead));
        }
    }

    #[test]
    fn registers_that_a_jump_takes_are_left_to_it() {
        // mov w16, #1; mov x17, x0; ldr w16, [x0]; str x16, [sp]; add x16, x16, #8; cbz w17, +8
        for word in [
            0x5280_0030,
            0xaa00_03f1,
            0xb940_0010,
            0xf900_03f0,
            0x9100_2210,
            0x3400_0051,
        ] {
            for place in 0..4 {
                let mut code = [PUSH, FRAME, NOP, NOP, NOP, NOP, RET];
                *code.get_mut(place).unwrap() = word;
                let refused = CodeVerdict::Refused(PatchOutcome::TakesScratch);
                assert_eq!(verdict(&code), refused, "{word:x} at {place}");
            }
            let code = [PUSH, FRAME, NOP, NOP, word, NOP, RET];
            assert_eq!(verdict(&code), CodeVerdict::Sound(16), "{word:x} behind");
        }
    }

    #[test]
    fn calls_where_the_patch_would_be_are_refused() {
        for call in [0x9400_0100, 0xd63f_0200, 0xd73f_0a11] {
            let code = [PUSH, call, NOP, NOP, RET];
            assert_eq!(
                verdict(&code),
                CodeVerdict::Refused(PatchOutcome::CallInside)
            );
        }
        // Further behind they are anybody's.
        assert_eq!(
            verdict(&[PUSH, FRAME, NOP, NOP, 0x9400_0100, RET]),
            CodeVerdict::Sound(16)
        );
    }

    #[test]
    fn the_entry_for_lazy_binding_is_known() {
        assert!(is_lazy_binding(&bytes(&[0xa9bf_7bf0, 0xb000_0010])));
        assert!(is_lazy_binding(&bytes(&[MARK, 0xa9bf_7bf0])));
        assert!(!is_lazy_binding(&bytes(&[PUSH])));
    }

    #[test]
    fn only_code_that_works_anywhere_is_movable() {
        assert_eq!(movable(&bytes(&[PUSH, FRAME, NOP, NOP]), AT), Some(16));
        // adrp, adr, ldr from a literal, cbz
        for word in [0x9000_0000, 0x1000_0000, 0x5800_0040, 0xb400_0040] {
            assert_eq!(movable(&bytes(&[PUSH, word, NOP, NOP]), AT), None);
        }
        assert_eq!(movable(&bytes(&[PUSH, FRAME]), AT), None);
    }
}
