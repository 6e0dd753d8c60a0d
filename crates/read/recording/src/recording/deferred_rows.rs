//! Events, ranges and costs of which there are too many to know them all from the start.

use std::collections::BTreeMap;

use crate::TimeRange;
use crate::file::chunk::ChunkKind;
use crate::file::{Budget, FileItem, FileParts, FoundChunk, OpenError, Table, Warning};
use crate::load::TraceBuilder;
use crate::rows::{CostRow, EventRow, RangeRow, Row};

/// A chunk that was left in the file.
#[derive(Clone, Copy, Debug)]
struct DeferredChunk {
    found: FoundChunk,
    rows: u64,
    /// Lowest and highest serial of its events, or begin and end of its ranges.
    reach: TimeRange,
}

/// Chunks that were left in the file, with the data that finds a window's part of them.
#[derive(Debug, Default)]
pub(super) struct DeferredRows {
    chunks: Vec<DeferredChunk>,
}

impl DeferredRows {
    pub(super) fn may_hold(kind: ChunkKind) -> bool {
        matches!(kind, EventRow::KIND | RangeRow::KIND | CostRow::KIND)
    }

    /// Notes a chunk. Of costs, which are sums, the last of each thread are taken.
    pub(super) fn push(
        &mut self,
        found: FoundChunk,
        parts: &FileParts,
        builder: &mut TraceBuilder,
        budget: &mut Budget,
    ) -> Result<Option<Warning>, OpenError> {
        if found.is(CostRow::KIND) {
            return last_costs(&found, parts, builder, budget);
        }
        let mut left = DeferredChunk {
            found,
            rows: 0,
            reach: TimeRange::NOTHING,
        };
        let mut extend = |reach: TimeRange| {
            left.rows += 1;
            left.reach = left.reach.hull(reach);
        };
        let warning = if found.is(RangeRow::KIND) {
            parts.range_reaches(&found, &mut extend)?
        } else {
            let mut passing = Budget::unlimited();
            parts.items(&found, &mut passing, &mut |item| {
                if let FileItem::Row(row) = item {
                    extend(reach(&row));
                }
            })?
        };
        self.chunks.push(left);
        Ok(warning)
    }

    /// The chunks that begin in a part of the file.
    pub(super) fn within(&self, (begin, end): (u64, u64)) -> impl Iterator<Item = &FoundChunk> {
        let chunks = self.chunks.iter().map(|left| &left.found);
        chunks.filter(move |found| (begin..end).contains(&found.offset))
    }

    /// Rows of a kind.
    pub(super) fn rows(&self, kind: ChunkKind) -> u64 {
        let chunks = self.chunks.iter().filter(|left| left.found.is(kind));
        chunks.map(|left| left.rows).sum()
    }

    /// When the first range begins that was left.
    pub(super) fn first_range(&self) -> Option<i64> {
        let ranges = self
            .chunks
            .iter()
            .filter(|left| left.found.is(RangeRow::KIND));
        ranges.map(|left| left.reach.begin).min()
    }

    /// Whether a range that was left may begin in a range of time.
    pub(super) fn may_hold_range(&self, range: TimeRange) -> bool {
        let mut chunks = self.chunks.iter();
        chunks.any(|left| left.found.is(RangeRow::KIND) && left.reach.overlaps(range))
    }

    /// Takes the ranges that overlap a range of time, and the rows of the events that the calls until
    /// now have mentioned.
    pub(super) fn take(
        &self,
        parts: &FileParts,
        builder: &mut TraceBuilder,
        range: TimeRange,
        budget: &mut Budget,
    ) -> Result<Vec<Warning>, OpenError> {
        let mut warnings = Vec::new();
        if self.chunks.is_empty() {
            return Ok(warnings);
        }
        let unknown = builder.unknown_events();
        for left in &self.chunks {
            let is_event = left.found.is(EventRow::KIND);
            let is_needed = match is_event {
                true => {
                    let next = unknown.partition_point(|it| i64::from(*it) < left.reach.begin);
                    unknown
                        .get(next)
                        .is_some_and(|it| i64::from(*it) <= left.reach.end)
                }
                false => left.reach.overlaps(range),
            };
            if !is_needed {
                continue;
            }
            warnings.extend(parts.items(&left.found, budget, &mut |item| match item {
                FileItem::Row(Row::Event(row)) if !builder.mentions(row.process, row.serial) => {}
                FileItem::Row(row) => {
                    if is_event || reach(&row).overlaps(range) {
                        builder.apply(row);
                    }
                }
                FileItem::Session(_) | FileItem::Tables(_) | FileItem::Open(_) => {}
            })?);
        }
        Ok(warnings)
    }
}

fn last_costs(
    found: &FoundChunk,
    parts: &FileParts,
    builder: &mut TraceBuilder,
    budget: &mut Budget,
) -> Result<Option<Warning>, OpenError> {
    let mut last = BTreeMap::new();
    let warning = parts.items(found, budget, &mut |item| {
        if let FileItem::Row(Row::Cost(row)) = item {
            last.insert(row.thread, row);
        }
    })?;
    last.into_values()
        .for_each(|row| builder.apply(Row::Cost(row)));
    Ok(warning)
}

fn reach(row: &Row) -> TimeRange {
    match row {
        Row::Event(row) => TimeRange::new(row.serial.into(), row.serial.into()),
        Row::Range(row) => TimeRange::new(row.begin_ns, row.end_ns.max(row.begin_ns)),
        _ => TimeRange::new(i64::MIN, i64::MAX),
    }
}
