//! Matrix products: `aclnnMm` of two matrices, `aclnnMatmul` of batches that broadcast.

use crate::call::{Call, Cost};
use crate::code::Outcome;
use crate::data_type::DataType;
use crate::elementwise::CopyMap;
use crate::operand::Operand;
use crate::product;
use crate::status::{refuse, require};
use crate::view::broadcast_shape;

const WRONG_SHAPE: &str = "the shapes do not fit a matrix product";
const MOST_DIMENSIONS: usize = 6;

pub fn mm(call: &mut Call, this: usize, other: usize, out: usize, precision: i8) -> Outcome {
    let (a, b) = (call.input(this)?, call.input(other)?);
    let out = call.output(out)?;
    let all = [&a, &b, &out];
    require(
        all.iter().all(|it| it.view.shape.len() == 2),
        "a tensor is no matrix",
    )?;
    multiply(call, a, b, out, precision)
}

pub fn matmul(call: &mut Call, this: usize, other: usize, out: usize, precision: i8) -> Outcome {
    let (mut a, mut b) = (call.input(this)?, call.input(other)?);
    let mut out = call.output(out)?;
    let valid = |it: &Operand| (1..=MOST_DIMENSIONS).contains(&it.view.shape.len());
    require(valid(&a) && valid(&b), "a tensor has not 1 to 6 dimensions")?;
    // A vector is a matrix of one row on the left and of one column on the right; the product has
    // no such dimension.
    let vectors = (a.view.shape.len() == 1, b.view.shape.len() == 1);
    let missing = usize::from(vectors.0) + usize::from(vectors.1);
    let rank = a.view.shape.len().max(b.view.shape.len()).max(2);
    require(out.view.shape.len() + missing == rank, WRONG_SHAPE)?;
    if vectors.0 {
        a.view = a.view.with_dimension(0);
        let at = out.view.shape.len() + usize::from(vectors.1) - 1;
        out.view = out.view.with_dimension(at);
    }
    if vectors.1 {
        b.view = b.view.with_dimension(1);
        let at = out.view.shape.len();
        out.view = out.view.with_dimension(at);
    }
    multiply(call, a, b, out, precision)
}

/// All have at least two dimensions; those in front of the matrices broadcast.
pub fn multiply(call: &mut Call, a: Operand, b: Operand, out: Operand, precision: i8) -> Outcome {
    // -1 to 3 say how much precision may be given up; none is.
    require(
        (-1..=3).contains(&precision),
        "cubeMathType has no such value",
    )?;
    let kind = a.view.kind.promote(b.view.kind);
    require(
        kind.converts_to(out.view.kind),
        "the result cannot be stored in the output's data type",
    )?;
    let [batches, inner] = result_shape(&a, &b, &out)?;
    if out.view.is_empty() {
        return Ok(());
    }
    let wide = kind.wide();
    let a = converted(call, a, kind)?;
    let b = converted(call, b, kind)?;
    let product = if out.view.kind == wide {
        out.clone()
    } else {
        call.temporary(wide, &out.view.shape)
    };
    let stretched = |it: &Operand| {
        let matrix = it.view.shape.len() - 2;
        let shape = [&out.view.shape[..batches], &it.view.shape[matrix..]].concat();
        it.view.clone().broadcast(&shape).map(|view| it.seen(view))
    };
    let cost = Cost {
        bytes: a.view.bytes() + b.view.bytes() + product.view.bytes(),
        operations: (out.view.elements() as u64)
            .saturating_mul(2 * inner as u64)
            .saturating_mul(kind.effort()),
    };
    let (Some(a), Some(b)) = (stretched(&a), stretched(&b)) else {
        return refuse(WRONG_SHAPE);
    };
    let target = product.clone();
    call.step(cost, move |frame| {
        product::run(frame.view(&a), frame.view(&b), &frame.view(&target));
    });
    if out.view.kind != wide {
        call.convert(CopyMap, kind, [&product], &out)?;
    }
    Ok(())
}

/// How many dimensions the batches have, and how long the rows of the left matrix are.
fn result_shape(a: &Operand, b: &Operand, out: &Operand) -> Outcome<[usize; 2]> {
    let split = |it: &Operand| {
        let (batch, matrix) = it.view.shape.split_at(it.view.shape.len() - 2);
        (batch.to_vec(), [matrix[0], matrix[1]])
    };
    let (one, [rows, inner]) = split(a);
    let (other, [depth, columns]) = split(b);
    require(inner == depth, WRONG_SHAPE)?;
    let Some(mut shape) = broadcast_shape(&one, &other) else {
        return refuse(WRONG_SHAPE);
    };
    let batches = shape.len();
    shape.extend([rows, columns]);
    require(shape == out.view.shape, WRONG_SHAPE)?;
    Ok([batches, inner])
}

/// The operand in the type of the computation, in the workspace if it has to be converted.
fn converted(call: &mut Call, operand: Operand, kind: DataType) -> Outcome<Operand> {
    if operand.view.kind == kind.wide() {
        return Ok(operand);
    }
    let copy = call.temporary(kind.wide(), &operand.view.shape);
    call.convert(CopyMap, kind, [&operand], &copy)?;
    Ok(copy)
}
