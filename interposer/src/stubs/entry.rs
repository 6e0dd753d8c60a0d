//! The table of stubs and what they have in common, in assembly.
//!
//! A stub says its number and goes on to `ascend_trace_untyped`, which keeps all registers in a
//! [`Frame`](super::frame::Frame) and asks [`enter`](super::body::enter). That either answers an
//! address to go on at with everything as it was, as if there were no stub, or has made the call
//! itself, through [`invoke`], and leaves the results in the frame.

use core::arch::{global_asm, naked_asm};

use super::frame::Frame;
use super::{FEW_STACK_BYTES, STACK_BYTES, STUBS, body};

/// Bytes of one stub.
#[cfg(target_arch = "x86_64")]
const STUB_BYTES: usize = 16;
#[cfg(target_arch = "aarch64")]
const STUB_BYTES: usize = 8;

unsafe extern "C" {
    fn ascend_trace_untyped_stubs();
}

/// Where the stub with this number begins.
pub(super) fn address(index: usize) -> usize {
    first().wrapping_add(index.wrapping_mul(STUB_BYTES))
}

/// The number of the stub at an address.
pub(super) fn index(address: usize) -> Option<usize> {
    let offset = address.wrapping_sub(first());
    let index = offset / STUB_BYTES;
    (index < STUBS && offset.is_multiple_of(STUB_BYTES)).then_some(index)
}

fn first() -> usize {
    let first: unsafe extern "C" fn() = ascend_trace_untyped_stubs;
    first as usize
}

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_untyped_stubs",
    ".globl ascend_trace_untyped_stubs",
    ".type ascend_trace_untyped_stubs,@function",
    "ascend_trace_untyped_stubs:",
    ".cfi_startproc",
    ".set .Lascend_trace_untyped_index, 0",
    ".rept {stubs}",
    ".p2align 4",
    ".cfi_def_cfa_offset 8",
    // `push` with a whole word, so that all stubs have one length.
    ".byte 0x68",
    ".long .Lascend_trace_untyped_index",
    ".cfi_def_cfa_offset 16",
    "jmp ascend_trace_untyped",
    ".set .Lascend_trace_untyped_index, .Lascend_trace_untyped_index + 1",
    ".endr",
    ".p2align 4",
    ".cfi_endproc",
    ".size ascend_trace_untyped_stubs, . - ascend_trace_untyped_stubs",
    stubs = const STUBS,
);

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_untyped",
    ".globl ascend_trace_untyped",
    ".type ascend_trace_untyped,@function",
    "ascend_trace_untyped:",
    ".cfi_startproc",
    ".cfi_def_cfa_offset 16",
    "push rbp",
    ".cfi_def_cfa_offset 24",
    ".cfi_offset rbp, -24",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    // The frame, and 8 bytes that align it.
    "sub rsp, 232",
    "mov [rsp], rdi",
    "mov [rsp + 8], rsi",
    "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx",
    "mov [rsp + 32], r8",
    "mov [rsp + 40], r9",
    "mov [rsp + 48], rax",
    "mov [rsp + 56], r10",
    "lea rax, [rbp + 24]",
    "mov [rsp + 80], rax",
    "movaps [rsp + 96], xmm0",
    "movaps [rsp + 112], xmm1",
    "movaps [rsp + 128], xmm2",
    "movaps [rsp + 144], xmm3",
    "movaps [rsp + 160], xmm4",
    "movaps [rsp + 176], xmm5",
    "movaps [rsp + 192], xmm6",
    "movaps [rsp + 208], xmm7",
    "mov edi, [rbp + 8]",
    "mov rsi, rsp",
    "call {enter}",
    "test rax, rax",
    "jnz 2f",
    "mov rax, [rsp]",
    "mov rdx, [rsp + 8]",
    "movaps xmm0, [rsp + 96]",
    "movaps xmm1, [rsp + 112]",
    ".cfi_remember_state",
    "leave",
    ".cfi_def_cfa rsp, 16",
    ".cfi_restore rbp",
    "lea rsp, [rsp + 8]",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_restore_state",
    "2:",
    "mov r11, rax",
    "mov rdi, [rsp]",
    "mov rsi, [rsp + 8]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "mov r8, [rsp + 32]",
    "mov r9, [rsp + 40]",
    "mov rax, [rsp + 48]",
    "mov r10, [rsp + 56]",
    "movaps xmm0, [rsp + 96]",
    "movaps xmm1, [rsp + 112]",
    "movaps xmm2, [rsp + 128]",
    "movaps xmm3, [rsp + 144]",
    "movaps xmm4, [rsp + 160]",
    "movaps xmm5, [rsp + 176]",
    "movaps xmm6, [rsp + 192]",
    "movaps xmm7, [rsp + 208]",
    "leave",
    ".cfi_def_cfa rsp, 16",
    ".cfi_restore rbp",
    "lea rsp, [rsp + 8]",
    ".cfi_def_cfa_offset 8",
    "jmp r11",
    ".cfi_endproc",
    ".size ascend_trace_untyped, . - ascend_trace_untyped",
    enter = sym body::enter,
);

