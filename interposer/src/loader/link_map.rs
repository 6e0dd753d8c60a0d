//! The loader's list of objects as debuggers read it: without a call of the loader and without its
//! lock. For times in which the list cannot change: while the program starts, while this thread has the
//! loader locked, and where an ended thread has left the lock behind.

use core::ffi::{CStr, c_char, c_int};
use core::ops::ControlFlow;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Acquire;

use ascend_trace_ring::sys;
use libc::{Elf64_Ehdr, Elf64_Phdr};

use super::object::Object;
use super::walk::{C_LIBRARY, ObjectPosition};
use crate::page;

/// The loader's public data about one object.
#[repr(C)]
pub(super) struct Link {
    pub(super) base: usize,
    name: *const c_char,
    dynamic: usize,
    next: AtomicPtr<Link>,
}

/// The loader's data for debuggers.
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
pub(super) unsafe fn each(action: &mut dyn FnMut(ObjectPosition<'_>) -> ControlFlow<()>) {
    // An unreadable object still has a place.
    for (position, link) in links().enumerate() {
        // SAFETY: as the caller says.
        if let Some(object) = unsafe { link.object(position == 0) } {
            let place = ObjectPosition { object, position };
            if action(place).is_break() {
                return;
            }
        }
    }
}

/// The loader itself.
pub(super) fn loader<'a>() -> Option<Object<'a>> {
    let is_it = |link: &&Link| link.base == loader_base();
    // SAFETY: it stays for ever.
    unsafe { links().find(is_it)?.object(false) }
}

/// The object that others mean by a name, and its place. No object may be unloaded meanwhile.
pub(super) fn called<'a>(name: &CStr) -> Option<(usize, &'a Link)> {
    let mut all = links().enumerate();
    // SAFETY: as the caller sees to.
    let by_path = all.find(|(_, link)| unsafe { link.is_at(name) });
    by_path.or_else(|| links().enumerate().find(|(_, link)| link.is_called(name)))
}

/// The C library.
pub(super) fn c_library<'a>() -> Option<Object<'a>> {
    // SAFETY: the objects that the program is linked to stay, and this is one of them.
    unsafe {
        let is_it = |link: &&Link| file_name(link.name()).starts_with(C_LIBRARY);
        links().find(is_it)?.object(false)
    }
}

/// How many objects the program was started with: all up to the last one that it needs, directly or by another one. Libraries
/// that the program loads itself come after those. No object may be unloaded meanwhile.
pub(super) fn count_at_start() -> usize {
    const MOST: usize = 2048;
    let mut is_needed = [false; MOST];
    let mut is_seen = [false; MOST];
    is_needed[0] = true;
    loop {
        let is_next = |index: usize| {
            let known = |flags: &[bool; MOST]| flags.get(index).copied().unwrap_or(false);
            known(&is_needed) && !known(&is_seen)
        };
        let Some((index, link)) = links().enumerate().find(|(index, _)| is_next(*index)) else {
            break;
        };
        is_seen.get_mut(index).into_iter().for_each(|it| *it = true);
        // SAFETY: as the caller sees to.
        let Some(object) = (unsafe { link.object(index == 0) }) else {
            continue;
        };
        object.each_needed(&mut |name| {
            let found = called(name).and_then(|(index, _)| is_needed.get_mut(index));
            found.into_iter().for_each(|it| *it = true);
        });
    }
    is_needed.iter().rposition(|it| *it).map_or(0, |it| it + 1)
}

