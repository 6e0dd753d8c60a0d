//! What libraries of the vendor report to the profiler (`libprofapi.so`). Nobody profiles here: reports are
//! accepted and dropped.

use crate::clock;

/// A number for a text: the same for the same text, and not 0.
// SAFETY: the names are the profiler's; nothing else in this library defines them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn MsprofGetHashId(text: *const u8, length: usize) -> u64 {
    if text.is_null() {
        return 0;
    }
    // SAFETY: the caller passes a text of this length.
    let text = unsafe { std::slice::from_raw_parts(text, length) };
    super::tools::hash(text.iter().copied()).max(1)
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn MsprofRegisterCallback(_module: u32, _handler: usize) -> i32 {
    0
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn MsprofReportApi(_ages: u32, _report: usize) -> i32 {
    0
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn MsprofReportCompactInfo(_ages: u32, _report: usize, _size: u32) -> i32 {
    0
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn MsprofReportAdditionalInfo(_ages: u32, _report: usize, _size: u32) -> i32 {
    0
}

/// The clock that reports are stamped with.
// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn MsprofSysCycleTime() -> u64 {
    clock::now()
}
