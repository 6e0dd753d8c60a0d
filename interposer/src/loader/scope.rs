//! What a library that was loaded late would have been linked to without us.
//!
//! Such a library finds a name in what serves everybody, and else among the libraries that came with
//! the one that was opened: itself, or one that needs it. Only the loader knows all of that, so it is
//! asked, with the lists of the libraries that lead to this one. To be used while the loader is locked,
//! and where the loader's error may change.

use core::ffi::{CStr, c_void};

use super::chain::{self, Link};
use super::dlsym::Question;
use super::walk;

/// Libraries whose lists may serve a library, in the order in which they were loaded.
pub(super) struct Scope {
    openers: [usize; Scope::MOST],
    count: usize,
}

/// Where a name leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Another library that serves everybody has it before this one.
    pub(super) is_taken: bool,
    /// In what serves everybody, behind this library.
    pub(super) global: Option<usize>,
    /// In what serves the library.
    pub(super) local: Option<usize>,
}

impl Found {
    /// What the name is bound to in this order.
    pub(super) fn first(self) -> Option<usize> {
        self.global.or(self.local)
    }

    /// What it is bound to in either order.
    pub(super) fn only(self) -> Option<usize> {
        match (self.global, self.local) {
            _ if self.is_taken => None,
            (Some(global), Some(local)) if global != local => None,
            _ => self.first(),
        }
    }
}

impl Scope {
    /// A library that more than so many others lead to is told by the first of them.
    const MOST: usize = 32;

    /// The scope of the object at this base.
    pub(super) fn of(base: usize) -> Self {
        let mut scope = Self {
            openers: [0; Self::MOST],
            count: 0,
        };
        let Some(own) = chain::links().find(|link| link.base == base) else {
            return scope;
        };
        scope.add(own);
        // Whoever needs one that is known to lead there leads there as well.
        let mut looked_at = 0;
        while let Some(needed) = scope
            .openers
            .get(looked_at)
            .filter(|_| looked_at < scope.count)
        {
            let needed = *needed;
            looked_at += 1;
            // A library that came later was not there when this one was linked.
            for link in chain::links().take_while(|link| link.base != base) {
                let is_needed = |name: &CStr| is_called(needed, name);
                if !scope.has(link) && link.needs_any(&is_needed) {
                    scope.add(link);
                }
            }
        }
        scope.sort();
        scope
    }

    fn has(&self, link: &Link) -> bool {
        let address = core::ptr::from_ref(link) as usize;
        self.openers
            .iter()
            .take(self.count)
            .any(|known| *known == address)
    }

    fn add(&mut self, link: &Link) {
        if let Some(place) = self.openers.get_mut(self.count) {
            *place = core::ptr::from_ref(link) as usize;
            self.count += 1;
        }
    }

    /// Into the order in which they were loaded.
    fn sort(&mut self) {
        let position = |address: usize| {
            chain::links().position(|link| core::ptr::from_ref(link) as usize == address)
        };
        let count = self.count;
        if let Some(openers) = self.openers.get_mut(..count) {
            openers.sort_unstable_by_key(|address| position(*address));
        }
    }

    /// What a name leads to for the library.
    pub(super) fn find(&self, name: &CStr, version: Option<&CStr>) -> Found {
        let Some(question) = Question::of(name, version) else {
            return Found::default();
        };
        let ask = |handle: *mut c_void| match question.ask(handle) {
            0 => None,
            found => Some(found).filter(|found| !walk::is_own_address(*found)),
        };
        let plain = question.ask(libc::RTLD_DEFAULT);
        let mut openers = self.openers.iter().take(self.count);
        Found {
            is_taken: plain != 0 && !walk::is_own_address(plain),
            global: ask(libc::RTLD_NEXT),
            // To the loader, a handle is the library's entry in its list.
            local: openers.find_map(|address| ask(*address as *mut c_void)),
        }
    }
}

/// Whether the object behind this entry is what others mean by a name.
fn is_called(entry: usize, name: &CStr) -> bool {
    // SAFETY: the entry is one of the list's, and the loader is locked.
    let link = unsafe { &*(entry as *const Link) };
    link.is_called(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serves_everybody_is_found_for_a_library_that_was_there() {
        let libc = chain::c_library().unwrap();
        let scope = Scope::of(libc.base);
        assert!(scope.count >= 1);
        let getpid = libc::getpid as *const () as usize;
        let found = scope.find(c"getpid", None);
        // This library, the program in a test, has no such function.
        assert_eq!((found.first(), found.only()), (Some(getpid), None));
        assert_eq!(scope.find(c"aclNoSuchFunction", None), Found::default());
        let both = Found {
            global: Some(1),
            local: Some(2),
            ..Found::default()
        };
        assert_eq!((both.first(), both.only()), (Some(1), None));
        let same = Found {
            local: Some(1),
            ..both
        };
        assert_eq!((same.first(), same.only()), (Some(1), Some(1)));
    }
}
