//! Operators that are called by name: what clients fall back to for some convolutions.

use std::sync::Arc;

use super::convolution::{self, Given};
use crate::aclnn::call::Call;
use crate::aclnn::dense::dimensions;
use crate::aclnn::executor;
use crate::aclnn::formula::{Formula, float, number};
use crate::aclnn::object::{self, Object, Sort};
use crate::aclnn::status::require;
use crate::aclnn::tensor::{Layout, Tensor};
use crate::aclnn::view::View;
use crate::aclop::{Attributes, Operand};
use crate::code::Outcome;

/// What one operator does: handles of its tensors, those that the host holds as numbers, and attributes.
struct Arguments<'a> {
    inputs: Vec<usize>,
    /// The numbers of each input that lies in the host's memory.
    host: Vec<Vec<i64>>,
    outputs: Vec<usize>,
    attributes: &'a Attributes,
}

type Describe = fn(&mut Call, &Arguments<'_>) -> Outcome;

/// The operators, by name.
const KNOWN: [(&str, Describe); 14] = [
    ("Add", |call, all| {
        two(
            call,
            all,
            number(|[a, b]| a + b, |[a, b]: [i64; 2]| a.wrapping_add(b)),
        )
    }),
    ("Cast", same),
    ("Conv2D", |call, all| {
        let [x, weight, bias] = [all.input(0), all.input(1), all.input(2)];
        convolution::convolution(
            call,
            [x, weight, bias, all.output()],
            all.given(),
            false,
            all.groups(),
        )
    }),
    ("Conv2DBackpropFilter", |call, all| {
        let weight = Some(call.output(all.output())?);
        convolution::gradients(
            call,
            [all.input(2), all.input(0), all.output()],
            all.given(),
            false,
            all.groups(),
            [None, weight, None],
        )
    }),
    ("Conv2DBackpropInput", |call, all| {
        let x = Some(call.output(all.output())?);
        convolution::gradients(
            call,
            [all.input(2), all.output(), all.input(1)],
            all.given(),
            false,
            all.groups(),
            [x, None, None],
        )
    }),
    ("Conv2DTranspose", |call, all| {
        let [x, weight, bias] = [all.input(1), all.input(2), all.input(3)];
        convolution::convolution(
            call,
            [x, weight, bias, all.output()],
            all.given(),
            true,
            all.groups(),
        )
    }),
    ("Identity", same),
    ("Maximum", |call, all| {
        two(
            call,
            all,
            number(|[a, b]| a.max(b), |[a, b]: [i64; 2]| a.max(b)),
        )
    }),
    ("Minimum", |call, all| {
        two(
            call,
            all,
            number(|[a, b]| a.min(b), |[a, b]: [i64; 2]| a.min(b)),
        )
    }),
    ("Mul", |call, all| {
        two(
            call,
            all,
            number(|[a, b]| a * b, |[a, b]: [i64; 2]| a.wrapping_mul(b)),
        )
    }),
    ("RealDiv", |call, all| two(call, all, float(|[a, b]| a / b))),
    ("ReduceSum", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let along = dimensions(all.host.first().map_or(&[][..], Vec::as_slice), x.rank())?;
        call.reduce(&x, &along, vec![out], |row: &[f64], out| {
            out[0] = row.iter().sum()
        })
    }),
    ("Sub", |call, all| {
        two(
            call,
            all,
            number(|[a, b]| a - b, |[a, b]: [i64; 2]| a.wrapping_sub(b)),
        )
    }),
    ("TransData", same),
];

fn same(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
    require(
        x.elements() == out.elements(),
        "the output's shape is not the input's",
    )?;
    // Both lie in order, so that elements need not have the same coordinates.
    let view = View::contiguous(out.view.kind, out.view.address, x.shape());
    let out = out.seen(view);
    call.each(number(|[x]| x, |[x]| x), [&x], &out)
}

