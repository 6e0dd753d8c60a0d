//! The user's arrangement of the lanes: which ones on top, which ones not at all, which ones together.

mod plan;

use std::collections::BTreeSet;

use ascend_trace_recording::{ProcessId, ThreadId, Trace};

use crate::display_names;
use crate::item::TrackKey;

/// Lanes that can be put together in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneGroup {
    /// The streams of a process on a device.
    Device(ProcessId, u32),
    /// The streams without tasks of a process on a device. They are folded until the user opens them.
    Unused(ProcessId, u32),
    /// The threads of a process.
    Threads(ProcessId),
    /// The nested calls of a thread.
    Nested(ThreadId),
}

/// The lanes that the user pinned, hid, folded and filtered.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneArrangement {
    /// In the order in which they are shown.
    pub(crate) pinned: Vec<TrackKey>,
    hidden: BTreeSet<TrackKey>,
    folded: BTreeSet<LaneGroup>,
    /// Groups that are folded by default, and that the user opened.
    opened: BTreeSet<LaneGroup>,
    /// The plan by which new lanes are arranged.
    plan: plan::LayoutPlan,
    /// Words that a shown lane's name must contain, in lower case.
    pub(crate) filter: String,
}

impl LaneArrangement {
    /// The innermost group of a lane that can be folded.
    pub(crate) fn group(
        &self,
        trace: &Trace,
        key: TrackKey,
        has_nested: bool,
    ) -> Option<LaneGroup> {
        Some(match key {
            TrackKey::Cost(_) | TrackKey::Losses(_) => return None,
            TrackKey::Memory(process, place) => {
                LaneGroup::Device(process, u32::from(place.device()?))
            }
            TrackKey::Stream(id)
            | TrackKey::Nodes(id)
            | TrackKey::Callbacks(id)
            | TrackKey::Collectives(_, id) => {
                let stream = trace.stream(id);
                LaneGroup::Device(stream.process, stream.device)
            }
            TrackKey::Ranges(id, _) => LaneGroup::Threads(trace.thread(id).process),
            TrackKey::Thread(id, depth) => {
                let nested = LaneGroup::Nested(id);
                match depth > 0 || (has_nested && !self.is_folded(nested)) {
                    true => nested,
                    false => LaneGroup::Threads(trace.thread(id).process),
                }
            }
        })
    }

    pub(crate) fn is_folded(&self, group: LaneGroup) -> bool {
        match group {
            LaneGroup::Unused(..) => !self.opened.contains(&group),
            _ => self.folded.contains(&group),
        }
    }

    pub(crate) fn fold(&mut self, group: LaneGroup) {
        match group {
            LaneGroup::Unused(..) => self.opened.remove(&group),
            _ => self.folded.insert(group),
        };
    }

    pub(crate) fn unfold(&mut self, group: LaneGroup) {
        match group {
            LaneGroup::Unused(..) => self.opened.insert(group),
            _ => self.folded.remove(&group),
        };
    }

    /// Returns whether anything was folded.
    pub(crate) fn unfold_all(&mut self) -> bool {
        !std::mem::take(&mut self.folded).is_empty()
    }

    pub(crate) fn is_hidden(&self, key: TrackKey) -> bool {
        self.hidden.contains(&key)
    }

    /// Hides a lane; for a thread, all its lines.
    pub(crate) fn hide(&mut self, key: TrackKey) {
        self.hidden.insert(key);
        self.pinned.retain(|pinned| *pinned != key);
    }

    pub(crate) fn hidden_lanes(&self) -> usize {
        self.hidden.len()
    }

    /// Shows all lanes: clears the filter and the hidden lanes. Returns whether any was hidden.
    pub(crate) fn show_all(&mut self) -> bool {
        let filtered = !std::mem::take(&mut self.filter).is_empty();
        !std::mem::take(&mut self.hidden).is_empty() || filtered
    }

    /// Puts a lane on top, or back to its place. Tells whether it is on top now.
    pub(crate) fn pin(&mut self, key: TrackKey) -> bool {
        let before = self.pinned.len();
        self.pinned.retain(|pinned| *pinned != key);
        let pins = self.pinned.len() == before;
        if pins {
            self.pinned.push(key);
        }
        pins
    }

    /// Whether a lane is not hidden and passes the filter.
    pub(crate) fn wants(&self, trace: &Trace, key: TrackKey) -> bool {
        let key = key.shown(trace);
        let first = match key {
            TrackKey::Ranges(id, _) => TrackKey::Ranges(id, 0),
            own => own,
        };
        let is_hidden = self.is_hidden(first) || self.is_hidden(key.owner());
        !is_hidden && (self.filter.is_empty() || self.has_name(trace, key))
    }

    fn has_name(&self, trace: &Trace, key: TrackKey) -> bool {
        let name = display_names::lane(trace, key).to_lowercase();
        self.filter.split_whitespace().all(|it| name.contains(it))
    }

    /// Makes a lane visible that is folded away, hidden or filtered out. Tells whether it was.
    pub(crate) fn reveal(&mut self, trace: &Trace, key: TrackKey) -> bool {
        let mut changed = self.hidden.remove(&key);
        changed |= self.hidden.remove(&key.owner());
        if let TrackKey::Ranges(id, _) = key {
            changed |= self.hidden.remove(&TrackKey::Ranges(id, 0));
        }
        if !self.filter.is_empty() && !self.has_name(trace, key) {
            self.filter.clear();
            changed = true;
        }
        if self.pinned.contains(&key) {
            return changed;
        }
        let groups = match key {
            TrackKey::Stream(id)
            | TrackKey::Nodes(id)
            | TrackKey::Callbacks(id)
            | TrackKey::Collectives(_, id) => {
                let stream = trace.stream(id);
                [Some(LaneGroup::Device(stream.process, stream.device)), None]
            }
            TrackKey::Memory(process, place) => {
                let device = place.device().map(u32::from);
                [device.map(|it| LaneGroup::Device(process, it)), None]
            }
            TrackKey::Cost(_) | TrackKey::Losses(_) => [None, None],
            TrackKey::Ranges(id, _) => [Some(LaneGroup::Threads(trace.thread(id).process)), None],
            TrackKey::Thread(id, depth) => [
                Some(LaneGroup::Threads(trace.thread(id).process)),
                (depth > 0).then_some(LaneGroup::Nested(id)),
            ],
        };
        for group in groups.into_iter().flatten() {
            changed |= self.folded.remove(&group);
        }
        changed
    }
}
