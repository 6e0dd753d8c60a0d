//! Arguments and results as the 64-bit words of a record, for any C type.

/// A C value that fits one word of a record. Signed values are sign-extended.
pub(crate) trait Word: Copy {
    fn to_word(self) -> u64;
}

impl<T> Word for *mut T {
    #[inline]
    fn to_word(self) -> u64 {
        self as usize as u64
    }
}

impl<T> Word for *const T {
    #[inline]
    fn to_word(self) -> u64 {
        self as usize as u64
    }
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl Word for $type {
            #[inline]
            fn to_word(self) -> u64 { self as i64 as u64 }
        }
    )+};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64, usize, isize, bool);

impl Word for f32 {
    #[inline]
    fn to_word(self) -> u64 {
        f64::from(self).to_bits()
    }
}

impl Word for f64 {
    #[inline]
    fn to_word(self) -> u64 {
        self.to_bits()
    }
}

impl Word for () {
    #[inline]
    fn to_word(self) -> u64 {
        0
    }
}

/// Makes a structure that is passed by value a word of the record: its first eight bytes.
macro_rules! by_value {
    ($type:ty) => {
        impl $crate::word::Word for $type {
            fn to_word(self) -> u64 {
                let mut word = [0u8; 8];
                let length = size_of::<$type>().min(word.len());
                // SAFETY: both sides are valid for `length` bytes and do not overlap; padding bytes are
                // copied unchanged and only ever shown.
                unsafe {
                    let from = (&raw const self).cast::<u8>();
                    core::ptr::copy_nonoverlapping(from, word.as_mut_ptr(), length);
                }
                u64::from_ne_bytes(word)
            }
        }
    };
}

pub(crate) use by_value;

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_void;

    #[test]
    fn values_keep_their_sign_and_size() {
        assert_eq!((-1i32).to_word() as i64, -1);
        assert_eq!(u32::MAX.to_word(), 0xffff_ffff);
        assert_eq!(u64::MAX.to_word(), u64::MAX);
        assert_eq!(1.5f32.to_word(), 1.5f64.to_bits());
        assert_eq!(true.to_word(), 1);
        assert_eq!((0x1000 as *const c_void).to_word(), 0x1000);
    }
}
