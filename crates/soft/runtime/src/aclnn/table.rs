//! The tables of operators. A row is an operator: its name, the parameters of its first phase, and the
//! computation. In-place variants are next to those with an output.

mod algebra;
mod alignment;
mod arguments;
mod attention;
mod bags;
mod convolution;
mod decompositions;
mod functions;
mod gated;
mod gradients;
mod indices;
mod lists;
mod losses;
mod maps;
mod matrices;
pub(crate) mod named;
mod norms;
mod optimizers;
mod pooling;
mod random;
mod recurrent;
mod reductions;
mod resize;
mod sampling;
mod shapes;
mod sorting;
mod sync_norms;

/// A tensor that may be missing; arrays and lists.
type OptionalTensor = usize;
type IntegerArray = usize;
type BoolArray = usize;
type TensorList = usize;
/// An output that may be missing.
type OptionalOutput = usize;
/// A text.
type Text = crate::ffi::Text;
