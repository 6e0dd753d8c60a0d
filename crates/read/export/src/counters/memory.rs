//! Memory in use, from the calls that allocate and free it.

use ascend_trace_analysis::memory::{LiveSizes, MemoryChanges, MemoryPlace};
use ascend_trace_recording::ProcessId;

use super::CounterStep;
use crate::ExportSource;

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemoryKind {
    Host,
    Device(u32),
    /// Blocks that a caching allocator has given out.
    Cached(u32),
}

impl MemoryKind {
    /// Memory that pools gave out and blocks of other allocators are not counted: the calls that reserve this memory are.
    fn of(place: MemoryPlace) -> Option<Self> {
        match place {
            MemoryPlace::Host => Some(Self::Host),
            MemoryPlace::Device(device) => Some(Self::Device(device.into())),
            MemoryPlace::Cached(device) => Some(Self::Cached(device.into())),
            MemoryPlace::Blocks(_) | MemoryPlace::Pools(_) => None,
        }
    }
}

/// Allocated memory in the part that has been read.
#[derive(Debug, Default)]
pub(super) struct MemoryInUse {
    changes: MemoryChanges,
    live: LiveSizes,
}

impl MemoryInUse {
    /// Adds a part of a trace and returns the changes of the memory in use.
    pub(super) fn advance(
        &mut self,
        source: &ExportSource<'_>,
        changed: &mut impl FnMut(ProcessId, MemoryKind, CounterStep),
    ) {
        for change in self.changes.of_window(source) {
            let steps = self.live.apply(&change).into_iter().flatten();
            for (place, by) in steps {
                if let Some(kind) = MemoryKind::of(place) {
                    let step = CounterStep::new(change.at, by);
                    changed(change.site.process, kind, step);
                }
            }
        }
    }
}
