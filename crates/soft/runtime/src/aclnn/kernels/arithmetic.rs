//! Sums, products and the like of elements.

use crate::aclnn::call::Call;
use crate::aclnn::data_type::{DataType, ScalarValue};
use crate::aclnn::elementwise::ElementMap;
use crate::aclnn::number::Number;
use crate::aclnn::operand::Operand;
use crate::aclnn::status::require;
use crate::code::Outcome;

/// One input plus a multiple of the other.
struct Axpy {
    alpha: ScalarValue,
}

impl ElementMap<2> for Axpy {
    fn map<C: Number>(&self, [a, b]: [&[C]; 2], out: &mut [C]) {
        let alpha = C::of(self.alpha);
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = a.plus(b.times(alpha));
        }
    }
}

/// The input plus a multiple of a scalar.
struct OffsetMap {
    other: ScalarValue,
    alpha: ScalarValue,
}

impl ElementMap<1> for OffsetMap {
    fn map<C: Number>(&self, [a]: [&[C]; 1], out: &mut [C]) {
        let offset = C::of(self.other).times(C::of(self.alpha));
        for (out, a) in out.iter_mut().zip(a) {
            *out = a.plus(offset);
        }
    }
}

struct ProductMap;

impl ElementMap<2> for ProductMap {
    fn map<C: Number>(&self, [a, b]: [&[C]; 2], out: &mut [C]) {
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = a.times(*b);
        }
    }
}

struct MultipleMap {
    factor: ScalarValue,
}

impl ElementMap<1> for MultipleMap {
    fn map<C: Number>(&self, [a]: [&[C]; 1], out: &mut [C]) {
        let factor = C::of(self.factor);
        for (out, a) in out.iter_mut().zip(a) {
            *out = a.times(factor);
        }
    }
}

struct Relu;

impl ElementMap<1> for Relu {
    fn map<C: Number>(&self, [a]: [&[C]; 1], out: &mut [C]) {
        for (out, a) in out.iter_mut().zip(a) {
            // NaN stays NaN.
            *out = if *a <= C::default() { C::default() } else { *a };
        }
    }
}

pub(crate) fn add(call: &mut Call, this: usize, other: usize, alpha: usize, out: usize) -> Outcome {
    let (a, b) = (call.input(this)?, call.input(other)?);
    let alpha = call.scalar(alpha)?;
    let out = call.output(out)?;
    sum(call, &a, &b, alpha, &out)
}

pub(crate) fn add_in_place(call: &mut Call, this: usize, other: usize, alpha: usize) -> Outcome {
    let (a, b) = (call.in_place(this)?, call.input(other)?);
    let alpha = call.scalar(alpha)?;
    sum(call, &a, &b, alpha, &a)
}

fn sum(call: &mut Call, a: &Operand, b: &Operand, alpha: ScalarValue, out: &Operand) -> Outcome {
    let kind = a.view.kind.promote(b.view.kind);
    let alpha = exact(alpha, kind)?;
    call.map(Axpy { alpha }, kind, [a, b], out)
}

pub(crate) fn adds(
    call: &mut Call,
    this: usize,
    other: usize,
    alpha: usize,
    out: usize,
) -> Outcome {
    let a = call.input(this)?;
    let (other, alpha) = (call.scalar(other)?, call.scalar(alpha)?);
    let out = call.output(out)?;
    offset(call, &a, other, alpha, &out)
}

pub(crate) fn adds_in_place(call: &mut Call, this: usize, other: usize, alpha: usize) -> Outcome {
    let a = call.in_place(this)?;
    let (other, alpha) = (call.scalar(other)?, call.scalar(alpha)?);
    offset(call, &a, other, alpha, &a)
}

fn offset(
    call: &mut Call,
    a: &Operand,
    other: ScalarValue,
    alpha: ScalarValue,
    out: &Operand,
) -> Outcome {
    let kind = a.view.kind.promote_with(other);
    let (other, alpha) = (exact(other, kind)?, exact(alpha, kind)?);
    call.map(OffsetMap { other, alpha }, kind, [a], out)
}

pub(crate) fn mul(call: &mut Call, this: usize, other: usize, out: usize) -> Outcome {
    let (a, b) = (call.input(this)?, call.input(other)?);
    let out = call.output(out)?;
    call.map(ProductMap, a.view.kind.promote(b.view.kind), [&a, &b], &out)
}

pub(crate) fn mul_in_place(call: &mut Call, this: usize, other: usize) -> Outcome {
    let (a, b) = (call.in_place(this)?, call.input(other)?);
    call.map(ProductMap, a.view.kind.promote(b.view.kind), [&a, &b], &a)
}

pub(crate) fn muls(call: &mut Call, this: usize, other: usize, out: usize) -> Outcome {
    let a = call.input(this)?;
    let factor = call.scalar(other)?;
    let out = call.output(out)?;
    multiple(call, &a, factor, &out)
}

pub(crate) fn muls_in_place(call: &mut Call, this: usize, other: usize) -> Outcome {
    let a = call.in_place(this)?;
    let factor = call.scalar(other)?;
    multiple(call, &a, factor, &a)
}

fn multiple(call: &mut Call, a: &Operand, factor: ScalarValue, out: &Operand) -> Outcome {
    let kind = a.view.kind.promote_with(factor);
    let factor = exact(factor, kind)?;
    call.map(MultipleMap { factor }, kind, [a], out)
}

pub(crate) fn relu(call: &mut Call, this: usize, out: usize) -> Outcome {
    let (a, out) = (call.input(this)?, call.output(out)?);
    call.map(Relu, a.view.kind, [&a], &out)
}

pub(crate) fn relu_in_place(call: &mut Call, this: usize) -> Outcome {
    let a = call.in_place(this)?;
    call.map(Relu, a.view.kind, [&a], &a)
}

/// The scalar in the type of the computation, which has to be able to hold fractions if it is one.
fn exact(scalar: ScalarValue, kind: DataType) -> Outcome<ScalarValue> {
    require(
        matches!(scalar, ScalarValue::Integer(_)) || kind.is_float(),
        "a scalar does not convert to the data type of the computation",
    )?;
    Ok(kind.round_value(scalar))
}
