//! The module of PyTorch that a thread was in at a time, from the ranges of `--python`.

use std::collections::HashMap;

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{Range, ThreadId, Trace};

fn is_of_module(range: &Range) -> bool {
    matches!(range.kind(), Some(RangeKind::Module | RangeKind::Backward))
}

/// The innermost module for each of these threads and times.
pub(super) fn modules_at(trace: &Trace, points: &[(ThreadId, i64)]) -> Vec<Option<String>> {
    let mut by_thread: HashMap<ThreadId, Vec<usize>> = HashMap::new();
    for (place, (thread, _)) in points.iter().enumerate() {
        by_thread.entry(*thread).or_default().push(place);
    }
    let mut found: Vec<Option<&Range>> = vec![None; points.len()];
    for range in trace.ranges().iter().filter(|it| is_of_module(it)) {
        for place in by_thread.get(&range.thread).into_iter().flatten() {
            let (_, at) = points[*place];
            let is_inner = found[*place].is_none_or(|it| it.begin <= range.begin);
            if range.begin <= at && at <= range.end && is_inner {
                found[*place] = Some(range);
            }
        }
    }
    let names = found.into_iter().map(|it| Some(it?.name.clone()));
    names.collect()
}
