//! Softmax and what normalises, with gradients.

use crate::parameters::{
    BoolArray, In, Input, Integers, Optional, OptionalOutput, OptionalTensor, Output, Wanted,
    Written,
};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::dense::count;
use softacl_base::objects;
use softacl_base::operand::Operand;
use softacl_base::status::require;

/// Computes a row of the output from the rows of all inputs along one dimension.
pub(super) fn rows<const N: usize>(
    call: &mut Call,
    inputs: [&Operand; N],
    along: i64,
    out: &Operand,
    compute: impl Fn([&[f64]; N], &mut [f64]) + Send + Sync + 'static,
) -> Outcome {
    let same = inputs.iter().all(|it| it.shape() == out.shape());
    require(same, "the output's shape is not the input's")?;
    let (last, length) = out.rows_along(along)?;
    let length = length.max(1);
    let places = out.elements();
    let inputs: Vec<Operand> = inputs.iter().map(|it| it.with_last(&last)).collect();
    let out = out.with_last(&last);
    call.dense(
        inputs,
        vec![out],
        4 * places as u64,
        move |values: &[Vec<f64>]| {
            let mut result = vec![0.0; places];
            for (index, row) in result.chunks_mut(length).enumerate() {
                let first = index * length;
                let part = |input: usize| &values[input][first..first + length];
                compute(std::array::from_fn(part), row);
            }
            vec![result]
        },
    )
}

pub(super) fn log_of_sum(row: &[f64]) -> f64 {
    let top = row
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, super::functions::larger);
    top + row.iter().map(|it| (it - top).exp()).sum::<f64>().ln()
}

pub(super) fn log_softmax_slope([grad, y]: [&[f64]; 2], out: &mut [f64]) {
    let sum: f64 = grad.iter().sum();
    for ((out, grad), y) in out.iter_mut().zip(grad).zip(y) {
        *out = grad - y.exp() * sum;
    }
}

pub(super) fn softmax_slope([grad, y]: [&[f64]; 2], out: &mut [f64]) {
    let sum: f64 = grad.iter().zip(y).map(|(grad, y)| grad * y).sum();
    for ((out, grad), y) in out.iter_mut().zip(grad).zip(y) {
        *out = y * (grad - sum);
    }
}

