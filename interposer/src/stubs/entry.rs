//! The table of stubs and their shared code; both are written in assembly.
//!
//! A stub passes its number to `ascend_trace_untyped`, which keeps all registers in a
//! [`Frame`](super::frame::Frame) and calls [`enter`](super::body::enter). That either returns an
//! address to continue at with everything unchanged, as without a stub, or has made the call itself,
//! through [`invoke`], and leaves the results in the frame.

use super::STUBS;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64::STUB_BYTES;
#[cfg(target_arch = "aarch64")]
pub(super) use aarch64::invoke;
#[cfg(target_arch = "x86_64")]
use x86_64::STUB_BYTES;
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::invoke;

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

/// The number of the stub that contains an address.
pub(super) fn index_within(address: usize) -> Option<usize> {
    let index = address.wrapping_sub(first()) / STUB_BYTES;
    (index < STUBS).then_some(index)
}

fn first() -> usize {
    let first: unsafe extern "C" fn() = ascend_trace_untyped_stubs;
    first as usize
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
        assert_eq!(index_within(address(1) + 1), Some(1));
        assert_eq!(index_within(address(STUBS)), None);
        assert_eq!(index(address(STUBS)), None);
        assert_eq!(index(0), None);
    }
}
