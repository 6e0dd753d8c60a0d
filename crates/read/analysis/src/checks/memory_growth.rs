//! A place in the program allocated memory in step after step, and more of it was in use at the end of the steps than before.
//! The process ended and had not given it back. In a longer run, such a program uses up the memory of the device.
//!
//! Free the memory in the step, or use it again in the next one. If it is a cache, give the cache a limit.
//!
//! The check needs steps that the program names by ranges (`step 3`, `ProfilerStep#3`), or those of `--python`. It looks at the
//! memory in use by each call site; call sites need `--stacks`, and without them it looks at each function. It reports growth that
//! lasts until the last step, in eight steps or more, and that is about as large in each quarter of this time. It reports no growth
//! that ends at a limit, that slows down, that is cleared now and then, or that is freed before the end. A cache that is still
//! filling looks like a leak.
//!
//! The check looks only at processes that the recording saw end. A reset of the device does not count as giving back. The memory
//! of PyTorch's cache is that of its segments. With `--pools`, the check looks at the blocks of its tensors as well.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_recording::units::{bytes, count};
use ascend_trace_recording::{CallId, ProcessId, ThreadId, Trace};

use super::super::happens_before::{NotedCall, OrderFact};
use super::super::{Check, Finding};
use super::super::grouping::ProcessFindings;
use super::out_of_memory::noted;
use crate::memory::{
    AllocationSite, CurveSet, MemoryChange, MemoryChangeKind, MemoryChanges, MemoryCurve,
    MemoryGrowth as Growth, MemoryKey, MemoryPlace, StepRange, StepRanges,
};
use crate::{Fold, Window};

/// Allocations that are followed at a time; with more, none are reported.
const MOST: usize = 1 << 20;
/// Pieces of the curve of a place in the program.
const MOST_PIECES: usize = 1 << 10;

/// A function and the place in the program where it was called.
type SiteName = (ProcessId, MemoryPlace, String, Option<String>);

/// An allocation in use.
#[derive(Clone, Copy, Debug)]
struct LiveAllocation {
    call: NotedCall,
    site: usize,
    size: u64,
}

#[derive(Debug)]
pub(super) struct MemoryGrowth {
    changes: MemoryChanges,
    steps: StepRanges,
    names: Vec<SiteName>,
    by_name: HashMap<SiteName, usize>,
    by_site: HashMap<(AllocationSite, MemoryPlace), usize>,
    live: HashMap<MemoryKey, LiveAllocation>,
    curves: CurveSet<usize>,
    gave_up: bool,
    found: ProcessFindings,
}

impl Default for MemoryGrowth {
    fn default() -> Self {
        Self {
            changes: MemoryChanges::default(),
            steps: StepRanges::default(),
            names: Vec::new(),
            by_name: HashMap::new(),
            by_site: HashMap::new(),
            live: HashMap::new(),
            curves: CurveSet::new(MOST_PIECES),
            gave_up: false,
            found: ProcessFindings::default(),
        }
    }
}

impl Check for MemoryGrowth {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        self.steps.take(window);
        for change in self.changes.of_wanted(window, wanted) {
            self.apply(trace, &change);
        }
        self.gave_up |= self.live.len() > MOST;
        // After a range of a recording, everything may still be given back.
        if window.part.is_last && !trace.has_future() && !self.gave_up {
            let found = self.judged(trace);
            self.found.set(found);
        }
    }

    fn judge(&mut self, _: &Trace, facts: &[OrderFact]) {
        self.found.judge(facts);
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.found.take()
    }
}

impl MemoryGrowth {
    fn apply(&mut self, trace: &Trace, change: &MemoryChange) {
        let made = match change.kind {
            _ if self.gave_up => return,
            MemoryChangeKind::Refused { .. } => return,
            MemoryChangeKind::Freed => None,
            MemoryChangeKind::Allocated { place, size } => place.zip(size),
        };
        let made = made.map(|(place, size)| LiveAllocation {
            call: noted(change),
            site: self.site(trace, change.site, place),
            size,
        });
        // A call inside an allocation reports it as well.
        let old = match made {
            Some(new) => self.live.insert(change.key(), new),
            None => self.live.remove(&change.key()),
        };
        for (allocation, sign) in [(old, -1), (made, 1)] {
            if let Some(it) = allocation {
                let size = i64::try_from(it.size).unwrap_or(i64::MAX);
                self.curves.step(it.site, change.at, sign * size);
            }
        }
    }

    /// The number of a place in the program, with any frames around it.
    fn site(&mut self, trace: &Trace, site: AllocationSite, place: MemoryPlace) -> usize {
        let (names, by_name) = (&mut self.names, &mut self.by_name);
        *self.by_site.entry((site, place)).or_insert_with(|| {
            let at = site.stack.and_then(|stack| trace.site_of(stack));
            let function = trace.function(site.function).name.clone();
            let name = (site.process, place, function, at.map(|it| it.text()));
            *by_name.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() - 1
            })
        })
    }

    fn judged(&mut self, trace: &Trace) -> Vec<(ProcessId, Finding)> {
        let mut steps: BTreeMap<ProcessId, Vec<StepRange>> = BTreeMap::new();
        for step in std::mem::take(&mut self.steps).finish() {
            steps.entry(step.process).or_default().push(step);
        }
        let curves = std::mem::replace(&mut self.curves, CurveSet::new(MOST_PIECES)).into_curves();
        let grown = |(site, curve): (&usize, &MemoryCurve)| {
            let (process, ..) = self.names.get(*site)?;
            let steps = steps.get(process)?;
            let has_ended = trace.process(*process).end_ns.is_some();
            let growth = Growth::of(curve, steps).filter(|_| has_ended)?;
            Some((*site, (growth, steps.get(growth.since)?)))
        };
        let grown: BTreeMap<usize, (Growth, &StepRange)> =
            curves.iter().filter_map(grown).collect();
        let mut found: BTreeMap<(usize, ThreadId), Finding> = BTreeMap::new();
        for kept in self.live.values().filter(|it| it.call.is_wanted) {
            let Some((_, since)) = grown.get(&kept.site) else {
                continue;
            };
            if kept.call.end < since.begin {
                continue;
            }
            let this = Finding::of_note(trace, &kept.call);
            match found.get_mut(&(kept.site, kept.call.thread)) {
                Some(known) => join(known, &this),
                None => drop(found.insert((kept.site, kept.call.thread), this)),
            }
        }
        let named = found.into_iter().filter_map(|((site, _), finding)| {
            let (growth, since) = grown.get(&site)?;
            let (process, place, function, _) = self.names.get(site)?;
            let finding = Finding {
                what: words(function, *place, growth, &since.name),
                advice: "free the memory in the step, or use it again; give a cache a limit"
                    .to_owned(),
                ..finding
            };
            Some((*process, finding))
        });
        named.collect()
    }
}

/// Joins calls that come in no order. Several may have begun at the same time.
fn join(known: &mut Finding, other: &Finding) {
    let first = |it: &Finding| (it.begin_ns, it.site.call);
    let is_first = first(other) < first(known);
    known.join(other);
    if is_first {
        (known.site, known.depth) = (other.site.clone(), other.depth);
    }
}

fn words(function: &str, place: MemoryPlace, growth: &Growth, since: &str) -> String {
    let Growth {
        steps, bytes: all, ..
    } = *growth;
    let each = all / steps.max(1) as u64;
    format!(
        "{function} keeps {} more of {place} with each step since {since}, on average: {} in {} steps, not given back",
        bytes(each),
        bytes(all),
        count(steps as u64),
    )
}
