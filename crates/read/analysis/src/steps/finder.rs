//! Finds the steps of a recording, window by window.

use ascend_trace_recording::{ProcessId, Thread, ThreadId};
use rustc_hash::FxHashMap;

use super::cuts::cuts;
use super::named::{Wanted, named};
use super::plan::{Lap, Origin, Plan};
use super::repeat::rhythm;
use super::sequence::{Kind, Sequence, Symbols};
use crate::{Fold, Needs, Window};

/// A loop that does one thing alone has no steps; a launch of a graph may be one.
const SHORTEST: usize = 2;

/// Looks for steps. It keeps 16 bytes for each task of processes in which none are named.
#[derive(Debug, Default)]
pub struct Finder<'w> {
    wanted: Wanted<'w>,
    /// Of how many ranges `named` was made.
    known: Option<usize>,
    named: Plan,
    /// The named ones are all that there are.
    is_told: bool,
    /// The end of the recorded time, until now.
    end: i64,
    symbols: Symbols,
    threads: FxHashMap<ThreadId, (ProcessId, u32, Sequence)>,
}

impl<'w> Finder<'w> {
    pub fn new(wanted: Wanted<'w>) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }
}

impl Fold for Finder<'_> {
    type Answer = Plan;

    const NEEDS: Needs = Needs::Calls;
    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        if self.known != Some(trace.ranges().len()) {
            self.known = Some(trace.ranges().len());
            self.named = named(trace, window.places(), self.wanted);
        }
        let is_named = |thread: &Thread| {
            let process = trace.process(thread.process);
            self.named.laps.contains_key(&process.serial)
        };
        self.end = trace.span().map_or(i64::MIN, |span| span.end);
        self.is_told = match self.wanted {
            Wanted::Those(_) => !self.named.goes_on(),
            Wanted::Any => trace.threads().iter().all(is_named),
            Wanted::Repeated => false,
        };
        if self.is_told || matches!(self.wanted, Wanted::Those(_)) {
            return;
        }
        for id in (0..trace.threads().len() as u32).map(ThreadId) {
            let process = trace.thread(id).process;
            let number = trace.process(process).serial;
            if self.named.laps.contains_key(&number) {
                continue;
            }
            let fresh = || (process, number, Sequence::default());
            let (_, _, sequence) = self.threads.entry(id).or_insert_with(fresh);
            for call in window.thread_calls(id) {
                sequence.take(trace, &mut self.symbols, call);
            }
        }
    }

    fn is_done(&self) -> bool {
        self.is_told
    }

    fn finish(self) -> Plan {
        let mut plan = self.named;
        plan.end(self.end);
        let mut threads: Vec<_> = self.threads.into_iter().collect();
        // Of each process the thread that asked for most.
        threads.sort_by_key(|(id, (_, number, sequence))| {
            (*number, std::cmp::Reverse(sequence.entries.len()), *id)
        });
        threads.dedup_by_key(|it| it.1.1);
        for (thread, (_, number, sequence)) in threads {
            if let Some(lap) = found(thread, &self.symbols, &sequence) {
                plan.laps.insert(number, lap);
            }
        }
        plan
    }
}

fn found(thread: ThreadId, symbols: &Symbols, sequence: &Sequence) -> Option<Lap> {
    let entries = &sequence.entries;
    let row: Vec<u32> = entries.iter().map(|it| it.symbol).collect();
    let is_graph = |symbol: u32| symbols.kind(symbol) == Kind::Graph;
    let graphs = rhythm(&row, 1, is_graph).map(|it| (Origin::Graph, it));
    let found = graphs.or_else(|| Some((Origin::Sequence, rhythm(&row, SHORTEST, |_| true)?)));
    let (origin, rhythm) = found?;
    drop(row);
    let cuts = cuts(entries, symbols, &rhythm);
    (!cuts.is_empty()).then_some(Lap {
        origin,
        thread,
        cuts,
    })
}
