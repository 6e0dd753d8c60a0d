//! Steps of the optimizers that not every framework has. The inputs that they change come first, as far as a card has them first.

use super::NamedOperator;
use super::updates::{self, put, step};
use crate::functions::{larger, sign};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::float;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("AdamApplyOneAssign", |call, all| {
        one_step_of_adam(call, all, false)
    }),
    ("AdamApplyOneWithDecayAssign", |call, all| {
        one_step_of_adam(call, all, true)
    }),
    ("ApplyAdaMax", adamax),
    ("ApplyAdaMaxD", adamax),
    ("ApplyAdadelta", adadelta),
    ("ApplyAdadeltaD", adadelta),
    ("ApplyAdagradV2", updates::adagrad),
    ("ApplyAdagradV2D", updates::adagrad),
    ("ApplyAdamWithAmsgradV2", |call, all| {
        step(
            call,
            all,
            [0, 1, 2, 3],
            10,
            [4, 5, 6, 7, 8, 9],
            |[weight, mean, square, most], grad, [power1, power2, rate, beta1, beta2, eps]| {
                let rate = rate * (1.0 - power2).sqrt() / (1.0 - power1);
                let mean = beta1 * mean + (1.0 - beta1) * grad;
                let square = beta2 * square + (1.0 - beta2) * grad * grad;
                let most = larger(most, square);
                [
                    weight - rate * mean / (most.sqrt() + eps),
                    mean,
                    square,
                    most,
                ]
            },
        )
    }),
    ("ApplyCenteredRMSProp", centered),
    ("ApplyCenteredRMSPropD", centered),
    ("ApplyFtrl", ftrl),
    ("ApplyFtrlD", ftrl),
    ("ApplyGradientDescent", |call, all| {
        step(call, all, [0], 2, [1], |[weight], grad, [rate]| {
            [weight - rate * grad]
        })
    }),
    ("ApplyProximalAdagrad", proximal),
    ("ApplyProximalAdagradD", proximal),
    ("LambApplyOptimizerAssign", lamb),
    // The inputs are the norms of the weight and of the update, the rate, the update, and the weight.
    ("LambApplyWeightAssign", |call, all| {
        step(
            call,
            all,
            [4],
            3,
            [0, 1, 2],
            |[weight], update, [norm, norm_of_update, rate]| {
                let is_known = norm > 0.0 && norm_of_update > 0.0;
                let trust = if is_known { norm / norm_of_update } else { 1.0 };
                [weight - trust * rate * update]
            },
        )
    }),
    ("LarsV2Update", lars),
];

/// Adam with the numbers that it needs as inputs: factors, and one less each of them. The weight comes behind the means.
fn one_step_of_adam(call: &mut Call, all: &Arguments<'_>, decays: bool) -> Outcome {
    let next = move |[square, mean, weight]: [f64; 3],
                     grad: f64,
                     numbers: [f64; 5],
                     [decay, eps]: [f64; 2]| {
        let [rate, beta1, rest1, beta2, rest2] = numbers;
        let mean = beta1 * mean + rest1 * grad;
        let square = beta2 * square + rest2 * grad * grad;
        let update = mean / (square.sqrt() + eps) + decay * weight;
        [square, mean, weight - rate * update]
    };
    let state = [1, 2, 3];
    match decays {
        true => step(
            call,
            all,
            state,
            0,
            [4, 5, 6, 7, 8, 9, 10],
            move |now, grad, numbers| {
                let [rate, beta1, rest1, beta2, rest2, decay, eps] = numbers;
                next(now, grad, [rate, beta1, rest1, beta2, rest2], [decay, eps])
            },
        ),
        false => step(
            call,
            all,
            state,
            0,
            [4, 5, 6, 7, 8, 9],
            move |now, grad, numbers| {
                let [rate, beta1, rest1, beta2, rest2, eps] = numbers;
                next(now, grad, [rate, beta1, rest1, beta2, rest2], [0.0, eps])
            },
        ),
    }
}

