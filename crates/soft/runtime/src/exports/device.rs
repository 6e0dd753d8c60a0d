//! Devices.

use super::acl;
use crate::code::require;
use crate::context::{calls, device_contexts};
use crate::ffi::Out;
use crate::stream::access;
use crate::{current, device};

/// `ACL_HOST`: the program runs on the host of a card.
const RUN_MODE_HOST: u32 = 1;

acl! {
    fn [aclrtSetDevice; rtSetDevice, rtSetDeviceEx, rtSetDeviceWithoutTsd](id: i32) { current::set_device(id) }

    fn [aclrtResetDevice; rtDeviceReset, rtDeviceResetEx, rtDeviceResetWithoutTsd](id: i32) { calls::reset_device(id, false) }

    fn [aclrtResetDeviceForce; rtDeviceResetForce](id: i32) { calls::reset_device(id, true) }

    fn [aclrtGetDevice; rtGetDevice, rtCtxGetDevice](id: Out<i32>) {
        id.check()?;
        current::with(|context| id.put(context.device.id as i32))
    }

    fn [aclrtGetDeviceCount; rtGetDeviceCount](count: Out<u32>) { count.put(device::all().len() as u32) }

    fn aclrtGetRunMode(mode: Out<u32>) { mode.put(RUN_MODE_HOST) }

    fn [aclrtSynchronizeDevice; rtDeviceSynchronize]() { current::context()?.synchronize_device(None) }

    fn [aclrtSynchronizeDeviceWithTimeout; rtDeviceSynchronizeWithTimeout](timeout_ms: i32) {
        let limit = access::timeout(timeout_ms)?;
        current::context()?.synchronize_device(limit)
    }

    fn aclrtGetPrimaryCtxState(id: i32, flags: usize, active: Out<i32>) {
        active.check()?;
        require(flags == 0, "the flags are reserved")?;
        let device = device::of(id)?;
        active.put(i32::from(device_contexts::of(device).primary_is_active()))
    }
}
