//! Ways in that leave every argument as it was: a number is noted, Rust is asked where to go on, and
//! the call goes on there with the same registers, the same stack and the same return address. So
//! any function can be passed through, with any arguments, and exceptions and backtraces see nothing.

use core::arch::global_asm;

use crate::{alternate, variadic};

/// Stubs in the table of [`stub_address`].
pub(crate) const STUBS: usize = 2048;

/// On entry the number lies on the stack (x86_64) or in `w16` (aarch64). The callee gets the number
/// and the saved integer registers, and answers where to go on.
#[cfg(target_arch = "x86_64")]
macro_rules! save_ask_and_go {
    ($label:literal, $callee:path) => {
        global_asm!(
            ".text",
            ".p2align 6",
            concat!(".hidden ", $label),
            concat!(".globl ", $label),
            concat!(".type ", $label, ",@function"),
            concat!($label, ":"),
            ".cfi_startproc",
            ".cfi_def_cfa_offset 16",
            "push rax",
            ".cfi_adjust_cfa_offset 8",
            "push r10",
            ".cfi_adjust_cfa_offset 8",
            "push r9",
            ".cfi_adjust_cfa_offset 8",
            "push r8",
            ".cfi_adjust_cfa_offset 8",
            "push rcx",
            ".cfi_adjust_cfa_offset 8",
            "push rdx",
            ".cfi_adjust_cfa_offset 8",
            "push rsi",
            ".cfi_adjust_cfa_offset 8",
            "push rdi",
            ".cfi_adjust_cfa_offset 8",
            "sub rsp, 128",
            ".cfi_adjust_cfa_offset 128",
            "movaps [rsp], xmm0",
            "movaps [rsp + 16], xmm1",
            "movaps [rsp + 32], xmm2",
            "movaps [rsp + 48], xmm3",
            "movaps [rsp + 64], xmm4",
            "movaps [rsp + 80], xmm5",
            "movaps [rsp + 96], xmm6",
            "movaps [rsp + 112], xmm7",
            "mov edi, [rsp + 192]",
            "lea rsi, [rsp + 128]",
            "call {callee}",
            "mov r11, rax",
            "movaps xmm0, [rsp]",
            "movaps xmm1, [rsp + 16]",
            "movaps xmm2, [rsp + 32]",
            "movaps xmm3, [rsp + 48]",
            "movaps xmm4, [rsp + 64]",
            "movaps xmm5, [rsp + 80]",
            "movaps xmm6, [rsp + 96]",
            "movaps xmm7, [rsp + 112]",
            "add rsp, 128",
            ".cfi_adjust_cfa_offset -128",
            "pop rdi",
            ".cfi_adjust_cfa_offset -8",
            "pop rsi",
            ".cfi_adjust_cfa_offset -8",
            "pop rdx",
            ".cfi_adjust_cfa_offset -8",
            "pop rcx",
            ".cfi_adjust_cfa_offset -8",
            "pop r8",
            ".cfi_adjust_cfa_offset -8",
            "pop r9",
            ".cfi_adjust_cfa_offset -8",
            "pop r10",
            ".cfi_adjust_cfa_offset -8",
            "pop rax",
            ".cfi_adjust_cfa_offset -8",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "jmp r11",
            ".cfi_endproc",
            concat!(".size ", $label, ", . - ", $label),
            callee = sym $callee,
        );
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! save_ask_and_go {
    ($label:literal, $callee:path) => {
        global_asm!(
            ".text",
            ".p2align 6",
            concat!(".hidden ", $label),
            concat!(".globl ", $label),
            concat!(".type ", $label, ",%function"),
            concat!($label, ":"),
            ".cfi_startproc",
            "stp x29, x30, [sp, #-16]!",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset x29, -16",
            ".cfi_offset x30, -8",
            "mov x29, sp",
            ".cfi_def_cfa x29, 16",
            "sub sp, sp, #208",
            "stp x0, x1, [sp]",
            "stp x2, x3, [sp, #16]",
            "stp x4, x5, [sp, #32]",
            "stp x6, x7, [sp, #48]",
            "str x8, [sp, #64]",
            "stp q0, q1, [sp, #80]",
            "stp q2, q3, [sp, #112]",
            "stp q4, q5, [sp, #144]",
            "stp q6, q7, [sp, #176]",
            "mov w0, w16",
            "mov x1, sp",
            "bl {callee}",
            "mov x17, x0",
            "ldp x0, x1, [sp]",
            "ldp x2, x3, [sp, #16]",
            "ldp x4, x5, [sp, #32]",
            "ldp x6, x7, [sp, #48]",
            "ldr x8, [sp, #64]",
            "ldp q0, q1, [sp, #80]",
            "ldp q2, q3, [sp, #112]",
            "ldp q4, q5, [sp, #144]",
            "ldp q6, q7, [sp, #176]",
            "mov sp, x29",
            "ldp x29, x30, [sp], #16",
            ".cfi_def_cfa sp, 0",
            ".cfi_restore x29",
            ".cfi_restore x30",
            "br x17",
            ".cfi_endproc",
            concat!(".size ", $label, ", . - ", $label),
            callee = sym $callee,
        );
    };
}

save_ask_and_go!("ascend_trace_alternate", alternate::enter);
save_ask_and_go!("ascend_trace_variadic", variadic::enter);

/// Bytes of one stub.
#[cfg(target_arch = "x86_64")]
const STUB_BYTES: usize = 16;
#[cfg(target_arch = "aarch64")]
const STUB_BYTES: usize = 8;

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_stubs",
    ".globl ascend_trace_stubs",
    ".type ascend_trace_stubs,@function",
    "ascend_trace_stubs:",
    ".cfi_startproc",
    ".set .Lascend_trace_index, 0",
    ".rept {stubs}",
    ".p2align 4",
    ".cfi_def_cfa_offset 8",
    // `push` with a whole word, so that all stubs have one length.
    ".byte 0x68",
    ".long .Lascend_trace_index",
    ".cfi_def_cfa_offset 16",
    "jmp ascend_trace_alternate",
    ".set .Lascend_trace_index, .Lascend_trace_index + 1",
    ".endr",
    ".p2align 4",
    ".cfi_endproc",
    ".size ascend_trace_stubs, . - ascend_trace_stubs",
    stubs = const STUBS,
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_stubs",
    ".globl ascend_trace_stubs",
    ".type ascend_trace_stubs,%function",
    "ascend_trace_stubs:",
    ".cfi_startproc",
    ".set .Lascend_trace_index, 0",
    ".rept {stubs}",
    "mov w16, #.Lascend_trace_index",
    "b ascend_trace_alternate",
    ".set .Lascend_trace_index, .Lascend_trace_index + 1",
    ".endr",
    ".cfi_endproc",
    ".size ascend_trace_stubs, . - ascend_trace_stubs",
    stubs = const STUBS,
);

unsafe extern "C" {
    fn ascend_trace_stubs();
}

/// Where the stub with this number begins.
pub(crate) fn stub_address(index: usize) -> usize {
    let first: unsafe extern "C" fn() = ascend_trace_stubs;
    (first as usize).wrapping_add(index.wrapping_mul(STUB_BYTES))
}

/// The number of the stub that an address lies in.
pub(crate) fn stub_index(address: usize) -> Option<usize> {
    let index = address.wrapping_sub(stub_address(0)) / STUB_BYTES;
    (index < STUBS).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_stub_belongs_to_it() {
        for index in [0, 1, STUBS - 1] {
            let begin = stub_address(index);
            assert_eq!(stub_index(begin), Some(index));
            assert_eq!(stub_index(begin + STUB_BYTES - 1), Some(index));
        }
        assert_eq!(stub_index(stub_address(0) - 1), None);
        assert_eq!(stub_index(stub_address(STUBS)), None);
    }
}
