//! From chunks to rows.

use crate::rows::{
    AnchorRow, CallRow, ContextRow, CostRow, CounterRow, CoverageRow, EndRow, EventRow, LossRow,
    NameRow, ProcessRow, RangeRow, Row, SessionRow, StreamRow, TablesRow, TaskTimeRow, ThreadRow,
};

use super::chunk::{self, Kind};
use super::column::Cursors;
use super::error::{Lost, OpenError, Warning};
use super::scan::{Piece, Scanner, kind_name};
use super::table::Table;

/// What a file holds, in the order of the file.
#[derive(Debug)]
pub(crate) enum Item {
    Session(SessionRow),
    Tables(TablesRow),
    Row(Row),
}

/// Reads a file that comes in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    scanner: Scanner,
    warnings: Vec<Warning>,
    has_session: bool,
    has_tables: bool,
    ended: bool,
}

impl Decoder {
    /// Takes the next bytes of the file and hands out what they complete.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Item),
    ) -> Result<(), OpenError> {
        self.scanner.feed(bytes);
        while let Some(piece) = self.scanner.next()? {
            match piece {
                Piece::Damage(warning) => self.warnings.push(warning),
                Piece::Chunk {
                    offset,
                    kind,
                    payload,
                } => {
                    self.has_session |= kind == chunk::SESSION;
                    self.has_tables |= kind == chunk::TABLES;
                    self.ended |= kind == chunk::END;
                    if let Err(read) = decode(kind, payload, sink) {
                        let kind = kind_name(kind);
                        let lost = Lost::Rows { kind, read };
                        self.warnings.push(Warning { offset, lost });
                    }
                }
            }
        }
        Ok(())
    }

    /// Bytes taken in so far that are not waiting for the rest of their chunk.
    pub(super) fn offset(&self) -> u64 {
        self.scanner.offset()
    }

    /// Whether the recording ended properly.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// What could not be read so far.
    pub(super) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// All warnings, when no more bytes will come.
    pub(super) fn finish(&self) -> Result<Vec<Warning>, OpenError> {
        let tail = self.scanner.tail();
        if !self.scanner.header_seen() {
            return Err(match tail {
                Some(Warning {
                    lost: Lost::Tail(bytes),
                    ..
                }) => OpenError::Short(bytes),
                _ => OpenError::Empty,
            });
        }
        let offset = self.offset();
        let missing = [
            (self.has_session, Lost::Session),
            (self.has_tables, Lost::Tables),
            (self.ended, Lost::End),
        ];
        let missing = missing.into_iter().filter(|(there, _)| !there);
        let missing = missing.map(|(_, lost)| Warning { offset, lost });
        Ok(self
            .warnings
            .iter()
            .cloned()
            .chain(tail)
            .chain(missing)
            .collect())
    }
}

/// Hands out what a chunk holds; chunks of unknown kinds hold nothing for us. `Err` tells how many
/// rows could be read.
pub(super) fn decode(kind: Kind, payload: &[u8], sink: &mut impl FnMut(Item)) -> Result<(), u64> {
    match kind {
        chunk::SESSION => {
            let session = serde_json::from_slice(payload).map_err(|_| 0_u64)?;
            sink(Item::Session(session));
            Ok(())
        }
        chunk::TABLES => {
            let plain = chunk::unpack(payload).ok_or(0_u64)?;
            let tables = serde_json::from_slice(&plain).map_err(|_| 0_u64)?;
            sink(Item::Tables(tables));
            Ok(())
        }
        chunk::PROCESS => rows::<ProcessRow>(payload, sink),
        chunk::THREAD => rows::<ThreadRow>(payload, sink),
        chunk::CONTEXT => rows::<ContextRow>(payload, sink),
        chunk::STREAM => rows::<StreamRow>(payload, sink),
        chunk::EVENT => rows::<EventRow>(payload, sink),
        chunk::CALL => rows::<CallRow>(payload, sink),
        chunk::TASK_TIME => rows::<TaskTimeRow>(payload, sink),
        chunk::ANCHOR => rows::<AnchorRow>(payload, sink),
        chunk::LOSS => rows::<LossRow>(payload, sink),
        chunk::COUNTER => rows::<CounterRow>(payload, sink),
        chunk::NAME => rows::<NameRow>(payload, sink),
        chunk::RANGE => rows::<RangeRow>(payload, sink),
        chunk::COVERAGE => rows::<CoverageRow>(payload, sink),
        chunk::COST => rows::<CostRow>(payload, sink),
        chunk::END => rows::<EndRow>(payload, sink),
        _ => Ok(()),
    }
}

/// Hands out the first and the last moment of each range that a chunk of them holds, as [`decode`] would
/// hand the ranges out: many times as fast.
pub(super) fn range_reaches(payload: &[u8], sink: &mut impl FnMut((i64, i64))) -> Result<(), u64> {
    let plain = chunk::unpack(payload).ok_or(0_u64)?;
    let columns = (RangeRow::COLUMNS, RangeRow::REQUIRED);
    let mut cursors = Cursors::new(&plain, columns.0, columns.1).ok_or(0_u64)?;
    for read in 0..cursors.rows() {
        sink(RangeRow::take_reach(&mut cursors).ok_or(u64::from(read))?);
    }
    Ok(())
}

fn rows<T: Table>(payload: &[u8], sink: &mut impl FnMut(Item)) -> Result<(), u64> {
    let plain = chunk::unpack(payload).ok_or(0_u64)?;
    let mut cursors = Cursors::new(&plain, T::COLUMNS, T::REQUIRED).ok_or(0_u64)?;
    let mut memory = T::Memory::default();
    for read in 0..cursors.rows() {
        let row = T::take(&mut cursors, &mut memory).ok_or(u64::from(read))?;
        sink(Item::Row(row.into_row()));
    }
    Ok(())
}
