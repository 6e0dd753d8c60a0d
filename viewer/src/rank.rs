//! How long the selection took among its kind.

use ascend_trace_recording::{TimeRange, Trace};

use crate::item::CallOrTask;

/// The place of an item among those that do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DurationRank {
    /// All of them that have a time.
    pub(crate) count: usize,
    /// Those that took longer.
    pub(crate) longer: usize,
    /// Those that took just as long, the item itself among them.
    pub(crate) same: usize,
}

impl DurationRank {
    /// The part of them that took no longer, in percent, rounded down.
    pub(crate) fn percentile(self) -> usize {
        (self.count - self.longer) * 100 / self.count.max(1)
    }

    /// Nothing for a task without a time.
    pub(crate) fn of(trace: &Trace, item: CallOrTask) -> Option<Self> {
        let own = timed(trace, item)?;
        let mut rank = Self {
            count: 0,
            longer: 0,
            same: 0,
        };
        for length in kind(trace, item).filter_map(|other| timed(trace, other)) {
            rank.count += 1;
            rank.longer += usize::from(length > own);
            rank.same += usize::from(length == own);
        }
        Some(rank)
    }
}

fn timed(trace: &Trace, item: CallOrTask) -> Option<i64> {
    let known = match item {
        CallOrTask::Task(id) => trace.task(id).time.is_some(),
        CallOrTask::Call(_) => true,
    };
    known.then(|| item.length(trace))
}

/// Everything of the same name: tasks among tasks, calls among calls.
fn kind(trace: &Trace, item: CallOrTask) -> Box<dyn Iterator<Item = CallOrTask> + '_> {
    let function = trace.call(item.call(trace)).function;
    let same = move |call| trace.call(call).function == function;
    match item {
        CallOrTask::Task(id) => {
            let name = trace.task_name(trace.task(id));
            let tasks = (0..trace.tasks().len() as u32).map(ascend_trace_recording::TaskId);
            Box::new(
                tasks
                    .filter(move |id| {
                        let task = trace.task(*id);
                        same(task.call) && trace.task_name(task) == name
                    })
                    .map(CallOrTask::Task),
            )
        }
        CallOrTask::Call(_) => {
            let calls = (0..trace.calls().len() as u32).map(ascend_trace_recording::CallId);
            Box::new(calls.filter(move |id| same(*id)).map(CallOrTask::Call))
        }
    }
}

/// The longest of everything that has a name and begins in a range.
pub(crate) fn slowest(
    trace: &Trace,
    is_wanted: impl Fn(CallOrTask) -> bool,
    range: TimeRange,
) -> Option<CallOrTask> {
    let tasks = (0..trace.tasks().len() as u32)
        .map(|id| CallOrTask::Task(ascend_trace_recording::TaskId(id)));
    let calls = (0..trace.calls().len() as u32)
        .map(|id| CallOrTask::Call(ascend_trace_recording::CallId(id)));
    // An item at the end of the range, such as one of the next step, is outside.
    let in_range = |item: &CallOrTask| {
        let span = item.span(trace);
        range.overlaps(span) && (span.begin < range.end || range.begin == range.end)
    };
    let wanted = tasks.chain(calls).filter(|item| is_wanted(*item));
    let wanted = wanted.filter(|item| timed(trace, *item).is_some() && in_range(item));
    wanted.max_by_key(|item| {
        (
            item.length(trace),
            std::cmp::Reverse(item.span(trace).begin),
        )
    })
}

#[cfg(test)]
mod tests {
    use ascend_trace_recording::TaskId;
    use ascend_trace_testkit::timeline;

    use super::*;

    #[test]
    fn an_item_is_ranked_among_those_of_its_name() {
        let trace =
            timeline("s1: A[0..10us] B[20us..90us] A[100us..130us] A[200us..210us] A[timing-off]");
        let rank = |id| DurationRank::of(&trace, CallOrTask::Task(TaskId(id)));
        let expected = DurationRank {
            count: 3,
            longer: 1,
            same: 2,
        };
        assert_eq!(rank(0), Some(expected));
        assert_eq!(rank(0).map(DurationRank::percentile), Some(66));
        assert_eq!(rank(2).map(|it| it.longer), Some(0));
        assert_eq!(rank(1).map(|it| it.count), Some(1));
        assert_eq!(rank(4), None, "it has no time");
    }
}
