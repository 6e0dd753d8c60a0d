//! Memory by device, process and place in the program: at the peak, at the end, in steps, and where it was refused.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use ascend_trace_recording::stacks::StackId;
use ascend_trace_recording::{FunctionId, ProcessId, ThreadId, Trace};

use super::MOST;
use super::active_modules::modules_at;
use super::changes::{
    AllocationSite, MemoryChange, MemoryChangeKind, MemoryChanges, MemoryId, MemoryKey, MemoryPlace,
};
use super::places::{PlaceState, SiteTotals};
use super::pools::{PoolState, Pools};
use super::rows::{
    HeldMemory, MemoryUsage, PlaceMemory, PoolMemory, RefusedAllocation, StepMemory,
};
use super::step_ranges::StepRange;
use crate::{AnalysisNeeds, Fold, Window};

/// Failed allocations with a row.
const MOST_REFUSED: usize = 100;
/// Holders of memory that a failed allocation lists.
const HOLDERS: usize = 5;

/// A process with its allocation sites and steps.
#[derive(Debug, Default)]
struct ProcessMemory {
    serial: u32,
    rank: Option<u64>,
    sites: HashMap<(FunctionId, Option<StackId>), usize>,
    names: Vec<SiteName>,
    /// The last step first.
    steps: Vec<StepRange>,
    step: Option<StepRange>,
    places: BTreeMap<MemoryPlace, PlaceState>,
    /// The step of the peak of a place.
    peak_steps: BTreeMap<MemoryPlace, String>,
    /// The thread that made the last allocation before the peak of a place, and its module.
    peak_threads: BTreeMap<MemoryPlace, (ThreadId, Option<String>)>,
    pools: Pools,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SiteName {
    function: String,
    site: Option<String>,
}

/// An allocation in use.
#[derive(Clone, Copy, Debug)]
struct LiveAllocation {
    place: MemoryPlace,
    site: usize,
    size: Option<u64>,
    thread: ThreadId,
    /// The begin of its call.
    begin: i64,
}

impl LiveAllocation {
    /// Whether a later change is the same allocation, by the call around its call.
    fn is_inside(&self, outer: &MemoryChange) -> bool {
        outer.thread == self.thread && outer.call.begin <= self.begin
    }
}

/// Follows the memory of a recording.
#[derive(Debug, Default)]
pub struct MemoryUsageFold {
    changes: MemoryChanges,
    processes: BTreeMap<ProcessId, ProcessMemory>,
    live: HashMap<MemoryKey, LiveAllocation>,
    found: MemoryUsage,
    /// The last failed call of each thread, with its row.
    last_refused: HashMap<ThreadId, (i64, Option<usize>)>,
    /// The thread and the time of each failed allocation with a row.
    refused_at: Vec<(ThreadId, i64)>,
    gave_up: bool,
}

impl MemoryUsageFold {
    /// With the steps of the recording, as [`super::StepRanges`] finds them.
    pub fn with_steps(steps: Vec<StepRange>) -> Self {
        let mut fold = Self::default();
        for step in steps.into_iter().rev() {
            fold.processes
                .entry(step.process)
                .or_default()
                .steps
                .push(step);
        }
        fold
    }

    /// Takes the next changes, in order.
    pub(crate) fn take_changes(&mut self, trace: &Trace, changes: &[MemoryChange]) {
        if self.gave_up {
            return;
        }
        for change in changes {
            self.apply(trace, change);
        }
        self.gave_up = self.live.len() > MOST;
    }

    /// Names the modules of peaks and of failed allocations. A range may be known only after the calls in it.
    fn name_modules(&mut self, trace: &Trace) {
        let peaks = self.processes.values_mut().flat_map(|it| {
            let places = &it.places;
            let threads = it.peak_threads.iter_mut();
            threads.filter_map(|(place, peak)| Some((places.get(place)?.peak_at, peak)))
        });
        let mut peaks: Vec<_> = peaks.collect();
        let mut points: Vec<_> = peaks.iter().map(|(at, peak)| (peak.0, *at)).collect();
        points.extend(&self.refused_at);
        let mut modules = modules_at(trace, &points).into_iter();
        for (_, (_, module)) in &mut peaks {
            *module = modules.next().flatten();
        }
        for row in &mut self.found.refused {
            row.module = modules.next().flatten();
        }
        let pools = self.processes.values_mut();
        let peaks = pools.flat_map(|it| it.pools.peaks());
        let mut peaks: Vec<_> = peaks
            .filter_map(|it| Some(((it.thread?, it.at), it)))
            .collect();
        let points: Vec<_> = peaks.iter().map(|(point, _)| *point).collect();
        for ((_, peak), module) in peaks.iter_mut().zip(modules_at(trace, &points)) {
            peak.module = module;
        }
    }

