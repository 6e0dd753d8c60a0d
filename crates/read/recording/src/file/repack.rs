//! Rewrites a file. A recorder writes its rows every few milliseconds, so its chunks may be small; read
//! back and written in large ones, the same rows take less room.

use std::io::{self, Read, Write};

use crate::rows::{Row, SessionRow};

use super::budget::Budget;
use super::chunk::Packer;
use super::decode::FileItem;
use super::error::OpenError;
use super::whole;
use super::writer::Writer;

/// Packs better than a recorder's level, and takes a few times as long.
const LEVEL: i32 = 12;

/// Writes the rows of a file that was ended properly to `output`, and hands that back. `None` when the
/// file is damaged or has no end: then nothing but the file itself will do.
pub fn repack<W: Write>(input: impl Read, output: W) -> Result<Option<W>, OpenError> {
    let mut repacker = Repacker {
        state: RepackState::Begin(output, Box::default()),
        written: Ok(()),
        ended: false,
    };
    let warnings = whole::read_items(input, Budget::unlimited(), &mut |item| repacker.take(item))?;
    repacker.written?;
    match repacker.state {
        RepackState::Rows(writer) if warnings.is_empty() && repacker.ended => {
            Ok(Some(writer.into_inner()))
        }
        _ => Ok(None),
    }
}

enum RepackState<W: Write> {
    /// The leading chunks are not complete yet.
    Begin(W, Box<SessionRow>),
    Rows(Box<Writer<W>>),
    Failed,
}

struct Repacker<W: Write> {
    state: RepackState<W>,
    written: io::Result<()>,
    ended: bool,
}

impl<W: Write> Repacker<W> {
    fn take(&mut self, item: FileItem) {
        if self.written.is_ok() {
            self.written = self.write(item);
        }
    }

    fn write(&mut self, item: FileItem) -> io::Result<()> {
        match (&mut self.state, item) {
            (RepackState::Begin(_, known), FileItem::Session(session)) => **known = *session,
            (RepackState::Begin(..), FileItem::Tables(tables)) => {
                let begin = std::mem::replace(&mut self.state, RepackState::Failed);
                if let RepackState::Begin(output, session) = begin {
                    let writer = Writer::create(output, &session, &tables)?;
                    let writer = writer.with_packer(Packer::with_level(LEVEL)?);
                    self.state = RepackState::Rows(Box::new(writer));
                }
            }
            (RepackState::Rows(writer), FileItem::Tables(tables)) => writer.push_tables(tables),
            (RepackState::Rows(writer), FileItem::Row(row)) => {
                self.ended |= matches!(row, Row::End(_));
                writer.push(&row)?;
            }
            _ => {}
        }
        Ok(())
    }
}