operators! {
    aclnnLogSoftmax |call, x: Input, along: i64, out: Output| {
        rows(call, [&x], along, &out, |[x], out| {
            let all = log_of_sum(x);
            out.iter_mut().zip(x).for_each(|(out, x)| *out = x - all);
        })
    };
    aclnnLogSoftmaxBackward |call, grad: Input, y: Input, along: i64, out: Output| {
        rows(call, [&grad, &y], along, &out, log_softmax_slope)
    };
    aclnnSoftmaxBackward |call, grad: Input, y: Input, along: i64, out: Output| {
        rows(call, [&grad, &y], along, &out, softmax_slope)
    };
    aclnnLayerNorm |call, x: Input, shape: Integers, weight: Optional, bias: Optional, eps: f64, out: Output, mean: Wanted, rstd: Wanted| {
        normalised(call, x, length_of(&shape), [weight, bias], |_, index| index, eps, [Some(out), mean, rstd])
    };
    aclnnLayerNormBackward |call, grad: Input, x: Input, shape: Integers, mean: Input, rstd: Input, weight: Optional, _bias: OptionalTensor, mask: BoolArray, grad_x: OptionalOutput, grad_weight: OptionalOutput, grad_bias: OptionalOutput| {
        let outputs = masked(call, mask, [grad_x, grad_weight, grad_bias])?;
        let lengths = [length_of(&shape); 2];
        normalised_gradient(call, [grad, x, mean, rstd], lengths, weight, |_, index| index, outputs)
    };
    aclnnRmsNorm |call, x: Input, weight: Input, eps: f64, out: Output, rstd: Output| {
        let length = weight.elements().max(1);
        call.dense(vec![x, weight], vec![out, rstd], 0, move |values: &[Vec<f64>]| {
            let (mut result, mut factors) = (Vec::new(), Vec::new());
            for row in values[0].chunks(length) {
                let squares: f64 = row.iter().map(|it| it * it).sum();
                let factor = (squares / length as f64 + eps).sqrt().recip();
                result.extend(row.iter().zip(&values[1]).map(|(x, weight)| x * factor * weight));
                factors.push(factor);
            }
            vec![result, factors]
        })
    };
    // The sum of two tensors, and its norm.
    aclnnAddRmsNorm |call, a: Input, b: Input, weight: Input, eps: f64, out: Output, rstd: Output, sum: Output| {
        let length = weight.elements().max(1);
        let operations = 6 * a.elements() as u64;
        call.dense(vec![a, b, weight], vec![out, rstd, sum], operations, move |values: &[Vec<f64>]| {
            let sums: Vec<f64> = values[0].iter().zip(&values[1]).map(|(a, b)| a + b).collect();
            let (mut result, mut factors) = (Vec::new(), Vec::new());
            for row in sums.chunks(length) {
                let squares: f64 = row.iter().map(|it| it * it).sum();
                let factor = (squares / length as f64 + eps).sqrt().recip();
                result.extend(row.iter().zip(&values[2]).map(|(x, weight)| x * factor * weight));
                factors.push(factor);
            }
            vec![result, factors, sums]
        })
    };
    aclnnAddLayerNorm |call, a: Input, b: Input, weight: Input, shift: Input, bias: Optional, eps: f64, _wants_sum: bool, out: Output, mean: Wanted, rstd: Wanted, sum: Wanted| {
        let length = weight.elements().max(1);
        let operations = 8 * a.elements() as u64;
        let inputs = [a, b, weight, shift].into_iter().chain(bias).collect();
        partly(call, inputs, vec![Some(out), mean, rstd, sum], operations, move |values: &[Vec<f64>]| {
            let mut sums: Vec<f64> = values[0].iter().zip(&values[1]).map(|(a, b)| a + b).collect();
            if let Some(bias) = values.get(4) {
                let repeated = bias.iter().cycle();
                sums.iter_mut().zip(repeated).for_each(|(sum, bias)| *sum += bias);
            }
            let (mut result, mut means, mut factors) = (Vec::new(), Vec::new(), Vec::new());
            for row in sums.chunks(length) {
                let (mean, factor) = statistics(row, eps);
                let each = row.iter().zip(&values[2]).zip(&values[3]);
                result.extend(each.map(|((x, weight), shift)| (x - mean) * factor * weight + shift));
                means.push(mean);
                factors.push(factor);
            }
            vec![result, means, factors, sums]
        })
    };
    aclnnRmsNormGrad |call, grad: In, x: In, rstd: In, weight: Input, grad_x: Output, grad_weight: Output| {
        let inputs = vec![call.input(grad)?, call.input(x)?, call.input(rstd)?, weight];
        let outputs = vec![grad_x, grad_weight];
        let length = inputs[3].elements().max(1);
        call.dense(inputs, outputs, 0, move |values: &[Vec<f64>]| {
            let [grads, xs, rstds, weights] = values else { return Vec::new() };
            let (mut result, mut sums) = (Vec::with_capacity(xs.len()), vec![0.0; length]);
            for ((grad, x), rstd) in grads.chunks(length).zip(xs.chunks(length)).zip(rstds) {
                let mut shared = 0.0;
                for index in 0..length {
                    sums[index] += grad[index] * x[index] * rstd;
                    shared += grad[index] * weights[index] * x[index];
                }
                let shared = shared * rstd * rstd / length as f64;
                result.extend((0..length).map(|at| rstd * (grad[at] * weights[at] - x[at] * shared)));
            }
            vec![result, sums]
        })
    };
    aclnnBatchNorm |call, x: In, weight: OptionalTensor, bias: OptionalTensor, mean: OptionalTensor, variance: OptionalTensor, training: bool, momentum: f64, eps: f64, out: Written, saved_mean: OptionalOutput, saved_rstd: OptionalOutput| {
        batch_norm(call, [x, weight, bias, mean, variance], training, [momentum, eps], [out, saved_mean, saved_rstd])
    };
    aclnnBatchNormBackward |call, grad: In, x: In, weight: OptionalTensor, mean: OptionalTensor, variance: OptionalTensor, saved_mean: OptionalTensor, saved_rstd: OptionalTensor, training: bool, eps: f64, mask: BoolArray, grad_x: OptionalOutput, grad_weight: OptionalOutput, grad_bias: OptionalOutput| {
        let outputs = masked(call, mask, [grad_x, grad_weight, grad_bias])?;
        batch_norm_gradient(call, [grad, x, weight, mean, variance, saved_mean, saved_rstd], training, eps, outputs)
    };
    aclnnGroupNorm |call, x: Input, weight: Optional, bias: Optional, _batch: i64, channels: i64, places: i64, groups: i64, eps: f64, out: Output, mean: Wanted, rstd: Wanted| {
        let groups = ChannelGroups::new(channels, places, groups)?;
        let place = move |row, index| groups.channel(row, index);
        normalised(call, x, groups.length(), [weight, bias], place, eps, [Some(out), mean, rstd])
    };
    aclnnGroupNormBackward |call, grad: Input, x: Input, mean: Input, rstd: Input, weight: Optional, _batch: i64, channels: i64, places: i64, groups: i64, mask: BoolArray, grad_x: OptionalOutput, grad_weight: OptionalOutput, grad_bias: OptionalOutput| {
        let groups = ChannelGroups::new(channels, places, groups)?;
        let outputs = masked(call, mask, [grad_x, grad_weight, grad_bias])?;
        let place = move |row, index| groups.channel(row, index);
        normalised_gradient(call, [grad, x, mean, rstd], [groups.length(), groups.channels], weight, place, outputs)
    };
}