    /// A failed allocation with the memory in use then; `None` if the device or the memory in use is not known.
    pub(crate) fn refusal(
        &self,
        trace: &Trace,
        change: &MemoryChange,
    ) -> Option<RefusedAllocation> {
        let MemoryChangeKind::Refused { place, size, code } = change.kind else {
            return None;
        };
        let process = self.processes.get(&change.site.process);
        let process = process.filter(|_| !self.gave_up)?;
        Some(process.refused(trace, change, (place?, size, code)))
    }

    fn apply(&mut self, trace: &Trace, change: &MemoryChange) {
        let process = self.processes.entry(change.site.process).or_default();
        process.advance(change.at, &mut self.found.steps);
        process.learn(trace, change.site.process);
        let step = process.step.as_ref().map(|it| it.name.as_str());
        process.pools.apply(change, step);
        let key = change.key();
        match change.kind {
            MemoryChangeKind::Freed => self.release(change, true),
            MemoryChangeKind::Allocated { place, size } => {
                // A call inside an allocation reports it as well.
                self.release(change, false);
                let Some(place) = place else {
                    self.found.unplaced += 1;
                    return;
                };
                let process = self.processes.entry(change.site.process).or_default();
                let site = process.site(trace, change.site);
                if process.allocate(place, change.at, (site, change.id, size)) {
                    let thread = (change.thread, None);
                    process.peak_threads.insert(place, thread);
                }
                let (thread, begin) = (change.thread, change.call.begin);
                let allocation = LiveAllocation {
                    place,
                    site,
                    size,
                    thread,
                    begin,
                };
                self.live.insert(key, allocation);
            }
            MemoryChangeKind::Refused { place, size, code } => {
                self.refuse(trace, change, (place, size, code));
            }
        }
    }

    fn release(&mut self, change: &MemoryChange, is_freed: bool) {
        let Some(old) = self.live.remove(&change.key()) else {
            return;
        };
        let process = self.processes.entry(change.site.process).or_default();
        let place = process.places.entry(old.place).or_default();
        place.remove(old.site, change.id, old.size);
        match is_freed {
            true => place.releases += 1,
            // A reset of the device gave the memory back.
            false if !old.is_inside(change) => {}
            false => {
                place.allocations = place.allocations.saturating_sub(1);
                let bytes = old.size.unwrap_or(0);
                place.allocated_bytes = place.allocated_bytes.saturating_sub(bytes);
            }
        }
    }

    fn refuse(
        &mut self,
        trace: &Trace,
        change: &MemoryChange,
        (place, size, code): (Option<MemoryPlace>, Option<u64>, i64),
    ) {
        // The outer call of two has the same reason, and returns later.
        let inner = self.last_refused.remove(&change.thread);
        let inner = inner.filter(|(begin, _)| *begin >= change.call.begin);
        let row = inner.and_then(|(_, row)| row);
        let is_new = inner.is_none();
        let Some(place) = place else {
            return;
        };
        let process = self.processes.entry(change.site.process).or_default();
        let refused = process.refused(trace, change, (place, size, code));
        let rows = &mut self.found.refused;
        let row = match row.filter(|at| *at < rows.len()) {
            Some(at) => {
                rows[at] = refused;
                self.refused_at[at] = (change.thread, change.at);
                Some(at)
            }
            None if is_new && rows.len() < MOST_REFUSED => {
                rows.push(refused);
                self.refused_at.push((change.thread, change.at));
                Some(rows.len() - 1)
            }
            None => {
                self.found.refused_left_out += u64::from(is_new);
                None
            }
        };
        self.last_refused
            .insert(change.thread, (change.call.begin, row));
    }
}

impl ProcessMemory {
    fn learn(&mut self, trace: &Trace, id: ProcessId) {
        let process = trace.process(id);
        (self.serial, self.rank) = (process.serial, process.rank_number());
    }

