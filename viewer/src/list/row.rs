//! Identity of a row, while its numbers, its place and the loaded part of a recording change.

use ascend_trace_analysis::Lane;
use ascend_trace_recording::ThreadId;

use crate::action::Action;
use crate::blamed_stalls::BlameId;
use crate::item::TrackKey;

/// Subject of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowId {
    /// Name and kind.
    Operation(String, &'static str),
    Function(String),
    /// Process, device and number, and whether it is the default one.
    Stream(u32, u32, i64, bool),
    /// Process and number.
    Device(u32, u32),
    Thread(Option<ThreadId>, u32),
    /// The cause, of streams or of threads.
    Cause(&'static str, &'static str),
    Stall(Lane, i64, i64),
    Blame(BlameId),
    /// The check, the thread, and the first call.
    Finding(&'static str, u32, i64),
    /// A piece of the critical path: its line and its begin.
    Piece(TrackKey, i64),
    /// A kind and a name.
    Share(&'static str, String),
    /// Process, thread and begin of a step.
    Step(u32, u32, i64),
    Bookmark(String, i64, i64),
    Action(Action),
    /// Kind and name.
    Name(&'static str, String),
}

impl RowId {
    /// Stalls of a lane never overlap, but their times may change a little when more is known.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stall(lane, begin, end), Self::Stall(its_lane, its_begin, its_end)) => {
                let common = end.min(its_end).saturating_sub(*begin.max(its_begin));
                let length = end.saturating_sub(*begin);
                let shorter = length.min(its_end.saturating_sub(*its_begin));
                lane == its_lane && common > shorter / 2
            }
            _ => self == other,
        }
    }
}
