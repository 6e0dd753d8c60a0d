//! Finds the steps of a recording, window by window.

use ascend_trace_recording::{ProcessId, Thread, ThreadId};
use rustc_hash::FxHashMap;

use super::loops::laps;
use super::named::{StepDefinition, named};
use super::process_steps::{LoopId, RecordingSteps};
use super::sequence::Sequence;
use super::shared::ThreadGroups;
use super::symbols::Symbols;
use crate::{AnalysisNeeds, Fold, Window};

/// Looks for steps. It keeps 20 bytes for each task of processes in which none are named.
#[derive(Debug, Default)]
pub struct Finder<'w> {
    wanted: StepDefinition<'w>,
    /// Of how many ranges `named` was made.
    known: Option<usize>,
    named: RecordingSteps,
    /// The named ones are all that there are.
    is_reported: bool,
    /// The end of the recorded time, until now.
    end: i64,
    symbols: Symbols,
    threads: FxHashMap<ThreadId, (ProcessId, u32, Sequence)>,
    shared: ThreadGroups,
}

impl<'w> Finder<'w> {
    pub fn new(wanted: StepDefinition<'w>) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }
}

impl Fold for Finder<'_> {
    type Answer = RecordingSteps;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;
    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        if self.known != Some(trace.ranges().len()) {
            self.known = Some(trace.ranges().len());
            self.named = named(trace, window.places(), self.wanted);
        }
        let is_named = |thread: &Thread| self.named.has(trace.process(thread.process).serial);
        self.end = trace.span().map_or(i64::MIN, |span| span.end);
        self.is_reported = match self.wanted {
            StepDefinition::Those(_) => !self.named.goes_on(),
            StepDefinition::Any => trace.threads().iter().all(is_named),
            StepDefinition::Repeated => false,
        };
        if self.is_reported || matches!(self.wanted, StepDefinition::Those(_)) {
            return;
        }
        for id in (0..trace.threads().len() as u32).map(ThreadId) {
            let process = trace.thread(id).process;
            let number = trace.process(process).serial;
            if self.named.has(number) {
                continue;
            }
            let fresh = || (process, number, Sequence::default());
            let (_, _, sequence) = self.threads.entry(id).or_insert_with(fresh);
            for call in window.thread_calls(id) {
                self.shared.take(trace, call);
                sequence.take(trace, &mut self.symbols, call);
            }
        }
    }

    fn is_done(&self) -> bool {
        self.is_reported
    }

    fn finish(self) -> RecordingSteps {
        let mut plan = self.named;
        plan.end(self.end);
        let mut threads: Vec<_> = self.threads.into_iter().collect();
        // Of threads that work together, the one that asked for most.
        threads.sort_by_cached_key(|(id, (_, number, sequence))| {
            let group = self.shared.group(*id);
            let most = std::cmp::Reverse(sequence.entries.len());
            (*number, group, most, *id)
        });
        threads.dedup_by_key(|it| (it.1.1, self.shared.group(it.0)));
        // In each process, first the loop of the thread that asked for most.
        threads.sort_by_key(|(id, (_, number, sequence))| {
            (*number, std::cmp::Reverse(sequence.entries.len()), *id)
        });
        let mut last = None;
        for (thread, (_, process, sequence)) in threads {
            let is_first = last.replace(process) != Some(process);
            let from = plan.laps.range(LoopId::first(process)..);
            let known = from.take_while(|it| it.0.process == process).count() as u32;
            let found = laps(thread, &self.symbols, &self.shared, sequence, is_first);
            for (number, lap) in (known..).zip(found) {
                plan.laps.insert(LoopId { process, number }, lap);
            }
        }
        plan
    }
}
