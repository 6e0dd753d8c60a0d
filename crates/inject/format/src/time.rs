//! Times of different clocks. Where two clocks meet, a time has the type of its clock, so that the times of one are never
//! taken for those of the other. Rows and columns hold plain numbers again: their names have the unit.
//!
//! Nothing here converts the time of one clock into that of another by itself. It needs both readings
//! at once: an offset, which [`HostNs::offset_from`] measures and [`DeviceNs::on_host`] applies.

macro_rules! nanoseconds {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(i64);

        impl $name {
            pub const MIN: Self = Self(i64::MIN);
            pub const MAX: Self = Self(i64::MAX);

            pub const fn new(ns: i64) -> Self {
                Self(ns)
            }

            /// The nanoseconds, for values with the clock in their name.
            pub const fn ns(self) -> i64 {
                self.0
            }

            /// The time `ns` nanoseconds later.
            pub const fn plus(self, ns: i64) -> Self {
                Self(self.0.saturating_add(ns))
            }

            /// The time `ns` nanoseconds earlier.
            pub const fn minus(self, ns: i64) -> Self {
                Self(self.0.saturating_sub(ns))
            }

            /// Nanoseconds from another time of the same clock to this one.
            pub const fn since(self, earlier: Self) -> i64 {
                self.0.saturating_sub(earlier.0)
            }
        }
    };
}

nanoseconds! {
    /// A time on the host's clock: nanoseconds of `CLOCK_MONOTONIC`.
    HostNs
}

nanoseconds! {
    /// A time on the clock of a device, or of the hardware log: nanoseconds since a time that only the device knows.
    DeviceNs
}

impl HostNs {
    /// By how many nanoseconds the host's clock is ahead of a device's that shows `device` at this time.
    pub const fn offset_from(self, device: DeviceNs) -> i64 {
        self.0.saturating_sub(device.0)
    }
}

impl DeviceNs {
    /// The host's time, with a clock that is ahead by this number of nanoseconds.
    pub const fn on_host(self, offset_ns: i64) -> HostNs {
        HostNs(self.0.saturating_add(offset_ns))
    }
}

/// A reading of a session's counter: ticks of the processor's counter, or nanoseconds of
/// `CLOCK_MONOTONIC` where that counter cannot be used. Records contain these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Ticks(u64);

impl Ticks {
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// The ticks, for values with ticks in their name.
    pub const fn count(self) -> u64 {
        self.0
    }

    /// Ticks from an earlier reading to this one; none where that is a later one.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_leads_from_one_clock_to_the_other() {
        let (host, device) = (HostNs::new(5_000), DeviceNs::new(7_250));
        assert_eq!(host.offset_from(device), -2_250);
        assert_eq!(device.on_host(host.offset_from(device)), host);
    }

    #[test]
    fn times_saturate_at_the_ends_of_their_clock() {
        assert_eq!(HostNs::MAX.plus(1), HostNs::MAX);
        assert_eq!(DeviceNs::MIN.minus(1), DeviceNs::MIN);
        assert_eq!(HostNs::MAX.since(HostNs::MIN), i64::MAX);
        assert_eq!(DeviceNs::new(3).since(DeviceNs::new(5)), -2);
        assert_eq!(DeviceNs::MAX.on_host(1), HostNs::MAX);
        assert_eq!(Ticks::new(3).since(Ticks::new(5)), 0);
    }
}
