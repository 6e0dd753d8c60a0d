//! Allocations and releases in the order in which they took effect.

use std::fmt;

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::stacks::StackId;
use ascend_trace_recording::{Call, CallId, Function, FunctionId, ProcessId, ThreadId, Trace};

use crate::Window;
use crate::calls::Instance;

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryPlace {
    Device(u8),
    /// Memory that pools of a device have given out (`aclrtMemPoolMallocAsync`).
    Pools(u8),
    Host,
}

impl MemoryPlace {
    pub fn device(self) -> Option<u8> {
        match self {
            Self::Device(device) | Self::Pools(device) => Some(device),
            Self::Host => None,
        }
    }
}

impl fmt::Display for MemoryPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(device) => write!(f, "device {device}"),
            Self::Pools(device) => write!(f, "pools of device {device}"),
            Self::Host => f.write_str("host"),
        }
    }
}

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
    /// 0 for an allocation that failed.
    pub address: u64,
    pub site: AllocationSite,
    pub thread: ThreadId,
    pub call: Instance,
}

impl MemoryChange {
    fn of(trace: &Trace, id: CallId) -> Option<Self> {
        let call = trace.call(id);
        let function = trace.function(call.function);
        let part = |part: ArgPart| function.part(part);
        let host = part(ArgPart::HostAllocated);
        let pooled = part(ArgPart::Pooled);
        let made = part(ArgPart::Allocated).or(host).or(pooled);
        let freed = part(ArgPart::Freed)
            .or_else(|| part(ArgPart::HostFreed))
            .or_else(|| part(ArgPart::PoolFreed));
        let word = |at: usize| trace.args(call).get(at).copied();
        let place = match call.device {
            _ if host.is_some() => Some(MemoryPlace::Host),
            device if pooled.is_some() => device.map(MemoryPlace::Pools),
            device => device.map(MemoryPlace::Device),
        };
        let size = part(ArgPart::Size).and_then(word);
        let (kind, address) = match (made, freed, call.result()?) {
            (Some(made), _, 0) => (MemoryChangeKind::Allocated { place, size }, word(made)?),
            (Some(_), _, code) => (MemoryChangeKind::Refused { place, size, code }, 0),
            (None, Some(freed), 0) => (MemoryChangeKind::Freed, word(freed)?),
            _ => return None,
        };
        let is_refused = matches!(kind, MemoryChangeKind::Refused { .. });
        if address == 0 && !is_refused {
            return None;
        }
        Some(Self {
            // Another thread may get the memory before the call that frees it returns.
            at: match kind {
                MemoryChangeKind::Freed => call.begin,
                _ => call.end,
            },
            kind,
            address,
            site: AllocationSite::of(trace, call),
            thread: call.thread,
            call: Instance {
                begin: call.begin,
                end: call.end,
                depth: call.depth,
            },
        })
    }

    pub fn key(&self) -> (ProcessId, u64) {
        (self.site.process, self.address)
    }
}

/// Whether a function allocates or frees memory.
fn changes_memory(function: &Function) -> bool {
    let parts = [
        ArgPart::Allocated,
        ArgPart::HostAllocated,
        ArgPart::Pooled,
        ArgPart::Freed,
        ArgPart::HostFreed,
        ArgPart::PoolFreed,
    ];
    parts.into_iter().any(|it| function.part(it).is_some())
}

/// The changes of a recording. A window may have some that take effect after its end.
#[derive(Debug, Default)]
pub struct MemoryChanges {
    ahead: Vec<MemoryChange>,
    /// By function: whether it allocates or frees.
    changes: Vec<bool>,
}

impl MemoryChanges {
    /// The changes up to the end of a window, in order.
    pub fn of_window(&mut self, window: &Window<'_>) -> Vec<MemoryChange> {
        let trace = window.trace;
        let functions = trace.functions().iter().skip(self.changes.len());
        self.changes.extend(functions.map(changes_memory));
        let is_change = |id: &CallId| {
            let function = trace.call(*id).function;
            self.changes.get(function.index()) == Some(&true)
        };
        let new = window.calls().filter(is_change);
        let new = new.filter_map(|id| MemoryChange::of(trace, id));
        self.ahead.extend(new);
        self.ahead.sort_by_key(|it| {
            let is_freed = matches!(it.kind, MemoryChangeKind::Freed);
            (it.at, !is_freed, it.key(), it.thread, it.call.begin)
        });
        let due = match window.part.is_last {
            true => self.ahead.len(),
            false => self.ahead.partition_point(|it| it.at < window.part.until),
        };
        self.ahead.drain(..due).collect()
    }
}
