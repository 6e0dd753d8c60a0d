//! Assignments, and steps of optimizers: operators that change some of their inputs. An output is the same memory on a card; here
//! it gets the same numbers.

use super::NamedOperator;
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::{Formula, number};
use softacl_base::operand::Operand;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("ApplyAdagradD", adagrad),
    ("ApplyAdam", adam),
    ("ApplyAdamD", adam),
    ("ApplyMomentum", momentum),
    ("ApplyMomentumD", momentum),
    ("ApplyRMSProp", |call, all| {
        step(
            call,
            all,
            [0, 1, 2],
            7,
            [3, 4, 5, 6],
            |[weight, square, mean], grad, [rate, decay, momentum, eps]| {
                let square = decay * square + (1.0 - decay) * grad * grad;
                let mean = momentum * mean + rate * grad / (square + eps).sqrt();
                [weight - mean, square, mean]
            },
        )
    }),
    ("Assign", |call, all| {
        assigned(call, all, number(|[_, x]| x, |[_, x]| x))
    }),
    ("AssignAdd", |call, all| {
        let sum = number(|[to, x]| to + x, |[to, x]: [i64; 2]| to.wrapping_add(x));
        assigned(call, all, sum)
    }),
    ("AssignSub", |call, all| {
        let difference = number(|[to, x]| to - x, |[to, x]: [i64; 2]| to.wrapping_sub(x));
        assigned(call, all, difference)
    }),
    ("SGD", sgd),
];

/// Passes changed inputs on to the outputs.
pub(super) fn put(call: &mut Call, all: &Arguments<'_>, changed: &[Operand]) -> Outcome {
    for (handle, changed) in all.outputs.iter().zip(changed) {
        let out = call.output(*handle)?;
        let out = out.shaped(changed.shape())?;
        call.each(number(|[x]| x, |[x]| x), [changed], &out)?;
    }
    Ok(())
}

/// The first input changes, by the second one.
fn assigned(call: &mut Call, all: &Arguments<'_>, formula: Formula<2>) -> Outcome {
    let (target, x) = (call.in_place(all.input(0))?, all.operand(call, 1)?);
    call.each(formula, [&target, &x], &target)?;
    put(call, all, &[target])
}

/// Some inputs change element by element, by the gradient, and by numbers that hold for all elements.
pub(super) fn step<const STATE: usize, const NUMBERS: usize>(
    call: &mut Call,
    all: &Arguments<'_>,
    state: [usize; STATE],
    grad: usize,
    numbers: [usize; NUMBERS],
    next: impl Fn([f64; STATE], f64, [f64; NUMBERS]) -> [f64; STATE] + Send + Sync + 'static,
) -> Outcome {
    let mut changed = Vec::with_capacity(STATE);
    for index in state {
        changed.push(call.in_place(all.input(index))?);
    }
    let mut read = changed.clone();
    read.push(all.operand(call, grad)?);
    for index in numbers {
        read.push(all.operand(call, index)?);
    }
    call.dense(read, changed.clone(), 0, move |values: &[Vec<f64>]| {
        let number = |index: usize| values[STATE + 1 + index].first().copied().unwrap_or(0.0);
        let numbers = std::array::from_fn(number);
        let mut results = values[..STATE].to_vec();
        for (at, grad) in values[STATE].iter().enumerate() {
            let now = std::array::from_fn(|it| values[it][at]);
            for (result, value) in results.iter_mut().zip(next(now, *grad, numbers)) {
                result[at] = value;
            }
        }
        results
    })?;
    put(call, all, &changed)
}

/// Adagrad, with a small number in the second version.
pub(super) fn adagrad(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let keeps_square = all.attributes.integer("update_slots", 1) == 0;
    let eps = all.attributes.float("epsilon");
    step(
        call,
        all,
        [0, 1],
        3,
        [2],
        move |[weight, square], grad, [rate]| {
            let square = if keeps_square {
                square
            } else {
                square + grad * grad
            };
            [weight - rate * grad / (square.sqrt() + eps), square]
        },
    )
}

/// Adam. The powers of its factors are inputs, for the number of steps until now.
fn adam(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let looks_ahead = all.attributes.integer("use_nesterov", 0) != 0;
    step(
        call,
        all,
        [0, 1, 2],
        9,
        [3, 4, 5, 6, 7, 8],
        move |[weight, mean, square], grad, [power1, power2, rate, beta1, beta2, eps]| {
            let rate = rate * (1.0 - power2).sqrt() / (1.0 - power1);
            let mean = beta1 * mean + (1.0 - beta1) * grad;
            let square = beta2 * square + (1.0 - beta2) * grad * grad;
            let along = match looks_ahead {
                true => beta1 * mean + (1.0 - beta1) * grad,
                false => mean,
            };
            [weight - rate * along / (square.sqrt() + eps), mean, square]
        },
    )
}

fn momentum(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let looks_ahead = all.attributes.integer("use_nesterov", 0) != 0;
    step(
        call,
        all,
        [0, 1],
        3,
        [2, 4],
        move |[weight, mean], grad, [rate, momentum]| {
            let mean = momentum * mean + grad;
            let along = if looks_ahead {
                grad + momentum * mean
            } else {
                mean
            };
            [weight - rate * along, mean]
        },
    )
}

/// The mean is the gradient in the first step, which the last input marks.
fn sgd(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let [dampening, decay] = ["dampening", "weight_decay"].map(|it| all.attributes.float(it));
    let looks_ahead = all.attributes.integer("nesterov", 0) != 0;
    step(
        call,
        all,
        [0, 3, 5],
        1,
        [2, 4],
        move |[weight, mean, first], grad, [rate, momentum]| {
            let grad = grad + decay * weight;
            if momentum <= 0.0 {
                return [weight - rate * grad, mean, first];
            }
            let mean = match first > 0.0 {
                true => grad,
                false => momentum * mean + (1.0 - dampening) * grad,
            };
            let along = if looks_ahead {
                grad + momentum * mean
            } else {
                mean
            };
            [weight - rate * along, mean, 0.0]
        },
    )
}
