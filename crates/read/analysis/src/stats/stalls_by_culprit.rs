//! Stalls summed up by who is to blame.

use std::collections::HashMap;

use ascend_trace_recording::Trace;

use crate::nesting::Nesting;
use crate::{Blame, Fold, Lane, Stall, Window};

/// Stalls that have the same to blame.
#[derive(Clone, Debug, PartialEq)]
pub struct StallGroup {
    pub blame: Blame,
    pub count: u64,
    /// Summed over the lanes, as in [`super::CauseStats`].
    pub total_ns: i64,
    pub max_ns: i64,
    /// Part of the stalls of all streams, or of all threads, 0 to 1.
    pub share: f64,
}

/// Sums of stalls by culprit. Stalls outside of the groups still count for the shares.
#[derive(Clone, Debug, Default)]
pub struct StallGroups {
    sums: HashMap<Blame, Sum>,
    /// Of streams and of threads.
    all: [i64; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    total: i64,
    max: i64,
}

impl Sum {
    fn add(&mut self, length: i64) {
        self.count += 1;
        self.total += length;
        self.max = self.max.max(length);
    }
}

/// The place of what stalled in [`StallGroups::all`].
fn sort_of(stall: &Stall) -> usize {
    usize::from(matches!(stall.lane, Lane::Thread(_)))
}

impl StallGroups {
    /// Counts a stall, in the group of its blame if it has one.
    pub fn add(&mut self, stall: &Stall, blame: Option<&Blame>) {
        let length = stall.length();
        self.all[sort_of(stall)] += length;
        let Some(blame) = blame else { return };
        if !self.sums.contains_key(blame) {
            self.sums.insert(blame.clone(), Sum::default());
        }
        if let Some(sum) = self.sums.get_mut(blame) {
            sum.add(length);
        }
    }

    /// The same of stalls with known blames by place; those without one are in no group.
    pub fn of_places<'s>(
        blames: &[Blame],
        stalls: impl Iterator<Item = (&'s Stall, Option<usize>)>,
    ) -> Self {
        let mut groups = Self::default();
        let mut sums = vec![Sum::default(); blames.len()];
        for (stall, place) in stalls {
            let length = stall.length();
            groups.all[sort_of(stall)] += length;
            if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
                sum.add(length);
            }
        }
        let found = blames.iter().zip(sums).filter(|(_, sum)| sum.count > 0);
        groups.sums = found.map(|(blame, sum)| (blame.clone(), sum)).collect();
        groups
    }

    /// The groups, the one with most time first.
    pub fn rows(self) -> Vec<StallGroup> {
        let all = self.all;
        let mut rows: Vec<StallGroup> = self
            .sums
            .into_iter()
            .map(|(blame, sum)| StallGroup {
                count: sum.count,
                total_ns: sum.total,
                max_ns: sum.max,
                share: sum.total as f64 / all[usize::from(blame.is_of_threads)].max(1) as f64,
                blame,
            })
            .collect();
        rows.sort_by(|a, b| (-a.total_ns, &a.blame).cmp(&(-b.total_ns, &b.blame)));
        rows
    }
}

/// Sums up the stalls that are wanted, window by window.
#[derive(Debug)]
pub struct Grouping<W> {
    wanted: W,
    groups: StallGroups,
}

impl<W: Fn(&Trace, &Stall) -> bool> Grouping<W> {
    pub fn of_those(wanted: W) -> Self {
        Self {
            wanted,
            groups: StallGroups::default(),
        }
    }
}

impl<W: Fn(&Trace, &Stall) -> bool> Fold for Grouping<W> {
    type Answer = StallGroups;

    fn take(&mut self, window: &Window<'_>) {
        let nesting = Nesting::of(window.trace);
        let (trace, dependencies) = (window.trace, &window.dependencies);
        for stall in window.stalls() {
            let blame = (self.wanted)(trace, stall)
                .then(|| window.stalls.blame(trace, dependencies, &nesting, stall));
            self.groups.add(stall, blame.as_ref());
        }
    }

    fn finish(self) -> StallGroups {
        self.groups
    }
}
