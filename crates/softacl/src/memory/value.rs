//! Waiting for and writing a number in device memory.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::code::{INVALID_PARAM, Outcome, check, fault};
use crate::memory::{check_range, place_of};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueWait {
    pub(crate) address: usize,
    pub(crate) value: u64,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    GreaterOrEqual,
    Equal,
    And,
    Nor,
}

/// By the number of the flag.
const HOW: [How; 4] = [How::GreaterOrEqual, How::Equal, How::And, How::Nor];

impl ValueWait {
    /// Checks the arguments of a wait.
    pub(crate) fn checked(address: usize, value: u64, flag: u32) -> Outcome<Self> {
        checked(address)?;
        check(
            address.is_multiple_of(8),
            "the address is not aligned to 8 bytes",
        )?;
        check(flag <= 3, "this wait flag does not exist")?;
        Ok(Self {
            address,
            value,
            how: HOW[flag as usize],
        })
    }

    /// The flag that asked for it.
    pub(crate) fn flag(&self) -> u32 {
        let index = HOW.iter().position(|how| *how == self.how);
        index.unwrap_or(0) as u32
    }

    pub(crate) fn is_over(&self) -> bool {
        let now = cell(self.address).load(Ordering::SeqCst);
        match self.how {
            // A signed difference, so that counters may wrap.
            How::GreaterOrEqual => now.wrapping_sub(self.value) as i64 >= 0,
            How::Equal => now == self.value,
            How::And => now & self.value != 0,
            How::Nor => !(now | self.value) != 0,
        }
    }
}

fn cell(address: usize) -> &'static AtomicU64 {
    // SAFETY: the callers saw that the address is aligned, and `checked` that it is inside memory of
    // ours, whose pages stay mapped until the process ends.
    unsafe { AtomicU64::from_ptr(address as *mut u64) }
}

pub(crate) fn checked(address: usize) -> Outcome {
    if address == 0 {
        return fault(INVALID_PARAM, "the address is NULL");
    }
    let place = place_of(address);
    check(
        place != super::Place::Pageable,
        "the memory was not allocated through acl",
    )?;
    check_range(address, 8, place)
}

pub(crate) fn store(address: usize, value: u64) {
    if address.is_multiple_of(8) {
        cell(address).store(value, Ordering::SeqCst);
    } else {
        // SAFETY: `checked` saw that the bytes are inside memory of ours, which stays mapped. Nobody
        // waits for a value at such an address.
        unsafe { (address as *mut u64).write_unaligned(value) };
    }
}
