//! Entrances on x86_64.

use core::arch::global_asm;
use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use super::super::shape::{INTEGER, OTHER_VECTORS, SECOND_INTEGER, VECTOR};
use super::{ENTRANCES, TABLE, readable};

/// Bytes of one entrance.
pub(super) const STUB_BYTES: usize = 16;

/// How vectors are saved: by moves, where the processor has no more than 16 of 128 bits, or by its
/// special instructions, which write the registers in use.
const MOVES: u32 = 0;
const XSAVE: u32 = 1;
const XSAVEC: u32 = 2;

/// The legacy area and the header, which every layout begins with.
const HEAD: u64 = 576;

/// Parts of the processor's state that callers may rely on: vectors and masks of AVX-512, and the
/// general registers that APX adds. Not the tiles of AMX, which no compiler keeps over a call, nor the
/// keys of protected memory, which are not part of any call.
const COMPONENTS: u64 = 1 << 1 | 1 << 2 | 0b111 << 5 | 1 << 19;

/// Laid out for the assembly.
#[repr(C)]
struct SavedState {
    /// Bytes that it takes, a multiple of 64.
    bytes: AtomicU64,
    /// The components, for the processor.
    components: AtomicU64,
    kind: AtomicU32,
    is_known: AtomicU32,
}

static WAY: SavedState = SavedState {
    bytes: AtomicU64::new(HEAD),
    components: AtomicU64::new(0),
    kind: AtomicU32::new(MOVES),
    is_known: AtomicU32::new(0),
};

impl SavedState {
    fn set(&self, (kind, components, bytes): (u32, u64, u64)) {
        self.bytes.store(bytes.next_multiple_of(64), Relaxed);
        self.components.store(components, Relaxed);
        self.kind.store(kind, Relaxed);
        self.is_known.store(1, Release);
    }
}

/// Finds out how vectors are saved here. Always the same, so that it does no harm twice.
pub(super) fn prepare() {
    if WAY.is_known.load(Acquire) == 0 {
        WAY.set(way(true));
    }
}

/// The kind, the components and the bytes; the compact layout only where it may be.
fn way(may_be_compact: bool) -> (u32, u64, u64) {
    let has_os_support = __cpuid(1).ecx & 1 << 27 != 0;
    if !has_os_support {
        return (MOVES, 0, HEAD);
    }
    // SAFETY: the system supports such state, so the instruction exists.
    let enabled = unsafe { enabled() };
    let components = enabled & COMPONENTS;
    let is_compact = may_be_compact && __cpuid_count(0xd, 1).eax & 1 << 1 != 0;
    let mut bytes = HEAD;
    for component in (2..63).filter(|component| components & 1 << component != 0) {
        let about = __cpuid_count(0xd, component);
        let start = match (is_compact, about.ecx & 1 << 1 != 0) {
            (false, _) => u64::from(about.ebx),
            (true, true) => bytes.next_multiple_of(64),
            (true, false) => bytes,
        };
        bytes = bytes.max(start + u64::from(about.eax));
    }
    (if is_compact { XSAVEC } else { XSAVE }, components, bytes)
}

#[target_feature(enable = "xsave")]
fn enabled() -> u64 {
    // SAFETY: the caller guarantees that the instruction exists.
    unsafe { _xgetbv(0) }
}

#[cfg(test)]
pub(super) fn with_each_way(check: impl Fn()) {
    for other in [(MOVES, 0, HEAD), way(false), way(true)] {
        WAY.set(other);
        check();
    }
}

/// Saves the vectors at `rsp`. Changes `rax`, `rdx`, `r11`.
macro_rules! save_vectors {
    () => {
        "
        xor r11d, r11d
        mov [rsp + 512], r11
        mov [rsp + 520], r11
        mov [rsp + 528], r11
        mov [rsp + 536], r11
        mov [rsp + 544], r11
        mov [rsp + 552], r11
        mov [rsp + 560], r11
        mov [rsp + 568], r11
        mov eax, [rip + {way} + 8]
        mov edx, [rip + {way} + 12]
        cmp dword ptr [rip + {way} + 16], 1
        je 22f
        jb 23f
        xsavec [rsp]
        jmp 24f
        22:
        xsave [rsp]
        jmp 24f
        23:
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movaps [rsp + 16 * \\n], xmm\\n
        .endr
        24:
        "
    };
}

/// Brings them back from `rcx`. Changes `rax`, `rdx`.
macro_rules! restore_vectors {
    () => {
        "
        mov eax, [rip + {way} + 8]
        mov edx, [rip + {way} + 12]
        cmp dword ptr [rip + {way} + 16], 0
        je 25f
        xrstor [rcx]
        jmp 26f
        25:
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movaps xmm\\n, [rcx + 16 * \\n]
        .endr
        26:
        "
    };
}

/// Sets `r11` to the data of the entrance. Changes `r10`.
macro_rules! find_entrance {
    () => {
        "
        mov r11d, [rbp + 8]
        shl r11, 4
        lea r10, [rip + {table}]
        add r11, r10
        "
    };
}

/// Brings the arguments back, as they were when the entrance was entered.
macro_rules! restore_arguments {
    () => {
        "
        mov rdi, [rbx]
        mov rsi, [rbx + 8]
        mov rdx, [rbx + 16]
        mov rcx, [rbx + 24]
        mov r8, [rbx + 32]
        mov r9, [rbx + 40]
        mov rax, [rbx + 48]
        mov r10, [rbx + 56]
        "
    };
}

