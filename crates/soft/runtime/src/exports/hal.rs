//! The driver's interface (`libascend_hal.so`): a profiler's queries about clocks.

use std::sync::atomic::{AtomicU64, Ordering};

use super::acl;
use crate::clock::{now, spin_until};
use crate::code::{Outcome, fault};
use crate::device::Device;
use crate::ffi::Out;
use crate::{device, process};
use softacl_options::DriverClock;

/// `drvError_t`.
const INVALID_DEVICE: i32 = 2;
const INVALID_VALUE: i32 = 3;
const NO_ACCESS: i32 = 4;
const NOT_SUPPORTED: i32 = 0xfffe;

const MODULE_SYSTEM: i32 = 0;
const CORES: i32 = 3;
const SYSTEM_COUNT: i32 = 13;
const MONOTONIC_RAW: i32 = 14;
const DEVICE_OSCILLATOR_KHZ: i32 = 25;

/// The first version of the driver that returns the oscillator's frequency, and a later one.
const API_VERSION: i32 = 0x07_2316;

/// The random numbers for the durations of queries; the same in each run.
static RANDOM: AtomicU64 = AtomicU64::new(0x9e37_79b9_7f4a_7c15);

/// A number below `limit`, or 0.
fn below(limit: u64) -> u64 {
    let next = |x: u64| {
        let x = x ^ (x << 13);
        let x = x ^ (x >> 7);
        x ^ (x << 17)
    };
    let before = RANDOM.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |x| Some(next(x)));
    (before.unwrap_or_else(|x| x) >> 11) % limit.max(1)
}

/// The host's time at which the driver reads a clock: its query takes time before and after that.
fn moment_of_reading() -> u64 {
    let options = process::options();
    let lasts = options.driver_ns + below(options.driver_jitter_ns + 1);
    let begin = now();
    spin_until(begin + below(lasts + 1));
    let moment = now();
    spin_until(begin + lasts);
    moment
}

/// Reads the counter, and writes the time of that into the truth log.
fn counter(device: &Device) -> i64 {
    let host_ns = moment_of_reading();
    let count = device.clock.count(host_ns);
    if let Some(truth) = process::truth() {
        truth.add_reading(device.id, host_ns, count);
    }
    count
}

/// Devices have the numbers of the machine here.
fn device_value(id: u32, module: i32, info: i32) -> Outcome<i64> {
    let mut devices = device::all().iter();
    let Some(device) = devices.find(|device| device.physical == id) else {
        return fault(INVALID_DEVICE, "there is no device with this number");
    };
    match process::options().driver {
        DriverClock::Tells => {}
        DriverClock::Unsupported => return fault(NOT_SUPPORTED, "the driver does not report this"),
        DriverClock::Fails => return fault(NO_ACCESS, "the driver cannot reach the device"),
    }
    match (module, info) {
        (MODULE_SYSTEM, CORES) => Ok(1),
        (MODULE_SYSTEM, SYSTEM_COUNT) => Ok(counter(device)),
        (MODULE_SYSTEM, MONOTONIC_RAW) => Ok(device.clock.read(now())),
        (MODULE_SYSTEM, DEVICE_OSCILLATOR_KHZ) => Ok(device.clock.frequency_khz()),
        _ => fault(NOT_SUPPORTED, "the driver does not report this"),
    }
}

acl! {
    fn halGetDeviceInfo(id: u32, module: i32, info: i32, value: Out<i64>) {
        if value.is_null() {
            return fault(INVALID_VALUE, "the result is NULL");
        }
        value.put(device_value(id, module, info)?)
    }

    fn halGetAPIVersion(version: Out<i32>) {
        if version.is_null() {
            return fault(INVALID_VALUE, "the result is NULL");
        }
        version.put(API_VERSION)
    }

    // The device reaches pinned memory of the runtime alone.
    fn halHostRegister(_memory: usize, _size: u64, _flags: u32, _device: u32, _address: usize) {
        fault(NOT_SUPPORTED, "the driver does not register memory of the host")
    }

    fn halHostUnregister(_memory: usize, _device: u32) {
        fault(NOT_SUPPORTED, "the driver does not register memory of the host")
    }

    fn drvGetDevNum(count: Out<u32>) {
        if count.is_null() {
            return fault(INVALID_VALUE, "the result is NULL");
        }
        count.put(process::options().devices)
    }
}
