//! Uses of memory and of events that only a wait puts in order: a program without the wait makes a mistake there.
//!
//! The order of the recorded program, and that of the same program without some waits, are followed in one pass. An
//! unordered use in the second alone depends on these waits.

use std::collections::{HashMap, HashSet};

use ascend_trace_recording::{StreamId, ThreadId, Trace};

use super::action::{CallEffect, StreamPosition, TimedEffect};
use super::sync_events::EventUse;
use super::{NotedCall, OrderFact, ProgramOrder};
use crate::{AnalysisNeeds, Fold, Window};

/// Waits that a program leaves out.
#[derive(Clone, Debug)]
pub(crate) enum Removal {
    /// Those of the streams of this device and id.
    Waits { device: u32, stream_id: i64 },
    /// Parts of those of calls, by their threads and ends.
    Calls(HashSet<(ThreadId, i64)>, Removed),
}

/// The targets that a call no longer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    Everything,
    /// Everything but the stream with the last copy from or to the host.
    OtherStreams,
    /// Everything but the last copy from or to the host on each stream.
    AllButCopies,
}

/// The result for a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Something that is unordered without these waits.
    pub conflict: Option<String>,
    /// The recording shows too little to judge it.
    pub is_unknown: bool,
}

/// The results for several removals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// In the order in which they were asked for.
    pub all: Vec<Verdict>,
    /// The calls that were looked at.
    pub calls: u64,
}

/// Follows the order of a recorded program and of changed ones, up to a time.
#[derive(Debug)]
pub struct OrderCheck {
    until: i64,
    recorded: ProgramOrder,
    /// Facts of the recorded program. The changed program has them, too.
    known: HashSet<(u8, u32)>,
    changed: Vec<ChangedOrder>,
    calls: u64,
    is_done: bool,
}

/// The order of a changed program.
#[derive(Debug)]
struct ChangedOrder {
    removal: Removal,
    order: ProgramOrder,
    /// The last copy from or to the host on each stream, with its time.
    copies: HashMap<StreamId, (u32, i64)>,
    verdict: Verdict,
}

impl OrderCheck {
    /// Of the part of a recording before `until`.
    pub(crate) fn of(removals: Vec<Removal>, until: i64) -> Self {
        let changed = removals.into_iter().map(|removal| ChangedOrder {
            removal,
            order: ProgramOrder::default(),
            copies: HashMap::new(),
            verdict: Verdict::default(),
        });
        Self {
            until,
            recorded: ProgramOrder::default(),
            known: HashSet::new(),
            changed: changed.collect(),
            calls: 0,
            is_done: false,
        }
    }
}

impl Fold for OrderCheck {
    type Answer = Verdicts;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        if self.is_done() {
            return;
        }
        let (trace, until) = (window.trace, self.until);
        let begins = window.calls().map(|id| trace.call(id).begin);
        self.calls += begins.filter(|it| *it < until).count() as u64;
        let facts = self
            .recorded
            .take_changed(window, &|_| true, &mut |it| it.at < until);
        self.known.extend(facts.iter().filter_map(key));
        for changed in &mut self.changed {
            changed.take(window, until, &self.known);
        }
        self.is_done = window.part.until >= until;
    }

    fn is_done(&self) -> bool {
        self.is_done || self.changed.is_empty()
    }

    fn finish(self) -> Verdicts {
        Verdicts {
            all: self.changed.into_iter().map(|it| it.verdict).collect(),
            calls: self.calls,
        }
    }
}

impl ChangedOrder {
    fn take(&mut self, window: &Window<'_>, until: i64, known: &HashSet<(u8, u32)>) {
        let trace = window.trace;
        let (removal, copies) = (&self.removal, &mut self.copies);
        let facts = self.order.take_changed(window, &|_| true, &mut |action| {
            action.at < until && removal.keeps(trace, action, copies)
        });
        for fact in facts {
            let is_new = key(&fact).is_some_and(|it| !known.contains(&it));
            self.verdict.is_unknown |= matches!(fact, OrderFact::Unknown(_));
            if is_new && self.verdict.conflict.is_none() {
                self.verdict.conflict = conflict(trace, &fact);
            }
        }
    }
}

