//! The operators that PyTorch calls. Built as `libopapi.so`, it is loaded by programs that ask for it, and finds the
//! runtime (`libascendcl.so`) in the same process.
//!
//! A row of a table is an operator: its name, the parameters of its first phase, and the computation. In-place variants
//! are next to those with an output.
#![expect(
    unsafe_code,
    reason = "a C library: exported functions, and products of matrices"
)]

#[macro_use]
extern crate softacl_base;

mod algebra;
mod alignment;
mod attention;
mod bags;
mod convolution;
mod decompositions;
mod experts;
mod functions;
mod gated;
mod gradients;
mod indices;
mod lists;
mod losses;
mod maps;
mod matrices;
mod named;
mod norms;
mod optimizers;
mod parameters;
mod pooling;
mod random;
mod recurrent;
mod reductions;
mod resize;
mod rotary;
mod sampling;
mod shapes;
mod sorting;
mod spectra;
mod sync_norms;
#[cfg(test)]
mod tables;

/// Tells the runtime of the operators that are called by name. Unit tests have no runtime.
#[cfg(not(test))]
mod loaded {
    use super::named::ByName;
    use softacl_base::runtime::runtime;

    extern "C" fn offer() {
        runtime().offer(&ByName);
    }

    // SAFETY: the loader calls the functions of this section after it has loaded the runtime, which this library needs.
    #[unsafe(link_section = ".init_array")]
    #[used]
    static LOADED: extern "C" fn() = offer;
}
