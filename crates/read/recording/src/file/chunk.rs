//! Chunks: the frames of everything in a file after its header.

use std::fmt;
use std::io;

use zstd::stream::raw::{Encoder, InBuffer, Operation, OutBuffer};

use ascend_trace_format::version::FILE_MAGIC;

/// Bytes of the file header: magic, version, reserved.
pub(super) const FILE_HEADER: usize = 16;
/// First bytes of every chunk, by which a reader finds its way back after damage.
pub(super) const MARK: [u8; 4] = [0xa7, b'C', b'H', b'K'];
/// Bytes of a chunk's header: mark, kind, length, checksums of payload and header.
pub(super) const CHUNK_HEADER: usize = 20;
/// No payload is longer than this, neither packed nor unpacked.
pub(super) const MAX_PAYLOAD: usize = 1 << 24;

/// No table has more rows than this. A writer ends a table when it has half as many.
pub(super) const MAX_ROWS: u32 = 1 << 17;

/// Kind of a chunk's content; readers skip kinds they do not know.
pub(crate) type ChunkKind = [u8; 4];

/// The kinds of chunks that hold no tables; those of tables are declared with their rows.
pub(crate) const SESSION: ChunkKind = *b"SESS";
pub(crate) const TABLES: ChunkKind = *b"TABL";
/// Calls that have been under way for long: a table of calls.
pub(crate) const OPEN: ChunkKind = *b"OPEN";
/// A group's lanes, summed up finely.
pub(crate) const SUMMARY: ChunkKind = *b"SUMM";
/// Rows before it are of the time before the file: the file before has them as well.
pub(crate) const PART: ChunkKind = *b"PART";
/// Places and sums of a group of chunks.
pub(crate) const INDEX: ChunkKind = *b"INDX";
/// Where the indexes of the whole file are.
pub(crate) const ROOT: ChunkKind = *b"ROOT";

/// A chunk's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkHeader {
    pub(super) kind: ChunkKind,
    pub(super) length: usize,
    pub(super) checksum: u32,
}

impl ChunkHeader {
    /// Reads a header at the start of `bytes`; `None` without a valid one.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.first_chunk::<CHUNK_HEADER>()?;
        let (covered, own) = header.split_at(CHUNK_HEADER - 4);
        if !covered.starts_with(&MARK) || word(own, 0)? != crc32fast::hash(covered) {
            return None;
        }
        let length = word(covered, 8)? as usize;
        (length <= MAX_PAYLOAD).then_some(Self {
            kind: *covered.get(4..)?.first_chunk()?,
            length,
            checksum: word(covered, 12)?,
        })
    }
}

/// Appends a chunk to `out`.
pub(super) fn append(out: &mut Vec<u8>, kind: ChunkKind, payload: &[u8]) {
    let start = out.len();
    out.extend_from_slice(&MARK);
    out.extend_from_slice(&kind);
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    let own = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&own.to_le_bytes());
    out.extend_from_slice(payload);
}

/// The file header of this version.
pub(super) fn file_header(version: u32) -> [u8; FILE_HEADER] {
    let mut header = [0; FILE_HEADER];
    header[..8].copy_from_slice(&FILE_MAGIC);
    header[8..12].copy_from_slice(&version.to_le_bytes());
    header
}

/// The little-endian word at `offset`.
pub(super) fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes
        .get(offset..)?
        .first_chunk()
        .map(|bytes| u32::from_le_bytes(*bytes))
}

/// Set in the length when a payload is packed with Zstandard instead of LZ4.
const ZSTANDARD: u32 = 1 << 28;
/// Unpacking does not make a payload longer than this times its packed size: LZ4 cannot, and the writer
/// does not use Zstandard where it would.
const MOST_EXPANSION: usize = 255;
/// As fast as the lowest level on tables of small numbers, and packs them better.
const LEVEL: i32 = 3;
/// Size below which a frame's fixed bytes may exceed its saving.
const SMALL: usize = 4096;

/// Packs payloads. It keeps the state of the compressor between them.
pub(super) struct Packer {
    compressor: Encoder<'static>,
    packed: Vec<u8>,
}

impl Packer {
    pub(super) fn new() -> io::Result<Self> {
        Self::with_level(LEVEL)
    }

    /// One that packs better and takes longer, or the other way round.
    pub(super) fn with_level(level: i32) -> io::Result<Self> {
        Ok(Self {
            compressor: Encoder::new(level)?,
            packed: Vec::new(),
        })
    }

