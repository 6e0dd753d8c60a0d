//! Versions of symbols: which one an object asks for, and which ones it defines.

use core::ffi::CStr;

use super::object::{Dynamic, VERSION_HIDDEN, read};

impl Dynamic {
    /// # Safety
    /// The tables must be those of a mapped object and hold a symbol `index`.
    pub(super) unsafe fn wanted_version<'a>(&self, index: usize) -> Option<&'a CStr> {
        /// Needed versions of one library: their number, and the places of the first one and of the
        /// next library.
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Needed {
            version: u16,
            count: u16,
            file: u32,
            first: u32,
            next: u32,
        }
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Version {
            hash: u32,
            flags: u16,
            number: u16,
            name: u32,
            next: u32,
        }
        let (mut library, libraries) = self.needed_versions;
        if self.versions == 0 || library == 0 {
            return None;
        }
        // SAFETY: where there are versions, each symbol has one; the tables are as their counts and
        // distances say.
        unsafe {
            let wanted = self.version(index);
            for _ in 0..libraries {
                let needed: Needed = read(library);
                let mut place = library.wrapping_add(needed.first as usize);
                for _ in 0..needed.count {
                    let version: Version = read(place);
                    if version.number & !VERSION_HIDDEN == wanted {
                        return Some(self.text(version.name as usize));
                    }
                    place = place.wrapping_add(version.next as usize);
                }
                library = library.wrapping_add(needed.next as usize);
            }
        }
        None
    }

    /// The number of a version that the object defines.
    ///
    /// # Safety
    /// The tables must be those of a mapped object.
    pub(super) unsafe fn own_version(&self, name: &CStr) -> Option<u16> {
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Defined {
            version: u16,
            flags: u16,
            number: u16,
            count: u16,
            hash: u32,
            names: u32,
            next: u32,
        }
        let (mut place, count) = self.own_versions;
        for _ in 0..count {
            // SAFETY: the table is as its count and distances say; the first name is the version's own.
            unsafe {
                let defined: Defined = read(place);
                let own: u32 = read(place.wrapping_add(defined.names as usize));
                if self.text(own as usize) == name {
                    return Some(defined.number & !VERSION_HIDDEN);
                }
                place = place.wrapping_add(defined.next as usize);
            }
        }
        None
    }

    /// The number of a symbol's version.
    ///
    /// # Safety
    /// As [`Dynamic::symbol`], of an object that has versions.
    pub(super) unsafe fn version(&self, index: usize) -> u16 {
        // SAFETY: where there are versions, each symbol has one.
        unsafe { read::<u16>(self.versions.wrapping_add(index * 2)) & !VERSION_HIDDEN }
    }
}
