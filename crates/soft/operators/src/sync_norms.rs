//! Batch norm over a batch that is split among devices: statistics of each part, and the results over all
//! parts.

use super::norms::{channels_first, partly};
use crate::parameters::{In, Input, OptionalOutput, OptionalTensor, Output, Written};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::float;
use softacl_base::operand::Operand;
use softacl_base::status::require;
use softacl_base::view::View;

/// A number for each channel, as a tensor that broadcasts to `x`.
fn for_channels(numbers: &Operand, x: &Operand) -> Outcome<Operand> {
    let channels = x.shape().get(1).copied().unwrap_or(1);
    require(
        numbers.elements() == channels && numbers.rank() == 1,
        "there is not a number for each channel",
    )?;
    let mut view: View = numbers.view.clone();
    for place in 1..x.rank().saturating_sub(1) {
        view = view.with_dimension(place);
    }
    Ok(numbers.seen(view))
}

/// A number for each channel; one where none are given.
fn or_ones(
    call: &mut Call,
    numbers: OptionalTensor,
    x: &Operand,
    otherwise: f64,
) -> Outcome<Operand> {
    if let Some(numbers) = call.optional(numbers)? {
        return for_channels(&numbers, x);
    }
    let one = call.temporary(softacl_base::data_type::DataType::F32, &[]);
    call.each(float(move |[]| otherwise), [], &one)?;
    Ok(one)
}

/// Mean and variance of all parts move the running ones on.
fn moved(running: f64, new: f64, momentum: f64) -> f64 {
    running * (1.0 - momentum) + new * momentum
}

/// Statistics of all parts, of the sums of each and of their squares.
pub(super) fn gathered_sums(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (momentum, eps) = (
        all.attributes.float("momentum"),
        all.attributes.float("eps"),
    );
    let inputs = all.read(call, 0..5)?;
    let outputs = all.written(call)?;
    let channels = inputs[3].elements();
    call.dense(inputs, outputs, 0, move |values: &[Vec<f64>]| {
        let count: f64 = values[2].iter().sum();
        let total = |sums: &[f64], channel: usize| -> f64 {
            sums.iter().skip(channel).step_by(channels.max(1)).sum()
        };
        let mut results = vec![Vec::new(); 4];
        for channel in 0..channels {
            let mean = total(&values[0], channel) / count;
            let variance = (total(&values[1], channel) / count - mean * mean).max(0.0);
            let unbiased = variance * count / (count - 1.0).max(1.0);
            results[0].push(mean);
            results[1].push((variance + eps).sqrt().recip());
            results[2].push(moved(values[3][channel], mean, momentum));
            results[3].push(moved(values[4][channel], unbiased, momentum));
        }
        results
    })
}

/// The sum of gradients times distances from the mean, and the gradient of the weight.
pub(super) fn gradient_sums(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let inputs = all.read(call, 0..4)?;
    let outputs = all.written(call)?;
    call.dense(inputs, outputs, 0, |values: &[Vec<f64>]| {
        let [sums, products, means, rstds] = values else {
            return Vec::new();
        };
        let each = sums.iter().zip(products).zip(means);
        let along: Vec<f64> = each
            .map(|((sum, product), mean)| product - sum * mean)
            .collect();
        let weights = along
            .iter()
            .zip(rstds)
            .map(|(along, rstd)| along * rstd)
            .collect();
        vec![along, weights]
    })
}

/// The gradient of the input, where everything has been stretched to its shape.
pub(super) fn gradient_by_element(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let inputs = all.read(call, 0..7)?;
    let out = call.output(all.output())?;
    let [grad, x, mean, rstd, weight, mean_grad, mean_along] = &inputs[..] else {
        return Ok(());
    };
    call.each(
        float(
            |[grad, x, mean, rstd, weight, mean_grad, along]: [f64; 7]| {
                (grad - mean_grad - (x - mean) * rstd * rstd * along) * rstd * weight
            },
        ),
        [grad, x, mean, rstd, weight, mean_grad, mean_along],
        &out,
    )
}

