//! Operators of several parts that are in files by their kind: recurrent layers, distances, decompositions.

use super::NamedOperator;
use crate::algebra::Matrix;
use crate::{algebra, alignment, decompositions, gated, recurrent, sampling, sorting, sync_norms};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::float;
use softacl_base::operand::Operand;
use softacl_base::status::require;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("CTCLossV2", alignment::loss),
    ("CTCLossV2Grad", alignment::loss_gradient),
    ("Cdist", |call, all| {
        let (a, b) = (call.input(all.input(0))?, call.input(all.input(1))?);
        let out = call.output(all.output())?;
        algebra::distances(call, [&a, &b], all.attributes.float("p"), &out)
    }),
    ("CdistGrad", |call, all| {
        let inputs = [0, 1, 2, 3].map(|it| all.input(it));
        algebra::distances_back(call, inputs, all.attributes.float("p"), all.output())
    }),
    // An attribute turns the matrices.
    ("MatrixInverse", |call, all| {
        let (mut x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let size = algebra::square(&x)?;
        if all.attributes.integer("adjoint", 0) != 0 {
            let mut order: Vec<usize> = (0..x.rank()).collect();
            order.swap(x.rank() - 2, x.rank() - 1);
            x.view = x.view.permuted(&order);
        }
        require(
            x.shape() == out.shape(),
            "the output's shape is not the input's",
        )?;
        let operations = 2 * (x.elements() * size) as u64;
        of_matrices(call, (x, size), out, operations, |it| it.inverse())
    }),
    ("MatrixDeterminant", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let size = algebra::square(&x)?;
        let operations = (x.elements() * size) as u64;
        of_matrices(call, (x, size), out, operations, |it| {
            vec![it.determinant()]
        })
    }),
    // A factor for each part along a dimension.
    ("Renorm", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let [power, most] = ["p", "maxnorm"].map(|it| all.attributes.float(it));
        let along = all.attributes.integer("dim", 0);
        algebra::shortening(call, [&x, &out], along, [power, most])
    }),
    ("DynamicGRUV2", gated::gru),
    ("DynamicGRUV2Grad", gated::gru_gradient),
    ("DynamicRNN", |call, all| recurrent::lstm(call, all, 1)),
    ("DynamicRNNGrad", |call, all| {
        recurrent::lstm_gradient(call, all, 1)
    }),
    ("DynamicRNNV2", |call, all| recurrent::lstm(call, all, 2)),
    ("DynamicRNNV2Grad", |call, all| {
        recurrent::lstm_gradient(call, all, 2)
    }),
    ("GridSampler3D", sampling::named),
    ("GridSampler3DGrad", sampling::named_gradient),
    ("LogSpaceD", logarithmic),
    ("Pdist", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        algebra::distances_of_pairs(call, x, all.attributes.float("p"), out)
    }),
    ("Qr", decompositions::qr),
    ("Svd", decompositions::svd),
    ("SyncBatchNormBackwardReduce", sync_norms::gradient_sums),
    ("SyncBatchNormGatherStats", sync_norms::gathered_sums),
    (
        "SyncBatchNormBackwardElemt",
        sync_norms::gradient_by_element,
    ),
    // Values as they come first, and the number of its value for each element.
    ("Unique", |call, all| {
        let (x, [out, places]) = (all.operand(call, 0)?, [0, 1].map(|it| all.written_at(it)));
        sorting::distinct_slices(call, (&x, 0), [out, places, 0], false)
    }),
    // The second input is the dimension. Clients do not read the second output, which is left as it is.
    ("UniqueWithCountsExt2", |call, all| {
        let x = all.operand(call, 0)?;
        let along = all.integers(1).first().copied().unwrap_or(0);
        let outputs = [0, 3, 2].map(|it| all.written_at(it));
        sorting::distinct_slices(call, (&x, along), outputs, true)
    }),
];

/// Computes something of each square matrix of this size.
fn of_matrices(
    call: &mut Call,
    (x, size): (Operand, usize),
    out: Operand,
    operations: u64,
    compute: fn(&Matrix<'_>) -> Vec<f64>,
) -> Outcome {
    call.dense(
        vec![x],
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let matrices = values[0].chunks((size * size).max(1));
            let results = matrices.flat_map(|elements| compute(&Matrix { size, elements }));
            vec![results.collect()]
        },
    )
}

/// Powers of a base with exponents at equal distances; the input counts from 0.
fn logarithmic(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
    let [start, end, base] = ["start", "end", "base"].map(|it| all.attributes.float(it));
    let steps = all.attributes.integer("steps", 1) - 1;
    let step = (end - start) / (steps.max(1) as f64);
    call.each(
        float(move |[number]| base.powf(start + step * number)),
        [&x],
        &out,
    )
}
