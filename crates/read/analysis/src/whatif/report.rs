//! The effects of changes, requested or suggested.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::WaitTarget;
use ascend_trace_recording::{OpenError, Recording};
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{Change, Changes};
use super::collect::Collect;
use super::compact_recording::Facts;
use super::other_threads::BusyThread;
use super::outside::Handover;
use super::predict::{ChangedProgram, Prediction, Predictor};
use super::solve::{Run, solve};
use super::suggestions::{self, FreeWaits, free_waits};
use super::sync_ledger::{Ledger, Sync, ledger, saved};
use super::typical::LatencySource;
use super::wait_index::Index;
use crate::checks::{OrderCheck, Removal, Verdict, Verdicts};
use crate::{Fold, Window, WindowSize};

/// Number of kept suggestions.
const KEPT: usize = 20;

/// A change that saves a smaller part of the time is not suggested, as a divisor.
const LEAST_PART: i64 = 1_000;

/// A recording, ready to be changed.
#[derive(Debug)]
pub struct WhatIf {
    facts: Facts,
    index: Index,
}

/// A thread that works at regular times until the others have done their work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PeriodicThread {
    /// Number of the process in the recording.
    pub process: u32,
    pub tid: u32,
    /// From one of its rounds to the next.
    pub period_ns: i64,
}

/// The effects of changes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// From the first call or task to the end of the last.
    pub makespan_ns: i64,
    /// The same by the unchanged simulation, and how far that is off.
    pub unchanged_ns: i64,
    pub unchanged_error_ns: i64,
    /// How far it is off if each latency is the usual one of the recording.
    pub usual_error_ns: i64,
    /// What recording has cost the thread that it has cost most.
    pub overhead_ns: i64,
    /// Tasks without a time: the simulation has them where they probably ran.
    pub untimed: u64,
    /// Waits that contradict each other and were left out.
    pub left_out: u64,
    /// Number of calls from the begin of the recording with a checked order, for changes that take waits away.
    pub checked_calls: u64,
    /// How threads seem to wait for each other outside of AscendCL.
    pub handovers: Vec<Handover>,
    /// Threads without recorded calls that worked for a tenth of the time or more, the busiest first; at most five. If the program
    /// needs their results, it takes as long as they work, so the errors contain that.
    pub other_threads: Vec<BusyThread>,
    /// Some pauses may be waits for threads without recorded calls. Such waits may take up all that a change saves, and the errors
    /// contain that.
    pub awaits_others: bool,
    /// Some pauses may have ended at times that do not depend on the program, such as the arrivals of requests. The errors contain that.
    pub may_await_arrivals: bool,
    /// Threads that work at regular times until the others have done their work: a faster program has fewer of their rounds.
    pub periodic_threads: Vec<PeriodicThread>,
    /// What saves most comes first, unless it was asked for.
    pub predictions: Vec<Prediction>,
    /// Blocking calls, where they were asked for: what blocked longest comes first.
    pub syncs: Vec<Sync>,
}

impl WhatIf {
    /// Of a trace in memory.
    pub fn of(window: &Window<'_>) -> Self {
        Self::with(Collect::default().of(window))
    }

