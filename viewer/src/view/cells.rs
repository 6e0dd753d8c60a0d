//! The content of each cell of a track. The cost depends on the cells, not on the slices.

use ascend_trace_recording::{TimeRange, Trace};

use crate::item::{CallOrTask, Category, TrackKey};
use crate::overview::{RecordingOverview, main_category};
use crate::tracks::SliceTrack;
use crate::viewport::{STEPS, Viewport};

use super::Scene;

/// Up to this many slices in one cell are looked at one by one.
const FEW: usize = 12;

/// The full width of a cell in steps.
pub(crate) const FULL: u8 = STEPS as u8;

/// The content of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrackCell {
    Idle,
    /// The content has not been read, and no sums cover it.
    Unknown,
    /// One slice, from one step of the cell to another.
    Part {
        item: CallOrTask,
        from: u8,
        to: u8,
    },
    /// One slice ends where the next one begins.
    Two {
        left: CallOrTask,
        at: u8,
        right: CallOrTask,
    },
    /// A task that takes no time, or several of them.
    Mark {
        item: CallOrTask,
        more: bool,
    },
    /// More slices than a cell can show: the fill of the cell and its main category.
    Many {
        fill: u8,
        main: Category,
    },
}

/// The cells of a line of the timeline: where the trace holds everything, from its slices; else from
/// the sums that are known.
pub(crate) fn cells(scene: &Scene<'_>, key: TrackKey, width: u16) -> Vec<TrackCell> {
    let viewport = scene.app.camera.viewport;
    let known = match scene.app.document.tracks.get(key) {
        Some(track) => sample(scene.world.trace, track, viewport, width),
        None => vec![TrackCell::Idle; usize::from(width)],
    };
    let overview = scene.world.overview;
    if overview.is_whole() {
        return known;
    }
    let cells = (0..).zip(known).map(|(cell, known)| {
        let range = viewport.cell_time(cell, width);
        match overview.is_loaded(range) {
            true => known,
            false => summed_up(overview, key, range),
        }
    });
    cells.collect()
}

fn summed_up(overview: &RecordingOverview, key: TrackKey, range: TimeRange) -> TrackCell {
    if key.is_copy() {
        return TrackCell::Unknown;
    }
    let sums = overview.sums(key, range);
    match sums.count {
        0 if sums.all() == 0 => TrackCell::Idle,
        _ => {
            let length = range.duration().unsigned_abs();
            many(sums.all(), length, main_category(key, &sums))
        }
    }
}

/// The cells of a track for a range of time.
pub(crate) fn sample(
    trace: &Trace,
    track: &SliceTrack,
    viewport: Viewport,
    width: u16,
) -> Vec<TrackCell> {
    let mut from = 0;
    let cells = (0..i64::from(width)).map(|cell| {
        let time = viewport.cell_time(cell, width);
        let (first, last) = track.range(trace, from, time.begin, time.end);
        from = first;
        match last - first {
            0 => TrackCell::Idle,
            count => {
                let length = time.duration().unsigned_abs();
                let totals = || track.totals(trace, (first, last), time);
                let few = (count <= FEW)
                    .then(|| few(trace, track, viewport, (cell, width), (first, last)))
                    .flatten();
                let exact = few.filter(|cell| cell.is_accurate(totals().all(), length));
                exact.unwrap_or_else(|| many(totals().all(), length, totals().main()))
            }
        }
    });
    cells.collect()
}

/// A cell with more slices than it can show. The fill is the busy share of the time, to the nearest
/// step; any busy time is visible.
fn many(busy: u64, length: u64, main: Category) -> TrackCell {
    let length = u128::from(length.max(1));
    let steps = (u128::from(busy) * u128::from(FULL) + length / 2) / length;
    TrackCell::Many {
        fill: (steps.min(u128::from(FULL)) as u8).max(1),
        main,
    }
}

impl TrackCell {
    /// How much of the cell is drawn as filled, in steps; `None` for what shows no share of the time.
    pub(crate) fn drawn(self) -> Option<u8> {
        match self {
            Self::Idle => Some(0),
            Self::Part { from, to, .. } => Some(to - from),
            Self::Two { .. } => Some(FULL),
            Self::Many { fill, .. } => Some(fill),
            Self::Mark { .. } | Self::Unknown => None,
        }
    }

    /// Whether the drawn share is within one step of the busy share of the time.
    fn is_accurate(self, busy: u64, length: u64) -> bool {
        let Some(drawn) = self.drawn() else {
            return true;
        };
        let exact = u128::from(busy) * u128::from(FULL);
        let drawn = u128::from(drawn) * u128::from(length);
        drawn.abs_diff(exact) <= u128::from(length)
    }
}

/// A slice's part of a cell.
#[derive(Clone, Copy)]
struct SlicePart {
    item: CallOrTask,
    from: u8,
    to: u8,
}

/// The content of a cell with few slices, if it can show them separately.
fn few(
    trace: &Trace,
    track: &SliceTrack,
    viewport: Viewport,
    (cell, width): (i64, u16),
    (first, last): (usize, usize),
) -> Option<TrackCell> {
    let mut parts: Vec<SlicePart> = Vec::with_capacity(last - first);
    let mut mark = None;
    let mut marks = 0;
    for item in (first..last).filter_map(|index| track.item(index)) {
        let TimeRange { begin, end } = item.span(trace);
        if begin == end {
            marks += 1;
            mark = Some(item);
            continue;
        }
        let step = |time| viewport.step(time, width).saturating_sub(cell * STEPS);
        let from = step(begin).clamp(0, STEPS);
        // A slice that began here is at least one step wide; one that continues from before may end at
        // 0.
        let least = if step(begin) >= 0 { from + 1 } else { 0 };
        let to = step(end).max(least).min(STEPS);
        if from < to {
            parts.push(SlicePart {
                item,
                from: from as u8,
                to: to as u8,
            });
        }
    }
    match (parts.as_slice(), mark) {
        ([], None) => Some(TrackCell::Idle),
        ([], Some(item)) => Some(TrackCell::Mark {
            item,
            more: marks > 1,
        }),
        ([part], None) => Some(part.cell()),
        ([part], Some(item)) => beside_mark(*part, item),
        ([left, right], None) => two(*left, *right),
        _ => None,
    }
}

impl SlicePart {
    fn cell(self) -> TrackCell {
        TrackCell::Part {
            item: self.item,
            from: self.from,
            to: self.to,
        }
    }

    fn goes_on(self) -> bool {
        self.to == FULL
    }

    fn came_in(self) -> bool {
        self.from == 0
    }
}

/// A slice that is also seen in another cell leaves this one to the mark.
fn beside_mark(part: SlicePart, mark: CallOrTask) -> Option<TrackCell> {
    match (part.came_in(), part.goes_on()) {
        (true, true) => Some(part.cell()),
        (false, false) => None,
        _ => Some(TrackCell::Mark {
            item: mark,
            more: false,
        }),
    }
}

fn two(left: SlicePart, right: SlicePart) -> Option<TrackCell> {
    match left.came_in() && right.goes_on() {
        true if left.to >= right.from => Some(TrackCell::Two {
            left: left.item,
            at: left.to.min(FULL - 1),
            right: right.item,
        }),
        // The gap is worth seeing; the slice after it begins one cell late.
        true => Some(left.cell()),
        false => None,
    }
}
