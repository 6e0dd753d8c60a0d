//! Mapped memory: the segments of the objects that the loader has, and their symbols.

use core::ffi::{c_int, c_void};

use libc::Elf64_Sym;

use crate::forwarder::ProgramMemory;

/// Asks `dladdr1` for the symbol's entry.
const RTLD_DL_SYMENT: c_int = 1;

struct Segment {
    start: usize,
    length: usize,
    flags: u32,
}

/// A snapshot of the program's memory. Objects that are unloaded later make it wrong: it is only used
/// while nothing is unloaded, because all objects that it reads are pinned.
pub(crate) struct MemoryImage {
    segments: Vec<Segment>,
    own: [usize; 2],
}

impl MemoryImage {
    /// `own` is the interposer's memory: first address and length.
    pub(crate) fn now(own: [usize; 2]) -> Self {
        let mut segments = Vec::<Segment>::new();
        // SAFETY: `visit` gets the vector back. Nothing else uses it during the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut segments).cast()) };
        Self { segments, own }
    }

    /// Bytes that can be read from an address on, in a segment with these flags.
    fn readable(&self, address: usize, flags: u32) -> Option<usize> {
        let flags = flags | libc::PF_R;
        let holds = |segment: &&Segment| {
            address.wrapping_sub(segment.start) < segment.length && segment.flags & flags == flags
        };
        let segment = self.segments.iter().find(holds)?;
        Some(segment.length - (address - segment.start))
    }
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: `data` is the vector of `MemoryImage::now`, `info` the loader's valid description.
    let (info, segments) = unsafe { (&*info, &mut *data.cast::<Vec<Segment>>()) };
    for index in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: the table has this many entries.
        let header = unsafe { &*info.dlpi_phdr.add(index) };
        if header.p_type == libc::PT_LOAD {
            segments.push(Segment {
                start: (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize),
                length: header.p_memsz as usize,
                flags: header.p_flags,
            });
        }
    }
    0
}

impl ProgramMemory for MemoryImage {
    fn code(&self, address: usize) -> Option<&[u8]> {
        let length = self.readable(address, libc::PF_X)?;
        // SAFETY: a mapped segment that can be read; nothing is unloaded while this is borrowed.
        Some(unsafe { core::slice::from_raw_parts(address as *const u8, length) })
    }

    fn word(&self, address: usize) -> Option<usize> {
        let length = self.readable(address, 0)?;
        // SAFETY: as above, and there is room for a word.
        (length >= size_of::<usize>())
            .then(|| unsafe { core::ptr::read_unaligned(address as *const usize) })
    }

    fn length(&self, address: usize) -> usize {
        let mut symbol: *mut c_void = core::ptr::null_mut();
        // SAFETY: all zeroes are valid for a structure of addresses.
        let mut info: libc::Dl_info = unsafe { core::mem::zeroed() };
        // SAFETY: writes to the two locals.
        let found = unsafe {
            libc::dladdr1(
                address as *const c_void,
                &raw mut info,
                &raw mut symbol,
                RTLD_DL_SYMENT,
            )
        };
        if found == 0 || symbol.is_null() || info.dli_saddr as usize != address {
            return 0;
        }
        // SAFETY: the loader returned an entry of a mapped symbol table.
        unsafe { (*symbol.cast::<Elf64_Sym>()).st_size as usize }
    }

    fn is_own(&self, address: usize) -> bool {
        address.wrapping_sub(self.own[0]) < self.own[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_mapped_libraries_have_code_and_length() {
        let image = MemoryImage::now([0, 0]);
        let getpid = libc::getpid as *const () as usize;
        assert!(image.code(getpid).is_some_and(|code| code.len() > 8));
        assert!(image.length(getpid) > 0);
        assert_eq!(image.length(getpid + 1), 0, "no function begins there");
        assert!(image.word(getpid).is_some());
    }

    #[test]
    fn bytes_that_are_no_code_are_recognised() {
        let image = MemoryImage::now([0x1000, 16]);
        let local = 0usize;
        assert!(image.code((&raw const local) as usize).is_none());
        static VALUE: usize = 77;
        let address = (&raw const VALUE) as usize;
        assert_eq!(image.word(address), Some(77));
        assert!(image.code(8).is_none() && image.word(8).is_none());
        assert!(image.is_own(0x100f) && !image.is_own(0x1010));
    }
}
