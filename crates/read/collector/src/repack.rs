//! Rewrites a finished trace with small chunks: the records of a few milliseconds made a chunk, so that
//! nothing would be lost and a reader could follow.
//!
//! The old file stays until the new one is complete, and readers that have it open keep it.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ascend_trace_recording::file;

/// Longer files are left as they are: the program's user waits for this, some 2 s for such a file.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// With more rows in a batch than this, on average, there is little to be won.
const LARGE: u64 = 8192;

/// Facts about a file that may be worth repacking.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RepackInput {
    pub(super) rows: u64,
    /// Batches that they came in.
    pub(super) batches: u64,
    pub(super) bytes: u64,
}

impl RepackInput {
    fn is_worth_it(&self) -> bool {
        self.bytes <= MOST_BYTES && self.batches > 2 && self.rows / self.batches < LARGE
    }
}

/// Replaces the file, if that makes it shorter, and returns its new length. `own` is the written file;
/// another file that has got its name meanwhile is not touched.
pub(super) fn repack(path: &Path, own: &File, written: RepackInput) -> Option<u64> {
    if !written.is_worth_it() {
        return None;
    }
    let packed = beside(path)?;
    let length = replace(path, &packed, own, written.bytes);
    if !matches!(length, Ok(Some(_))) {
        // The file is complete without it. The unfinished copy may not even exist.
        let _ = fs::remove_file(&packed);
    }
    length.ok().flatten()
}

/// A name in the same folder, where a file can be renamed from.
fn beside(path: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(format!(".{}.packed", std::process::id()));
    Some(path.with_file_name(name))
}

fn replace(path: &Path, packed: &Path, own: &File, bytes: u64) -> io::Result<Option<u64>> {
    let known = own.metadata()?;
    if !is_plain(path, &known)? || known.len() != bytes {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let output = options.mode(known.mode() & 0o777).open(packed)?;
    output.set_permissions(known.permissions())?;
    let made = output.metadata()?;
    if (made.uid(), made.gid()) != (known.uid(), known.gid()) {
        return Ok(None);
    }
    let output = match file::repack(File::open(path)?, output) {
        Ok(Some(output)) => output,
        _ => return Ok(None),
    };
    let length = output.metadata()?.len();
    if length >= bytes {
        return Ok(None);
    }
    // Without this, a power failure could leave neither of the two.
    output.sync_data()?;
    if !is_plain(path, &known)? {
        return Ok(None);
    }
    fs::rename(packed, path)?;
    Ok(Some(length))
}

/// Whether the name is that of the file itself and its only one: no link, and nothing else.
fn is_plain(path: &Path, own: &Metadata) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    let is_own = (found.dev(), found.ino()) == (own.dev(), own.ino());
    Ok(found.is_file() && is_own && found.nlink() == 1)
}

#[cfg(test)]
mod tests {
    use ascend_trace_testkit::whole::opened;
    use std::os::unix::fs::symlink;

    use super::*;
    use ascend_trace_recording::file::Writer;
    use ascend_trace_recording::rows::{CallRow, EndRow, Row, SessionRow, TablesRow};

    const BATCHES: u64 = 50;

    /// A file of small chunks.
    fn write(path: &Path) -> (File, RepackInput) {
        let file = File::create(path).unwrap();
        let (session, tables) = (SessionRow::default(), TablesRow::default());
        let mut writer = Writer::create(&file, &session, &tables).unwrap();
        for batch in 0..BATCHES as i64 {
            let row = CallRow {
                begin_ns: batch * 1000,
                end_ns: batch * 1000 + 1,
                ..CallRow::default()
            };
            writer.push(Row::Call(row)).unwrap();
            writer.flush().unwrap();
        }
        writer.finish(EndRow::default()).unwrap();
        let written = RepackInput {
            rows: BATCHES,
            batches: BATCHES,
            bytes: file.metadata().unwrap().len(),
        };
        (file, written)
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_of_small_chunks_is_replaced_and_who_has_it_open_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let (own, written) = write(&path);
        let mut mode = own.metadata().unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o640);
        own.set_permissions(mode).unwrap();
        let length = repack(&path, &own, written).unwrap();
        assert!(length * 2 < written.bytes, "{length} {}", written.bytes);
        let found = fs::metadata(&path).unwrap();
        assert_eq!((found.len(), found.mode() & 0o777), (length, 0o640));
        assert_eq!(own.metadata().unwrap().len(), written.bytes);
        let (trace, warnings) = opened(&path).unwrap();
        assert_eq!((trace.calls().len() as u64, warnings.len()), (BATCHES, 0));
        assert_eq!(names(folder.path()), ["x.atrace"]);
    }

    #[test]
    fn a_file_that_was_replaced_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let (own, written) = write(&path);
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert_eq!(repack(&link, &own, written), None);
        fs::remove_file(&link).unwrap();
        fs::hard_link(&path, &link).unwrap();
        assert_eq!(repack(&path, &own, written), None);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another").unwrap();
        assert_eq!(repack(&path, &own, written), None);
        assert_eq!(fs::read(&path).unwrap(), b"another");
        assert_eq!(names(folder.path()).len(), 2);
    }

    #[test]
    fn large_chunks_and_long_files_are_left_alone() {
        let small = RepackInput {
            rows: 1000,
            batches: 10,
            bytes: 10_000,
        };
        assert!(small.is_worth_it());
        let rows = 100_000;
        assert!(!RepackInput { rows, ..small }.is_worth_it());
        let bytes = 1 << 30;
        assert!(!RepackInput { bytes, ..small }.is_worth_it());
        assert!(
            !RepackInput {
                batches: 1,
                ..small
            }
            .is_worth_it()
        );
    }
}