    /// Of a recording, which is read once.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_recording(recording: &mut Recording, step: WindowSize) -> Result<Self, OpenError> {
        let facts = Collect::default().of_recording(recording, step, |_| true)?;
        Ok(Self::with(facts.unwrap_or_default()))
    }

    fn with(mut facts: Facts) -> Self {
        let index = Index::of(&mut facts);
        Self { facts, index }
    }

    /// The names of operations.
    pub fn operations(&self) -> &[String] {
        &self.facts.operations
    }

    /// The functions with calls that waited for a device.
    pub fn blocking(&self) -> BTreeSet<&str> {
        self.blocked().into_iter().map(|it| it.0).collect()
    }

    /// The devices and ids of streams.
    pub fn streams(&self) -> impl Iterator<Item = (u32, i64)> {
        let places = self.facts.streams.iter().map(|it| it.place);
        places.map(|it| (it.device, it.stream_id))
    }

    /// The effect of all these changes together.
    pub fn predict(&self, changes: &[Change], words: Vec<String>) -> Report {
        let own = Changes::of(&self.facts, changes);
        let runs = self.index.manners().map(|manner| Run {
            changes: &own,
            manner,
        });
        let runs: Vec<Run<'_>> = runs.collect();
        let (predictor, solved) = Predictor::with((&self.facts, &self.index), &[], &runs);
        let mut prediction = predictor.predict(
            ChangedProgram {
                changes: &own,
                calls: 0,
                blocked: 0,
                own: &solved[0],
                others: &solved[1..],
            },
            words,
        );
        prediction.holds = self.needed(changes);
        self.report(&predictor, vec![prediction])
    }

    /// The ledger's result for calls that will wait for less.
    fn needed(&self, changes: &[Change]) -> Option<String> {
        let functions = changes.iter().filter_map(|it| match it {
            Change::Sync { functions, .. } => Some(functions),
            _ => None,
        });
        let functions: BTreeSet<&String> = functions.flatten().collect();
        if functions.is_empty() {
            return None;
        }
        let is_own = |it: u32| functions.contains(&self.facts.functions[it as usize].0);
        let (needed, all) = ledger(&self.facts, &self.index).needed(is_own);
        (needed > 0)
            .then(|| format!("{needed} of the {all} calls seem to be needed: --syncs lists them"))
    }

    /// The check of the order that the suggested changes leave: a fold over the same recording. Its result is for
    /// [`Self::suggest`] and [`Self::syncs`].
    pub fn order_check(&self) -> OrderCheck {
        let free = free_waits((&self.facts, &self.index));
        let mut removals: Vec<Removal> = free.iter().map(FreeWaits::removal).collect();
        removals.extend(ledger(&self.facts, &self.index).removals());
        OrderCheck::of(removals, self.facts.checked_until())
    }

    /// The ledger and the waits of streams, with the results of a check.
    fn checked(&self, verdicts: &Verdicts) -> (Ledger, Vec<FreeWaits>, Vec<Verdict>) {
        let free = free_waits((&self.facts, &self.index));
        let mut ledger = ledger(&self.facts, &self.index);
        let of_waits = verdicts.all.len().min(free.len());
        let (waits, calls) = verdicts.all.split_at(of_waits);
        ledger.judge(calls);
        (ledger, free, waits.to_vec())
    }

    /// The effects of the suggested changes, each alone.
    pub fn suggest(&self, verdicts: &Verdicts) -> Report {
        let (ledger, free, waits) = self.checked(verdicts);
        let suggestions = suggestions::all(&self.facts, &ledger, &free, &waits);
        let calls = ledger.calls();
        let runs = suggestions.iter().map(|it| Run {
            changes: &it.changes,
            manner: LatencySource::Own,
        });
        let runs: Vec<Run<'_>> = runs.collect();
        let all = (&self.facts, &self.index);
        let (predictor, solved) = Predictor::with(all, &calls, &runs);
        let rated = suggestions.iter().zip(&solved);
        let least = predictor.recorded.duration() / LEAST_PART;
        let mut rated: Vec<_> = rated
            .filter(|it| predictor.saved_ns(it.1) > least)
            .collect();
        rated.sort_by_key(|it| Reverse(predictor.saved_ns(it.1)));
        rated.truncate(KEPT);
        // The other manners only say how far the best ones may be off.
        let runs = rated.iter().flat_map(|it| {
            self.index.manners().skip(1).map(|manner| Run {
                changes: &it.0.changes,
                manner,
            })
        });
        let runs: Vec<Run<'_>> = runs.collect();
        let (others, _) = solve(all, &calls, &runs);
        let others = others.chunks_exact(self.index.manners().count() - 1);
        let predictions = rated.into_iter().zip(others).map(|((it, own), others)| {
            let changed = ChangedProgram {
                changes: &it.changes,
                calls: it.calls,
                blocked: it.blocked,
                own,
                others,
            };
            Prediction {
                holds: it.holds.clone(),
                is_checked: it.is_checked,
                at: it.at.clone(),
                ..predictor.predict(changed, vec![it.words.clone()])
            }
        });
        let predictions = predictions.collect();
        Report {
            checked_calls: verdicts.calls,
            ..self.report(&predictor, predictions)
        }
    }

    /// What blocking calls waited for, and which narrower ones would do.
    pub fn syncs(&self, verdicts: &Verdicts) -> Report {
        let (ledger, ..) = self.checked(verdicts);
        let (syncs, predictor) = saved((&self.facts, &self.index), &ledger);
        Report {
            syncs,
            checked_calls: verdicts.calls,
            ..self.report(&predictor, Vec::new())
        }
    }

    /// The functions with calls that waited for tasks, and their targets.
    fn blocked(&self) -> BTreeMap<&str, WaitTarget> {
        let functions = self.facts.blocked.iter();
        let functions = functions.filter_map(|it| self.facts.functions.get(*it as usize));
        functions.map(|it| (it.0.as_str(), it.1)).collect()
    }

    fn periodic(&self) -> Vec<PeriodicThread> {
        let found = self.index.periodic.iter();
        let found = found.filter_map(|it| {
            let thread = self.facts.threads.get(it.thread)?;
            Some(PeriodicThread {
                process: thread.process,
                tid: thread.tid,
                period_ns: it.period,
            })
        });
        found.collect()
    }

    fn report(&self, predictor: &Predictor<'_>, predictions: Vec<Prediction>) -> Report {
        Report {
            makespan_ns: predictor.recorded.duration(),
            unchanged_ns: predictor.unchanged_ns(),
            unchanged_error_ns: predictor.own_error_ns(),
            usual_error_ns: predictor.usual_error_ns(),
            overhead_ns: predictor.overhead_ns(),
            untimed: self.facts.untimed,
            left_out: predictor.left_out,
            checked_calls: 0,
            handovers: self.index.handovers.clone(),
            other_threads: self.facts.others.busy(predictor.recorded),
            awaits_others: self.index.awaits_others,
            may_await_arrivals: !self.index.arrivals.is_empty(),
            periodic_threads: self.periodic(),
            predictions,
            syncs: Vec::new(),
        }
    }
}
