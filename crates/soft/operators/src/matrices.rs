//! Products of matrices and vectors, with sums around them.

use crate::parameters::{InPlace, Input, Output, Scalar};
use softacl_base::call::Call;
use softacl_base::call_wide::common;
use softacl_base::code::Outcome;
use softacl_base::dense::count;
use softacl_base::formula::number;
use softacl_base::matmul::multiply;
use softacl_base::operand::Operand;
use softacl_base::status::require;

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
    let (beta, alpha) = (
        call.scalar_as_computed(beta, &[x])?,
        call.scalar_as_computed(alpha, &[&a, &b])?,
    );
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
    aclnnAddmm |call, x: Input, a: Input, b: Input, beta: Scalar, alpha: Scalar, out: Output, precision: i8| {
        added(call, &x, [a, b], [beta, alpha], &out, precision)
    };
    aclnnInplaceAddmm |call, x: InPlace, a: Input, b: Input, beta: Scalar, alpha: Scalar, precision: i8| {
        added(call, &x, [a, b], [beta, alpha], &x, precision)
    };
    aclnnBaddbmm |call, x: Input, a: Input, b: Input, beta: Scalar, alpha: Scalar, out: Output, precision: i8| {
        added(call, &x, [a, b], [beta, alpha], &out, precision)
    };
    aclnnInplaceBaddbmm |call, x: InPlace, a: Input, b: Input, beta: Scalar, alpha: Scalar, precision: i8| {
        added(call, &x, [a, b], [beta, alpha], &x, precision)
    };
    aclnnAddbmm |call, x: Input, a: Input, b: Input, beta: Scalar, alpha: Scalar, out: Output, precision: i8| {
        // The matrices of the left batch in a row, those of the right one in a column: then the product adds up.
        let (a, b) = (arranged(call, &a, &[1, 0, 2])?, arranged(call, &b, &[0, 1, 2])?);
        let (a, b) = (joined(&a, 1), joined(&b, 0));
        added(call, &x, [a, b], [beta, alpha], &out, precision)
    };
    aclnnAddmv |call, x: Input, a: Input, vector: Input, alpha: Scalar, beta: Scalar, out: Output, precision: i8| {
        let x = if x.rank() == 0 { x } else { column(x) };
        added(call, &x, [a, column(vector)], [beta, alpha], &column(out), precision)
    };
    aclnnAddr aclnnInplaceAddr |call, x: Input, a: Input, b: Input, beta: Scalar, alpha: Scalar => out| {
        added(call, &x, [column(a), row(b)], [beta, alpha], &out, 0)
    };
    aclnnBatchMatMul |call, a: Input, b: Input, out: Output, precision: i8| {
        multiply(call, a, b, out, precision)
    };
    aclnnMv |call, a: Input, vector: Input, out: Output, precision: i8| {
        multiply(call, a, column(vector), column(out), precision)
    };
    aclnnDot |call, a: Input, b: Input, out: Output| {
        require(a.rank() == 1 && count(a.shape()) == count(b.shape()), "the vectors have two lengths")?;
        multiply(call, row(a), column(b), row(row(out)), 0)
    };
}
