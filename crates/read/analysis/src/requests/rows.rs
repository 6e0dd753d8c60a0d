//! The tables of requests.

use ascend_trace_recording::Trace;

use super::device_work::DeviceWork;
use super::plan::{PlannedRequest, RequestPlan};
use super::signs::Phase;
use crate::Intervals;
use crate::columns::declare::*;

table_row! {
/// A request to a server.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestStats {
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process with its first range or mark").text("process").exported("process");
    pub rank: Option<u64> => column("rank", Unsigned, |it: &Self| it.rank.into(), "rank of this process, or `null`").exported("rank");
    pub request: String => column("request", Word, |it: &Self| (&it.request).into(), "its id").text("request").exported("request");
    pub arrival_ns: Option<i64> => column("arrival_ns", Moment, |it: &Self| it.arrival_ns.into(), "when it arrived; `null` if no range or mark shows it").text("arrival").exported("arrival_ns");
    pub first_token_ns: Option<i64> => column("first_token_ns", Duration, |it: &Self| it.first_token_ns.into(), "from its arrival to its first token: the end of its prefill on host and device. It is the sum of the next three, if they are known").exported("first_token_ns");
    => column("", Duration, |it: &Self| estimate(it.first_token_ns, it.first_token_error_ns), "the same with its error").text("first token");
    pub queue_ns: Option<i64> => column("queue_ns", Duration, |it: &Self| it.queue_ns.into(), "the part in which no work for it was under way: it waited for the scheduler, or for other work of the device").exported("queue_ns");
    => column("", Duration, |it: &Self| estimate(it.queue_ns, it.first_token_error_ns), "the same with its error").text("queue");
    pub host_ns: Option<i64> => column("host_ns", Duration, |it: &Self| it.host_ns.into(), "the part in which the host worked for it, and the device did not").exported("host_ns");
    => column("", Duration, |it: &Self| estimate(it.host_ns, it.device_error_ns), "the same with its error").text("host");
    pub device_ns: Option<i64> => column("device_ns", Duration, |it: &Self| it.device_ns.into(), "the part in which its prefill ran on a device. A batch has this time for each of its requests").exported("device_ns");
    => column("", Duration, |it: &Self| estimate(it.device_ns, it.device_error_ns), "the same with its error").text("device");
    pub first_token_error_ns: Option<i64> => column("first_token_error_ns", Duration, |it: &Self| it.first_token_error_ns.into(), "by how much `first_token_ns` and `queue_ns` may be off").exported("first_token_error_ns");
    pub device_error_ns: Option<i64> => column("device_error_ns", Duration, |it: &Self| it.device_error_ns.into(), "by how much `device_ns` and `host_ns` may be off, the errors of all tasks together").exported("device_error_ns");
    pub prefills: u64 => column("prefills", Count, |it: &Self| it.prefills.into(), "how often it was in a batch that prefilled it").text("prefills").if_any(|it: &Self| it.prefills != 1).exported("prefills");
    pub decodes: u64 => column("decodes", Count, |it: &Self| it.decodes.into(), "how often it was in a batch that decoded").text("decodes").exported("decodes");
    pub tokens: Option<u64> => column("tokens", Count, |it: &Self| it.tokens.into(), "tokens of its output").text("tokens").exported("tokens");
    pub tokens_are_counted: bool => column("tokens_are_counted", Flag, |it: &Self| it.tokens_are_counted.into(), "whether `tokens` is the number of batches, because no name has the number of tokens: one token for the prefill, and one for each `decodes`").exported("tokens_are_counted");
    pub token_ns: Option<i64> => column("token_ns", Duration, |it: &Self| it.token_ns.into(), "mean time from one token to the next, from the first token to the last").exported("token_ns");
    => column("", Duration, |it: &Self| estimate(it.token_ns, it.token_error_ns), "the same with its error").text("per token");
    pub token_error_ns: Option<i64> => column("token_error_ns", Duration, |it: &Self| it.token_error_ns.into(), "by how much it may be off").exported("token_error_ns");
    pub tokens_per_second: Option<f64> => column("tokens_per_second", Figures, |it: &Self| it.tokens_per_second.into(), "tokens after the first one, by the time from it to the last one");
    => column("", Figures, |it: &Self| it.rate_words().into(), "the same").text("tokens/s");
    pub total_ns: Option<i64> => column("total_ns", Duration, |it: &Self| it.total_ns.into(), "from its arrival to its end, by its range or mark; `null` without one").text("total").exported("total_ns");
    pub tasks: u64 => column("tasks", Count, |it: &Self| it.tasks.into(), "tasks of its batches").exported("tasks");
    pub untimed: u64 => column("untimed", Count, |it: &Self| it.untimed.into(), "tasks among these without a time. With one in the prefill, the first token is not known").text("untimed").if_any(|it: &Self| it.untimed > 0).exported("untimed");
}
}

