//! Which groups a file has: from its indexes, and for the rest from its chunks.

use std::collections::BTreeMap;

use crate::file::chunk::ChunkKind;
use crate::file::index::{self, ChunkGroup, Indexer, RunSpan, Segment, TimesLink, Totals};
use crate::file::{
    Budget, FileItem, FileParts, FoundChunk, LostContent, OpenError, Table, Warning, kinds,
};
use crate::load::TraceBuilder;
use crate::rows::{CallRow, EndRow, Row};

use super::deferred_rows::DeferredRows;
use super::entries::DeferredEntries;
use super::open::OpenCalls;

/// Bytes of a file's header, before the first chunk.
pub(super) const HEADER: u64 = 16;
/// Number of rows of events, of ranges and of tracer overhead that are known from the start.
/// [`DeferredRows`] are those beyond.
const MOST_ENTITIES: usize = 1 << 17;

#[derive(Debug)]
pub(super) struct Layout {
    groups: Vec<ChunkGroup>,
    /// Counts over all of these.
    sums: Totals,
    /// The part after the last complete group.
    tail: Option<ChunkGroup>,
    indexer: Indexer,
    /// Chunks that no index covers and that have not been read yet.
    loose: Vec<FoundChunk>,
    /// All before has been looked at.
    position: u64,
    /// This number of bytes just before `position` belongs to no chunk.
    skipped: u64,
    has_session: bool,
    has_tables: bool,
    ended: bool,
    open: OpenCalls,
    /// By kind: rows that have been taken.
    taken: BTreeMap<ChunkKind, usize>,
    most_entities: usize,
    left: DeferredRows,
    entries: DeferredEntries,
    budget: Budget,
}