/// Calls `target` with the registers of the frame and a copy of the stack behind it.
///
/// # Safety
/// The frame must be that of a call that is meant for `target`, with as many bytes of its stack
/// readable as it says.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C-unwind" fn invoke(target: usize, frame: *mut Frame) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        ".cfi_offset rbx, -24",
        "sub rsp, {stack} + 8",
        "mov rbx, rsi",
        "mov r11, rdi",
        "mov rsi, [rbx + 80]",
        "cmp qword ptr [rbx + 88], {few}",
        "jne 4f",
        "2:",
        ".set .Lascend_trace_offset, 0",
        ".rept {few} / 64",
        "movups xmm8, [rsi + .Lascend_trace_offset]",
        "movups xmm9, [rsi + .Lascend_trace_offset + 16]",
        "movups xmm10, [rsi + .Lascend_trace_offset + 32]",
        "movups xmm11, [rsi + .Lascend_trace_offset + 48]",
        "movaps [rsp + .Lascend_trace_offset], xmm8",
        "movaps [rsp + .Lascend_trace_offset + 16], xmm9",
        "movaps [rsp + .Lascend_trace_offset + 32], xmm10",
        "movaps [rsp + .Lascend_trace_offset + 48], xmm11",
        ".set .Lascend_trace_offset, .Lascend_trace_offset + 64",
        ".endr",
        "3:",
        "mov rdi, [rbx]",
        "mov rsi, [rbx + 8]",
        "mov rdx, [rbx + 16]",
        "mov rcx, [rbx + 24]",
        "mov r8, [rbx + 32]",
        "mov r9, [rbx + 40]",
        "mov rax, [rbx + 48]",
        "mov r10, [rbx + 56]",
        "movaps xmm0, [rbx + 96]",
        "movaps xmm1, [rbx + 112]",
        "movaps xmm2, [rbx + 128]",
        "movaps xmm3, [rbx + 144]",
        "movaps xmm4, [rbx + 160]",
        "movaps xmm5, [rbx + 176]",
        "movaps xmm6, [rbx + 192]",
        "movaps xmm7, [rbx + 208]",
        "call r11",
        "mov [rbx], rax",
        "mov [rbx + 8], rdx",
        "movaps [rbx + 96], xmm0",
        "movaps [rbx + 112], xmm1",
        "mov rbx, [rbp - 8]",
        "leave",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, 8",
        ".cfi_restore rbp",
        ".cfi_restore rbx",
        "ret",
        ".cfi_restore_state",
        "4:",
        "cmp qword ptr [rbx + 88], {stack}",
        "jne 5f",
        ".set .Lascend_trace_offset, {few}",
        ".rept ({stack} - {few}) / 64",
        "movups xmm8, [rsi + .Lascend_trace_offset]",
        "movups xmm9, [rsi + .Lascend_trace_offset + 16]",
        "movups xmm10, [rsi + .Lascend_trace_offset + 32]",
        "movups xmm11, [rsi + .Lascend_trace_offset + 48]",
        "movaps [rsp + .Lascend_trace_offset], xmm8",
        "movaps [rsp + .Lascend_trace_offset + 16], xmm9",
        "movaps [rsp + .Lascend_trace_offset + 32], xmm10",
        "movaps [rsp + .Lascend_trace_offset + 48], xmm11",
        ".set .Lascend_trace_offset, .Lascend_trace_offset + 64",
        ".endr",
        "jmp 2b",
        // The stack ends before.
        "5:",
        "mov rcx, [rbx + 88]",
        "mov rdi, rsp",
        "rep movsb",
        "jmp 3b",
        ".cfi_endproc",
        stack = const STACK_BYTES,
        few = const FEW_STACK_BYTES,
    )
}

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_untyped_stubs",
    ".globl ascend_trace_untyped_stubs",
    ".type ascend_trace_untyped_stubs,%function",
    "ascend_trace_untyped_stubs:",
    ".cfi_startproc",
    ".set .Lascend_trace_untyped_index, 0",
    ".rept {stubs}",
    "mov w16, #.Lascend_trace_untyped_index",
    "b ascend_trace_untyped",
    ".set .Lascend_trace_untyped_index, .Lascend_trace_untyped_index + 1",
    ".endr",
    ".cfi_endproc",
    ".size ascend_trace_untyped_stubs, . - ascend_trace_untyped_stubs",
    stubs = const STUBS,
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_untyped",
    ".globl ascend_trace_untyped",
    ".type ascend_trace_untyped,%function",
    "ascend_trace_untyped:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-16]!",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset x29, -16",
    ".cfi_offset x30, -8",
    "mov x29, sp",
    ".cfi_def_cfa x29, 16",
    "sub sp, sp, #224",
    "stp x0, x1, [sp]",
    "stp x2, x3, [sp, #16]",
    "stp x4, x5, [sp, #32]",
    "stp x6, x7, [sp, #48]",
    "str x8, [sp, #64]",
    "add x9, x29, #16",
    "str x9, [sp, #80]",
    "stp q0, q1, [sp, #96]",
    "stp q2, q3, [sp, #128]",
    "stp q4, q5, [sp, #160]",
    "stp q6, q7, [sp, #192]",
    "mov w0, w16",
    "mov x1, sp",
    "bl {enter}",
    "cbnz x0, 2f",
    "ldp x0, x1, [sp]",
    "ldr x8, [sp, #64]",
    "ldp q0, q1, [sp, #96]",
    "ldp q2, q3, [sp, #128]",
    ".cfi_remember_state",
    "mov sp, x29",
    "ldp x29, x30, [sp], #16",
    ".cfi_def_cfa sp, 0",
    ".cfi_restore x29",
    ".cfi_restore x30",
    "ret",
    ".cfi_restore_state",
    "2:",
    "mov x17, x0",
    "ldp x0, x1, [sp]",
    "ldp x2, x3, [sp, #16]",
    "ldp x4, x5, [sp, #32]",
    "ldp x6, x7, [sp, #48]",
    "ldr x8, [sp, #64]",
    "ldp q0, q1, [sp, #96]",
    "ldp q2, q3, [sp, #128]",
    "ldp q4, q5, [sp, #160]",
    "ldp q6, q7, [sp, #192]",
    "mov sp, x29",
    "ldp x29, x30, [sp], #16",
    ".cfi_def_cfa sp, 0",
    ".cfi_restore x29",
    ".cfi_restore x30",
    "br x17",
    ".cfi_endproc",
    ".size ascend_trace_untyped, . - ascend_trace_untyped",
    enter = sym body::enter,
);

