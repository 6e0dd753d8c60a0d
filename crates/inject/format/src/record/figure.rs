//! Numbers of a device that are learnt while it is measured. They are in the trace as counters of the process, so
//! the latest of each counts for all tasks, earlier ones too.

use crate::api::TaskKind;

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
    /// The last three of kernels, copies and fills alone.
    KernelBeyondNs = 5,
    KernelOpenNs = 6,
    KernelShortestNs = 7,
    CopyBeyondNs = 8,
    CopyOpenNs = 9,
    CopyShortestNs = 10,
    FillBeyondNs = 11,
    FillOpenNs = 12,
    FillShortestNs = 13,
    /// By how much longer kernels are by events than by the hardware log, in the median.
    LoggedNs = 14,
    /// The largest distance from it.
    LoggedOpenNs = 15,
}

/// Sorts of tasks that the device does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Kernel,
    Copy,
    Fill,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Kernel, Self::Copy, Self::Fill];

    /// The work of a kind of tasks; `None` if it waits for others, or takes no time.
    pub const fn of(kind: TaskKind) -> Option<Self> {
        match kind {
            TaskKind::Kernel => Some(Self::Kernel),
            TaskKind::Memcpy => Some(Self::Copy),
            TaskKind::Memset => Some(Self::Fill),
            _ => None,
        }
    }
}

/// The figures that describe by how much a pair of events makes tasks of one sort longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairFigures {
    pub beyond: Figure,
    pub open: Figure,
    pub shortest: Figure,
}

impl PairFigures {
    /// Of one sort of work; of all without one.
    pub const fn of(work: Option<Work>) -> Self {
        use Figure::*;
        let (beyond, open, shortest) = match work {
            None => (BeyondSwitchNs, BeyondSwitchOpenNs, ShortestPairNs),
            Some(Work::Kernel) => (KernelBeyondNs, KernelOpenNs, KernelShortestNs),
            Some(Work::Copy) => (CopyBeyondNs, CopyOpenNs, CopyShortestNs),
            Some(Work::Fill) => (FillBeyondNs, FillOpenNs, FillShortestNs),
        };
        Self {
            beyond,
            open,
            shortest,
        }
    }
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
    fn figures_of_sorts_of_work_are_different_and_within_a_device() {
        let sorts = Work::ALL.map(Some).into_iter().chain([None]);
        let figures = sorts
            .map(PairFigures::of)
            .flat_map(|it| [it.beyond, it.open, it.shortest])
            .chain([Figure::RecordNs, Figure::RecordOpenNs])
            .chain([Figure::LoggedNs, Figure::LoggedOpenNs]);
        // A bit for each code of the device.
        let codes = figures.fold(0_u32, |codes, figure| {
            let code = u32::from(figure.code(1).unwrap());
            let own = 1 << code.checked_sub(FIRST + OF_DEVICE).unwrap();
            assert_eq!(codes & own, 0, "{figure:?}");
            codes | own
        });
        assert_eq!(codes, 0xffff);
    }

    #[test]
    fn each_figure_of_each_device_has_a_code() {
        assert_eq!(Figure::RecordNs.code(0), Some(1024));
        assert_eq!(Figure::RecordOpenNs.code(3), Some(1024 + 3 * 16 + 1));
        assert_eq!(Figure::RecordNs.code(1 << 20), None);
        assert_eq!(unpacked(packed(7, 1_300)), (7, 1_300));
        assert!(packed(8, 0) > packed(7, u32::MAX));
    }
}
