//! Memory in use, from the calls that allocate and free it.

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::{Call, Function, ProcessId, Trace};

use super::CounterStep;
use crate::ExportSource;
use rustc_hash::FxHashMap;

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemoryKind {
    Host,
    Device(u32),
}

/// Allocated memory in the part that has been read.
#[derive(Debug, Default)]
pub(super) struct MemoryInUse {
    /// By function.
    effects: Vec<Option<(bool, MemoryEffect)>>,
    /// Changes after the last part.
    changes: Vec<MemoryChange>,
    /// Where each allocation is, and how much.
    live: FxHashMap<(ProcessId, u64), (MemoryKind, i64)>,
}

/// Effect of a function on memory, and its relevant arguments.
#[derive(Clone, Copy, Debug)]
enum MemoryEffect {
    Allocates { pointer: usize, size: usize },
    Frees { pointer: usize },
}

/// An allocation or a release that succeeded.
#[derive(Clone, Copy, Debug)]
struct MemoryChange {
    time: i64,
    process: ProcessId,
    place: Option<MemoryKind>,
    pointer: u64,
    /// `None`: it is freed.
    size: Option<u64>,
}

impl MemoryInUse {
    /// Adds a part of a trace and returns the changes of the memory in use.
    pub(super) fn advance(
        &mut self,
        source: &ExportSource<'_>,
        changed: &mut impl FnMut(ProcessId, MemoryKind, CounterStep),
    ) {
        let trace = source.trace;
        let new = trace.functions().iter().skip(self.effects.len());
        self.effects.extend(new.map(effect));
        if self.effects.iter().all(Option::is_none) {
            return;
        }
        let calls = trace.calls().iter();
        for call in calls.filter(|call| call.result() == Some(0) && source.part.holds(call.begin)) {
            let effect = self.effects.get(call.function.index()).copied().flatten();
            let change = effect.and_then(|(is_host, effect)| change(trace, call, is_host, effect));
            self.changes.extend(change);
        }
        let until = match source.part.is_last {
            true => i64::MAX,
            false => source.part.until,
        };
        self.changes.sort_by_key(|change| change.time);
        let count = self.changes.partition_point(|change| change.time < until);
        for change in self.changes.drain(..count) {
            let key = (change.process, change.pointer);
            let new = change
                .place
                .zip(change.size)
                .map(|(place, size)| (place, i64::try_from(size).unwrap_or(i64::MAX)));
            // An inner call of an allocation reports it as well.
            let old = match new {
                Some(new) => self.live.insert(key, new),
                None => self.live.remove(&key),
            };
            if let Some((place, size)) = old {
                changed(change.process, place, CounterStep::new(change.time, -size));
            }
            if let Some((place, size)) = new {
                changed(change.process, place, CounterStep::new(change.time, size));
            }
        }
    }
}

/// Effect of a function on memory, and whether that is host memory.
fn effect(function: &Function) -> Option<(bool, MemoryEffect)> {
    let kinds = [
        (false, ArgPart::Allocated, ArgPart::Freed),
        (true, ArgPart::HostAllocated, ArgPart::HostFreed),
    ];
    kinds.into_iter().find_map(|(is_host, made, freed)| {
        let frees = |pointer| MemoryEffect::Frees { pointer };
        let allocates = || {
            let (pointer, size) = function.part(made).zip(function.part(ArgPart::Size))?;
            Some(MemoryEffect::Allocates { pointer, size })
        };
        let effect = function.part(freed).map(frees).or_else(allocates)?;
        Some((is_host, effect))
    })
}

fn change(trace: &Trace, call: &Call, is_host: bool, effect: MemoryEffect) -> Option<MemoryChange> {
    let args = trace.args(call);
    let word = |place: usize| args.get(place).copied();
    let place = match call.device {
        _ if is_host => Some(MemoryKind::Host),
        device => device.map(|it| MemoryKind::Device(it.into())),
    };
    let (time, pointer, size) = match effect {
        MemoryEffect::Allocates { pointer, size } => (call.end, word(pointer)?, Some(word(size)?)),
        MemoryEffect::Frees { pointer } => (call.begin, word(pointer)?, None),
    };
    let process = trace.thread(call.thread).process;
    let is_complete = pointer != 0 && (size.is_none() || place.is_some());
    is_complete.then_some(MemoryChange {
        time,
        process,
        place,
        pointer,
        size,
    })
}
