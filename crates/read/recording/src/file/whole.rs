//! Reads whole files, from begin to end.

use std::io::{self, Read};

use crate::rows::{CallRow, Row, SessionRow, TablesRow};

use super::budget::Budget;
use super::decode::{Decoder, FileItem, ItemSink};
use super::error::{OpenError, Warning};

const READ_BYTES: usize = 1 << 18;

/// Everything a trace file holds, as it is stored.
#[derive(Clone, Debug, Default)]
pub struct FileContents {
    pub session: SessionRow,
    pub tables: TablesRow,
    pub rows: Vec<Row>,
    /// Calls that were under way when a file without an end was written last.
    pub open: Vec<CallRow>,
}

/// Reads a whole file into rows. Damaged parts are left out and reported.
pub fn read(input: impl Read) -> Result<(FileContents, Vec<Warning>), OpenError> {
    let mut contents = FileContents::default();
    let warnings = read_items(input, Budget::whole(), &mut |item| match item {
        FileItem::Session(session) => contents.session = *session,
        FileItem::Tables(tables) => contents.tables.extend(tables),
        FileItem::Row(row) => contents.rows.push(row),
        FileItem::Open(open) => contents.open = open,
    })?;
    if let Some(Row::End(_)) = contents.rows.last() {
        contents.open.clear();
    }
    Ok((contents, warnings))
}

/// Reads a whole file and passes on its content.
pub(super) fn read_items(
    mut input: impl Read,
    budget: Budget,
    sink: &mut impl ItemSink,
) -> Result<Vec<Warning>, OpenError> {
    let mut decoder = Decoder::new(budget);
    let mut room = Vec::new();
    // A short file arrives whole with the first read.
    let mut size = 1 << 13;
    while pump(&mut input, &mut decoder, (&mut room, size), sink)? > 0 {
        size = READ_BYTES;
    }
    decoder.finish()
}

/// Reads up to `size` bytes into the decoder and returns their number, 0 at the end.
pub(super) fn pump(
    input: &mut impl Read,
    decoder: &mut Decoder,
    (room, size): (&mut Vec<u8>, usize),
    sink: &mut impl ItemSink,
) -> Result<usize, OpenError> {
    if room.len() < size {
        room.resize(size, 0);
    }
    let count = loop {
        match input.read(&mut room[..size]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result?,
        }
    };
    decoder.feed(&room[..count], sink)?;
    Ok(count)
}
