//! Calls that do the same thing wrong, as one finding.

use std::collections::HashMap;
use std::hash::Hash;

use ascend_trace_recording::{CallId, ThreadId, Trace};

use super::Finding;

/// Different mistakes of a kind that are told apart; what is beyond is left out, and a program has few.
const MOST: usize = 4096;

/// Findings by thread, function and whatever else tells them apart.
#[derive(Debug)]
pub(super) struct Groups<K> {
    groups: HashMap<(ThreadId, u32, K), (Finding, u64)>,
}

impl<K> Default for Groups<K> {
    fn default() -> Self {
        Self {
            groups: HashMap::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> Groups<K> {
    /// Counts one more call, with something that is summed up.
    pub(super) fn add(&mut self, trace: &Trace, id: CallId, key: K, amount: u64) {
        let call = trace.call(id);
        let key = (call.thread, call.function.0, key);
        let has_room = self.groups.len() < MOST;
        match self.groups.get_mut(&key) {
            Some((finding, sum)) => {
                finding.count += 1;
                finding.end_ns = finding.end_ns.max(call.end);
                finding.total_ns += call.end - call.begin;
                if call.begin < finding.begin_ns {
                    let first = Finding::of_call(trace, id);
                    (finding.begin_ns, finding.site) = (first.begin_ns, first.site);
                    finding.depth = first.depth;
                }
                *sum = sum.saturating_add(amount);
            }
            None if has_room => {
                let finding = Finding::of_call(trace, id);
                self.groups.insert(key, (finding, amount));
            }
            None => {}
        }
    }

    /// The findings, with the words for each: what happened, and what to do.
    pub(super) fn into_findings(
        self,
        words: impl Fn(&Finding, K, u64) -> (String, String),
    ) -> Vec<Finding> {
        let groups = self.groups.into_iter();
        let found = groups.map(|((_, _, key), (finding, amount))| {
            let (what, advice) = words(&finding, key, amount);
            Finding {
                what,
                advice,
                ..finding
            }
        });
        found.collect()
    }
}
