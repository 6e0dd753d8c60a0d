//! Allocations for the calling thread, on the device that it uses.

use super::{MANAGED, host, vmm};
use crate::code::{Fault, INVALID_PARAM, Outcome, RT_OUT_OF_MEMORY, check, fault};
use crate::current;

const NO_MEMORY: Fault = Fault {
    code: RT_OUT_OF_MEMORY,
    why: "no memory of this kind is left",
};

const EMPTY: Outcome<usize> = fault(INVALID_PARAM, "the size is 0");

pub(crate) fn managed(size: usize) -> Outcome<usize> {
    let context = current::context()?;
    check(size > 0, "the size is 0")?;
    context
        .device
        .memory
        .allocate(size, MANAGED)
        .ok_or(NO_MEMORY)
}

/// Device memory on the current context's device.
pub(crate) fn on_device(size: usize, policy: u32) -> Outcome<usize> {
    const POLICY_BITS: u32 = 0x0010_1107;
    if size == 0 {
        return EMPTY;
    }
    let context = current::context()?;
    check(
        policy & !POLICY_BITS == 0,
        "this allocation policy does not exist",
    )?;
    context.device.memory.allocate(size, policy).ok_or(Fault {
        code: RT_OUT_OF_MEMORY,
        why: "the device has no memory left",
    })
}

pub(crate) fn on_host(size: usize) -> Outcome<usize> {
    if size == 0 {
        return EMPTY;
    }
    current::context()?;
    host().pinned.allocate(size, 0).ok_or(Fault {
        code: RT_OUT_OF_MEMORY,
        why: "no pinned host memory is left",
    })
}

/// Physical memory, which has no addresses yet.
pub(crate) fn physical(size: usize) -> Outcome<usize> {
    vmm::check_size(size)?;
    vmm::create(size, current::device()?)
}

/// Reserves addresses for at least `size` bytes.
pub(crate) fn addresses(size: usize) -> Outcome<usize> {
    let size = vmm::rounded(size)?;
    vmm::reserve(size, current::device()?.id)
}
