//! From chunks to rows.

use crate::TimeRange;
use crate::rows::{CallRow, EndRow, Ending, RangeRow, Row, SessionRow, TablesRow};

use super::budget::Budget;
use super::chunk::{self, ChunkKind};
use super::column::Cursors;
use super::error::{LostContent, OpenError, Warning};
use super::scan::{ScannedPiece, Scanner, kind_name};
use super::table::{Table, cursors};

/// Content of a file, in the order of the file.
#[derive(Debug)]
pub(crate) enum FileItem {
    Session(Box<SessionRow>),
    Tables(TablesRow),
    Row(Row),
    /// The running calls, which replace those of earlier ones.
    Open(Vec<CallRow>),
}

/// Receiver of a file's content.
pub(crate) trait ItemSink {
    fn take(&mut self, item: FileItem);

    /// Most rows are calls, so that they need not be moved: a receiver leaves the room for their
    /// arguments.
    fn call(&mut self, row: &mut CallRow) {
        self.take(FileItem::Row(Row::Call(std::mem::take(row))));
    }
}

impl<F: FnMut(FileItem)> ItemSink for F {
    fn take(&mut self, item: FileItem) {
        self(item);
    }
}

/// Reads a file that comes in pieces of any size.
#[derive(Debug)]
pub(super) struct Decoder {
    scanner: Scanner,
    budget: Budget,
    warnings: Vec<Warning>,
    has_session: bool,
    has_tables: bool,
    ended: bool,
}

impl Decoder {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            scanner: Scanner::default(),
            budget,
            warnings: Vec::new(),
            has_session: false,
            has_tables: false,
            ended: false,
        }
    }

    /// Adds the next bytes of the file and passes on the chunks that they complete.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut impl ItemSink) -> Result<(), OpenError> {
        self.scanner.feed(bytes);
        self.budget.earn(bytes.len() as u64);
        while let Some(piece) = self.scanner.next()? {
            match piece {
                ScannedPiece::Damage(warning) => self.warnings.push(warning),
                ScannedPiece::Chunk {
                    offset,
                    kind,
                    payload,
                } => {
                    self.has_session |= kind == chunk::SESSION;
                    self.has_tables |= kind == chunk::TABLES;
                    self.ended |= kind == EndRow::KIND;
                    if let Err(stop) = decode(kind, payload, &mut self.budget, sink) {
                        self.warnings.push(stop.at(offset, kind));
                    }
                }
            }
        }
        Ok(())
    }

    /// Bytes taken in, without those of an incomplete chunk.
    pub(super) fn offset(&self) -> u64 {
        self.scanner.offset()
    }

    /// All warnings, when no more bytes will come.
    pub(super) fn finish(&self) -> Result<Vec<Warning>, OpenError> {
        let tail = self.scanner.tail();
        if !self.scanner.header_seen() {
            return Err(match tail {
                Some(Warning {
                    lost: LostContent::Tail(bytes),
                    ..
                }) => OpenError::Short(bytes),
                _ => OpenError::Empty,
            });
        }
        let offset = self.offset();
        let missing = [
            (self.has_session, LostContent::Session),
            (self.has_tables, LostContent::Tables),
            (self.ended, LostContent::End),
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

/// Why the rest of a chunk was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkStop {
    /// It makes no sense after this number of rows.
    Senseless(u64),
    /// It would take memory out of proportion after this number of rows.
    Excessive(u64),
}

impl ChunkStop {
    /// What to say of a chunk of this kind that begins at `offset`.
    pub(super) fn at(self, offset: u64, kind: ChunkKind) -> Warning {
        let kind = kind_name(kind);
        let lost = match self {
            Self::Senseless(read) => LostContent::Rows { kind, read },
            Self::Excessive(read) => LostContent::Excess { kind, read },
        };
        Warning { offset, lost }
    }
}

/// Passes on the content of a chunk, as far as the budget allows; chunks of unknown kinds have no
/// content for this reader.
pub(super) fn decode(
    kind: ChunkKind,
    payload: &[u8],
    budget: &mut Budget,
    sink: &mut impl ItemSink,
) -> Result<(), ChunkStop> {
    match kind {
        chunk::SESSION => {
            sink.take(FileItem::Session(Box::new(json(payload, budget)?)));
            Ok(())
        }
        chunk::TABLES => {
            let plain = chunk::unpack(payload).ok_or(ChunkStop::Senseless(0))?;
            sink.take(FileItem::Tables(json(&plain, budget)?));
            Ok(())
        }
        chunk::OPEN => {
            sink.take(FileItem::Open(open_calls(payload, budget)?));
            Ok(())
        }
        CallRow::KIND => calls(payload, budget, sink),
        _ => crate::rows::read(kind, payload, budget, sink),
    }
}

/// Running calls, which have no task and no result, regardless of the file.
fn open_calls(payload: &[u8], budget: &mut Budget) -> Result<Vec<CallRow>, ChunkStop> {
    let mut open = Vec::new();
    calls(payload, budget, &mut |item| {
        if let FileItem::Row(Row::Call(row)) = item {
            open.push(CallRow {
                ret: 0,
                task: None,
                ending: Ending::Open,
                ..row
            });
        }
    })?;
    Ok(open)
}

fn json<'p, T: serde::Deserialize<'p>>(
    plain: &'p [u8],
    budget: &mut Budget,
) -> Result<T, ChunkStop> {
    let memory = super::json::memory(plain).ok_or(ChunkStop::Senseless(0))?;
    if !budget.spend(memory) {
        return Err(ChunkStop::Excessive(0));
    }
    serde_json::from_slice(plain).map_err(|_| ChunkStop::Senseless(0))
}

/// Passes on the begin and end of each range in a chunk of them, as [`decode`] would pass on the
/// ranges: many times as fast.
pub(super) fn range_reaches(
    payload: &[u8],
    sink: &mut impl FnMut(TimeRange),
) -> Result<(), ChunkStop> {
    let plain = chunk::unpack(payload).ok_or(ChunkStop::Senseless(0))?;
    let mut cursors = table::<RangeRow>(&plain)?;
    for read in 0..cursors.rows() {
        sink(RangeRow::take_reach(&mut cursors).ok_or(ChunkStop::Senseless(read.into()))?);
    }
    Ok(())
}

fn table<T: Table>(plain: &[u8]) -> Result<Cursors<'_>, ChunkStop> {
    let cursors = cursors::<T>(plain).ok_or(ChunkStop::Senseless(0))?;
    match cursors.rows() > chunk::MAX_ROWS {
        true => Err(ChunkStop::Excessive(0)),
        false => Ok(cursors),
    }
}

