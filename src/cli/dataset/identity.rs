//! Which recording a file is, and whether it is the same file as before.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use ascend_trace_format::fnv;
use ascend_trace_recording::rows::SessionRow;

use crate::cli::open_error;
use crate::cli::trace_files::{TraceFiles, place_in_set};

/// Bytes at either end of a file that are compared. A recording only grows at its end.
const ENDS: u64 = 1 << 16;

/// State of a file when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileState {
    pub(super) length: u64,
    /// Of the first and the last 64 KiB, of each file.
    pub(super) digest: String,
    /// The first and the last number of the files of a recording that has several (`--roll`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parts: Option<[u32; 2]>,
}

impl FileState {
    pub(super) fn of(files: &TraceFiles) -> anyhow::Result<Self> {
        let mut length = 0;
        let mut digests = String::new();
        for path in files.as_slice() {
            let file = file_state(path)?;
            length += file.length;
            digests.push_str(&file.digest);
        }
        let is_one = files.as_slice().len() == 1;
        let numbers = files.as_slice().iter().filter_map(|it| place_in_set(it));
        let numbers: Vec<u32> = numbers.map(|it| it.number).collect();
        let parts = numbers.iter().min().zip(numbers.iter().max());
        Ok(Self {
            length,
            digest: match is_one {
                true => digests,
                false => text(fnv::hash(digests.as_bytes())),
            },
            parts: parts.map(|(first, last)| [*first, *last]),
        })
    }

    /// Whether files of the recording are missing here and present in the other one.
    pub(super) fn lacks_files_of(&self, other: &Self) -> bool {
        match (self.parts, other.parts) {
            (Some([first, last]), Some([other_first, other_last])) => {
                first > other_first || last < other_last
            }
            _ => false,
        }
    }
}

/// Length and digest of one file.
struct OneFile {
    length: u64,
    digest: String,
}

fn file_state(path: &Path) -> anyhow::Result<OneFile> {
    let shown = path.display();
    let mut file = File::open(path).map_err(|error| open_error::explained(path, error.into()))?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        bail!("{shown} is not a file: name the files of recordings");
    }
    let length = metadata.len();
    let digest = digest(&mut file, length).with_context(|| format!("cannot read {shown}"))?;
    Ok(OneFile { length, digest })
}

fn digest(file: &mut File, length: u64) -> io::Result<String> {
    let mut hash = fnv::EMPTY;
    for begin in [0, length.saturating_sub(ENDS)] {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(begin))?;
        file.take(ENDS.min(length)).read_to_end(&mut bytes)?;
        hash = fnv::extend(hash, &bytes);
    }
    Ok(text(hash))
}

/// The identifier of a recording: the same for its copies, and while it grows. `content` is for files
/// with a damaged beginning.
pub(super) fn id(session: &SessionRow, content: &FileState) -> String {
    let mut hash = fnv::hash(&session.start_realtime_ns.to_le_bytes());
    hash = fnv::extend(hash, &session.start_ns.to_le_bytes());
    hash = fnv::extend(hash, session.host.as_bytes());
    for word in &session.command {
        hash = fnv::extend(hash, &[0]);
        hash = fnv::extend(hash, word.as_bytes());
    }
    // A merged file is another one than the recordings in it.
    for host in &session.hosts {
        hash = fnv::extend(hash, host.host.as_bytes());
        hash = fnv::extend(hash, &host.offset_ns.to_le_bytes());
        for process in &host.processes {
            hash = fnv::extend(hash, &process.to_le_bytes());
        }
    }
    if *session == SessionRow::default() {
        hash = fnv::extend(hash, content.digest.as_bytes());
    }
    text(hash)
}

fn text(hash: u64) -> String {
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_changes_with_length_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let of = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            FileState::of(&TraceFiles::one(&path)).unwrap()
        };
        let long = vec![7; 200_000];
        let mut other = long.clone();
        *other.last_mut().unwrap() = 8;
        assert_eq!(of(&long), of(&long));
        assert_ne!(of(&long), of(&other));
        assert_ne!(of(&long), of(&long[1..]));
        assert_eq!(of(b"").length, 0);
        assert!(FileState::of(&TraceFiles::one(folder.path())).is_err());
    }

    #[test]
    fn files_of_a_set_are_not_replaced_by_fewer() {
        let of = |parts| FileState {
            length: 1,
            digest: String::new(),
            parts,
        };
        let lacks = |one, other| of(one).lacks_files_of(&of(other));
        assert!(!lacks(Some([1, 3]), Some([1, 3])) && !lacks(Some([1, 4]), Some([1, 3])));
        assert!(lacks(Some([2, 4]), Some([1, 3])) && lacks(Some([1, 2]), Some([1, 3])));
        assert!(!lacks(None, None) && !lacks(None, Some([1, 3])));
    }
}
