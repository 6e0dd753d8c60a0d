//! Results of background queries, valid for one state of the recording.

use std::any::Any;
use std::fmt::{Debug, Formatter, Result as FormatResult};

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::calls::CallTree;
use ascend_trace_analysis::checks::Finding;
use ascend_trace_analysis::stats::StallGroup;
use ascend_trace_recording::{ThreadId, TimeRange};

use crate::background_query::FoundStall;
use crate::panels::StallPanel;

/// Parameters of a result.
pub(crate) trait ResultKey: PartialEq + 'static {
    type Value: 'static;
}

/// The last result of each kind of key. They are of one state of the recording: a result of another
/// state drops all of them.
#[derive(Default)]
pub(crate) struct ResultCache {
    /// Tasks and calls when they were found.
    counts: (u64, u64),
    results: Vec<Box<dyn Any>>,
}

impl Debug for ResultCache {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> FormatResult {
        let mut text = formatter.debug_struct("ResultCache");
        text.field("counts", &self.counts);
        text.field("results", &self.results.len());
        text.finish()
    }
}

impl ResultCache {
    pub(crate) fn get<K: ResultKey>(&self, counts: (u64, u64), key: &K) -> Option<&K::Value> {
        let results = self.results.iter().filter(|_| self.counts == counts);
        let mut own = results.filter_map(|it| it.downcast_ref::<(K, K::Value)>());
        own.find(|(known, _)| known == key).map(|(_, value)| value)
    }

    pub(crate) fn put<K: ResultKey>(&mut self, counts: (u64, u64), key: K, value: K::Value) {
        if self.counts != counts {
            self.counts = counts;
            self.results.clear();
        }
        self.results.retain(|it| !it.is::<(K, K::Value)>());
        self.results.push(Box::new((key, value)));
    }
}

/// The longest stalls of all of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LongestStallsKey {
    pub(crate) which: StallPanel,
    pub(crate) least: i64,
    pub(crate) hidden: usize,
}

impl ResultKey for LongestStallsKey {
    type Value = Vec<FoundStall>;
}

/// Stalls of all of a recording, by who is to blame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StallGroupsKey {
    pub(crate) least: i64,
    pub(crate) hidden: usize,
}

impl ResultKey for StallGroupsKey {
    type Value = Vec<StallGroup>;
}

/// What checks found in all of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FindingsKey;

impl ResultKey for FindingsKey {
    type Value = Vec<Finding>;
}

/// Tables of a range of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StatsKey(pub(crate) TimeRange);

impl ResultKey for StatsKey {
    type Value = Stats;
}

/// Calls of a thread in a range of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CallsKey {
    pub(crate) thread: ThreadId,
    pub(crate) window: TimeRange,
}

impl ResultKey for CallsKey {
    type Value = CallTree;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_of_one_state_of_the_recording_and_one_key() {
        let mut cache = ResultCache::default();
        let key = |least| StallGroupsKey { least, hidden: 0 };
        cache.put((1, 1), key(5), Vec::new());
        cache.put((1, 1), FindingsKey, Vec::new());
        assert!(cache.get((1, 1), &key(5)).is_some());
        assert!(cache.get((1, 1), &key(6)).is_none());
        assert!(cache.get((1, 2), &key(5)).is_none());
        // Another result of the same kind has its place.
        cache.put((1, 1), key(6), Vec::new());
        assert!(cache.get((1, 1), &key(5)).is_none());
        assert!(cache.get((1, 1), &FindingsKey).is_some());
        // The recording has grown.
        cache.put((1, 2), key(6), Vec::new());
        assert!(cache.get((1, 2), &FindingsKey).is_none());
        assert!(cache.get((1, 1), &FindingsKey).is_none());
    }
}
