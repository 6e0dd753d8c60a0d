//! Names of code objects, and which of them were recorded.

use ascend_trace_format::record::{MAX_LONG_TEXT, MAX_STRING, Text, kinds};

use crate::first_records::tell;
use crate::session;
use crate::stacks::cache::REPORTED;
use crate::thread::ThreadState;

/// Bits of the number of a code object.
pub(super) const CODE_BITS: u32 = 39;

#[inline]
pub(super) fn mixed(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 32
}

/// Names of a code object.
pub(super) struct Names {
    pub(super) file: [u8; MAX_LONG_TEXT],
    pub(super) file_length: usize,
    pub(super) function: [u8; MAX_STRING],
    pub(super) function_length: usize,
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            file: [0; MAX_LONG_TEXT],
            file_length: 0,
            function: [0; MAX_STRING],
            function_length: 0,
        }
    }

    pub(super) fn file(&self) -> &[u8] {
        self.file.get(..self.file_length).unwrap_or(&[])
    }

    pub(super) fn function(&self) -> &[u8] {
        self.function.get(..self.function_length).unwrap_or(&[])
    }

    /// A number for the two, never 0.
    pub(super) fn number(&self) -> u64 {
        let mut hash = 0x9e37_79b9_7f4a_7c15;
        for text in [self.file(), self.function()] {
            for byte in text {
                hash = mixed(hash, u64::from(*byte));
            }
            hash = mixed(hash, text.len() as u64);
        }
        (hash >> (u64::BITS - CODE_BITS)).max(1)
    }
}

/// Records the names of a code object once. To be called while the tracer is at work.
pub(super) fn is_reported(state: &ThreadState, number: u64, names: &Names) -> bool {
    let key = mixed(session::process_key(), number);
    if REPORTED.has(key) {
        return true;
    }
    let code = kinds::Code {
        number,
        function: Text::new(names.function()),
        file: Text::new(names.file()),
    };
    let mut is_reported = false;
    state.record(|producer| is_reported = tell(producer, &code));
    if is_reported {
        REPORTED.add(key);
    }
    is_reported
}
