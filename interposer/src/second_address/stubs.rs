//! The stubs: a table in the program text. Each notes its number and goes on.

use core::arch::global_asm;

/// Stubs in the table of [`stub_address`].
pub(crate) const STUBS: usize = 2048;

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

/// The number of the stub that contains an address.
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
