//! Numbers of a device that are learnt while it is measured. They are in the trace as counters of the process, so
//! the latest of each counts for all tasks, earlier ones too.

use crate::api::TaskKind;

/// The first code of them, and how many codes a device has.
const FIRST: u32 = 1024;
const OF_DEVICE: u32 = 16;
/// The first code of further numbers, and how many of these a device has.
const FIRST_FURTHER: u32 = 0x8000;
const FURTHER_OF_DEVICE: u32 = 8;

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
    /// How far the mean of many tasks may be from the median by which a pair makes a task longer.
    BeyondMeanNs = 16,
    /// The same of kernels, copies and fills alone.
    KernelMeanNs = 17,
    CopyMeanNs = 18,
    FillMeanNs = 19,
    /// The same of the difference from the hardware log.
    LoggedMeanNs = 20,
    /// Physical number of the card, plus 1.
    CardNumber = 21,
    /// Its address on the PCI bus, plus 1: 16 bits of the domain, 8 of the bus, 5 of the device and 3 of its function.
    CardAddress = 22,
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
    pub mean: Figure,
}

impl PairFigures {
    /// Of one sort of work; of all without one.
    pub const fn of(work: Option<Work>) -> Self {
        use Figure::*;
        let [beyond, open, shortest, mean] = match work {
            None => [
                BeyondSwitchNs,
                BeyondSwitchOpenNs,
                ShortestPairNs,
                BeyondMeanNs,
            ],
            Some(Work::Kernel) => [KernelBeyondNs, KernelOpenNs, KernelShortestNs, KernelMeanNs],
            Some(Work::Copy) => [CopyBeyondNs, CopyOpenNs, CopyShortestNs, CopyMeanNs],
            Some(Work::Fill) => [FillBeyondNs, FillOpenNs, FillShortestNs, FillMeanNs],
        };
        Self {
            beyond,
            open,
            shortest,
            mean,
        }
    }
}

impl Figure {
    /// The code of the counter for a device; `None` for a device beyond all codes.
    pub fn code(self, device: u32) -> Option<u16> {
        let number = self as u32;
        let (first, each, further) = match number.checked_sub(OF_DEVICE) {
            None => (FIRST, OF_DEVICE, FIRST_FURTHER),
            Some(_) => (FIRST_FURTHER, FURTHER_OF_DEVICE, u32::MAX),
        };
        let own = device.checked_mul(each)?.checked_add(number % OF_DEVICE)?;
        let code = first.checked_add(own)?;
        u16::try_from(code).ok().filter(|_| code < further)
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
            .flat_map(|it| [it.beyond, it.open, it.shortest, it.mean])
            .chain([Figure::RecordNs, Figure::RecordOpenNs])
            .chain([Figure::LoggedNs, Figure::LoggedOpenNs, Figure::LoggedMeanNs])
            .chain([Figure::CardNumber, Figure::CardAddress]);
        // A bit for each code of the device.
        let codes = figures.fold(0_u32, |codes, figure| {
            let code = u32::from(figure.code(1).unwrap());
            let place = match code.checked_sub(FIRST_FURTHER + FURTHER_OF_DEVICE) {
                None => code.checked_sub(FIRST + OF_DEVICE).unwrap(),
                Some(further) => 16 + further,
            };
            assert_eq!(codes & 1 << place, 0, "{figure:?}");
            codes | 1 << place
        });
        assert_eq!(codes, 0x7f_ffff);
    }

    #[test]
    fn each_figure_of_each_device_has_a_code() {
        assert_eq!(Figure::RecordNs.code(0), Some(1024));
        assert_eq!(Figure::RecordOpenNs.code(3), Some(1024 + 3 * 16 + 1));
        assert_eq!(Figure::BeyondMeanNs.code(3), Some(0x8000 + 3 * 8));
        for figure in [Figure::RecordNs, Figure::LoggedMeanNs] {
            assert_eq!(figure.code(1 << 20), None);
            let last = (0..=1 << 13).filter_map(|it| figure.code(it)).next_back();
            assert!(last.is_some_and(|it| (it < 0x8000) == (figure == Figure::RecordNs)));
        }
        assert_eq!(unpacked(packed(7, 1_300)), (7, 1_300));
        assert!(packed(8, 0) > packed(7, u32::MAX));
    }
}