/// The outputs are the update, the mean square, and the mean; only the means are changed inputs.
fn lamb(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (square, mean) = (call.in_place(all.input(1))?, call.in_place(all.input(2))?);
    let update = call.output(all.output())?;
    let mut read = vec![all.operand(call, 0)?, square.clone(), mean.clone()];
    for index in 3..12 {
        read.push(all.operand(call, index)?);
    }
    let outputs = vec![update, square.clone(), mean.clone()];
    call.dense(read, outputs, 0, |values: &[Vec<f64>]| {
        let number = |index: usize| values[index].first().copied().unwrap_or(0.0);
        let [beta1, rest1, beta2, rest2, eps] = [4, 5, 6, 7, 8].map(number);
        let (steps, decay) = (number(9), number(10) * number(11));
        let corrections = [beta1, beta2].map(|beta| 1.0 - beta.powf(steps));
        let (mut updates, mut squares, mut means) = (Vec::new(), Vec::new(), Vec::new());
        for (at, grad) in values[0].iter().enumerate() {
            let square = beta2 * values[1][at] + rest2 * grad * grad;
            let mean = beta1 * values[2][at] + rest1 * grad;
            let spread = (square / corrections[1]).sqrt() + eps;
            updates.push(mean / corrections[0] / spread + decay * values[3][at]);
            squares.push(square);
            means.push(mean);
        }
        vec![updates, squares, means]
    })?;
    let rest = Arguments {
        inputs: Vec::new(),
        host: Vec::new(),
        outputs: all.outputs.get(1..).unwrap_or(&[]).to_vec(),
        attributes: all.attributes,
    };
    put(call, &rest, &[square, mean])
}

/// A gradient that is scaled by the norms of a layer. The inputs have the squares of these norms.
fn lars(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let mut inputs = Vec::new();
    for index in 0..6 {
        inputs.push(all.operand(call, index)?);
    }
    let share = all.attributes.float_or("hyperpara", 0.001);
    let eps = all.attributes.float_or("epsilon", 1e-5);
    let is_clipped = all.attributes.integer("use_clip", 0) != 0;
    let out = call.output(all.output())?;
    let one = |at: usize| inputs[at].shaped(&[]);
    let numbers = [one(2)?, one(3)?, one(4)?, one(5)?];
    let [square, square_of_grad, decay, rate] = numbers.each_ref();
    let formula = float(move |[weight, grad, square, square_of_grad, decay, rate]| {
        let (norm, norm_of_grad) = (square.sqrt(), square_of_grad.sqrt());
        let is_known = norm > 0.0 && norm_of_grad > 0.0;
        let trust = match is_known {
            true => share * norm / (norm_of_grad + decay * norm + eps),
            false => 1.0,
        };
        let trust = if is_clipped {
            (trust / rate).clamp(0.0, 1.0)
        } else {
            trust
        };
        (grad + decay * weight) * trust
    });
    let [weight, grad] = [&inputs[0], &inputs[1]];
    call.each(
        formula,
        [weight, grad, square, square_of_grad, decay, rate],
        &out,
    )
}

fn adamax(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    step(
        call,
        all,
        [0, 1, 2],
        8,
        [3, 4, 5, 6, 7],
        |[weight, mean, most], grad, [power1, rate, beta1, beta2, eps]| {
            let mean = beta1 * mean + (1.0 - beta1) * grad;
            let most = larger(beta2 * most, grad.abs());
            [
                weight - rate / (1.0 - power1) * mean / (most + eps),
                mean,
                most,
            ]
        },
    )
}

fn adadelta(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    step(
        call,
        all,
        [0, 1, 2],
        6,
        [3, 4, 5],
        |[weight, square, square_of_updates], grad, [rate, decay, eps]| {
            let square = decay * square + (1.0 - decay) * grad * grad;
            let update = (square_of_updates + eps).sqrt() / (square + eps).sqrt() * grad;
            let square_of_updates = decay * square_of_updates + (1.0 - decay) * update * update;
            [weight - rate * update, square, square_of_updates]
        },
    )
}

fn centered(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    step(
        call,
        all,
        [0, 1, 2, 3],
        8,
        [4, 5, 6, 7],
        |[weight, mean, square, update], grad, [rate, decay, momentum, eps]| {
            let mean = decay * mean + (1.0 - decay) * grad;
            let square = decay * square + (1.0 - decay) * grad * grad;
            let update = momentum * update + rate * grad / (square - mean * mean + eps).sqrt();
            [weight - update, mean, square, update]
        },
    )
}

/// Follow the regularised leader.
fn ftrl(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    step(
        call,
        all,
        [0, 1, 2],
        3,
        [4, 5, 6, 7],
        |[weight, square, linear], grad, [rate, l1, l2, power]| {
            let next = square + grad * grad;
            let [before, after] = [square, next].map(|it| it.powf(-power) / rate);
            let linear = linear + grad - (after - before) * weight;
            let weight = match linear.abs() > l1 {
                true => (sign(linear) * l1 - linear) / (after + 2.0 * l2),
                false => 0.0,
            };
            [weight, next, linear]
        },
    )
}

fn proximal(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    step(
        call,
        all,
        [0, 1],
        5,
        [2, 3, 4],
        |[weight, square], grad, [rate, l1, l2]| {
            let square = square + grad * grad;
            let rate = rate / square.sqrt();
            let aim = weight - rate * grad;
            let shrunk = larger(aim.abs() - rate * l1, 0.0);
            [sign(aim) * shrunk / (1.0 + rate * l2), square]
        },
    )
}
