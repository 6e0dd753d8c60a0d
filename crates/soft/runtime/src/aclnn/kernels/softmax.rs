//! Softmax along one dimension.

use crate::aclnn::call::{Call, Cost};
use crate::aclnn::data_type::DataType;
use crate::aclnn::elementwise::undisturbed;
use crate::aclnn::number::{Number, read, write};
use crate::aclnn::status::{refuse, require};
use crate::aclnn::view::{ElementRun, View, runs};
use crate::code::Outcome;

const PORTION: usize = 256;

/// The exponentials of one row wait in the workspace for their sum.
pub(crate) fn softmax(call: &mut Call, this: usize, dimension: i64, out: usize) -> Outcome {
    let (mut from, mut to) = (call.input(this)?, call.output(out)?);
    let kind = from.view.kind;
    require(
        kind.is_float() && to.view.kind.is_float(),
        "softmax is for floating point only",
    )?;
    require(
        from.view.shape == to.view.shape,
        "the output's shape is not the input's",
    )?;
    if from.view.shape.is_empty() {
        (from.view, to.view) = (from.view.with_dimension(0), to.view.with_dimension(0));
    }
    let rank = from.view.shape.len() as i64;
    if dimension < -rank || dimension >= rank {
        return refuse("the tensor has no such dimension");
    }
    let dimension = dimension.rem_euclid(rank) as usize;
    if from.view.is_empty() {
        return Ok(());
    }
    let row = call.temporary(kind.wide(), &[from.view.shape[dimension]]);
    let bytes = from.view.bytes() + to.view.bytes();
    let operations = 4 * from.view.elements() as u64;
    call.step(Cost { bytes, operations }, move |frame| {
        let (from, to, row) = (frame.view(&from), frame.view(&to), frame.view(&row));
        let (_copies, [from]) = undisturbed([from], &to);
        match kind.wide() {
            DataType::F64 => all::<f64>(dimension, from, to, &row),
            _ => all::<f32>(dimension, from, to, &row),
        }
    });
    Ok(())
}

trait Exponential: Number {
    fn exp_minus(self, other: Self) -> Self;
    fn divided_by(self, other: Self) -> Self;
}

macro_rules! exponential {
    ($($type:ty)*) => {$(
        impl Exponential for $type {
            fn exp_minus(self, other: Self) -> Self {
                (self - other).exp()
            }
            fn divided_by(self, other: Self) -> Self {
                self / other
            }
        }
    )*};
}

exponential!(f32 f64);

fn all<C: Exponential>(dimension: usize, from: View, to: View, row: &View) {
    let kinds = (from.kind, to.kind);
    let length = from.shape[dimension];
    let (source, target) = (from.strides[dimension], to.strides[dimension]);
    let (from, to) = (
        from.without_dimension(dimension),
        to.without_dimension(dimension),
    );
    let row = ElementRun {
        address: row.address,
        stride: C::TYPE.size(),
    };
    runs(&from.shape.clone(), &[&from, &to], |count, rows| {
        for index in 0..count {
            let run = |row: usize, stride| ElementRun {
                address: rows[row].at(index),
                stride,
            };
            one::<C>(kinds, length, run(0, source), run(1, target), row);
        }
    });
}

fn one<C: Exponential>(
    (source, target): (DataType, DataType),
    length: usize,
    from: ElementRun,
    to: ElementRun,
    row: ElementRun,
) {
    let mut largest = C::from_f64(f64::NEG_INFINITY);
    each::<C>(source, from, length, |_, values| {
        for value in values {
            // NaN is never larger; it returns in the exponentials.
            if *value > largest {
                largest = *value;
            }
        }
    });
    let mut sum = C::default();
    each::<C>(source, from, length, |first, values| {
        for value in values.iter_mut() {
            *value = value.exp_minus(largest);
            sum = sum.plus(*value);
        }
        write(C::TYPE, row.at(first), row.stride, values);
    });
    each::<C>(C::TYPE, row, length, |first, values| {
        for value in values.iter_mut() {
            *value = value.divided_by(sum);
        }
        if source != target {
            source.round(values);
        }
        write(target, to.at(first), to.stride, values);
    });
}

/// Reads a row in portions: where each begins, and its values.
fn each<C: Number>(
    kind: DataType,
    row: ElementRun,
    length: usize,
    mut visit: impl FnMut(usize, &mut [C]),
) {
    let mut buffer = [C::default(); PORTION];
    for first in (0..length).step_by(PORTION) {
        let values = &mut buffer[..PORTION.min(length - first)];
        read(kind, row.at(first), row.stride, values);
        visit(first, values);
    }
}
