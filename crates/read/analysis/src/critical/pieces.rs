//! The pieces of a path on the way from its end back.

use ascend_trace_recording::TimeRange;

use super::path::PathItemFacts;
use super::segment::SegmentKind;
use super::segments::PathPiece;

/// The pieces of a path on the way from its end back.
pub(super) struct Pieces {
    pub(super) found: Vec<PathPiece>,
    /// The begin of the range, and the begin of the last piece that was added.
    from: i64,
    reached: i64,
    /// A tie where no time passed is one of the piece before.
    tie: bool,
}

impl Pieces {
    pub(super) fn within(range: TimeRange, tie: bool) -> Self {
        Self {
            found: Vec::new(),
            from: range.begin,
            reached: range.end,
            tie,
        }
    }

    pub(super) fn goes_on(&self) -> bool {
        self.reached > self.from
    }

    /// Adds the piece from a time to the last one.
    pub(super) fn push(
        &mut self,
        (owner, kind): (u32, SegmentKind),
        begin: i64,
        error: i64,
        tie: bool,
    ) {
        let range = TimeRange::new(begin.max(self.from), self.reached);
        self.tie |= tie;
        if range.is_empty() {
            return;
        }
        self.found.push(PathPiece {
            range,
            owner,
            kind,
            tie: std::mem::take(&mut self.tie),
            error: narrow(error),
        });
        self.reached = range.begin;
    }

    /// The next piece ends with an item. Where the bar of the item ends later than its estimate, the rest belongs to the
    /// last piece.
    pub(super) fn end_at(&mut self, owner: u32, fact: &PathItemFacts) {
        let rest = self.reached.saturating_sub(fact.placed.end);
        let error = match rest > 0 {
            true => fact.error.saturating_add(fact.clocks),
            false => fact.clocks,
        };
        match self.found.last_mut() {
            // Its begin is the end of the item.
            Some(after) => {
                after.error = after.error.max(narrow(error));
                if rest > 0 {
                    after.range.begin = fact.placed.end.max(self.from);
                    self.reached = after.range.begin;
                }
            }
            None if rest > 0 => {
                self.push((owner, SegmentKind::Edge), fact.placed.end, error, false)
            }
            None => {}
        }
    }
}

fn narrow(error: i64) -> u32 {
    u32::try_from(error.max(0)).unwrap_or(u32::MAX)
}
