//! Weak references to functions that no library has.
//!
//! A program may refer to a function weakly and check whether it exists. The exported wrapper makes
//! every function of the table seem to exist, so such references are set back to null.

use core::ffi::c_void;
use core::ops::ControlFlow;
use core::sync::atomic::Ordering::{AcqRel, Release};
use core::sync::atomic::{AtomicU64, AtomicUsize};

use ascend_trace_ring::sys;

use super::object::{Object, Reference};
use super::walk;
use crate::{names, page, real};

/// Relocations that store a symbol's address.
#[cfg(target_arch = "x86_64")]
const ABSOLUTE: [u32; 3] = [1, 6, 7];
#[cfg(target_arch = "aarch64")]
const ABSOLUTE: [u32; 3] = [257, 1025, 1026];

/// The loader's count of added objects at the last look.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Looks at objects again if new ones exist; returns whether they did.
pub(crate) fn sweep_if_new() -> bool {
    let additions = walk::added();
    let is_new = SEEN.swap(additions, AcqRel) != additions;
    if is_new {
        sweep();
    }
    is_new
}

/// The references found in one round. Judging them walks over the objects again, so it is done
/// after the walk that finds them.
struct Slots {
    found: [(usize, usize); Slots::MOST],
    used: usize,
    /// References of earlier rounds, which stay as they are.
    skip: usize,
    are_all: bool,
}

impl Slots {
    const MOST: usize = 64;

    fn find(skip: usize) -> Self {
        let mut slots = Self {
            found: [(0, 0); Self::MOST],
            used: 0,
            skip,
            are_all: true,
        };
        walk::each(|place| {
            if !place.is_own() {
                slots.collect(&place.object);
            }
            ControlFlow::Continue(())
        });
        slots
    }

    fn collect(&mut self, object: &Object<'_>) {
        object.references(|reference| {
            let Reference { rela, name, .. } = reference;
            let is_plain = ABSOLUTE.contains(&rela.kind()) && rela.addend == 0;
            if !reference.is_weak || !reference.is_missing || !is_plain {
                return;
            }
            let Some(id) = names::id(name.to_bytes()) else {
                return;
            };
            let slot = object.base.wrapping_add(rela.offset as usize);
            // SAFETY: the loader has stored the symbol's address there.
            let value = unsafe { core::ptr::read_unaligned(slot as *const usize) };
            if walk::is_own_address(value) {
                self.push(slot, id);
            }
        });
    }

    fn push(&mut self, slot: usize, id: usize) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if let Some(place) = self.found.get_mut(self.used) {
            *place = (slot, id);
            self.used += 1;
        } else {
            self.are_all = false;
        }
    }
}

fn sweep() {
    let mut kept = 0;
    loop {
        let slots = Slots::find(kept);
        for (slot, id) in slots.found.iter().take(slots.used) {
            match real::address(*id) {
                Some(_) => kept += 1,
                None => clear(*slot),
            }
        }
        if slots.are_all {
            return;
        }
    }
}

/// Clears a slot, which may be in memory that the loader has made read-only.
fn clear(slot: usize) {
    let page = page::start(slot);
    let is_guarded = is_read_only(slot);
    let protect = |protection| {
        // SAFETY: changes the page of a slot that the loader itself has written.
        unsafe { sys::protect(page as *mut c_void, page::size(), protection) }
    };
    if is_guarded && !protect(libc::PROT_READ | libc::PROT_WRITE) {
        return;
    }
    // SAFETY: the slot is an aligned address in a page that can be written now.
    unsafe { (*(slot as *const AtomicUsize)).store(0, Release) };
    if is_guarded {
        protect(libc::PROT_READ);
    }
}

/// Whether the loader has made the page of a slot read-only.
fn is_read_only(slot: usize) -> bool {
    let mut found = false;
    walk::each(|place| {
        if !place.object.holds(slot) {
            return ControlFlow::Continue(());
        }
        if let Some((start, length)) = place.object.read_only_after_start() {
            // The last page is left writable unless the part fills it.
            let end = page::start(start.wrapping_add(length));
            found = slot >= page::start(start) && slot < end;
        }
        ControlFlow::Break(())
    });
    found
}
