//! Functions that tasks do not need: details of errors, addresses on a device, descriptors, and the lock for a
//! snapshot.

use super::acl;
use crate::code::{Outcome, RT_NOT_SUPPORTED, RT_OUT_OF_MEMORY, check, fault, require};
use crate::ffi::Out;
use crate::{current, device, process, snapshot};

const NO_RESULT: &str = "the result is NULL";

/// `aclrtErrorInfo`: whether a repair may help, whether there are details, the type, and the details.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) struct ErrorInfo {
    may_repair: u8,
    has_detail: u8,
    reserved: [u8; 2],
    kind: u32,
    detail: [u64; 321],
}

const _: () = assert!(size_of::<ErrorInfo>() == 2576);

/// The runtime's descriptor of memory for a cache operation.
const CACHE_DESCRIPTOR: usize = 32;

fn on_mixed_cores() -> Outcome {
    if process::options().chip.mixes_cores() {
        return Ok(());
    }
    fault(RT_NOT_SUPPORTED, "this card does not have that")
}

/// The memory through which the cores of the current device synchronise.
pub(crate) fn core_sync_address() -> Outcome<Option<usize>> {
    on_mixed_cores()?;
    Ok(current::device()?.core_sync_address())
}

fn put_address(place: &Out<usize>, address: Option<usize>) -> Outcome {
    match address {
        Some(address) => place.put(address),
        None => fault(RT_OUT_OF_MEMORY, "the device has no memory left"),
    }
}

/// A process locks and unlocks itself only.
fn own_process(pid: i32, reserved: usize) -> Outcome {
    require(pid == std::process::id() as i32, "this is another process")?;
    require(reserved == 0, "the last argument is reserved")?;
    if process::options().chip.takes_snapshots() {
        return Ok(());
    }
    fault(RT_NOT_SUPPORTED, "this card takes no snapshots")
}

acl! {
    fn aclrtGetErrorVerbose(id: i32, info: Out<ErrorInfo>) {
        const NONE: u32 = 0;
        const OTHER: u32 = 0xffff;
        info.check()?;
        on_mixed_cores()?;
        let context = current::context()?;
        device::of(id)?;
        let kind = if context.failures.has_stopped() { OTHER } else { NONE };
        info.put(ErrorInfo {
            may_repair: 0,
            has_detail: 0,
            reserved: [0; 2],
            kind,
            detail: [0; 321],
        })
    }

    fn aclrtGetHardwareSyncAddr(address: Out<usize>) {
        check(!address.is_null(), NO_RESULT)?;
        put_address(&address, core_sync_address()?)
    }

    fn [aclrtCtxGetFloatOverflowAddr; rtCtxGetOverflowAddr](address: Out<usize>) {
        check(!address.is_null(), NO_RESULT)?;
        put_address(&address, current::context()?.overflow_address())
    }

    fn aclrtCmoGetDescSize(size: Out<usize>) {
        check(!size.is_null(), NO_RESULT)?;
        on_mixed_cores()?;
        size.put(CACHE_DESCRIPTOR)
    }

    fn aclrtSnapShotProcessLock(pid: i32, reserved: usize) {
        own_process(pid, reserved)?;
        snapshot::close()
    }

    fn aclrtSnapShotProcessUnlock(pid: i32, reserved: usize) {
        own_process(pid, reserved)?;
        snapshot::open()
    }
}
