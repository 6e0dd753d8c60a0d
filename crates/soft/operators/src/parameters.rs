//! Types of the parameters in the rows of the tables.

pub(crate) use softacl_base::parameters::{
    In, InPlace, Input, Inputs, Integers, Optional, Output, Outputs, Scalar, Wanted, Written,
};

/// A tensor that may be missing; arrays and lists.
pub(crate) type OptionalTensor = usize;
pub(crate) type IntegerArray = usize;
pub(crate) type BoolArray = usize;
pub(crate) type TensorList = usize;
/// An output that may be missing.
pub(crate) type OptionalOutput = usize;
/// A text.
pub(crate) type Text = softacl_base::ffi::Text;
