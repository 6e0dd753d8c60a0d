//! The calls that a recording which goes on has under way, and which one that was stopped short ends with.

use std::collections::BTreeMap;

use ascend_trace_format::record::Counter;

use crate::file::index::{ChunkGroup, Indexer, Segment};
use crate::file::{Budget, FileItem, FileParts, FoundChunk, OpenError, Table};
use crate::load::TraceBuilder;
use crate::rows::{CallRow, Row};

use super::layout::ChunkReader;

/// The last chunk with running calls.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    found: Option<FoundChunk>,
    /// It has not been read yet.
    is_new: bool,
    /// They have become ordinary calls: the recording has ended.
    group: Option<ChunkGroup>,
}

impl OpenCalls {
    pub(super) fn found(&mut self, found: &FoundChunk) {
        self.found = Some(*found);
        self.is_new = true;
    }

    pub(super) fn group(&self) -> Option<&ChunkGroup> {
        self.group.as_ref()
    }

    /// Whether a segment is the one that the group of these calls has.
    pub(super) fn is_at(&self, segment: &Segment) -> bool {
        let own = self.group.iter().flat_map(|group| &group.segments);
        own.into_iter().any(|own| own == segment)
    }

    /// Passes the running calls on, if they have changed.
    pub(super) fn set_open_calls(
        &mut self,
        reader: &mut ChunkReader<'_>,
        ended: bool,
        budget: &mut Budget,
    ) -> Result<(), OpenError> {
        if ended {
            *self = Self::default();
            reader.builder.set_open(&[]);
        }
        let Some(found) = self.found.filter(|_| std::mem::take(&mut self.is_new)) else {
            return Ok(());
        };
        let mut open = Vec::new();
        let warning = reader.parts.items(&found, budget, &mut |item| {
            open.extend(calls(item));
        })?;
        reader.warnings.extend(warning);
        reader.builder.set_open(&open);
        Ok(())
    }

    /// Makes a group of the calls that are under way. `indexer` knows the functions.
    pub(super) fn close(
        &mut self,
        parts: &FileParts,
        builder: &mut TraceBuilder,
        mut indexer: Indexer,
        budget: &mut Budget,
    ) -> Result<(), OpenError> {
        let Some(found) = self.found.take() else {
            return Ok(());
        };
        let mut open = Vec::new();
        parts.items(&found, budget, &mut |item| open.extend(calls(item)))?;
        builder.set_open(&[]);
        let payload = parts.unpacked(&found)?.unwrap_or_default();
        indexer.chunk(CallRow::KIND, found.offset, found.length, &payload);
        let (mut group, fine) = indexer.peek();
        group.hold(&fine);
        // It is after all others, at any place of its chunk.
        group.begin = indexer.begin();
        group.end = indexer.begin();
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for row in open {
            *counts
                .entry(builder.process_number(row.thread))
                .or_default() += 1;
        }
        let counted = counts.into_iter();
        let counted = counted.map(|(process, count)| ((process, Counter::OpenCalls as u16), count));
        group.totals.counters.extend(counted);
        self.group = Some(group).filter(|group| group.rows() > 0);
        Ok(())
    }
}

/// The calls that something read from a segment holds.
pub(super) fn calls(item: FileItem) -> impl Iterator<Item = CallRow> {
    let (one, several) = match item {
        FileItem::Row(Row::Call(row)) => (Some(row), Vec::new()),
        FileItem::Open(rows) => (None, rows),
        _ => (None, Vec::new()),
    };
    one.into_iter().chain(several)
}
