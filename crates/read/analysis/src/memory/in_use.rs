//! Memory that a program has allocated and not freed yet, by the place in the program that asked for it.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_recording::{ThreadId, Trace};

use super::MOST;
use super::changes::{
    AllocationSite, MemoryChange, MemoryChangeKind, MemoryChanges, MemoryKey, MemoryPlace,
};
use crate::calls::Instance;
use crate::columns::declare::*;
use crate::{AnalysisNeeds, Fold, Window};

/// The call that made the largest allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargestAllocation {
    pub thread: ThreadId,
    pub call: Instance,
    /// 0 where it is not known.
    pub bytes: u64,
}

table_row! {
/// The allocations of one place in a program.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteMemory {
    => column("", Bytes, |it: &Self| Value::estimate((it.bytes.try_into().unwrap_or(i64::MAX), 0), it.unsized_count), "bytes that are in use; more, if sizes are not known").view("in use", 0);
    => column("", Share, |it: &Self| it.share.into(), "share of all that is in use").view("share", 0);
    => column("", Count, |it: &Self| it.count.into(), "allocations that are in use").view("allocations", 70);
    => column("", Count, |it: &Self| it.allocations.into(), "all allocations, freed ones too").view("of", 90);
    => column("", Text, |it: &Self| (&it.function).into(), "name of the function").view("by", 0);
    => column("", Word, |it: &Self| it.site.as_ref().into(), "where the calls were made, if stacks were recorded").view("called at", 0);
    => column("", Id, |it: &Self| it.pid.into(), "process id").view("process", 120);
    pub site: Option<String>;
    pub function: String;
    pub process: u32;
    pub pid: u32;
    pub count: u64;
    pub bytes: u64;
    pub unsized_count: u64;
    pub allocations: u64;
    /// Of all that is in use, 0 to 1.
    pub share: f64;
    /// The call with the largest allocation in use, the first of them.
    pub largest: Option<LargestAllocation>;
}
}

/// Memory in use at the end, most of it first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryInUse {
    pub sites: Vec<SiteMemory>,
    /// False if there were too many allocations to follow.
    pub is_known: bool,
}

impl MemoryInUse {
    pub fn bytes(&self) -> u64 {
        self.sites.iter().map(|it| it.bytes).sum()
    }
}

#[derive(Clone, Copy, Debug)]
struct Allocation {
    site: usize,
    size: Option<u64>,
    thread: ThreadId,
    call: Instance,
}

/// Follows the allocations of a recording. Memory of pools and blocks is that of the calls that reserved it.
#[derive(Debug, Default)]
pub struct Allocations {
    places: HashMap<AllocationSite, usize>,
    sites: Vec<SiteMemory>,
    live: HashMap<MemoryKey, Allocation>,
    changes: MemoryChanges,
    gave_up: bool,
}

impl Allocations {
    fn site(&mut self, trace: &Trace, site: AllocationSite) -> usize {
        let sites = &mut self.sites;
        *self.places.entry(site).or_insert_with(|| {
            let place = site.stack.and_then(|stack| trace.site_of(stack));
            sites.push(SiteMemory {
                site: place.map(|it| it.text()),
                function: trace.function(site.function).name.clone(),
                process: trace.process(site.process).serial,
                pid: trace.process(site.process).pid,
                count: 0,
                bytes: 0,
                unsized_count: 0,
                allocations: 0,
                share: 0.0,
                largest: None,
            });
            sites.len() - 1
        })
    }

    fn apply(&mut self, trace: &Trace, change: &MemoryChange) {
        match change.kind {
            MemoryChangeKind::Freed => {
                self.live.remove(&change.key());
            }
            MemoryChangeKind::Allocated { place, size } => {
                if place.is_some_and(MemoryPlace::is_part) {
                    return;
                }
                let site = self.site(trace, change.site);
                self.sites[site].allocations += 1;
                if !self.gave_up {
                    let (thread, call) = (change.thread, change.call);
                    let allocation = Allocation {
                        site,
                        size,
                        thread,
                        call,
                    };
                    self.live.insert(change.key(), allocation);
                }
            }
            MemoryChangeKind::Refused { .. } => {}
        }
    }
}

impl Fold for Allocations {
    type Answer = MemoryInUse;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        for change in self.changes.of_window(window) {
            self.apply(window.trace, &change);
        }
        if self.live.len() > MOST {
            self.gave_up = true;
            self.live.clear();
        }
    }

    fn finish(mut self) -> MemoryInUse {
        for allocation in self.live.values() {
            self.sites[allocation.site].add(allocation);
        }
        let mut merged: BTreeMap<_, SiteMemory> = BTreeMap::new();
        for site in self.sites {
            let key = (site.process, site.function.clone(), site.site.clone());
            match merged.get_mut(&key) {
                Some(known) => known.join(&site),
                None => drop(merged.insert(key, site)),
            }
        }
        let mut sites: Vec<_> = merged.into_values().collect();
        sites.retain(|it| it.count > 0);
        sites.sort_by_key(|it| std::cmp::Reverse((it.bytes, it.count)));
        let mut found = MemoryInUse {
            sites,
            is_known: !self.gave_up,
        };
        let all = found.bytes().max(1);
        for site in &mut found.sites {
            site.share = site.bytes as f64 / all as f64;
        }
        found
    }
}

impl SiteMemory {
    fn add(&mut self, allocation: &Allocation) {
        let bytes = allocation.size.unwrap_or(0);
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.unsized_count += u64::from(allocation.size.is_none());
        self.offer(LargestAllocation {
            thread: allocation.thread,
            call: allocation.call,
            bytes,
        });
    }

    fn offer(&mut self, other: LargestAllocation) {
        let rank = |it: &LargestAllocation| {
            let begin = std::cmp::Reverse((it.call.begin, it.thread.0, it.call.depth));
            (it.bytes, begin)
        };
        if self.largest.is_none_or(|own| rank(&other) > rank(&own)) {
            self.largest = Some(other);
        }
    }

    /// The same place in the program, with other frames around it.
    fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.unsized_count += other.unsized_count;
        self.allocations += other.allocations;
        if let Some(largest) = other.largest {
            self.offer(largest);
        }
    }
}
