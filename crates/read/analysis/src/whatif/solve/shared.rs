//! State shared by all lanes of a simulation: reached times, by the waits that need them.

use rustc_hash::FxHashMap;

use crate::whatif::compact_recording::Facts;
use crate::whatif::wait_index::{Index, Wait};

use super::effects::Effects;
use super::slots::{Slot, Slots};

/// Something that a lane cannot go on without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneNeed {
    /// By its number in `Index::sources`.
    Source(u32),
    /// The begin, or the end, of an outermost call: by thread and place.
    Call(u32, u32, bool),
}

/// How far a lane came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneProgress {
    /// To another point.
    On,
    Blocked(LaneNeed),
    Done,
}

/// Something that others wait for.
#[derive(Clone, Copy, Debug)]
enum Source {
    Ahead,
    Kept(Slot),
    /// It happened, and nothing else needs it.
    Over,
}

#[derive(Debug)]
pub(super) struct SolverContext<'f> {
    pub(super) facts: &'f Facts,
    pub(super) index: &'f Index,
    pub(super) effects: Effects,
    pub(super) slots: Slots,
    sources: Vec<Source>,
    /// How many waits still need each source.
    needed: Vec<u32>,
    /// Lanes that wait for a source.
    waiting: FxHashMap<u32, Vec<usize>>,
    /// Lanes that may continue, and their waits.
    pub(super) woken: Vec<(usize, LaneNeed)>,
    /// By simulation: the first begin and the last end.
    low: Vec<i64>,
    high: Vec<i64>,
    pub(super) left_out: u64,
}

impl<'f> SolverContext<'f> {
    pub(super) fn of(facts: &'f Facts, index: &'f Index, effects: Effects) -> Self {
        let mut needed = vec![0; index.sources.len()];
        for wait in &index.waits {
            needed[wait.source as usize] += 1;
        }
        Self {
            facts,
            index,
            slots: Slots::of(effects.count),
            sources: vec![Source::Ahead; index.sources.len()],
            needed,
            waiting: FxHashMap::default(),
            woken: Vec::new(),
            low: vec![i64::MAX; effects.count],
            high: vec![i64::MIN; effects.count],
            left_out: 0,
            effects,
        }
    }

    /// A source happened.
    pub(super) fn reach(&mut self, source: u32, row: &[i64]) {
        let at = source as usize;
        self.sources[at] = match self.needed[at] {
            0 => Source::Over,
            _ => Source::Kept(self.slots.keep(row)),
        };
        if let Some(lanes) = self.waiting.remove(&source) {
            let need = LaneNeed::Source(source);
            self.woken.extend(lanes.into_iter().map(|it| (it, need)));
        }
    }

    /// The first of these waits with a source that is still ahead.
    pub(super) fn ahead(&self, waits: &[Wait]) -> Option<LaneNeed> {
        let is_ahead = |it: &&Wait| matches!(self.sources[it.source as usize], Source::Ahead);
        let first = waits.iter().find(is_ahead);
        first.map(|it| LaneNeed::Source(it.source))
    }

    /// Drops the waits with a source that is still ahead.
    pub(super) fn leave_out(&mut self, waits: &[Wait]) {
        let is_ahead = |it: &&Wait| matches!(self.sources[it.source as usize], Source::Ahead);
        let ahead = waits.iter().filter(|it| it.of & super::ALL != 0);
        self.left_out += ahead.filter(is_ahead).count() as u64;
    }

    pub(super) fn value(&self, wait: &Wait) -> Option<&[i64]> {
        match self.sources[wait.source as usize] {
            Source::Kept(slot) => Some(self.slots.get(slot)),
            _ => None,
        }
    }

    /// These waits are over.
    pub(super) fn release(&mut self, waits: &[Wait]) {
        for wait in waits {
            let at = wait.source as usize;
            self.needed[at] = self.needed[at].saturating_sub(1);
            if let (0, Source::Kept(slot)) = (self.needed[at], self.sources[at]) {
                self.slots.free(slot);
                self.sources[at] = Source::Over;
            }
        }
    }

    pub(super) fn wait_for(&mut self, source: u32, lane: usize) {
        self.waiting.entry(source).or_default().push(lane);
    }

    /// Something begins then, in each simulation.
    pub(super) fn begins(&mut self, row: &[i64], ahead: i64) {
        let all = self.low.iter_mut().zip(row);
        all.for_each(|(low, it)| *low = (*low).min(it + ahead));
    }

    /// Something ends then.
    pub(super) fn ends(&mut self, row: &[i64], ahead: i64) {
        let all = self.high.iter_mut().zip(row);
        all.for_each(|(high, it)| *high = (*high).max(it + ahead));
    }

    /// How long each simulation lasts.
    pub(super) fn lasts(&self) -> Vec<i64> {
        let all = self.low.iter().zip(&self.high);
        let lasts = all.map(|(low, high)| match low {
            &i64::MAX => 0,
            low => high.saturating_sub(*low),
        });
        lasts.collect()
    }
}
