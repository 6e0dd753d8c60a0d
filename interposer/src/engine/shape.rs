//! Stack arguments and result registers of a function.

/// A register that returns values.
pub(crate) const INTEGER: u32 = 1;
pub(crate) const SECOND_INTEGER: u32 = 2;
pub(crate) const VECTOR: u32 = 4;
/// The vector registers for the rest of a result that one of them cannot hold.
pub(crate) const OTHER_VECTORS: u32 = 8;
/// Every register that can hold a result.
pub(crate) const ANY: u32 = INTEGER | SECOND_INTEGER | VECTOR | OTHER_VECTORS;

/// As much as is needed to call a function from somewhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of the caller's stack that may be arguments, a multiple of 16; `None` where that has no
    /// limit.
    pub(crate) stack: Option<u32>,
    /// Registers of the above that hold its result.
    pub(crate) results: u32,
}

/// Integers that are passed in registers.
#[cfg(target_arch = "x86_64")]
const INTEGERS: usize = 6;
#[cfg(target_arch = "aarch64")]
const INTEGERS: usize = 8;

/// Largest number of bytes on the stack for arguments of these sizes. Up to the number of registers, no
/// word is on the stack; beyond, any may be.
pub(crate) const fn stack(sizes: &[usize]) -> u32 {
    let mut words = 0;
    let mut is_plain = true;
    let mut rest = sizes;
    while let [size, others @ ..] = rest {
        words += size.div_ceil(8);
        is_plain &= *size <= 8;
        rest = others;
    }
    if is_plain && words <= INTEGERS {
        return 0;
    }
    (words * 8).next_multiple_of(16) as u32
}

/// The [`Shape`] of a declaration.
macro_rules! shape {
    (variadic) => {
        Shape {
            stack: None,
            results: 0,
        }
    };
    (fn($($type:ty),*) -> $ret:ty) => {
        Shape {
            stack: Some($crate::engine::shape::stack(&[$(size_of::<$type>()),*])),
            results: <$ret as $crate::engine::shape::Returned>::IN,
        }
    };
}

pub(crate) use shape;

/// Where a value of a type is returned.
pub(crate) trait Returned {
    const IN: u32;
}

macro_rules! returned {
    ($place:ident: $($type:ty),*) => {
        $(impl Returned for $type {
            const IN: u32 = $place;
        })*
    };
}

/// For functions without a result.
const NOTHING: u32 = 0;

returned!(NOTHING: ());
returned!(INTEGER: bool, i8, u8, i16, u16, i32, u32, i64, u64, isize, usize);
returned!(VECTOR: f32, f64);

impl<T> Returned for *mut T {
    const IN: u32 = INTEGER;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::FUNCTIONS;
    use crate::hooks::SHAPES;

    fn of(name: &str) -> Shape {
        let id = FUNCTIONS.iter().position(|it| it.name == name).unwrap();
        SHAPES[id]
    }

    #[test]
    fn what_registers_hold_is_not_on_the_stack() {
        assert_eq!(of("aclrtSetDevice").stack, Some(0));
        assert_eq!(of("aclrtSetDevice").results, INTEGER);
        assert_eq!(of("aclFloat16ToFloat").results, VECTOR);
        assert_eq!(of("aclDestroyTensorDesc").results, 0);
        // Ten words, and a structure of 64 bytes with a word.
        assert_eq!(of("aclrtMemcpyBatchAsync").stack, Some(80));
        assert_eq!(of("aclrtIpcOpenEventHandle").stack, Some(80));
        assert_eq!(of("aclAppLog").stack, None);
    }
}
