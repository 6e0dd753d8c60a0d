//! Waiting for and writing a number in device memory.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::code::{INVALID_PARAM, Outcome, check, fault};
use crate::memory::{check_range, place_of};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueWait {
    pub(crate) address: usize,
    pub(crate) value: u64,
    how: ValueCondition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueCondition {
    GreaterOrEqual,
    Equal,
    And,
    Nor,
}

/// By the number of the flag.
const HOW: [ValueCondition; 4] = [
    ValueCondition::GreaterOrEqual,
    ValueCondition::Equal,
    ValueCondition::And,
    ValueCondition::Nor,
];

impl ValueWait {
    /// Checks the arguments of a wait.
    pub(crate) fn checked(address: usize, value: u64, flag: u32) -> Outcome<Self> {
        checked(address)?;
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
        let now = load(self.address);
        match self.how {
            // A signed difference, so that counters may wrap.
            ValueCondition::GreaterOrEqual => now.wrapping_sub(self.value) as i64 >= 0,
            ValueCondition::Equal => now == self.value,
            ValueCondition::And => now & self.value != 0,
            ValueCondition::Nor => !(now | self.value) != 0,
        }
    }
}

fn cell(address: usize) -> &'static AtomicU64 {
    // SAFETY: the callers checked that the address is aligned, and `checked` that it is inside memory
    // of this library, with pages that stay mapped until the process ends.
    unsafe { AtomicU64::from_ptr(address as *mut u64) }
}

pub(crate) fn checked(address: usize) -> Outcome {
    if address == 0 {
        return fault(INVALID_PARAM, "the address is NULL");
    }
    let place = place_of(address);
    check(!place.is_host(), "the memory is not a device's")?;
    check_range(address, 8, place)
}

/// At an address that is not aligned, a value may be read while it is half written.
fn load(address: usize) -> u64 {
    if address.is_multiple_of(8) {
        return cell(address).load(Ordering::SeqCst);
    }
    let bytes = std::array::from_fn(|at| byte(address + at).load(Ordering::SeqCst));
    u64::from_ne_bytes(bytes)
}

pub(crate) fn store(address: usize, value: u64) {
    if address.is_multiple_of(8) {
        cell(address).store(value, Ordering::SeqCst);
        return;
    }
    for (at, part) in value.to_ne_bytes().into_iter().enumerate() {
        byte(address + at).store(part, Ordering::SeqCst);
    }
}

fn byte(address: usize) -> &'static AtomicU8 {
    // SAFETY: as in `cell`; bytes need no alignment.
    unsafe { AtomicU8::from_ptr(address as *mut u8) }
}