    fn site(&mut self, trace: &Trace, site: AllocationSite) -> usize {
        let names = &mut self.names;
        *self
            .sites
            .entry((site.function, site.stack))
            .or_insert_with(|| {
                let place = site.stack.and_then(|stack| trace.site_of(stack));
                let name = SiteName {
                    function: trace.function(site.function).name.clone(),
                    site: place.map(|it| it.text()),
                };
                // The same place in the program, with other frames around it.
                names.iter().position(|it| *it == name).unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                })
            })
    }

    /// Adds an allocation, and returns whether more is in use than ever before.
    fn allocate(
        &mut self,
        place: MemoryPlace,
        at: i64,
        (site, id, size): (usize, MemoryId, Option<u64>),
    ) -> bool {
        let state = self.places.entry(place).or_default();
        let is_peak = state.allocate(at, site, id, size);
        match &self.step {
            _ if !is_peak => {}
            Some(step) => drop(self.peak_steps.insert(place, step.name.clone())),
            None => drop(self.peak_steps.remove(&place)),
        }
        is_peak
    }

    /// Ends and begins steps up to this time.
    fn advance(&mut self, at: i64, rows: &mut Vec<StepMemory>) {
        loop {
            if let Some(step) = self.step.take_if(|it| it.end <= at) {
                rows.extend(self.step_rows(&step));
            }
            let begins = |it: &mut StepRange| it.begin <= at;
            let Some(step) = self.steps.pop_if(begins) else {
                return;
            };
            for place in self.places.values_mut() {
                (place.step_begin, place.step_peak) = (place.now, place.now);
            }
            self.step = Some(step);
        }
    }

    fn step_rows(&self, step: &StepRange) -> Vec<StepMemory> {
        let places = self.places.iter().filter(|(_, it)| it.step_peak > 0);
        let rows = places.map(|(place, state)| StepMemory {
            step: step.name.clone(),
            begin_ns: step.begin,
            begin_bytes: state.step_begin,
            peak_bytes: state.step_peak,
            end_bytes: state.now,
            process: self.serial,
            rank: self.rank,
            place: *place,
        });
        rows.collect()
    }

    /// The rows of the sites that hold memory, those that hold most of it first.
    fn held(
        &self,
        place: MemoryPlace,
        held: impl Iterator<Item = (usize, SiteTotals)>,
    ) -> Vec<HeldMemory> {
        let named = held.filter(|(_, it)| it.count > 0);
        let named = named.filter_map(|(site, it)| Some((self.names.get(site)?, it)));
        let mut rows: Vec<HeldMemory> = named
            .map(|(name, held)| HeldMemory {
                process: self.serial,
                rank: self.rank,
                place,
                function: name.function.clone(),
                site: name.site.clone(),
                count: held.count,
                bytes: held.bytes,
                unsized_count: held.unsized_count,
                share: 0.0,
            })
            .collect();
        let all: u64 = rows.iter().map(|it| it.bytes).sum();
        for row in &mut rows {
            row.share = row.bytes as f64 / all.max(1) as f64;
        }
        rows.sort_by(|a, b| {
            let key = |it: &HeldMemory| Reverse((it.bytes, it.count));
            (key(a), &a.function, &a.site).cmp(&(key(b), &b.function, &b.site))
        });
        rows
    }

    fn refused(
        &self,
        trace: &Trace,
        change: &MemoryChange,
        (place, size, code): (MemoryPlace, Option<u64>, i64),
    ) -> RefusedAllocation {
        let none = PlaceState::default();
        let state = self.places.get(&place).unwrap_or(&none);
        let mut holders = self.held(place, state.held());
        holders.truncate(HOLDERS);
        let (gaps_bytes, largest_gap_bytes) = state.gaps();
        let site = change.site.stack.and_then(|stack| trace.site_of(stack));
        let step = self
            .step
            .as_ref()
            .filter(|it| it.begin <= change.call.begin);
        let grown = i128::from(state.now) - i128::from(state.step_begin);
        RefusedAllocation {
            at_ns: change.at,
            step: step.map(|it| it.name.clone()),
            module: None,
            size,
            error: trace
                .error_name(code)
                .map_or_else(|| code.to_string(), str::to_owned),
            in_use_bytes: state.now,
            step_bytes: step.and_then(|_| grown.try_into().ok()),
            gaps_bytes,
            largest_gap_bytes,
            unused_bytes: place.device().and_then(|it| self.pools.unused(it)),
            function: trace.function(change.site.function).name.clone(),
            site: site.map(|it| it.text()),
            holders,
            process: self.serial,
            rank: self.rank,
            place,
        }
    }

    fn pool(&self, place: MemoryPlace, state: &PoolState) -> PoolMemory {
        let (reserved, allocated) = (&state.reserved_peak, &state.allocated_peak);
        PoolMemory {
            peak_reserved_bytes: reserved.bytes,
            peak_reserved_at_ns: reserved.at,
            peak_reserved_step: reserved.step.clone(),
            peak_reserved_module: reserved.module.clone(),
            peak_allocated_bytes: allocated.bytes,
            peak_allocated_at_ns: allocated.at,
            peak_allocated_step: allocated.step.clone(),
            peak_allocated_module: allocated.module.clone(),
            reserved_at_peak_bytes: state.reserved_at_peak,
            unused_at_peak_bytes: state.reserved_at_peak.saturating_sub(allocated.bytes),
            most_unused_bytes: state.unused_peak.bytes,
            most_unused_at_ns: state.unused_peak.at,
            end_reserved_bytes: state.reserved,
            end_allocated_bytes: state.allocated,
            process: self.serial,
            rank: self.rank,
            place,
        }
    }

    fn place(&self, place: MemoryPlace, state: &PlaceState) -> PlaceMemory {
        let (mut end_count, mut unsized_count) = (0, 0);
        for (_, held) in state.held() {
            end_count += held.count;
            unsized_count += held.unsized_count;
        }
        PlaceMemory {
            peak_bytes: state.peak_bytes,
            peak_at_ns: state.peak_at,
            peak_step: self.peak_steps.get(&place).cloned(),
            peak_module: self.peak_threads.get(&place).and_then(|it| it.1.clone()),
            end_bytes: state.now,
            end_count,
            allocations: state.allocations,
            releases: state.releases,
            allocated_bytes: state.allocated_bytes,
            unsized_count,
            process: self.serial,
            rank: self.rank,
            place,
        }
    }
}

