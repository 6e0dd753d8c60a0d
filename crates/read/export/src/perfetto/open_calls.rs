//! The slices of calls that are open, from one part of a trace to the next.

use rustc_hash::FxHashMap;

use super::flows::TouchingFlows;
use crate::tracks::SliceTrack;

/// The slices of a track that are open, each with its end.
pub(super) type OpenSlices = Vec<(i64, TouchingFlows)>;

/// The open slices of all threads' tracks. Most calls are on the track of the call before.
#[derive(Default)]
pub(super) struct OpenCalls {
    track: Option<SliceTrack>,
    open: OpenSlices,
    others: FxHashMap<u32, (Option<SliceTrack>, OpenSlices)>,
}

impl OpenCalls {
    /// The open slices of a track.
    #[inline]
    pub(super) fn of(&mut self, track: SliceTrack) -> &mut OpenSlices {
        if self.track != Some(track) {
            self.change(track);
        }
        &mut self.open
    }

    fn change(&mut self, track: SliceTrack) {
        let other = self.others.remove(&track.number).unwrap_or_default();
        self.put_away();
        (self.track, self.open) = (Some(track), other.1);
    }

    fn put_away(&mut self) {
        let track = self.track.take();
        let open = std::mem::take(&mut self.open);
        let number = track.map_or(0, |track| track.number);
        self.others.insert(number, (track, open));
    }

    /// All tracks with their open slices, in any order, as they share nothing.
    pub(super) fn all(&mut self) -> impl Iterator<Item = (SliceTrack, &mut OpenSlices)> {
        self.put_away();
        let all = self.others.values_mut();
        all.filter_map(|(track, open)| Some(((*track)?, open)))
    }
}
