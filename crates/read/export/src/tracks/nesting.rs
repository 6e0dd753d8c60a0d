//! Which of the tracks of a lane has room.

use ascend_trace_recording::TimeRange;

/// Puts a slice that lasts until `end` on the first track with a last end that is `free`.
pub(super) fn first_fit(tracks: &mut Vec<i64>, end: i64, free: impl Fn(i64) -> bool) -> usize {
    match tracks.iter().position(|last| free(*last)) {
        Some(place) => {
            tracks[place] = end;
            place
        }
        None => {
            tracks.push(end);
            tracks.len() - 1
        }
    }
}

/// Puts a span on the first track on which it touches no other.
pub(super) fn first_room(tracks: &mut Vec<Vec<TimeRange>>, span: TimeRange) -> usize {
    let is_apart = |other: &TimeRange| !other.overlaps(span);
    let place = tracks
        .iter()
        .position(|track| track.iter().all(is_apart))
        .unwrap_or(tracks.len());
    if place == tracks.len() {
        tracks.push(Vec::new());
    }
    tracks[place].push(span);
    place
}

/// Puts a slice on the first track that it nests on. With `late`, its last nanosecond stays free.
pub(super) fn nest(tracks: &mut Vec<OpenNesting>, slice: TimeRange, late: bool) -> usize {
    let mut place = 0;
    while tracks.get_mut(place).is_some_and(|it| !it.accepts(slice)) {
        place += 1;
    }
    if place == tracks.len() {
        tracks.push(OpenNesting::default());
    }
    tracks[place].push(slice, late);
    place
}

/// The open slices of a track of calls.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenNesting {
    open: Vec<OpenSlice>,
    /// The last slice without a length.
    mark: Option<i64>,
    /// The end of the last slice that is over.
    over: Option<i64>,
}

/// A slice on the way, and until when there is room for children.
#[derive(Clone, Copy, Debug)]
struct OpenSlice {
    slice: TimeRange,
    room: i64,
}

impl OpenNesting {
    /// Whether a slice can follow here, in the order of begin times. A child must begin after its
    /// parent, so that an arrow which leaves at the parent's begin finds the parent.
    fn accepts(&mut self, slice: TimeRange) -> bool {
        let TimeRange { begin, end } = slice;
        while let Some(over) = self.open.pop_if(|open| open.slice.end <= begin) {
            self.over = self.over.max(Some(over.slice.end));
        }
        // A slice without duration would seem to be a part of the slice that ends there.
        if begin == end && self.over == Some(begin) {
            return false;
        }
        if self.mark.is_some_and(|mark| mark >= begin) {
            return false;
        }
        match self.open.last() {
            Some(outer) => outer.slice.begin < begin && end <= outer.room,
            None => true,
        }
    }

    fn push(&mut self, slice: TimeRange, late: bool) {
        if slice.is_empty() {
            self.mark = Some(slice.begin);
        } else {
            let room = slice.end.saturating_sub(if late { 2 } else { 0 });
            self.open.push(OpenSlice { slice, room });
        }
    }
}
