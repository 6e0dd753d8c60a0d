//! Products of complex matrices and vectors, and sums around them. A product of complex numbers is computed from products of
//! their parts.

use super::{BOTH, Complex, FormulaSource, UNIT, elements, parts};
use crate::call::{ArgumentRole, Call};
use crate::code::Outcome;
use crate::matmul::multiply;
use crate::operand::Operand;
use crate::status::{refuse, require};
use crate::view::broadcast_shape;

/// An operator with a product of two tensors that follow each other.
#[derive(Clone, Copy)]
pub(super) struct ComplexProduct {
    name: &'static str,
    /// The place of the left tensor among the handles.
    left: usize,
    /// The places of the factor of the first tensor, and of the factor of the product.
    factors: Option<[usize; 2]>,
    /// The vectors are a column and a row, not a row and a column.
    outer: bool,
}

const fn plain(name: &'static str) -> ComplexProduct {
    ComplexProduct {
        name,
        left: 0,
        factors: None,
        outer: false,
    }
}

const fn added(name: &'static str, factors: [usize; 2]) -> ComplexProduct {
    ComplexProduct {
        name,
        left: 1,
        factors: Some(factors),
        outer: false,
    }
}

const PRODUCTS: &[ComplexProduct] = &[
    plain("aclnnMm"),
    plain("aclnnMatmul"),
    plain("aclnnBatchMatMul"),
    plain("aclnnMv"),
    plain("aclnnDot"),
    added("aclnnAddmm", [3, 4]),
    added("aclnnInplaceAddmm", [3, 4]),
    added("aclnnBaddbmm", [3, 4]),
    added("aclnnInplaceBaddbmm", [3, 4]),
    added("aclnnAddmv", [4, 3]),
    ComplexProduct {
        outer: true,
        ..added("aclnnAddr", [3, 4])
    },
    ComplexProduct {
        outer: true,
        ..added("aclnnInplaceAddr", [3, 4])
    },
];

pub(super) fn find(name: &str) -> Option<ComplexProduct> {
    PRODUCTS.iter().find(|it| it.name == name).copied()
}

/// Adds the task of the operator.
pub(super) fn describe(call: &mut Call, product: ComplexProduct, handles: &[usize]) -> Outcome {
    let (Some(first), Some(last)) = (handles.first(), handles.last()) else {
        return refuse("the operator has no tensors");
    };
    let (Some(left), Some(right)) = (handles.get(product.left), handles.get(product.left + 1))
    else {
        return refuse("the operator has no product");
    };
    let begin = call.mark();
    let [by_real, by_imaginary] = halves(call, [*left, *right], product.outer)?;
    let target = match product.name.contains("Inplace") {
        true => (*first, ArgumentRole::InPlace),
        false => (*last, ArgumentRole::Output),
    };
    let Some([beta, alpha]) = product.factors else {
        elements(
            call,
            |x| x[0] + UNIT * x[1],
            vec![by_real, by_imaginary],
            target,
        )?;
        call.join(begin);
        return Ok(());
    };
    let factors = (handles.get(beta), handles.get(alpha));
    let (Some(beta), Some(alpha)) = factors else {
        return refuse("a factor is missing");
    };
    // A factor of zero leaves the tensor out, for any content.
    let sum = |x: &[Complex]| {
        let product = x[4] * (x[0] + UNIT * x[1]);
        match x[3] == Complex::default() {
            true => product,
            false => x[3] * x[2] + product,
        }
    };
    let others = [*first, *beta, *alpha].map(FormulaSource::Handle);
    let sources = [by_real, by_imaginary].into_iter().chain(others).collect();
    elements(call, sum, sources, target)?;
    call.join(begin);
    Ok(())
}

/// The products of the real and of the imaginary part of the left tensor with the right one.
fn halves(call: &mut Call, handles: [usize; 2], outer: bool) -> Outcome<[FormulaSource; 2]> {
    let [left, right] = [
        parts(call, handles[0], ArgumentRole::Input)?,
        parts(call, handles[1], ArgumentRole::Input)?,
    ];
    let mut found = BOTH.map(|_| FormulaSource::Number(Complex::default()));
    for (found, left) in found.iter_mut().zip(&left) {
        let products: Outcome<Vec<Operand>> = right
            .iter()
            .map(|right| real(call, left, right, outer))
            .collect();
        *found = FormulaSource::Parts(products?);
    }
    Ok(found)
}

/// The product of two parts in the workspace. It has no dimensions for vectors.
fn real(call: &mut Call, left: &Operand, right: &Operand, outer: bool) -> Outcome<Operand> {
    let places = if outer { [1, 0] } else { [0, 1] };
    let matrix = |it: &Operand, place: usize| match it.rank() {
        1 => it.seen(it.view.clone().with_dimension(place)),
        _ => it.clone(),
    };
    let (one, other) = (matrix(left, places[0]), matrix(right, places[1]));
    require(
        one.rank() >= 2 && other.rank() >= 2,
        "a tensor is no matrix",
    )?;
    let (batch, [rows, _]) = split(&one);
    let (other_batch, [_, columns]) = split(&other);
    let Some(mut shape) = broadcast_shape(batch, other_batch) else {
        return refuse("the batches do not broadcast");
    };
    shape.extend([rows, columns]);
    let kind = one.view.kind.promote(other.view.kind).wide();
    let product = call.temporary(kind, &shape);
    multiply(call, one, other, product.clone(), 0)?;
    let mut view = product.view.clone();
    for (is_vector, from_end) in [(right.rank() == 1, 1), (left.rank() == 1, 2)] {
        if is_vector && !outer {
            let at = shape.len() - from_end;
            view.shape.remove(at);
            view.strides.remove(at);
        }
    }
    Ok(product.seen(view))
}

/// The lengths of the batch, and of the matrix.
fn split(it: &Operand) -> (&[usize], [usize; 2]) {
    let (batch, matrix) = it.shape().split_at(it.rank() - 2);
    (batch, [matrix[0], matrix[1]])
}
