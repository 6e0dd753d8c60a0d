//! The time that event pairs add to the tasks between them. The tool learns it for each device, over the whole recording.
//!
//! A record takes some time, the device takes some time from a record to a task and back, and it takes some time from one
//! task to the next. Times of events do not show the last one apart from the tasks. They do show by how much the others
//! are longer.

use ascend_trace_format::api::TaskKind;
use ascend_trace_format::record::figure::{Figure, PairFigures, Work, unpacked};

use crate::counters::Counters;

use super::placement::PairReading;

/// No device is known that takes longer from one task to the next.
const MOST_SWITCH_NS: i64 = 3_000;
/// Without a measured stretch, a pair around a kernel may add up to this to a record, and more around a copy or a fill,
/// which other units of the device do.
const MOST_TURNS_NS: i64 = 6_000;
const MOST_TURNS_OF_COPY_NS: i64 = 10_000;
/// Smaller differences do not count.
const LEAST_NS: i64 = 150;
/// Larger ones do, even if they are known badly.
const MOST_NOISE_NS: i64 = 300;

/// A duration and the largest distance from it.
type DurationSpread = (i64, i64);

/// What stretches and tasks of one sort have shown, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LearntDurations {
    /// By how much a pair makes a task longer, less the time from one task to the next.
    beyond_switch: Option<DurationSpread>,
    /// The shortest time between the events of a task: a pair adds no more.
    shortest: Option<i64>,
}

/// Durations of a device, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PairDurations {
    record: Option<DurationSpread>,
    all: LearntDurations,
    works: [LearntDurations; Work::ALL.len()],
    /// By how much a pair makes a kernel longer, by the hardware log.
    logged: Option<DurationSpread>,
}

/// The time between two events that does not belong to the task: a record, and the way from it to the task and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AddedTime {
    /// The best estimate of it, and between which limits it is in the median.
    best: i64,
    least: i64,
    most: i64,
    /// How far single ones may be from the median.
    open: i64,
}

impl AddedTime {
    /// By the duration of a record, and by how much longer pairs make tasks than the device takes between two of them.
    fn beyond(record: DurationSpread, beyond: DurationSpread) -> Self {
        let (record, record_open) = record;
        let (beyond, open) = beyond;
        let noise = (record_open.saturating_add(open) / 8).clamp(LEAST_NS, MOST_NOISE_NS);
        // Between two tasks the device takes no less than no time, and between a record and a task neither.
        let (least, most) = match beyond.saturating_sub(record) {
            off if off.abs() <= noise => (record, record),
            _ => {
                let most = beyond.saturating_add(MOST_SWITCH_NS).max(record);
                (beyond.max(record), most)
            }
        };
        Self {
            best: least.midpoint(most),
            least,
            most,
            open,
        }
    }

    fn exactly((median, open): DurationSpread) -> Self {
        Self {
            best: median,
            least: median,
            most: median,
            open,
        }
    }

    /// It may be anything within limits.
    fn anything_from(self, least: i64, most: i64) -> Self {
        Self {
            least: self.least.min(least),
            most: self.most.max(most),
            ..self
        }
    }

    /// It is no more than the time between two events. Those of one task may be closer by the spread.
    fn at_most(self, most: i64) -> Self {
        let most = self.most.min(most).max(self.least);
        Self {
            best: self.best.min(self.least.midpoint(most)),
            most,
            ..self
        }
    }
}

impl PairDurations {
    /// The durations that a process has learnt of a device.
    pub(crate) fn of(counters: &Counters, process: u32, device: u32) -> Self {
        let figure = |figure: Figure| {
            let value = counters.get(&(process, figure.code(device)?))?;
            Some(unpacked(*value).1)
        };
        let spread = |median, open| {
            let (median, open) = figure(median).zip(figure(open))?;
            // The device may take longer from one task to the next than a pair adds.
            Some((median.cast_signed().into(), open.into()))
        };
        let learnt = |work: Option<Work>| {
            let PairFigures {
                beyond,
                open,
                shortest,
            } = PairFigures::of(work);
            LearntDurations {
                beyond_switch: spread(beyond, open),
                shortest: figure(shortest).map(i64::from),
            }
        };
        Self {
            record: spread(Figure::RecordNs, Figure::RecordOpenNs),
            all: learnt(None),
            works: Work::ALL.map(|work| learnt(Some(work))),
            logged: spread(Figure::LoggedNs, Figure::LoggedOpenNs),
        }
    }

    /// A reading with the durations as they are known in the end. When it was read, fewer samples were known.
    pub(super) fn known(self, reading: PairReading) -> PairReading {
        // A tool that learns of pairs has looked at some, also where no record was measured.
        let is_known = self.record.is_some() || self.all.shortest.is_some();
        if !reading.is_of_events || !is_known {
            return reading;
        }
        let (record, record_open) = self.record.unwrap_or((reading.record, reading.record_open));
        let reading = PairReading {
            record,
            record_open: reading.record_open.max(record_open),
            ..reading
        };
        if reading.is_moment() {
            return reading;
        }
        let added = self.added((record, record_open), reading.kind);
        let length = reading.end.since(reading.begin);
        let added = added.at_most(length.saturating_add(added.open).max(record));
        PairReading {
            turn: added.best.saturating_sub(record).max(0) / 2,
            shorter: added
                .most
                .saturating_sub(added.best)
                .saturating_add(added.open),
            longer: added
                .best
                .saturating_sub(added.least)
                .saturating_add(added.open),
            ..reading
        }
    }

