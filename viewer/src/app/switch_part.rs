//! How the view moves from one part of a recording to the next.

use std::sync::Arc;

use ascend_trace_analysis::Stalls;
use ascend_trace_recording::Trace;

use crate::derived_data::DerivedData;
use crate::item::CallOrTask;
use crate::stable_id::StableId;

use super::{App, DependencyWalk, Selection, ViewData, ViewPosition};

/// State that names items of the present part.
#[derive(Clone, Debug, Default)]
pub(crate) struct SelectionSnapshot {
    selected: Option<StableId>,
    history: Vec<Option<StableId>>,
    walk: Option<WalkSnapshot>,
}

impl SelectionSnapshot {
    /// Notes what items of the present part the state names.
    pub(crate) fn of(app: &App, trace: &Trace) -> Self {
        let identity = |selected: Option<Selection>| StableId::of(selected?, trace);
        let history = app
            .camera
            .history
            .iter()
            .map(|place| identity(place.selected));
        Self {
            selected: identity(app.camera.selected).or(app.camera.away),
            history: history.collect(),
            walk: app
                .camera
                .walk
                .as_ref()
                .and_then(|walk| WalkSnapshot::of(walk, trace)),
        }
    }
}

/// A walk along dependencies.
#[derive(Clone, Debug)]
struct WalkSnapshot {
    choices: Vec<StableId>,
    chosen: usize,
    trail: Vec<(StableId, bool)>,
    to_cause: bool,
}

impl WalkSnapshot {
    fn of(walk: &DependencyWalk, trace: &Trace) -> Option<Self> {
        let step = |(selected, to_cause): &(Selection, bool)| {
            Some((StableId::of(*selected, trace)?, *to_cause))
        };
        let choice = |item: &CallOrTask| StableId::of_item(*item, trace);
        Some(Self {
            choices: walk.choices.iter().map(choice).collect(),
            chosen: walk.chosen,
            trail: walk.trail.iter().map(step).collect::<Option<_>>()?,
            to_cause: walk.to_cause,
        })
    }

    /// The same walk in another part, if all of it is loaded.
    fn find(&self, trace: &Trace, stalls: &Stalls) -> Option<DependencyWalk> {
        let step = |(identity, to_cause): &(StableId, bool)| {
            Some((identity.find(trace, stalls)?, *to_cause))
        };
        let choice = |identity: &StableId| identity.find_item(trace);
        Some(DependencyWalk {
            choices: self.choices.iter().map(choice).collect::<Option<_>>()?,
            chosen: self.chosen,
            trail: self.trail.iter().map(step).collect::<Option<_>>()?,
            to_cause: self.to_cause,
        })
    }
}

impl App {
    /// Switches to the part that was read: another part of the recording, or more of a whole one.
    /// Returns the data derived from the previous one.
    pub(crate) fn take_part(
        &mut self,
        mut derived: DerivedData,
        kept: SelectionSnapshot,
        world: ViewData<'_>,
    ) -> DerivedData {
        if !derived.extent.is_whole {
            derived.tracks.keep_lines_of(&self.document.tracks);
            derived.nodes = derived.nodes.with_lines_of(&self.document.nodes);
            let communicators = std::mem::take(&mut derived.communicators);
            derived.communicators = std::mem::take(&mut self.document.communicators);
            derived.communicators.take(communicators);
        }
        self.document.worst = derived.running.worst.clone();
        self.exchange(&mut derived);
        if derived.extent.is_whole {
            self.document.overall = derived.running.overall.take();
        }
        self.find_again(kept, world);
        derived
    }

    fn exchange(&mut self, derived: &mut DerivedData) {
        std::mem::swap(&mut self.document.tracks, &mut derived.tracks);
        std::mem::swap(&mut self.document.dependencies, &mut derived.dependencies);
        std::mem::swap(&mut self.document.stalls, &mut derived.stalls);
        std::mem::swap(&mut self.document.graphs, &mut derived.graphs);
        std::mem::swap(&mut self.document.nodes, &mut derived.nodes);
        std::mem::swap(&mut self.document.communicators, &mut derived.communicators);
        std::mem::swap(&mut self.document.estimates, &mut derived.estimates);
        std::mem::swap(&mut self.document.failures, &mut derived.failures);
        std::mem::swap(&mut self.document.ranges, &mut derived.ranges);
        self.document.blamed = Arc::clone(&derived.running.blamed);
    }

    /// Items of the state have other ids in another part.
    fn find_again(&mut self, kept: SelectionSnapshot, world: ViewData<'_>) {
        let trace = world.trace;
        self.camera.rank = None;
        self.camera.inside = None;
        self.panels.stale = true;
        let find = |identity: Option<StableId>| identity?.find(trace, &self.document.stalls);
        let selected = find(kept.selected);
        let history: Vec<_> = kept.history.into_iter().map(find).collect();
        for (place, selected) in self.camera.history.iter_mut().zip(history) {
            let place: &mut ViewPosition = place;
            place.selected = selected;
        }
        self.camera.walk = kept
            .walk
            .and_then(|walk| walk.find(trace, &self.document.stalls));
        // An item outside this part is selected again when its part is loaded.
        self.camera.away = kept.selected.filter(|_| selected.is_none());
        self.camera.selected = selected;
    }
}