fn length_of(shape: &[i64]) -> usize {
    shape.iter().product::<i64>().max(1) as usize
}

/// The outputs that a mask asks for.
pub(super) fn masked(
    call: &mut Call,
    mask: BoolArray,
    handles: [OptionalOutput; 3],
) -> Outcome<[Option<Operand>; 3]> {
    let mask = objects::bools(mask)?;
    let mut outputs = [None, None, None];
    for (index, handle) in handles.into_iter().enumerate() {
        if mask.get(index).copied().unwrap_or(false) {
            outputs[index] = call.wanted(handle)?;
        }
    }
    Ok(outputs)
}

/// Adds a task of which some outputs are not wanted.
pub(super) fn partly(
    call: &mut Call,
    inputs: Vec<Operand>,
    outputs: Vec<Option<Operand>>,
    operations: u64,
    compute: impl Fn(&[Vec<f64>]) -> Vec<Vec<f64>> + Send + Sync + 'static,
) -> Outcome {
    let wanted: Vec<bool> = outputs.iter().map(Option::is_some).collect();
    let outputs: Vec<Operand> = outputs.into_iter().flatten().collect();
    call.dense(inputs, outputs, operations, move |values: &[Vec<f64>]| {
        let all = compute(values).into_iter().zip(&wanted);
        all.filter(|(_, wanted)| **wanted)
            .map(|(result, _)| result)
            .collect()
    })
}

/// The mean, and one over the square root of the variance.
fn statistics(row: &[f64], eps: f64) -> (f64, f64) {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    let squares: f64 = row.iter().map(|it| (it - mean) * (it - mean)).sum();
    (mean, (squares / row.len() as f64 + eps).sqrt().recip())
}

/// Operands that may be missing, and where the others are among the inputs.
fn places<const N: usize>(
    inputs: &mut Vec<Operand>,
    optional: [Option<Operand>; N],
) -> [Option<usize>; N] {
    optional.map(|operand| {
        operand.map(|operand| {
            inputs.push(operand);
            inputs.len() - 1
        })
    })
}

fn at(values: &[Vec<f64>], place: Option<usize>, index: usize, otherwise: f64) -> f64 {
    place.map_or(otherwise, |place| values[place][index])
}

