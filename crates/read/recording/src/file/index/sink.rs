//! The writer's side of the index: follows the chunks as they are written and adds its own.

use std::io;

use crate::file::chunk::{self, ChunkKind, Packer};
use crate::rows::TablesRow;

use super::builder::{GROUP_ROWS, Indexer};
use super::codec;

/// Adds the index to a file that is being written.
#[derive(Debug)]
pub(in crate::file) struct IndexSink {
    indexer: Indexer,
    /// Where the indexes of complete groups are.
    indexes: Vec<u64>,
    /// Rows of a group, and rows from which on a file has an index.
    rows: u64,
    least: u64,
    /// Tasks with a time, in complete groups.
    timed: u64,
    uncertain: bool,
    /// The output failed: where things are in the file is not known any more.
    lost: bool,
}

impl IndexSink {
    /// Follows a file with rows that begin at `begin`.
    pub(in crate::file) fn new(begin: u64, tables: &TablesRow) -> Self {
        let mut indexer = Indexer::new(begin);
        indexer.set_tables(tables);
        Self {
            indexer,
            indexes: Vec::new(),
            rows: GROUP_ROWS,
            least: SHORT,
            timed: 0,
            uncertain: false,
            lost: false,
        }
    }

    /// Makes groups of `rows` rows, and an index for the shortest file too.
    pub(in crate::file) fn set_rows(&mut self, rows: u64) {
        self.rows = rows.max(1);
        self.least = 0;
    }

    /// Takes note of a chunk: its place in the file, its length with the header, its payload before
    /// packing.
    pub(in crate::file) fn chunk(
        &mut self,
        kind: ChunkKind,
        offset: u64,
        length: u64,
        payload: &[u8],
    ) {
        if !self.lost {
            self.indexer.chunk(kind, offset, length, payload);
        }
    }

    /// Bytes to write at `offset`, between two batches: the index of a complete group, or nothing.
    pub(in crate::file) fn between(
        &mut self,
        offset: u64,
        packer: &mut Packer,
    ) -> io::Result<Vec<u8>> {
        match self.indexer.is_due(self.rows) && !self.lost {
            true => self.group(offset, packer),
            false => Ok(Vec::new()),
        }
    }

    /// Bytes to write at `offset`, before the end of the recording. A short file needs no index.
    pub(in crate::file) fn last(
        &mut self,
        offset: u64,
        packer: &mut Packer,
    ) -> io::Result<Vec<u8>> {
        if self.lost || (self.indexes.is_empty() && self.indexer.rows() < self.least) {
            return Ok(Vec::new());
        }
        let mut out = self.group(offset, packer)?;
        let mut root = Vec::new();
        for index in &self.indexes {
            root.extend_from_slice(&index.to_le_bytes());
        }
        // The payload ends with its length, so that it is found from its end.
        let length = root.len() as u32 + 4;
        root.extend_from_slice(&length.to_le_bytes());
        if root.len() <= chunk::MAX_PAYLOAD {
            chunk::append(&mut out, chunk::ROOT, &root);
        }
        Ok(out)
    }

    fn group(&mut self, offset: u64, packer: &mut Packer) -> io::Result<Vec<u8>> {
        let (mut group, fine) = self.indexer.take(offset);
        self.timed = self.timed.saturating_add(group.totals.timed);
        self.uncertain |= group.totals.uncertain > 0;
        group.waiting = self.indexer.waiting();
        let (block, index) = codec::block(&group, &fine, offset, packer)?;
        self.indexes.extend(index);
        self.indexer.start(offset + block.len() as u64);
        Ok(block)
    }

    /// Tasks with a time; `None` where the number is not certain.
    pub(in crate::file) fn timed(&self) -> Option<u64> {
        let (timed, uncertain) = self.indexer.timed();
        let is_known = !self.lost && !self.uncertain && uncertain == 0;
        is_known.then(|| self.timed.saturating_add(timed))
    }

    /// The output failed: there will be no more index.
    pub(in crate::file) fn give_up(&mut self) {
        self.lost = true;
    }
}

/// A file with fewer rows is read whole in no time.
const SHORT: u64 = 1 << 17;
