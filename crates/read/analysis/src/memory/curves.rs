//! Memory in use over time, by process and place, in a bounded number of pieces.

use std::collections::BTreeMap;

use ascend_trace_recording::{CallId, ProcessId, TimeRange, Trace};

use super::MOST;
use super::changes::{MemoryChange, MemoryChanges, MemoryPlace};
use super::sizes::LiveSizes;
use crate::{AnalysisNeeds, Fold, Window};

/// Pieces of a curve.
const MOST_PIECES: usize = 1 << 14;
/// Pieces of all curves.
const MOST_PIECES_OF_ALL: usize = 1 << 17;

/// The least and the most memory in use in a time, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBounds {
    pub least: u64,
    pub most: u64,
}

impl MemoryBounds {
    const NOTHING: Self = Self::exact(0);

    const fn exact(bytes: u64) -> Self {
        Self {
            least: bytes,
            most: bytes,
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

/// One change, or several in a short time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CurvePiece {
    /// The first change.
    begin: i64,
    /// The last change. Until then, the memory in use is in `bounds`.
    settled: i64,
    bounds: MemoryBounds,
    /// In use from the last change on.
    last: u64,
}

/// Memory in use in one place of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCurve {
    pieces: Vec<CurvePiece>,
    /// Changes in the same multiple of this time are one piece, if it is not 0.
    width: i64,
    pub peak_bytes: u64,
    pub peak_at_ns: i64,
}

impl MemoryCurve {
    /// Adds a change. Times do not decrease.
    fn step(&mut self, at: i64, by: i64) {
        let before = self.pieces.last().map_or(0, |it| it.last);
        let now = before.saturating_add_signed(by);
        if now > self.peak_bytes {
            (self.peak_bytes, self.peak_at_ns) = (now, at);
        }
        let width = self.width;
        match self.pieces.last_mut() {
            Some(piece) if piece.begin == at => {
                (piece.bounds, piece.last) = (MemoryBounds::exact(now), now);
            }
            Some(piece) if is_same_piece(width, piece.begin, at) => {
                piece.bounds = piece.bounds.with(MemoryBounds::exact(now));
                (piece.settled, piece.last) = (at, now);
            }
            _ => self.pieces.push(CurvePiece {
                begin: at,
                settled: at,
                bounds: MemoryBounds::exact(now),
                last: now,
            }),
        }
    }

    /// Joins pieces that are near each other, until there are fewer.
    fn coarsen(&mut self) {
        let Some((first, last)) = self.pieces.first().zip(self.pieces.last()) else {
            return;
        };
        let before = self.pieces.len();
        let even = last.begin.saturating_sub(first.begin) / before.max(1) as i64;
        self.width = self.width.saturating_mul(2).max(even).max(1);
        loop {
            let width = self.width;
            self.pieces.dedup_by(|later, earlier| {
                let joins = is_same_piece(width, earlier.begin, later.begin);
                if joins {
                    earlier.bounds = earlier.bounds.with(later.bounds);
                    (earlier.settled, earlier.last) = (later.settled, later.last);
                }
                joins
            });
            if self.pieces.len() <= before / 2 || width == i64::MAX {
                return;
            }
            self.width = width.saturating_mul(2);
        }
    }

    /// The memory in use in a range of time, or at a time if the range is empty.
    pub fn bounds(&self, range: impl Into<TimeRange>) -> MemoryBounds {
        let TimeRange { begin, end } = range.into();
        let first = self.pieces.partition_point(|it| it.begin <= begin);
        let mut found = match first.checked_sub(1).map(|at| self.pieces[at]) {
            None => MemoryBounds::NOTHING,
            Some(piece) if piece.settled <= begin => MemoryBounds::exact(piece.last),
            Some(piece) => piece.bounds,
        };
        for piece in self.pieces[first..].iter().take_while(|it| it.begin < end) {
            found = found.with(piece.bounds);
        }
        found
    }

    /// In use after the last change.
    pub fn end_bytes(&self) -> u64 {
        self.pieces.last().map_or(0, |it| it.last)
    }
}

fn is_same_piece(width: i64, one: i64, other: i64) -> bool {
    width > 0 && one.div_euclid(width) == other.div_euclid(width)
}

/// Curves with a bounded number of pieces, together and each.
#[derive(Clone, Debug)]
pub(crate) struct CurveSet<K> {
    curves: BTreeMap<K, MemoryCurve>,
    most_pieces: usize,
}

impl<K: Ord> CurveSet<K> {
    pub(crate) const fn new(most_pieces: usize) -> Self {
        Self {
            curves: BTreeMap::new(),
            most_pieces,
        }
    }