impl Layout {
    pub(super) fn new() -> Self {
        Self {
            groups: Vec::new(),
            sums: Totals::default(),
            tail: None,
            indexer: Indexer::new(HEADER),
            loose: Vec::new(),
            position: HEADER,
            skipped: 0,
            has_session: false,
            has_tables: false,
            ended: false,
            open: OpenCalls::default(),
            taken: BTreeMap::new(),
            most_entities: MOST_ENTITIES,
            left: DeferredRows::default(),
            entries: DeferredEntries::default(),
            budget: Budget::entities(0),
        }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// All groups in the order of the file, and the calls that were open when it ended.
    pub(super) fn groups(&self) -> impl DoubleEndedIterator<Item = &ChunkGroup> + Clone {
        let groups = self.groups.iter().chain(&self.tail);
        groups.chain(self.open.group())
    }

    /// The kind of the chunks that hold the calls of a segment.
    pub(super) fn calls_of(&self, segment: &Segment) -> ChunkKind {
        match self.open.is_at(segment) {
            true => kinds::OPEN,
            false => CallRow::KIND,
        }
    }

    /// Takes the file as final: the calls that were under way are calls like any other.
    pub(super) fn close(
        &mut self,
        parts: &FileParts,
        builder: &mut TraceBuilder,
    ) -> Result<(), OpenError> {
        let indexer = self.indexer.aside(self.position);
        self.open.close(parts, builder, indexer, &mut self.budget)
    }

    /// The chunks of events and ranges that are read with the windows that need them.
    pub(super) fn left(&self) -> &DeferredRows {
        &self.left
    }

    /// The chunks of entries of the hardware's log.
    pub(super) fn entries(&self) -> &DeferredEntries {
        &self.entries
    }

    /// Which times are of tasks that were launched where.
    pub(super) fn links(&self) -> impl Iterator<Item = TimesLink> {
        self.groups().flat_map(|group| &group.links).copied()
    }

    /// When the tasks ran that have their times in a segment.
    pub(super) fn ran(&self) -> impl Iterator<Item = &RunSpan> {
        self.groups().flat_map(|group| &group.ran)
    }

    pub(super) fn rows(&self) -> u64 {
        self.groups().map(ChunkGroup::rows).sum()
    }

    /// The complete groups, and the one that is not.
    pub(super) fn parts(&self) -> (&[ChunkGroup], Option<&ChunkGroup>) {
        (&self.groups, self.tail.as_ref())
    }

    pub(super) fn totals(&self) -> Totals {
        let mut totals = self.sums.clone();
        let rest = self.tail.iter().chain(self.open.group());
        rest.for_each(|group| totals.add(&group.totals));
        totals
    }

    fn push(&mut self, group: ChunkGroup) {
        self.sums.add(&group.totals);
        self.groups.push(group);
    }

    /// As [`Layout::push`], for a group that was made of chunks. Its data other than places is left out
    /// where it is out of proportion to the file.
    fn push_made(&mut self, mut group: ChunkGroup, reader: &mut ChunkReader<'_>) {
        if !self.budget.spend(group.memory()) {
            reader.warnings.push(excess(group.begin));
            group.strip();
        }
        self.push(group);
    }

    pub(super) fn missing(&self, length: u64) -> Vec<Warning> {
        let offset = self.position;
        let left = length.saturating_sub(offset) + self.skipped;
        let tail = (left > 0).then(|| Warning {
            offset: offset - self.skipped,
            lost: LostContent::Tail(left),
        });
        let missing = [
            (self.has_session, LostContent::Session),
            (self.has_tables, LostContent::Tables),
            (self.ended, LostContent::End),
        ];
        let missing = missing.into_iter().filter(|(there, _)| !there);
        tail.into_iter()
            .chain(missing.map(|(_, lost)| Warning { offset, lost }))
            .collect()
    }

    /// Reads the new part of the file. Returns whether it had one.
    pub(super) fn advance(
        &mut self,
        parts: &FileParts,
        builder: &mut TraceBuilder,
        warnings: &mut Vec<Warning>,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<bool, OpenError> {
        let length = parts.length()?;
        self.budget = self.budget.of(length);
        let mut reader = ChunkReader {
            parts,
            builder,
            warnings,
            length,
        };
        let begin = self.position;
        if begin == HEADER {
            self.head(&mut reader)?;
            self.jump(&mut reader)?;
        }
        self.walk(&mut reader)?;
        let has_loose = !self.loose.is_empty();
        if has_loose {
            self.read_loose(&mut reader, progress)?;
        }
        // Now the threads of these calls are known, and with them their processes.
        self.open
            .set_open_calls(&mut reader, self.ended, &mut self.budget)?;
        if !has_loose {
            return Ok(self.position > begin);
        }
        let (mut tail, fine) = self.indexer.peek();
        tail.hold(&fine);
        // It is made again with each look, and paid for when it is complete.
        let mut budget = self.budget;
        if !budget.spend(tail.memory()) {
            reader.warnings.push(excess(tail.begin));
            tail.strip();
        }
        self.tail = (!tail.segments.is_empty()).then_some(tail);
        Ok(true)
    }

    /// Takes the leading chunks.
    fn head(&mut self, reader: &mut ChunkReader<'_>) -> Result<(), OpenError> {
        while let Some(found) = reader.parts.chunk(self.position, reader.length)? {
            if !found.is(kinds::SESSION) && !found.is(kinds::TABLES) {
                break;
            }
            self.leading(&found, reader)?;
            self.position = found.end();
        }
        self.indexer.start(self.position);
        Ok(())
    }

    fn leading(
        &mut self,
        found: &FoundChunk,
        reader: &mut ChunkReader<'_>,
    ) -> Result<(), OpenError> {
        self.has_session |= found.is(kinds::SESSION);
        self.has_tables |= found.is(kinds::TABLES);
        let indexer = &mut self.indexer;
        let warning = reader
            .parts
            .items(found, &mut self.budget, &mut |item| match item {
                FileItem::Session(session) => reader.builder.set_session(*session),
                FileItem::Tables(tables) => {
                    indexer.set_tables(&tables);
                    reader.builder.set_tables(tables);
                }
                FileItem::Row(_) | FileItem::Open(_) => {}
            })?;
        reader.warnings.extend(warning);
        Ok(())
    }

    /// Takes the indexes that an ended file lists, if they make sense together.
    fn jump(&mut self, reader: &mut ChunkReader<'_>) -> Result<(), OpenError> {
        let Some((end, indexes)) = reader.parts.root()? else {
            return Ok(());
        };
        let mut groups = Vec::new();
        let mut begin = self.position;
        for offset in indexes {
            let Some((found, group)) = self.index_at(offset, begin, reader)? else {
                return Ok(());
            };
            begin = found.end();
            groups.push(group);
        }
        for group in groups {
            self.take_group(group, reader)?;
        }
        // Between the last index and the end there is only the list itself.
        self.indexer.start(begin);
        self.position = end.offset;
        Ok(())
    }

    /// The index at a place, if its group begins where it should.
    fn index_at(
        &mut self,
        offset: u64,
        begin: u64,
        reader: &ChunkReader<'_>,
    ) -> Result<Option<(FoundChunk, ChunkGroup)>, OpenError> {
        if offset < begin || !reader.parts.has_header(begin)? {
            return Ok(None);
        }
        let Some((found, payload)) = reader.parts.chunk_of(kinds::INDEX, offset)? else {
            return Ok(None);
        };
        let group = index::decode(&payload, offset).filter(|group| group.begin == begin);
        let group = group.filter(|group| self.budget.spend(group.memory()));
        Ok(group.map(|group| (found, group)))
    }

    /// The group of an index, if none of its rows has been counted already.
    fn index_ahead(
        &mut self,
        found: &FoundChunk,
        reader: &ChunkReader<'_>,
    ) -> Result<Option<ChunkGroup>, OpenError> {
        let Some(payload) = reader.parts.unpacked(found)? else {
            return Ok(None);
        };
        let group = index::decode(&payload, found.offset);
        let begin = self.indexer.begin();
        let fits = |group: &ChunkGroup| {
            group.begin == begin || (group.begin > begin && self.indexer.end() <= group.begin)
        };
        let group = group.filter(fits);
        let Some(group) = group.filter(|group| self.budget.spend(group.memory())) else {
            return Ok(None);
        };
        Ok(reader.parts.has_header(group.begin)?.then_some(group))
    }

    /// Chunks before an indexed group, with a lost index, make a group.
    fn before(
        &mut self,
        group: &ChunkGroup,
        reader: &mut ChunkReader<'_>,
    ) -> Result<(), OpenError> {
        self.loose.retain(|found| found.offset < group.begin);
        if group.begin == self.indexer.begin() || self.loose.is_empty() {
            return Ok(());
        }
        self.read_loose(reader, &mut |_, _| true)?;
        let (mut lost, fine) = self.indexer.take(group.begin);
        lost.hold(&fine);
        self.push_made(lost, reader);
        Ok(())
    }

    /// Goes from chunk to chunk by their headers.
    fn walk(&mut self, reader: &mut ChunkReader<'_>) -> Result<(), OpenError> {
        while self.position < reader.length {
            match reader.parts.chunk(self.position, reader.length)? {
                Some(found) => {
                    self.tell_skipped(reader);
                    self.chunk(&found, reader)?;
                    self.position = found.end();
                }
                // The rest of a chunk is still to come.
                None if reader.parts.has_header(self.position)? => break,
                None => {
                    let from = self.position;
                    let (next, is_sound) = reader.parts.next_header(from + 1, reader.length)?;
                    let next = next.max(from);
                    self.skipped += next - from;
                    self.position = next;
                    if !is_sound {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn tell_skipped(&mut self, reader: &mut ChunkReader<'_>) {
        let bytes = std::mem::take(&mut self.skipped);
        if bytes > 0 {
            reader.warnings.push(Warning {
                offset: self.position - bytes,
                lost: LostContent::Bytes(bytes),
            });
        }
    }

    fn chunk(&mut self, found: &FoundChunk, reader: &mut ChunkReader<'_>) -> Result<(), OpenError> {
        match found.kind {
            kinds::SESSION | kinds::TABLES => self.leading(found, reader)?,
            kinds::INDEX => {
                if let Some(group) = self.index_ahead(found, reader)? {
                    self.before(&group, reader)?;
                    self.loose.clear();
                    self.tail = None;
                    // The index replaces the rows that were read.
                    self.indexer.take(found.end());
                    self.take_group(group, reader)?;
                }
            }
            EndRow::KIND => {
                self.ended = true;
                let warning = reader.rows(found, &mut self.budget, &mut |_| {})?;
                reader.warnings.extend(warning);
            }
            kinds::OPEN => self.open.found(found),
            _ => self.loose.push(*found),
        }
        Ok(())
    }

    /// Takes the group of an index.
    fn take_group(
        &mut self,
        mut group: ChunkGroup,
        reader: &mut ChunkReader<'_>,
    ) -> Result<(), OpenError> {
        self.indexer
            .set_waiting(&std::mem::take(&mut group.waiting));
        for entity in &group.entities {
            let found = FoundChunk {
                kind: entity.kind,
                offset: entity.offset,
                length: entity.length,
            };
            self.entity(&found, reader)?;
        }
        self.push(group);
        Ok(())
    }

    /// Takes a chunk of things that the whole trace needs.
    fn entity(
        &mut self,
        found: &FoundChunk,
        reader: &mut ChunkReader<'_>,
    ) -> Result<(), OpenError> {
        if found.is(kinds::TABLES) {
            return self.leading(found, reader);
        }
        if DeferredEntries::may_hold(found.kind) {
            reader
                .warnings
                .extend(self.entries.push(*found, reader.parts)?);
            return Ok(());
        }
        let taken = self.taken.entry(found.kind).or_default();
        if DeferredRows::may_hold(found.kind) && *taken >= self.most_entities {
            let warning = self
                .left
                .push(*found, reader.parts, reader.builder, &mut self.budget)?;
            reader.warnings.extend(warning);
            return Ok(());
        }
        let indexer = &mut self.indexer;
        let warning = reader.rows(found, &mut self.budget, &mut |row| {
            *taken += 1;
            indexer.entity(row);
        })?;
        reader.warnings.extend(warning);
        Ok(())
    }

    /// Reads the chunks that no index covers.
    fn read_loose(
        &mut self,
        reader: &mut ChunkReader<'_>,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<(), OpenError> {
        for found in std::mem::take(&mut self.loose) {
            if !progress(found.offset, reader.length) {
                return Err(OpenError::Stopped);
            }
            if found.is(kinds::SUMMARY) || found.is(kinds::ROOT) {
                continue;
            }
            let Some(payload) = reader.parts.payload(&found)? else {
                reader.warnings.push(found.damaged());
                continue;
            };
            let Some(payload) = found.unpack(&payload) else {
                continue;
            };
            if self
                .indexer
                .chunk(found.kind, found.offset, found.length, &payload)
            {
                self.entity(&found, reader)?;
            }
            // Twice as late as a writer, so that its index is seen first.
            if self.indexer.is_overdue() {
                let (mut group, fine) = self.indexer.take(found.end());
                group.hold(&fine);
                self.push_made(group, reader);
            }
        }
        Ok(())
    }
}

/// Says that the chunks from here on name more than is counted.
fn excess(offset: u64) -> Warning {
    let kind = String::from_utf8_lossy(&kinds::INDEX).into_owned();
    Warning {
        offset,
        lost: LostContent::Excess { kind, read: 0 },
    }
}

/// Where chunks are read from and where their rows go.
pub(super) struct ChunkReader<'a> {
    pub(super) parts: &'a FileParts,
    pub(super) builder: &'a mut TraceBuilder,
    pub(super) warnings: &'a mut Vec<Warning>,
    length: u64,
}

impl ChunkReader<'_> {
    /// Takes the rows of a chunk, and shows them.
    fn rows(
        &mut self,
        found: &FoundChunk,
        budget: &mut Budget,
        shown: &mut impl FnMut(&Row),
    ) -> Result<Option<Warning>, OpenError> {
        let builder = &mut *self.builder;
        Ok(self.parts.items(found, budget, &mut |item| {
            if let FileItem::Row(row) = item {
                shown(&row);
                builder.apply(row);
            }
        })?)
    }
}
