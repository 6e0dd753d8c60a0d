//! Calls that returned an error, by the line that shows them.

use std::collections::BTreeMap;

use ascend_trace_format::api::RetKind;
use ascend_trace_recording::{CallId, TimeRange, Trace};

use crate::item::TrackKey;

/// Failed calls of a trace that grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailedCalls {
    /// Where each begins, in that order.
    lines: BTreeMap<TrackKey, Vec<i64>>,
    looked_at: usize,
}

impl FailedCalls {
    /// Takes in calls that are new.
    pub(crate) fn update(&mut self, trace: &Trace) {
        let all = trace.calls().len();
        for index in self.looked_at..all {
            let call = trace.call(CallId(index as u32));
            if trace.function(call.function).ret == RetKind::Error && call.ret != 0 {
                let line = self.lines.entry(TrackKey::of_call(call)).or_default();
                let place = line.partition_point(|begin| *begin <= call.begin);
                line.insert(place, call.begin);
            }
        }
        self.looked_at = all;
    }

    pub(crate) fn has(&self, key: TrackKey) -> bool {
        self.lines.contains_key(&key)
    }

    /// Whether a call of a line that began in `[begin, end)` failed.
    pub(crate) fn is_any(&self, key: TrackKey, TimeRange { begin, end }: TimeRange) -> bool {
        self.lines.get(&key).is_some_and(|line| {
            let first = line.partition_point(|it| *it < begin);
            line.get(first).is_some_and(|it| *it < end)
        })
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_testkit::timeline;

    use super::*;

    #[test]
    fn failed_calls_are_counted_and_found_by_line_and_time() {
        let trace =
            timeline("t1: sync(s1)[10us..20us] sync(s1)[30us..40us]=107000\ns1: A[0us..5us]");
        let mut failures = FailedCalls::default();
        failures.update(&trace);
        let (index, call) = (trace.calls().iter().enumerate())
            .find(|(_, call)| call.ret == 107_000)
            .expect("one failed");
        assert!(index < trace.calls().len());
        let key = TrackKey::of_call(call);
        assert!(failures.is_any(key, TimeRange::new(call.begin, call.begin + 1)));
        assert!(!failures.is_any(key, TimeRange::new(call.begin - 20_000, call.begin)));
        assert!(!failures.is_any(key, TimeRange::new(call.begin + 1, call.end)));
    }
}
