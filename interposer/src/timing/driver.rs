//! Readings of a device's clock by the driver: its counter, read between two host times, on no stream.
//!
//! Only the thread that reads times asks. It asks the driver library that the runtime has loaded, and
//! loads none. Without one, or where it returns no clock, clocks are compared by events alone.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize};

use ascend_trace_format::api::AnchorSource;
use ascend_trace_format::record::kinds;
use ascend_trace_ring::ticks::monotonic;

use crate::clock::{ticks, ticks_after_all};
use crate::objects::{self, ContextEntry};
use crate::timing::reference;
use crate::{emit, loader, real, until_exit};

/// `MODULE_TYPE_SYSTEM`, and the queries to it: the counter of ticks, and their number in thousands per
/// second.
const SYSTEM: i32 = 0;
const COUNT: i32 = 13;
const FREQUENCY_KHZ: i32 = 25;
/// What oscillators have; anything else was meant otherwise.
const FREQUENCIES_KHZ: core::ops::RangeInclusive<i64> = 1_000..=10_000_000;

/// Between two readings while the program submits, and while it does not. The first ones come sooner, for programs that
/// are short.
const INTERVAL_NS: u64 = 100_000_000;
const IDLE_INTERVAL_NS: u64 = 1_000_000_000;
const FIRST_INTERVAL_NS: u64 = 10_000_000;
const FIRST: u64 = 10;

/// The narrowest of this number of readings is kept.
const TRIES: usize = 3;
/// A reading of this duration is not repeated.
const LONG_NS: u64 = 200_000;
/// A context cannot end meanwhile: a driver that takes this long is asked less and less.
const TOO_LONG_NS: u64 = 5_000_000;
/// This number of failures in a row ends the queries.
const MOST_FAILURES: u32 = 10;
const MOST_DOUBLINGS: u32 = 7;

/// Devices that are asked for.
const DEVICES: usize = 64;

type Number = unsafe extern "C" fn(i32, *mut i32) -> i32;
type Ask = unsafe extern "C" fn(u32, i32, i32, *mut i64) -> i32;

/// Facts about one device.
struct Device {
    /// The driver's number of it and 1; 0 while that is not known.
    number: AtomicU32,
    khz: AtomicI64,
    /// `CLOCK_MONOTONIC` at the last query, and the last time known from events by then.
    asked: AtomicU64,
    latest: AtomicI64,
    readings: AtomicU64,
    failures: AtomicU32,
}

static ALL: [Device; DEVICES] = [const { Device::new() }; DEVICES];

/// The driver's function; 0 while it was not found.
static FUNCTION: AtomicUsize = AtomicUsize::new(0);

/// Reads the clock of an open context's device if that is due. The context must not end meanwhile.
pub(crate) fn take(context: &ContextEntry) {
    let user = context.device.load(Relaxed);
    let Some(device) = ALL.get(user as usize) else {
        return;
    };
    let latest = reference::latest(context);
    if !device.is_due(latest) || has_failed(user) {
        return;
    }
    device.latest.store(latest, Relaxed);
    let begin = monotonic();
    device.asked.store(begin, Relaxed);
    let reported = device.tell(user);
    if reported.is_none() || monotonic().wrapping_sub(begin) > TOO_LONG_NS {
        device.failures.fetch_add(1, Relaxed);
    } else {
        device.failures.store(0, Relaxed);
    }
    if let Some(reported) = reported {
        device.readings.fetch_add(1, Relaxed);
        let CounterReading { before, after, ns } = reported;
        emit::from_inside(&kinds::Anchor {
            source: AnchorSource::Driver,
            device: user,
            before,
            after,
            device_ns: ns,
        });
    }
}

/// Whether a device has failed for one of its contexts: then it is not queried.
fn has_failed(device: u32) -> bool {
    objects::contexts()
        .any(|context| context.device.load(Relaxed) == device && context.timing.has_failed())
}

/// A child has its own runtime.
pub(crate) fn forget() {
    for device in &ALL {
        device.asked.store(0, Relaxed);
        device.readings.store(0, Relaxed);
        device.failures.store(0, Relaxed);
    }
}

/// The counter in nanoseconds, and the ticks of the host around its reading.
struct CounterReading {
    before: u64,
    after: u64,
    ns: i64,
}

impl Device {
    const fn new() -> Self {
        Self {
            number: AtomicU32::new(0),
            khz: AtomicI64::new(0),
            asked: AtomicU64::new(0),
            latest: AtomicI64::new(i64::MIN),
            readings: AtomicU64::new(0),
            failures: AtomicU32::new(0),
        }
    }