    /// A payload behind the word that unpacking needs.
    pub(super) fn pack(&mut self, payload: &[u8]) -> io::Result<&[u8]> {
        self.pack_parts(payload, &[])
    }

    /// As [`Packer::pack`]. `cuts` are lengths after which the payload looks different: each part
    /// between them is packed with separate statistics.
    pub(super) fn pack_parts(&mut self, payload: &[u8], cuts: &[usize]) -> io::Result<&[u8]> {
        self.compress(payload, cuts)?;
        let expands = payload.len() > (self.packed.len() - 4) * MOST_EXPANSION;
        if payload.len() <= SMALL || expands {
            let block = lz4_flex::compress_prepend_size(payload);
            if block.len() < self.packed.len() || expands {
                self.packed = block;
            }
        }
        Ok(&self.packed)
    }

    fn compress(&mut self, payload: &[u8], cuts: &[usize]) -> io::Result<()> {
        // Each part needs a separate block, and one that does not pack is stored.
        let most = zstd::zstd_safe::compress_bound(payload.len()) + 16 * (cuts.len() + 1);
        self.packed.clear();
        self.packed.resize(4 + most, 0);
        let head = payload.len() as u32 | ZSTANDARD;
        self.packed[..4].copy_from_slice(&head.to_le_bytes());
        let mut out = OutBuffer::around_pos(self.packed.as_mut_slice(), 4);
        self.compressor.reinit()?;
        let mut begin = 0;
        for &end in cuts.iter().chain([&payload.len()]) {
            let part = payload.get(begin..end).ok_or(io::ErrorKind::InvalidInput)?;
            let mut input = InBuffer::around(part);
            while input.pos() < part.len() {
                self.compressor.run(&mut input, &mut out)?;
            }
            self.compressor.flush(&mut out)?;
            begin = end;
        }
        if self.compressor.finish(&mut out, true)? != 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let used = out.pos();
        self.packed.truncate(used);
        Ok(())
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

/// Undoes [`Packer::pack`]; `None` when the bytes are not sound.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let word = word(packed, 0)?;
    let length = (word & !ZSTANDARD) as usize;
    let block = packed.get(4..)?;
    // A lie about the length costs no memory out of proportion.
    if length > MAX_PAYLOAD || length > block.len().saturating_mul(MOST_EXPANSION) {
        return None;
    }
    let plain = if word & ZSTANDARD != 0 {
        zstd::bulk::decompress(block, length).ok()?
    } else {
        lz4_flex::decompress(block, length).ok()?
    };
    (plain.len() == length).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn comes_back(payload: &[u8]) -> usize {
        let mut packer = Packer::new().unwrap();
        let packed = packer.pack(payload).unwrap();
        assert_eq!(unpack(packed).as_deref(), Some(payload));
        packed.len()
    }

    #[test]
    fn payloads_of_every_kind_come_back() {
        comes_back(b"");
        comes_back(b"short");
        let mut state = 1u64;
        let noise = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        });
        let noise: Vec<u8> = noise.take(100_000).collect();
        assert!(comes_back(&noise) > 90_000);
        assert!(comes_back(&noise[..3000]) <= 3050);
        assert!(comes_back(&vec![7; MAX_PAYLOAD]) < 100_000);
    }

    #[test]
    fn parts_are_packed_with_separate_statistics() {
        let mut state = 1u64;
        let mut below = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) % limit) as u8
        };
        let fine: Vec<u8> = (0..20_000).map(|_| 128 + below(64)).collect();
        let coarse: Vec<u8> = (0..20_000).map(|_| below(4)).collect();
        let both = [fine, coarse].concat();
        let mut packer = Packer::new().unwrap();
        let whole = packer.pack(&both).unwrap().len();
        let packed = packer.pack_parts(&both, &[20_000]).unwrap();
        assert_eq!(unpack(packed).unwrap(), both);
        assert!(packed.len() < whole, "{} {whole}", packed.len());
    }

    #[test]
    fn a_frame_that_unpacks_to_another_length_is_refused() {
        let frame = zstd::bulk::compress(&[1; 100], 1).unwrap();
        let mut packed = (99 | ZSTANDARD).to_le_bytes().to_vec();
        packed.extend(&frame);
        assert_eq!(unpack(&packed), None);
        packed[0] = 101;
        assert_eq!(unpack(&packed), None);
        packed[0] = 100;
        assert_eq!(unpack(&packed), Some(vec![1; 100]));
    }
}
