//! Stretches of streams in which tasks without a time certainly ran.
//!
//! A task with a time that waited in the queue shows that its stream was busy before it: from its launch on, or from the end of the
//! last task with a time. Sums of a lane count such a stretch as work. The rest of the time between two tasks with
//! times is not counted, so sums are lower limits.

use std::collections::BTreeMap;

use ascend_trace_format::api::TaskKind;

use crate::category::Category;

/// By how much a launch may be off on the device's clock: the comparisons of clocks are a tenth of a second apart.
const LAUNCH_ERROR_NS: i64 = 50_000;

/// The tasks of one stream in the current group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamStretches {
    /// Sequence and end of the last task with a time.
    last: Option<(u32, i64)>,
    /// The slot of the last work without a time.
    slot: Option<u8>,
    /// A task without a time waited for others, so the stream need not have been busy.
    has_waits: bool,
}

impl StreamStretches {
    /// A task that will have no time.
    pub(super) fn note_untimed(&mut self, kind: TaskKind) {
        match Category::of_task(kind) {
            slot @ (Category::Kernel | Category::Copy | Category::Fill | Category::Graph)
                if kind != TaskKind::Collective =>
            {
                self.slot = Some(slot.slot() as u8);
            }
            Category::Record => {}
            _ => self.has_waits = true,
        }
    }

    /// A task with a time. `launched` is its launch on the device's clock. Returns the stretch before it in which others
    /// ran, and their slot.
    pub(super) fn before(
        &mut self,
        sequence: u32,
        (begin, end): (i64, i64),
        launched: Option<i64>,
    ) -> Option<(i64, i64, u8)> {
        let (last, last_end) = self.last.replace((sequence, end))?;
        let slot = self.slot.filter(|_| !self.has_waits)?;
        let from = last_end.max(launched?.saturating_add(LAUNCH_ERROR_NS));
        let has_others = sequence > last.saturating_add(1);
        (has_others && from < begin).then_some((from, begin, slot))
    }

    /// The time was that of a run, with this number of tasks after the first.
    pub(super) fn goes_on(&mut self, further: u32) {
        if let Some((last, _)) = &mut self.last {
            *last = last.saturating_add(further);
        }
    }
}

/// About how far the clock of each device is behind the host's, by process and device.
#[derive(Debug, Default)]
pub(super) struct RoughOffsets(BTreeMap<(u32, u32), i64>);

impl RoughOffsets {
    pub(super) fn note(&mut self, key: (u32, u32), host: i64, device: i64, most: usize) {
        if self.0.len() < most || self.0.contains_key(&key) {
            self.0.insert(key, host.saturating_sub(device));
        }
    }

    /// A time of the host on the clock of a device.
    pub(super) fn on_device(&self, key: (u32, u32), host: i64) -> Option<i64> {
        let offset = self.0.get(&key)?;
        Some(host.saturating_sub(*offset))
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_before_a_task_that_waited_in_the_queue_is_work() {
        let mut stretches = StreamStretches::default();
        stretches.note_untimed(TaskKind::Memcpy);
        assert_eq!(stretches.before(0, (0, 100_000), Some(-500_000)), None);
        let slot = Category::Copy.slot() as u8;
        // Launched before the end of the last one.
        let found = stretches.before(4, (300_000, 310_000), Some(-400_000));
        assert_eq!(found, Some((100_000, 300_000, slot)));
        // Launched in the middle of the time between the two.
        let found = stretches.before(8, (900_000, 910_000), Some(600_000));
        assert_eq!(found, Some((650_000, 900_000, slot)));
        // Launched right before it began.
        assert_eq!(
            stretches.before(12, (990_000, 999_000), Some(989_000)),
            None
        );
        // Nothing is between them.
        assert_eq!(stretches.before(13, (1_999_000, 2_000_000), Some(0)), None);
        // The last one was a run.
        stretches.goes_on(7);
        assert_eq!(stretches.before(21, (2_999_000, 3_000_000), Some(0)), None);
    }

    #[test]
    fn a_stream_with_untimed_waits_or_an_unknown_clock_has_no_stretches() {
        let mut stretches = StreamStretches::default();
        stretches.note_untimed(TaskKind::Kernel);
        assert_eq!(stretches.before(0, (0, 10), Some(-90_000)), None);
        assert_eq!(stretches.before(3, (100, 110), None), None);
        stretches.note_untimed(TaskKind::Wait);
        assert_eq!(stretches.before(6, (200, 210), Some(-90_000)), None);
    }
}
