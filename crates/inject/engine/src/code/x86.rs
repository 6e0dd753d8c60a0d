//! x86_64.

use ascend_trace_format::engine::PatchOutcome;
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind};

use super::{BranchTargets, CodeVerdict, PATCH};

fn decoder(code: &[u8], address: usize) -> Decoder<'_> {
    Decoder::with_ip(64, code, address as u64, DecoderOptions::NONE)
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
    let mut moved = None;
    let mut decoder = decoder(code, address);
    while decoder.can_decode() {
        let at = decoder.position();
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return CodeVerdict::Refused(PatchOutcome::Undecodable);
        }
        if let Some(target) = branch(&instruction) {
            targets.note(target, address);
        }
        if at < PATCH {
            if let Some(outcome) = obstacle(&instruction) {
                return CodeVerdict::Refused(outcome);
            }
            moved = Some(decoder.position());
        }
    }
    match moved {
        Some(moved) if targets.hit(moved) => CodeVerdict::Refused(PatchOutcome::LoopHead),
        Some(moved) if moved >= PATCH => CodeVerdict::Sound(moved),
        _ => CodeVerdict::Refused(PatchOutcome::TooSmall),
    }
}

/// The target of a jump within the code, if the instruction contains it. Calls of the function by
/// itself are calls, and are recorded as such.
fn branch(instruction: &Instruction) -> Option<usize> {
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch
            | FlowControl::UnconditionalBranch
            | FlowControl::XbeginXabortXend
    );
    let is_near = matches!(
        instruction.op0_kind(),
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
    );
    (jumps && is_near).then(|| instruction.near_branch_target() as usize)
}

/// Why an instruction cannot be in the place of the patch.
fn obstacle(instruction: &Instruction) -> Option<PatchOutcome> {
    match instruction.flow_control() {
        FlowControl::Next => None,
        FlowControl::ConditionalBranch if instruction.is_loop() || instruction.is_loopcc() => {
            Some(PatchOutcome::CannotMove)
        }
        FlowControl::ConditionalBranch if instruction.is_jcx_short() => {
            Some(PatchOutcome::CannotMove)
        }
        FlowControl::ConditionalBranch => None,
        FlowControl::Call | FlowControl::IndirectCall => Some(PatchOutcome::CallInside),
        FlowControl::XbeginXabortXend => Some(PatchOutcome::CannotMove),
        // `syscall` goes on behind itself, a breakpoint is a debugger's.
        FlowControl::Interrupt => Some(PatchOutcome::CannotMove),
        FlowControl::UnconditionalBranch
        | FlowControl::IndirectBranch
        | FlowControl::Return
        | FlowControl::Exception => Some(PatchOutcome::EndsEarly),
    }
}

/// See [`super::jump`].
pub fn jump(code: &[u8], address: usize) -> Option<CodeVerdict> {
    let mut decoder = decoder(code, address);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        match instruction.flow_control() {
            FlowControl::Next if is_padding(&instruction) => {}
            FlowControl::UnconditionalBranch => {
                return branch(&instruction).map(CodeVerdict::JumpsTo);
            }
            FlowControl::IndirectBranch if instruction.is_ip_rel_memory_operand() => {
                let slot = instruction.ip_rel_memory_address() as usize;
                return Some(CodeVerdict::JumpsThrough(slot));
            }
            _ => return None,
        }
    }
    None
}

/// Instructions that do nothing: landing marks and fillers.
fn is_padding(instruction: &Instruction) -> bool {
    matches!(
        instruction.code(),
        Code::Endbr64 | Code::Nopw | Code::Nopd | Code::Nop_rm16 | Code::Nop_rm32 | Code::Nop_rm64
    )
}

