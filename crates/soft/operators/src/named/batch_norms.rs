//! Batch norm in parts, with gradients.

use super::NamedOperator;
use crate::norms::channels_first;
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::status::require;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("BNInfer", normal),
    ("BNInferGrad", learnt_gradient),
    ("BNTrainingReduce", sums),
    ("BNTrainingReduceGrad", normal_gradient),
    ("BNTrainingUpdate", trained_normal),
    ("BNTrainingUpdateGrad", normal_sums),
    ("BatchNorm", |call, all| {
        require(
            all.attributes.integer("is_training", 1) == 0,
            "BatchNorm of a training is not supported",
        )?;
        normal(call, all)
    }),
];

/// Computes channel by channel: of rows of tensors and a number each of others, a row of the first output, if that is
/// one of rows, and a number of each other output.
fn by_channel(
    call: &mut Call,
    [rows, numbers]: [&[usize]; 2],
    row: Option<usize>,
    scalars: &[usize],
    compute: impl Fn(&[&[f64]], &[f64]) -> (Vec<f64>, Vec<f64>) + Send + Sync + 'static,
) -> Outcome {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for tensor in rows {
        inputs.push(channels_first(&call.input(*tensor)?)?);
    }
    let (channels, count) = (inputs[0].shape()[0], inputs.len());
    let length = inputs[0].elements() / channels.max(1);
    for tensor in numbers {
        let numbers = call.input(*tensor)?;
        require(
            numbers.elements() == channels,
            "there is not a number for each channel",
        )?;
        inputs.push(numbers);
    }
    if let Some(row) = row {
        outputs.push(channels_first(&call.output(row)?)?);
    }
    for tensor in scalars {
        outputs.push(call.output(*tensor)?);
    }
    let has_row = usize::from(row.is_some());
    let results = outputs.len();
    call.dense(inputs, outputs, 0, move |values: &[Vec<f64>]| {
        let mut all = vec![Vec::new(); results];
        for channel in 0..channels {
            let part = |it: &Vec<f64>| -> Vec<f64> { it[channel * length..][..length].to_vec() };
            let rows: Vec<Vec<f64>> = values[..count].iter().map(part).collect();
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            let numbers: Vec<f64> = values[count..].iter().map(|it| it[channel]).collect();
            let (row, scalars) = compute(&rows, &numbers);
            if has_row == 1 {
                all[0].extend(row);
            }
            for (result, number) in all[has_row..].iter_mut().zip(scalars) {
                result.push(number);
            }
        }
        all
    })
}

/// Sums of a channel's elements, and of their squares.
fn sums(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    by_channel(
        call,
        [&[all.input(0)], &[]],
        None,
        &all.outputs,
        |rows, _| {
            let squares = rows[0].iter().map(|x| x * x).sum();
            (Vec::new(), vec![rows[0].iter().sum(), squares])
        },
    )
}

/// Batch norm by those sums; the running mean and variance move on.
fn trained_normal(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (factor, eps) = (
        all.attributes.float("factor"),
        all.attributes.float("epsilon"),
    );
    let (row, scalars) = (
        all.outputs.first().copied(),
        all.outputs.get(1..).unwrap_or(&[]),
    );
    by_channel(
        call,
        [&all.inputs[..1], &all.inputs[1..]],
        row,
        scalars,
        move |rows, numbers| {
            let &[sum, squares, scale, offset, running, spread] = numbers else {
                return (Vec::new(), Vec::new());
            };
            let count = rows[0].len() as f64;
            let mean = sum / count;
            let variance = (squares / count - mean * mean).max(0.0);
            let rstd = (variance + eps).sqrt().recip();
            let row = rows[0]
                .iter()
                .map(|x| (x - mean) * rstd * scale + offset)
                .collect();
            let unbiased = variance * count / (count - 1.0).max(1.0);
            let moved = |old: f64, new: f64| old * (1.0 - factor) + new * factor;
            (
                row,
                vec![
                    moved(running, mean),
                    moved(spread, unbiased),
                    mean,
                    variance,
                ],
            )
        },
    )
}

/// A row of the output, by the first `rows` inputs and `N` numbers of the others. The last number of `compute` is the epsilon.
fn row_by_numbers<const N: usize>(
    call: &mut Call,
    all: &Arguments<'_>,
    rows: usize,
    compute: impl Fn(&[&[f64]], [f64; N], f64) -> Vec<f64> + Send + Sync + 'static,
) -> Outcome {
    let eps = all.attributes.float("epsilon");
    let row = all.outputs.first().copied();
    let (rows, numbers) = all.inputs.split_at(rows);
    require(numbers.len() >= N, "an input is missing")?;
    by_channel(call, [rows, numbers], row, &[], move |rows, numbers| {
        let numbers = numbers.first_chunk::<N>();
        let row = numbers.map(|numbers| compute(rows, *numbers, eps));
        (row.unwrap_or_default(), Vec::new())
    })
}

/// Batch norm by learnt values.
fn normal(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    row_by_numbers(
        call,
        all,
        1,
        |rows, [scale, offset, mean, variance], eps| {
            let rstd = (variance + eps).sqrt().recip();
            let normal = |x: &f64| (x - mean) * rstd * scale + offset;
            rows[0].iter().map(normal).collect()
        },
    )
}

/// The gradient of the input of batch norm by learnt values: the inputs are the gradient, the scale and the variance.
fn learnt_gradient(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    row_by_numbers(call, all, 1, |rows, [scale, variance], eps| {
        let factor = scale / (variance + eps).sqrt();
        rows[0].iter().map(|grad| grad * factor).collect()
    })
}

/// The gradients of scale and offset.
fn normal_sums(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let eps = all.attributes.float("epsilon");
    by_channel(
        call,
        [&all.inputs[..2], &all.inputs[2..]],
        None,
        &all.outputs,
        move |rows, numbers| {
            let (mean, rstd) = (numbers[0], (numbers[1] + eps).sqrt().recip());
            let along = rows[0]
                .iter()
                .zip(rows[1])
                .map(|(grad, x)| grad * (x - mean) * rstd)
                .sum();
            (Vec::new(), vec![along, rows[0].iter().sum()])
        },
    )
}

/// The gradient of the input.
fn normal_gradient(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    row_by_numbers(
        call,
        all,
        2,
        |rows, [along, sum, scale, mean, variance], eps| {
            let (count, rstd) = (rows[0].len() as f64, (variance + eps).sqrt().recip());
            let each = rows[0].iter().zip(rows[1]);
            let slope = |(grad, x): (&f64, &f64)| {
                scale * rstd * (grad - sum / count - (x - mean) * rstd * along / count)
            };
            each.map(slope).collect()
        },
    )
}
