//! The pauses of threads outside of AscendCL by the numbers of calls and tasks, for other analyses: what seems to have ended each
//! of them, as predictions have it.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::Trace;

use super::collect::Collect;
use super::item_numbers::ItemNumbers;
use super::links::LanePosition;
use super::outside::{EndedBy, Handover, Pause, learn};
use crate::released::NumberedNode;
use crate::{Certainty, Fold, Release, ReleaseKind, Window};

/// What seems to have ended a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndOfPause {
    pub(crate) release: Release<NumberedNode>,
    /// The place of its description in [`PauseCauses::handovers`].
    pub(crate) handover: usize,
}

/// The pauses of all threads that are no work of the thread for certain.
#[derive(Debug, Default)]
pub(crate) struct PauseCauses {
    pub(crate) handovers: Vec<Handover>,
    /// By the number of the call after a pause; `None` where no cause is known.
    pub(crate) pauses: BTreeMap<u32, Option<EndOfPause>>,
}

/// Reads a recording for its pauses.
#[derive(Debug)]
pub(crate) struct PauseReader {
    collect: Collect,
}

impl PauseReader {
    /// `None` if no thread of the recording can wait for another one of its process, or for a function on the host.
    pub(crate) fn of(entities: &Trace) -> Option<Self> {
        let mut seen = BTreeSet::new();
        let threads = entities.threads().iter();
        let has_two = threads.map(|it| it.process).any(|it| !seen.insert(it.0));
        let mut functions = entities.functions().iter();
        let has_functions = functions.any(|it| it.task == Some(TaskKind::HostFunc));
        let collect = Collect::with_numbers;
        (has_two || has_functions).then(|| Self { collect: collect() })
    }

    pub(crate) fn take(&mut self, window: &Window<'_>) {
        self.collect.take(window);
    }

    pub(crate) fn finish(self) -> PauseCauses {
        let (facts, numbers) = self.collect.finish_with_numbers();
        let learnt = learn(&facts, &facts.links, true);
        let mut places = learnt.pauses.unwrap_or_default();
        places.sort_unstable_by_key(|it| it.call);
        let calls = Calls::of(&numbers, &places);
        let pauses = places.iter().filter_map(|it| {
            let (call, _) = calls.numbers(it.call)?;
            let by = it.by.and_then(|by| calls.ended(&numbers, (call, by)));
            Some((call, by))
        });
        PauseCauses {
            pauses: pauses.collect(),
            handovers: learnt.found,
        }
    }
}

/// The numbers of the calls that pauses name.
#[derive(Debug, Default)]
struct Calls {
    numbers: BTreeMap<LanePosition, (u32, u32)>,
}

impl Calls {
    fn of(numbers: &ItemNumbers, pauses: &[Pause]) -> Self {
        let own = pauses.iter().map(|it| it.call);
        let others = pauses
            .iter()
            .filter_map(|it| Some(it.by?.link.from.place()));
        let mut wanted: Vec<_> = own.chain(others).collect();
        wanted.retain(|it| it.lane().stream_number().is_none());
        wanted.sort_unstable();
        wanted.dedup();
        let mut found = BTreeMap::new();
        for own in wanted.chunk_by(|one, other| one.lane() == other.lane()) {
            let mut left = own.iter().peekable();
            let thread = own.first().map_or(0, |it| it.lane().thread_number());
            for (ordinal, numbers) in (0..).zip(numbers.calls(thread)) {
                if let Some(place) = left.next_if(|it| it.ordinal() == ordinal) {
                    found.insert(*place, numbers);
                }
                if left.peek().is_none() {
                    break;
                }
            }
        }
        Self { numbers: found }
    }

    fn numbers(&self, place: LanePosition) -> Option<(u32, u32)> {
        self.numbers.get(&place).copied()
    }

    fn ended(&self, numbers: &ItemNumbers, (call, ended): (u32, EndedBy)) -> Option<EndOfPause> {
        let link = ended.link;
        let from = link.from.place();
        let by = match from.lane().stream_number() {
            Some(_) => NumberedNode::Task(numbers.function(from)?),
            // Of a loop of queries, the last one ended the pause.
            None => NumberedNode::Call(self.numbers(from)?.1),
        };
        let release = Release {
            waiter: NumberedNode::Call(call),
            by,
            at: link.at,
            certainty: Certainty::Learnt {
                may_be_own: link.way.is_possible(),
            },
            kind: match link.from.is_end() {
                true => ReleaseKind::Handover,
                false => ReleaseKind::HandoverBegin,
            },
        };
        let handover = ended.handover;
        Some(EndOfPause { release, handover })
    }
}
