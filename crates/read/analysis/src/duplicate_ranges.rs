//! Ranges of torch_npu that the hook inside Python reports better.
//!
//! torch_npu begins a range `dataloader` where the program asks its loader for a batch, and ends it when the batch is
//! there. A loader that has no more, or fails, leaves it open until the recording ends. The hook's range of the same
//! name ends in all cases, so where a process has those, the others count for nothing.

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{ProcessId, Range, Trace};
use rustc_hash::FxHashSet;

/// The processes with loaders that the hook reports.
#[derive(Debug)]
pub(crate) struct Repeated(FxHashSet<ProcessId>);

impl Repeated {
    pub(crate) fn of(trace: &Trace) -> Self {
        let hooked = trace.ranges().iter();
        let hooked = hooked.filter(|it| it.kind() == Some(RangeKind::Loader));
        Self(hooked.map(|it| trace.thread(it.thread).process).collect())
    }

    /// Whether the hook has reported the same.
    pub(crate) fn has(&self, trace: &Trace, range: &Range) -> bool {
        is_loader(range) && self.0.contains(&trace.thread(range.thread).process)
    }
}

/// Whether torch_npu calls its waiting for a loader so.
pub(crate) fn is_loader(range: &Range) -> bool {
    range.kind().is_none() && range.name == "dataloader"
}
