//! What each of several simulations that run at once does in its own way.

use std::ops::Range;

use crate::whatif::change::{Changes, Narrow};
use crate::whatif::facts::Facts;
use crate::whatif::narrow::ALL;
use crate::whatif::typical::Manner;

/// A simulation: a value of a row belongs to each of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::whatif) struct Run<'c> {
    pub(in crate::whatif) changes: &'c Changes,
    pub(in crate::whatif) manner: Manner,
}

/// A number for each manner.
pub(super) type Lags = [i64; Manner::ALL.len()];

/// What changes in which simulation, by what it changes. `None` where it changes in none of them.
#[derive(Debug)]
pub(super) struct Effects {
    pub(super) count: usize,
    /// The simulations of each manner.
    pub(super) blocks: [Range<usize>; Manner::ALL.len()],
    pub(super) launch: Option<Vec<f64>>,
    /// By the shape of the call, and of the task.
    calls: Vec<Option<Vec<f64>>>,
    tasks: Vec<Option<Vec<f64>>>,
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
        let upto = |manner: Manner| runs.partition_point(|it| (it.manner as u8) <= manner as u8);
        let blocks = Manner::ALL.map(|manner| {
            let before = runs.partition_point(|it| (it.manner as u8) < manner as u8);
            before..upto(manner)
        });
        let factors = |of: &dyn Fn(&Changes) -> f64| {
            let factors: Vec<f64> = runs.iter().map(|it| of(it.changes)).collect();
            factors.iter().any(|it| *it != 1.0).then_some(factors)
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

    pub(super) fn of_call(&self, shape: u32) -> Option<&[f64]> {
        self.calls.get(shape as usize)?.as_deref()
    }

    pub(super) fn of_task(&self, shape: u32) -> Option<&[f64]> {
        self.tasks.get(shape as usize)?.as_deref()
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

    /// Adds what is added in each manner, times a factor.
    pub(super) fn add(&self, row: &mut [i64], lags: &Lags, factors: Option<&[f64]>) {
        for (block, lag) in self.blocks.iter().zip(lags) {
            let Some(own) = row.get_mut(block.clone()) else {
                continue;
            };
            match factors.and_then(|it| it.get(block.clone())) {
                None => own.iter_mut().for_each(|it| *it += lag),
                Some(factors) => {
                    let own = own.iter_mut().zip(factors);
                    own.for_each(|(it, factor)| *it += scaled(*lag, *factor));
                }
            }
        }
    }

    /// Makes each value at least another one, plus what is added in its manner, times a factor.
    pub(super) fn raise(&self, row: &mut [i64], by: &[i64], lags: &Lags, factors: Option<&[f64]>) {
        for (block, lag) in self.blocks.iter().zip(lags) {
            let (Some(own), Some(by)) = (row.get_mut(block.clone()), by.get(block.clone())) else {
                continue;
            };
            match factors.and_then(|it| it.get(block.clone())) {
                None => {
                    let own = own.iter_mut().zip(by);
                    own.for_each(|(it, by)| *it = (*it).max(by + lag));
                }
                Some(factors) => {
                    let own = own.iter_mut().zip(by).zip(factors);
                    own.for_each(|((it, by), factor)| *it = (*it).max(by + scaled(*lag, *factor)));
                }
            }
        }
    }
}

fn left(narrow: Option<Narrow>) -> u8 {
    narrow.map_or(ALL, Narrow::waits)
}

fn scaled(time: i64, factor: f64) -> i64 {
    match factor == 1.0 {
        true => time,
        false => (time as f64 * factor).round() as i64,
    }
}
