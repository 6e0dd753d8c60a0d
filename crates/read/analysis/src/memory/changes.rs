//! Allocations and releases in the order in which they took effect.

use std::fmt;

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::stacks::StackId;
use ascend_trace_recording::{Call, CallId, Function, FunctionId, ProcessId, ThreadId, Trace};

use super::blocks::{self, BlockReports};
use super::mappings::{CallEffect, PhysicalMappings};
use crate::Window;
use crate::calls::Instance;

/// Codes of calls that found no memory: of `aclrt…` and `rt…`.
const OUT_OF_MEMORY: [i64; 3] = [200_000, 207_001, 207_018];

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryPlace {
    Device(u8),
    /// Blocks that the caching allocator of a framework has given out, of memory that it has reserved on a device.
    Cached(u8),
    /// Blocks that other allocators report.
    Blocks(u8),
    /// Memory that pools of a device have given out (`aclrtMemPoolMallocAsync`).
    Pools(u8),
    Host,
}

impl MemoryPlace {
    pub fn device(self) -> Option<u8> {
        match self {
            Self::Device(device)
            | Self::Cached(device)
            | Self::Blocks(device)
            | Self::Pools(device) => Some(device),
            Self::Host => None,
        }
    }

    /// Whether it is a part of memory that is counted elsewhere: that of a device.
    pub fn is_part(self) -> bool {
        matches!(self, Self::Cached(_) | Self::Blocks(_) | Self::Pools(_))
    }
}

impl fmt::Display for MemoryPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(device) => write!(f, "device {device}"),
            Self::Cached(device) => write!(f, "caching allocator of device {device}"),
            Self::Blocks(device) => write!(f, "other blocks of device {device}"),
            Self::Pools(device) => write!(f, "pools of device {device}"),
            Self::Host => f.write_str("host"),
        }
    }
}

/// Identity of an allocation in its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryId {
    Address(u64),
    /// The handle of physical memory, which may have addresses.
    Physical(u64),
    /// The address of a block in memory that an allocator has reserved.
    Block(u64),
}

impl MemoryId {
    pub(super) fn address(self) -> Option<u64> {
        match self {
            Self::Address(address) | Self::Block(address) => Some(address),
            Self::Physical(_) => None,
        }
    }

    fn value(self) -> u64 {
        match self {
            Self::Address(value) | Self::Physical(value) | Self::Block(value) => value,
        }
    }
}

/// Identity of an allocation.
pub type MemoryKey = (ProcessId, MemoryId);

/// The place in a program that asks for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AllocationSite {
    pub process: ProcessId,
    pub function: FunctionId,
    pub stack: Option<StackId>,
}