impl Fold for MemoryUsageFold {
    type Answer = MemoryUsage;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        let due = self.changes.of_window(window);
        self.take_changes(window.trace, &due);
        if window.part.is_last {
            self.name_modules(window.trace);
        }
    }

    fn finish(mut self) -> MemoryUsage {
        if self.gave_up {
            return MemoryUsage::default();
        }
        let mut found = self.found;
        found.missed_blocks = self.changes.missed_blocks();
        for process in self.processes.values_mut() {
            process.advance(i64::MAX, &mut found.steps);
            let pools = process.pools.iter();
            found
                .pools
                .extend(pools.map(|(place, it)| process.pool(place, it)));
            for (place, state) in &process.places {
                found.places.push(process.place(*place, state));
                found
                    .peak
                    .extend(process.held(*place, state.held_at_peak()));
                found.in_use.extend(process.held(*place, state.held()));
            }
        }
        let by_rank = |rank: Option<u64>, process: u32| (rank.unwrap_or(u64::MAX), process);
        found
            .places
            .sort_by_key(|it| (by_rank(it.rank, it.process), it.place));
        found
            .pools
            .sort_by_key(|it| (by_rank(it.rank, it.process), it.place));
        for rows in [&mut found.peak, &mut found.in_use] {
            // Within a place, the order is by size.
            rows.sort_by_key(|it| (by_rank(it.rank, it.process), it.place));
        }
        found
            .steps
            .sort_by_key(|it| (by_rank(it.rank, it.process), it.begin_ns, it.place));
        found.is_known = true;
        found
    }
}
