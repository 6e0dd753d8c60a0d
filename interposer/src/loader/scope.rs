//! The functions that a late library would have been linked to without this library.
//!
//! Such a library finds a name in the global scope, and else among the libraries that were loaded with
//! the opened one: itself, or one that needs it. The loader reports the first; the second is read from
//! the dependencies of libraries, in the loader's order. Use it while the loader is locked, and where
//! its error may change.

use core::ffi::CStr;

use super::dlsym::SymbolLookup;
use super::link_map::{self, Link};
use super::walk;

/// The libraries that were loaded late with the opened one, in the order of lookups. Those beyond the
/// limit are not searched.
pub(super) struct Scope {
    list: List<256>,
}

/// Where a name leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SymbolHolders {
    /// Another library that serves everybody has it before this one.
    pub(super) is_taken: bool,
    /// In what serves everybody, behind this library.
    pub(super) global: Option<usize>,
    /// In what serves the library.
    pub(super) local: Option<usize>,
}

impl SymbolHolders {
    /// The target of the name in this order.
    pub(super) fn first(self) -> Option<usize> {
        self.global.or(self.local)
    }

    /// Its target in either order.
    pub(super) fn only(self) -> Option<usize> {
        match (self.global, self.local) {
            _ if self.is_taken => None,
            (Some(global), Some(local)) if global != local => None,
            _ => self.first(),
        }
    }
}

impl Scope {
    /// The scope of the object at this base.
    pub(super) fn of(base: usize) -> Self {
        let mut list = List::new();
        if let Some(opened) = opened(base) {
            list.add(opened);
        }
        let mut next = 0;
        while let Some(link) = list.get(next) {
            next += 1;
            link.each_needed(&mut |name| {
                if let Some((position, needed)) = link_map::called(name)
                    && !walk::is_from_start(position)
                {
                    list.add(needed);
                }
            });
        }
        Self { list }
    }

    /// The target of a name for the library.
    pub(super) fn find(&self, name: &CStr, version: Option<&CStr>) -> SymbolHolders {
        let Some(question) = SymbolLookup::of(name, version) else {
            return SymbolHolders::default();
        };
        let plain = question.ask(libc::RTLD_DEFAULT);
        // A library that came late is found by no other object.
        let (is_first, next) = match walk::is_late() {
            true => (true, plain),
            false => (walk::is_own_address(plain), question.ask(libc::RTLD_NEXT)),
        };
        let mut links = (0..).map_while(|index| self.list.get(index));
        SymbolHolders {
            is_taken: plain != 0 && !is_first,
            global: (next != 0 && !walk::is_own_address(next)).then_some(next),
            local: links.find_map(|link| link.function(name, version)),
        }
    }
}

/// The library that was opened when the one at this base was loaded: the first of those before it that
/// lead to it, since all that one library brings comes behind it.
fn opened<'a>(base: usize) -> Option<&'a Link> {
    let late = || {
        let links = link_map::links().enumerate();
        links.filter(|(position, _)| !walk::is_from_start(*position))
    };
    let (own, link) = late().find(|(_, link)| link.base == base)?;
    let mut leading = List::<32>::new();
    leading.add(link);
    let mut first = (own, link);
    let mut next = 0;
    while let Some(needed) = leading.get(next) {
        next += 1;
        for (position, other) in late().take_while(|(position, _)| *position < own) {
            let mut does_need = false;
            other.each_needed(&mut |name| does_need |= needed.is_called(name));
            if does_need {
                leading.add(other);
                if position < first.0 {
                    first = (position, other);
                }
            }
        }
    }
    Some(first.1)
}

/// Entries of the loader's list, each once.
struct List<const N: usize> {
    addresses: [usize; N],
    count: usize,
}

impl<const N: usize> List<N> {
    fn new() -> Self {
        Self {
            addresses: [0; N],
            count: 0,
        }
    }

    fn get<'a>(&self, index: usize) -> Option<&'a Link> {
        let address = *self.addresses.get(..self.count)?.get(index)?;
        // SAFETY: an entry of the list's, and the loader is locked.
        Some(unsafe { &*(address as *const Link) })
    }

    fn add(&mut self, link: &Link) {
        let address = core::ptr::from_ref(link) as usize;
        let known = self.addresses.iter().take(self.count);
        if known.into_iter().any(|known| *known == address) {
            return;
        }
        if let Some(place) = self.addresses.get_mut(self.count) {
            *place = address;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_loaded_at_the_start_have_no_local_scope() {
        let libc = link_map::c_library().unwrap();
        walk::each(|_| core::ops::ControlFlow::Break(()));
        let scope = Scope::of(libc.base);
        assert_eq!(scope.list.count, 0);
        let getpid = libc::getpid as *const () as usize;
        let found = scope.find(c"getpid", None);
        // This library, the program in a test, has no such function.
        assert_eq!((found.first(), found.only()), (Some(getpid), None));
        assert_eq!(
            scope.find(c"aclNoSuchFunction", None),
            SymbolHolders::default()
        );
    }

    #[test]
    fn two_places_are_distinguished_where_the_order_is_not_known() {
        let both = SymbolHolders {
            global: Some(1),
            local: Some(2),
            ..SymbolHolders::default()
        };
        assert_eq!((both.first(), both.only()), (Some(1), None));
        let same = SymbolHolders {
            local: Some(1),
            ..both
        };
        assert_eq!((same.first(), same.only()), (Some(1), Some(1)));
    }
}
