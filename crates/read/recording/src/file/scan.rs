//! Finds the chunks in a stream of bytes that may be cut or damaged anywhere.

use ascend_trace_format::version::{FILE_MAGIC, FILE_VERSION};

use super::chunk::{self, CHUNK_HEADER, ChunkHeader, ChunkKind, FILE_HEADER};
use super::error::{LostContent, OpenError, Warning};

/// Takes bytes in as they come and gives chunks out.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// Received bytes: those before `used` have been used.
    buffer: Vec<u8>,
    used: usize,
    /// Where in the file the buffer begins.
    base: u64,
    header_seen: bool,
    /// Bytes just before `used` that were passed over in search of the next chunk.
    skipped: u64,
}

/// Result of the scanner's next step.
#[derive(Debug)]
pub(super) enum ScannedPiece<'a> {
    Chunk {
        offset: u64,
        kind: ChunkKind,
        payload: &'a [u8],
    },
    Damage(Warning),
}

impl Scanner {
    /// Takes bytes in from the middle of a file, where a chunk begins.
    pub(super) fn within(base: u64) -> Self {
        Self {
            base,
            header_seen: true,
            ..Self::default()
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.used);
        self.base += self.used as u64;
        self.used = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next chunk or damage; `None` until more bytes come.
    pub(super) fn next(&mut self) -> Result<Option<ScannedPiece<'_>>, OpenError> {
        if !self.header_seen && !self.file_header()? {
            return Ok(None);
        }
        let rest = &self.buffer[self.used..];
        if rest.len() < CHUNK_HEADER {
            return Ok(None);
        }
        let Some(header) = ChunkHeader::read(rest) else {
            return Ok(self.skip_to_header().map(ScannedPiece::Damage));
        };
        if self.skipped > 0 {
            return Ok(Some(ScannedPiece::Damage(self.skipped_bytes())));
        }
        let Some(payload) = rest.get(CHUNK_HEADER..CHUNK_HEADER + header.length) else {
            return Ok(None);
        };
        let sound = crc32fast::hash(payload) == header.checksum;
        let offset = self.offset();
        let begin = self.used + CHUNK_HEADER;
        self.used = begin + header.length;
        if !sound {
            return Ok(Some(ScannedPiece::Damage(Warning {
                offset,
                lost: LostContent::Chunk {
                    kind: kind_name(header.kind),
                    bytes: (CHUNK_HEADER + header.length) as u64,
                },
            })));
        }
        Ok(Some(ScannedPiece::Chunk {
            offset,
            kind: header.kind,
            payload: &self.buffer[begin..self.used],
        }))
    }

    /// Checks the available part of the file's header; false until the header is complete.
    fn file_header(&mut self) -> Result<bool, OpenError> {
        let magic = FILE_MAGIC.iter().zip(&self.buffer);
        if magic.into_iter().any(|(expected, found)| expected != found) {
            return Err(OpenError::NotATrace);
        }
        let Some(found) = chunk::word(&self.buffer, FILE_MAGIC.len()) else {
            return Ok(false);
        };
        match found {
            0 => return Err(OpenError::NotATrace),
            1..=FILE_VERSION => {}
            _ => {
                return Err(OpenError::TooNew {
                    found,
                    known: FILE_VERSION,
                });
            }
        }
        if self.buffer.len() < FILE_HEADER {
            return Ok(false);
        }
        self.used = FILE_HEADER;
        self.header_seen = true;
        Ok(true)
    }

    /// Passes over bytes that begin no chunk.
    fn skip_to_header(&mut self) -> Option<Warning> {
        let rest = &self.buffer[self.used..];
        let candidates = rest
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, byte)| **byte == chunk::MARK[0]);
        let found = candidates
            .map(|(place, _)| place)
            .find(|place| ChunkHeader::read(&rest[*place..]).is_some());
        // Without one, the last bytes may still be the first of a header.
        let passed = found.unwrap_or(rest.len() - (CHUNK_HEADER - 1));
        self.used += passed;
        self.skipped += passed as u64;
        found.map(|_| self.skipped_bytes())
    }

    fn skipped_bytes(&mut self) -> Warning {
        let bytes = std::mem::take(&mut self.skipped);
        Warning {
            offset: self.offset() - bytes,
            lost: LostContent::Bytes(bytes),
        }
    }

    /// Where in the file the next unused byte is.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.used as u64
    }

    /// Whether the file's header has arrived.
    pub(super) fn header_seen(&self) -> bool {
        self.header_seen
    }

    /// The rest when no more bytes will arrive.
    pub(super) fn tail(&self) -> Option<Warning> {
        let left = self.skipped + (self.buffer.len() - self.used) as u64;
        (left > 0).then(|| Warning {
            offset: self.offset() - self.skipped,
            lost: LostContent::Tail(left),
        })
    }
}

/// A chunk kind for people.
pub(super) fn kind_name(kind: ChunkKind) -> String {
    String::from_utf8_lossy(&kind).trim_end().to_owned()
}