/// Calls `target` with the registers of the frame and a copy of the stack behind it.
///
/// # Safety
/// The frame must be that of a call that is meant for `target`, with as many bytes of its stack
/// readable as it says.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) unsafe extern "C-unwind" fn invoke(target: usize, frame: *mut Frame) {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-32]!",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset x29, -32",
        ".cfi_offset x30, -24",
        "mov x29, sp",
        ".cfi_def_cfa x29, 32",
        "str x19, [sp, #16]",
        ".cfi_offset x19, -16",
        "sub sp, sp, #{stack}",
        "mov x19, x1",
        "mov x17, x0",
        "ldp x9, x10, [x19, #80]",
        "cmp x10, #{few}",
        "b.ne 4f",
        "2:",
        ".set .Lascend_trace_offset, 0",
        ".rept {few} / 64",
        "ldp q16, q17, [x9, #.Lascend_trace_offset]",
        "ldp q18, q19, [x9, #.Lascend_trace_offset + 32]",
        "stp q16, q17, [sp, #.Lascend_trace_offset]",
        "stp q18, q19, [sp, #.Lascend_trace_offset + 32]",
        ".set .Lascend_trace_offset, .Lascend_trace_offset + 64",
        ".endr",
        "3:",
        "ldp x0, x1, [x19]",
        "ldp x2, x3, [x19, #16]",
        "ldp x4, x5, [x19, #32]",
        "ldp x6, x7, [x19, #48]",
        "ldr x8, [x19, #64]",
        "ldp q0, q1, [x19, #96]",
        "ldp q2, q3, [x19, #128]",
        "ldp q4, q5, [x19, #160]",
        "ldp q6, q7, [x19, #192]",
        "blr x17",
        "stp x0, x1, [x19]",
        "str x8, [x19, #64]",
        "stp q0, q1, [x19, #96]",
        "stp q2, q3, [x19, #128]",
        "mov sp, x29",
        "ldr x19, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        ".cfi_remember_state",
        ".cfi_def_cfa sp, 0",
        ".cfi_restore x19",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "ret",
        ".cfi_restore_state",
        "4:",
        "cmp x10, #{stack}",
        "b.ne 5f",
        ".set .Lascend_trace_offset, {few}",
        ".rept ({stack} - {few}) / 64",
        "ldp q16, q17, [x9, #.Lascend_trace_offset]",
        "ldp q18, q19, [x9, #.Lascend_trace_offset + 32]",
        "stp q16, q17, [sp, #.Lascend_trace_offset]",
        "stp q18, q19, [sp, #.Lascend_trace_offset + 32]",
        ".set .Lascend_trace_offset, .Lascend_trace_offset + 64",
        ".endr",
        "b 2b",
        // The stack ends before.
        "5:",
        "mov x11, sp",
        "6:",
        "cbz x10, 3b",
        "ldr q16, [x9], #16",
        "str q16, [x11], #16",
        "sub x10, x10, #16",
        "b 6b",
        ".cfi_endproc",
        stack = const STACK_BYTES,
        few = const FEW_STACK_BYTES,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stub_knows_its_place() {
        for at in [0, 1, 4095, STUBS - 1] {
            assert_eq!(index(address(at)), Some(at));
        }
        assert_eq!(index(address(0) + 1), None);
        assert_eq!(index(address(STUBS)), None);
        assert_eq!(index(0), None);
    }
}