impl AllocationSite {
    fn of(trace: &Trace, call: &Call) -> Self {
        Self {
            process: trace.thread(call.thread).process,
            function: call.function,
            stack: trace.shown_stack(call),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryChangeKind {
    /// The place is `None` if the device of the call is not known.
    Allocated {
        place: Option<MemoryPlace>,
        size: Option<u64>,
    },
    Freed,
    /// An allocation that failed, with this code.
    Refused {
        place: Option<MemoryPlace>,
        size: Option<u64>,
        code: i64,
    },
}

/// A change of the memory in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryChange {
    pub at: i64,
    pub kind: MemoryChangeKind,
    /// The address 0 for an allocation that failed.
    pub id: MemoryId,
    /// All that the caching allocator has reserved on the device, if it reported this with a block.
    pub reserved: Option<u64>,
    pub site: AllocationSite,
    pub thread: ThreadId,
    pub call: Instance,
    /// The number of the call.
    pub number: u32,
    /// Whether the call is one of those that the reader wants to hear of.
    pub is_wanted: bool,
}

impl MemoryChange {
    /// The change that a call made, if it allocates or frees memory.
    pub(crate) fn of(trace: &Trace, call_id: CallId, is_wanted: bool) -> Option<Self> {
        let call = trace.call(call_id);
        let function = trace.function(call.function);
        let part = |part: ArgPart| function.part(part);
        let host = part(ArgPart::HostAllocated);
        let pooled = part(ArgPart::Pooled);
        let made = part(ArgPart::Allocated).or(host).or(pooled);
        let made = made.map(|at| (at, MemoryId::Address as fn(u64) -> MemoryId));
        let made = made.or_else(|| {
            Some((
                part(ArgPart::PhysicalAllocated)?,
                MemoryId::Physical as fn(u64) -> MemoryId,
            ))
        });
        let freed = part(ArgPart::Freed)
            .or_else(|| part(ArgPart::HostFreed))
            .or_else(|| part(ArgPart::PoolFreed));
        let freed = freed.map(|at| (at, MemoryId::Address as fn(u64) -> MemoryId));
        let freed = freed.or_else(|| {
            Some((
                part(ArgPart::PhysicalFreed)?,
                MemoryId::Physical as fn(u64) -> MemoryId,
            ))
        });
        let word = |at: usize| trace.args(call).get(at).copied();
        let place = match call.device {
            _ if host.is_some() => Some(MemoryPlace::Host),
            device if pooled.is_some() => device.map(MemoryPlace::Pools),
            device => device.map(MemoryPlace::Device),
        };
        let size = part(ArgPart::Size).and_then(word);
        let (kind, id) = match (made, freed, call.result()?) {
            (Some((at, id)), _, 0) => (MemoryChangeKind::Allocated { place, size }, id(word(at)?)),
            (Some(_), _, code) => {
                let kind = MemoryChangeKind::Refused { place, size, code };
                (kind, MemoryId::Address(0))
            }
            (None, Some((at, id)), 0) => (MemoryChangeKind::Freed, id(word(at)?)),
            _ => return None,
        };
        let is_refused = matches!(kind, MemoryChangeKind::Refused { .. });
        if id.value() == 0 && !is_refused {
            return None;
        }
        Some(Self::with(trace, call_id, (kind, id), is_wanted))
    }

    pub(super) fn with(
        trace: &Trace,
        id: CallId,
        (kind, memory): (MemoryChangeKind, MemoryId),
        is_wanted: bool,
    ) -> Self {
        let call = trace.call(id);
        Self {
            // Another thread may get the memory before the call that frees it returns.
            at: match kind {
                MemoryChangeKind::Freed => call.begin,
                _ => call.end,
            },
            kind,
            id: memory,
            reserved: None,
            site: AllocationSite::of(trace, call),
            thread: call.thread,
            call: Instance {
                begin: call.begin,
                end: call.end,
                depth: call.depth,
            },
            number: trace.call_number(id),
            is_wanted,
        }
    }

    /// The place where a call found no memory; `None` if it failed for another reason, or the place is not known.
    pub(crate) fn exhausted(&self) -> Option<MemoryPlace> {
        match self.kind {
            MemoryChangeKind::Refused { place, code, .. } => {
                place.filter(|_| OUT_OF_MEMORY.contains(&code))
            }
            _ => None,
        }
    }

    pub fn key(&self) -> MemoryKey {
        (self.site.process, self.id)
    }
}

/// Whether a function allocates or frees memory, or reports blocks of it.
pub fn changes_memory(function: &Function) -> bool {
    let parts = [
        ArgPart::Allocated,
        ArgPart::HostAllocated,
        ArgPart::Pooled,
        ArgPart::Freed,
        ArgPart::HostFreed,
        ArgPart::PoolFreed,
        ArgPart::PhysicalAllocated,
        ArgPart::PhysicalFreed,
        ArgPart::MappedAt,
        ArgPart::Unmapped,
    ];
    parts.into_iter().any(|it| function.part(it).is_some()) || blocks::kind(function).is_some()
}

/// The changes of a recording. A window may have some that take effect after its end.
#[derive(Debug, Default)]
pub struct MemoryChanges {
    ahead: Vec<CallEffect>,
    mappings: PhysicalMappings,
    blocks: BlockReports,
    /// By function: whether it allocates or frees.
    changes: Vec<bool>,
}

impl MemoryChanges {
    /// The changes up to the end of a window, in order.
    pub fn of_window(&mut self, window: &Window<'_>) -> Vec<MemoryChange> {
        self.of_wanted(window, &|_| true)
    }

    /// The same where only some calls are wanted. Changes of all calls take effect.
    pub fn of_wanted(
        &mut self,
        window: &Window<'_>,
        wanted: &dyn Fn(CallId) -> bool,
    ) -> Vec<MemoryChange> {
        let until = match window.part.is_last {
            true => i64::MAX,
            false => window.part.until,
        };
        let calls = window.calls().map(|id| (id, wanted(id)));
        self.of_calls(window.trace, calls, until)
    }

    /// The changes of these calls, and of calls before them, that take effect before a time, in order. Each call comes with
    /// whether it is wanted.
    pub fn of_calls(
        &mut self,
        trace: &Trace,
        calls: impl Iterator<Item = (CallId, bool)>,
        until: i64,
    ) -> Vec<MemoryChange> {
        let functions = trace.functions().iter().skip(self.changes.len());
        self.changes.extend(functions.map(changes_memory));
        let is_change = |(id, _): &(CallId, bool)| {
            let function = trace.call(*id).function;
            self.changes.get(function.index()) == Some(&true)
        };
        for (id, is_wanted) in calls.filter(is_change) {
            match blocks::kind(trace.function(trace.call(id).function)) {
                None => self.ahead.extend(CallEffect::of(trace, id, is_wanted)),
                Some(kind) => {
                    let changes = self.blocks.changes(trace, id, (kind, is_wanted));
                    self.ahead
                        .extend(changes.into_iter().map(CallEffect::of_memory));
                }
            }
        }
        self.ahead.sort_by_key(|CallEffect { change: it, .. }| {
            let is_freed = matches!(it.kind, MemoryChangeKind::Freed);
            (it.at, !is_freed, it.key(), it.thread, it.call.begin)
        });
        let due = match until {
            i64::MAX => self.ahead.len(),
            _ => self.ahead.partition_point(|it| it.change.at < until),
        };
        let due = self.ahead.drain(..due);
        due.filter_map(|it| self.mappings.apply(it)).collect()
    }

    /// Calls up to now with blocks that were not recorded.
    pub fn missed_blocks(&self) -> u64 {
        self.blocks.missed
    }

    /// The changes that are left.
    pub fn rest(&mut self) -> Vec<MemoryChange> {
        let rest = std::mem::take(&mut self.ahead).into_iter();
        rest.filter_map(|it| self.mappings.apply(it)).collect()
    }
}
