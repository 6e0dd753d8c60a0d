//! Entrances on aarch64.

use core::arch::global_asm;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use super::super::shape::{INTEGER, OTHER_VECTORS, SECOND_INTEGER, VECTOR};
use super::{ENTRANCES, PASSES_ON, TABLE, readable};

/// Bytes of one entrance.
pub(super) const STUB_BYTES: usize = 8;

/// 1 where vectors are longer than 128 bits, or may be.
static IS_SCALABLE: AtomicU32 = AtomicU32::new(0);

/// The system's flag for scalable vectors in its description of the processor.
const HWCAP_SVE: u64 = 1 << 22;

/// Finds out how vectors are saved here. Always the same, so that it does no harm twice.
pub(super) fn prepare() {
    // SAFETY: reads the kernel's data about this process.
    let about = unsafe { libc::getauxval(libc::AT_HWCAP) };
    IS_SCALABLE.store(u32::from(about & HWCAP_SVE != 0), Relaxed);
}

#[cfg(test)]
pub(super) fn with_each_way(check: impl Fn()) {
    IS_SCALABLE.store(0, Relaxed);
    check();
    prepare();
    check();
}

/// Saves the vectors below `sp`, which moves, and leaves their place in `x20`. Changes `x9`.
macro_rules! save_vectors {
    () => {
        "
        adrp x9, {scalable}
        ldr w9, [x9, :lo12:{scalable}]
        cbnz w9, 22f
        sub sp, sp, #512
        stp q0, q1, [sp]
        stp q2, q3, [sp, #32]
        stp q4, q5, [sp, #64]
        stp q6, q7, [sp, #96]
        stp q8, q9, [sp, #128]
        stp q10, q11, [sp, #160]
        stp q12, q13, [sp, #192]
        stp q14, q15, [sp, #224]
        stp q16, q17, [sp, #256]
        stp q18, q19, [sp, #288]
        stp q20, q21, [sp, #320]
        stp q22, q23, [sp, #352]
        stp q24, q25, [sp, #384]
        stp q26, q27, [sp, #416]
        stp q28, q29, [sp, #448]
        stp q30, q31, [sp, #480]
        b 23f
        22:
        .arch_extension sve
        addvl sp, sp, #-32
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        str z\\n, [sp, #\\n, mul vl]
        .endr
        addvl sp, sp, #-2
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        str p\\n, [sp, #\\n, mul vl]
        .endr
        .arch_extension nosve
        23:
        mov x20, sp
        "
    };
}

/// Brings them back from `x20`. Changes `x9`.
macro_rules! restore_vectors {
    () => {
        "
        adrp x9, {scalable}
        ldr w9, [x9, :lo12:{scalable}]
        cbnz w9, 24f
        ldp q0, q1, [x20]
        ldp q2, q3, [x20, #32]
        ldp q4, q5, [x20, #64]
        ldp q6, q7, [x20, #96]
        ldp q8, q9, [x20, #128]
        ldp q10, q11, [x20, #160]
        ldp q12, q13, [x20, #192]
        ldp q14, q15, [x20, #224]
        ldp q16, q17, [x20, #256]
        ldp q18, q19, [x20, #288]
        ldp q20, q21, [x20, #320]
        ldp q22, q23, [x20, #352]
        ldp q24, q25, [x20, #384]
        ldp q26, q27, [x20, #416]
        ldp q28, q29, [x20, #448]
        ldp q30, q31, [x20, #480]
        b 25f
        24:
        .arch_extension sve
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        ldr p\\n, [x20, #\\n, mul vl]
        .endr
        addvl x9, x20, #2
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        ldr z\\n, [x9, #\\n, mul vl]
        .endr
        .arch_extension nosve
        25:
        "
    };
}

/// Puts results into the saved registers: into the low 128 bits of the first four. Changes `x9`, `x10`.
macro_rules! keep_vector_results {
    () => {
        "
        adrp x9, {scalable}
        ldr w9, [x9, :lo12:{scalable}]
        cbnz w9, 26f
        str q0, [x20]
        tbz w11, #{others}, 27f
        str q1, [x20, #16]
        stp q2, q3, [x20, #32]
        b 27f
        26:
        .arch_extension sve
        addvl x9, x20, #2
        str q0, [x9]
        tbz w11, #{others}, 27f
        addvl x9, x9, #1
        str q1, [x9]
        addvl x9, x9, #1
        str q2, [x9]
        addvl x9, x9, #1
        str q3, [x9]
        .arch_extension nosve
        27:
        "
    };
}

/// Sets `x17` to the data of the entrance. Changes `x9`, `x16`.
macro_rules! find_entrance {
    () => {
        "
        ldr w16, [x19, #128]
        adrp x9, {table}
        add x9, x9, :lo12:{table}
        add x17, x9, x16, lsl #4
        "
    };
}

/// Restores the general registers. `x16` and `x17` are free between a call and its function.
macro_rules! restore_general {
    () => {
        "
        ldp x0, x1, [x19]
        ldp x2, x3, [x19, #16]
        ldp x4, x5, [x19, #32]
        ldp x6, x7, [x19, #48]
        ldp x8, x9, [x19, #64]
        ldp x10, x11, [x19, #80]
        ldp x12, x13, [x19, #96]
        ldp x14, x15, [x19, #112]
        ldr x18, [x19, #144]
        "
    };
}

/// Takes the frame away.
macro_rules! leave {
    () => {
        "
        mov sp, x29
        ldp x19, x20, [sp, #16]
        ldp x29, x30, [sp], #32
        .cfi_def_cfa sp, 0
        .cfi_restore x19
        .cfi_restore x20
        .cfi_restore x29
        .cfi_restore x30
        "
    };
}

global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_entrances",
    ".globl ascend_trace_entrances",
    ".type ascend_trace_entrances,%function",
    "ascend_trace_entrances:",
    ".cfi_startproc",
    ".set .Lascend_trace_entrance_index, 0",
    ".rept {entrances}",
    "mov w16, #.Lascend_trace_entrance_index",
    "b ascend_trace_entrance",
    ".set .Lascend_trace_entrance_index, .Lascend_trace_entrance_index + 1",
    ".endr",
    ".cfi_endproc",
    ".size ascend_trace_entrances, . - ascend_trace_entrances",
    entrances = const ENTRANCES,
);

// Of the frame: at `x19` the general registers, the entrance's number at 128, `x18` at 144; at `x20`,
// below, the vectors; and below them the copy of the stack.
global_asm!(
    ".text",
    ".p2align 6",
    ".hidden ascend_trace_entrance",
    ".globl ascend_trace_entrance",
    ".type ascend_trace_entrance,%function",
    "ascend_trace_entrance:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-32]!",
    ".cfi_def_cfa_offset 32",
    ".cfi_offset x29, -32",
    ".cfi_offset x30, -24",
    "mov x29, sp",
    ".cfi_def_cfa x29, 32",
    "stp x19, x20, [sp, #16]",
    ".cfi_offset x19, -16",
    ".cfi_offset x20, -8",
    "sub sp, sp, #160",
    "mov x19, sp",
    "stp x0, x1, [x19]",
    "stp x2, x3, [x19, #16]",
    "stp x4, x5, [x19, #32]",
    "stp x6, x7, [x19, #48]",
    "stp x8, x9, [x19, #64]",
    "stp x10, x11, [x19, #80]",
    "stp x12, x13, [x19, #96]",
    "stp x14, x15, [x19, #112]",
    "str x16, [x19, #128]",
    "str x18, [x19, #144]",
    save_vectors!(),
    find_entrance!(),
    "ldp w10, w11, [x17, #8]",
    "tbnz w11, #{passes_on}, 7f",
    "cbnz w10, 4f",
    "3:",
    "ldr x17, [x17]",
    restore_general!(),
    "blr x17",
    find_entrance!(),
    "ldr w11, [x17, #12]",
    "tst w11, #{integer}",
    "b.eq 2f",
    "str x0, [x19]",
    "2:",
    "tst w11, #{second}",
    "b.eq 2f",
    "str x1, [x19, #8]",
    "2:",
    "tst w11, #{vector}",
    "b.eq 2f",
    keep_vector_results!(),
    "2:",
    restore_vectors!(),
    restore_general!(),
    ".cfi_remember_state",
    leave!(),
    "ret",
    ".cfi_restore_state",
    // Arguments on the stack: they are mapped to the end of the page at least.
    "4:",
    "add x12, x29, #32",
    "neg x13, x12",
    "ands x13, x13, #4095",
    "b.eq 5f",
    "cmp x13, x10",
    "b.hs 5f",
    "mov x0, x12",
    "mov x1, x10",
    "bl {readable}",
    "str x0, [x19, #136]",
    restore_vectors!(),
    find_entrance!(),
    "ldr x10, [x19, #136]",
    "add x12, x29, #32",
    "5:",
    "sub sp, sp, x10",
    "mov x14, sp",
    "6:",
    "ldp x11, x13, [x12], #16",
    "stp x11, x13, [x14], #16",
    "subs x10, x10, #16",
    "b.hi 6b",
    "b 3b",
    // To continue at the returned address.
    "7:",
    "mov w0, w10",
    "mov x1, x19",
    "ldr x9, [x17]",
    "blr x9",
    "str x0, [x19, #136]",
    restore_vectors!(),
    "ldr x17, [x19, #136]",
    restore_general!(),
    leave!(),
    "br x17",
    ".cfi_endproc",
    ".size ascend_trace_entrance, . - ascend_trace_entrance",
    scalable = sym IS_SCALABLE,
    table = sym TABLE,
    readable = sym readable,
    integer = const INTEGER,
    second = const SECOND_INTEGER,
    vector = const VECTOR,
    others = const OTHER_VECTORS.trailing_zeros(),
    passes_on = const PASSES_ON.trailing_zeros(),
);
