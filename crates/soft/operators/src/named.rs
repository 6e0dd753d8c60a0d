//! Operators that are called by name: what clients fall back to for some convolutions.

use super::convolution::{self, ConvolutionArrays};
use super::functions::larger;
use super::indices::scatter_elements;
use super::norms::channels_first;
use super::pooling::{self, MeanDivisor};
use super::reductions::norm;
use super::{algebra, alignment, decompositions, gated, losses, recurrent, shapes, sync_norms};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::dense::{dimension, dimensions};
use softacl_base::formula::{Formula, float, number};
use softacl_base::matmul::multiply;
use softacl_base::phases::contained;
use softacl_base::runtime::NamedOperators;
use softacl_base::status::{refuse, require};

type OperatorFn = fn(&mut Call, &Arguments<'_>) -> Outcome;

/// The operators, by name.
const KNOWN: &[(&str, OperatorFn)] = &[
    ("Abs", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        call.each(
            number(|[x]| x.abs(), |[x]: [i64; 1]| x.wrapping_abs()),
            [&x],
            &out,
        )
    }),
    ("Add", |call, all| {
        two(
            call,
            all,
            number(|[a, b]| a + b, |[a, b]: [i64; 2]| a.wrapping_add(b)),
        )
    }),
    ("AvgPoolV2", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let means = pooling::average(&all.pool(2)?, &x, &out, all.divisor(), 2)?;
        pooling::means(call, x, out, means, 2)
    }),
    ("AvgPoolV2Grad", |call, all| {
        let (grad, out) = (call.input(all.input(1))?, call.output(all.output())?);
        let means = pooling::average(&all.pool(2)?, &out, &grad, all.divisor(), 2)?;
        pooling::means_back(call, grad, out, means, 2)
    }),
    ("BNInfer", normal),
    ("BNTrainingReduce", sums),
    ("BNTrainingReduceGrad", normal_gradient),
    ("BNTrainingUpdate", trained_normal),
    ("BNTrainingUpdateGrad", normal_sums),
    ("CTCLossV2", alignment::loss),
    ("CTCLossV2Grad", alignment::loss_gradient),
    ("BatchMatMul", |call, all| {
        matrix_product(call, all, ["adj_x1", "adj_x2"])
    }),
    ("BatchMatMulV2", |call, all| {
        matrix_product(call, all, ["adj_x1", "adj_x2"])
    }),
    ("Cast", same),
    ("Cdist", |call, all| {
        let (a, b) = (call.input(all.input(0))?, call.input(all.input(1))?);
        let out = call.output(all.output())?;
        algebra::distances(call, [&a, &b], all.attributes.float("p"), &out)
    }),
    ("CdistGrad", |call, all| {
        let inputs = [0, 1, 2, 3].map(|it| all.input(it));
        algebra::distances_back(call, inputs, all.attributes.float("p"), all.output())
    }),
    ("ConcatD", |call, all| {
        let mut parts = Vec::new();
        for handle in &all.inputs {
            parts.push(call.input(*handle)?);
        }
        let out = call.output(all.output())?;
        let along = dimension(all.attributes.integer("concat_dim", 0), out.rank())?;
        shapes::joined(call, parts, along, &out)
    }),
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
    ("Div", |call, all| {
        two(
            call,
            all,
            number(
                |[a, b]| a / b,
                |[a, b]: [i64; 2]| a.checked_div(b).unwrap_or(0),
            ),
        )
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
    ("Flatten", same),
    ("Identity", same),
    ("LeakyRelu", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let slope = all.attributes.float("negative_slope");
        call.each(
            float(move |[x]| if x > 0.0 { x } else { x * slope }),
            [&x],
            &out,
        )
    }),
    ("LogSpaceD", logarithmic),
    ("LpNormReduceV2", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let along = dimensions(&all.attributes.integers("axes"), x.rank())?;
        let power = all.power();
        call.reduce(&x, &along, vec![out], move |row: &[f64], out| {
            out[0] = match power {
                power if power == 0.0 || power.is_infinite() => norm(row, power),
                power => row.iter().map(|it| it.abs().powf(power)).sum(),
            }
        })
    }),
    ("LpNormUpdateV2", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let power = match all.power() {
            power if power == 0.0 || power.is_infinite() => 1.0,
            power => power.recip(),
        };
        call.each(float(move |[x]| x.powf(power)), [&x], &out)
    }),
    ("MatMul", |call, all| {
        matrix_product(call, all, ["transpose_x1", "transpose_x2"])
    }),
    ("MatMulV2", |call, all| {
        matrix_product(call, all, ["transpose_x1", "transpose_x2"])
    }),
    ("MaxPoolGradWithArgmaxV1", |call, all| {
        let (x, grad) = (call.input(all.input(0))?, call.input(all.input(1))?);
        let windows = pooling::by_window(&all.pool(1)?.windows(&x, &grad, 2)?);
        let out = call.output(all.output())?;
        pooling::max_pool_back(call, [grad, x], windows, out, 2)
    }),
    ("MaxPoolWithArgmaxV1", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let windows = pooling::by_window(&all.pool(1)?.windows(&x, &out, 2)?);
        pooling::max_pool(call, x, windows, [Some(out), None], 2)
    }),
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
    ("MultilabelMarginLoss", losses::multilabel_margin),
    ("Pdist", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        algebra::distances_of_pairs(call, x, all.attributes.float("p"), out)
    }),
    ("Qr", decompositions::qr),
    ("RealDiv", |call, all| two(call, all, float(|[a, b]| a / b))),
    ("ReluGrad", |call, all| {
        two(
            call,
            all,
            float(|[grad, x]| if x > 0.0 { grad } else { 0.0 }),
        )
    }),
    ("ReduceSum", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let along = dimensions(all.host.first().map_or(&[][..], Vec::as_slice), x.rank())?;
        call.reduce(&x, &along, vec![out], |row: &[f64], out| {
            out[0] = row.iter().sum()
        })
    }),
    ("Relu", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        call.each(
            number(|[x]| larger(x, 0.0), |[x]: [i64; 1]| x.max(0)),
            [&x],
            &out,
        )
    }),
    ("ReverseV2", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let along = all.host.first().map_or(&[][..], Vec::as_slice);
        shapes::flipped(call, &x, along, &out)
    }),
    ("ScatterElements", |call, all| {
        let axis = all.attributes.integer("axis", 0);
        scatter_elements(call, [0, 1, 2].map(|it| all.input(it)), axis, all.output())
    }),
    ("Sub", |call, all| {
        two(
            call,
            all,
            number(|[a, b]| a - b, |[a, b]: [i64; 2]| a.wrapping_sub(b)),
        )
    }),
    (
        "SyncBatchNormBackwardElemt",
        sync_norms::gradient_by_element,
    ),
    ("Svd", decompositions::svd),
    ("SyncBatchNormBackwardReduce", sync_norms::gradient_sums),
    ("SyncBatchNormGatherStats", sync_norms::gathered_sums),
    ("TransData", same),
];

