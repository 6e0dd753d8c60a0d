//! The time that event pairs add to the tasks between them. The tool learns it for each device, over the whole recording.
//!
//! A record takes some time, the device takes some time from a record to a task and back, and it takes some time from one
//! task to the next. Times of events do not show the last one apart from the tasks. They do show by how much the others
//! are longer.

use ascend_trace_format::record::figure::{Figure, unpacked};

use crate::counters::Counters;

use super::placement::PairReading;

/// No device is known that takes longer from one task to the next.
const MOST_SWITCH_NS: i64 = 3_000;
/// Without a measured stretch, a pair may add up to this to a record.
const MOST_TURNS_NS: i64 = 6_000;
/// Smaller differences do not count.
const LEAST_NS: i64 = 150;

/// A duration and the largest distance from it.
type DurationSpread = (i64, i64);

/// Durations of a device, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PairDurations {
    record: Option<DurationSpread>,
    /// By how much a pair makes a task longer, less the time from one task to the next.
    beyond_switch: Option<DurationSpread>,
    /// The shortest time between the events of a task: a pair adds no more.
    shortest: Option<i64>,
}

/// The time between two events that does not belong to the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TimeOutsideTask {
    /// In addition to the record: half of it is before the task, and half of it behind.
    turns: i64,
    /// How far durations may be off.
    open: i64,
}

impl PairDurations {
    /// The durations that a process has learnt of a device.
    pub(crate) fn of(counters: &Counters, process: u32, device: u32) -> Self {
        let figure = |figure: Figure| {
            let value = counters.get(&(process, figure.code(device)?))?;
            Some(i64::from(unpacked(*value).1))
        };
        let spread = |median, open| figure(median).zip(figure(open));
        Self {
            record: spread(Figure::RecordNs, Figure::RecordOpenNs),
            beyond_switch: spread(Figure::BeyondSwitchNs, Figure::BeyondSwitchOpenNs),
            shortest: figure(Figure::ShortestPairNs),
        }
    }

    /// A reading with the durations as they are known in the end. When it was read, fewer samples were known.
    pub(super) fn known(self, reading: PairReading) -> PairReading {
        let Some((record, record_open)) = self.record.filter(|_| reading.is_of_events) else {
            return reading;
        };
        let reading = PairReading {
            record,
            record_open: reading.record_open.max(record_open),
            ..reading
        };
        if reading.is_moment {
            return reading;
        }
        let added = self.added(record, record_open);
        PairReading {
            turn: added.turns / 2,
            turns_open: added.open,
            ..reading
        }
    }

    fn added(self, record: i64, record_open: i64) -> TimeOutsideTask {
        let shortest = self.shortest.unwrap_or(i64::MAX).max(record);
        let Some((beyond, open)) = self.beyond_switch else {
            let most = shortest.min(record.saturating_add(MOST_TURNS_NS));
            return TimeOutsideTask {
                turns: 0,
                open: most.saturating_sub(record),
            };
        };
        let noise = LEAST_NS.max(record_open.saturating_add(open) / 8);
        // Between two tasks the device takes no less than no time, and between a record and a task neither.
        let (least, most) = match beyond.saturating_sub(record) {
            off if off.abs() <= noise => (record, record),
            _ => {
                let least = beyond.max(record);
                let most = beyond.saturating_add(MOST_SWITCH_NS).min(shortest);
                (least, most.max(least))
            }
        };
        let middle = least.midpoint(most);
        TimeOutsideTask {
            turns: middle.saturating_sub(record),
            open: (most.saturating_sub(least) / 2).saturating_add(open),
        }
    }

    /// The time from a record to a task and back, at most, and the time from one task to the next, at most; `None` when
    /// they are not known to take time.
    pub(crate) fn between(self) -> Option<(i64, i64)> {
        let (record, record_open) = self.record?;
        let added = self.added(record, record_open);
        let pair = record.saturating_add(added.turns);
        // Behind a task: a record, the next one, and the way to both.
        let most = pair
            .saturating_add(record)
            .saturating_add(added.open)
            .saturating_add(record_open);
        let switch = match self.beyond_switch {
            Some((beyond, _)) => pair.saturating_sub(beyond).clamp(0, MOST_SWITCH_NS),
            None => 0,
        };
        Some((most, switch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(record: i64, beyond: Option<i64>, shortest: i64) -> PairDurations {
        PairDurations {
            record: Some((record, 0)),
            beyond_switch: beyond.map(|beyond| (beyond, 0)),
            shortest: Some(shortest),
        }
    }

    /// Durations with these are off by no more than the bar says, however the time is divided.
    #[test]
    fn all_possible_times_are_in_the_bar() {
        for (record, turn, switch) in [
            (1_300, 2_000, 1_800),
            (1_280, 1_395, 1_800),
            (0, 500, 0),
            (1_000, 0, 3_000),
            (1_500, 0, 0),
            (2_600, 900, 1_700),
        ] {
            let adds = record + 2 * turn;
            for (beyond, shortest) in [
                (Some(adds - switch), adds + 2_000),
                (Some(adds - switch), adds + 50_000),
                (None, adds + 2_000),
            ] {
                let beyond = beyond.map(|beyond: i64| beyond.max(0));
                let added = pairs(record, beyond, shortest).added(record, 0);
                let off = (record + added.turns - adds).abs();
                // Where records look as if they were tasks, nothing shows that a task takes time to begin.
                let is_hidden = beyond.is_some_and(|it| (it - record).abs() <= LEAST_NS);
                assert!(
                    off <= added.open || is_hidden,
                    "{record} {turn} {switch}: {added:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_added_where_pairs_cost_a_record() {
        let added = pairs(1_500, Some(1_480), 9_000).added(1_500, 0);
        assert_eq!((added.turns, added.open), (0, 0));
    }

    #[test]
    fn tasks_without_a_stretch_have_wide_bars_but_none_beyond_the_shortest_task() {
        assert_eq!(pairs(1_000, None, 90_000).added(1_000, 0).open, 6_000);
        assert_eq!(pairs(1_000, None, 1_200).added(1_000, 0).open, 200);
    }
}
