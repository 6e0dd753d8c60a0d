//! The symbols of an object: by number, and by name with the hash tables of both formats.

use core::ffi::CStr;

use libc::Elf64_Sym;

use super::{Dynamic, read};

const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;
const STB_GLOBAL: u8 = 1;
pub(super) const STB_WEAK: u8 = 2;
const STB_UNIQUE: u8 = 10;
/// Bit of a symbol's version: an old version, which plain references do not get.
pub(in crate::loader) const VERSION_HIDDEN: u16 = 0x8000;

/// Which of the symbols of one name is meant.
#[derive(Clone, Copy)]
pub(super) enum Version {
    /// The one that plain references get.
    Current,
    /// The same, but of data.
    Data,
    /// The one with this value.
    At(usize),
    /// The one in the object's version of this number.
    Numbered(u16),
}

impl Dynamic {
    /// # Safety
    /// `place` must be one in the table of strings of a mapped object.
    pub(in crate::loader) unsafe fn text<'a>(&self, place: usize) -> &'a CStr {
        // SAFETY: as the caller says.
        unsafe { CStr::from_ptr(self.strings.wrapping_add(place) as *const _) }
    }

    /// # Safety
    /// The tables must be those of a mapped object and hold a symbol `index`.
    pub(super) unsafe fn symbol(&self, index: usize) -> Elf64_Sym {
        // SAFETY: as the caller says.
        unsafe {
            read(
                self.symbols
                    .wrapping_add(index.wrapping_mul(size_of::<Elf64_Sym>())),
            )
        }
    }

    /// # Safety
    /// `symbol` must come from this object.
    pub(in crate::loader) unsafe fn name<'a>(&self, symbol: Elf64_Sym) -> &'a CStr {
        // SAFETY: names of symbols are C strings in the object's string table.
        unsafe { CStr::from_ptr(self.strings.wrapping_add(symbol.st_name as usize) as *const _) }
    }

    /// # Safety
    /// The tables must be those of a mapped object.
    pub(super) unsafe fn find(&self, name: &[u8], version: Version) -> Option<Elf64_Sym> {
        // SAFETY: as the caller says.
        unsafe {
            if self.gnu_hash != 0 {
                self.find_gnu(name, version)
            } else if self.sysv_hash != 0 {
                self.find_sysv(name, version)
            } else {
                None
            }
        }
    }

    /// # Safety
    /// As [`Dynamic::find`].
    unsafe fn find_gnu(&self, name: &[u8], version: Version) -> Option<Elf64_Sym> {
        let hash = gnu_hash(name);
        // SAFETY: the table begins with four words, a filter, the buckets and the chains, as the
        // reads below follow them.
        unsafe {
            let [buckets, first, filter_words, shift]: [u32; 4] = read(self.gnu_hash);
            if buckets == 0 || filter_words == 0 {
                return None;
            }
            let filter = self.gnu_hash + 16;
            let word: u64 = read(filter + ((hash / 64) % filter_words) as usize * 8);
            let wanted = 1u64 << (hash % 64) | 1u64 << ((hash >> (shift & 31)) % 64);
            if word & wanted != wanted {
                return None;
            }
            let bucket_table = filter + filter_words as usize * 8;
            let chain_table = bucket_table + buckets as usize * 4;
            let mut index: u32 = read(bucket_table + (hash % buckets) as usize * 4);
            if index < first {
                return None;
            }
            loop {
                let link: u32 = read(chain_table + (index - first) as usize * 4);
                if link | 1 == hash | 1
                    && let Some(symbol) = self.matching(index as usize, name, version)
                {
                    return Some(symbol);
                }
                if link & 1 != 0 {
                    return None;
                }
                index += 1;
            }
        }
    }

    /// # Safety
    /// As [`Dynamic::find`].
    unsafe fn find_sysv(&self, name: &[u8], version: Version) -> Option<Elf64_Sym> {
        let hash = sysv_hash(name);
        // SAFETY: two counts, then the buckets and the chains; an index of 0 ends a chain.
        unsafe {
            let [buckets, _]: [u32; 2] = read(self.sysv_hash);
            if buckets == 0 {
                return None;
            }
            let chains = self.sysv_hash + 8 + buckets as usize * 4;
            let mut index: u32 = read(self.sysv_hash + 8 + (hash % buckets) as usize * 4);
            while index != 0 {
                if let Some(symbol) = self.matching(index as usize, name, version) {
                    return Some(symbol);
                }
                index = read(chains + index as usize * 4);
            }
            None
        }
    }

    /// The symbol `index`, if it is a function, or data, of this name that others get as `version` says.
    ///
    /// # Safety
    /// As [`Dynamic::symbol`].
    unsafe fn matching(&self, index: usize, name: &[u8], version: Version) -> Option<Elf64_Sym> {
        // SAFETY: as the caller says.
        unsafe {
            let symbol = self.symbol(index);
            let binding = symbol.st_info >> 4;
            let is_offered = matches!(binding, STB_GLOBAL | STB_WEAK | STB_UNIQUE);
            let wanted = match version {
                Version::Data => STT_OBJECT,
                _ => STT_FUNC,
            };
            let is_right = symbol.st_info & 15 == wanted;
            let is_meant = match version {
                Version::Current | Version::Data => !self.is_hidden(index),
                Version::At(value) => symbol.st_value as usize == value,
                Version::Numbered(number) => self.versions != 0 && self.version(index) == number,
            };
            if symbol.st_shndx == 0 || !is_offered || !is_right || !is_meant {
                return None;
            }
            (self.name(symbol).to_bytes() == name).then_some(symbol)
        }
    }

    /// The symbol `index`, if it is a function that others get by a plain reference.
    ///
    /// # Safety
    /// As [`Dynamic::symbol`].
    pub(in crate::loader) unsafe fn offered(&self, index: usize) -> Option<Elf64_Sym> {
        // SAFETY: as the caller says.
        unsafe {
            let symbol = self.symbol(index);
            let is_offered = matches!(symbol.st_info >> 4, STB_GLOBAL | STB_WEAK | STB_UNIQUE);
            let is_function = symbol.st_info & 15 == STT_FUNC;
            let is_there = symbol.st_shndx != 0 && is_offered && is_function;
            (is_there && !self.is_hidden(index)).then_some(symbol)
        }
    }

    /// # Safety
    /// As [`Dynamic::symbol`].
    unsafe fn is_hidden(&self, index: usize) -> bool {
        // SAFETY: where there are versions, each symbol has one.
        self.versions != 0
            && unsafe { read::<u16>(self.versions + index * 2) } & VERSION_HIDDEN != 0
    }
}

fn gnu_hash(name: &[u8]) -> u32 {
    let add = |hash: u32, byte: &u8| hash.wrapping_mul(33).wrapping_add(u32::from(*byte));
    name.iter().fold(5381, add)
}

fn sysv_hash(name: &[u8]) -> u32 {
    name.iter().fold(0u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(*byte));
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_formats() {
        assert_eq!(gnu_hash(b""), 5381);
        assert_eq!(gnu_hash(b"printf"), 0x156b_2bb8);
        assert_eq!(sysv_hash(b""), 0);
        assert_eq!(sysv_hash(b"printf"), 0x0779_05a6);
    }
}
