//! The loader's list of objects as debuggers read it: without a call of the loader and without its
//! lock. For the moments in which nothing can change it: while the program starts, while this thread
//! has the loader locked, and where the lock was left behind by a thread that is gone.

use core::ffi::{CStr, c_char, c_int};
use core::ops::ControlFlow;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Acquire;

use ascend_trace_ring::sys;
use libc::{Elf64_Ehdr, Elf64_Phdr};

use super::object::Object;
use super::walk::Place;

/// What the loader tells of one object, as far as it is public.
#[repr(C)]
struct Link {
    base: usize,
    name: *const c_char,
    dynamic: usize,
    next: AtomicPtr<Link>,
}

/// What the loader tells debuggers.
#[repr(C)]
struct Debug {
    version: c_int,
    first: AtomicPtr<Link>,
    breakpoint: usize,
    state: c_int,
    loader: usize,
}

unsafe extern "C" {
    #[link_name = "_r_debug"]
    static DEBUG: Debug;
}

/// Where the loader itself begins.
pub(super) fn loader_base() -> usize {
    // SAFETY: the loader has written this before it loaded anything, and writes it no more.
    unsafe { DEBUG.loader }
}

/// Calls `action` with every object, in the order of `dl_iterate_phdr`.
///
/// # Safety
/// No object may go away meanwhile.
pub(super) unsafe fn each(action: &mut dyn FnMut(Place<'_>) -> ControlFlow<()>) {
    // SAFETY: as in `loader_base`; the list begins with the program.
    let mut link = unsafe { DEBUG.first.load(Acquire) };
    let mut position = 0;
    // SAFETY: entries of the list stay as long as their objects.
    while let Some(entry) = unsafe { link.as_ref() } {
        // SAFETY: as the caller says.
        if let Some(object) = unsafe { entry.object(position == 0) } {
            let place = Place { object, position };
            if action(place).is_break() {
                return;
            }
        }
        // An object that cannot be read has a place all the same.
        position += 1;
        link = entry.next.load(Acquire);
    }
}

impl Link {
    /// # Safety
    /// The object must stay while the result is used.
    unsafe fn object<'a>(&self, is_program: bool) -> Option<Object<'a>> {
        let name = match self.name.is_null() {
            true => c"",
            // SAFETY: the loader keeps a C string.
            false => unsafe { CStr::from_ptr(self.name) },
        };
        let told = is_program.then(program_segments).flatten();
        // SAFETY: as the caller says.
        let own = || unsafe { segments_at(self.base) };
        [told, own()].into_iter().flatten().find_map(|segments| {
            let object = Object::of_parts(self.base, name, segments);
            // Where the dynamic section is as the loader says, the rest is right as well.
            (object.dynamic_address() == Some(self.dynamic)).then_some(object)
        })
    }
}

/// The program's own segments, which the kernel tells.
fn program_segments<'a>() -> Option<&'a [Elf64_Phdr]> {
    // SAFETY: looks values up that the kernel has given to the process.
    let (start, count) = unsafe {
        (
            libc::getauxval(libc::AT_PHDR) as usize,
            libc::getauxval(libc::AT_PHNUM) as usize,
        )
    };
    if start == 0 || count == 0 {
        return None;
    }
    // SAFETY: the kernel gives the table and its length.
    Some(unsafe { core::slice::from_raw_parts(start as *const Elf64_Phdr, count) })
}

/// The segments of an object, by the header at its begin.
///
/// # Safety
/// The object must stay while the result is used.
unsafe fn segments_at<'a>(base: usize) -> Option<&'a [Elf64_Phdr]> {
    if base == 0 || !sys::is_readable(base) {
        return None;
    }
    // SAFETY: the page can be read, and objects and pages begin at multiples of far more than a header.
    let header = unsafe { &*(base as *const Elf64_Ehdr) };
    let is_header = header.e_ident.starts_with(b"\x7fELF")
        && usize::from(header.e_phentsize) == size_of::<Elf64_Phdr>();
    let start = base.wrapping_add(header.e_phoff as usize);
    if !is_header || !sys::is_readable(start) {
        return None;
    }
    let count = usize::from(header.e_phnum);
    // SAFETY: the header gives the table and its length; it is in the part that is always mapped.
    Some(unsafe { core::slice::from_raw_parts(start as *const Elf64_Phdr, count) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::walk;

    #[test]
    fn the_list_is_the_one_that_the_loader_tells() {
        let mut told = Vec::new();
        walk::each(|place| {
            told.push((place.object.base, place.object.range()));
            ControlFlow::Continue(())
        });
        let mut read = Vec::new();
        // SAFETY: a test unloads nothing.
        unsafe {
            each(&mut |place| {
                read.push((place.object.base, place.object.range()));
                ControlFlow::Continue(())
            });
        }
        assert_eq!(read, told);
        assert!(read.iter().any(|(base, _)| *base == loader_base()));
    }
}
