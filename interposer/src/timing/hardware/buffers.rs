//! Memory that msPTI writes entries of the log into: a few buffers, each mapped when it is first needed.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicUsize};

use ascend_trace_ring::sys;

use crate::timing::counters;

/// msPTI takes no larger ones than 256 MiB, and these are enough for 10^5 entries or so each.
const BYTES: usize = 8 << 20;
/// All together stay far below what msPTI itself may take.
const MOST: usize = 16;

pub(super) type Request = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
pub(super) type Complete = extern "C" fn(*mut u8, usize, usize);

struct Buffer {
    address: AtomicUsize,
    is_out: AtomicBool,
}

static ALL: [Buffer; MOST] = [const {
    Buffer {
        address: AtomicUsize::new(0),
        is_out: AtomicBool::new(false),
    }
}; MOST];

/// msPTI wants memory. It gets none when all is used: then entries are lost, and counted.
pub(super) extern "C" fn request(buffer: *mut *mut u8, size: *mut usize, records: *mut usize) {
    let address = take().unwrap_or(0);
    if address == 0 {
        counters::LOG_BUFFERS_SHORT.add(1);
    }
    // SAFETY: msPTI passes places for its three results.
    unsafe {
        buffer.write(address as *mut u8);
        size.write(if address == 0 { 0 } else { BYTES });
        // As many as there is room for.
        records.write(0);
    }
}

fn take() -> Option<usize> {
    let mut free = (ALL.iter()).filter(|buffer| !buffer.is_out.swap(true, AcqRel));
    let buffer = free.next()?;
    match buffer.address.load(Acquire) {
        0 => {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let Ok(mapped) = sys::map(BYTES, flags, -1) else {
                buffer.is_out.store(false, Release);
                return None;
            };
            buffer.address.store(mapped as usize, Release);
            Some(mapped as usize)
        }
        address => Some(address),
    }
}

/// It is free again.
pub(super) fn give_back(address: usize) {
    // Where there was no memory for it, msPTI hands back a buffer at no address.
    let own = |buffer: &&Buffer| address != 0 && buffer.address.load(Acquire) == address;
    if let Some(buffer) = ALL.iter().find(own) {
        buffer.is_out.store(false, Release);
    }
}

/// A child's msPTI has none of them.
pub(super) fn forget() {
    ALL.iter()
        .for_each(|buffer| buffer.is_out.store(false, Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_has_a_limit() {
        let mut out: Vec<usize> = Vec::new();
        let ask = || {
            let (mut buffer, mut size, mut records) = (core::ptr::null_mut(), 1, 1);
            request(&mut buffer, &mut size, &mut records);
            assert_eq!(
                (size, records),
                (if buffer.is_null() { 0 } else { BYTES }, 0)
            );
            buffer as usize
        };
        out.extend((0..MOST).map(|_| ask()));
        assert!(out.iter().all(|address| *address != 0));
        assert_eq!(ask(), 0);
        ALL[5].address.store(0, Release);
        give_back(0);
        assert_eq!(ask(), 0, "that is none of them");
        ALL[5].address.store(out[5], Release);
        give_back(out[3]);
        assert_eq!(ask(), out[3]);
        forget();
    }
}
