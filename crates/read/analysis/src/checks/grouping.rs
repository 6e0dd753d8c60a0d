//! Calls that do the same thing wrong, as one finding.

use std::collections::HashMap;
use std::hash::Hash;

use ascend_trace_recording::{CallId, ProcessId, ThreadId, Trace};

use super::Finding;
use super::happens_before::{NotedCall, OrderFact};

/// Largest number of different mistakes of a kind; others are left out, and a program has few.
const MOST: usize = 4096;

/// Findings by thread, function and any further distinction.
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
    /// Counts one more call with all its time, and with something that is summed up.
    pub(super) fn add(&mut self, trace: &Trace, id: CallId, key: K, amount: u64) {
        let call = trace.call(id);
        self.add_cost(trace, id, key, amount, call.end - call.begin);
    }

    /// The same with the part of its time that the mistake costs.
    pub(super) fn add_cost(
        &mut self,
        trace: &Trace,
        id: CallId,
        key: K,
        amount: u64,
        cost_ns: i64,
    ) {
        self.add_part(
            trace,
            &NotedCall::of(trace, id, true),
            key,
            (amount, cost_ns),
        );
    }

    /// Counts one more call, which may be gone from memory, with all its time, and with something that is summed up.
    pub(super) fn add_noted(&mut self, trace: &Trace, call: &NotedCall, key: K, amount: u64) {
        self.add_part(trace, call, key, (amount, call.end - call.begin));
    }

    /// Counts one more call, which may be gone from memory, with all its time, and keeps its number.
    pub(super) fn add_note(&mut self, trace: &Trace, call: &NotedCall, key: K) {
        self.add_part(trace, call, key, (0, call.end - call.begin));
        let group = self.groups.get_mut(&(call.thread, call.function.0, key));
        if let Some((finding, _)) = group {
            finding.keep_call(call.number);
        }
    }

    /// Drops the calls of these threads.
    pub(super) fn drop_threads(&mut self, are_left_out: impl Fn(ThreadId) -> bool) {
        self.groups.retain(|key, _| !are_left_out(key.0));
    }

    fn add_part(&mut self, trace: &Trace, call: &NotedCall, key: K, (amount, cost_ns): (u64, i64)) {
        let key = (call.thread, call.function.0, key);
        let has_room = self.groups.len() < MOST;
        match self.groups.get_mut(&key) {
            Some((finding, sum)) => {
                finding.count += 1;
                finding.end_ns = finding.end_ns.max(call.end);
                finding.total_ns += cost_ns;
                if call.begin < finding.begin_ns {
                    let first = Finding::of_note(trace, call);
                    (finding.begin_ns, finding.site) = (first.begin_ns, first.site);
                    finding.depth = first.depth;
                }
                *sum = sum.saturating_add(amount);
            }
            None if has_room => {
                let finding = Finding {
                    total_ns: cost_ns,
                    ..Finding::of_note(trace, call)
                };
                self.groups.insert(key, (finding, amount));
            }
            None => {}
        }
    }

    /// Removes groups by their distinction.
    pub(super) fn leave_out(&mut self, is_left_out: impl Fn(&K) -> bool) {
        self.groups.retain(|(_, _, key), _| !is_left_out(key));
    }

    /// The findings without words, with the distinction of each.
    pub(super) fn into_groups(self) -> impl Iterator<Item = (Finding, K)> {
        let groups = self.groups.into_iter();
        groups.map(|((_, _, key), (finding, _))| (finding, key))
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

/// Processes with an unknown order; `None` is all of them.
#[derive(Debug, Default)]
struct DoubtfulProcesses(Vec<Option<ProcessId>>);

impl DoubtfulProcesses {
    fn add(&mut self, process: Option<ProcessId>) {
        if !self.0.contains(&process) {
            self.0.push(process);
        }
    }

    fn are_certain(&self, process: ProcessId) -> bool {
        !self.0.contains(&None) && !self.0.contains(&Some(process))
    }
}

/// Findings of processes, of which those with an unknown order do not count.
#[derive(Debug, Default)]
pub(super) struct ProcessFindings {
    found: Vec<(ProcessId, Finding)>,
    doubtful: DoubtfulProcesses,
}

impl ProcessFindings {
    pub(super) fn set(&mut self, found: Vec<(ProcessId, Finding)>) {
        self.found = found;
    }

    pub(super) fn judge(&mut self, facts: &[OrderFact]) {
        for fact in facts {
            if let OrderFact::Unknown(process) = fact {
                self.doubtful.add(*process);
            }
        }
    }

    pub(super) fn take(&mut self) -> Vec<Finding> {
        let found = std::mem::take(&mut self.found).into_iter();
        let found = found.filter(|(process, _)| self.doubtful.are_certain(*process));
        found.map(|(_, finding)| finding).collect()
    }
}

/// Findings with a text that names the first of their calls, by any further distinction.
#[derive(Debug)]
pub(super) struct Sorted<K> {
    found: HashMap<(ProcessId, K), Finding>,
    doubtful: DoubtfulProcesses,
}

impl<K> Default for Sorted<K> {
    fn default() -> Self {
        Self {
            found: HashMap::new(),
            doubtful: DoubtfulProcesses::default(),
        }
    }
}

impl<K: Eq + Hash> Sorted<K> {
    pub(super) fn add(&mut self, process: ProcessId, key: K, finding: Finding) {
        let key = (process, key);
        let has_room = self.found.len() < MOST;
        match self.found.get_mut(&key) {
            Some(known) => known.join(&finding),
            None if has_room => {
                self.found.insert(key, finding);
            }
            None => {}
        }
    }

    /// Findings of a process, or of all, do not count.
    pub(super) fn doubt(&mut self, process: Option<ProcessId>) {
        self.doubtful.add(process);
    }

    pub(super) fn take(&mut self) -> Vec<Finding> {
        let doubtful = std::mem::take(&mut self.doubtful);
        let found = std::mem::take(&mut self.found).into_iter();
        found
            .filter(|((process, _), _)| doubtful.are_certain(*process))
            .map(|(_, finding)| finding)
            .collect()
    }
}
