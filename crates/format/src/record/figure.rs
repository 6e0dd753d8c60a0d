//! Numbers of a device that are learnt while it is measured. They are in the trace as counters of the process, so
//! the latest of each counts for all tasks, earlier ones too.

/// The first code of them, and how many codes a device has.
const FIRST: u32 = 1024;
const OF_DEVICE: u32 = 16;

/// One of these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Nanoseconds that an event record takes, in the median.
    RecordNs = 0,
    /// How far a record may be from it.
    RecordOpenNs = 1,
    /// By how much longer a pair of events makes a task than the device takes between two tasks.
    BeyondSwitchNs = 2,
    /// The largest distance from it.
    BeyondSwitchOpenNs = 3,
    /// The shortest time between the two events of a task.
    ShortestPairNs = 4,
}

impl Figure {
    /// The code of the counter for a device; `None` for a device beyond all codes.
    pub fn code(self, device: u32) -> Option<u16> {
        let first = device.checked_mul(OF_DEVICE)?.checked_add(FIRST)?;
        u16::try_from(first.checked_add(self as u32)?).ok()
    }
}

/// The counter's value: it grows with the number of samples.
pub const fn packed(samples: u32, ns: u32) -> u64 {
    (samples as u64) << 32 | ns as u64
}

/// The samples and the nanoseconds of a counter.
pub const fn unpacked(value: u64) -> (u32, u32) {
    ((value >> 32) as u32, value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_of_each_device_has_a_code() {
        assert_eq!(Figure::RecordNs.code(0), Some(1024));
        assert_eq!(Figure::RecordOpenNs.code(3), Some(1024 + 3 * 16 + 1));
        assert_eq!(Figure::RecordNs.code(1 << 20), None);
        assert_eq!(unpacked(packed(7, 1_300)), (7, 1_300));
        assert!(packed(8, 0) > packed(7, u32::MAX));
    }
}
