//! Calls of other threads that ended in a pause of a thread.

use std::collections::BTreeMap;

use super::pauses::Source;
use crate::whatif::links::LanePosition;

/// A call that ended, and the first call of its thread that may have waited for the thread that paused.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedCall {
    pub(super) source: Source,
    pub(super) from: LanePosition,
    pub(super) at: i64,
    pub(super) next: Option<LanePosition>,
}

/// All that ended in a pause, by source, and how many of each shape.
#[derive(Debug, Default)]
pub(super) struct EndedCalls {
    calls: Vec<EndedCall>,
    counts: BTreeMap<u32, u8>,
}

impl EndedCalls {
    pub(super) fn add(
        &mut self,
        source: Source,
        (from, at): (LanePosition, i64),
        next: Option<LanePosition>,
    ) {
        self.calls.push(EndedCall {
            source,
            from,
            at,
            next,
        });
    }

    pub(super) fn count(&mut self, shapes: impl Iterator<Item = u32>) {
        for shape in shapes {
            let count = self.counts.entry(shape).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// How many calls of a source's shape ended.
    pub(super) fn wakes(&self) -> impl Fn(Source) -> u8 + use<> {
        let counts = self.counts.clone();
        move |source| match source {
            Source::Calls(_, shape) | Source::AnyCalls(shape) => {
                counts.get(&shape).copied().unwrap_or(0)
            }
            Source::FunctionEnds(_) | Source::FunctionBegins(_) => 0,
        }
    }

    /// The calls, and the last one of each shape that several threads made.
    pub(super) fn with_any(self) -> Vec<EndedCall> {
        let mut last: BTreeMap<u32, (EndedCall, bool)> = BTreeMap::new();
        for call in &self.calls {
            if let Source::Calls(_, shape) = call.source {
                let (known, is_of_several) = last.entry(shape).or_insert((*call, false));
                *is_of_several |= known.source != call.source;
                if call.at > known.at {
                    *known = *call;
                }
            }
        }
        let any = last.into_iter().filter(|it| it.1.1);
        let any = any.map(|(shape, (call, _))| EndedCall {
            source: Source::AnyCalls(shape),
            ..call
        });
        self.calls.iter().copied().chain(any).collect()
    }
}