/// See [`super::is_lazy_binding`]: `push number; jmp` to the first entry of the table.
pub fn is_lazy_binding(code: &[u8]) -> bool {
    let mut decoder = decoder(code, 0);
    let mut next = decoder.decode();
    if next.code() == Code::Endbr64 {
        next = decoder.decode();
    }
    let pushes = matches!(next.code(), Code::Pushq_imm32 | Code::Pushq_imm8);
    pushes && decoder.decode().flow_control() == FlowControl::UnconditionalBranch
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: usize = 0x40_0000;

    /// The code, padded until it is long enough, and a `ret`.
    fn long(code: &[u8]) -> Vec<u8> {
        let mut code = code.to_vec();
        code.resize(code.len().max(24), 0x90);
        code.push(0xc3);
        code
    }

    fn verdict(code: &[u8]) -> CodeVerdict {
        examine(&long(code), AT)
    }

    #[test]
    fn an_ordinary_begin_is_moved_in_whole_instructions() {
        // push rbp; mov rbp, rsp; push r15; push r14; sub rsp, 0x118
        let code = [
            0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x41, 0x56, 0x48, 0x81, 0xec, 0x18, 1, 0, 0,
        ];
        assert_eq!(verdict(&code), CodeVerdict::Sound(16));
        // A last instruction of 7 bytes reaches beyond.
        let code = [&code[..], &[0x48, 0xc7, 0xc0, 1, 0, 0, 0]].concat();
        assert_eq!(verdict(&code), CodeVerdict::Sound(22));
    }

    #[test]
    fn jumps_at_the_begin_are_forwarders() {
        let direct = [0xe9, 0xfb, 0x0f, 0, 0];
        assert_eq!(examine(&direct, AT), CodeVerdict::JumpsTo(AT + 0x1000));
        let marked = [0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0xf7, 0x0f, 0, 0];
        assert_eq!(examine(&marked, AT), CodeVerdict::JumpsTo(AT + 0x1000));
        let through = [0xff, 0x25, 0xfa, 0x0f, 0, 0];
        assert_eq!(
            examine(&through, AT),
            CodeVerdict::JumpsThrough(AT + 0x1000)
        );
        // endbr64; bnd jmp [rip + ..]
        let bounded = [0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf5, 0x0f, 0, 0];
        assert_eq!(
            examine(&bounded, AT),
            CodeVerdict::JumpsThrough(AT + 0x1000)
        );
    }

    #[test]
    fn a_jump_into_itself_is_no_forwarder() {
        // jmp +10, over ten bytes of the same function
        let code = long(&[0xeb, 10]);
        assert_eq!(
            examine(&code, AT),
            CodeVerdict::Refused(PatchOutcome::EndsEarly)
        );
    }

    #[test]
    fn small_functions_are_refused() {
        assert_eq!(
            examine(&[0x31, 0xc0, 0xc3], AT),
            CodeVerdict::Refused(PatchOutcome::TooSmall)
        );
        assert_eq!(
            examine(&[], AT),
            CodeVerdict::Refused(PatchOutcome::TooSmall)
        );
        // xor eax, eax; ret; and another way in behind
        assert_eq!(
            verdict(&[0x31, 0xc0, 0xc3]),
            CodeVerdict::Refused(PatchOutcome::EndsEarly)
        );
        // The last instruction is cut off: 15 bytes and half a `mov`.
        let mut cut = vec![0x90; 15];
        cut.extend([0x48, 0xc7]);
        assert_eq!(
            examine(&cut, AT),
            CodeVerdict::Refused(PatchOutcome::Undecodable)
        );
    }

    #[test]
    fn a_loop_that_goes_back_into_the_patch_is_refused() {
        // xor eax, eax; add eax, edi; dec edi; jnz -6
        let inside = [0x31, 0xc0, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa];
        assert_eq!(
            verdict(&inside),
            CodeVerdict::Refused(PatchOutcome::LoopHead)
        );
        // The same loop, far behind: 32 times nop, then jmp back to offset 4.
        let mut far = vec![0x90; 32];
        far.extend([0xe9, (4i32 - 37) as u8, 0xff, 0xff, 0xff, 0xc3]);
        assert_eq!(
            examine(&far, AT),
            CodeVerdict::Refused(PatchOutcome::LoopHead)
        );
        // To the very begin: state would be in registers that a wrapper need not keep.
        let mut whole = vec![0x90; 32];
        whole.extend([0xeb, (-34i8) as u8, 0xc3]);
        assert_eq!(
            examine(&whole, AT),
            CodeVerdict::Refused(PatchOutcome::LoopHead)
        );
        // To the first byte behind the patch: fine.
        let mut behind = vec![0x90; 32];
        behind.extend([0xeb, (16i8 - 34) as u8, 0xc3]);
        assert_eq!(examine(&behind, AT), CodeVerdict::Sound(16));
    }

    #[test]
    fn what_cannot_be_moved_is_refused() {
        let call = [0x53, 0xe8, 0, 1, 0, 0];
        assert_eq!(
            verdict(&call),
            CodeVerdict::Refused(PatchOutcome::CallInside)
        );
        let indirect = [0x53, 0xff, 0xd0];
        assert_eq!(
            verdict(&indirect),
            CodeVerdict::Refused(PatchOutcome::CallInside)
        );
        let counted = [0xe3, 0x30];
        assert_eq!(
            verdict(&counted),
            CodeVerdict::Refused(PatchOutcome::CannotMove)
        );
        let unknown = [0x06];
        assert_eq!(
            verdict(&unknown),
            CodeVerdict::Refused(PatchOutcome::Undecodable)
        );
        // test rdi, rdi; je away: libraries for patching move that.
        let test = [0x48, 0x85, 0xff, 0x0f, 0x84, 0, 1, 0, 0];
        assert_eq!(verdict(&test), CodeVerdict::Sound(16));
    }

    #[test]
    fn calls_of_itself_are_no_loops() {
        let mut code = vec![0x90; 32];
        code.extend([0xe8, (-37i32) as u8, 0xff, 0xff, 0xff, 0xc3]);
        assert_eq!(examine(&code, AT), CodeVerdict::Sound(16));
    }

    #[test]
    fn entries_for_lazy_binding_are_known() {
        assert!(is_lazy_binding(&[
            0x68, 1, 0, 0, 0, 0xe9, 0, 0xff, 0xff, 0xff
        ]));
        assert!(is_lazy_binding(&[
            0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0, 0xe9, 0, 0xff, 0xff, 0xff
        ]));
        assert!(is_lazy_binding(&[
            0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0, 0xf2, 0xe9, 0, 0xff, 0xff, 0xff
        ]));
        assert!(!is_lazy_binding(&[0x55, 0x48, 0x89, 0xe5]));
    }
}
