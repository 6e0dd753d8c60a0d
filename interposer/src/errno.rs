//! The program must find `errno` as the real call left it.

/// Restores `errno` when dropped.
pub(crate) struct Errno(i32);

impl Errno {
    #[inline]
    pub(crate) fn save() -> Self {
        // SAFETY: the C library's errno of this thread is always readable.
        Self(unsafe { *libc::__errno_location() })
    }

    /// The value from the last system call.
    pub(crate) fn now() -> i32 {
        Self::save().0
    }
}

impl Drop for Errno {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the C library's errno of this thread is always writable.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errno_survives() {
        // SAFETY: errno of this thread.
        unsafe { *libc::__errno_location() = 17 };
        {
            let _errno = Errno::save();
            // SAFETY: as above.
            unsafe { *libc::__errno_location() = 99 };
        }
        // SAFETY: as above.
        assert_eq!(unsafe { *libc::__errno_location() }, 17);
    }
}