/// Normalises rows. Weight and bias have an element for each place that `place` returns for a row and an index in it.
pub(super) fn normalised(
    call: &mut Call,
    x: Operand,
    length: usize,
    affine: [Option<Operand>; 2],
    place: impl Fn(usize, usize) -> usize + Send + Sync + 'static,
    eps: f64,
    outputs: [Option<Operand>; 3],
) -> Outcome {
    let mut inputs = vec![x];
    let [weight, bias] = places(&mut inputs, affine);
    partly(call, inputs, outputs.into(), 0, move |values| {
        let mut results = vec![Vec::new(); 3];
        for (number, row) in values[0].chunks(length).enumerate() {
            let (mean, rstd) = statistics(row, eps);
            results[0].extend(row.iter().enumerate().map(|(index, x)| {
                let place = place(number, index);
                (x - mean) * rstd * at(values, weight, place, 1.0) + at(values, bias, place, 0.0)
            }));
            results[1].push(mean);
            results[2].push(rstd);
        }
        results
    })
}

/// The gradient of a normalised row, from that of its result before weight and bias.
fn normal_gradient(grad: &[f64], x: &[f64], mean: f64, rstd: f64) -> Vec<f64> {
    let length = grad.len() as f64;
    let sum: f64 = grad.iter().sum();
    let along: f64 = grad
        .iter()
        .zip(x)
        .map(|(grad, x)| grad * (x - mean) * rstd)
        .sum();
    let each = grad.iter().zip(x);
    each.map(|(grad, x)| rstd * (grad - sum / length - (x - mean) * rstd * along / length))
        .collect()
}

/// The gradients of `normalised`; `count` is the number of places.
pub(super) fn normalised_gradient(
    call: &mut Call,
    inputs: [Operand; 4],
    [length, count]: [usize; 2],
    weight: Option<Operand>,
    place: impl Fn(usize, usize) -> usize + Send + Sync + 'static,
    outputs: [Option<Operand>; 3],
) -> Outcome {
    let mut inputs = inputs.to_vec();
    let [weight] = places(&mut inputs, [weight]);
    partly(call, inputs, outputs.into(), 0, move |values| {
        let mut results = vec![Vec::new(), vec![0.0; count], vec![0.0; count]];
        let rows = values[0].chunks(length).zip(values[1].chunks(length));
        for (number, (grad, x)) in rows.enumerate() {
            let (mean, rstd) = (values[2][number], values[3][number]);
            let mut scaled = Vec::with_capacity(length);
            for (index, (grad, x)) in grad.iter().zip(x).enumerate() {
                let place = place(number, index);
                results[1][place] += grad * (x - mean) * rstd;
                results[2][place] += grad;
                scaled.push(grad * at(values, weight, place, 1.0));
            }
            results[0].extend(normal_gradient(&scaled, x, mean, rstd));
        }
        results
    })
}

/// Channels behind the batch, as rows: a view with the channels first.
pub(super) fn channels_first(x: &Operand) -> Outcome<Operand> {
    require(x.rank() >= 2, "the input has no channels")?;
    let order: Vec<usize> = [1, 0].into_iter().chain(2..x.rank()).collect();
    Ok(x.seen(x.view.permuted(&order)))
}

fn batch_norm(
    call: &mut Call,
    [x, weight, bias, mean, variance]: [usize; 5],
    training: bool,
    [momentum, eps]: [f64; 2],
    [out, saved_mean, saved_rstd]: [usize; 3],
) -> Outcome {
    let x = channels_first(&call.input(x)?)?;
    let affine = [call.optional(weight)?, call.optional(bias)?];
    // They are read, and in training moved on as well.
    let running = match training {
        true => [
            in_place_if_given(call, mean)?,
            in_place_if_given(call, variance)?,
        ],
        false => [call.optional(mean)?, call.optional(variance)?],
    };
    let out = channels_first(&call.output(out)?)?;
    let saved = [call.wanted(saved_mean)?, call.wanted(saved_rstd)?];
    // Nothing is saved but in training.
    let saved = saved.map(|it| it.filter(|it| training && it.elements() == x.shape()[0]));
    let written = running.clone().map(|it| it.filter(|_| training));
    let length = count(&x.shape()[1..]).max(1);
    let mut inputs = vec![x];
    let [weight, bias] = places(&mut inputs, affine);
    let [mean, variance] = places(&mut inputs, running);
    let outputs = [Some(out)]
        .into_iter()
        .chain(saved)
        .chain(written)
        .collect();
    partly(call, inputs, outputs, 0, move |values| {
        let mut results = vec![Vec::new(); 5];
        for (channel, row) in values[0].chunks(length).enumerate() {
            let (own, factor) = match training {
                true => statistics(row, eps),
                false => {
                    let variance = at(values, variance, channel, 1.0);
                    (
                        at(values, mean, channel, 0.0),
                        (variance + eps).sqrt().recip(),
                    )
                }
            };
            let (scale, shift) = (
                at(values, weight, channel, 1.0),
                at(values, bias, channel, 0.0),
            );
            results[0].extend(row.iter().map(|x| (x - own) * factor * scale + shift));
            results[1].push(own);
            results[2].push(factor);
            let spread = factor.powi(-2) - eps;
            let unbiased = spread * length as f64 / (length as f64 - 1.0).max(1.0);
            results[3].push((1.0 - momentum) * at(values, mean, channel, 0.0) + momentum * own);
            results[4]
                .push((1.0 - momentum) * at(values, variance, channel, 1.0) + momentum * unbiased);
        }
        results
    })
}

