//! When records were lost, by the place of the loss in the file.

use crate::TimeRange;
use crate::file::index::{ChunkGroup, Segment};
use crate::file::{Budget, FileItem, OpenError, Table};
use crate::rows::{LossRow, Row};

use super::Recording;

impl Recording {
    /// Reads the losses of groups that were not read yet. Only the headers of other chunks are read.
    pub(super) fn note_losses(&mut self) -> Result<(), OpenError> {
        let until = self.losses_until;
        let new = self.layout.groups().filter(|group| group.end > until);
        let mut found = Vec::new();
        let mut budget = Budget::entities(self.parts.length()?);
        for group in new {
            let losses = group.totals.losses;
            if losses.calls == 0 && losses.others == 0 {
                continue;
            }
            let mut position = group.begin.max(until);
            while position < group.end {
                let Some(chunk) = self.parts.chunk(position, group.end)? else {
                    break;
                };
                if chunk.is(LossRow::KIND) {
                    let at = known_by(group, chunk.offset);
                    self.parts.items(&chunk, &mut budget, &mut |item| {
                        if let FileItem::Row(Row::Loss(row)) = item {
                            found.push((row, at));
                        }
                    })?;
                }
                position = chunk.end();
            }
        }
        let last = self.layout.groups().last().map(|group| group.end);
        self.losses_until = until.max(last.unwrap_or(0));
        for (row, at) in found {
            self.builder.lose(&row, at);
        }
        Ok(())
    }
}

/// About the time at which a place in the file was written: calls are written as they end.
fn known_by(group: &ChunkGroup, offset: u64) -> i64 {
    let spans = group.segments.iter();
    let spans = spans.filter_map(|it| Some((it, it.call_span?)));
    let before = spans.clone().filter(|(it, _)| it.offset <= offset);
    let passed = |(segment, span): (&Segment, TimeRange)| {
        let share = (offset - segment.offset) as f64 / segment.length.max(1) as f64;
        let passed = (span.duration() as f64 * share.min(1.0)) as i64;
        span.begin.saturating_add(passed)
    };
    let known = before.map(passed).max();
    let first = || spans.map(|(_, span)| span.begin).next();
    known.or_else(first).unwrap_or(0)
}
