//! What each of several simulations that run at once does in its own way.

use std::ops::Range;

use crate::whatif::change::{Changes, Narrow};
use crate::whatif::compact_recording::Facts;
use crate::whatif::sync_rewrite::ALL;
use crate::whatif::typical::LatencySource;

/// A simulation: a value of a row belongs to each of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::whatif) struct Run<'c> {
    pub(in crate::whatif) changes: &'c Changes,
    pub(in crate::whatif) manner: LatencySource,
}

/// A number for each manner.
pub(super) type Lags = [i64; LatencySource::ALL.len()];

/// A simulation in which something takes another time, with its manner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    run: usize,
    manner: usize,
    factor: f64,
}

/// The changes of each simulation, by subject. A subject changes in few of them.
#[derive(Debug)]
pub(super) struct Effects {
    pub(super) count: usize,
    /// The simulations of each manner.
    blocks: [Range<usize>; LatencySource::ALL.len()],
    launch: Vec<Factor>,
    /// By the shape of the call, and of the task.
    calls: Vec<Vec<Factor>>,
    tasks: Vec<Vec<Factor>>,
    /// By stream: where waits hold nothing.
    no_waits: Vec<Option<Vec<bool>>>,
    /// By function: which waits are left of a sync.
    syncs: Vec<Option<Vec<u8>>>,
    /// By simulation: the same for a group.
    groups: Vec<Option<(u32, Narrow)>>,
}

impl Effects {
    /// Simulations of one manner have to follow each other, in the order of the manners.
    pub(super) fn of(facts: &Facts, runs: &[Run<'_>]) -> Self {
        let upto =
            |manner: LatencySource| runs.partition_point(|it| (it.manner as u8) <= manner as u8);
        let blocks = LatencySource::ALL.map(|manner| {
            let before = runs.partition_point(|it| (it.manner as u8) < manner as u8);
            before..upto(manner)
        });
        let factors = |of: &dyn Fn(&Changes) -> f64| -> Vec<Factor> {
            let factors = runs.iter().enumerate().map(|(run, it)| Factor {
                run,
                manner: it.manner as usize,
                factor: of(it.changes),
            });
            factors.filter(|it| it.factor != 1.0).collect()
        };
        let calls = facts.call_shapes.iter();
        let tasks = facts.task_shapes.iter();
        let no_waits = (0..facts.streams.len()).map(|stream| {
            let has_none = runs.iter().map(|it| it.changes.has_no_waits(stream));
            let has_none: Vec<bool> = has_none.collect();
            has_none.contains(&true).then_some(has_none)
        });
        let syncs = (0..facts.functions.len() as u32).map(|function| {
            let narrow = runs.iter().map(|it| it.changes.sync(function));
            let left: Vec<u8> = narrow.map(left).collect();
            left.iter().any(|it| *it != ALL).then_some(left)
        });
        Self {
            count: runs.len(),
            blocks,
            launch: factors(&Changes::launch),
            calls: calls.map(|it| factors(&|of| of.call(it))).collect(),
            tasks: tasks.map(|it| factors(&|of| of.task(it))).collect(),
            no_waits: no_waits.collect(),
            syncs: syncs.collect(),
            groups: runs.iter().map(|it| it.changes.group()).collect(),
        }
    }

    /// The simulations of a manner.
    pub(super) fn of_manner(&self, manner: LatencySource) -> Range<usize> {
        self.blocks[manner as usize].clone()
    }

    pub(super) fn of_call(&self, shape: u32) -> &[Factor] {
        self.calls.get(shape as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_task(&self, shape: u32) -> &[Factor] {
        self.tasks.get(shape as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn without_waits(&self, stream: usize) -> Option<&[bool]> {
        self.no_waits.get(stream)?.as_deref()
    }

    /// Which waits of a call are left, of a function and maybe of a group of the ledger; `None` if all are.
    pub(super) fn left_of(&self, function: u32, group: Option<u32>) -> Option<Vec<u8>> {
        let function = self.syncs.get(function as usize).and_then(Option::as_ref);
        let is_own = |it: &Option<(u32, Narrow)>| it.is_some_and(|it| Some(it.0) == group);
        let has_group = group.is_some() && self.groups.iter().any(is_own);
        if !has_group {
            return function.cloned();
        }
        let mut all = function.cloned().unwrap_or_else(|| vec![ALL; self.count]);
        for (left_here, own) in all.iter_mut().zip(&self.groups) {
            if is_own(own) {
                *left_here = left(own.map(|it| it.1));
            }
        }
        Some(all)
    }

    /// Adds the lags of each manner, times a factor.
    pub(super) fn add(&self, row: &mut [i64], lags: &Lags, factors: &[Factor]) {
        for (block, lag) in self.blocks.iter().zip(lags) {
            let own = row.get_mut(block.clone()).unwrap_or_default();
            own.iter_mut().for_each(|it| *it += lag);
        }
        for it in factors {
            row[it.run] += it.more(lags);
        }
    }

    /// Moves to the later of two timestamps: the reached one and the one of a launch, each with its
    /// lags in each manner. The lags of the launch change with it.
    pub(super) fn later(&self, row: &mut [i64], own: &Lags, (launch, lags): (&[i64], &Lags)) {
        let rows = self.launch.iter();
        let changed = rows.map(|it| {
            let launched = launch[it.run] + lags[it.manner] + it.more(lags);
            launched.max(row[it.run] + own[it.manner])
        });
        // Most often no element is changed: nothing is allocated then.
        let changed: Vec<i64> = changed.collect();
        for ((block, own), lag) in self.blocks.iter().zip(own).zip(lags) {
            let row = row.get_mut(block.clone()).unwrap_or_default();
            let launch = launch.get(block.clone()).unwrap_or_default();
            let all = row.iter_mut().zip(launch);
            all.for_each(|(it, launch)| *it = (*it + own).max(launch + lag));
        }
        for (it, changed) in self.launch.iter().zip(changed) {
            row[it.run] = changed;
        }
    }
}

impl Factor {
    /// By how much more is added in this simulation.
    pub(super) fn more(&self, lags: &Lags) -> i64 {
        let lag = lags[self.manner];
        scaled(lag, self.factor) - lag
    }

    pub(super) fn run(&self) -> usize {
        self.run
    }
}

fn left(narrow: Option<Narrow>) -> u8 {
    narrow.map_or(ALL, Narrow::waits)
}

/// To the nearest whole number, and from the middle between two away from 0.
fn scaled(time: i64, factor: f64) -> i64 {
    let exact = time as f64 * factor;
    let whole = exact as i64;
    let rest = exact - whole as f64;
    whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_the_nearest() {
        for time in (-70..70).chain([i64::from(i32::MAX), 1 << 50, -(1 << 50) - 1]) {
            for factor in [0.0, 0.25, 0.5, 0.75, 1.0 / 3.0, 1.5, 7.1] {
                let rounded = (time as f64 * factor).round() as i64;
                assert_eq!(scaled(time, factor), rounded, "{time} x{factor}");
            }
        }
    }
}