/// A tensor that may be missing and is read and written.
fn in_place_if_given(call: &mut Call, tensor: usize) -> Outcome<Option<Operand>> {
    match tensor {
        0 => Ok(None),
        tensor => call.in_place(tensor).map(Some),
    }
}

fn batch_norm_gradient(
    call: &mut Call,
    [grad, x, weight, mean, variance, saved_mean, saved_rstd]: [usize; 7],
    training: bool,
    eps: f64,
    [grad_x, grad_weight, grad_bias]: [Option<Operand>; 3],
) -> Outcome {
    let (grad, x) = (
        channels_first(&call.input(grad)?)?,
        channels_first(&call.input(x)?)?,
    );
    let weight = call.optional(weight)?;
    let (mean, spread) = match training {
        true => (saved_mean, saved_rstd),
        false => (mean, variance),
    };
    let statistics = [call.optional(mean)?, call.optional(spread)?];
    let grad_x = grad_x.map(|it| channels_first(&it)).transpose()?;
    let length = count(&x.shape()[1..]).max(1);
    let mut inputs = vec![grad, x];
    let [weight] = places(&mut inputs, [weight]);
    let [mean, spread] = places(&mut inputs, statistics);
    partly(
        call,
        inputs,
        vec![grad_x, grad_weight, grad_bias],
        0,
        move |values| {
            let mut results = vec![Vec::new(); 3];
            for (channel, (grad, x)) in values[0]
                .chunks(length)
                .zip(values[1].chunks(length))
                .enumerate()
            {
                let (mean, spread) = (
                    at(values, mean, channel, 0.0),
                    at(values, spread, channel, 1.0),
                );
                let rstd = if training {
                    spread
                } else {
                    (spread + eps).sqrt().recip()
                };
                let scale = at(values, weight, channel, 1.0);
                let along: f64 = grad
                    .iter()
                    .zip(x)
                    .map(|(grad, x)| grad * (x - mean) * rstd)
                    .sum();
                results[1].push(along);
                results[2].push(grad.iter().sum());
                if training {
                    let own = normal_gradient(grad, x, mean, rstd);
                    results[0].extend(own.iter().map(|it| it * scale));
                } else {
                    results[0].extend(grad.iter().map(|it| it * rstd * scale));
                }
            }
            results
        },
    )
}

/// How channels are grouped.
#[derive(Clone, Copy)]
pub(super) struct ChannelGroups {
    channels: usize,
    places: usize,
    groups: usize,
}

impl ChannelGroups {
    pub(super) fn new(channels: i64, places: i64, groups: i64) -> Outcome<Self> {
        let [channels, places, groups] = [channels, places, groups].map(|it| it.max(0) as usize);
        let fits = groups > 0 && channels.is_multiple_of(groups);
        require(fits, "the channels do not fall into groups")?;
        Ok(Self {
            channels,
            places,
            groups,
        })
    }

    /// How many elements are normalised together.
    pub(super) fn length(self) -> usize {
        (self.channels / self.groups * self.places).max(1)
    }

    /// The channel of an element of a row.
    pub(super) fn channel(self, row: usize, index: usize) -> usize {
        row % self.groups * (self.channels / self.groups) + index / self.places.max(1)
    }
}
