//! Lanes as a layout of the configuration wants them, from when they first appear.

use std::collections::BTreeSet;

use ascend_trace_recording::{ProcessId, ThreadId, Trace};

use crate::config::{NamePattern, SavedLayout, rank};
use crate::display_names;
use crate::item::TrackKey;
use crate::lanes::ViewRow;

use super::{LaneArrangement, LaneGroup};

/// Names of the groups of a process's threads, and of the nested calls of threads.
const THREADS: &str = "threads";
const NESTED: &str = "nested";

/// A layout, and the lanes that were arranged by it. Later changes by the user stay.
#[derive(Clone, Debug, Default)]
pub(super) struct LayoutPlan {
    layout: SavedLayout,
    lanes: BTreeSet<TrackKey>,
    groups: BTreeSet<LaneGroup>,
}

impl LaneArrangement {
    /// Lanes as the layout wants them, without any earlier arrangement.
    pub(crate) fn planned(layout: SavedLayout) -> Self {
        Self {
            filter: layout.filter.to_lowercase(),
            plan: LayoutPlan {
                layout,
                ..LayoutPlan::default()
            },
            ..Self::default()
        }
    }

    /// Arranges lanes that are new. Tells whether anything has changed by that.
    pub(crate) fn meet(&mut self, trace: &Trace, rows: &[ViewRow]) -> bool {
        let layout = &self.plan.layout;
        if layout.hide.is_empty() && layout.pin.is_empty() && layout.fold.is_empty() {
            return false;
        }
        let mut changed = false;
        for row in rows {
            match *row {
                ViewRow::Track(key) => {
                    changed |= self.meet_group(group_of(trace, key));
                    changed |= self.meet_lane(trace, key);
                }
                ViewRow::Device(process, device) | ViewRow::DeviceOfCard(process, device) => {
                    changed |= self.meet_group(Some(LaneGroup::Device(process, device)));
                }
                ViewRow::Process(_) | ViewRow::Card(..) | ViewRow::Folded(_) => {}
            }
        }
        changed
    }

    fn meet_lane(&mut self, trace: &Trace, key: TrackKey) -> bool {
        if !self.plan.lanes.insert(key) {
            return false;
        }
        let name = name(trace, key);
        let is_named = |patterns: &[NamePattern]| {
            let own = patterns.iter().filter(|it| is_of_lane(it, key, &name));
            own.count() > 0
        };
        if is_named(&self.plan.layout.hide) {
            self.hidden.insert(key);
            return true;
        }
        if !is_named(&self.plan.layout.pin) || self.pinned.contains(&key) {
            return false;
        }
        self.pinned.push(key);
        let pins = &self.plan.layout.pin;
        self.pinned
            .sort_by_key(|key| rank(pins, &self::name(trace, *key)));
        true
    }

    fn meet_group(&mut self, group: Option<LaneGroup>) -> bool {
        let Some(group) = group else {
            return false;
        };
        if !self.plan.groups.insert(group) {
            return false;
        }
        let Some(name) = group_name(group) else {
            return false;
        };
        let folds = self.plan.layout.fold.iter().any(|it| it.is_in(&name));
        folds && self.folded.insert(group)
    }

    /// The place of a device among those of its process.
    pub(crate) fn rank_of_device(&self, device: u32) -> usize {
        match self.plan.layout.order.as_slice() {
            [] => 0,
            order => rank(order, &format!("device {device}")),
        }
    }

    /// The rank of a lane among those of its device, or of its process. Lines that belong to a lane
    /// follow it.
    pub(crate) fn rank_of_lane(&self, trace: &Trace, key: TrackKey) -> usize {
        match self.plan.layout.order.as_slice() {
            [] => 0,
            order => rank(order, &name(trace, key.owner())),
        }
    }

    /// A layout that gives the present arrangement again.
    pub(crate) fn as_layout(&self, trace: &Trace) -> SavedLayout {
        let mut hide = self.plan.layout.hide.clone();
        // Those of the plan that are shown again are not hidden.
        let is_shown = |key: &&TrackKey| !self.hidden.contains(*key);
        let shown: Vec<_> = (self.plan.lanes.iter().filter(is_shown))
            .map(|key| (*key, name(trace, *key)))
            .collect();
        hide.retain(|it| !shown.iter().any(|(key, name)| is_of_lane(it, *key, name)));
        add(trace, &mut hide, self.hidden.iter().copied());
        let mut pin = Vec::new();
        add(trace, &mut pin, self.pinned.iter().copied());
        let mut fold: Vec<NamePattern> = Vec::new();
        for group in &self.folded {
            let Some(name) = group_name(*group) else {
                continue;
            };
            if !fold.iter().any(|it| it.is_in(&name)) {
                fold.extend(NamePattern::try_from(name).ok());
            }
        }
        SavedLayout {
            filter: self.filter.clone(),
            hide,
            pin,
            fold,
            order: self.plan.layout.order.clone(),
            ..SavedLayout::default()
        }
    }
}

/// Name of a group in a layout; streams without tasks are folded in every layout.
fn group_name(group: LaneGroup) -> Option<String> {
    match group {
        LaneGroup::Device(_, device) => Some(format!("device {device}")),
        LaneGroup::Threads(_) => Some(THREADS.to_owned()),
        LaneGroup::Nested(_) => Some(NESTED.to_owned()),
        LaneGroup::Unused(..) => None,
    }
}

/// Adds patterns for lanes without a pattern.
fn add(trace: &Trace, patterns: &mut Vec<NamePattern>, keys: impl Iterator<Item = TrackKey>) {
    for key in keys {
        let name = name(trace, key);
        let is_named = patterns.iter().any(|it| is_of_lane(it, key, &name));
        if !is_named {
            patterns.extend(NamePattern::try_from(lasting(trace, key)).ok());
        }
    }
}

/// The groups of a lane that have no separate row.
fn group_of(trace: &Trace, key: TrackKey) -> Option<LaneGroup> {
    let process = |id: ThreadId| -> ProcessId { trace.thread(id).process };
    match key {
        TrackKey::Thread(id, 0) => Some(LaneGroup::Threads(process(id))),
        TrackKey::Thread(id, _) => Some(LaneGroup::Nested(id)),
        _ => None,
    }
}

/// Lines that belong to a lane are named by their kind: `stream 1` does not name the nodes of stream 1.
fn is_of_lane(pattern: &NamePattern, key: TrackKey, name: &str) -> bool {
    match key.owner() == key {
        true => pattern.is_in(name),
        false => pattern.begins(name),
    }
}

/// What patterns are compared with.
fn name(trace: &Trace, key: TrackKey) -> String {
    match key {
        TrackKey::Thread(_, depth @ 1..) => format!("nested {depth}"),
        TrackKey::Collectives(comm, stream) => display_names::communicator(trace, comm, stream),
        _ => display_names::lane(trace, key),
    }
}

/// A name that is the same in other runs: without numbers of threads and processes, where there is another name.
fn lasting(trace: &Trace, key: TrackKey) -> String {
    let name = name(trace, key);
    let thread = |id: ThreadId| {
        let tid = trace.thread(id).tid.to_string();
        let words = name
            .split(' ')
            .map(|word| if word == tid { "*" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    match key {
        TrackKey::Cost(_) => "tracer overhead".to_owned(),
        TrackKey::Losses(_) => "losses".to_owned(),
        TrackKey::Thread(id, 0) | TrackKey::Ranges(id, _) => match thread(id) {
            nameless if nameless.ends_with('*') => name,
            lasting => lasting,
        },
        _ => name,
    }
}
