//! Entries of the hardware's log, which are left in the file: each window, and each pass over the file, reads those of
//! its tasks.

use std::collections::BTreeMap;

use crate::file::chunk::ChunkKind;
use crate::file::{Budget, FileItem, FileParts, FoundChunk, OpenError, Table, Warning};
use crate::load::TraceBuilder;
use crate::rows::{ActivityRow, Row};
use crate::trace::Trace;

/// Number of a process, and serial of a stream.
type StreamKey = (u32, u32);

/// Streams of a chunk that are listed separately.
const MOST_LANES: usize = 256;

/// A chunk of entries, and the first and last tasks of each stream that it has entries of.
#[derive(Clone, Debug)]
struct EntryChunk {
    found: FoundChunk,
    rows: u64,
    /// Empty where they are too many.
    reach: BTreeMap<StreamKey, (u32, u32)>,
    is_full: bool,
}

/// Where the entries are.
#[derive(Debug, Default)]
pub(super) struct DeferredEntries {
    chunks: Vec<EntryChunk>,
}

impl DeferredEntries {
    pub(super) fn may_hold(kind: ChunkKind) -> bool {
        kind == ActivityRow::KIND
    }

    /// Notes a chunk.
    pub(super) fn push(
        &mut self,
        found: FoundChunk,
        parts: &FileParts,
    ) -> Result<Option<Warning>, OpenError> {
        let mut chunk = EntryChunk {
            found,
            rows: 0,
            reach: BTreeMap::new(),
            is_full: false,
        };
        let mut passing = Budget::unlimited();
        let warning = parts.items(&found, &mut passing, &mut |item| {
            if let FileItem::Row(Row::Activity(row)) = item {
                chunk.note(&row);
            }
        })?;
        self.chunks.push(chunk);
        Ok(warning)
    }

    /// Takes the entries of the tasks that a window has.
    pub(super) fn take(
        &self,
        parts: &FileParts,
        builder: &mut TraceBuilder,
        length: u64,
    ) -> Result<Vec<Warning>, OpenError> {
        let mut warnings = Vec::new();
        if self.chunks.is_empty() {
            return Ok(warnings);
        }
        let tasks = tasks(builder.trace());
        for chunk in self.chunks.iter().filter(|chunk| chunk.has_any(&tasks)) {
            warnings.extend(chunk.read(parts, length, &mut |row| {
                let sequence = row.sequence;
                let tasks = row
                    .stream
                    .and_then(|stream| tasks.get(&(row.process, stream)));
                let is_there = tasks.is_some_and(|(first, last)| {
                    sequence >= Some(*first) && sequence <= Some(*last)
                });
                if is_there {
                    builder.apply(Row::Activity(row));
                }
            })?);
        }
        Ok(warnings)
    }

    /// Takes the chunks from `next` on up to the last one with entries of the tasks until now, or
    /// before a place in the file. Returns the next one.
    pub(super) fn take_in_order(
        &self,
        next: usize,
        before: u64,
        (parts, length): (&FileParts, u64),
        builder: &mut TraceBuilder,
        warnings: &mut Vec<Warning>,
    ) -> Result<usize, OpenError> {
        let left = self.chunks.get(next..).unwrap_or_default();
        if left.is_empty() {
            return Ok(next);
        }
        let last = builder.trace().last_tasks();
        let is_due = |chunk: &EntryChunk| chunk.found.offset < before || chunk.has_before(&last);
        let due = left.iter().rposition(is_due).map_or(0, |place| place + 1);
        for chunk in left.iter().take(due) {
            let mut take = |row| builder.apply(Row::Activity(row));
            warnings.extend(chunk.read(parts, length, &mut take)?);
        }
        Ok(next + due)
    }
}

impl EntryChunk {
    fn note(&mut self, row: &ActivityRow) {
        self.rows += 1;
        let (Some(stream), Some(sequence)) = (row.stream, row.sequence) else {
            return;
        };
        let lane = (row.process, stream);
        if self.reach.len() >= MOST_LANES && !self.reach.contains_key(&lane) {
            self.is_full = true;
            return;
        }
        let reach = self.reach.entry(lane).or_insert((sequence, sequence));
        *reach = (reach.0.min(sequence), reach.1.max(sequence));
    }

    /// Whether it may hold entries of tasks that lie between these.
    fn has_any(&self, tasks: &BTreeMap<StreamKey, (u32, u32)>) -> bool {
        let mut reach = self.reach.iter();
        let overlaps = |(lane, reach): (&StreamKey, &(u32, u32))| {
            let tasks = tasks.get(lane);
            tasks.is_some_and(|tasks| tasks.0 <= reach.1 && tasks.1 >= reach.0)
        };
        self.is_full || reach.any(overlaps)
    }

    /// Whether it may hold entries of tasks up to these.
    fn has_before(&self, last: &BTreeMap<StreamKey, u32>) -> bool {
        let mut reach = self.reach.iter();
        reach.any(|(lane, reach)| last.get(lane).is_some_and(|last| reach.0 <= *last))
    }

    fn read(
        &self,
        parts: &FileParts,
        length: u64,
        take: &mut impl FnMut(ActivityRow),
    ) -> Result<Option<Warning>, OpenError> {
        let mut budget = Budget::window(length, self.rows);
        let warning = parts.items(&self.found, &mut budget, &mut |item| {
            if let FileItem::Row(Row::Activity(row)) = item {
                take(row);
            }
        })?;
        Ok(warning)
    }
}

/// The first and last task of each stream.
fn tasks(trace: &Trace) -> BTreeMap<StreamKey, (u32, u32)> {
    let mut lanes: BTreeMap<StreamKey, (u32, u32)> = BTreeMap::new();
    for task in trace.tasks() {
        let stream = trace.stream(task.stream);
        let lane = (trace.process(stream.process).serial, stream.serial);
        let of = lanes.entry(lane).or_insert((task.sequence, task.sequence));
        *of = (of.0.min(task.sequence), of.1.max(task.sequence));
    }
    lanes
}