    /// Adds a change to a curve. Times do not decrease.
    pub(crate) fn step(&mut self, key: K, at: i64, by: i64) {
        let curve = self.curves.entry(key).or_default();
        curve.step(at, by);
        let count = curve.pieces.len();
        if count > self.most_pieces {
            curve.coarsen();
        } else if count.is_power_of_two() && self.pieces() > MOST_PIECES_OF_ALL {
            let largest = self.curves.values_mut().max_by_key(|it| it.pieces.len());
            largest.into_iter().for_each(MemoryCurve::coarsen);
        }
    }

    fn pieces(&self) -> usize {
        self.curves.values().map(|it| it.pieces.len()).sum()
    }

    pub(crate) fn into_curves(self) -> BTreeMap<K, MemoryCurve> {
        self.curves
    }
}

/// The curves of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCurves {
    curves: BTreeMap<(ProcessId, MemoryPlace), MemoryCurve>,
    /// From this time on, nothing is known.
    pub until: i64,
}

impl MemoryCurves {
    pub fn get(&self, process: ProcessId, place: MemoryPlace) -> Option<&MemoryCurve> {
        self.curves.get(&(process, place))
    }

    /// The places in which a process had memory.
    pub fn places(&self, process: ProcessId) -> impl Iterator<Item = MemoryPlace> + '_ {
        let first = (process, MemoryPlace::Device(0));
        let own = self.curves.range(first..);
        own.take_while(move |((its, _), _)| *its == process)
            .map(|((_, place), _)| *place)
    }
}

/// Follows the memory of a recording over time. The number of pieces does not depend on its length.
#[derive(Debug)]
pub struct MemoryCurvesFold {
    changes: MemoryChanges,
    live: LiveSizes,
    found: CurveSet<(ProcessId, MemoryPlace)>,
    gave_up: bool,
}

impl Default for MemoryCurvesFold {
    fn default() -> Self {
        Self::with_pieces(MOST_PIECES)
    }
}

impl MemoryCurvesFold {
    /// With at most this number of pieces for each curve.
    pub fn with_pieces(most_pieces: usize) -> Self {
        Self {
            changes: MemoryChanges::default(),
            live: LiveSizes::default(),
            found: CurveSet::new(most_pieces),
            gave_up: false,
        }
    }

    /// The curves of a trace in memory.
    pub fn of_trace(trace: &Trace) -> MemoryCurves {
        let mut fold = Self::default();
        let calls = (0..trace.calls().len() as u32).map(CallId);
        fold.take_calls(trace, calls, i64::MAX);
        fold.finished(i64::MAX)
    }

    /// Takes calls that come after those before. Changes before `until` take effect.
    pub fn take_calls(&mut self, trace: &Trace, calls: impl Iterator<Item = CallId>, until: i64) {
        let calls = calls.map(|id| (id, true));
        for change in self.changes.of_calls(trace, calls, until) {
            self.apply(&change);
        }
    }

    fn apply(&mut self, change: &MemoryChange) {
        if self.gave_up {
            return;
        }
        let mut steps = self.live.apply(change);
        if let [Some((from, away)), Some((to, more))] = &mut steps
            && from == to
        {
            *more += *away;
            steps[0] = None;
        }
        self.gave_up = self.live.len() > MOST;
        for (place, by) in steps.into_iter().flatten().filter(|(_, by)| *by != 0) {
            let key = (change.site.process, place);
            self.found.step(key, change.at, by);
        }
    }

    /// The curves up to a time, after the last call. If there were too many allocations to follow, the result is empty.
    pub fn finished(mut self, until: i64) -> MemoryCurves {
        for change in self.changes.rest() {
            self.apply(&change);
        }
        let curves = match self.gave_up {
            true => BTreeMap::new(),
            false => self.found.into_curves(),
        };
        MemoryCurves { curves, until }
    }
}

impl Fold for MemoryCurvesFold {
    type Answer = MemoryCurves;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        for change in self.changes.of_window(window) {
            self.apply(&change);
        }
    }

    fn finish(self) -> MemoryCurves {
        self.finished(i64::MAX)
    }
}
