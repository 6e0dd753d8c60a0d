//! Quantities of a process over time: tracer overhead and losses.

use std::collections::BTreeMap;
use std::time::Duration;

use ascend_trace_recording::{Cost, Loss, ProcessId, ThreadId, TimeRange, Trace};

use crate::item::TrackKey;

/// Least time between two updates of the series of a growing trace.
const PAUSE: Duration = Duration::from_secs(1);

/// The series of all processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters {
    /// Sums from the begin of the recording on, by time.
    costs: BTreeMap<ProcessId, Vec<Cost>>,
    /// By time.
    losses: BTreeMap<ProcessId, Vec<Loss>>,
    /// The inputs of the series, and the time of the update.
    made_of: (Cost, usize),
    made: Option<Duration>,
}

impl Meters {
    /// Brings the series up to date; those of a growing trace now and then.
    pub(crate) fn update(&mut self, trace: &Trace, now: Duration, ended: bool) {
        let made_of = (trace.costs().total(), trace.lost().len());
        let is_due = self
            .made
            .is_none_or(|made| now.saturating_sub(made) >= PAUSE);
        if self.made_of == made_of || !(ended || is_due) {
            return;
        }
        self.made_of = made_of;
        self.made = Some(now);
        let processes = (0..trace.processes().len() as u32).map(ProcessId);
        let series = processes.map(|id| (id, trace.costs().of_process(trace, id)));
        self.costs = series.filter(|(_, series)| !series.is_empty()).collect();
        self.losses.clear();
        for loss in trace.lost() {
            // Losses without a thread count for the first process.
            let thread = loss.thread.and_then(|id| trace.threads().get(id.index()));
            let process = thread.map_or(ProcessId(0), |thread| thread.process);
            self.losses.entry(process).or_default().push(*loss);
        }
        for series in self.losses.values_mut() {
            series.sort_by_key(|loss| loss.at);
        }
    }

    /// The lines that a process has.
    pub(crate) fn of_process(&self, id: ProcessId) -> impl Iterator<Item = TrackKey> {
        let cost = self.costs.contains_key(&id).then_some(TrackKey::Cost(id));
        let losses = self
            .losses
            .contains_key(&id)
            .then_some(TrackKey::Losses(id));
        cost.into_iter().chain(losses)
    }

    /// Tracer overhead of a process in a range. Between two reported times, it is spread evenly.
    pub(crate) fn cost(&self, id: ProcessId, span: TimeRange, range: TimeRange) -> Cost {
        let series = self.costs.get(&id).map_or(&[][..], Vec::as_slice);
        at(series, span.begin, range.end).since(&at(series, span.begin, range.begin))
    }

    /// Losses of a process in a range, by thread.
    pub(crate) fn losses(
        &self,
        id: ProcessId,
        range: TimeRange,
    ) -> BTreeMap<Option<ThreadId>, Loss> {
        let mut sums: BTreeMap<Option<ThreadId>, Loss> = BTreeMap::new();
        for loss in self.losses_in(id, range) {
            let sum = sums.entry(loss.thread).or_default();
            sum.calls = sum.calls.saturating_add(loss.calls);
            sum.times = sum.times.saturating_add(loss.times);
            sum.others = sum.others.saturating_add(loss.others);
        }
        sums
    }

    /// How much of a process was lost in a range.
    pub(crate) fn lost(&self, id: ProcessId, range: TimeRange) -> u64 {
        let losses = self.losses_in(id, range).iter();
        losses.fold(0, |sum: u64, loss| sum.saturating_add(loss.total()))
    }

    fn losses_in(&self, id: ProcessId, TimeRange { begin, end }: TimeRange) -> &[Loss] {
        let series = self.losses.get(&id).map_or(&[][..], Vec::as_slice);
        let first = series.partition_point(|loss| loss.at < begin);
        let last = series.partition_point(|loss| loss.at < end);
        series.get(first..last).unwrap_or_default()
    }
}

/// The sums at a timestamp; before the first one they grow from zero.
fn at(series: &[Cost], start: i64, moment: i64) -> Cost {
    let next = series.partition_point(|cost| cost.at <= moment);
    let before = match next.checked_sub(1) {
        Some(place) => series[place],
        None => Cost {
            at: start,
            ..Cost::default()
        },
    };
    let Some(after) = series.get(next) else {
        return before;
    };
    let length = after.at.saturating_sub(before.at).max(1) as f64;
    let part = moment.saturating_sub(before.at).max(0) as f64 / length;
    let step = after.since(&before);
    let share = |value: u64| (value as f64 * part.min(1.0)) as u64;
    before.plus(&Cost {
        at: moment,
        calls: share(step.calls),
        recording_ns: share(step.recording_ns),
        tasks: share(step.tasks),
        events: share(step.events),
        timing_ns: share(step.timing_ns),
        reading_ns: share(step.reading_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(at: i64, calls: u64) -> Cost {
        Cost {
            at,
            calls,
            recording_ns: calls * 100,
            ..Cost::default()
        }
    }

    #[test]
    fn between_two_samples_cost_is_even() {
        let series = [cost(100, 10), cost(200, 30)];
        let calls = |moment| at(&series, 0, moment).calls;
        assert_eq!(
            [0, 50, 100, 150, 200, 900].map(calls),
            [0, 5, 10, 20, 30, 30]
        );
        assert_eq!(at(&[], 0, 5).own_ns(), 0);
    }
}
