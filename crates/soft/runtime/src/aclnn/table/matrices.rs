//! Products of matrices and vectors, with sums around them.

use crate::aclnn::call::Call;
use crate::aclnn::call_wide::common;
use crate::aclnn::dense::count;
use crate::aclnn::formula::number;
use crate::aclnn::kernels::multiply;
use crate::aclnn::operand::Operand;
use crate::aclnn::operators::{In, Scalar, Written};
use crate::aclnn::status::require;
use crate::code::Outcome;

/// `beta` times a tensor plus `alpha` times a product, which is computed into the workspace. A factor
/// of zero leaves its tensor out, for any content.
fn added(
    call: &mut Call,
    x: &Operand,
    [a, b]: [Operand; 2],
    [beta, alpha]: [Scalar; 2],
    out: &Operand,
    precision: i8,
) -> Outcome {
    let shape = product_shape(&a, &b)?;
    let (beta, alpha) = (call.given(beta, &[x])?, call.given(alpha, &[&a, &b])?);
    let product = call.temporary(common(&[&a, &b]).wide(), &shape);
    multiply(call, a, b, product.clone(), precision)?;
    if product.view.is_empty() || out.view.is_empty() {
        return Ok(());
    }
    let formula = number(
        move |[x, product]| {
            let scaled = if beta.float == 0.0 {
                0.0
            } else {
                beta.float * x
            };
            scaled + alpha.float * product
        },
        move |[x, product]: [i64; 2]| {
            let scaled = beta.integer.wrapping_mul(x);
            scaled.wrapping_add(alpha.integer.wrapping_mul(product))
        },
    );
    call.each(formula, [x, &product], out)
}

fn product_shape(a: &Operand, b: &Operand) -> Outcome<Vec<usize>> {
    let (one, other) = (a.shape(), b.shape());
    let rank = one.len();
    require(
        rank >= 2 && other.len() == rank,
        "the shapes do not fit a product",
    )?;
    Ok([&one[..rank - 1], &other[rank - 1..]].concat())
}

/// A vector as a matrix of one row or of one column.
fn row(vector: Operand) -> Operand {
    let view = vector.view.clone().with_dimension(0);
    vector.seen(view)
}

fn column(vector: Operand) -> Operand {
    let at = vector.rank();
    let view = vector.view.clone().with_dimension(at);
    vector.seen(view)
}

/// A copy without gaps, with a dimension and the next one as one.
fn joined(copy: &Operand, at: usize) -> Operand {
    let mut view = copy.view.clone();
    let length = view.shape.remove(at);
    view.strides.remove(at);
    view.shape[at] *= length;
    copy.seen(view)
}

/// A copy with the dimensions in another order, in the workspace.
fn arranged(call: &mut Call, x: &Operand, order: &[usize]) -> Outcome<Operand> {
    let x = x.seen(x.view.permuted(order));
    let copy = call.temporary(x.view.kind, x.shape());
    call.each(number(|[x]| x, |[x]| x), [&x], &copy)?;
    Ok(copy)
}

operators! {
    aclnnAddmm |call, x: In, a: In, b: In, beta: Scalar, alpha: Scalar, out: Written, precision: i8| {
        let (x, a, b) = (call.input(x)?, call.input(a)?, call.input(b)?);
        let out = call.output(out)?;
        added(call, &x, [a, b], [beta, alpha], &out, precision)
    };
    aclnnInplaceAddmm |call, x: Written, a: In, b: In, beta: Scalar, alpha: Scalar, precision: i8| {
        let (x, a, b) = (call.in_place(x)?, call.input(a)?, call.input(b)?);
        added(call, &x, [a, b], [beta, alpha], &x, precision)
    };
    aclnnBaddbmm |call, x: In, a: In, b: In, beta: Scalar, alpha: Scalar, out: Written, precision: i8| {
        let (x, a, b) = (call.input(x)?, call.input(a)?, call.input(b)?);
        let out = call.output(out)?;
        added(call, &x, [a, b], [beta, alpha], &out, precision)
    };
    aclnnInplaceBaddbmm |call, x: Written, a: In, b: In, beta: Scalar, alpha: Scalar, precision: i8| {
        let (x, a, b) = (call.in_place(x)?, call.input(a)?, call.input(b)?);
        added(call, &x, [a, b], [beta, alpha], &x, precision)
    };
    aclnnAddbmm |call, x: In, a: In, b: In, beta: Scalar, alpha: Scalar, out: Written, precision: i8| {
        let (x, a, b) = (call.input(x)?, call.input(a)?, call.input(b)?);
        let out = call.output(out)?;
        // The matrices of the left batch in a row, those of the right one in a column: then the product adds up.
        let (a, b) = (arranged(call, &a, &[1, 0, 2])?, arranged(call, &b, &[0, 1, 2])?);
        let (a, b) = (joined(&a, 1), joined(&b, 0));
        added(call, &x, [a, b], [beta, alpha], &out, precision)
    };
    aclnnAddmv |call, x: In, a: In, vector: In, alpha: Scalar, beta: Scalar, out: Written, precision: i8| {
        let (x, a, vector) = (call.input(x)?, call.input(a)?, call.input(vector)?);
        let out = call.output(out)?;
        let x = if x.rank() == 0 { x } else { column(x) };
        added(call, &x, [a, column(vector)], [beta, alpha], &column(out), precision)
    };
    aclnnAddr |call, x: In, a: In, b: In, beta: Scalar, alpha: Scalar, out: Written| {
        let (x, a, b) = (call.input(x)?, call.input(a)?, call.input(b)?);
        let out = call.output(out)?;
        added(call, &x, [column(a), row(b)], [beta, alpha], &out, 0)
    };
    aclnnInplaceAddr |call, x: Written, a: In, b: In, beta: Scalar, alpha: Scalar| {
        let (x, a, b) = (call.in_place(x)?, call.input(a)?, call.input(b)?);
        added(call, &x, [column(a), row(b)], [beta, alpha], &x, 0)
    };
    aclnnBatchMatMul |call, a: In, b: In, out: Written, precision: i8| {
        let (a, b, out) = (call.input(a)?, call.input(b)?, call.output(out)?);
        multiply(call, a, b, out, precision)
    };
    aclnnMv |call, a: In, vector: In, out: Written, precision: i8| {
        let (a, vector, out) = (call.input(a)?, call.input(vector)?, call.output(out)?);
        multiply(call, a, column(vector), column(out), precision)
    };
    aclnnDot |call, a: In, b: In, out: Written| {
        let (a, b, out) = (call.input(a)?, call.input(b)?, call.output(out)?);
        require(a.rank() == 1 && count(a.shape()) == count(b.shape()), "the vectors have two lengths")?;
        multiply(call, row(a), column(b), row(row(out)), 0)
    };
}