    /// The time that a pair adds to tasks of a kind. Collectives and replays of graphs begin and end with kernels.
    fn added(&self, record: DurationSpread, kind: TaskKind) -> AddedTime {
        let work = Work::of(kind);
        let learnt = self.works[work.unwrap_or(Work::Kernel) as usize];
        let shortest = work.and(learnt.shortest).unwrap_or(i64::MAX).max(record.0);
        let is_copy = matches!(work, Some(Work::Copy | Work::Fill));
        if let Some(logged) = self.logged.filter(|_| !is_copy) {
            return AddedTime::exactly(logged);
        }
        if let Some(beyond) = learnt.beyond_switch {
            return AddedTime::beyond(record, beyond).at_most(shortest);
        }
        let most = match is_copy {
            true => MOST_TURNS_OF_COPY_NS,
            false => MOST_TURNS_NS,
        };
        let by_log = self.logged.map(AddedTime::exactly);
        let by_all = self.all.beyond_switch;
        let others = by_log.or(by_all.map(|beyond| AddedTime::beyond(record, beyond)));
        others
            .unwrap_or(AddedTime::exactly((record.0, 0)))
            .anything_from(record.0, record.0.saturating_add(most))
            .at_most(shortest)
    }

    /// The time from a record to a task and back, at most, and the time from one task to the next, at most; `None` when
    /// they are not known to take time.
    pub(crate) fn between(self) -> Option<(i64, i64)> {
        let record = self.record?;
        let added = self.added(record, TaskKind::Kernel);
        // Behind a task: a record, the next one, and the way to both.
        let most = added
            .most
            .saturating_add(added.open)
            .saturating_add(record.0)
            .saturating_add(record.1);
        let kernels = self.works[Work::Kernel as usize].beyond_switch;
        let switch = match kernels.or(self.all.beyond_switch) {
            Some((beyond, _)) => added.best.saturating_sub(beyond).clamp(0, MOST_SWITCH_NS),
            None => 0,
        };
        Some((most, switch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD_OPEN: i64 = 0;

    fn learnt(beyond: Option<i64>, shortest: i64) -> LearntDurations {
        LearntDurations {
            beyond_switch: beyond.map(|beyond| (beyond, 0)),
            shortest: Some(shortest),
        }
    }

    fn pairs(beyond: Option<i64>, shortest: i64) -> PairDurations {
        PairDurations {
            all: learnt(beyond, shortest),
            works: [learnt(beyond, shortest); 3],
            ..PairDurations::default()
        }
    }

    fn added(pairs: PairDurations, record: i64, kind: TaskKind) -> AddedTime {
        pairs.added((record, RECORD_OPEN), kind)
    }

    /// Durations with these are off by no more than the bar says, in any division of the time.
    #[test]
    fn all_possible_times_are_in_the_bar() {
        for (record, turn, switch) in [
            (1_300, 2_000, 1_800),
            (1_280, 1_395, 1_800),
            (0, 500, 0),
            (0, 700, 1_800),
            (0, 0, 1_800),
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
                for kind in [TaskKind::Kernel, TaskKind::Memcpy, TaskKind::Graph] {
                    let added = added(pairs(beyond, shortest), record, kind);
                    // Where records look as if they were tasks, nothing shows that a task takes time to begin.
                    let is_hidden = beyond.is_some_and(|it| (it - record).abs() <= LEAST_NS);
                    let is_inside = (added.least..=added.most).contains(&adds);
                    assert!(
                        is_inside || is_hidden,
                        "{record} {turn} {switch}: {added:?}"
                    );
                    assert!((added.least..=added.most).contains(&added.best));
                }
            }
        }
    }

    #[test]
    fn nothing_is_added_where_pairs_cost_a_record() {
        let added = added(pairs(Some(1_480), 9_000), 1_500, TaskKind::Memset);
        assert_eq!((added.best, added.least, added.most), (1_500, 1_500, 1_500));
    }

    #[test]
    fn tasks_without_a_stretch_have_wide_bars_but_none_beyond_the_shortest_task() {
        let wide = |shortest, kind| added(pairs(None, shortest), 1_000, kind).most;
        assert_eq!(wide(90_000, TaskKind::Kernel), 7_000);
        assert_eq!(wide(90_000, TaskKind::Memcpy), 11_000);
        assert_eq!(wide(1_200, TaskKind::Kernel), 1_200);
    }

    /// Copies take longer to begin than kernels do.
    #[test]
    fn each_sort_of_work_has_its_value_and_else_that_of_all_with_a_wider_bar() {
        let mut pairs = pairs(Some(2_300), 90_000);
        pairs.works[Work::Copy as usize] = learnt(Some(6_000), 90_000);
        pairs.works[Work::Fill as usize] = learnt(None, 90_000);
        let of = |kind| added(pairs, 1_300, kind);
        let (kernel, copy, fill) = (
            of(TaskKind::Kernel),
            of(TaskKind::Memcpy),
            of(TaskKind::Memset),
        );
        assert_eq!((kernel.least, kernel.most), (2_300, 5_300));
        assert_eq!((copy.least, copy.most), (6_000, 9_000));
        assert_eq!(fill.best, kernel.best);
        assert_eq!((fill.least, fill.most), (1_300, 11_300));
        assert_eq!(of(TaskKind::Graph), kernel);
    }

    #[test]
    fn the_hardware_log_says_what_a_pair_adds_to_kernels() {
        let mut pairs = pairs(Some(2_300), 90_000);
        pairs.works[Work::Fill as usize] = learnt(None, 90_000);
        pairs.logged = Some((4_100, 200));
        let of = |kind| added(pairs, 1_300, kind);
        assert_eq!(of(TaskKind::Kernel), AddedTime::exactly((4_100, 200)));
        assert_eq!(of(TaskKind::Memcpy).best, 3_800, "of copies by stretches");
        assert_eq!(of(TaskKind::Memset).best, 4_100);
        pairs.record = Some((1_300, 100));
        assert_eq!(pairs.between().unwrap().1, 1_800);
    }
}
