//! The functions of `libc_sec.so` for memory and texts, which know the size of their target. Clients link to them.
//!
//! A mistake is a code, and most of them clear the target as well. Then 128 is added to the code.

use crate::ffi::complain;

const OK: i32 = 0;
const INVALID: i32 = 22;
const RANGE: i32 = 34;
const OVERLAP: i32 = 54;
const AND_RESET: i32 = 128;

/// Larger targets are mistakes.
const MOST: usize = 0x7fff_ffff;

/// The room for a result.
#[derive(Clone, Copy)]
struct Target {
    address: *mut u8,
    size: usize,
}

impl Target {
    /// A code for a target or a source that cannot be used.
    fn check(self, source: *const u8, cleared: usize) -> i32 {
        if self.size == 0 || self.size > MOST {
            return RANGE;
        }
        match (self.address.is_null(), source.is_null()) {
            (false, false) => OK,
            (false, true) => self.reset(INVALID, cleared),
            (true, _) => INVALID,
        }
    }

    /// Clears the begin of the target.
    fn reset(self, code: i32, cleared: usize) -> i32 {
        self.fill(0, cleared);
        code | AND_RESET
    }

    fn fill(self, byte: u8, count: usize) {
        // SAFETY: the caller passes memory of this size, and the count is not above it.
        unsafe { self.address.write_bytes(byte, count.min(self.size)) };
    }

    fn overlaps(self, source: *const u8, count: usize) -> bool {
        let (from, to) = (source.addr(), self.address.addr());
        from != to && from < to + count && to < from + count
    }

    /// Copies bytes; source and target may overlap.
    fn copy(self, source: *const u8, count: usize) -> i32 {
        // SAFETY: the caller passes a source of this size, and the count is not above the target's.
        unsafe { self.address.copy_from(source, count.min(self.size)) };
        OK
    }

    fn copy_bytes(self, source: *const u8, count: usize, may_overlap: bool) -> i32 {
        match self.check(source, self.size) {
            OK => {}
            code => return code,
        }
        if count > self.size {
            return self.reset(RANGE, self.size);
        }
        if !may_overlap && self.overlaps(source, count) {
            return self.reset(OVERLAP, self.size);
        }
        self.copy(source, count)
    }

    /// Copies the first bytes of a text, and ends it.
    fn copy_text(self, source: *const u8, most: usize) -> i32 {
        match self.check(source, 1) {
            OK => {}
            code => return code,
        }
        // SAFETY: the caller passes a text that ends with a zero, or has this number of bytes.
        let length = (0..most).take_while(|it| unsafe { source.add(*it).read() } != 0);
        let length = length.take(self.size).count();
        if length >= self.size {
            return self.reset(RANGE, 1);
        }
        if self.overlaps(source, length + 1) {
            return self.reset(OVERLAP, 1);
        }
        self.copy(source, length);
        let end = Self {
            address: self.address.wrapping_add(length),
            size: 1,
        };
        end.fill(0, 1);
        OK
    }
}

/// Programs often ignore codes.
fn reported(function: &str, code: i32) -> i32 {
    if code != OK {
        complain(&format!("{function}: returned {code}"));
    }
    code
}

// SAFETY: the names are those of the library for such functions; nothing else in this library defines them.
#[unsafe(no_mangle)]
extern "C" fn memcpy_s(address: *mut u8, size: usize, source: *const u8, count: usize) -> i32 {
    let target = Target { address, size };
    reported("memcpy_s", target.copy_bytes(source, count, false))
}

// SAFETY: see above.
#[unsafe(no_mangle)]
extern "C" fn memmove_s(address: *mut u8, size: usize, source: *const u8, count: usize) -> i32 {
    let target = Target { address, size };
    reported("memmove_s", target.copy_bytes(source, count, true))
}

// SAFETY: see above.
#[unsafe(no_mangle)]
extern "C" fn memset_s(address: *mut u8, size: usize, byte: i32, count: usize) -> i32 {
    let target = Target { address, size };
    let code = match target.check(address, 0) {
        OK if count > size => RANGE | AND_RESET,
        code => code,
    };
    if code == OK || code == RANGE | AND_RESET {
        target.fill(byte as u8, count);
    }
    reported("memset_s", code)
}

// SAFETY: see above.
#[unsafe(no_mangle)]
extern "C" fn strcpy_s(address: *mut u8, size: usize, source: *const u8) -> i32 {
    let target = Target { address, size };
    reported("strcpy_s", target.copy_text(source, usize::MAX))
}

// SAFETY: see above.
#[unsafe(no_mangle)]
extern "C" fn strncpy_s(address: *mut u8, size: usize, source: *const u8, most: usize) -> i32 {
    let target = Target { address, size };
    reported("strncpy_s", target.copy_text(source, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_fit_are_copied_and_others_clear_the_target() {
        let (source, mut room) = ([1_u8, 2, 3, 4], [9_u8; 4]);
        let to = room.as_mut_ptr();
        assert_eq!(memcpy_s(to, 4, source.as_ptr(), 3), OK);
        assert_eq!(room, [1, 2, 3, 9]);
        assert_eq!(memcpy_s(to, 3, source.as_ptr(), 4), 162);
        assert_eq!(room, [0, 0, 0, 9]);
        assert_eq!(memcpy_s(to, 4, std::ptr::null(), 1), 150);
        assert_eq!(room, [0; 4]);
        assert_eq!(memcpy_s(to, 0, source.as_ptr(), 0), RANGE);
        assert_eq!(
            memcpy_s(std::ptr::null_mut(), 4, source.as_ptr(), 1),
            INVALID
        );
    }

    #[test]
    fn only_moves_may_overlap() {
        let mut room = [1_u8, 2, 3, 4];
        let (to, from) = (room.as_mut_ptr().wrapping_add(1), room.as_ptr());
        assert_eq!(memmove_s(to, 3, from, 3), OK);
        assert_eq!(room, [1, 1, 2, 3]);
        let to = room.as_mut_ptr().wrapping_add(1);
        assert_eq!(memcpy_s(to, 3, room.as_ptr(), 3), 182);
        assert_eq!(room, [1, 0, 0, 0]);
    }

    #[test]
    fn fills_end_with_the_target() {
        let mut room = [9_u8; 4];
        assert_eq!(memset_s(room.as_mut_ptr(), 4, 5, 2), OK);
        assert_eq!(room, [5, 5, 9, 9]);
        assert_eq!(memset_s(room.as_mut_ptr(), 3, 7, 4), 162);
        assert_eq!(room, [7, 7, 7, 9]);
        assert_eq!(memset_s(std::ptr::null_mut(), 4, 5, 2), INVALID);
    }

    #[test]
    fn texts_that_fit_are_copied_with_their_end() {
        let mut room = [b'x'; 5];
        assert_eq!(strcpy_s(room.as_mut_ptr(), 5, c"abcd".as_ptr().cast()), OK);
        assert_eq!(&room, b"abcd\0");
        assert_eq!(strcpy_s(room.as_mut_ptr(), 4, c"abcd".as_ptr().cast()), 162);
        assert_eq!(&room, b"\0bcd\0");
        let cut = strncpy_s(room.as_mut_ptr(), 4, c"abcd".as_ptr().cast(), 2);
        assert_eq!((cut, &room), (OK, b"ab\0d\0"));
        assert_eq!(strncpy_s(room.as_mut_ptr(), 4, std::ptr::null(), 2), 150);
        assert_eq!(room[0], 0);
    }
}
