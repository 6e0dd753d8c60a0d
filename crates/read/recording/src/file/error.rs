//! Faults of a trace file.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a file cannot be opened at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the file is empty: nothing was recorded into it. Record the program again")]
    Empty,
    #[error(
        "the file ends after {0} bytes, inside its header: it was cut, or its recorder was killed before it wrote \
         a call. Record the program again"
    )]
    Short(u64),
    #[error(
        "this is not a trace file of ascend-trace: name a file that `ascend-trace record` wrote"
    )]
    NotATrace,
    #[error(
        "the file has format version {found}, this program reads up to {known}: \
         open it with the ascend-trace that recorded it or a newer one"
    )]
    TooNew { found: u32, known: u32 },
    #[error("the file has become shorter while it was read: it was replaced or cut")]
    Shrunk,
    #[error(
        "the file needs more memory than a file of its size may take: it was made to do so, or some of its \
         tasks ended very long after their submission"
    )]
    TooMuch,
    #[error("reading the file was stopped")]
    Stopped,
    #[error(transparent)]
    Parts(#[from] PartsError),
}

/// Why files are not read as one recording.
#[derive(Debug, thiserror::Error)]
pub enum PartsError {
    #[error(
        "{} is no part of a recording: only the files of `record --roll` are read as one", path.display()
    )]
    None { path: PathBuf },
    #[error(
        "{} and {} are of different recordings: name the files of one", one.display(), other.display()
    )]
    Other { one: PathBuf, other: PathBuf },
    #[error("{} and {} are the same part of a recording: name it once", one.display(), other.display())]
    Twice { one: PathBuf, other: PathBuf },
    #[error(
        "there is a gap: part {number} of the recording is missing between {} and {}. Name the parts before the gap, \
         or those after it", before.display(), after.display()
    )]
    Gap {
        number: u32,
        before: PathBuf,
        after: PathBuf,
    },
}

/// Something in a file that could not be read, while the rest could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where in the file.
    pub offset: u64,
    pub lost: LostContent,
}

/// Subject of a [`Warning`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostContent {
    /// This number of bytes differs from the written ones.
    Bytes(u64),
    /// A chunk of this kind, with this number of bytes, fails its checksum.
    Chunk { kind: String, bytes: u64 },
    /// A chunk of this kind has a right checksum but its content makes no sense after this number of
    /// rows.
    Rows { kind: String, read: u64 },
    /// A chunk of this kind was read up to this number of rows: more would take memory out of
    /// proportion to the file.
    Excess { kind: String, read: u64 },
    /// The chunk that says how and where the trace was recorded.
    Session,
    /// The chunk that names the functions.
    Tables,
    /// This number of bytes at the end of the file: the beginning of a chunk.
    Tail(u64),
    /// How the recording ended: its recorder was killed, or the file was cut.
    End,
    /// Nothing yet: a recorder still writes the file.
    Rest,
}

impl Warning {
    /// Whether something cannot be read that a whole file has. A recording that goes on lacks nothing.
    pub fn is_damage(&self) -> bool {
        self.lost != LostContent::Rest
    }

    /// Whether it is about parts that a recorder may still write.
    pub fn is_of_end(&self) -> bool {
        matches!(
            self.lost,
            LostContent::Session
                | LostContent::Tables
                | LostContent::Tail(_)
                | LostContent::End
                | LostContent::Rest
        )
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = self.offset;
        match &self.lost {
            LostContent::Bytes(bytes) => {
                write!(
                    f,
                    "{bytes} bytes at offset {offset} are damaged and were skipped"
                )
            }
            LostContent::Chunk { kind, bytes } => write!(
                f,
                "{bytes} bytes of kind {kind} at offset {offset} are damaged and were skipped"
            ),
            LostContent::Rows { kind, read } => write!(
                f,
                "the chunk of kind {kind} at offset {offset} makes no sense after {read} rows"
            ),
            LostContent::Excess { kind, read } => write!(
                f,
                "the chunk of kind {kind} at offset {offset} holds more than such a file can: it was \
                 left out after {read} rows"
            ),
            LostContent::Session => write!(
                f,
                "how the trace was recorded is missing before offset {offset}"
            ),
            LostContent::Tables => write!(
                f,
                "the names of the functions are missing before offset {offset}"
            ),
            LostContent::Tail(bytes) => write!(
                f,
                "the file breaks off: its last {bytes} bytes, from offset {offset}, were left out"
            ),
            LostContent::End => write!(
                f,
                "the recording has no end after offset {offset}: the file was cut, its recorder was killed, or the disk \
                 was full"
            ),
            LostContent::Rest => {
                f.write_str("the recording goes on: this is the current state of the file")
            }
        }
    }
}
