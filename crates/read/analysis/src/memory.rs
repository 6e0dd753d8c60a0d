//! Memory that a program has allocated and not freed yet, by the place in the program that asked for it.
//!
//! Only calls that return an address count. A pool of a framework counts as one allocation, and a reset of the device
//! frees nothing.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::stacks::StackId;
use ascend_trace_recording::{Call, CallId, FunctionId, ProcessId, ThreadId, Trace};

use crate::calls::Instance;
use crate::columns::declare::*;
use crate::{Fold, Needs, Window};

/// Allocations that are followed at a time; with more, nothing is known.
const MOST: usize = 1 << 20;

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

type SiteKey = (ProcessId, FunctionId, Option<StackId>);

#[derive(Clone, Copy, Debug)]
struct Allocation {
    site: usize,
    size: Option<u64>,
    thread: ThreadId,
    call: Instance,
}

/// When memory was allocated or freed.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: i64,
    address: (ProcessId, u64),
    allocated: Option<Allocation>,
}

/// Follows the allocations of a recording.
#[derive(Debug, Default)]
pub struct Allocations {
    places: HashMap<SiteKey, usize>,
    sites: Vec<SiteMemory>,
    live: HashMap<(ProcessId, u64), Allocation>,
    ahead: Vec<Change>,
    gave_up: bool,
}

impl Allocations {
    fn site(&mut self, trace: &Trace, call: &Call) -> usize {
        let process = trace.thread(call.thread).process;
        let key = (process, call.function, trace.shown_stack(call));
        let sites = &mut self.sites;
        *self.places.entry(key).or_insert_with(|| {
            sites.push(SiteMemory {
                site: trace.call_site(call).map(|site| site.text()),
                function: trace.function(call.function).name.clone(),
                process: trace.process(process).serial,
                pid: trace.process(process).pid,
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

    fn change(&mut self, trace: &Trace, id: CallId) -> Option<Change> {
        let call = trace.call(id);
        let function = trace.function(call.function);
        let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
        let allocated = word(ArgPart::Allocated).or_else(|| word(ArgPart::HostAllocated));
        let freed = word(ArgPart::Freed).or_else(|| word(ArgPart::HostFreed));
        let address = allocated.or(freed).filter(|it| *it != 0)?;
        if call.result() != Some(0) {
            return None;
        }
        let size = word(ArgPart::Size);
        let (begin, end, depth) = (call.begin, call.end, call.depth);
        let made = allocated.map(|_| Allocation {
            site: self.site(trace, call),
            size,
            thread: call.thread,
            call: Instance { begin, end, depth },
        });
        Some(Change {
            // Another thread may get the memory before the call that frees it returns.
            at: if made.is_some() { end } else { begin },
            address: (trace.thread(call.thread).process, address),
            allocated: made,
        })
    }

    fn apply(&mut self, change: Change) {
        let Some(allocation) = change.allocated else {
            self.live.remove(&change.address);
            return;
        };
        self.sites[allocation.site].allocations += 1;
        if !self.gave_up {
            self.live.insert(change.address, allocation);
        }
    }
}

impl Fold for Allocations {
    type Answer = MemoryInUse;

    const NEEDS: Needs = Needs::Calls;

    fn take(&mut self, window: &Window<'_>) {
        for id in window.calls() {
            let change = self.change(window.trace, id);
            self.ahead.extend(change);
        }
        self.ahead
            .sort_by_key(|it| (it.at, it.allocated.is_some(), it.address));
        let until = window.part.until;
        let due = match window.part.is_last {
            true => self.ahead.len(),
            false => self.ahead.partition_point(|it| it.at < until),
        };
        let due: Vec<Change> = self.ahead.drain(..due).collect();
        for change in due {
            self.apply(change);
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
