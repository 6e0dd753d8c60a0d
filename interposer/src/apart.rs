//! Values that many threads write, each in cache lines without other values: a write of one takes the line from all other
//! processors.

use core::ops::Deref;

/// A value in separate cache lines. Processors fetch lines in pairs.
#[repr(align(128))]
pub(crate) struct CacheLinePadded<T>(pub(crate) T);

impl<T> Deref for CacheLinePadded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
