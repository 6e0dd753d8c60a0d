//! The file of a recording. Bytes that it does not take now can wait in memory.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// The file, where a write that fails half way leaves nothing behind.
#[derive(Debug)]
pub(crate) struct TraceOutput {
    pub(super) file: File,
    /// Bytes that were written whole; of a regular file also its length.
    pub(super) sound: u64,
    pub(super) truncates: bool,
    /// Bytes after those that the file does not take now, such as on a full disk.
    pub(super) waiting: Vec<u8>,
    /// Bytes that may wait. Without any, a write that fails is an error.
    pub(super) most_waiting: usize,
    /// The system's reason for the wait.
    refusal: Option<i32>,
}

impl TraceOutput {
    /// `owned`: the file is ours from its first byte.
    pub(crate) fn new(file: File, owned: bool) -> Self {
        let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
        Self {
            file,
            sound: 0,
            truncates: owned && is_regular,
            waiting: Vec::new(),
            most_waiting: 0,
            refusal: None,
        }
    }

    /// Bytes in the file.
    pub(crate) fn sound(&self) -> u64 {
        self.sound
    }

    /// Bytes that the file system has left for this user; none where it does not say it.
    pub(crate) fn room(&self) -> Option<u64> {
        let known = rustix::fs::fstatvfs(&self.file).ok()?;
        known.f_bavail.checked_mul(known.f_frsize)
    }

    pub(super) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Why bytes wait.
    pub(super) fn refusal(&self) -> io::Error {
        self.refusal.map_or_else(
            || io::ErrorKind::StorageFull.into(),
            io::Error::from_raw_os_error,
        )
    }

    /// Writes the bytes that wait.
    pub(super) fn try_again(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let written = self.put(&waiting);
        if written.is_err() {
            self.waiting = waiting;
        }
        written
    }

    /// Lets bytes wait, if there is room for them.
    fn wait(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.waiting.len() + bytes.len() > self.most_waiting {
            return Err(self.refusal());
        }
        self.waiting.extend_from_slice(bytes);
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes);
        match &written {
            Ok(()) => self.sound += bytes.len() as u64,
            // If this fails too, readers skip the torn end.
            Err(_) if self.truncates => drop(self.shorten(self.sound)),
            Err(_) => {}
        }
        written
    }

    /// The same file, for reading.
    pub(crate) fn reader(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Shortens the file to its first bytes, of those that were written whole.
    pub(super) fn shorten(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::Start(bytes))?;
        self.sound = bytes;
        Ok(())
    }
}

impl Write for TraceOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.waits() {
            return self.wait(bytes);
        }
        match self.put(bytes) {
            Err(error) if self.truncates && self.most_waiting > 0 => {
                self.refusal = error.raw_os_error();
                self.wait(bytes).map_err(|_| error)
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_may_wait_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut output = TraceOutput::new(File::create(&path).unwrap(), true);
        output.most_waiting = 8;
        output.file = File::open(&path).unwrap();
        assert!(output.write_all(b"12345").is_ok() && output.waits());
        assert!(output.write_all(b"6789").is_err());
        output.file = File::create(&path).unwrap();
        output.try_again().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"12345");
    }

    #[test]
    fn a_write_that_fails_half_way_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut output = TraceOutput::new(File::create(&path).unwrap(), true);
        output.write_all(b"whole").unwrap();
        // Half a chunk gets through.
        output.file.write_all(b"hal").unwrap();
        output.file = File::open(&path).unwrap();
        assert!(
            output.write_all(b"f").is_err(),
            "it is open for reading only"
        );
        output.file = File::options().write(true).open(&path).unwrap();
        output.file.set_len(output.sound).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
    }
}
