//! The culprit of each stall, found by the thread that reads the recording, and its text.

use std::sync::Arc;

use ascend_trace_analysis::stats::{StallGroup, StallGroups};
use ascend_trace_analysis::{Blame, Blamed, Cause, Dependencies, Nesting, Stall, Stalls};
use ascend_trace_recording::Trace;

use crate::display_names;

/// Number of a culprit, valid for the lifetime of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlameId(u32);

/// All culprits of stalls that were listed, by `BlameId`.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlameTable {
    all: Vec<Blame>,
}

impl BlameTable {
    pub(crate) fn id(&mut self, blame: &Blame) -> BlameId {
        let place = self.all.iter().position(|it| it == blame);
        let place = place.unwrap_or_else(|| {
            self.all.push(blame.clone());
            self.all.len() - 1
        });
        BlameId(place as u32)
    }

    pub(crate) fn get(&self, id: BlameId) -> Option<&Blame> {
        self.all.get(id.0 as usize)
    }
}

/// The stalls of a trace, each with its culprit.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlamedStalls {
    blames: Vec<Blame>,
    /// Each with the index of its culprit in `blames`.
    stalls: Vec<(Stall, u32)>,
}

impl BlamedStalls {
    pub(crate) fn of(trace: &Trace, dependencies: &Dependencies, stalls: &Stalls) -> Arc<Self> {
        let nesting = Nesting::of(trace);
        let mut places = std::collections::HashMap::new();
        let mut blamed = Self::default();
        for stall in stalls.iter() {
            let blame = stalls.blame(trace, dependencies, &nesting, stall);
            let place = *places.entry(blame).or_insert_with_key(|blame| {
                blamed.blames.push(blame.clone());
                blamed.blames.len() as u32 - 1
            });
            blamed.stalls.push((*stall, place));
        }
        Arc::new(blamed)
    }

    /// Sums of the stalls that are `wanted`, the longest first.
    pub(crate) fn groups(&self, wanted: impl Fn(&Stall) -> bool) -> Vec<StallGroup> {
        let stalls = self.stalls.iter();
        let stalls = stalls.map(|(stall, place)| (stall, wanted(stall).then_some(*place as usize)));
        StallGroups::of_places(&self.blames, stalls).rows()
    }

    /// The longest of the `wanted` stalls of one culprit.
    pub(crate) fn longest(
        &self,
        blame: &Blame,
        most: usize,
        wanted: impl Fn(&Stall) -> bool,
    ) -> Vec<&Stall> {
        let place = self.blames.iter().position(|it| it == blame);
        let own = self.stalls.iter();
        let own = own.filter(|(_, it)| Some(*it as usize) == place);
        let mut stalls: Vec<&Stall> = own
            .map(|(stall, _)| stall)
            .filter(|it| wanted(it))
            .collect();
        stalls.sort_by_key(|stall| (-stall.length(), stall.begin, stall.lane));
        stalls.truncate(most);
        stalls
    }
}

/// Whether a stall belongs to a group that is listed.
pub(crate) fn is_grouped(stall: &Stall, least: i64) -> bool {
    stall.cause.is_notable() && stall.length() >= least
}

/// The text of a culprit.
pub(crate) fn text_of_blame(trace: &Trace, blame: &Blame) -> String {
    let stream = |id| display_names::lane(trace, crate::item::TrackKey::Stream(id));
    let whom = match &blame.whom {
        Blamed::Task(id, name) => format!("{} '{name}'", stream(*id)),
        Blamed::Stream(id) => stream(*id),
        Blamed::Call(id, name) => format!("{} in {name}", display_names::thread(trace, *id)),
        Blamed::NotKnown if blame.cause == Cause::TracerOverhead => "ascend-trace".to_owned(),
        Blamed::NotKnown => "not known".to_owned(),
    };
    match &blame.range {
        Some(range) => format!("{whom}, range '{range}'"),
        None => whom,
    }
}
