//! The time that event pairs add to the tasks between them. The tool learns it for each device, over the whole recording.
//!
//! A record takes some time, the device takes some time from a record to a task and back, and it takes some time from one
//! task to the next. Times of events do not show the last one apart from the tasks. They do show by how much the others
//! are longer.

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

/// Part of the spread of single durations that the mean of many may have as an error: a pair need not add the same time
/// throughout a recording.
const MEAN_PART: i64 = 8;

/// The time that pairs add, in the median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LearntTime {
    median: i64,
    /// The largest distance of a single one from it.
    open: i64,
    /// How far the mean of many may be from it.
    mean_open: i64,
}

/// What stretches and tasks of one sort have shown, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LearntDurations {
    /// By how much a pair makes a task longer, less the time from one task to the next.
    beyond_switch: Option<LearntTime>,
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
    logged: Option<LearntTime>,
    /// The time that a pair adds to tasks of each sort, and to those of none, with the record above.
    added: [AddedTime; Work::ALL.len() + 1],
}

/// The time between two events that does not belong to the task: a record, and the way from it to the task and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AddedTime {
    /// The best estimate of it, and between which limits it is in the median.
    best: i64,
    least: i64,
    most: i64,
    /// How far single ones may be from the median, and the mean of many.
    open: i64,
    mean_open: i64,
    /// By how much it is more than the time from one task to the next.
    beyond: Option<i64>,
}

/// The time of the device from one task to the next, and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BetweenTasks {
    pub(super) usual: i64,
    pub(super) least: i64,
    pub(super) most: i64,
}

