//! Which recording a file is, and whether it is the same file as before.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use ascend_trace_recording::rows::SessionRow;

/// Bytes at either end of a file that are compared. A recording only grows at its end.
const ENDS: u64 = 1 << 16;

/// What a file was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) length: u64,
    /// Of the first and the last 64 KiB.
    pub(super) digest: String,
}

impl Content {
    pub(super) fn of(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let mut file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            bail!("{shown} is not a file: a dataset takes recordings from files only");
        }
        let length = metadata.len();
        let digest = digest(&mut file, length).with_context(|| format!("cannot read {shown}"))?;
        Ok(Self { length, digest })
    }
}

fn digest(file: &mut File, length: u64) -> io::Result<String> {
    let mut hash = Hash::default();
    for begin in [0, length.saturating_sub(ENDS)] {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(begin))?;
        file.take(ENDS.min(length)).read_to_end(&mut bytes)?;
        hash.add(&bytes);
    }
    Ok(hash.text())
}

/// The identifier of a recording: the same for its copies, and while it grows. `content` is for files whose
/// beginning is damaged.
pub(super) fn id(session: &SessionRow, content: &Content) -> String {
    let mut hash = Hash::default();
    hash.add(&session.start_realtime_ns.to_le_bytes());
    hash.add(&session.start_ns.to_le_bytes());
    hash.add(session.host.as_bytes());
    for word in &session.command {
        hash.add(&[0]);
        hash.add(word.as_bytes());
    }
    if *session == SessionRow::default() {
        hash.add(content.digest.as_bytes());
    }
    hash.text()
}

/// FNV-1a in 64 bits: the same in every release, which the hashes of the standard library do not promise.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_specification() {
        let mut hash = Hash::default();
        assert_eq!(hash.text(), "cbf29ce484222325");
        hash.add(b"foobar");
        assert_eq!(hash.text(), "85944171f73967e8");
    }

    #[test]
    fn content_changes_with_length_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let of = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Content::of(&path).unwrap()
        };
        let long = vec![7; 200_000];
        let mut other = long.clone();
        *other.last_mut().unwrap() = 8;
        assert_eq!(of(&long), of(&long));
        assert_ne!(of(&long), of(&other));
        assert_ne!(of(&long), of(&long[1..]));
        assert_eq!(of(b"").length, 0);
        assert!(Content::of(folder.path()).is_err());
    }
}
