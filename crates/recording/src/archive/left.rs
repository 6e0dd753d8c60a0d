//! Events, ranges and costs of which there are too many to know them all from the start.

use std::collections::BTreeMap;

use crate::file::chunk::Kind;
use crate::file::{Budget, Found, Item, OpenError, Parts, Table, Warning};
use crate::load::TraceBuilder;
use crate::rows::{CostRow, EventRow, RangeRow, Row};

/// A chunk that was left in the file.
#[derive(Clone, Copy, Debug)]
struct Left {
    found: Found,
    rows: u64,
    /// Lowest and highest serial of its events, or first and last moment of its ranges.
    reach: (i64, i64),
}

/// Chunks that were left in the file, with what it takes to find what a window needs.
#[derive(Debug, Default)]
pub(super) struct LeftThings {
    chunks: Vec<Left>,
}

impl LeftThings {
    pub(super) fn may_hold(kind: Kind) -> bool {
        matches!(kind, EventRow::KIND | RangeRow::KIND | CostRow::KIND)
    }

    /// Notes a chunk. Of costs, which are sums, the last of each thread are taken.
    pub(super) fn push(
        &mut self,
        found: Found,
        parts: &Parts,
        builder: &mut TraceBuilder,
        budget: &mut Budget,
    ) -> Result<Option<Warning>, OpenError> {
        if found.is(CostRow::KIND) {
            return last_costs(&found, parts, builder, budget);
        }
        let mut left = Left {
            found,
            rows: 0,
            reach: (i64::MAX, i64::MIN),
        };
        let mut extend = |(low, high): (i64, i64)| {
            left.rows += 1;
            left.reach = (left.reach.0.min(low), left.reach.1.max(high));
        };
        let warning = if found.is(RangeRow::KIND) {
            parts.range_reaches(&found, &mut extend)?
        } else {
            let mut passing = Budget::unlimited();
            parts.items(&found, &mut passing, &mut |item| {
                if let Item::Row(row) = item {
                    extend(reach(&row));
                }
            })?
        };
        self.chunks.push(left);
        Ok(warning)
    }

    /// The chunks that begin in a part of the file.
    pub(super) fn within(&self, (begin, end): (u64, u64)) -> impl Iterator<Item = &Found> {
        let chunks = self.chunks.iter().map(|left| &left.found);
        chunks.filter(move |found| (begin..end).contains(&found.offset))
    }

    /// Rows of a kind.
    pub(super) fn rows(&self, kind: Kind) -> u64 {
        let chunks = self.chunks.iter().filter(|left| left.found.is(kind));
        chunks.map(|left| left.rows).sum()
    }

    /// When the first range begins that was left.
    pub(super) fn first_range(&self) -> Option<i64> {
        let ranges = self
            .chunks
            .iter()
            .filter(|left| left.found.is(RangeRow::KIND));
        ranges.map(|left| left.reach.0).min()
    }

    /// Whether a range that was left may begin in a range of time.
    pub(super) fn may_hold_range(&self, (begin, end): (i64, i64)) -> bool {
        let mut chunks = self.chunks.iter();
        chunks.any(|left| {
            left.found.is(RangeRow::KIND) && left.reach.0 <= end && left.reach.1 >= begin
        })
    }

    /// Takes the ranges that have a part in a range of time, and the rows of the events that the
    /// calls so far have mentioned.
    pub(super) fn take(
        &self,
        parts: &Parts,
        builder: &mut TraceBuilder,
        range: (i64, i64),
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
                    let next = unknown.partition_point(|it| i64::from(*it) < left.reach.0);
                    unknown
                        .get(next)
                        .is_some_and(|it| i64::from(*it) <= left.reach.1)
                }
                false => left.reach.0 <= range.1 && left.reach.1 >= range.0,
            };
            if !is_needed {
                continue;
            }
            warnings.extend(parts.items(&left.found, budget, &mut |item| match item {
                Item::Row(Row::Event(row)) if !builder.mentions(row.process, row.serial) => {}
                Item::Row(row) => {
                    let (begin, end) = reach(&row);
                    if is_event || (begin <= range.1 && end >= range.0) {
                        builder.apply(row);
                    }
                }
                Item::Session(_) | Item::Tables(_) | Item::Open(_) => {}
            })?);
        }
        Ok(warnings)
    }
}

fn last_costs(
    found: &Found,
    parts: &Parts,
    builder: &mut TraceBuilder,
    budget: &mut Budget,
) -> Result<Option<Warning>, OpenError> {
    let mut last = BTreeMap::new();
    let warning = parts.items(found, budget, &mut |item| {
        if let Item::Row(Row::Cost(row)) = item {
            last.insert(row.thread, row);
        }
    })?;
    last.into_values()
        .for_each(|row| builder.apply(Row::Cost(row)));
    Ok(warning)
}

fn reach(row: &Row) -> (i64, i64) {
    match row {
        Row::Event(row) => (row.serial.into(), row.serial.into()),
        Row::Range(row) => (row.begin_ns, row.end_ns.max(row.begin_ns)),
        _ => (i64::MIN, i64::MAX),
    }
}