fn estimate(value: Option<i64>, error: Option<i64>) -> Value<'static> {
    value.map_or(Value::Unknown, |it| {
        Value::estimate((it, error.unwrap_or(0)), 0)
    })
}

/// A point in time and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimePoint {
    pub(super) at: i64,
    pub(super) error: i64,
}

impl TimePoint {
    fn later(self, other: Self) -> Self {
        match (other.at, self.at) {
            (other_at, own) if other_at > own => other,
            _ => self,
        }
    }
}

/// The time of some work on host and device.
struct WorkTime {
    end: Option<TimePoint>,
    /// When the host or a device worked.
    busy: Intervals,
    device: Intervals,
    device_error: i64,
    tasks: u64,
    untimed: u64,
}

impl WorkTime {
    fn of(plan: &RequestPlan, devices: &[DeviceWork], places: &[usize]) -> Self {
        let known = places.iter();
        let known = known.filter_map(|it| Some((plan.executions.get(*it)?, devices.get(*it)?)));
        let host = known.clone().map(|(it, _)| it.time);
        let ran = known.clone().flat_map(|(_, it)| it.ran.iter().copied());
        let ends = known.clone().flat_map(|(execution, device)| {
            let host = TimePoint {
                at: execution.time.end,
                error: 0,
            };
            [Some(host), device.end]
        });
        let sum = |of: fn(&DeviceWork) -> u64| known.clone().map(|(_, it)| of(it)).sum();
        Self {
            end: ends.flatten().reduce(TimePoint::later),
            busy: Intervals::union_of(host.chain(ran.clone())),
            device: Intervals::union_of(ran),
            device_error: known
                .clone()
                .map(|(_, it)| it.error)
                .fold(0, i64::saturating_add),
            tasks: sum(|it| it.tasks),
            untimed: sum(|it| it.untimed),
        }
    }
}

impl RequestStats {
    pub(super) fn of(
        trace: &Trace,
        plan: &RequestPlan,
        devices: &[DeviceWork],
        request: &PlannedRequest,
    ) -> Self {
        let process = trace.process(request.process);
        let (prefill, decode) = (
            plan.work(request, Phase::Prefill),
            plan.work(request, Phase::Decode),
        );
        let first = WorkTime::of(plan, devices, &plan.outermost(&prefill));
        let later = WorkTime::of(plan, devices, &plan.outermost(&decode));
        let (prefills, decodes) = (plan.iterations(&prefill), plan.iterations(&decode));
        let counted = (prefills > 0).then_some(1 + decodes);
        let mut row = Self {
            process: process.serial,
            rank: process.rank_number(),
            request: request.id.clone(),
            arrival_ns: request.arrival,
            first_token_ns: None,
            queue_ns: None,
            host_ns: None,
            device_ns: None,
            first_token_error_ns: None,
            device_error_ns: None,
            prefills,
            decodes,
            tokens: request.tokens.or(counted),
            tokens_are_counted: request.tokens.is_none() && counted.is_some(),
            token_ns: None,
            token_error_ns: None,
            tokens_per_second: None,
            total_ns: request
                .arrival
                .zip(request.done)
                .map(|(from, to)| to - from),
            tasks: first.tasks + later.tasks,
            untimed: first.untimed + later.untimed,
        };
        let Some(first_token) = first.end.filter(|_| first.untimed == 0) else {
            return row;
        };
        row.split(&first, first_token);
        if let Some(last) = later.end.filter(|_| later.untimed == 0) {
            row.rate(first_token, last);
        }
        row
    }

    /// The parts of the time to the first token.
    fn split(&mut self, first: &WorkTime, token: TimePoint) {
        let device = first.device.total();
        self.device_ns = Some(device);
        self.host_ns = Some(first.busy.total() - device);
        self.device_error_ns = Some(first.device_error);
        let Some(arrival) = self.arrival_ns.filter(|it| {
            first
                .busy
                .parts()
                .first()
                .is_some_and(|first| *it <= first.begin)
        }) else {
            return;
        };
        self.first_token_ns = Some(token.at - arrival);
        self.first_token_error_ns = Some(token.error);
        self.queue_ns = Some(token.at - arrival - first.busy.total());
    }

    /// Tokens after the first one by time.
    fn rate(&mut self, first: TimePoint, last: TimePoint) {
        let more = self
            .tokens
            .and_then(|it| it.checked_sub(1))
            .filter(|it| *it > 0);
        let (Some(more), time) = (more, last.at - first.at) else {
            return;
        };
        if time <= 0 {
            return;
        }
        self.token_ns = Some(time / more as i64);
        self.token_error_ns = Some((first.error + last.error).div_ceil_by(more));
        self.tokens_per_second = Some(more as f64 * 1e9 / time as f64);
    }

    fn rate_words(&self) -> Option<String> {
        self.tokens_per_second.map(|it| format!("{it:.1}"))
    }
}

