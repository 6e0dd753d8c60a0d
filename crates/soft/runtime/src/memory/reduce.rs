//! `aclrtReduceAsync`: combines a source into a destination, element by element.

use crate::code::{INVALID_PARAM, Outcome, RT_NOT_SUPPORTED, check, fault};
use crate::memory::transfer::transfer_ns;
use crate::memory::{MemoryKind, check_range, place_of};
use crate::process;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Reduce {
    dst: usize,
    src: usize,
    bytes: usize,
    how: ReduceOp,
    element: ReduceElement,
    pub(crate) duration_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReduceOp {
    Sum,
    Max,
    Min,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReduceElement {
    F32,
    I8,
    I16,
    I32,
}

impl ReduceElement {
    const fn size(self) -> usize {
        match self {
            Self::I8 => 1,
            Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
        }
    }
}

fn combine<T: Copy>(dst: usize, src: usize, bytes: usize, operation: impl Fn(T, T) -> T) {
    for offset in (0..bytes).step_by(size_of::<T>()) {
        let (to, from) = ((dst + offset) as *mut T, (src + offset) as *const T);
        // SAFETY: both ranges were checked to be in memory of this library, which stays mapped.
        unsafe { to.write_unaligned(operation(to.read_unaligned(), from.read_unaligned())) };
    }
}

macro_rules! by_operation {
    ($type:ty, $reduce:expr, $sum:expr) => {{
        let Reduce {
            dst,
            src,
            bytes,
            how,
            ..
        } = *$reduce;
        match how {
            ReduceOp::Sum => combine::<$type>(dst, src, bytes, $sum),
            ReduceOp::Max => combine::<$type>(dst, src, bytes, |a, b| if b > a { b } else { a }),
            ReduceOp::Min => combine::<$type>(dst, src, bytes, |a, b| if b < a { b } else { a }),
        }
    }};
}

impl Reduce {
    pub(crate) fn run(&self) {
        match self.element {
            ReduceElement::F32 => by_operation!(f32, self, |a, b| a + b),
            ReduceElement::I8 => by_operation!(i8, self, i8::wrapping_add),
            ReduceElement::I16 => by_operation!(i16, self, i16::wrapping_add),
            ReduceElement::I32 => by_operation!(i32, self, i32::wrapping_add),
        }
    }
}

/// Checks the arguments of a reduction.
pub(crate) fn checked(
    dst: usize,
    src: usize,
    bytes: u64,
    kind: u32,
    data_type: i32,
) -> Outcome<Reduce> {
    if dst == 0 || src == 0 {
        return fault(INVALID_PARAM, "source or destination is NULL");
    }
    let how = match kind {
        10 => ReduceOp::Sum,
        11 => ReduceOp::Max,
        12 => ReduceOp::Min,
        _ => return fault(RT_NOT_SUPPORTED, "this kind of reduction is not there"),
    };
    let element = match data_type {
        0 => ReduceElement::F32,
        2 => ReduceElement::I8,
        3 => ReduceElement::I32,
        6 => ReduceElement::I16,
        _ => return fault(RT_NOT_SUPPORTED, "this data type cannot be reduced"),
    };
    let bytes = bytes as usize;
    check(
        bytes > 0 && bytes.is_multiple_of(element.size()),
        "the size is not a multiple of an element",
    )?;
    for address in [dst, src] {
        let place = place_of(address);
        check(
            place != MemoryKind::Pageable,
            "the memory was not allocated through acl",
        )?;
        check_range(address, bytes, place)?;
    }
    let options = process::options();
    let duration_ns = options.copy_ns + transfer_ns(bytes as u64, options.d2d_mbps);
    Ok(Reduce {
        dst,
        src,
        bytes,
        how,
        element,
        duration_ns,
    })
}
