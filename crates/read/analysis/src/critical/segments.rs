//! All pieces of a path, in as little memory as can be: a long recording has millions.

use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

use ascend_trace_recording::TimeRange;

use super::piece_owners::{Owners, PathItem};
use super::segment::{Segment, SegmentKind};

/// A piece of the path, and the place of its owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathPiece {
    pub(super) range: TimeRange,
    pub(super) owner: u32,
    pub(super) kind: SegmentKind,
    pub(super) tie: bool,
    /// By how much its duration may be off.
    pub(super) error: u32,
}

/// The pieces of a path by begin. Each is made when it is asked for.
#[derive(Clone, Default)]
pub struct Segments {
    pieces: Vec<PathPiece>,
    on: Arc<PathItems>,
}

/// The items of a path: `None` for unreadable ones.
#[derive(Debug, Default)]
struct PathItems {
    facts: Vec<Option<PathItem>>,
    owners: Owners,
}

impl Segments {
    /// The owner of each piece is the place of an existing fact.
    pub(super) fn new(
        pieces: Vec<PathPiece>,
        facts: Vec<Option<PathItem>>,
        owners: Owners,
    ) -> Self {
        let on = Arc::new(PathItems { facts, owners });
        Self { pieces, on }
    }

    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    fn own(&self, piece: &PathPiece) -> Option<PathItem> {
        *self.on.facts.get(piece.owner as usize)?
    }

    fn segment(&self, piece: &PathPiece) -> Option<Segment> {
        Some(self.on.owners.segment(self.own(piece)?, piece))
    }

    pub fn iter(&self) -> impl Iterator<Item = Segment> {
        self.pieces.iter().filter_map(|it| self.segment(it))
    }

    /// At most `most`, longest first; equally long ones by begin.
    pub fn longest(&self, most: usize) -> Vec<Segment> {
        let mut places: Vec<u32> = (0..self.pieces.len() as u32).collect();
        let key = |place: &u32| {
            (
                Reverse(self.pieces[*place as usize].range.duration()),
                *place,
            )
        };
        if most < places.len() {
            places.select_nth_unstable_by_key(most, key);
            places.truncate(most);
        }
        places.sort_unstable_by_key(key);
        let pieces = places.iter().map(|place| &self.pieces[*place as usize]);
        pieces.filter_map(|it| self.segment(it)).collect()
    }

    /// Those of some processes, by number.
    #[must_use]
    pub fn of_processes(&self, wanted: impl Fn(u32) -> bool) -> Self {
        let is_wanted = |piece: &&PathPiece| {
            let process = self.own(piece).map(|own| self.on.owners.process(own));
            process.is_some_and(&wanted)
        };
        Self {
            pieces: self.pieces.iter().filter(is_wanted).copied().collect(),
            on: Arc::clone(&self.on),
        }
    }
}

impl Eq for Segments {}

impl PartialEq for Segments {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Segments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}
