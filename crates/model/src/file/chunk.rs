//! Chunks: the frames that everything in a file after its header lies in.

use ascend_trace_format::version::FILE_MAGIC;

/// Bytes of the file header: magic, version, reserved.
pub(super) const FILE_HEADER: usize = 16;
/// First bytes of every chunk, by which a reader finds its way back after damage.
pub(super) const MARK: [u8; 4] = [0xa7, b'C', b'H', b'K'];
/// Bytes of a chunk's header: mark, kind, length, checksums of payload and header.
pub(super) const CHUNK_HEADER: usize = 20;
/// No payload is longer than this, neither packed nor unpacked.
pub(super) const MAX_PAYLOAD: usize = 1 << 24;

/// Says what a chunk holds; readers skip kinds they do not know.
pub(super) type Kind = [u8; 4];

pub(super) const SESSION: Kind = *b"SESS";
pub(super) const TABLES: Kind = *b"TABL";
pub(super) const PROCESS: Kind = *b"PROC";
pub(super) const THREAD: Kind = *b"THRD";
pub(super) const CONTEXT: Kind = *b"CTXT";
pub(super) const STREAM: Kind = *b"STRM";
pub(super) const EVENT: Kind = *b"EVNT";
pub(super) const CALL: Kind = *b"CALL";
pub(super) const TASK_TIME: Kind = *b"TIME";
pub(super) const ANCHOR: Kind = *b"ANCH";
pub(super) const LOSS: Kind = *b"LOSS";
pub(super) const COUNTER: Kind = *b"CNTR";
pub(super) const END: Kind = *b"END ";

/// A chunk's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) length: usize,
    pub(super) checksum: u32,
}

impl Header {
    /// Reads a header at the start of `bytes`; `None` unless a sound one is there.
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
pub(super) fn append(out: &mut Vec<u8>, kind: Kind, payload: &[u8]) {
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

/// Packs with LZ4, behind the length that unpacking needs.
pub(super) fn pack(payload: &[u8]) -> Vec<u8> {
    lz4_flex::compress_prepend_size(payload)
}

/// Undoes [`pack`]; `None` when the bytes are not sound.
pub(super) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let length = word(packed, 0)? as usize;
    let block = packed.get(4..)?;
    // LZ4 cannot expand more than this, so a lie about the length costs no memory.
    if length > MAX_PAYLOAD || length > block.len().saturating_mul(255) {
        return None;
    }
    let plain = lz4_flex::decompress(block, length).ok()?;
    (plain.len() == length).then_some(plain)
}
