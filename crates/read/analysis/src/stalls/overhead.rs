//! The tool's share of a thread's time, by the recorded costs.

use ascend_trace_format::record::COST_REPORT_INTERVAL_NS;
use ascend_trace_recording::{Cost, ThreadId, TimeRange, Trace};

/// How much of `[begin, end)` the tool took of a thread's time.
///
/// Overhead between two points of the thread's series is assumed to be spread evenly between them; the
/// recorder marks a long piece of work by a point at either end of it.
pub(super) fn spent(trace: &Trace, thread: ThreadId, TimeRange { begin, end }: TimeRange) -> i64 {
    let series = trace.costs().of_thread(thread);
    let Some(first) = series.first() else {
        return 0;
    };
    let process = trace.process(trace.thread(thread).process);
    let start = Cost {
        // A thread reports its first sums at most this long after it began.
        at: (process.begin_ns).max(first.at.saturating_sub_unsigned(COST_REPORT_INTERVAL_NS)),
        ..Cost::default()
    };
    let sum = |moment| sum_at(start, series, moment);
    sum(end)
        .saturating_sub(sum(begin))
        .clamp(0, end.saturating_sub(begin).max(0))
}

/// The sum of the costs at a time, in nanoseconds.
fn sum_at(start: Cost, series: &[Cost], moment: i64) -> i64 {
    let next = series.partition_point(|cost| cost.at <= moment);
    let before = next.checked_sub(1).map_or(start, |place| series[place]);
    let base = as_ns(before.own_ns());
    let Some(after) = series.get(next).filter(|_| moment > before.at) else {
        return base;
    };
    let step = i128::from(as_ns(after.own_ns()).saturating_sub(base));
    let length = i128::from(after.at.saturating_sub(before.at).max(1));
    let passed = i128::from(moment.saturating_sub(before.at));
    base.saturating_add((step * passed / length) as i64)
}

fn as_ns(sum: u64) -> i64 {
    i64::try_from(sum).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_between_two_points_are_spread_evenly() {
        let cost = |at, timing_ns| Cost {
            at,
            timing_ns,
            ..Cost::default()
        };
        let series = [cost(100, 10), cost(200, 10), cost(300, 110)];
        let sum = |moment| sum_at(cost(0, 0), &series, moment);
        assert_eq!([-5, 0, 50, 100].map(sum), [0, 0, 5, 10]);
        assert_eq!([150, 200, 250, 300, 900].map(sum), [10, 10, 60, 110, 110]);
    }
}
