//! An object that the loader has mapped, read as the loader itself reads it: its dynamic section,
//! its symbols by hash, its relocations.
//!
//! Lookups by hand, because `dlsym` would change the loader's error state of the calling thread, which
//! is the program's, and because this library replaces `dlsym`.

mod symbols;

use core::ffi::CStr;

use libc::Elf64_Phdr;

use symbols::{STB_WEAK, Version};

pub(super) use symbols::VERSION_HIDDEN;

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
