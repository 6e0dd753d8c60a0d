//! The driver's own interface (`libascend_hal.so`): what a profiler asks it about clocks.

use super::acl;
use crate::clock::mono;
use crate::code::{Outcome, fault};
use crate::ffi::Out;
use crate::runtime;

/// `drvError_t`.
const INVALID_DEVICE: i32 = 2;
const INVALID_VALUE: i32 = 3;
const NOT_SUPPORTED: i32 = 0xfffe;

const MODULE_SYSTEM: i32 = 0;
const CORES: i32 = 3;
const SYSTEM_COUNT: i32 = 13;
const MONOTONIC_RAW: i32 = 14;
const DEVICE_OSCILLATOR_KHZ: i32 = 25;

/// The first version of the driver that tells the oscillator's frequency, and a later one.
const API_VERSION: i32 = 0x07_2316;

/// Devices have the numbers of the machine here.
fn answer(id: u32, module: i32, info: i32) -> Outcome<i64> {
    let runtime = runtime::get();
    let mut devices = runtime.devices.iter();
    let Some(device) = devices.find(|device| device.physical == id) else {
        return fault(INVALID_DEVICE, "there is no device with this number");
    };
    match (module, info) {
        (MODULE_SYSTEM, CORES) => Ok(1),
        (MODULE_SYSTEM, SYSTEM_COUNT) => Ok(device.clock.count(mono())),
        (MODULE_SYSTEM, MONOTONIC_RAW) => Ok(device.clock.read(mono())),
        (MODULE_SYSTEM, DEVICE_OSCILLATOR_KHZ) => Ok(device.clock.frequency_khz()),
        _ => fault(NOT_SUPPORTED, "the driver does not tell this"),
    }
}

acl! {
    fn halGetDeviceInfo(id: u32, module: i32, info: i32, value: Out<i64>) {
        if value.is_null() {
            return fault(INVALID_VALUE, "the result is NULL");
        }
        value.put(answer(id, module, info)?)
    }

    fn halGetAPIVersion(version: Out<i32>) {
        if version.is_null() {
            return fault(INVALID_VALUE, "the result is NULL");
        }
        version.put(API_VERSION)
    }

    fn drvGetDevNum(count: Out<u32>) {
        if count.is_null() {
            return fault(INVALID_VALUE, "the result is NULL");
        }
        count.put(runtime::get().options.devices)
    }
}
