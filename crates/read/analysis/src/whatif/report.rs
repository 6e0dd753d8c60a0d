//! The effects of changes, requested or suggested.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::WaitTarget;
use ascend_trace_recording::{OpenError, Recording};
use serde::Serialize;

use super::change::{Change, Changes, Narrow};
use super::collect::Collect;
use super::facts::Facts;
use super::index::Index;
use super::ledger::{Sync, ledger};
use super::predict::{Changed, Prediction, Predictor};
use super::solve::{Run, solve};
use super::typical::Manner;
use crate::{Class, Fold, Step, Window};

/// Operations that are looked at without being asked for: those that took most time.
const OPERATIONS: usize = 8;

/// Number of streams with suggested changes of waits: those that waited most.
const STREAMS: usize = 8;

/// Number of kept suggestions.
const KEPT: usize = 20;

/// A recording, ready to be changed.
#[derive(Debug)]
pub struct WhatIf {
    facts: Facts,
    index: Index,
}

/// The effects of changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// From the first call or task to the end of the last.
    pub makespan_ns: i64,
    /// The same by the unchanged simulation, and how far that is off.
    pub unchanged_ns: i64,
    pub unchanged_error_ns: i64,
    /// How far it is off if each latency is the usual one of the recording.
    pub usual_error_ns: i64,
    /// What recording has cost the threads that made calls.
    pub overhead_ns: i64,
    /// Tasks without a time: they take none in the simulation.
    pub untimed: u64,
    /// Waits that contradict each other and were left out.
    pub left_out: u64,
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
    pub fn of_recording(recording: &mut Recording, step: Step) -> Result<Self, OpenError> {
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
        let changes = Changes::of(&self.facts, changes);
        let runs = Manner::ALL.map(|manner| Run {
            changes: &changes,
            manner,
        });
        let (predictor, solved) = Predictor::with((&self.facts, &self.index), &[], &runs);
        let prediction = predictor.predict(
            Changed {
                changes: &changes,
                calls: 0,
                own: &solved[0],
                others: &solved[1..],
            },
            words,
        );
        Report::of(&self.facts, &predictor, vec![prediction])
    }

    /// The effects of the suggested changes, each alone.
    pub fn suggest(&self) -> Report {
        let suggestions = self.suggestions().into_iter().map(|(change, words)| {
            let changes = Changes::of(&self.facts, std::slice::from_ref(&change));
            (changes, words)
        });
        let suggestions: Vec<(Changes, String)> = suggestions.collect();
        let runs = suggestions.iter().map(|it| Run {
            changes: &it.0,
            manner: Manner::Own,
        });
        let runs: Vec<Run<'_>> = runs.collect();
        let all = (&self.facts, &self.index);
        let (predictor, solved) = Predictor::with(all, &[], &runs);
        let rated = suggestions.iter().zip(&solved);
        let mut rated: Vec<_> = rated.filter(|it| predictor.saved_ns(it.1) > 0).collect();
        rated.sort_by_key(|it| Reverse(predictor.saved_ns(it.1)));
        rated.truncate(KEPT);
        // The other manners only say how far the best ones may be off.
        let runs = rated.iter().flat_map(|it| {
            Manner::OTHERS.map(|manner| Run {
                changes: &it.0.0,
                manner,
            })
        });
        let runs: Vec<Run<'_>> = runs.collect();
        let (others, _) = solve(all, &[], &runs);
        let others = others.chunks_exact(Manner::OTHERS.len());
        let predictions = rated.into_iter().zip(others).map(|((it, own), others)| {
            let changed = Changed {
                changes: &it.0,
                calls: 0,
                own,
                others,
            };
            predictor.predict(changed, vec![it.1.clone()])
        });
        let predictions = predictions.collect();
        Report::of(&self.facts, &predictor, predictions)
    }

    /// What blocking calls waited for, and which narrower ones would do.
    pub fn syncs(&self) -> Report {
        let (syncs, report) = ledger(&self.facts, &self.index);
        Report { syncs, ..report }
    }

    /// The functions with calls that waited for tasks, and their targets.
    fn blocked(&self) -> BTreeMap<&str, WaitTarget> {
        let functions = self.facts.blocked.iter();
        let functions = functions.filter_map(|it| self.facts.functions.get(*it as usize));
        functions.map(|it| (it.0.as_str(), it.1)).collect()
    }

    fn suggestions(&self) -> Vec<(Change, String)> {
        let mut found = Vec::new();
        for (function, waits) in self.blocked() {
            // A call that waits for one thing cannot wait for one of several.
            let narrows = match waits {
                WaitTarget::Event => &[Narrow::None][..],
                WaitTarget::Stream => &[Narrow::Event, Narrow::None],
                _ => &[Narrow::Stream, Narrow::Event, Narrow::None],
            };
            for narrow in narrows {
                let change = Change::Sync {
                    functions: BTreeSet::from([function.to_owned()]),
                    narrow: *narrow,
                };
                found.push((change, format!("sync={function}->{}", narrow.name())));
            }
        }
        for name in self.longest() {
            let words = format!("op={name} x0.5");
            let names = BTreeSet::from([name]);
            found.push((Change::Operation { names, factor: 0.5 }, words));
        }
        for (device, stream_id) in self.waiting() {
            let change = Change::NoWaits {
                device: Some(device),
                stream_id,
            };
            found.push((change, format!("stream={device}:{stream_id} wait=none")));
        }
        found.push((Change::Copy { factor: 0.0 }, "copy x0".to_owned()));
        found.push((Change::Launch { factor: 0.0 }, "launch x0".to_owned()));
        found
    }

    /// The operations that took most time.
    fn longest(&self) -> Vec<String> {
        let mut sums = vec![0; self.facts.operations.len()];
        let shapes = self.facts.task_shapes.iter().zip(&self.facts.task_sums);
        let work = shapes.filter(|it| it.0.class == Class::Work);
        work.for_each(|(shape, it)| sums[shape.operation as usize] += it.lasted);
        let names = self.facts.operations.iter().cloned();
        let mut all: Vec<(i64, String)> = sums.into_iter().zip(names).collect();
        all.retain(|it| it.0 > 0);
        all.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
        all.truncate(OPERATIONS);
        all.into_iter().map(|it| it.1).collect()
    }

    /// The streams with the longest waits.
    fn waiting(&self) -> Vec<(u32, i64)> {
        let mut sums: BTreeMap<(u32, i64), i64> = BTreeMap::new();
        for stream in &self.facts.streams {
            let place = stream.place;
            *sums.entry((place.device, place.stream_id)).or_default() += stream.waited;
        }
        let mut all: Vec<_> = sums.into_iter().filter(|it| it.1 > 0).collect();
        all.sort_by_key(|it| Reverse(it.1));
        all.truncate(STREAMS);
        all.into_iter().map(|it| it.0).collect()
    }
}

impl Report {
    pub(super) fn of(
        facts: &Facts,
        predictor: &Predictor<'_>,
        predictions: Vec<Prediction>,
    ) -> Self {
        Self {
            makespan_ns: predictor.recorded.duration(),
            unchanged_ns: predictor.unchanged_ns(),
            unchanged_error_ns: predictor.own_error_ns(),
            usual_error_ns: predictor.usual_error_ns(),
            overhead_ns: predictor.overhead_ns(),
            untimed: facts.untimed,
            left_out: predictor.left_out,
            predictions,
            syncs: Vec::new(),
        }
    }
}
