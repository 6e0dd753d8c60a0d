//! Reads parts of a file, at any place.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::TimeRange;
use crate::rows::EndRow;

use super::budget::Budget;
use super::chunk::{self, CHUNK_HEADER, ChunkHeader, ChunkKind, FILE_HEADER};
use super::decode::{self, ChunkStop, ItemSink};
use super::error::{LostContent, OpenError, Warning};
use super::scan::{ScannedPiece, Scanner, kind_name};
use super::table::{self, Table};

const READ_BYTES: u64 = 1 << 18;
/// `END ` is searched in this number of bytes at the end of a file.
const LAST_BYTES: u64 = 256;

/// Where the bytes of a trace are.
pub(crate) trait ByteSource: fmt::Debug + Send {
    fn length(&self) -> io::Result<u64>;
    /// As many bytes as there are from `offset` on, at most as many as there is room for.
    fn read(&self, room: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl ByteSource for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read(&self, room: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read_at(room, offset)
    }
}

impl ByteSource for Vec<u8> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read(&self, room: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|it| self.get(it..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(room.len());
        room[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// Whether a file is a trace; false where its recorder has not written its first bytes yet.
///
/// # Errors
/// When it is something else, or cannot be read.
pub fn recognise(path: impl AsRef<Path>) -> Result<bool, OpenError> {
    match FileParts::new(File::open(path)?) {
        Ok(_) => Ok(true),
        Err(OpenError::Empty | OpenError::Short(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A trace file that is read here and there.
#[derive(Debug)]
pub(crate) struct FileParts {
    store: Box<dyn ByteSource>,
}

/// A chunk with a valid header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundChunk {
    pub(crate) kind: ChunkKind,
    pub(crate) offset: u64,
    /// Header and payload.
    pub(crate) length: u64,
}

impl FoundChunk {
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    pub(crate) fn is(&self, kind: ChunkKind) -> bool {
        self.kind == kind
    }

    /// The warning for a payload that differs from the written one.
    pub(crate) fn damaged(&self) -> Warning {
        Warning {
            offset: self.offset,
            lost: LostContent::Chunk {
                kind: kind_name(self.kind),
                bytes: self.length,
            },
        }
    }

    /// The table that its payload packs; nothing for kinds that are not known.
    pub(crate) fn unpack(&self, payload: &[u8]) -> Option<Vec<u8>> {
        table::is_table(self.kind).then(|| chunk::unpack(payload))?
    }
}

impl FileParts {
    /// Checks that the file begins like a trace.
    pub(crate) fn new(store: impl ByteSource + 'static) -> Result<Self, OpenError> {
        let parts = Self {
            store: Box::new(store),
        };
        let length = parts.length()?;
        let mut scanner = Scanner::default();
        scanner.feed(&parts.bytes(0, length.min(FILE_HEADER as u64))?);
        scanner.next()?;
        match length {
            0 => Err(OpenError::Empty),
            _ if !scanner.header_seen() => Err(OpenError::Short(length)),
            _ => Ok(parts),
        }
    }

    pub(crate) fn length(&self) -> io::Result<u64> {
        self.store.length()
    }

    /// As [`ByteSource::read`].
    pub(super) fn read(&self, room: &mut [u8], offset: u64) -> io::Result<usize> {
        self.store.read(room, offset)
    }

    /// As many of these bytes as there are.
    fn bytes(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        // Beyond the end of any file, which some systems call an error.
        if offset > i64::MAX.unsigned_abs() {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; length as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            let place = offset.saturating_add(filled as u64);
            match self.store.read(&mut bytes[filled..], place) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// The chunk that begins here; `None` without one, or without all of it.
    pub(crate) fn chunk(&self, offset: u64, file_length: u64) -> io::Result<Option<FoundChunk>> {
        let header = self.bytes(offset, CHUNK_HEADER as u64)?;
        Ok(ChunkHeader::read(&header).and_then(|header| {
            let length = (CHUNK_HEADER + header.length) as u64;
            let found = FoundChunk {
                kind: header.kind,
                offset,
                length,
            };
            (found.end() <= file_length).then_some(found)
        }))
    }

    /// Whether the header of a chunk is here, be the chunk whole or not.
    pub(crate) fn has_header(&self, offset: u64) -> io::Result<bool> {
        let header = self.bytes(offset, CHUNK_HEADER as u64)?;
        Ok(header.len() < CHUNK_HEADER || ChunkHeader::read(&header).is_some())
    }

    /// The next sound header from `offset` on, or the place from which on it may still come.
    pub(crate) fn next_header(&self, mut offset: u64, end: u64) -> io::Result<(u64, bool)> {
        loop {
            let bytes = self.bytes(offset, READ_BYTES.min(end.saturating_sub(offset)))?;
            let marks = bytes.iter().enumerate();
            let mut marks = marks.filter(|(_, byte)| **byte == chunk::MARK[0]);
            if let Some((place, _)) =
                marks.find(|(at, _)| ChunkHeader::read(&bytes[*at..]).is_some())
            {
                return Ok((offset + place as u64, true));
            }
            let passed = bytes.len().saturating_sub(CHUNK_HEADER - 1) as u64;
            if passed == 0 || offset + bytes.len() as u64 >= end {
                return Ok((offset + passed, false));
            }
            offset += passed;
        }
    }

    /// The payload of a chunk, packed or not; `None` when it differs from the written one.
    pub(crate) fn payload(&self, found: &FoundChunk) -> io::Result<Option<Vec<u8>>> {
        if found.length > (CHUNK_HEADER + chunk::MAX_PAYLOAD) as u64 {
            return Ok(None);
        }
        let bytes = self.bytes(found.offset, found.length)?;
        let payload = ChunkHeader::read(&bytes).and_then(|header| {
            let payload = bytes.get(CHUNK_HEADER..CHUNK_HEADER + header.length)?;
            let sound = header.kind == found.kind && crc32fast::hash(payload) == header.checksum;
            sound.then(|| payload.to_vec())
        });
        Ok(payload)
    }

    /// As [`FileParts::payload`], unpacked.
    pub(crate) fn unpacked(&self, found: &FoundChunk) -> io::Result<Option<Vec<u8>>> {
        Ok(self.payload(found)?.and_then(|it| chunk::unpack(&it)))
    }

    /// The unpacked payload of a chunk of this kind that begins here.
    pub(crate) fn chunk_of(
        &self,
        kind: ChunkKind,
        offset: u64,
    ) -> io::Result<Option<(FoundChunk, Vec<u8>)>> {
        let found = self.chunk(offset, u64::MAX)?.filter(|found| found.is(kind));
        let Some(found) = found else {
            return Ok(None);
        };
        Ok(self.unpacked(&found)?.map(|payload| (found, payload)))
    }

    /// Passes on the content of a chunk; a warning names the unreadable part.
    pub(crate) fn items(
        &self,
        found: &FoundChunk,
        budget: &mut Budget,
        sink: &mut impl ItemSink,
    ) -> io::Result<Option<Warning>> {
        self.look_into(found, |payload| {
            decode::decode(found.kind, payload, budget, sink)
        })
    }

    /// Passes on the begin and end of the ranges in a chunk of them; else as [`FileParts::items`].
    pub(crate) fn range_reaches(
        &self,
        found: &FoundChunk,
        sink: &mut impl FnMut(TimeRange),
    ) -> io::Result<Option<Warning>> {
        self.look_into(found, |payload| decode::range_reaches(payload, sink))
    }

    fn look_into(
        &self,
        found: &FoundChunk,
        look: impl FnOnce(&[u8]) -> Result<(), ChunkStop>,
    ) -> io::Result<Option<Warning>> {
        let Some(payload) = self.payload(found)? else {
            return Ok(Some(found.damaged()));
        };
        let stop = look(&payload).err();
        Ok(stop.map(|stop| stop.at(found.offset, found.kind)))
    }

    /// Passes on the valid chunks of wanted kinds in a part of the file.
    pub(crate) fn range(
        &self,
        (begin, end): (u64, u64),
        wanted: impl Fn(ChunkKind) -> bool,
        budget: &mut Budget,
        sink: &mut impl ItemSink,
    ) -> io::Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        let mut scanner = Scanner::within(begin);
        let mut offset = begin;
        while offset < end {
            let bytes = self.bytes(offset, READ_BYTES.min(end - offset))?;
            if bytes.is_empty() {
                break;
            }
            offset += bytes.len() as u64;
            scanner.feed(&bytes);
            // The header of the file is behind us, so this cannot fail.
            while let Ok(Some(piece)) = scanner.next() {
                match piece {
                    ScannedPiece::Damage(warning) => warnings.push(warning),
                    ScannedPiece::Chunk {
                        offset,
                        kind,
                        payload,
                    } if wanted(kind) => {
                        if let Err(stop) = decode::decode(kind, payload, budget, sink) {
                            warnings.push(stop.at(offset, kind));
                        }
                    }
                    ScannedPiece::Chunk { .. } => {}
                }
            }
        }
        Ok(warnings)
    }

    /// The end of the recording and the indexes that the file lists before it.
    pub(crate) fn root(&self) -> io::Result<Option<(FoundChunk, Vec<u64>)>> {
        let length = self.length()?;
        let begin = length.saturating_sub(LAST_BYTES);
        let last = self.bytes(begin, LAST_BYTES)?;
        for place in 0..last.len().saturating_sub(CHUNK_HEADER) {
            let offset = begin + place as u64;
            let is_end = |header: &ChunkHeader| {
                header.kind == EndRow::KIND && place + CHUNK_HEADER + header.length == last.len()
            };
            let Some(header) = ChunkHeader::read(&last[place..]).filter(is_end) else {
                continue;
            };
            let end = FoundChunk {
                kind: header.kind,
                offset,
                length: (CHUNK_HEADER + header.length) as u64,
            };
            return Ok(self.indexes(offset)?.map(|indexes| (end, indexes)));
        }
        Ok(None)
    }

    /// The list of indexes that ends here.
    fn indexes(&self, end: u64) -> io::Result<Option<Vec<u64>>> {
        let last = self.bytes(end.saturating_sub(4), 4)?;
        let length = chunk::word(&last, 0).unwrap_or(0);
        let whole = u64::from(length) + CHUNK_HEADER as u64;
        let Some(offset) = end.checked_sub(whole) else {
            return Ok(None);
        };
        let found = self
            .chunk(offset, end)?
            .filter(|found| found.is(chunk::ROOT));
        let Some(found) = found else {
            return Ok(None);
        };
        Ok(self.payload(&found)?.map(|payload| {
            let words = payload.chunks_exact(8);
            words
                .filter_map(|word| word.first_chunk())
                .map(|word| u64::from_le_bytes(*word))
                .collect()
        }))
    }
}
