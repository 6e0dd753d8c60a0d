//! Devices and contexts.

use super::rt;
use crate::code::Outcome;
use crate::ffi::Out;
use crate::{context, device, init, runtime, stream};

fn create_context(context: &Out<usize>, device: i32) -> Outcome {
    context.check()?;
    context.put(context::create(device)?)
}

rt! {
    fn rtInit() { init::initialise(None) }

    fn rtDeinit() { init::finalise() }

    fn rtDeviceTaskAbort(id: i32, timeout_ms: u32) { device::abort_tasks(id, timeout_ms) }

    fn [rtSetDevice, rtSetDeviceEx, rtSetDeviceWithoutTsd](id: i32) { device::set(id) }

    fn rtSetDeviceWithFlags(id: i32, _flags: u64) { device::set(id) }

    fn rtSetDefaultDeviceId(id: i32) {
        let runtime = runtime::get();
        runtime.device(id)?;
        runtime.default_device.store(id, std::sync::atomic::Ordering::Release);
        Ok(())
    }

    fn [rtDeviceReset, rtDeviceResetEx, rtDeviceResetWithoutTsd](id: i32) {
        device::reset(id, false)
    }

    fn rtDeviceResetForce(id: i32) { device::reset(id, true) }

    fn rtDeviceSynchronize() { runtime::get().context()?.synchronize_device(None) }

    fn rtDeviceSynchronizeWithTimeout(timeout_ms: i32) {
        let limit = stream::timeout(timeout_ms)?;
        runtime::get().context()?.synchronize_device(limit)
    }

    fn [rtGetDevice, rtCtxGetDevice](id: Out<i32>) {
        id.check()?;
        runtime::get().with_context(|context| id.put(context.device.id as i32))
    }

    fn rtGetDeviceCount(count: Out<i32>) { count.put(runtime::get().devices.len() as i32) }

    fn [rtCtxCreate, rtCtxCreateEx](context: Out<usize>, _flags: u32, device: i32) {
        create_context(&context, device)
    }

    fn [rtCtxDestroy, rtCtxDestroyEx](context: usize) { context::destroy(context) }

    fn rtCtxSetCurrent(context: usize) { context::set_current(context) }

    fn rtCtxGetCurrent(context: Out<usize>) {
        context.check()?;
        runtime::get().with_context(|current| context.put(current.handle))
    }

    fn rtCtxGetCurrentDefaultStream(stream: Out<usize>) {
        stream.check()?;
        runtime::get().with_context(|context| stream.put(context.default_stream().handle))
    }
}
