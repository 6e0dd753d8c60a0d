//! The tables of operators. A row is an operator: its name, the parameters of its first phase, and what is computed of
//! them. In-place variants stand beside those with an output.

mod attention;
mod convolution;
mod functions;
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
mod reductions;
mod resize;
mod shapes;
mod sorting;

/// A tensor that may be missing; arrays and lists.
type Maybe = usize;
type Integers = usize;
type Bools = usize;
type List = usize;
/// An output that may be missing.
type Wanted = usize;
/// A text.
type Text = crate::ffi::Text;