/// Without a path's folders.
fn file_name(path: &CStr) -> &[u8] {
    let path = path.to_bytes();
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// The list, which begins with the program.
pub(super) fn links<'a>() -> impl Iterator<Item = &'a Link> {
    // SAFETY: as in `loader_base`.
    let first = unsafe { DEBUG.first.load(Acquire) };
    // SAFETY: entries of the list stay as long as their objects.
    let first = unsafe { first.as_ref() };
    // SAFETY: as above.
    core::iter::successors(first, |link| unsafe { link.next.load(Acquire).as_ref() })
}

impl Link {
    /// Whether others mean this object by a name. No object may be unloaded meanwhile.
    pub(super) fn is_called(&self, name: &CStr) -> bool {
        // SAFETY: as the caller sees to.
        let own_name = || unsafe { self.object(false) }.and_then(|object| object.own_name());
        // SAFETY: as above.
        let is_at = unsafe { self.is_at(name) };
        is_at || own_name() == Some(name)
    }

    /// Whether the object was found by this name.
    ///
    /// # Safety
    /// No object may go away meanwhile.
    unsafe fn is_at(&self, name: &CStr) -> bool {
        // SAFETY: as the caller says.
        let path = unsafe { self.name() };
        path == name || file_name(path) == name.to_bytes()
    }

    /// Calls `action` with the name of each object that this one needs. No object may be unloaded
    /// meanwhile.
    pub(super) fn each_needed(&self, action: &mut dyn FnMut(&CStr)) {
        // SAFETY: as the caller sees to.
        if let Some(object) = unsafe { self.object(false) } {
            object.each_needed(action);
        }
    }

    /// The function of this name that the object defines for others, in this version if it has versions.
    /// No object may be unloaded meanwhile.
    pub(super) fn function(&self, name: &CStr, version: Option<&CStr>) -> Option<usize> {
        // SAFETY: as the caller sees to.
        let object = unsafe { self.object(false) }?;
        match version {
            Some(version) => object.function_in_version(name, version),
            None => object.function(name),
        }
    }

    /// # Safety
    /// The object must stay while the result is used.
    unsafe fn name<'a>(&self) -> &'a CStr {
        match self.name.is_null() {
            true => c"",
            // SAFETY: the loader keeps a C string.
            false => unsafe { CStr::from_ptr(self.name) },
        }
    }

    /// # Safety
    /// The object must stay while the result is used.
    unsafe fn object<'a>(&self, is_program: bool) -> Option<Object<'a>> {
        let reported = is_program.then(program_segments).flatten();
        // SAFETY: as the caller says.
        let (name, own) = unsafe { (self.name(), || segments_at(self.base)) };
        let fitting = |segments| {
            let object = Object::of_parts(self.base, name, segments);
            // Where the dynamic section is as the loader says, the rest is right as well.
            (object.dynamic_address() == Some(self.dynamic)).then_some(object)
        };
        reported
            .and_then(fitting)
            .or_else(|| own().and_then(fitting))
    }
}

/// The program's segments, from the kernel.
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
    // The first segment of a loaded object contains the header, except in unusual files.
    if base == 0 || page::start(base) != base || !sys::is_mapped(base) {
        return None;
    }
    // SAFETY: the page is mapped, and objects are mapped readable at their begin.
    let header = unsafe { &*(base as *const Elf64_Ehdr) };
    let is_header = header.e_ident.starts_with(b"\x7fELF")
        && usize::from(header.e_phentsize) == size_of::<Elf64_Phdr>();
    let count = usize::from(header.e_phnum);
    let end = (header.e_phoff as usize).checked_add(count * size_of::<Elf64_Phdr>())?;
    if !is_header || end > page::size() {
        return None;
    }
    let start = base.wrapping_add(header.e_phoff as usize);
    // SAFETY: the header gives the table and its length; it is in the same page.
    Some(unsafe { core::slice::from_raw_parts(start as *const Elf64_Phdr, count) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::walk;

    #[test]
    fn the_list_is_that_of_the_loader() {
        let mut reported = Vec::new();
        walk::each(|place| {
            reported.push((place.object.base, place.object.range()));
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
        assert_eq!(read, reported);
        assert!(read.iter().any(|(base, _)| *base == loader_base()));
    }

    #[test]
    fn a_program_is_started_with_all_that_it_needs() {
        // A test loads nothing later.
        assert_eq!(count_at_start(), links().count());
    }
}