operators! {
    aclnnBatchNormStats |call, x: Input, eps: f64, mean: Written, rstd: Output| {
        let x = channels_first(&x)?;
        let outputs = vec![call.output(mean)?, rstd];
        let along: Vec<usize> = (1..x.rank()).collect();
        call.reduce(&x, &along, outputs, move |row: &[f64], out| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let variance = row.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / row.len() as f64;
            (out[0], out[1]) = (mean, (variance + eps).sqrt().recip());
        })
    };
    aclnnBatchNormElemt |call, x: Input, weight: OptionalTensor, bias: OptionalTensor, mean: Input, rstd: Input, _eps: f64, out: Output| {
        let (weight, bias) = (or_ones(call, weight, &x, 1.0)?, or_ones(call, bias, &x, 0.0)?);
        let (mean, rstd) = (for_channels(&mean, &x)?, for_channels(&rstd, &x)?);
        let formula = float(|[x, weight, bias, mean, rstd]: [f64; 5]| (x - mean) * rstd * weight + bias);
        call.each(formula, [&x, &weight, &bias, &mean, &rstd], &out)
    };
    aclnnBatchNormGatherStatsWithCounts |call, _x: In, mean: In, rstd: Input, running_mean: OptionalTensor, running_variance: OptionalTensor, momentum: f64, eps: f64, counts: In, mean_all: Output, rstd_all: Output| {
        let mut inputs = vec![call.input(mean)?, rstd, call.input(counts)?];
        let mut outputs = vec![mean_all, rstd_all];
        for running in [running_mean, running_variance].into_iter().filter(|it| *it != 0) {
            let running = call.in_place(running)?;
            inputs.push(running.clone());
            outputs.push(running);
        }
        let channels = outputs[0].elements();
        call.dense(inputs, outputs, 0, move |values: &[Vec<f64>]| {
            let counts = &values[2];
            let count: f64 = counts.iter().sum();
            let mut results = vec![Vec::new(); 4];
            for channel in 0..channels {
                let of_part = |part: usize| {
                    let at = part * channels + channel;
                    (values[0][at], values[1][at].powi(-2) - eps, counts[part])
                };
                let parts = || (0..counts.len()).map(of_part);
                let mean = parts().map(|(mean, _, count)| mean * count).sum::<f64>() / count;
                let spread = |(own, variance, count): (f64, f64, f64)| count * (variance + (own - mean).powi(2));
                let variance = (parts().map(spread).sum::<f64>() / count).max(0.0);
                let unbiased = variance * count / (count - 1.0).max(1.0);
                results[0].push(mean);
                results[1].push((variance + eps).sqrt().recip());
                for (index, new) in [mean, unbiased].into_iter().enumerate() {
                    let old = values.get(3 + index).map_or(0.0, |it| it[channel]);
                    results[2 + index].push(moved(old, new, momentum));
                }
            }
            results
        })
    };
    aclnnBatchNormReduceBackward |call, grad: Input, x: Input, mean: Input, rstd: Input, _weight: OptionalTensor, of_input: bool, of_weight: bool, of_bias: bool, sum: OptionalOutput, along: OptionalOutput, grad_weight: OptionalOutput, grad_bias: OptionalOutput| {
        let grad = channels_first(&grad)?;
        let x = channels_first(&x)?;
        let (channels, length) = (x.shape()[0], x.elements() / x.shape()[0].max(1));
        let inputs = vec![grad, x, mean, rstd];
        let is_wanted = [(sum, of_input), (along, of_input), (grad_weight, of_weight), (grad_bias, of_bias)];
        let mut outputs = Vec::new();
        for (handle, is_wanted) in is_wanted {
            outputs.push(if is_wanted { call.wanted(handle)? } else { None });
        }
        partly(call, inputs, outputs, 0, move |values: &[Vec<f64>]| {
            let mut results = vec![Vec::new(); 4];
            for channel in 0..channels {
                let row = |values: &Vec<f64>| values[channel * length..][..length].to_vec();
                let (grads, xs) = (row(&values[0]), row(&values[1]));
                let sum: f64 = grads.iter().sum();
                let along: f64 = grads.iter().zip(&xs).map(|(grad, x)| grad * (x - values[2][channel])).sum();
                let sums = [sum, along, along * values[3][channel], sum];
                results.iter_mut().zip(sums).for_each(|(all, it)| all.push(it));
            }
            results
        })
    };
    aclnnBatchNormElemtBackward |call, grad: Input, x: Input, mean: In, rstd: In, weight: OptionalTensor, sum: In, along: In, counts: In, out: Written| {
        let weight = or_ones(call, weight, &x, 1.0)?;
        let mut numbers = Vec::new();
        for handle in [mean, rstd, sum, along] {
            let given = call.input(handle)?;
            numbers.push(for_channels(&given, &x)?);
        }
        let (counts, out) = (call.input(counts)?, call.output(out)?);
        let count = call.temporary(softacl_base::data_type::DataType::F64, &[]);
        let every: Vec<usize> = (0..counts.rank()).collect();
        let begin = call.mark();
        call.reduce(&counts, &every, vec![count.clone()], |row: &[f64], out| out[0] = row.iter().sum())?;
        let formula = float(|[grad, x, mean, rstd, sum, along, count, weight]: [f64; 8]| {
            (grad - sum / count - (x - mean) * rstd * rstd * along / count) * rstd * weight
        });
        let [mean, rstd, sum, along] = &numbers[..] else { return Ok(()) };
        call.each(formula, [&grad, &x, mean, rstd, sum, along, &count, &weight], &out)?;
        call.join(begin);
        Ok(())
    };
}