fn two(call: &mut Call, all: &Arguments<'_>, formula: Formula<2>) -> Outcome {
    let (a, b) = (call.input(all.input(0))?, call.input(all.input(1))?);
    let out = call.output(all.output())?;
    call.each(formula, [&a, &b], &out)
}

impl Arguments<'_> {
    /// An input's handle; 0 where there is none.
    fn input(&self, index: usize) -> usize {
        self.inputs.get(index).copied().unwrap_or(0)
    }

    fn output(&self) -> usize {
        self.outputs.first().copied().unwrap_or(0)
    }

    fn groups(&self) -> i64 {
        self.attributes.integer("groups", 1)
    }

    /// How the windows of a convolution move; batch and channels stand in front, and paddings come in pairs.
    fn given(&self) -> Given {
        let inner = |name: &str| self.attributes.integers(name).split_off_last(2);
        Given {
            stride: inner("strides"),
            padding: self.attributes.integers("pads"),
            dilation: inner("dilations"),
        }
    }
}

/// The last few of some numbers.
trait Last {
    fn split_off_last(self, count: usize) -> Self;
}

impl Last for Vec<i64> {
    fn split_off_last(mut self, count: usize) -> Self {
        let first = self.len().saturating_sub(count);
        self.split_off(first)
    }
}

/// Computes an operator, if there is one of this name.
pub(crate) fn execute(
    operator: &str,
    inputs: &[Operand],
    outputs: &[Operand],
    attributes: &Attributes,
    stream: usize,
) -> Option<Outcome> {
    let (name, describe) = KNOWN.iter().find(|(known, _)| *known == operator)?;
    Some(with_handles(inputs, outputs, attributes, |arguments| {
        executor::run(name, stream, |call| describe(call, arguments))
    }))
}

/// Makes tensors of the operands for as long as the operator is described.
fn with_handles(
    inputs: &[Operand],
    outputs: &[Operand],
    attributes: &Attributes,
    run: impl FnOnce(&Arguments<'_>) -> Outcome,
) -> Outcome {
    let mut arguments = Arguments {
        inputs: Vec::new(),
        host: Vec::new(),
        outputs: Vec::new(),
        attributes,
    };
    let made = fill(&mut arguments, inputs, outputs);
    let outcome = made.and_then(|()| run(&arguments));
    for handle in arguments.inputs.iter().chain(&arguments.outputs) {
        // 0 is fine.
        object::destroy(*handle, Sort::Tensor)?;
    }
    outcome
}

fn fill(arguments: &mut Arguments<'_>, inputs: &[Operand], outputs: &[Operand]) -> Outcome {
    for input in inputs {
        let is_on_host = input.desc.is_on_host;
        if is_on_host {
            arguments.host.push(input.numbers());
        }
        arguments
            .inputs
            .push(if is_on_host { 0 } else { tensor(input)? });
    }
    for output in outputs {
        arguments.outputs.push(tensor(output)?);
    }
    Ok(())
}

/// Layouts whose elements lie as the shape says: ND and the named orders of dimensions.
const PLAIN_FORMATS: [i32; 7] = [2, 0, 1, 16, 27, 30, 47];
const ND: i32 = 2;

/// A device's own layouts are this library's business: elements lie in order at the beginning of the storage, which is
/// never smaller.
fn tensor(operand: &Operand) -> Outcome<usize> {
    let is_plain = PLAIN_FORMATS.contains(&operand.desc.format);
    let storage = operand.desc.storage.clone().filter(|_| is_plain);
    let shape = storage.unwrap_or_else(|| operand.desc.shape.clone());
    let layout = Layout {
        strides: Layout::packed(&shape),
        storage: shape.clone(),
        shape,
        offset: 0,
        data_type: operand.desc.data_type,
        format: ND,
        data: operand.data,
    };
    object::insert(Object::Tensor(Arc::new(Tensor::new(layout.checked()?))))
}