fn same(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
    let out = out.shaped(x.shape())?;
    call.each(number(|[x]| x, |[x]| x), [&x], &out)
}

fn two(call: &mut Call, all: &Arguments<'_>, formula: Formula<2>) -> Outcome {
    let (a, b) = (call.input(all.input(0))?, call.input(all.input(1))?);
    let out = call.output(all.output())?;
    call.each(formula, [&a, &b], &out)
}

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

/// Batch norm by learnt values.
fn normal(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let eps = all.attributes.float("epsilon");
    let row = all.outputs.first().copied();
    by_channel(
        call,
        [&all.inputs[..1], &all.inputs[1..]],
        row,
        &[],
        move |rows, numbers| {
            let &[scale, offset, mean, variance, ..] = numbers else {
                return (Vec::new(), Vec::new());
            };
            let rstd = (variance + eps).sqrt().recip();
            (
                rows[0]
                    .iter()
                    .map(|x| (x - mean) * rstd * scale + offset)
                    .collect(),
                Vec::new(),
            )
        },
    )
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
    let eps = all.attributes.float("epsilon");
    let row = all.outputs.first().copied();
    by_channel(
        call,
        [&all.inputs[..2], &all.inputs[2..]],
        row,
        &[],
        move |rows, numbers| {
            let &[along, sum, scale, mean, variance] = numbers else {
                return (Vec::new(), Vec::new());
            };
            let (count, rstd) = (rows[0].len() as f64, (variance + eps).sqrt().recip());
            let each = rows[0].iter().zip(rows[1]);
            let slope = |(grad, x): (&f64, &f64)| {
                scale * rstd * (grad - sum / count - (x - mean) * rstd * along / count)
            };
            (each.map(slope).collect(), Vec::new())
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

/// Products of matrices, each of which may be turned, plus a vector. The attributes say which are turned.
fn matrix_product(call: &mut Call, all: &Arguments<'_>, attributes: [&str; 2]) -> Outcome {
    let turned = |call: &mut Call, index: usize| {
        let x = call.input(all.input(index))?;
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
    let (a, b) = (turned(call, 0)?, turned(call, 1)?);
    let (bias, out) = (call.optional(all.input(2))?, call.output(all.output())?);
    multiply(call, a, b, out.clone(), 0)?;
    match bias {
        Some(bias) => call.each(float(|[x, bias]| x + bias), [&out, &bias], &out),
        None => Ok(()),
    }
}

/// What attributes mean for several operators.
trait Meanings {
    fn power(&self) -> f64;
    fn groups(&self) -> i64;
    fn pool(&self, at: usize) -> Outcome<pooling::PoolingArrays>;
    fn divisor(&self) -> MeanDivisor;
    fn given(&self) -> ConvolutionArrays;
}

impl Meanings for Arguments<'_> {
    /// The power of a norm; the largest and the smallest integer mean infinities.
    fn power(&self) -> f64 {
        match self.attributes.float("p") {
            power if power >= f64::from(i32::MAX) => f64::INFINITY,
            power if power <= f64::from(i32::MIN) => f64::NEG_INFINITY,
            power => power,
        }
    }

    fn groups(&self) -> i64 {
        self.attributes.integer("groups", 1)
    }

    /// How the windows of a pool move; `at` is where the dimensions of the image begin.
    fn pool(&self, at: usize) -> Outcome<pooling::PoolingArrays> {
        let inner = |name: &str| -> Vec<i64> {
            let all = self.attributes.integers(name);
            all.get(at..at + 2).unwrap_or(&all).to_vec()
        };
        let kernel = inner("ksize");
        require(kernel.len() == 2, "there is no window")?;
        Ok(pooling::PoolingArrays {
            kernel,
            stride: inner("strides"),
            // Of means: above, below, left and right.
            padding: match at {
                1 => inner("pads"),
                _ => self
                    .attributes
                    .integers("pads")
                    .into_iter()
                    .step_by(2)
                    .collect(),
            },
            dilation: match at {
                1 => inner("dilation"),
                _ => Vec::new(),
            },
        })
    }

    fn divisor(&self) -> MeanDivisor {
        MeanDivisor {
            counts_padding: self.attributes.integer("exclusive", 1) == 0,
            given: self.attributes.integer("divisor_override", 0),
        }
    }

    /// The moves of a convolution's windows; batch and channels are in front, and paddings come in
    /// pairs.
    fn given(&self) -> ConvolutionArrays {
        let inner = |name: &str| self.attributes.integers(name).split_off_last(2);
        ConvolutionArrays {
            stride: inner("strides"),
            padding: self.attributes.integers("pads"),
            dilation: inner("dilations"),
        }
    }
}

/// The last few of some numbers.
trait SplitLast {
    fn split_off_last(self, count: usize) -> Self;
}

impl SplitLast for Vec<i64> {
    fn split_off_last(mut self, count: usize) -> Self {
        let first = self.len().saturating_sub(count);
        self.split_off(first)
    }
}

/// The operators of [`KNOWN`].
pub(crate) struct ByName;

impl NamedOperators for ByName {
    fn known(&self, name: &str) -> Option<&'static str> {
        find(name).map(|(name, _)| *name)
    }

    fn describe(&self, name: &str, call: &mut Call, arguments: &Arguments<'_>) -> Outcome {
        let Some((_, describe)) = find(name) else {
            return refuse("there is no operator of this name");
        };
        contained(|| describe(call, arguments))
    }
}

fn find(name: &str) -> Option<&'static (&'static str, OperatorFn)> {
    KNOWN.iter().find(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_operator() {
        let mut names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
        assert!(names.iter().all(|name| ByName.known(name) == Some(*name)));
        assert_eq!(ByName.known("aclnnAdd"), None);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KNOWN.len());
    }
}