global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_entrances",
    ".globl ascend_trace_entrances",
    ".type ascend_trace_entrances,@function",
    "ascend_trace_entrances:",
    ".cfi_startproc",
    ".set .Lascend_trace_entrance_index, 0",
    ".rept {entrances}",
    ".p2align 4",
    ".cfi_def_cfa_offset 8",
    ".byte 0x68",
    ".long .Lascend_trace_entrance_index",
    ".cfi_def_cfa_offset 16",
    "jmp ascend_trace_entrance",
    ".set .Lascend_trace_entrance_index, .Lascend_trace_entrance_index + 1",
    ".endr",
    ".p2align 4",
    ".cfi_endproc",
    ".size ascend_trace_entrances, . - ascend_trace_entrances",
    entrances = const ENTRANCES,
);

// Of the frame: at `rbx` the general registers, in the order of arguments; at 72 the control word of
// the vector unit, with exception flags that belong to the call; results at 80 and 96; a word at 112.
// Below are the vectors, and below them the copy of the stack.
global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_entrance",
    ".globl ascend_trace_entrance",
    ".type ascend_trace_entrance,@function",
    "ascend_trace_entrance:",
    ".cfi_startproc",
    ".cfi_def_cfa_offset 16",
    "push rbp",
    ".cfi_def_cfa_offset 24",
    ".cfi_offset rbp, -24",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rbx",
    ".cfi_offset rbx, -32",
    "sub rsp, 128",
    "and rsp, -64",
    "mov rbx, rsp",
    "mov [rbx], rdi",
    "mov [rbx + 8], rsi",
    "mov [rbx + 16], rdx",
    "mov [rbx + 24], rcx",
    "mov [rbx + 32], r8",
    "mov [rbx + 40], r9",
    "mov [rbx + 48], rax",
    "mov [rbx + 56], r10",
    "mov [rbx + 64], r11",
    "sub rsp, [rip + {way}]",
    save_vectors!(),
    find_entrance!(),
    "mov eax, [r11 + 12]",
    "test eax, eax",
    "js 7f",
    "mov ecx, [r11 + 8]",
    "test ecx, ecx",
    "jnz 4f",
    "3:",
    restore_arguments!(),
    "call [r11]",
    "stmxcsr [rbx + 72]",
    find_entrance!(),
    "mov r11d, [r11 + 12]",
    "test r11d, {integer}",
    "jz 2f",
    "mov [rbx + 48], rax",
    "2:",
    "test r11d, {second}",
    "jz 2f",
    "mov [rbx + 16], rdx",
    "2:",
    "movaps [rbx + 80], xmm0",
    "movaps [rbx + 96], xmm1",
    "mov rcx, rbx",
    "sub rcx, [rip + {way}]",
    restore_vectors!(),
    "ldmxcsr [rbx + 72]",
    "test r11d, {vector}",
    "jz 2f",
    "movaps xmm0, [rbx + 80]",
    "2:",
    "test r11d, {others}",
    "jz 2f",
    "movaps xmm1, [rbx + 96]",
    "2:",
    restore_arguments!(),
    "mov r11, [rbx + 64]",
    ".cfi_remember_state",
    "lea rsp, [rbp - 8]",
    "pop rbx",
    ".cfi_restore rbx",
    "pop rbp",
    ".cfi_restore rbp",
    ".cfi_def_cfa rsp, 16",
    "lea rsp, [rsp + 8]",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_restore_state",
    // Arguments on the stack: they are mapped to the end of the page at least.
    "4:",
    "lea rsi, [rbp + 24]",
    "mov eax, esi",
    "neg eax",
    "and eax, 4095",
    "jz 5f",
    "cmp eax, ecx",
    "jae 5f",
    "mov rdi, rsi",
    "mov rsi, rcx",
    "call {readable}",
    "mov [rbx + 112], rax",
    "mov rcx, rsp",
    restore_vectors!(),
    find_entrance!(),
    "mov rcx, [rbx + 112]",
    "lea rsi, [rbp + 24]",
    "5:",
    "sub rsp, rcx",
    "and rsp, -16",
    "6:",
    "mov rax, [rsi + rcx - 8]",
    "mov [rsp + rcx - 8], rax",
    "sub rcx, 8",
    "jnz 6b",
    "jmp 3b",
    // To continue at the returned address, in the place of the entrance's number: a signal handler does
    // not change memory directly below the stack.
    "7:",
    "mov edi, [r11 + 8]",
    "mov rsi, rbx",
    "call [r11]",
    "mov [rbp + 8], rax",
    "mov rcx, rsp",
    restore_vectors!(),
    restore_arguments!(),
    "mov r11, [rbx + 64]",
    "lea rsp, [rbp - 8]",
    "pop rbx",
    ".cfi_restore rbx",
    "pop rbp",
    ".cfi_restore rbp",
    ".cfi_def_cfa rsp, 16",
    "lea rsp, [rsp + 8]",
    ".cfi_def_cfa_offset 8",
    "jmp [rsp - 8]",
    ".cfi_endproc",
    ".size ascend_trace_entrance, . - ascend_trace_entrance",
    way = sym WAY,
    table = sym TABLE,
    readable = sym readable,
    integer = const INTEGER,
    second = const SECOND_INTEGER,
    vector = const VECTOR,
    others = const OTHER_VECTORS,
);
