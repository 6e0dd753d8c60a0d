//! Wrappers for functions of one name in several libraries.
//!
//! A wrapper has one real function. When a program fetches the same name from another library, it
//! gets a stub instead, which notes the address for the calling thread and goes on to the wrapper
//! with all registers and the stack as they were. The stubs are a table in the program text: no code
//! is made while the program runs.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicUsize};

mod stubs;

use crate::register_entry::save_ask_and_go;
use crate::thread;
use stubs::STUBS;

save_ask_and_go!("ascend_trace_alternate", enter);

/// One function of a name that has a usual one as well.
struct Alternate {
    id: AtomicU32,
    /// Its own address, stored last; 0 while the place is free.
    address: AtomicUsize,
    wrapper: AtomicUsize,
}

static ALTERNATES: [Alternate; STUBS] = [const {
    Alternate {
        id: AtomicU32::new(0),
        address: AtomicUsize::new(0),
        wrapper: AtomicUsize::new(0),
    }
}; STUBS];

/// Number of used places. A lock would also work, except for a process that forks while another thread
/// has it.
static USED: AtomicUsize = AtomicUsize::new(0);

/// The stub for the function `id` at `address`; `None` when all are used. Threads that ask for the same
/// one at the same time may get a stub each.
pub(crate) fn stub(id: usize, address: usize, wrapper: usize) -> Option<usize> {
    let id = u32::try_from(id).ok()?;
    let is_it =
        |place: &Alternate| place.address.load(Acquire) == address && place.id.load(Acquire) == id;
    let used = USED.load(Relaxed);
    if let Some(index) = ALTERNATES.iter().take(used).position(is_it) {
        return Some(stubs::stub_address(index));
    }
    if used >= ALTERNATES.len() {
        return None;
    }
    let index = USED.fetch_add(1, Relaxed);
    let place = ALTERNATES.get(index)?;
    place.id.store(id, Release);
    place.wrapper.store(wrapper, Release);
    // Last: who finds the address finds the rest.
    place.address.store(address, Release);
    Some(stubs::stub_address(index))
}

/// The begin of the stub at an address, and its function.
pub(crate) fn at(address: usize) -> Option<(usize, usize)> {
    let index = stubs::stub_index(address)?;
    let function = ALTERNATES.get(index)?.address.load(Acquire);
    (function != 0).then(|| (stubs::stub_address(index), function))
}

/// From now on, calls of the function `id` at `from` go to `to`.
pub(crate) fn moved(id: usize, from: usize, to: usize) {
    let is_it = |place: &&Alternate| place.id.load(Acquire) as usize == id;
    for place in ALTERNATES.iter().take(USED.load(Relaxed)).filter(is_it) {
        let _ = place.address.compare_exchange(from, to, Release, Relaxed);
    }
}

/// Called by a stub: notes the address and returns the wrapper to continue with.
pub(crate) unsafe extern "C" fn enter(index: u32, _: *const u64) -> usize {
    let Some(place) = ALTERNATES.get(index as usize) else {
        return 0;
    };
    let id = place.id.load(Acquire);
    let address = place.address.load(Acquire);
    thread::with(|state| state.set_alternate(id, address));
    place.wrapper.load(Acquire)
}

/// The address that a stub has noted for the wrapper `id`, once.
pub(crate) fn taken(id: usize) -> Option<usize> {
    thread::with(|state| state.take_alternate(u32::try_from(id).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_has_one_stub_and_a_noted_address_is_taken_once() {
        let first = stub(7, 0x1000, 0x9000).unwrap();
        let second = stub(7, 0x2000, 0x9000).unwrap();
        assert_eq!(stub(7, 0x1000, 0x9000), Some(first));
        assert_ne!(first, second);
        assert_ne!(stub(8, 0x1000, 0x9100), Some(first));
        assert_eq!(at(second + 1), Some((second, 0x2000)));
        let index = stubs::stub_index(second).unwrap() as u32;
        // SAFETY: only notes the address.
        let wrapper = unsafe { enter(index, core::ptr::null()) };
        assert_eq!(wrapper, 0x9000);
        assert_eq!(taken(8), None, "another function's");
        assert_eq!(taken(7), Some(0x2000));
        assert_eq!(taken(7), None);
    }
}
