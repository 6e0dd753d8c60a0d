//! The loader's result for a name, without a call of the loader: a query would change the error that
//! the program may want to read.

use core::ffi::CStr;
use core::ops::ControlFlow;

use super::walk;

/// The function that a call which is bound at its first use would reach. `None` where that is not
/// known: objects that were loaded later may or may not see each other.
pub(super) fn called(name: &CStr) -> Option<usize> {
    let mut found: Option<usize> = None;
    let mut is_clear = true;
    walk::each(|place| {
        if place.is_own() {
            return ControlFlow::Continue(());
        }
        let Some(address) = place.object.function(name) else {
            return ControlFlow::Continue(());
        };
        if place.is_from_start() {
            found = Some(address);
            return ControlFlow::Break(());
        }
        is_clear &= found.is_none_or(|other| other == address);
        found = Some(address);
        ControlFlow::Continue(())
    });
    found.filter(|_| is_clear)
}

/// Whether a function is in an object after this library, in the order of lookups: a reference to it by
/// a name of the table was linked past this library. So was each one in a process that has this library late.
pub(super) fn is_past_us(address: usize) -> bool {
    if walk::is_late() {
        return !walk::is_own_address(address);
    }
    let own = walk::holder(walk::own_address());
    let holder = walk::holder(address);
    matches!((own, holder), (Some(own), Some(holder)) if holder.position > own.position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_loaded_at_the_start_are_called() {
        let getpid = libc::getpid as *const () as usize;
        assert_eq!(called(c"getpid"), Some(getpid));
        assert_eq!(called(c"aclNoSuchFunction"), None);
        assert!(is_past_us(getpid));
        assert!(!is_past_us(8));
    }
}
