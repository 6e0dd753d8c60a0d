//! Shared code of the two libraries of the software runtime: the runtime itself (`libascendcl.so`) and the operators
//! that PyTorch calls (`libopapi.so`).
//!
//! Codes and arguments of C functions, locks, tensors as programs describe them, loops over their elements, and the
//! description of an operator's work (`call`). Each library has a copy of this code. Data that
//! exist once per process belong to the runtime; [`runtime`] leads to them.
#![expect(unsafe_code, reason = "raw pointers of C programs, and their memory")]

pub mod arguments;
pub mod attributes;
pub mod call;
pub mod call_wide;
pub mod code;
pub mod complex;
pub mod data_type;
pub mod dense;
pub mod elementwise;
pub mod ffi;
pub mod formula;
pub mod matmul;
pub mod number;
pub mod objects;
pub mod operand;
pub mod parameters;
pub mod phases;
mod product;
mod rows;
pub mod runtime;
pub mod status;
pub mod sync;
pub mod tensor;
pub mod trouble;
pub mod view;
