//! The drawn shares of a range, cell by cell and lane by lane: for tests that compare the picture of a
//! recording with its calls and tasks.

use ascend_trace_recording::{StreamId, ThreadId, TimeRange, Trace};

use crate::item::TrackKey;
use crate::tracks::Tracks;
use crate::view::cells::sample;
use crate::viewport::Viewport;

/// Steps of a full cell.
pub const STEPS: u8 = crate::view::cells::FULL;

/// The lanes of a recording that is known whole.
#[derive(Debug)]
pub struct Shares<'t> {
    trace: &'t Trace,
    tracks: Tracks,
}

/// Whose slices a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Tasks(StreamId),
    /// Calls of a thread at a depth of nesting.
    Calls(ThreadId, u8),
}

/// A cell of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub begin: i64,
    pub end: i64,
    /// How many of its [`STEPS`] are drawn as filled; `None` where no share of the time is shown.
    pub drawn: Option<u8>,
}

impl<'t> Shares<'t> {
    pub fn of(trace: &'t Trace) -> Self {
        let mut tracks = Tracks::default();
        tracks.update(trace);
        Self { trace, tracks }
    }

    /// The cells of each lane when a range fills this number of columns.
    pub fn in_range(
        &self,
        TimeRange { begin, end }: TimeRange,
        width: u16,
    ) -> Vec<(Shown, Vec<Share>)> {
        let range = Viewport::new(begin, end);
        let lanes = self.tracks.keys().filter_map(|key| {
            let shown = match key {
                TrackKey::Stream(id) => Shown::Tasks(id),
                TrackKey::Thread(id, depth) => Shown::Calls(id, depth),
                _ => return None,
            };
            let cells = sample(self.trace, self.tracks.get(key)?, range, width);
            let shares = (0..).zip(cells).map(|(place, cell)| Share {
                begin: range.time(place, width),
                end: range.time(place + 1, width),
                drawn: cell.drawn(),
            });
            Some((shown, shares.collect()))
        });
        lanes.collect()
    }
}