    fn is_due(&self, latest: i64) -> bool {
        let failures = self.failures.load(Relaxed);
        let interval = if self.readings.load(Relaxed) < FIRST {
            FIRST_INTERVAL_NS
        } else if latest == self.latest.load(Relaxed) {
            IDLE_INTERVAL_NS
        } else {
            INTERVAL_NS
        };
        let asked = self.asked.load(Relaxed);
        let is_over = monotonic().wrapping_sub(asked) >= interval << failures.min(MOST_DOUBLINGS);
        failures < MOST_FAILURES && (asked == 0 || is_over)
    }

    fn tell(&self, user: u32) -> Option<CounterReading> {
        let number = self.number(user)?;
        let khz = self.khz(number)?;
        let mut best: Option<CounterReading> = None;
        for _ in 0..TRIES {
            let begin = monotonic();
            let before = ticks();
            let count = ask(number, COUNT)?;
            let after = ticks_after_all();
            let is_best = best.as_ref().is_none_or(|best| {
                after.wrapping_sub(before) < best.after.wrapping_sub(best.before)
            });
            if is_best {
                let ns = nanoseconds(count, khz);
                best = Some(CounterReading { before, after, ns });
            }
            if monotonic().wrapping_sub(begin) > LONG_NS {
                break;
            }
        }
        best
    }

    /// The driver's number of the device: programs have other numbers where they see only some devices.
    fn number(&self, user: u32) -> Option<u32> {
        if let Some(known) = self.number.load(Relaxed).checked_sub(1) {
            return Some(known);
        }
        let number = number_of(user)?;
        self.number.store(number.checked_add(1)?, Relaxed);
        Some(number)
    }

    fn khz(&self, number: u32) -> Option<i64> {
        let known = self.khz.load(Relaxed);
        if known != 0 {
            return Some(known);
        }
        let khz = ask(number, FREQUENCY_KHZ)?;
        if !FREQUENCIES_KHZ.contains(&khz) {
            return None;
        }
        self.khz.store(khz, Relaxed);
        Some(khz)
    }
}

/// The driver's number of a device, from the runtime; `None` where it is not known: the clock of
/// another device would be taken for this one's.
fn number_of(user: u32) -> Option<u32> {
    let address = real::by_name("aclrtGetLogicDevIdByUserDevId")?;
    // SAFETY: the address is that of the function with this name; `Number` repeats its signature from
    // the table.
    let function = unsafe { core::mem::transmute::<usize, Number>(address) };
    let mut number = -1;
    // SAFETY: the number is a live local.
    let code = until_exit::call(|| unsafe { function(user as i32, &mut number) })?;
    u32::try_from(number).ok().filter(|_| code == 0)
}

/// The driver's result; `None` without a driver, on a refusal, or when the process is ending.
fn ask(number: u32, what: i32) -> Option<i64> {
    let address = match FUNCTION.load(Relaxed) {
        0 => {
            let found = loader::real(c"halGetDeviceInfo")?;
            FUNCTION.store(found, Relaxed);
            found
        }
        known => known,
    };
    // SAFETY: the address is that of the driver's function with this name and the signature of `Ask`;
    // its library stays loaded.
    let function = unsafe { core::mem::transmute::<usize, Ask>(address) };
    let mut value = 0;
    // SAFETY: the value is a live local.
    let code = until_exit::call(|| unsafe { function(number, SYSTEM, what, &mut value) })?;
    (code == 0).then_some(value)
}

fn nanoseconds(count: i64, khz: i64) -> i64 {
    let ns = i128::from(count) * 1_000_000 / i128::from(khz);
    i64::try_from(ns).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds_without_overflow() {
        assert_eq!(nanoseconds(3, 50_000), 60);
        assert_eq!(nanoseconds(1 << 60, 1_000_000), 1 << 60);
        assert_eq!(
            nanoseconds(48_000_000_000_000_001, 48_000),
            1_000_000_000_000_000_020
        );
        assert_eq!(nanoseconds(i64::MAX, 1_000), i64::MAX);
    }

    #[test]
    fn a_device_is_read_at_once_and_less_often_if_it_fails() {
        let device = Device::new();
        assert!(device.is_due(5));
        device.asked.store(monotonic(), Relaxed);
        device.failures.store(MOST_FAILURES - 1, Relaxed);
        assert!(!device.is_due(6), "not so soon");
        device.asked.store(1, Relaxed);
        assert!(device.is_due(6));
        device.failures.store(MOST_FAILURES, Relaxed);
        assert!(!device.is_due(6), "never again");
    }

    #[test]
    fn without_a_driver_there_is_nothing_to_ask() {
        assert_eq!(ask(0, COUNT), None);
    }
}
