//! The host's monotonic clock, and the device clocks derived from it.

use std::time::Duration;

use crate::virtual_time;

/// The host's time of the program: `CLOCK_MONOTONIC`, or the thread's clock in virtual time.
pub(crate) fn now() -> u64 {
    if virtual_time::is_on() {
        return virtual_time::now();
    }
    mono()
}

/// Keeps the calling thread busy until then.
pub(crate) fn spin_until(at_ns: u64) {
    if virtual_time::is_on() {
        return virtual_time::reach(at_ns);
    }
    while mono() < at_ns {
        std::hint::spin_loop();
    }
}

/// Returns no earlier than then.
pub(crate) fn wait_until(at_ns: u64) {
    /// A sleep may last this much longer than asked for; the rest is spent spinning.
    const SLACK_NS: u64 = 80_000;
    let left = at_ns.saturating_sub(now());
    if left > SLACK_NS && !virtual_time::is_on() {
        std::thread::sleep(Duration::from_nanos(left - SLACK_NS));
    }
    spin_until(at_ns);
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn mono() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec; the call cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64) * 1_000_000_000 + now.tv_nsec as u64
}

/// The reading of a device's clock at a host time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceClock {
    pub(crate) offset_ns: i64,
    /// Drift in parts per 10^12, so that fractions of a ppm stay exact.
    pub(crate) drift_ppt: i64,
    /// This number of ticks takes `nanoseconds` nanoseconds.
    pub(crate) ticks: u64,
    pub(crate) nanoseconds: u64,
}

impl DeviceClock {
    /// `(host + offset) * (1 + drift)`, in whole ticks.
    pub(crate) fn count(&self, host_ns: u64) -> i64 {
        let shifted = i128::from(host_ns) + i128::from(self.offset_ns);
        let scaled = shifted + (shifted * i128::from(self.drift_ppt)).div_euclid(1_000_000_000_000);
        (scaled * i128::from(self.ticks)).div_euclid(i128::from(self.nanoseconds)) as i64
    }

    /// Its frequency in kHz, as the driver returns it.
    pub(crate) fn frequency_khz(&self) -> i64 {
        (self.ticks * 1_000_000 / self.nanoseconds.max(1)) as i64
    }

    /// The same in nanoseconds.
    pub(crate) fn read(&self, host_ns: u64) -> i64 {
        let count = i128::from(self.count(host_ns));
        (count * i128::from(self.nanoseconds)).div_euclid(i128::from(self.ticks)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceClock;

    #[test]
    fn a_plain_clock_reads_host_time_floored_to_its_tick() {
        let clock = DeviceClock {
            offset_ns: 0,
            drift_ppt: 0,
            ticks: 1,
            nanoseconds: 20,
        };
        assert_eq!(clock.read(1_000_019), 1_000_000);
        assert_eq!(clock.read(1_000_020), 1_000_020);
    }

    #[test]
    fn drift_scales_after_the_offset_was_added() {
        let clock = DeviceClock {
            offset_ns: 500_000_000,
            drift_ppt: 100_000_000,
            ticks: 1,
            nanoseconds: 1,
        };
        assert_eq!(clock.read(500_000_000), 1_000_100_000);
    }

    #[test]
    fn a_clock_before_its_start_floors_downwards() {
        let clock = DeviceClock {
            offset_ns: -31,
            drift_ppt: 0,
            ticks: 1,
            nanoseconds: 20,
        };
        assert_eq!(clock.read(0), -40);
    }
}
