//! The memory of another process, by `/proc/PID/mem`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use crate::processes::place;

/// Bytes of a stack that are looked at.
const STACK: usize = 1 << 16;
/// The longest text that is read.
const TEXT: usize = 1024;

#[derive(Debug)]
pub(super) struct ProcessMemory(File);

impl ProcessMemory {
    /// # Errors
    /// The kernel does not let this process look at that one.
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).open(place(pid, "mem"))?;
        Ok(Self(file))
    }

    /// Writes bytes at an address.
    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, address)
    }

    /// The words from an address on, up to a limit or to the end of the mapping.
    pub(super) fn words_from(&self, address: u64) -> Vec<u64> {
        let mut bytes = vec![0; STACK];
        let length = self.read(address, &mut bytes);
        let words = bytes[..length].as_chunks::<8>().0;
        words.iter().map(|word| u64::from_ne_bytes(*word)).collect()
    }

    /// The text at an address, up to its zero byte.
    pub(super) fn text(&self, address: u64) -> Option<String> {
        let mut bytes = vec![0; TEXT];
        let length = self.read(address, &mut bytes);
        let text = bytes[..length].split(|byte| *byte == 0).next()?;
        (!text.is_empty()).then(|| String::from_utf8_lossy(text).into_owned())
    }

    /// Reads as many bytes as there are; returns their number.
    fn read(&self, address: u64, into: &mut [u8]) -> usize {
        let mut length = 0;
        while length < into.len() {
            match self.0.read_at(&mut into[length..], address + length as u64) {
                Ok(0) | Err(_) => break,
                Ok(read) => length += read,
            }
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_reads_and_writes_itself() {
        let memory = ProcessMemory::open(std::process::id()).unwrap();
        let word = std::sync::atomic::AtomicU64::new(7);
        let address = std::ptr::from_ref(&word) as u64;
        assert_eq!(memory.words_from(address).first(), Some(&7));
        memory.write(address, &9u64.to_ne_bytes()).unwrap();
        assert_eq!(word.load(std::sync::atomic::Ordering::SeqCst), 9);
        let text = c"a text";
        let found = memory.text(text.as_ptr() as u64);
        assert_eq!(found.as_deref(), Some("a text"));
        assert_eq!(memory.text(8), None);
        assert!(memory.write(8, &[1]).is_err());
    }
}
