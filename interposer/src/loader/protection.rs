//! Writing to places that the loader has made read-only.

use core::ffi::c_void;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Release;

use ascend_trace_ring::sys;

use super::object::Object;
use crate::page;

/// Stores addresses in one object. Pages that it makes writable are read-only again when it is dropped.
pub(super) struct Writer {
    /// Begin and length of the part that the loader has made read-only, in whole pages.
    guarded: Option<(usize, usize)>,
    is_open: bool,
}

impl Writer {
    pub(super) fn new(object: &Object<'_>) -> Self {
        let guarded = object.read_only_after_start().map(|(start, length)| {
            let mask = !(page::size() - 1);
            let begin = start & mask;
            // The last page is left writable unless the part fills it.
            let end = start.wrapping_add(length) & mask;
            (begin, end.saturating_sub(begin))
        });
        Self {
            guarded,
            is_open: false,
        }
    }

    /// Stores an address in a slot; `false` when it could not be made writable.
    pub(super) fn store(&mut self, slot: usize, address: usize) -> bool {
        let is_guarded = self
            .guarded
            .is_some_and(|(begin, length)| slot.wrapping_sub(begin) < length);
        if is_guarded && !self.is_open {
            self.is_open = self.protect(libc::PROT_READ | libc::PROT_WRITE);
            if !self.is_open {
                return false;
            }
        }
        // SAFETY: the slot is an aligned address that the loader itself writes to, in a page that
        // can be written now.
        unsafe { (*(slot as *const AtomicUsize)).store(address, Release) };
        true
    }

    fn protect(&self, protection: i32) -> bool {
        let Some((begin, length)) = self.guarded else {
            return false;
        };
        // SAFETY: pages of a mapped object that hold slots and other data of the loader's.
        unsafe { sys::protect(begin as *mut c_void, length, protection) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.is_open {
            self.protect(libc::PROT_READ);
        }
    }
}
