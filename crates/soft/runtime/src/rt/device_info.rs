//! Facts about devices, and their limits.

use std::ffi::c_char;

use super::rt;
use crate::code::{RT_INTERNAL, RT_OUT_OF_MEMORY, check, fault};
use crate::device::Device;
use crate::exports::details::core_sync_address;
use crate::exports::device_info::CUBE_CORES;
use crate::ffi::Out;
use crate::{current, device, process, settings};

/// `RT_LIMIT_TYPE_LOW_POWER_TIMEOUT`, which no card keeps. The limits of `aclrtDeviceLimit` follow it.
const LOW_POWER_TIMEOUT: u32 = 0;
const LAST_LIMIT: u32 = 5;

rt! {
    fn rtGetSocVersion(name: Out<c_char>, room: u32) {
        name.check()?;
        check(room > 0, "there is no room for the name")?;
        let own = process::options().chip.soc_name().to_string_lossy();
        if own.len() >= room as usize {
            return fault(RT_INTERNAL, "there is no room for the name");
        }
        name.put_text(&own);
        Ok(())
    }

    fn rtGetAiCoreCount(count: Out<u32>) { count.put(CUBE_CORES) }

    fn rtGetC2cCtrlAddr(address: Out<u64>, length: Out<u32>) {
        address.check()?;
        length.check()?;
        match core_sync_address()? {
            Some(found) => address.put(found as u64)?,
            None => return fault(RT_OUT_OF_MEMORY, "the device has no memory left"),
        }
        length.put(Device::CORE_SYNC_BYTES as u32)
    }

    fn rtDeviceSetLimit(id: i32, limit: u32, value: u32) {
        let device = device::of(id)?.id;
        check(limit <= LAST_LIMIT, "this limit does not exist")?;
        if limit == LOW_POWER_TIMEOUT {
            current::context()?;
            return Ok(());
        }
        let limits = &settings::get().device_limits;
        limits.set(u64::from(device), limit - 1, i64::from(value))
    }
}
