//! An object that the loader has mapped, read as the loader itself reads it: its dynamic section,
//! its symbols by hash, its relocations.
//!
//! Lookups by hand, because `dlsym` would change the loader's error state of the calling thread, which
//! is the program's, and because this library replaces `dlsym`.

use core::ffi::CStr;

use libc::{Elf64_Phdr, Elf64_Sym};

const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_PLTRELSZ: u64 = 2;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_SONAME: u64 = 14;
const DT_JMPREL: u64 = 23;
const DT_GNU_HASH: u64 = 0x6fff_fef5;
const DT_VERSYM: u64 = 0x6fff_fff0;
const DT_VERDEF: u64 = 0x6fff_fffc;
const DT_VERDEFNUM: u64 = 0x6fff_fffd;
const DT_VERNEED: u64 = 0x6fff_fffe;
const DT_VERNEEDNUM: u64 = 0x6fff_ffff;

const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;
const STB_GLOBAL: u8 = 1;
const STB_WEAK: u8 = 2;
const STB_UNIQUE: u8 = 10;
/// Bit of a symbol's version: an old version, which plain references do not get.
pub(super) const VERSION_HIDDEN: u16 = 0x8000;

/// A relocation with an addend.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Rela {
    pub(crate) offset: u64,
    info: u64,
    pub(crate) addend: i64,
}

impl Rela {
    pub(crate) fn kind(self) -> u32 {
        self.info as u32
    }

    pub(crate) fn symbol(self) -> usize {
        (self.info >> 32) as usize
    }
}

/// A place where an object keeps the address of a symbol.
#[derive(Clone, Copy)]
pub(crate) struct Reference<'a> {
    pub(crate) rela: Rela,
    pub(crate) name: &'a CStr,
    /// The object does not define it.
    pub(crate) is_missing: bool,
    /// The object can do without it.
    pub(crate) is_weak: bool,
}

/// One mapped object. Valid for as long as the loader keeps it.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a> {
    pub(crate) base: usize,
    /// The path as the loader gives it; empty for the program.
    pub(crate) name: &'a CStr,
    segments: &'a [Elf64_Phdr],
}

/// Which of the symbols of one name is meant.
#[derive(Clone, Copy)]
enum Version {
    /// The one that plain references get.
    Current,
    /// The same, but of data.
    Data,
    /// The one with this value.
    At(usize),
    /// The one in the object's version of this number.
    Numbered(u16),
}

/// The tables of an object's dynamic section, as addresses; 0 for missing ones.
#[derive(Clone, Copy, Default)]
pub(super) struct Dynamic {
    symbols: usize,
    strings: usize,
    pub(super) gnu_hash: usize,
    pub(super) sysv_hash: usize,
    pub(super) versions: usize,
    pub(super) needed_versions: (usize, usize),
    pub(super) own_versions: (usize, usize),
    rela: (usize, usize),
    plt: (usize, usize),
}

/// A value in mapped memory.
///
/// # Safety
/// `address` must be that of a readable `T`.
pub(super) unsafe fn read<T: Copy>(address: usize) -> T {
    // SAFETY: as the caller says.
    unsafe { core::ptr::read_unaligned(address as *const T) }
}

/// The build id among an object's notes.
fn build_id_in(mut notes: &[u8]) -> Option<&[u8]> {
    const BUILD_ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let word = |at: usize| Some(u32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let (name_length, length) = (word(0)? as usize, word(4)? as usize);
        let content = rest.get(name_length.next_multiple_of(4)..)?;
        if word(8)? == BUILD_ID && rest.starts_with(b"GNU\0") {
            return content.get(..length);
        }
        notes = content.get(length.next_multiple_of(4)..)?;
    }
}

impl<'a> Object<'a> {
    /// The object that the loader describes.
    ///
    /// # Safety
    /// `info` must come from `dl_iterate_phdr`, and the object must stay mapped during `'a`.
    pub(crate) unsafe fn new(info: &'a libc::dl_phdr_info) -> Self {
        let name = if info.dlpi_name.is_null() {
            c""
        } else {
            // SAFETY: the loader gives a C string.
            unsafe { CStr::from_ptr(info.dlpi_name) }
        };
        let segments = if info.dlpi_phdr.is_null() {
            &[][..]
        } else {
            // SAFETY: the loader gives the table and its length.
            unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
        };
        Self {
            base: info.dlpi_addr as usize,
            name,
            segments,
        }
    }

