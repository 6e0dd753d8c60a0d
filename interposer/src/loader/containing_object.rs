//! The object that contains a function.

use core::ffi::CStr;
use core::ops::ControlFlow;

use super::object::Object;
use super::walk::{self, Holder};

/// The object that holds the function of this name at an address, with what `look` makes of it. `None`
/// when there is something else at the address than a function of this name.
pub(crate) fn of<T>(
    name: &CStr,
    address: usize,
    look: impl Fn(&Object<'_>) -> T,
) -> Option<(Holder, T)> {
    let mut found = None;
    walk::each(|place| {
        if !place.object.holds(address) {
            return ControlFlow::Continue(());
        }
        if place.object.functions_include(name.to_bytes(), address) {
            found = Holder::of(&place).map(|holder| (holder, look(&place.object)));
        }
        ControlFlow::Break(())
    });
    found
}

/// Whether any object offers a function of this name.
pub(crate) fn anybody_offers(name: &[u8]) -> bool {
    let mut found = false;
    walk::each(|place| {
        found = !place.is_own() && place.object.offers(name);
        match found {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_its_name_and_address_together() {
        let getpid = libc::getpid as *const () as usize;
        let file = |object: &Object<'_>| object.file_name().starts_with(b"libc.so");
        assert_eq!(of(c"getpid", getpid, file).map(|it| it.1), Some(true));
        assert!(of(c"getppid", getpid, file).is_none());
        assert!(of(c"getpid", getpid + 1, file).is_none());
        assert!(of(c"environ", getpid, file).is_none());
        assert!(anybody_offers(b"getpid") && !anybody_offers(b"aclNothing"));
    }
}
