//! The drawn shares of a range, cell by cell and lane by lane: for tests that compare the picture of a
//! recording with its calls and tasks.

use ascend_trace_recording::{StreamId, ThreadId, TimeRange, Trace};

use crate::item::TrackKey;
use crate::tracks::SliceTracks;
use crate::view::cells::sample;
use crate::viewport::Viewport;

/// Steps of a full cell.
pub const STEPS: u8 = crate::view::cells::FULL;

/// The lanes of a recording that is known whole.
#[derive(Debug)]
pub struct LaneShares<'t> {
    trace: &'t Trace,
    tracks: SliceTracks,
}

/// Whose slices a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownSlices {
    Tasks(StreamId),
    /// Calls of a thread at a depth of nesting.
    Calls(ThreadId, u8),
}

/// A cell of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellShare {
    pub begin: i64,
    pub end: i64,
    /// How many of its [`STEPS`] are drawn as filled; `None` where no share of the time is shown.
    pub drawn: Option<u8>,
}

impl<'t> LaneShares<'t> {
    pub fn of(trace: &'t Trace) -> Self {
        let mut tracks = SliceTracks::default();
        tracks.update(trace);
        Self { trace, tracks }
    }

    /// The cells of each lane when a range fills this number of columns.
    pub fn in_range(
        &self,
        TimeRange { begin, end }: TimeRange,
        width: u16,
    ) -> Vec<(ShownSlices, Vec<CellShare>)> {
        let range = Viewport::new(begin, end);
        let lanes = self.tracks.keys().filter_map(|key| {
            let shown = match key {
                TrackKey::Stream(id) => ShownSlices::Tasks(id),
                TrackKey::Thread(id, depth) => ShownSlices::Calls(id, depth),
                _ => return None,
            };
            let cells = sample(self.trace, self.tracks.get(key)?, range, width);
            let shares = (0..).zip(cells).map(|(place, cell)| CellShare {
                begin: range.time(place, width),
                end: range.time(place + 1, width),
                drawn: cell.drawn(),
            });
            Some((shown, shares.collect()))
        });
        lanes.collect()
    }
}
