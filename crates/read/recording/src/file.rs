//! The `.atrace` file: a header, then chunks of rows. `docs/FORMAT.md` describes every byte.
//!
//! A reader trusts nothing: a file may be cut anywhere, be damaged, or be malicious. It never panics,
//! and it allocates in proportion to the bytes that it has read.

pub(crate) mod budget;
mod call;
pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod declare;
pub(crate) mod decode;
pub(crate) mod encoder;
mod error;
pub(crate) mod index;
mod json;
mod merge;
pub(crate) mod names;
mod part;
mod parts_of_one;
mod repack;
mod scan;
pub(crate) mod table;
mod times;
mod trim;
mod whole;
mod writer;

pub(crate) use self::chunk as kinds;
pub(crate) use budget::Budget;
pub use declare::ColumnText;
pub(crate) use decode::{FileItem, ItemSink};
pub use encoder::{Encoder, RowBatch};
/// The payload of a packed chunk, unpacked; `None` when it is not sound.
pub fn unpack(payload: &[u8]) -> Option<Vec<u8>> {
    chunk::unpack(payload)
}

pub use error::{LostContent, OpenError, PartsError, Warning};
pub use merge::{MergeError, MergeInput, merge};
pub use part::recognise;
pub(crate) use part::{FileParts, FoundChunk};
pub(crate) use parts_of_one::JoinedFiles;
pub use parts_of_one::{PlaceInSet, place_in_set};
pub use repack::repack;
pub(crate) use table::Table;
pub use trim::{Continuation, TrimRange, append, trim};
pub use whole::{FileContents, read};
pub use writer::{ChunkWriter, Writer};
