//! The mapped objects of the dynamic loader, and the addresses of real functions.

pub(crate) mod containing_object;
mod dladdr;
pub(crate) mod dlsym;
mod exported_functions;
pub(crate) mod fork_guard;
mod glibc_state;
mod link_map;
mod loader_lock;
pub(crate) mod object;
mod protection;
mod scope;
pub(crate) mod slots;
mod symbols;
mod versions;
pub(crate) mod walk;
pub(crate) mod weak;

use core::ffi::{CStr, c_void};
use core::ops::ControlFlow;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{AcqRel, Acquire};

use walk::{Holder, ObjectPosition};

/// Libraries to search before others that were loaded while the program ran: an extension module of
/// Python, for example, loads them into a separate scope.
const LIBRARIES: &[&[u8]] = &[
    b"libascendcl.so",
    b"libacl_rt.so",
    b"libacl_rt_impl.so",
    b"libruntime.so",
    b"libnnopbase.so",
    b"libopapi.so",
    b"libacl_mdl.so",
    b"libacl_op_executor.so",
    b"libacl_op_compiler.so",
    b"libacl_tdt_channel.so",
    b"libacl_tdt_queue.so",
    b"libmsprofiler.so",
    b"libascend_dump.so",
    b"libhccl.so",
    b"libms_tools_ext.so",
];

/// The function of this name that a call through the program's linkage would reach without this
/// library: that of an object from the start which comes after this library, else of a library that is
/// known to offer it, else of any other. An object before this library is never called: it may be the
/// one that calls the wrapper.
pub(crate) fn real(name: &CStr) -> Option<usize> {
    let (address, holder) = candidate(name)?;
    pin(&holder);
    Some(address)
}

/// The same, with nothing done about it.
pub(crate) fn candidate(name: &CStr) -> Option<(usize, Holder)> {
    let mut best: Option<(usize, usize, Holder)> = None;
    let mut after_own = walk::is_late();
    walk::each(|place| {
        if place.is_own() {
            after_own = true;
            return ControlFlow::Continue(());
        }
        let Some(rank) = rank(&place, after_own) else {
            return ControlFlow::Continue(());
        };
        if best.as_ref().is_none_or(|(least, ..)| rank < *least)
            && let Some(address) = place.object.function(name)
            && let Some(holder) = Holder::of(&place)
        {
            best = Some((rank, address, holder));
        }
        ControlFlow::Continue(())
    });
    best.map(|(_, address, holder)| (address, holder))
}

/// How early an object is asked; `None` for one that must not be.
fn rank(place: &ObjectPosition<'_>, after_own: bool) -> Option<usize> {
    if place.is_from_start() {
        return after_own.then_some(0);
    }
    let file = place.object.file_name();
    let known = LIBRARIES
        .iter()
        .position(|library| file.starts_with(library));
    Some(known.map_or(usize::MAX, |position| position + 1))
}

/// This library's own function of a name. Not simply the function's address in the source: that may
/// be another library's, if one before us exports the same name.
pub(crate) fn own(name: &CStr) -> Option<usize> {
    let mut found = None;
    walk::each(|place| {
        if !place.is_own() {
            return ControlFlow::Continue(());
        }
        found = place.object.function(name);
        ControlFlow::Break(())
    });
    found
}

/// The function of this name in the next object after this library, of any kind. Of a library that came late, the first one of all.
pub(crate) fn next(name: &CStr) -> Option<usize> {
    let mut found = None;
    let mut after_own = walk::is_late();
    walk::each(|place| {
        if place.is_own() {
            after_own = true;
        } else if after_own {
            found = place.object.function(name);
        }
        match found {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    found
}

/// Libraries that must stay; their addresses are in our tables.
static PINNED: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

/// Keeps the library that holds `address`.
pub(crate) fn pin_holder(address: usize) {
    if let Some(holder) = walk::holder(address) {
        pin(&holder);
    }
}

/// Keeps a library for as long as the process lives. One from the start stays anyway.
pub(crate) fn pin(holder: &Holder) {
    if holder.is_from_start {
        return;
    }
    for place in &PINNED {
        match place.compare_exchange(0, holder.base, AcqRel, Acquire) {
            Err(base) if base == holder.base => return,
            Err(_) => {}
            Ok(_) => break,
        }
    }
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    // SAFETY: only marks a library that is loaded already; the handle is kept on purpose.
    let _handle: *mut c_void = unsafe { libc::dlopen(holder.path.text().as_ptr(), flags) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_later_libraries_are_found() {
        // In a test this library is the program itself, the first of all objects.
        let getpid = libc::getpid as *const () as usize;
        assert_eq!(real(c"getpid"), Some(getpid));
        assert_eq!(next(c"getpid"), Some(getpid));
        assert_eq!(real(c"aclNoSuchFunction"), None);
    }
}
