//! Whole steps of optimizers.

use crate::parameters::{In, InPlace, Input, OptionalTensor, Output, Written};
use softacl_base::objects;

/// The numbers of a step of Adam with decoupled decay, as tensors of one element.
struct Adam {
    rate: f64,
    decay: f64,
    betas: [f64; 2],
    eps: f64,
    /// Divisors of the means.
    corrections: [f64; 2],
    sign: f64,
}

impl Adam {
    /// Updates a weight and its means; the largest variance until now counts if it is kept.
    fn step(
        &self,
        [weight, mean, variance, grad]: [f64; 4],
        largest: Option<&mut f64>,
    ) -> [f64; 3] {
        let grad = grad * self.sign;
        let weight = weight * (1.0 - self.rate * self.decay);
        let mean = self.betas[0] * mean + (1.0 - self.betas[0]) * grad;
        let variance = self.betas[1] * variance + (1.0 - self.betas[1]) * grad * grad;
        let spread = match largest {
            Some(largest) => {
                *largest = largest.max(variance);
                *largest
            }
            None => variance,
        };
        let divisor = (spread / self.corrections[1]).sqrt() + self.eps;
        [
            weight - self.rate * (mean / self.corrections[0]) / divisor,
            mean,
            variance,
        ]
    }
}

operators! {
    aclnnApplyAdamWV2 |call, weight: InPlace, mean: InPlace, variance: InPlace, largest: OptionalTensor, grad: Input, step: Input, rate: f32, beta1: f32, beta2: f32, decay: f32, eps: f32, amsgrad: bool, maximize: bool| {
        let state = [weight, mean, variance];
        let largest = if amsgrad && largest != 0 { Some(call.in_place(largest)?) } else { None };
        let outputs: Vec<_> = state.iter().cloned().chain(largest).collect();
        let inputs = outputs.iter().cloned().chain([grad, step]).collect();
        let [rate, beta1, beta2, decay, eps] = [rate, beta1, beta2, decay, eps].map(f64::from);
        call.dense(inputs, outputs, 0, move |values: &[Vec<f64>]| {
            let (state, given) = values.split_at(values.len() - 2);
            // The number of steps before this one.
            let steps = given[1][0] + 1.0;
            let adam = Adam {
                rate,
                decay,
                betas: [beta1, beta2],
                eps,
                corrections: [1.0 - beta1.powf(steps), 1.0 - beta2.powf(steps)],
                sign: if maximize { -1.0 } else { 1.0 },
            };
            let mut results = state.to_vec();
            for index in 0..state[0].len() {
                let mut largest = state.get(3).map(|largest| largest[index]);
                let at = [state[0][index], state[1][index], state[2][index], given[0][index]];
                let next = adam.step(at, largest.as_mut());
                for (result, value) in results.iter_mut().zip(next.into_iter().chain(largest)) {
                    result[index] = value;
                }
            }
            results
        })
    };
    // MindSpore has this one itself. Whether an element of some tensors is not finite, or one of an earlier call was not.
    aclnnAllFinite |call, x: In, out: InPlace| {
        let tensors = match objects::tensors(x) {
            Ok(tensors) => tensors,
            Err(_) => vec![x],
        };
        let mut inputs = vec![out.clone()];
        for tensor in tensors {
            inputs.push(call.input(tensor)?);
        }
        call.dense(inputs, vec![out], 0, |values: &[Vec<f64>]| {
            let (before, elements) = (&values[0], values[1..].iter().flatten());
            let found = elements.copied().any(|it| !it.is_finite());
            vec![before.iter().map(|it| f64::from(u8::from(found || *it != 0.0))).collect()]
        })
    };
    aclnnAmpUpdateScale |call, scale: Written, tracker: Written, found: Input, growth: f64, backoff: f64, interval: i64, new_scale: Output, new_tracker: Output| {
        let inputs = vec![call.input(scale)?, call.input(tracker)?, found];
        let outputs = vec![new_scale, new_tracker];
        call.dense(inputs, outputs, 0, move |values: &[Vec<f64>]| {
            let (scale, tracker) = (values[0][0], values[1][0]);
            let (scale, tracker) = if values[2][0] != 0.0 {
                (scale * backoff, 0.0)
            } else if tracker as i64 + 1 == interval {
                // A scale that would be infinite stays.
                let grown = (scale * growth) as f32;
                (if grown.is_finite() { f64::from(grown) } else { scale }, 0.0)
            } else {
                (scale, tracker + 1.0)
            };
            vec![vec![scale], vec![tracker]]
        })
    };
}
