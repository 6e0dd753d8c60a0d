//! A buffer with two owners: the Parquet writer, which keeps its output, fills it; the export empties
//! it into the file.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Clone, Debug, Default)]
pub(super) struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hand_on(&self, file: &mut dyn Write) -> io::Result<()> {
        let mut bytes = self.lock();
        file.write_all(&bytes)?;
        bytes.clear();
        Ok(())
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
