//! Operators with results that depend on the elements at one place.

use super::data_type::DataType;
use super::number::{Number, read, write};
use super::view::{ElementRun, View, runs};

/// Elements are converted and computed in portions of this many.
const PORTION: usize = 256;

/// What happens to elements that were converted to the type of the computation.
pub trait ElementMap<const N: usize>: Send + Sync + 'static {
    fn map<C: Number>(&self, inputs: [&[C]; N], out: &mut [C]);
}

/// Each element as it is.
pub struct CopyMap;

impl ElementMap<1> for CopyMap {
    fn map<C: Number>(&self, [a]: [&[C]; 1], out: &mut [C]) {
        out.copy_from_slice(a);
    }
}

/// Computes all elements of `out`; the inputs have its shape. All is as if every input had been read
/// before anything was written.
pub fn run<const N: usize>(
    map: &impl ElementMap<N>,
    kind: DataType,
    inputs: [View; N],
    out: &View,
) {
    let (_copies, inputs) = undisturbed(inputs, out);
    match kind.wide() {
        DataType::F64 => run_in::<f64, N>(&|from, to| map.map(from, to), kind, &inputs, out),
        DataType::I32 => run_in::<i32, N>(&|from, to| map.map(from, to), kind, &inputs, out),
        DataType::I64 => run_in::<i64, N>(&|from, to| map.map(from, to), kind, &inputs, out),
        _ => run_in::<f32, N>(&|from, to| map.map(from, to), kind, &inputs, out),
    }
}

/// Computes a portion of elements. Not a type parameter of the loops around it, so that these exist
/// only once.
pub type OperatorStep<'a, C, const N: usize> = dyn Fn([&[C]; N], &mut [C]) + 'a;

/// Copies the inputs that writing to `out` would change before they were read.
pub fn undisturbed<const N: usize>(inputs: [View; N], out: &View) -> (Vec<Vec<u64>>, [View; N]) {
    let mut copies = Vec::new();
    let inputs = inputs.map(|input| {
        if !out.disturbs(&input) {
            return input;
        }
        let (copy, view) = input.detached();
        copies.push(copy);
        view
    });
    (copies, inputs)
}

pub fn run_in<C: Number, const N: usize>(
    map: &OperatorStep<'_, C, N>,
    kind: DataType,
    inputs: &[View; N],
    out: &View,
) {
    let mut buffers = [[C::default(); PORTION]; N];
    let mut results = [C::default(); PORTION];
    let mut portion = |sources: &[ElementRun], to: ElementRun, first: usize, count: usize| {
        for ((buffer, source), input) in buffers.iter_mut().zip(sources).zip(inputs) {
            let buffer = &mut buffer[..count];
            read(input.kind, source.at(first), source.stride, buffer);
            if input.kind != kind {
                kind.round(buffer);
            }
        }
        let results = &mut results[..count];
        map(buffers.each_ref().map(|buffer| &buffer[..count]), results);
        if out.kind != kind {
            kind.round(results);
        }
        write(out.kind, to.at(first), to.stride, results);
    };
    let mut views = vec![out];
    views.extend(inputs);
    runs(&out.shape, &views, |length, rows| {
        if let [to, sources @ ..] = rows {
            for first in (0..length).step_by(PORTION) {
                portion(sources, *to, first, PORTION.min(length - first));
            }
        }
    });
}