trait DivCeil {
    fn div_ceil_by(self, parts: u64) -> i64;
}

impl DivCeil for i64 {
    fn div_ceil_by(self, parts: u64) -> i64 {
        let parts = i64::try_from(parts).unwrap_or(i64::MAX).max(1);
        self / parts + i64::from(self % parts > 0)
    }
}

table_row! {
/// One measure of all requests.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureStats {
    pub measure: &'static str => column("measure", Word, |it: &Self| it.measure.into(), "`first-token`, `queue`, `host`, `device`, `token` (from one token to the next) or `total`").text("of");
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "requests for which it is known").text("requests");
    pub unknown: u64 => column("unknown", Count, |it: &Self| it.unknown.into(), "requests for which it is not known").text("not known").if_any(|it: &Self| it.unknown > 0);
    pub p50_ns: i64 => column("p50_ns", Duration, |it: &Self| it.p50_ns.into(), "half of them take no longer").text("p50");
    pub p90_ns: i64 => column("p90_ns", Duration, |it: &Self| it.p90_ns.into(), "90 % of them take no longer").text("p90");
    pub p99_ns: i64 => column("p99_ns", Duration, |it: &Self| it.p99_ns.into(), "99 % of them take no longer").text("p99");
    pub max_ns: i64 => column("max_ns", Duration, |it: &Self| it.max_ns.into(), "the longest").text("max");
    pub error_ns: i64 => column("error_ns", Duration, |it: &Self| it.error_ns.into(), "by how much each of these may be off: the largest error of a request").text("±");
    pub histogram: Vec<HistogramBucket> => column("histogram", Nested, |it: &Self| Value::list(&it.histogram, Value::row), "requests by duration. Each part is twice as long as the one before, and parts without requests at both ends are left out");
}
}

table_row! {
/// Requests with a duration of this range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramBucket {
    pub from_ns: i64 => column("from_ns", Duration, |it: &Self| it.from_ns.into(), "the shortest duration of the part").text("from");
    pub until_ns: i64 => column("until_ns", Duration, |it: &Self| it.until_ns.into(), "the duration from which on the next part has them").text("until");
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "requests").text("requests");
}
}

impl MeasureStats {
    /// A measure of all requests: its value and its error, where it is known.
    pub(super) fn of(
        measure: &'static str,
        requests: &[RequestStats],
        value: impl Fn(&RequestStats) -> Option<(i64, i64)>,
    ) -> Option<Self> {
        let known: Vec<(i64, i64)> = requests.iter().filter_map(value).collect();
        let mut values: Vec<i64> = known.iter().map(|it| it.0).collect();
        let histogram = histogram(&values);
        let found = crate::stats::Durations::of(&mut values);
        (found.count > 0).then(|| Self {
            measure,
            count: found.count,
            unknown: requests.len() as u64 - found.count,
            p50_ns: found.p50_ns,
            p90_ns: found.p90_ns,
            p99_ns: found.p99_ns,
            max_ns: found.max_ns,
            error_ns: known.iter().map(|it| it.1).max().unwrap_or(0),
            histogram,
        })
    }

    /// Whether a median says too little: the slow ones take more than twice as long.
    pub fn is_irregular(&self) -> bool {
        self.p90_ns > self.p50_ns.saturating_mul(2)
    }
}

/// Counts by powers of two.
fn histogram(values: &[i64]) -> Vec<HistogramBucket> {
    let power = |value: i64| 63 - (value.max(1)).leading_zeros();
    let powers = || values.iter().map(|it| power(*it));
    let (Some(first), Some(last)) = (powers().min(), powers().max()) else {
        return Vec::new();
    };
    let buckets = (first..=last).map(|power| HistogramBucket {
        // Nothing is shorter than the first one.
        from_ns: if power == 0 { 0 } else { 1 << power },
        until_ns: 1_i64
            .checked_shl(power + 1)
            .filter(|it| *it > 0)
            .unwrap_or(i64::MAX),
        count: powers().filter(|it| *it == power).count() as u64,
    });
    buckets.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_every_value_once() {
        let values = [0, 1, 3, 4, 7, 8, 1 << 40];
        let found = histogram(&values);
        assert_eq!(found.iter().map(|it| it.count).sum::<u64>(), 7);
        assert_eq!(
            (found[0].from_ns, found[0].until_ns, found[0].count),
            (0, 2, 2)
        );
        assert_eq!(
            (found[2].from_ns, found[2].until_ns, found[2].count),
            (4, 8, 2)
        );
        assert_eq!(found.last().map(|it| it.count), Some(1));
        assert!(found.windows(2).all(|it| it[0].until_ns == it[1].from_ns));
        assert!(histogram(&[]).is_empty());
        assert_eq!(histogram(&[i64::MAX])[0].count, 1);
    }
}