impl Removal {
    /// Alters an action as the program without these waits has it. False if it does not have the action.
    fn keeps(
        &self,
        trace: &Trace,
        action: &mut TimedEffect,
        copies: &mut HashMap<StreamId, (u32, i64)>,
    ) -> bool {
        match self {
            Self::Waits { device, stream_id } => {
                let waits = match &action.act {
                    CallEffect::Waits(stream, ..) => Some(*stream),
                    CallEffect::Holds(_, EventUse::Waits((stream, _))) => Some(*stream),
                    _ => None,
                };
                let is_own = |it: StreamId| {
                    let stream = trace.stream(it);
                    stream.device == *device && stream.number() == *stream_id
                };
                !waits.is_some_and(is_own)
            }
            Self::Calls(calls, removed) => {
                if let CallEffect::Uses(place, used) | CallEffect::MayHostUse(place, used) =
                    &action.act
                    && used.is_host.contains(&true)
                {
                    copies.insert(place.0, (place.1, action.at));
                }
                match &mut action.act {
                    _ if !calls.contains(&(action.note.thread, action.note.end)) => true,
                    CallEffect::LearnsOf(_) => *removed != Removed::Everything,
                    CallEffect::Looks(places) => {
                        removed.narrow(places, copies);
                        true
                    }
                    _ => true,
                }
            }
        }
    }
}

impl Removed {
    /// Leaves the remaining targets.
    fn narrow(self, places: &mut Vec<StreamPosition>, copies: &HashMap<StreamId, (u32, i64)>) {
        match self {
            Self::Everything => places.clear(),
            Self::OtherStreams => {
                let known = places
                    .iter()
                    .filter_map(|it| Some((copies.get(&it.0)?.1, it.0)));
                let last = known.max().map(|it| it.1);
                places.retain(|it| Some(it.0) == last);
            }
            Self::AllButCopies => {
                places.retain(|it| copies.contains_key(&it.0));
                for place in places {
                    let copy = copies.get(&place.0).map_or(0, |it| it.0);
                    place.1 = place.1.min(copy);
                }
            }
        }
    }
}

/// The kind of a fact, and the number of the later call.
fn key(fact: &OrderFact) -> Option<(u8, u32)> {
    Some(match fact {
        OrderFact::Race { after, .. } => (0, after.number),
        OrderFact::Freed { by, .. } => (1, by.number),
        OrderFact::ReplaysFreed { by, .. } => (2, by.number),
        OrderFact::Dropped { by, .. } => (3, by.number),
        OrderFact::ResetEarly { by, .. } => (4, by.number),
        OrderFact::WaitsForOld { by, .. } => (5, by.number),
        OrderFact::NotWaitedFor { copy, .. } => (6, copy.number),
        OrderFact::Waited { .. }
        | OrderFact::ReadsUnwritten { .. }
        | OrderFact::UsedAfterEnd(_)
        | OrderFact::Unknown(_) => return None,
    })
}

/// A fact in words.
fn conflict(trace: &Trace, fact: &OrderFact) -> Option<String> {
    let of = |it: &NotedCall| it.on_stream(trace);
    Some(match fact {
        OrderFact::Race { before, after, .. } => {
            format!("{} and {} use the same memory", of(before), of(after))
        }
        OrderFact::Freed { by, user, .. } => {
            format!("{} gives memory back that {} uses", of(by), of(user))
        }
        OrderFact::ReplaysFreed { by, .. } => format!("{} uses memory that was given back", of(by)),
        OrderFact::Dropped { by, tasks, .. } => format!("{} drops {tasks} tasks", of(by)),
        OrderFact::ResetEarly { by, wait } => {
            format!(
                "{} resets an event that {} may still wait for",
                of(by),
                of(wait)
            )
        }
        OrderFact::WaitsForOld { by, record } => {
            format!("{} finds the event set by an older {}", of(by), of(record))
        }
        OrderFact::NotWaitedFor { copy, .. } => {
            format!("{} may not be done when the program ends", of(copy))
        }
        OrderFact::Waited { .. }
        | OrderFact::ReadsUnwritten { .. }
        | OrderFact::UsedAfterEnd(_)
        | OrderFact::Unknown(_) => return None,
    })
}
