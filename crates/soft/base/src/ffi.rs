//! Arguments and results of C programs: pointers, texts and callbacks; and messages to the user.

use std::ffi::{CStr, c_char};

use crate::code::{Fault, INVALID_PARAM, Outcome, fault};

/// Writes a line to standard error without taking Rust's lock on it, which another thread may have
/// held at a fork.
pub fn complain(text: &str) {
    let line = format!("softacl: {text}\n");
    // SAFETY: the buffer is valid for its length; a failed write has nowhere to be reported.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
}

/// Ends the process with a message: this use would corrupt memory on a card.
pub fn give_up(text: &str) -> ! {
    complain(text);
    std::process::abort();
}

/// A pointer through which a C function returns a value.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// For callers that want no result.
    pub const fn nowhere() -> Self {
        Self(std::ptr::null_mut())
    }

    /// An address that the program was given before.
    pub const fn at(address: usize) -> Self {
        Self(address as *mut T)
    }

    /// Lends the target of the pointer; `None` for NULL.
    pub fn with<R>(&self, lend: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: the program passes NULL or a pointer from this library that it has not given back, in
        // one thread at a time.
        unsafe { self.0.as_mut() }.map(lend)
    }

    /// The same place for another type.
    pub const fn cast<U>(&self) -> Out<U> {
        Out(self.0.cast())
    }

    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub fn check(&self) -> Outcome {
        if self.is_null() {
            fault(INVALID_PARAM, "an output pointer is NULL")
        } else {
            Ok(())
        }
    }

    /// Stores the value; a null pointer is the caller's mistake.
    pub fn put(&self, value: T) -> Outcome {
        self.check()?;
        // SAFETY: not null, and the caller of a C function passes room for the result.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Stores the value where the caller wants it.
    pub fn put_if_wanted(&self, value: T) {
        if !self.is_null() {
            // SAFETY: as in `put`.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Ends the life of what `Box::into_raw` gave to the caller.
    pub fn free(&self) -> Outcome {
        self.check()?;
        // SAFETY: not null, and the caller gives back a pointer from this library, once.
        drop(unsafe { Box::from_raw(self.0) });
        Ok(())
    }

    /// Reads an argument that is passed in and out.
    pub fn get(&self) -> Outcome<T>
    where
        T: Copy,
    {
        self.check()?;
        // SAFETY: not null, and the caller passes an initialised value.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

impl Out<usize> {
    /// Stores an array; the caller has checked that there is room.
    pub fn put_all(&self, values: &[usize]) {
        for (index, value) in values.iter().enumerate() {
            // SAFETY: not null, and there is room for all of them.
            unsafe { self.0.add(index).write_unaligned(*value) };
        }
    }
}

impl Out<c_char> {
    /// Writes a text and the zero behind it; the caller has checked that there is room.
    pub fn put_text(&self, text: &str) {
        for (index, byte) in text.bytes().chain([0]).enumerate() {
            // SAFETY: not null, and there is room for the text and the zero.
            unsafe { self.0.add(index).write(byte as c_char) };
        }
    }
}

/// A pointer to a structure that the caller filled in.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    pub const fn cast<U>(&self) -> In<U> {
        In(self.0.cast())
    }

    /// An address inside of a structure that the caller filled in.
    pub const fn at(address: usize) -> Self {
        Self(address as *const T)
    }

    pub fn get(&self) -> Outcome<T> {
        self.optional().ok_or(Fault {
            code: INVALID_PARAM,
            why: "an input pointer is NULL",
        })
    }

    pub fn optional(&self) -> Option<T> {
        // SAFETY: not null, and the caller passes an initialised value.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// The elements of an array of the given length.
    pub fn array(&self, length: usize) -> Outcome<Vec<T>> {
        if self.0.is_null() {
            return fault(INVALID_PARAM, "an array is NULL");
        }
        // SAFETY: not null, and the caller passes an array of that length.
        Ok((0..length)
            .map(|index| unsafe { self.0.add(index).read_unaligned() })
            .collect())
    }
}

/// A C string argument.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    pub fn optional(&self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: not null, and the caller passes a string that ends with a zero.
        let text = unsafe { CStr::from_ptr(self.0) };
        Some(text.to_string_lossy().into_owned())
    }

    pub fn get(&self) -> Outcome<String> {
        self.optional().ok_or(Fault {
            code: INVALID_PARAM,
            why: "a string is NULL",
        })
    }
}

/// A C function of one argument, and that argument; the program hands them in to be called later.
#[derive(Clone, Copy)]
pub struct Callback {
    pub function: extern "C" fn(usize),
    pub data: usize,
}

impl Callback {
    pub fn run(self) {
        (self.function)(self.data);
    }
}
