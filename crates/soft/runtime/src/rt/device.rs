//! Devices and contexts.

use super::rt;
use crate::code::{Outcome, RT_NOT_SUPPORTED, fault};
use crate::context::calls;
use crate::ffi::Out;
use crate::{current, device, init};

fn create_context(context: &Out<usize>, device: i32) -> Outcome {
    context.check()?;
    context.put(calls::create(device)?)
}

rt! {
    fn rtInit() { init::initialise(None) }

    fn rtDeinit() { init::finalise() }

    fn rtDeviceTaskAbort(id: i32, timeout_ms: u32) { calls::abort_tasks(id, timeout_ms) }

    fn rtSetDeviceWithFlags(id: i32, _flags: u64) { current::set_device(id) }

    fn rtSetDefaultDeviceId(id: i32) {
        device::of(id)?;
        current::set_default_device(id);
        Ok(())
    }

    fn [rtCtxCreate, rtCtxCreateEx](context: Out<usize>, _flags: u32, device: i32) {
        create_context(&context, device)
    }

    // The structure comes by value, in registers or, of earlier releases, on the stack: no function reads it.
    fn [rtBindHostPid, rtUnbindHostPid]() {
        fault(RT_NOT_SUPPORTED, "no driver binds processes")
    }
}
