//! The real functions behind the wrappers.

use core::ffi::CStr;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use crate::engine::{self, patched};
use crate::errno::Errno;
use crate::functions::FUNCTIONS;
use crate::{large_stack, loader, second_address};

const LONGEST_NAME: usize = 128;
/// Set in an address when the same name leads to other addresses too, from other libraries. No
/// address of a program has this bit.
const SHARED: usize = 1 << 63;

static ADDRESSES: [AtomicUsize; FUNCTIONS.len()] = [const { AtomicUsize::new(0) }; FUNCTIONS.len()];
/// Our own wrappers, as far as they were asked for.
static WRAPPERS: [AtomicUsize; FUNCTIONS.len()] = [const { AtomicUsize::new(0) }; FUNCTIONS.len()];

/// Address of the real function with this id, for the call under way.
#[inline]
pub(crate) fn address(id: usize) -> Option<usize> {
    let known = ADDRESSES.get(id)?.load(Acquire);
    if known.wrapping_sub(1) < SHARED - 1 {
        return Some(known);
    }
    address_slowly(id, known)
}

/// The same, if the name leads to one address, and this is known.
#[inline(always)]
pub(crate) fn usual_address(id: usize) -> Option<usize> {
    let known = ADDRESSES.get(id)?.load(Acquire);
    (known.wrapping_sub(1) < SHARED - 1).then_some(known)
}

#[cold]
fn address_slowly(id: usize, known: usize) -> Option<usize> {
    if known == 0 {
        return find(id);
    }
    Some(second_address::taken(id).unwrap_or(known & !SHARED))
}

/// Address of the real function with this name, for the interposer's own calls.
pub(crate) fn by_name(name: &str) -> Option<usize> {
    let id = crate::names::id(name.as_bytes())?;
    match ADDRESSES.get(id)?.load(Acquire) {
        0 => find(id),
        known => Some(known & !SHARED),
    }
}

/// Looks for the function among the libraries that are loaded now.
#[cold]
fn find(id: usize) -> Option<usize> {
    let _errno = Errno::save();
    large_stack::run(|| {
        engine::look();
        let found = with_name(id, loader::real)??;
        Some(remember(id, patched::original(found)))
    })
}

/// Keeps the address unless one is set already; returns the kept one.
fn remember(id: usize, address: usize) -> usize {
    let Some(place) = ADDRESSES.get(id) else {
        return address;
    };
    match place.compare_exchange(0, address, AcqRel, Acquire) {
        Ok(_) => address,
        Err(known) => known & !SHARED,
    }
}

fn with_name<R>(id: usize, action: impl FnOnce(&CStr) -> R) -> Option<R> {
    let name = FUNCTIONS.get(id)?.name.as_bytes();
    let mut buffer = [0u8; LONGEST_NAME];
    buffer.get_mut(..name.len())?.copy_from_slice(name);
    Some(action(CStr::from_bytes_until_nul(&buffer).ok()?))
}

/// Our wrapper for the function with this id.
pub(crate) fn wrapper(id: usize) -> Option<usize> {
    let place = WRAPPERS.get(id)?;
    match place.load(Acquire) {
        0 => {
            let found = with_name(id, loader::own)??;
            place.store(found, Release);
            Some(found)
        }
        known => Some(known),
    }
}

/// Whether an address is that of our wrapper for this function.
pub(crate) fn is_wrapper(id: usize, address: usize) -> bool {
    address != 0 && wrapper(id) == Some(address)
}

/// A wrapper that calls the function at `address`: the usual one, or, where two libraries offer the
/// same name, one that keeps this address. Without room for one the function itself.
pub(crate) fn wrapper_for(id: usize, found: usize) -> usize {
    let address = patched::original(found);
    let Some(wrapper) = wrapper(id) else {
        return found;
    };
    let usual = match by_id(id) {
        Some(usual) => usual,
        None => remember(id, address),
    };
    loader::pin_holder(found);
    if usual == address {
        return wrapper;
    }
    match second_address::stub(id, address, wrapper) {
        Some(stub) => {
            if let Some(place) = ADDRESSES.get(id) {
                place.fetch_or(SHARED, AcqRel);
            }
            stub
        }
        None => found,
    }
}

/// Where calls of the function `id` at `address` are to go when it is patched: to the wrapper, or to
/// a stub where another function of the name is the usual one.
pub(crate) fn replacement(id: usize, address: usize) -> Option<usize> {
    let wrapper = wrapper(id)?;
    if by_id(id)? == address {
        return Some(wrapper);
    }
    let stub = second_address::stub(id, address, wrapper)?;
    ADDRESSES.get(id)?.fetch_or(SHARED, AcqRel);
    Some(stub)
}

/// The function `id` at `from` is patched: its work is done at `to`.
pub(crate) fn moved(id: usize, from: usize, to: usize) {
    second_address::moved(id, from, to);
    let Some(place) = ADDRESSES.get(id) else {
        return;
    };
    for known in [from, from | SHARED] {
        let new = to | known & SHARED;
        if place.compare_exchange(known, new, AcqRel, Acquire).is_ok() {
            return;
        }
    }
}

fn by_id(id: usize) -> Option<usize> {
    match ADDRESSES.get(id)?.load(Acquire) {
        0 => find(id),
        known => Some(known & !SHARED),
    }
}

/// The real function behind the wrapper for this id, without keeping it for calls.
pub(crate) fn of_wrapper(id: usize) -> Option<usize> {
    match ADDRESSES.get(id)?.load(Acquire) {
        0 => with_name(id, loader::candidate)??.0.into(),
        known => Some(known & !SHARED),
    }
}

/// Exit status of the loader for a program with a missing function.
const LOOKUP_FAILED: i32 = 127;

/// The program calls a function that no library has: does the same as the loader.
#[cold]
pub(crate) fn missing(id: usize) -> ! {
    let name = FUNCTIONS.get(id).map_or("", |function| function.name);
    for part in [
        "ascend-trace: symbol lookup error: undefined symbol: ",
        name,
        "\n",
    ] {
        // SAFETY: writes a static text to standard error.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: ends the process without running anything of it, as the loader does.
    unsafe { libc::_exit(LOOKUP_FAILED) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_once_and_differs_from_a_shared_one() {
        let id = FUNCTIONS.len() - 1;
        assert_eq!(remember(id, 0x1000), 0x1000);
        assert_eq!(remember(id, 0x2000), 0x1000);
        assert_eq!(address(id), Some(0x1000));
        ADDRESSES[id].fetch_or(SHARED, AcqRel);
        assert_eq!(address(id), Some(0x1000));
        assert_eq!(by_id(id), Some(0x1000));
    }

    #[test]
    fn a_symbol_that_no_library_has_has_no_address() {
        assert_eq!(by_name("aclrtMemcpyAsync"), None);
        assert_eq!(by_name("no such name"), None);
    }
}
