//! What operators compute of the elements at one place, in 64 bits: for types with fractions, and for integers.

use std::sync::Arc;

use super::elementwise::{run_in, undisturbed};
use super::number::Number;
use super::view::View;

/// What happens to a portion of elements.
pub type PortionFn<C, const N: usize> = dyn Fn([&[C]; N], &mut [C]) + Send + Sync;

/// A function of `N` elements.
#[derive(Clone)]
pub struct Formula<const N: usize> {
    pub float: Arc<PortionFn<f64, N>>,
    /// Where all elements are integers; `None` when the result is a fraction then, too.
    pub integer: Option<Arc<PortionFn<i64, N>>>,
}

/// A result that has fractions, for any type of the elements.
pub fn float<const N: usize>(
    compute: impl Fn([f64; N]) -> f64 + Send + Sync + 'static,
) -> Formula<N> {
    Formula {
        float: portion(compute),
        integer: None,
    }
}

/// A result of the elements' kind.
pub fn number<const N: usize>(
    float: impl Fn([f64; N]) -> f64 + Send + Sync + 'static,
    integer: impl Fn([i64; N]) -> i64 + Send + Sync + 'static,
) -> Formula<N> {
    Formula {
        float: portion(float),
        integer: Some(portion(integer)),
    }
}

/// A truth value.
pub fn truth<const N: usize>(
    float: impl Fn([f64; N]) -> bool + Send + Sync + 'static,
    integer: impl Fn([i64; N]) -> bool + Send + Sync + 'static,
) -> Formula<N> {
    number(
        move |elements| f64::from(u8::from(float(elements))),
        move |elements| i64::from(integer(elements)),
    )
}

impl<const N: usize> Formula<N> {
    /// The same in fractions, also of integers.
    pub fn in_fractions(self) -> Self {
        Self {
            integer: None,
            ..self
        }
    }
}

fn portion<C: Copy, const N: usize>(
    compute: impl Fn([C; N]) -> C + Send + Sync + 'static,
) -> Arc<PortionFn<C, N>> {
    Arc::new(move |inputs: [&[C]; N], out: &mut [C]| {
        // All are as long as the output: so the loop needs no other bounds.
        let inputs = inputs.map(|input| &input[..out.len()]);
        for (index, out) in out.iter_mut().enumerate() {
            *out = compute(inputs.map(|input| input[index]));
        }
    })
}

/// Computes all elements of `out`; the inputs have its shape. All is as if every input had been read before
/// anything was written.
pub fn run<C: Number, const N: usize>(portion: &PortionFn<C, N>, inputs: [View; N], out: &View) {
    let (_copies, inputs) = undisturbed(inputs, out);
    run_in(&|from, to| portion(from, to), C::TYPE, &inputs, out);
}