impl AddedTime {
    /// By the duration of a record, and by how much longer pairs make tasks than the device takes between two of them.
    fn beyond(record: DurationSpread, learnt: LearntTime) -> Self {
        let (record, record_open) = record;
        let (beyond, open) = (learnt.median, learnt.open);
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
            mean_open: learnt.mean_open,
            beyond: Some(beyond),
        }
    }

    fn exactly(learnt: LearntTime) -> Self {
        let LearntTime {
            median,
            open,
            mean_open,
        } = learnt;
        Self {
            best: median,
            least: median,
            most: median,
            open,
            mean_open,
            beyond: None,
        }
    }

    /// The time from one task to the next.
    fn between_tasks(self, record: i64) -> BetweenTasks {
        let Some(beyond) = self.beyond else {
            return BetweenTasks {
                usual: 0,
                least: 0,
                most: MOST_SWITCH_NS,
            };
        };
        let less = |added: i64| added.saturating_sub(beyond).clamp(0, MOST_SWITCH_NS);
        // It is taken for a device that adds nothing but records.
        let adds_nothing = (self.least, self.most) == (record, record);
        let [usual, least] = match adds_nothing {
            true => [0, 0],
            false => [less(self.best), less(self.least)],
        };
        BetweenTasks {
            usual,
            least,
            most: less(self.most),
        }
    }

    /// How far apart the limits of the mean of many are.
    fn open_in_mean(self) -> i64 {
        let of_mean = self.mean_open.saturating_add(self.open / MEAN_PART);
        let range = self.most.saturating_sub(self.least);
        range.saturating_add(of_mean.saturating_mul(2))
    }

    /// Part of the error of a single duration that the mean of many does not have.
    fn noise(self, record_open: i64) -> i64 {
        let of_mean = self.mean_open.saturating_add(self.open / MEAN_PART);
        let noise = self.open.saturating_sub(of_mean).max(0);
        match self.mean_open < self.open {
            true => noise.saturating_add(record_open),
            // Nothing was learnt of means.
            false => noise,
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
        let time = |median, open, mean| {
            let (median, open) = spread(median, open)?;
            let mean_open = figure(mean).map_or(open, i64::from).min(open);
            Some(LearntTime {
                median,
                open,
                mean_open,
            })
        };
        let learnt = |work: Option<Work>| {
            let PairFigures {
                beyond,
                open,
                shortest,
                mean,
            } = PairFigures::of(work);
            LearntDurations {
                beyond_switch: time(beyond, open, mean),
                shortest: figure(shortest).map(i64::from),
            }
        };
        Self {
            record: spread(Figure::RecordNs, Figure::RecordOpenNs),
            all: learnt(None),
            works: Work::ALL.map(|work| learnt(Some(work))),
            logged: time(Figure::LoggedNs, Figure::LoggedOpenNs, Figure::LoggedMeanNs),
            ..Self::default()
        }
        .with_added()
    }

    /// A pair adds the same time to all tasks of a sort, so it is computed once.
    fn with_added(self) -> Self {
        let record = self.record.unwrap_or_default();
        let [kernel, copy, fill] = Work::ALL.map(|work| self.added(record, Some(work)));
        let added = [kernel, copy, fill, self.added(record, None)];
        Self { added, ..self }
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
        let work = Work::of(reading.kind);
        let added = match self.record {
            Some(_) => self.added[work.map_or(Work::ALL.len(), |it| it as usize)],
            None => self.added((record, record_open), work),
        };
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
            noise: added.noise(record_open),
            ..reading
        }
    }

    /// The time of the device from one task of a run to the next.
    pub(super) fn between_tasks(&self, reading: PairReading) -> BetweenTasks {
        let record = self.record.unwrap_or((reading.record, reading.record_open));
        let work = Work::of(reading.kind);
        let added = self.added(record, work);
        let learnt = self.works[work.unwrap_or(Work::Kernel) as usize];
        let stretches = learnt.beyond_switch.or(self.all.beyond_switch);
        // The log does not show the time between tasks.
        let beyond = added.beyond.or(stretches.map(|it| it.median));
        AddedTime { beyond, ..added }.between_tasks(record.0)
    }

    /// The time that a pair adds to tasks of a sort. Collectives and replays of graphs begin and end with kernels.
    fn added(&self, record: DurationSpread, work: Option<Work>) -> AddedTime {
        let learnt = self.works[work.unwrap_or(Work::Kernel) as usize];
        let shortest = work.and(learnt.shortest).unwrap_or(i64::MAX).max(record.0);
        let is_copy = matches!(work, Some(Work::Copy | Work::Fill));
        if let Some(logged) = self.logged.filter(|_| !is_copy) {
            return AddedTime::exactly(logged);
        }
        let most = match is_copy {
            true => MOST_TURNS_OF_COPY_NS,
            false => MOST_TURNS_NS,
        };
        let beyond = |learnt| AddedTime::beyond(record, learnt);
        let own = learnt.beyond_switch.map(beyond);
        let by_log = self.logged.map(AddedTime::exactly);
        let by_others = by_log.or(self.all.beyond_switch.map(beyond));
        let unknown = AddedTime::exactly(LearntTime {
            median: record.0,
            ..LearntTime::default()
        });
        let widened = |it: AddedTime| it.anything_from(record.0, record.0.saturating_add(most));
        let unknown = widened(unknown);
        // Stretches of long tasks that differ can leave more open than no stretches.
        let is_useful = |it: &AddedTime| it.open_in_mean() <= unknown.open_in_mean();
        let others = by_others.filter(|it| is_useful(it)).map(widened);
        let own = own.filter(is_useful);
        own.or(others).unwrap_or(unknown).at_most(shortest)
    }

    /// The time from a record to a task and back, at most, and the time from one task to the next, at most; `None` when
    /// they are not known to take time.
    pub(crate) fn between(self) -> Option<(i64, i64)> {
        let record = self.record?;
        let added = self.added(record, Some(Work::Kernel));
        // Behind a task: a record, the next one, and the way to both.
        let most = added
            .most
            .saturating_add(added.open)
            .saturating_add(record.0)
            .saturating_add(record.1);
        let kernels = self.works[Work::Kernel as usize].beyond_switch;
        let switch = match kernels.or(self.all.beyond_switch) {
            Some(beyond) => added
                .best
                .saturating_sub(beyond.median)
                .clamp(0, MOST_SWITCH_NS),
            None => 0,
        };
        Some((most, switch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::api::TaskKind;
    use ascend_trace_format::time::DeviceNs;

    const RECORD_OPEN: i64 = 0;

    fn time(median: i64, open: i64) -> LearntTime {
        LearntTime {
            median,
            open,
            mean_open: open / 4,
        }
    }

    fn learnt(beyond: Option<i64>, shortest: i64) -> LearntDurations {
        LearntDurations {
            beyond_switch: beyond.map(|it| time(it, 0)),
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
        pairs.added((record, RECORD_OPEN), Work::of(kind))
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
        pairs.logged = Some(time(4_100, 200));
        let of = |kind| added(pairs, 1_300, kind);
        assert_eq!(of(TaskKind::Kernel), AddedTime::exactly(time(4_100, 200)));
        assert_eq!(of(TaskKind::Memcpy).best, 3_800, "of copies by stretches");
        assert_eq!(of(TaskKind::Memset).best, 4_100);
        pairs.record = Some((1_300, 100));
        assert_eq!(pairs.between().unwrap().1, 1_800);
    }

    /// A pair adds the time between two tasks and what stretches have shown.
    #[test]
    fn the_time_between_tasks_is_known_as_a_pair_is() {
        let between = |pairs: PairDurations, record| {
            let reading = PairReading {
                record,
                ..PairReading::of_kernel(DeviceNs::new(0), DeviceNs::new(200_000))
            };
            let it = pairs.between_tasks(reading);
            (it.usual, it.least, it.most)
        };
        assert_eq!(
            between(pairs(Some(3_500), 15_000), 1_300),
            (1_500, 0, 3_000)
        );
        // No pair adds more than the shortest time between two events.
        assert_eq!(between(pairs(Some(3_500), 4_500), 1_300), (500, 0, 1_000));
        // A device that adds nothing but records.
        assert_eq!(between(pairs(Some(1_280), 9_000), 1_300), (0, 0, 20));
        assert_eq!(between(pairs(None, 9_000), 1_300), (0, 0, 3_000));
    }

    /// Single tasks differ by jitter that the mean of many does not have. Without a mean, nothing is assumed of it.
    #[test]
    fn the_mean_of_many_tasks_is_known_better_than_one() {
        let added = AddedTime::exactly(time(4_000, 800));
        assert_eq!(added.noise(100), 800 - 200 - 100 + 100);
        let unknown = LearntTime {
            mean_open: 800,
            ..time(4_000, 800)
        };
        assert_eq!(AddedTime::exactly(unknown).noise(100), 0);
    }
}
