//! The memory that a call or its task is known to use.

use std::ops::Range;

use ascend_trace_format::api::{Role, TaskKind};
use ascend_trace_recording::{CallId, Trace};

use super::action::{MemoryAccesses, uses};
use super::collective_buffers::CollectiveBuffers;
use super::tensors;

/// Memory, and whether it is written.
pub(crate) type Touched = (Range<u64>, bool);

/// The reads and writes of a copy, a fill, an operator or a collective. Gaps between rows count as well.
pub(crate) fn touched(trace: &Trace, id: CallId) -> Vec<Touched> {
    let call = trace.call(id);
    let function = trace.function(call.function);
    let task = call.task.map(|task| trace.task(task));
    let kind = task.map(|task| task.kind);
    let copies = matches!(
        kind,
        Some(TaskKind::Memcpy | TaskKind::Memset | TaskKind::Other)
    );
    let used: Vec<MemoryAccesses> = match task {
        _ if copies || function.role == Role::BlockingCopy => {
            uses(trace, function, call).into_iter().collect()
        }
        Some(_) if kind == Some(TaskKind::Collective) => {
            let buffers = CollectiveBuffers::of(trace, function, call);
            buffers.iter().map(CollectiveBuffers::least).collect()
        }
        Some(task) => tensors::memory_of(trace, call, task),
        None => Vec::new(),
    };
    let both = |it: MemoryAccesses| {
        let reads = it.reads.map(|area| (area.whole(), false));
        reads
            .into_iter()
            .chain(it.writes.map(|area| (area.whole(), true)))
    };
    used.into_iter().flat_map(both).collect()
}

/// Whether two groups use the same memory, and one of them writes there.
pub(crate) fn conflict(one: &[Touched], other: &[Touched]) -> bool {
    let of = |side: usize, all: &[Touched]| -> Vec<(Range<u64>, bool, usize)> {
        all.iter()
            .map(|(range, writes)| (range.clone(), *writes, side))
            .collect()
    };
    let mut all = of(0, one);
    all.extend(of(1, other));
    all.sort_unstable_by_key(|(range, ..)| range.start);
    // By side: the last byte that was used until now, and the last one that was written.
    let (mut used, mut written) = ([0; 2], [0; 2]);
    all.into_iter().any(|(range, writes, side)| {
        let other = 1 - side;
        let meets = range.start < written[other] || writes && range.start < used[other];
        used[side] = range.end.max(used[side]);
        if writes {
            written[side] = range.end.max(written[side]);
        }
        meets
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_write_to_memory_that_the_other_uses_is_a_conflict() {
        let (read, write) = (|at| (at..at + 10, false), |at| (at..at + 10, true));
        for (one, other, expected) in [
            (vec![read(0)], vec![read(5)], false),
            (vec![write(0)], vec![read(5)], true),
            (vec![read(0), write(100)], vec![write(5)], true),
            (vec![read(0), write(100)], vec![write(10), read(110)], false),
            // The first of the three lasts longest.
            (vec![(0..1000, true)], vec![read(500)], true),
            (vec![(0..1000, false), write(20)], vec![read(500)], false),
            (vec![write(0), write(3)], vec![], false),
        ] {
            assert_eq!(conflict(&one, &other), expected, "{one:?} {other:?}");
            assert_eq!(conflict(&other, &one), expected, "{other:?} {one:?}");
        }
    }
}
