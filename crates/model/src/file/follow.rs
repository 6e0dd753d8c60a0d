//! Opens trace files, also while they grow.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::load::TraceBuilder;
use crate::rows::{CallRow, Row, SessionRow, TablesRow};
use crate::trace::Trace;

use super::budget::Budget;
use super::chunk::FILE_HEADER;
use super::decode::{Decoder, Item};
use super::error::{Lost, OpenError, Warning};

const READ_BYTES: usize = 1 << 18;
/// The same where only so many rows are wanted: a row may take less than a byte.
const STEP_BYTES: usize = 1 << 14;

/// Everything a trace file holds, as it is stored.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    pub session: SessionRow,
    pub tables: TablesRow,
    pub rows: Vec<Row>,
    /// Calls that were under way when a file without an end was written last.
    pub open: Vec<CallRow>,
}

/// Reads a whole file into rows. What is damaged is left out and told of.
pub fn read(input: impl Read) -> Result<(Contents, Vec<Warning>), OpenError> {
    let mut contents = Contents::default();
    let warnings = read_items(input, Budget::whole(), &mut |item| match item {
        Item::Session(session) => contents.session = session,
        Item::Tables(tables) => contents.tables.extend(tables),
        Item::Row(row) => contents.rows.push(row),
        Item::Open(open) => contents.open = open,
    })?;
    if let Some(Row::End(_)) = contents.rows.last() {
        contents.open.clear();
    }
    Ok((contents, warnings))
}

/// Reads a whole file and hands out what it holds.
pub(super) fn read_items(
    mut input: impl Read,
    budget: Budget,
    sink: &mut impl FnMut(Item),
) -> Result<Vec<Warning>, OpenError> {
    let mut decoder = Decoder::new(budget);
    let mut room = Vec::new();
    // What is short comes whole with the first look.
    let mut size = 1 << 13;
    while pump(&mut input, &mut decoder, (&mut room, size), sink)? > 0 {
        size = READ_BYTES;
    }
    decoder.finish()
}

/// Reads up to `size` bytes into the decoder and returns their number, 0 at the end.
fn pump(
    input: &mut impl Read,
    decoder: &mut Decoder,
    (room, size): (&mut Vec<u8>, usize),
    sink: &mut impl FnMut(Item),
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

/// What one [`Follower::poll`] brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows that were new.
    pub rows: u64,
    /// The recording has ended and all of it has been read.
    pub complete: bool,
    /// The file has more, which [`Follower::poll_within`] has left for the next time.
    pub more: bool,
}

/// Reads a trace file that is still being written, as far as it has got.
#[derive(Debug)]
pub struct Follower {
    file: File,
    room: Vec<u8>,
    read: u64,
    decoder: Decoder,
    builder: TraceBuilder,
    /// The calls that are under way, when that is new.
    open: Option<Vec<CallRow>>,
}

impl Follower {
    /// Opens a file and checks that it is a trace, as far as that can be told yet: a recorder may
    /// not have written its first bytes. Nothing else is read before the first
    /// [`Follower::poll`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let mut follower = Self {
            file: File::open(path)?,
            room: Vec::new(),
            read: 0,
            decoder: Decoder::new(Budget::followed()),
            builder: TraceBuilder::default(),
            open: None,
        };
        follower.advance(FILE_HEADER)?;
        Ok(follower)
    }

    /// Reads what has been appended since the last time. A chunk that is not whole yet stays for
    /// the next time.
    pub fn poll(&mut self) -> Result<Progress, OpenError> {
        self.take(READ_BYTES, u64::MAX)
    }

    /// As [`Follower::poll`], but stops soon after so many rows, so that one look does not last as long
    /// as the file grows. A chunk, and what 16 KiB of the file hold, are always read as a whole.
    ///
    /// # Errors
    /// As for [`Follower::poll`].
    pub fn poll_within(&mut self, rows: u64) -> Result<Progress, OpenError> {
        self.take(STEP_BYTES, rows)
    }

    fn take(&mut self, step: usize, most: u64) -> Result<Progress, OpenError> {
        let found = self.file.metadata()?;
        // A pipe has no length.
        if found.is_file() && found.len() < self.read {
            return Err(OpenError::Shrunk);
        }
        let mut rows = 0;
        let more = loop {
            let (bytes, new) = self.advance(step)?;
            rows += new;
            if bytes == 0 || rows >= most {
                break bytes > 0;
            }
        };
        if !self.decoder.warnings().is_empty() {
            self.builder.set_damaged();
        }
        if self.decoder.ended() {
            self.open = Some(Vec::new());
        }
        if let Some(open) = self.open.take() {
            self.builder.set_open(open);
        }
        if rows > 0 {
            self.builder.settle();
        }
        Ok(Progress {
            rows,
            complete: self.decoder.ended(),
            more: more && !self.decoder.ended(),
        })
    }

    /// Bytes of the file that have been read.
    pub fn position(&self) -> u64 {
        self.read
    }

    fn advance(&mut self, limit: usize) -> Result<(usize, u64), OpenError> {
        let (builder, open) = (&mut self.builder, &mut self.open);
        let mut rows = 0;
        let bytes = pump(
            &mut self.file,
            &mut self.decoder,
            (&mut self.room, limit),
            &mut |item| match item {
                Item::Session(session) => builder.set_session(session),
                Item::Tables(tables) => builder.set_tables(tables),
                Item::Row(row) => {
                    rows += 1;
                    builder.apply(row);
                }
                Item::Open(calls) => {
                    rows += 1;
                    *open = Some(calls);
                }
            },
        )?;
        self.read += bytes as u64;
        Ok((bytes, rows))
    }

    /// The trace as of the last [`Follower::poll`].
    pub fn trace(&self) -> &Trace {
        self.builder.trace()
    }

    /// Damage found so far.
    pub fn warnings(&self) -> &[Warning] {
        self.decoder.warnings()
    }

    /// Takes the file as final: what is left of it, if anything, is lost.
    pub fn finish(self) -> Result<(Trace, Vec<Warning>), OpenError> {
        let warnings = self.decoder.finish()?;
        let mut builder = self.builder;
        if warnings.iter().any(Warning::is_damage) {
            builder.set_damaged();
        }
        builder.close_open();
        Ok((builder.finish(), warnings))
    }
}

impl Trace {
    /// As [`Trace::open`], for a file in which so many calls and times of tasks were counted: what it
    /// takes in memory is in proportion to them and to the file. `None` when there is more to it.
    pub fn open_counted(
        path: impl AsRef<Path>,
        rows: u64,
    ) -> Result<Option<(Self, Vec<Warning>)>, OpenError> {
        let mut follower = Follower::open(path)?;
        let bytes = follower.file.metadata()?.len();
        follower
            .decoder
            .set_budget(Budget::window(bytes, rows).of(0));
        follower.poll()?;
        let is_more = |warning: &Warning| matches!(warning.lost, Lost::Excess { .. });
        if follower.warnings().iter().any(is_more) {
            return Ok(None);
        }
        follower.finish().map(Some)
    }

    /// Reads a trace file. What is damaged or missing is told of in the warnings.
    pub fn open(path: impl AsRef<Path>) -> Result<(Self, Vec<Warning>), OpenError> {
        let mut follower = Follower::open(path)?;
        follower
            .decoder
            .set_budget(Budget::whole().of(FILE_HEADER as u64));
        follower.poll()?;
        follower.finish()
    }
}
