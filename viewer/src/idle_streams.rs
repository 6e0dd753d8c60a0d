//! Streams that were made and never had a task: frameworks make dozens.

use ascend_trace_recording::{StreamId, Trace};

use crate::arrangement::LaneGroup;
use crate::item::TrackKey;
use crate::overview::RecordingOverview;

/// Least number of streams of a device that are folded into one line.
pub(crate) const FOLDED: usize = 2;

/// Whether a stream has no task in all of the recording, as far as that is known.
pub(crate) fn is_unused(overview: &RecordingOverview, id: StreamId) -> bool {
    overview.opening.is_none() && !overview.used.contains(&id)
}

/// The line that a lane is put into with others that never had a task.
pub(crate) fn group(
    trace: &Trace,
    overview: &RecordingOverview,
    key: TrackKey,
) -> Option<LaneGroup> {
    let TrackKey::Stream(id) = key else {
        return None;
    };
    let stream = trace.stream(id);
    let group = LaneGroup::Unused(stream.process, stream.device);
    is_unused(overview, id).then_some(group)
}

/// How many they are, in words.
pub(crate) fn words(number: usize) -> String {
    match number {
        1 => "1 stream without tasks".to_owned(),
        number => format!("{number} streams without tasks"),
    }
}
