//! The operators themselves. Each is called in the first phase to describe the second.

mod arithmetic;
mod copy;
mod softmax;

pub(super) use arithmetic::{add, add_in_place, adds, adds_in_place};
pub(super) use arithmetic::{mul, mul_in_place, muls, muls_in_place, relu, relu_in_place};
pub(super) use copy::{cast, copy_in_place, fill_scalar, one, zero};
pub(super) use softacl_base::matmul::{matmul, mm};
pub(super) use softmax::softmax;
