//! What would come of changes, given or not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::Waits;
use ascend_trace_recording::{Archive, OpenError};
use serde::Serialize;

use super::change::{Change, Narrow};
use super::collect::{Collect, Facts, Way};
use super::ledger::{Sync, ledger};
use super::predict::{Prediction, Predictor};
use crate::{Class, Fold, Step, Window};

/// Operations that are looked at without being asked for: those that took most time.
const OPERATIONS: usize = 8;

/// Streams whose waits are looked at: those that waited most.
const STREAMS: usize = 8;

/// Predictions that are kept of those that nobody asked for.
const KEPT: usize = 20;

/// A recording, ready to be changed.
#[derive(Debug)]
pub struct WhatIf {
    facts: Facts,
}

/// What would come of changes.
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
        Self {
            facts: Collect::default().of(window),
        }
    }

    /// Of a recording, which is read once.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_archive(archive: &mut Archive, step: Step) -> Result<Self, OpenError> {
        let facts = Collect::default().of_archive(archive, step, |_| true)?;
        Ok(Self {
            facts: facts.unwrap_or_default(),
        })
    }

    /// The names of operations.
    pub fn operations(&self) -> &[String] {
        &self.facts.operations
    }

    /// The functions whose calls waited for a device.
    pub fn blocking(&self) -> BTreeSet<&str> {
        self.blocked().into_iter().map(|it| it.0).collect()
    }

    /// The devices and ids of streams.
    pub fn streams(&self) -> impl Iterator<Item = (u32, i64)> {
        let streams = self.facts.streams.iter();
        streams.map(|(place, _)| (place.device, place.stream_id))
    }

    /// What would come of all these changes together.
    pub fn predict(&self, changes: &[Change], words: Vec<String>) -> Report {
        let predictor = Predictor::of(&self.facts);
        let prediction = predictor.predict(changes, words);
        self.report(&predictor, vec![prediction])
    }

    /// What would come of the changes that suggest themselves, each alone.
    pub fn suggest(&self) -> Report {
        let predictor = Predictor::of(&self.facts);
        let suggestions = self.suggestions().into_iter();
        let mut rated: Vec<(i64, Vec<Change>, String)> = suggestions
            .map(|(change, words)| {
                (
                    predictor.saved_ns(std::slice::from_ref(&change)),
                    vec![change],
                    words,
                )
            })
            .filter(|it| it.0 > 0)
            .collect();
        rated.sort_by_key(|it| Reverse(it.0));
        rated.truncate(KEPT);
        let rated = rated.into_iter();
        let predictions = rated.map(|(_, change, words)| predictor.predict(&change, vec![words]));
        let predictions = predictions.collect();
        self.report(&predictor, predictions)
    }

    /// What blocking calls waited for, and which narrower ones would do.
    pub fn syncs(&self) -> Report {
        let predictor = Predictor::of(&self.facts);
        let mut report = self.report(&predictor, Vec::new());
        report.syncs = ledger(&predictor);
        report
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
            predictions,
            syncs: Vec::new(),
        }
    }

    /// The functions whose calls waited for tasks, and what they wait for.
    fn blocked(&self) -> BTreeMap<&str, Waits> {
        let mut found = BTreeMap::new();
        for link in self.facts.links.iter().filter(|it| it.way == Way::Sync) {
            let call = self.facts.call(link.to);
            if let Some(call) = call.filter(|it| !it.copies && it.outer == link.to) {
                let (name, waits) = &self.facts.functions[call.function as usize];
                found.insert(name.as_str(), *waits);
            }
        }
        found
    }

    fn suggestions(&self) -> Vec<(Change, String)> {
        let mut found = Vec::new();
        for (function, waits) in self.blocked() {
            // A call that waits for one thing cannot wait for one of several.
            let narrows = match waits {
                Waits::Event => &[Narrow::None][..],
                Waits::Stream => &[Narrow::Event, Narrow::None],
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
        let tasks = self
            .facts
            .all_tasks()
            .filter(|it| it.1.class == Class::Work);
        tasks.for_each(|(_, it)| sums[it.name as usize] += it.end - it.begin);
        let names = self.facts.operations.iter().cloned();
        let mut all: Vec<(i64, String)> = sums.into_iter().zip(names).collect();
        all.retain(|it| it.0 > 0);
        all.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
        all.truncate(OPERATIONS);
        all.into_iter().map(|it| it.1).collect()
    }

    /// The streams whose waits took most time.
    fn waiting(&self) -> Vec<(u32, i64)> {
        let mut sums: BTreeMap<(u32, i64), i64> = BTreeMap::new();
        for (_, task) in self.facts.all_tasks() {
            if matches!(task.class, Class::EventWait | Class::SignalWait) {
                let place = self.facts.streams[task.stream as usize].0;
                *sums.entry((place.device, place.stream_id)).or_default() += task.end - task.begin;
            }
        }
        let mut all: Vec<_> = sums.into_iter().filter(|it| it.1 > 0).collect();
        all.sort_by_key(|it| Reverse(it.1));
        all.truncate(STREAMS);
        all.into_iter().map(|it| it.0).collect()
    }
}
