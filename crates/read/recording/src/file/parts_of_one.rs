//! Files of one recording (`--roll`), read as one file.
//!
//! Each file but the first begins with rows of the time before it, up to the chunk `PART`. The files before have
//! these rows, so they are left out. Ends and indexes of files are left out too: an index has the places of one file only.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::rows::{EndRow, SessionRow};

use super::budget::Budget;
use super::chunk::{self, ChunkKind, FILE_HEADER};
use super::decode::FileItem;
use super::error::{OpenError, PartsError};
use super::part::{ByteSource, FileParts};
use super::table::Table;

/// A file of the set, and its number in the recording.
struct SetFile {
    path: PathBuf,
    number: u32,
    session: SessionRow,
    parts: FileParts,
}

/// Bytes of a file in the joined file.
#[derive(Clone, Copy, Debug)]
struct FileSpan {
    /// Where they are in the joined file.
    begin: u64,
    file: usize,
    offset: u64,
    length: u64,
}

/// Files of one recording as the bytes of one file.
#[derive(Debug)]
pub(crate) struct JoinedFiles {
    files: Vec<FileParts>,
    pieces: Vec<FileSpan>,
}

impl JoinedFiles {
    /// Joins the files, in any order of their names. A file that still grows is read up to its present end.
    ///
    /// # Errors
    /// When a file cannot be read, is no file of a rolled recording, or one between them is missing.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, OpenError> {
        let set = paths.iter().map(|path| set_file(path));
        let mut set = set.collect::<Result<Vec<SetFile>, OpenError>>()?;
        set.sort_by_key(|it| it.number);
        check(&set)?;
        let mut joined = Self {
            files: Vec::new(),
            pieces: Vec::new(),
        };
        let last = set.len().saturating_sub(1);
        for (at, file) in set.into_iter().enumerate() {
            joined.add(&file, at == 0, at == last)?;
            joined.files.push(file.parts);
        }
        Ok(joined)
    }

    /// Adds the content of the next file.
    fn add(&mut self, file: &SetFile, is_first: bool, is_last: bool) -> Result<(), OpenError> {
        let parts = &file.parts;
        let end = parts.length()?;
        let mut place = FILE_HEADER as u64;
        let mut is_repeated = !is_first;
        if is_first {
            self.put(0, place);
        }
        while place < end {
            let Some(found) = parts.chunk(place, end)? else {
                let next = skipped(parts, place, end)?;
                // A torn end may still be written, if it is that of the recording.
                if next > place && !is_repeated && (is_last || next < end) {
                    self.put(place, next - place);
                }
                if next <= place {
                    break;
                }
                place = next;
                continue;
            };
            let is_content = !is_repeated && is_joined(found.kind, is_last);
            if is_content {
                self.put(place, found.length);
            }
            is_repeated &= !found.is(chunk::PART);
            place = found.end();
        }
        match is_repeated {
            true => Err(no_part(&file.path)),
            false => Ok(()),
        }
    }

    /// Bytes of the file that is added next.
    fn put(&mut self, offset: u64, length: u64) {
        let file = self.files.len();
        let begin = self.length_now();
        if let Some(last) = self.pieces.last_mut()
            && last.file == file
            && last.offset + last.length == offset
        {
            last.length += length;
            return;
        }
        self.pieces.push(FileSpan {
            begin,
            file,
            offset,
            length,
        });
    }

    fn length_now(&self) -> u64 {
        self.pieces.last().map_or(0, |it| it.begin + it.length)
    }
}

/// Whether a chunk of a file is one of the joined file.
fn is_joined(kind: ChunkKind, is_last: bool) -> bool {
    let index = [chunk::SUMMARY, chunk::INDEX, chunk::ROOT, chunk::PART];
    !index.contains(&kind) && (is_last || kind != EndRow::KIND)
}

/// The place after bytes that are no chunk.
fn skipped(parts: &FileParts, place: u64, end: u64) -> Result<u64, OpenError> {
    if parts.has_header(place)? {
        // The begin of a chunk.
        return Ok(end);
    }
    let (next, is_sound) = parts.next_header(place + 1, end)?;
    Ok(if is_sound { next } else { end })
}

/// The place of a file in a recording that has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceInSet {
    /// The same for all files of the recording.
    pub session: SessionRow,
    pub number: u32,
}

/// The place of a file of a recording that has several; `None` for another file.
///
/// # Errors
/// When it is no trace file, or cannot be read.
pub fn place_in_set(file: File) -> Result<Option<PlaceInSet>, OpenError> {
    let Some(session) = session(&FileParts::new(file)?)? else {
        return Ok(None);
    };
    Ok(session.part.as_ref().map(|part| PlaceInSet {
        session: common(&session),
        number: part.number,
    }))
}

fn session(parts: &FileParts) -> Result<Option<SessionRow>, OpenError> {
    let found = parts.chunk(FILE_HEADER as u64, parts.length()?)?;
    let found = found.filter(|it| it.is(chunk::SESSION));
    let mut session = None;
    if let Some(found) = found {
        let mut take = |item| {
            if let FileItem::Session(it) = item {
                session = Some(*it);
            }
        };
        parts.items(&found, &mut Budget::unlimited(), &mut take)?;
    }
    Ok(session)
}

fn set_file(path: &Path) -> Result<SetFile, OpenError> {
    let parts = FileParts::new(File::open(path)?)?;
    let session = session(&parts)?.ok_or_else(|| no_part(path))?;
    let number = session.part.as_ref().map(|it| it.number);
    Ok(SetFile {
        path: path.to_owned(),
        number: number.ok_or_else(|| no_part(path))?,
        session,
        parts,
    })
}

fn no_part(path: &Path) -> OpenError {
    OpenError::Parts(PartsError::None {
        path: path.to_owned(),
    })
}

/// Refuses files of several recordings, and sets in which one is missing.
fn check(set: &[SetFile]) -> Result<(), OpenError> {
    for pair in set.windows(2) {
        let [before, after] = pair else { continue };
        let paths = || (before.path.clone(), after.path.clone());
        if common(&before.session) != common(&after.session) {
            let (one, other) = paths();
            return Err(OpenError::Parts(PartsError::Other { one, other }));
        }
        if before.number == after.number {
            let (one, other) = paths();
            return Err(OpenError::Parts(PartsError::Twice { one, other }));
        }
        if before.number.saturating_add(1) != after.number {
            let (before, after) = paths();
            let number = pair[0].number + 1;
            return Err(OpenError::Parts(PartsError::Gap {
                number,
                before,
                after,
            }));
        }
    }
    Ok(())
}

/// The part of a session that all files of a recording have.
fn common(session: &SessionRow) -> SessionRow {
    SessionRow {
        kept: None,
        part: None,
        ..session.clone()
    }
}

impl ByteSource for JoinedFiles {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length_now())
    }

    fn read(&self, room: &mut [u8], offset: u64) -> io::Result<usize> {
        let at = self
            .pieces
            .partition_point(|it| it.begin + it.length <= offset);
        let Some(piece) = self.pieces.get(at) else {
            return Ok(0);
        };
        let inside = offset - piece.begin;
        let left = usize::try_from(piece.length - inside).unwrap_or(usize::MAX);
        let count = left.min(room.len());
        let file = self.files.get(piece.file).ok_or(io::ErrorKind::NotFound)?;
        file.read(&mut room[..count], piece.offset + inside)
    }
}
