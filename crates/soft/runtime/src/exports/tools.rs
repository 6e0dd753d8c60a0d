//! Profiling calls that have to give something back. They are accepted and do nothing.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::acl;
use crate::ffi::{Out, Text};

static NEXT_RANGE: AtomicU32 = AtomicU32::new(1);
static NEXT_MSTX_RANGE: AtomicU64 = AtomicU64::new(1);

acl! {
    fn aclprofRangeStart(_stamp: usize, range: Out<u32>) {
        range.put(NEXT_RANGE.fetch_add(1, Ordering::Relaxed))
    }
}

/// Logs that a program wants to have in the vendor's files; `arguments` is a `va_list`. There are no such
/// files here.
// SAFETY: the name is AscendCL's; nothing else in this library defines it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclAppLogWithArgs(
    _level: i32,
    _function: usize,
    _file: usize,
    _line: u32,
    _format: usize,
    _arguments: usize,
) {
}

/// The same number for the same text, as the profiler's.
// SAFETY: the names are AscendCL's; nothing else in this library defines them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclprofStr2Id(text: Text) -> u64 {
    hash(text.optional().unwrap_or_default().bytes())
}

/// 64-bit FNV-1a.
pub(super) fn hash(text: impl Iterator<Item = u8>) -> u64 {
    text.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mstxRangeStartA(_message: usize, _stream: usize) -> u64 {
    NEXT_MSTX_RANGE.fetch_add(1, Ordering::Relaxed)
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mstxDomainRangeStartA(_domain: usize, _message: usize, _: usize) -> u64 {
    NEXT_MSTX_RANGE.fetch_add(1, Ordering::Relaxed)
}