/// Hands out the rows of a table, as far as the budget allows.
pub(crate) fn rows<T: Table>(
    payload: &[u8],
    budget: &mut Budget,
    sink: &mut impl ItemSink,
) -> Result<(), ChunkStop> {
    let plain = chunk::unpack(payload).ok_or(ChunkStop::Senseless(0))?;
    let mut cursors = table::<T>(&plain)?;
    let mut memory = T::Memory::default();
    for read in 0..cursors.rows() {
        let row = T::take(&mut cursors, &mut memory).ok_or(ChunkStop::Senseless(read.into()))?;
        if !budget.spend(T::MEMORY + cursors.noted()) {
            return Err(ChunkStop::Excessive(read.into()));
        }
        sink.take(FileItem::Row(row.into()));
    }
    Ok(())
}

/// As [`rows`], of calls: each is read into the place of the one before.
fn calls(payload: &[u8], budget: &mut Budget, sink: &mut impl ItemSink) -> Result<(), ChunkStop> {
    let plain = chunk::unpack(payload).ok_or(ChunkStop::Senseless(0))?;
    let mut cursors = table::<CallRow>(&plain)?;
    let mut memory = <CallRow as Table>::Memory::default();
    let mut row = CallRow::default();
    for read in 0..cursors.rows() {
        row.refill(&mut cursors, &mut memory)
            .ok_or(ChunkStop::Senseless(read.into()))?;
        if !budget.spend(CallRow::MEMORY + cursors.noted()) {
            return Err(ChunkStop::Excessive(read.into()));
        }
        sink.call(&mut row);
    }
    Ok(())
}
