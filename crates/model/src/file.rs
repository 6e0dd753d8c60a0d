//! The `.atrace` file: a header, then chunks of rows. `docs/FORMAT.md` describes every byte.
//!
//! A reader trusts nothing: a file may be cut anywhere, be damaged, or be made to do harm. It never
//! panics, and what it allocates is in proportion to what it has read.

mod call;
mod chunk;
mod column;
mod decode;
mod encoder;
mod error;
mod follow;
mod scan;
mod table;
mod times;
mod writer;

pub use encoder::{Batch, Encoder};
pub use error::{Lost, OpenError, Warning};
pub use follow::{Contents, Follower, Progress, read};
pub use writer::{ChunkWriter, Writer};