    /// An object of which the parts are known.
    pub(super) fn of_parts(base: usize, name: &'a CStr, segments: &'a [Elf64_Phdr]) -> Self {
        Self {
            base,
            name,
            segments,
        }
    }

    /// Where the dynamic section is.
    pub(super) fn dynamic_address(&self) -> Option<usize> {
        let segment = self
            .segments
            .iter()
            .find(|s| s.p_type == libc::PT_DYNAMIC)?;
        Some(self.base.wrapping_add(segment.p_vaddr as usize))
    }

    /// Calls `action` with begin and end of each segment that the object writes to.
    pub(super) fn each_writable(&self, action: &mut dyn FnMut(usize, usize)) {
        let written = |s: &&Elf64_Phdr| s.p_type == libc::PT_LOAD && s.p_flags & libc::PF_W != 0;
        for segment in self.segments.iter().filter(written) {
            let start = self.base.wrapping_add(segment.p_vaddr as usize);
            action(start, start.wrapping_add(segment.p_memsz as usize));
        }
    }

    /// The file's name without folders.
    pub(crate) fn file_name(&self) -> &'a [u8] {
        let path = self.name.to_bytes();
        path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
    }

    /// Whether an address is in one of the object's segments.
    pub(crate) fn holds(&self, address: usize) -> bool {
        let mut loaded = self.segments.iter().filter(|s| s.p_type == libc::PT_LOAD);
        loaded.any(|segment| {
            let start = self.base.wrapping_add(segment.p_vaddr as usize);
            address.wrapping_sub(start) < segment.p_memsz as usize
        })
    }

    /// The bytes from an address of the object to the end of their segment in the file.
    pub(crate) fn readable_from(&self, address: usize) -> Option<&'a [u8]> {
        let readable = |s: &&Elf64_Phdr| s.p_type == libc::PT_LOAD && s.p_flags & libc::PF_R != 0;
        self.segments.iter().filter(readable).find_map(|segment| {
            let start = self.base.wrapping_add(segment.p_vaddr as usize);
            let length = segment.p_filesz.min(segment.p_memsz) as usize;
            let left = length.checked_sub(address.wrapping_sub(start))?;
            // SAFETY: the rest of a segment that is mapped, and stays so during `'a`.
            (left > 0).then(|| unsafe { core::slice::from_raw_parts(address as *const u8, left) })
        })
    }

    /// Where the sorted table of its functions is, for unwinding.
    pub(crate) fn unwind_header(&self) -> Option<usize> {
        let mut segments = self.segments.iter();
        let header = segments.find(|s| s.p_type == libc::PT_GNU_EH_FRAME)?;
        Some(self.base.wrapping_add(header.p_vaddr as usize))
    }

    /// The linker's id of this build of the object.
    pub(crate) fn build_id(&self) -> Option<&'a [u8]> {
        let notes = self.segments.iter().filter(|s| s.p_type == libc::PT_NOTE);
        notes.into_iter().find_map(|segment| {
            let start = self.base.wrapping_add(segment.p_vaddr as usize);
            let bytes = self.readable_from(start)?;
            build_id_in(bytes.get(..segment.p_filesz as usize)?)
        })
    }

    /// Whether an address is in a segment that the object writes to, at least while it is relocated.
    pub(crate) fn writes_to(&self, address: usize) -> bool {
        self.segments.iter().any(|segment| {
            let start = self.base.wrapping_add(segment.p_vaddr as usize);
            segment.p_type == libc::PT_LOAD
                && segment.p_flags & libc::PF_W != 0
                && address.wrapping_sub(start) < segment.p_memsz as usize
        })
    }

    /// From the first segment's begin to the last one's end: address and length.
    pub(crate) fn range(&self) -> (usize, usize) {
        let loaded = self.segments.iter().filter(|s| s.p_type == libc::PT_LOAD);
        let bounds = loaded.map(|s| (s.p_vaddr as usize, (s.p_vaddr + s.p_memsz) as usize));
        let whole = bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (first, end) = whole.unwrap_or_default();
        (self.base.wrapping_add(first), end.saturating_sub(first))
    }

    /// The part that is made read-only once the object is relocated: first address and length.
    pub(crate) fn read_only_after_start(&self) -> Option<(usize, usize)> {
        let segment = self
            .segments
            .iter()
            .find(|s| s.p_type == libc::PT_GNU_RELRO)?;
        let start = self.base.wrapping_add(segment.p_vaddr as usize);
        Some((start, segment.p_memsz as usize))
    }

    /// The function of this name that the object defines for others.
    pub(crate) fn function(&self, name: &CStr) -> Option<usize> {
        let dynamic = self.dynamic()?;
        // SAFETY: the tables are those of a mapped object, laid out as its format says.
        let symbol = unsafe { dynamic.find(name.to_bytes(), Version::Current) }?;
        Some(self.base.wrapping_add(symbol.st_value as usize))
    }

    /// As above, and how long it is.
    pub(crate) fn function_extent(&self, name: &CStr) -> Option<(usize, usize)> {
        let dynamic = self.dynamic()?;
        // SAFETY: as in `function`.
        let symbol = unsafe { dynamic.find(name.to_bytes(), Version::Current) }?;
        let begin = self.base.wrapping_add(symbol.st_value as usize);
        Some((begin, symbol.st_size as usize))
    }

    /// The data of this name that the object defines for others.
    pub(crate) fn data(&self, name: &CStr) -> Option<usize> {
        let dynamic = self.dynamic()?;
        // SAFETY: as in `function`.
        let symbol = unsafe { dynamic.find(name.to_bytes(), Version::Data) }?;
        Some(self.base.wrapping_add(symbol.st_value as usize))
    }

    /// Whether the object defines a function of this name for others.
    pub(crate) fn offers(&self, name: &[u8]) -> bool {
        // SAFETY: as in `function`.
        self.dynamic()
            .is_some_and(|dynamic| unsafe { dynamic.find(name, Version::Current) }.is_some())
    }

    /// Whether the object has a function of this name at an address, be it of an old version.
    pub(crate) fn functions_include(&self, name: &[u8], address: usize) -> bool {
        let value = address.wrapping_sub(self.base);
        let Some(dynamic) = self.dynamic() else {
            return false;
        };
        // SAFETY: as in `function`.
        unsafe { dynamic.find(name, Version::At(value)) }.is_some()
    }

    pub(super) fn dynamic(&self) -> Option<Dynamic> {
        let mut entry = self.dynamic_address()?;
        let mut found = Dynamic::default();
        loop {
            // SAFETY: the dynamic section is mapped and ends with a special entry.
            let [tag, value] = unsafe { read::<[u64; 2]>(entry) };
            match tag {
                DT_NULL => break,
                DT_SYMTAB => found.symbols = self.place(value),
                DT_STRTAB => found.strings = self.place(value),
                DT_GNU_HASH => found.gnu_hash = self.place(value),
                DT_HASH => found.sysv_hash = self.place(value),
                DT_VERSYM => found.versions = self.place(value),
                DT_VERDEF => found.own_versions.0 = self.place(value),
                DT_VERDEFNUM => found.own_versions.1 = value as usize,
                DT_VERNEED => found.needed_versions.0 = self.place(value),
                DT_VERNEEDNUM => found.needed_versions.1 = value as usize,
                DT_RELA => found.rela.0 = self.place(value),
                DT_RELASZ => found.rela.1 = value as usize,
                DT_JMPREL => found.plt.0 = self.place(value),
                DT_PLTRELSZ => found.plt.1 = value as usize,
                _ => {}
            }
            entry = entry.wrapping_add(size_of::<[u64; 2]>());
        }
        (found.symbols != 0 && found.strings != 0).then_some(found)
    }

    /// Calls `action` with tag and value of each entry of the dynamic section.
    fn each_entry(&self, mut action: impl FnMut(u64, u64)) {
        let Some(mut entry) = self.dynamic_address() else {
            return;
        };
        loop {
            // SAFETY: the dynamic section is mapped and ends with a special entry.
            let [tag, value] = unsafe { read::<[u64; 2]>(entry) };
            if tag == DT_NULL {
                return;
            }
            action(tag, value);
            entry = entry.wrapping_add(size_of::<[u64; 2]>());
        }
    }

    /// The name that others need the object by, if it has one.
    pub(super) fn own_name(&self) -> Option<&'a CStr> {
        let dynamic = self.dynamic()?;
        let mut found = None;
        self.each_entry(|tag, value| {
            if tag == DT_SONAME {
                // SAFETY: a place in the object's string table.
                found = Some(unsafe { dynamic.text(value as usize) });
            }
        });
        found
    }

    /// Calls `action` with the name of each object that this one needs.
    pub(super) fn each_needed(&self, action: &mut dyn FnMut(&CStr)) {
        let Some(dynamic) = self.dynamic() else {
            return;
        };
        self.each_entry(|tag, value| {
            if tag == DT_NEEDED {
                // SAFETY: as above.
                action(unsafe { dynamic.text(value as usize) });
            }
        });
    }

    /// The function of this name that the object defines for others who ask for a version of it: that
    /// one, or the only one of an object without versions.
    pub(super) fn function_in_version(&self, name: &CStr, version: &CStr) -> Option<usize> {
        let dynamic = self.dynamic()?;
        if dynamic.own_versions.0 == 0 {
            return self.function(name);
        }
        // SAFETY: as in `function`.
        let symbol = unsafe {
            let number = dynamic.own_version(version)?;
            dynamic.find(name.to_bytes(), Version::Numbered(number))
        }?;
        Some(self.base.wrapping_add(symbol.st_value as usize))
    }

    /// The version of a symbol that the object refers to, if it asks for one.
    pub(super) fn wanted_version(&self, symbol: usize) -> Option<&'a CStr> {
        let dynamic = self.dynamic()?;
        // SAFETY: the tables are those of a mapped object, and it has such a symbol.
        unsafe { dynamic.wanted_version(symbol) }
    }

    /// An address of the dynamic section. glibc has added the base to most, but not to those of
    /// objects that it cannot write to.
    fn place(&self, value: u64) -> usize {
        let value = value as usize;
        if value < self.base {
            self.base.wrapping_add(value)
        } else {
            value
        }
    }

    /// Calls `action` with each relocation that names a symbol which the object lacks, or lets others
    /// replace.
    pub(crate) fn references(&self, mut action: impl FnMut(Reference<'a>)) {
        let Some(dynamic) = self.dynamic() else {
            return;
        };
        for (table, bytes) in [dynamic.rela, dynamic.plt] {
            if table == 0 {
                continue;
            }
            for index in 0..bytes / size_of::<Rela>() {
                // SAFETY: the table has this many entries; a relocation names a symbol of the object's
                // table, and that a string of the object.
                unsafe {
                    let rela: Rela = read(table.wrapping_add(index * size_of::<Rela>()));
                    if rela.symbol() == 0 {
                        continue;
                    }
                    let symbol = dynamic.symbol(rela.symbol());
                    action(Reference {
                        rela,
                        name: dynamic.name(symbol),
                        is_missing: symbol.st_shndx == 0,
                        is_weak: symbol.st_info >> 4 == STB_WEAK,
                    });
                }
            }
        }
    }

    /// The same object, for as long as the loader keeps it.
    ///
    /// # Safety
    /// The caller must not use it when the object may have been unloaded.
    pub(crate) unsafe fn kept(&self) -> Object<'static> {
        // SAFETY: as the caller says: name and segments go away with the object.
        unsafe { core::mem::transmute::<Object<'_>, Object<'static>>(*self) }
    }
}

impl Dynamic {
    /// # Safety
    /// `place` must be one in the table of strings of a mapped object.
    pub(super) unsafe fn text<'a>(&self, place: usize) -> &'a CStr {
        // SAFETY: as the caller says.
        unsafe { CStr::from_ptr(self.strings.wrapping_add(place) as *const _) }
    }

    /// # Safety
    /// The tables must be those of a mapped object and hold a symbol `index`.
    unsafe fn symbol(&self, index: usize) -> Elf64_Sym {
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
    pub(super) unsafe fn name<'a>(&self, symbol: Elf64_Sym) -> &'a CStr {
        // SAFETY: names of symbols are C strings in the object's string table.
        unsafe { CStr::from_ptr(self.strings.wrapping_add(symbol.st_name as usize) as *const _) }
    }

    /// # Safety
    /// The tables must be those of a mapped object.
    unsafe fn find(&self, name: &[u8], version: Version) -> Option<Elf64_Sym> {
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
    pub(super) unsafe fn offered(&self, index: usize) -> Option<Elf64_Sym> {
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
