//! The objects of the handles that programs pass.

use std::sync::Arc;

use crate::code::Outcome;
use crate::data_type::ScalarValue;
use crate::runtime::runtime;
use crate::tensor::Tensor;

pub fn tensor(handle: usize) -> Outcome<Arc<Tensor>> {
    runtime().tensor(handle)
}

pub fn scalar(handle: usize) -> Outcome<ScalarValue> {
    runtime().scalar(handle)
}

/// The numbers of an array; empty without one.
pub fn integers(handle: usize) -> Outcome<Vec<i64>> {
    runtime().integers(handle)
}

/// The truth values of an array.
pub fn bools(handle: usize) -> Outcome<Vec<bool>> {
    runtime().bools(handle)
}

/// The handles of a list of tensors.
pub fn tensors(handle: usize) -> Outcome<Vec<usize>> {
    runtime().tensors(handle)
}

/// The handles of a list of scalars.
pub fn scalars(handle: usize) -> Outcome<Vec<usize>> {
    runtime().scalars(handle)
}
