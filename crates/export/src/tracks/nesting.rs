//! Which of the tracks of a lane has room.

/// Puts something that lasts until `end` on the first track whose last end is `free`.
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
pub(super) fn first_room(tracks: &mut Vec<Vec<(i64, i64)>>, span: (i64, i64)) -> usize {
    let is_apart = |other: &(i64, i64)| other.1 < span.0 || span.1 < other.0;
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

/// Puts a slice on the first track that it nests on. With `late`, its last moment is kept free.
pub(super) fn nest(tracks: &mut Vec<Nesting>, (begin, end): (i64, i64), late: bool) -> usize {
    let mut place = 0;
    while tracks
        .get_mut(place)
        .is_some_and(|it| !it.accepts(begin, end))
    {
        place += 1;
    }
    if place == tracks.len() {
        tracks.push(Nesting::default());
    }
    tracks[place].push(begin, end, late);
    place
}

/// The slices of a track of calls that are open at the moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Nesting {
    /// Begin and end, and until when there is room for children.
    open: Vec<(i64, i64, i64)>,
    /// The last slice without a length.
    mark: Option<i64>,
    /// The end of the last slice that is over.
    over: Option<i64>,
}

impl Nesting {
    /// Whether a slice can follow here, in the order of begin times. A child must begin after its
    /// parent, so that an arrow which leaves at the parent's begin finds the parent.
    fn accepts(&mut self, begin: i64, end: i64) -> bool {
        while let Some((_, over, _)) = self.open.pop_if(|open| open.1 <= begin) {
            self.over = self.over.max(Some(over));
        }
        // What has no length would be taken for a part of what ends there.
        if begin == end && self.over == Some(begin) {
            return false;
        }
        if self.mark.is_some_and(|mark| mark >= begin) {
            return false;
        }
        match self.open.last() {
            Some((outer_begin, _, room)) => *outer_begin < begin && end <= *room,
            None => true,
        }
    }

    fn push(&mut self, begin: i64, end: i64, late: bool) {
        if begin < end {
            let room = end.saturating_sub(if late { 2 } else { 0 });
            self.open.push((begin, end, room));
        } else {
            self.mark = Some(begin);
        }
    }
}
