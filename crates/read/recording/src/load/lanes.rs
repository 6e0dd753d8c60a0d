//! Keeps the per-lane lists in order while new entries keep arriving at their ends.

use std::cmp::Reverse;

use crate::trace::{CallId, TaskId, Trace};

/// How much of each lane is in order already.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneOrder {
    calls: Vec<usize>,
    tasks: Vec<usize>,
}

impl LaneOrder {
    /// Sorts the calls and tasks that arrived since the last time.
    pub(super) fn settle(&mut self, trace: &mut Trace) {
        let calls = &trace.calls;
        self.calls.resize(trace.thread_calls.len(), 0);
        for (lane, sorted) in trace.thread_calls.iter_mut().zip(&mut self.calls) {
            settle(lane, sorted, |id: &CallId| {
                let call = &calls[id.index()];
                (call.begin, Reverse(call.end), call.depth, *id)
            });
        }
        let mut lanes = std::mem::take(&mut trace.stream_tasks);
        self.tasks.resize(lanes.len(), 0);
        for (lane, sorted) in lanes.iter_mut().zip(&mut self.tasks) {
            // What did not run has the sequence of the task that came after it.
            settle(lane, sorted, |id: &TaskId| {
                let task = trace.task(*id);
                (task.sequence, trace.runs(task), *id)
            });
        }
        trace.stream_tasks = lanes;
    }

    /// Notes that everything that is left in the lanes is in order.
    pub(super) fn restart(&mut self, trace: &Trace) {
        self.calls = trace.thread_calls.iter().map(Vec::len).collect();
        self.tasks = trace.stream_tasks.iter().map(Vec::len).collect();
    }
}

/// Sorts the tail of a lane and merges it into the sorted part. Only entries later than the tail's
/// first one are touched.
fn settle<T: Copy, K: Ord>(lane: &mut [T], sorted: &mut usize, key: impl Fn(&T) -> K) {
    let (done, tail) = lane.split_at_mut(*sorted);
    tail.sort_unstable_by_key(&key);
    if let Some(first) = tail.first().map(&key) {
        let keep = done.partition_point(|entry| key(entry) <= first);
        if keep < *sorted {
            // A stable sort merges the two sorted runs that it finds.
            lane[keep..].sort_by_key(&key);
        }
    }
    *sorted = lane.len();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_entry_finds_its_place_in_the_sorted_part() {
        let mut lane = vec![1, 5, 9];
        let mut sorted = 3;
        lane.extend([12, 4, 7]);
        settle(&mut lane, &mut sorted, |entry| *entry);
        assert_eq!(lane, [1, 4, 5, 7, 9, 12]);
        assert_eq!(sorted, 6);
    }
}
