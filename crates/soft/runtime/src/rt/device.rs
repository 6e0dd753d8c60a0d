//! Devices and contexts.

use super::rt;
use crate::code::{Outcome, RT_NOT_SUPPORTED, fault};
use crate::context::calls;
use crate::ffi::Out;
use crate::stream::access;
use crate::{current, device, init};

fn create_context(context: &Out<usize>, device: i32) -> Outcome {
    context.check()?;
    context.put(calls::create(device)?)
}

rt! {
    fn rtInit() { init::initialise(None) }

    fn rtDeinit() { init::finalise() }

    fn rtDeviceTaskAbort(id: i32, timeout_ms: u32) { calls::abort_tasks(id, timeout_ms) }

    fn [rtSetDevice, rtSetDeviceEx, rtSetDeviceWithoutTsd](id: i32) { current::set_device(id) }

    fn rtSetDeviceWithFlags(id: i32, _flags: u64) { current::set_device(id) }

    fn rtSetDefaultDeviceId(id: i32) {
        device::of(id)?;
        current::set_default_device(id);
        Ok(())
    }

    fn [rtDeviceReset, rtDeviceResetEx, rtDeviceResetWithoutTsd](id: i32) {
        calls::reset_device(id, false)
    }

    fn rtDeviceResetForce(id: i32) { calls::reset_device(id, true) }

    fn rtDeviceSynchronize() { current::context()?.synchronize_device(None) }

    fn rtDeviceSynchronizeWithTimeout(timeout_ms: i32) {
        let limit = access::timeout(timeout_ms)?;
        current::context()?.synchronize_device(limit)
    }

    fn [rtGetDevice, rtCtxGetDevice](id: Out<i32>) {
        id.check()?;
        current::with(|context| id.put(context.device.id as i32))
    }

    fn rtGetDeviceCount(count: Out<i32>) { count.put(device::all().len() as i32) }

    fn [rtCtxCreate, rtCtxCreateEx](context: Out<usize>, _flags: u32, device: i32) {
        create_context(&context, device)
    }

    fn [rtCtxDestroy, rtCtxDestroyEx](context: usize) { calls::destroy(context) }

    fn rtCtxSetCurrent(context: usize) { calls::set_current(context) }

    fn rtCtxGetCurrent(context: Out<usize>) {
        context.check()?;
        current::with(|current| context.put(current.handle))
    }

    // The structure comes by value, in registers or, of earlier releases, on the stack: no function reads it.
    fn [rtBindHostPid, rtUnbindHostPid]() {
        fault(RT_NOT_SUPPORTED, "no driver binds processes")
    }

    fn rtCtxGetCurrentDefaultStream(stream: Out<usize>) {
        stream.check()?;
        current::with(|context| stream.put(context.default_stream().handle))
    }
}
