//! Products of matrices.

use super::NamedOperator;
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::float;
use softacl_base::matmul::multiply;
use softacl_base::operand::Operand;
use softacl_base::status::refuse;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("BatchMatMul", |call, all| {
        product(call, all, ["adj_x1", "adj_x2"])
    }),
    ("BatchMatMulV2", |call, all| {
        product(call, all, ["adj_x1", "adj_x2"])
    }),
    ("GEMM", |call, all| {
        let factors = [all.operand(call, 3)?, all.operand(call, 4)?];
        let (added, out) = (all.operand(call, 2)?, call.output(all.output())?);
        let product = call.temporary(out.view.kind, out.shape());
        turned_product(call, all, ["transpose_a", "transpose_b"], &product)?;
        let [alpha, beta] = [factors[0].shaped(&[])?, factors[1].shaped(&[])?];
        let sum = float(|[x, alpha, added, beta]| x * alpha + added * beta);
        call.each(sum, [&product, &alpha, &added, &beta], &out)
    }),
    ("MatMul", |call, all| {
        product(call, all, ["transpose_x1", "transpose_x2"])
    }),
    ("MatMulV2", |call, all| {
        product(call, all, ["transpose_x1", "transpose_x2"])
    }),
];

/// Products of matrices, each of which may be turned, plus a vector. The attributes say which are turned.
fn product(call: &mut Call, all: &Arguments<'_>, attributes: [&str; 2]) -> Outcome {
    let (bias, out) = (call.optional(all.input(2))?, call.output(all.output())?);
    turned_product(call, all, attributes, &out)?;
    match bias {
        Some(bias) => call.each(float(|[x, bias]| x + bias), [&out, &bias], &out),
        None => Ok(()),
    }
}

fn turned_product(
    call: &mut Call,
    all: &Arguments<'_>,
    attributes: [&str; 2],
    out: &Operand,
) -> Outcome {
    let turned = |call: &mut Call, index: usize| {
        let mut x = call.input(all.input(index))?;
        // A vector is a row of the first matrix, or a column of the second.
        if x.rank() == 1 {
            x.view = x.view.with_dimension(index);
        }
        let Some(rows) = x.rank().checked_sub(2) else {
            return refuse("a tensor is no matrix");
        };
        let mut order: Vec<usize> = (0..x.rank()).collect();
        order.swap(rows, rows + 1);
        Ok(match all.attributes.integer(attributes[index], 0) {
            0 => x,
            _ => x.seen(x.view.permuted(&order)),
        })
    };
    let is_vector =
        |call: &mut Call, index: usize| Outcome::Ok(call.input(all.input(index))?.rank() == 1);
    let mut out = out.clone();
    if is_vector(call, 1)? {
        out.view = out.view.clone().with_dimension(out.rank());
    }
    if is_vector(call, 0)? {
        out.view = out.view.clone().with_dimension(out.rank() - 1);
    }
    let (a, b) = (turned(call, 0)?, turned(call, 1)?);
    multiply(call, a, b, out, 0)
}
