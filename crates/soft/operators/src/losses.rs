//! Losses and their gradients. A reduction is 0 for none, 1 for the mean, 2 for the sum.

use super::functions::{larger, log_sigmoid, sign};
use crate::parameters::{In, Input, OptionalTensor, Output, Written};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::data_type::DataType;
use softacl_base::dense::count;
use softacl_base::formula::{Formula, float};
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};
use softacl_base::trouble;
use softacl_base::view::broadcast_shape;

const MEAN: i64 = 1;

/// The loss of each element, or their mean or sum.
pub(super) fn loss<const N: usize>(
    call: &mut Call,
    inputs: [&Operand; N],
    reduction: i64,
    out: &Operand,
    formula: Formula<N>,
) -> Outcome {
    if reduction == 0 {
        return call.each(formula, inputs, out);
    }
    let each = call.temporary(DataType::F64, &broadcast(inputs)?);
    call.each(formula, inputs, &each)?;
    let all: Vec<usize> = (0..each.rank()).collect();
    call.reduce(
        &each,
        &all,
        vec![out.clone()],
        move |losses: &[f64], out| {
            out[0] = losses.iter().sum();
            if reduction == MEAN {
                out[0] /= losses.len() as f64;
            }
        },
    )
}

/// The gradient of each element's loss; `formula` has the output's gradient first.
pub(super) fn gradient<const N: usize>(
    call: &mut Call,
    inputs: [&Operand; N],
    reduction: i64,
    out: &Operand,
    formula: impl Fn([f64; N]) -> f64 + Send + Sync + 'static,
) -> Outcome {
    let scale = match reduction {
        MEAN => 1.0 / out.elements() as f64,
        _ => 1.0,
    };
    call.each(
        float(move |elements| formula(elements) * scale),
        inputs,
        out,
    )
}

fn broadcast<const N: usize>(inputs: [&Operand; N]) -> Outcome<Vec<usize>> {
    let mut shape = Vec::new();
    for input in inputs {
        let Some(both) = broadcast_shape(&shape, input.shape()) else {
            return refuse("the shapes do not broadcast");
        };
        shape = both;
    }
    Ok(shape)
}

/// A weight that may be missing counts as one.
pub(super) fn weight_or_one(call: &mut Call, weight: OptionalTensor) -> Outcome<Operand> {
    if let Some(weight) = call.optional(weight)? {
        return Ok(weight);
    }
    let one = call.temporary(DataType::F32, &[]);
    call.each(float(|[]| 1.0), [], &one)?;
    Ok(one)
}

pub(super) fn smooth(difference: f64, beta: f64) -> f64 {
    let size = difference.abs();
    if size < beta {
        0.5 * size * size / beta
    } else {
        size - 0.5 * beta
    }
}

pub(super) fn smooth_slope(difference: f64, beta: f64) -> f64 {
    if difference.abs() < beta {
        difference / beta
    } else {
        sign(difference)
    }
}

/// The loss of a share for a target between 0 and 1.
pub(super) fn cross_entropy(x: f64, target: f64, weight: f64) -> f64 {
    let logarithms = [x.ln(), (-x).ln_1p()].map(|it| larger(it, -100.0));
    -weight * (target * logarithms[0] + (1.0 - target) * logarithms[1])
}

pub(super) fn cross_entropy_slope(x: f64, target: f64, weight: f64) -> f64 {
    weight * (x - target) / larger(x * (1.0 - x), 1e-12)
}

operators! {
    aclnnMseLoss |call, x: Input, target: Input, reduction: i64, out: Output| {
        loss(call, [&x, &target], reduction, &out, float(|[x, target]| (x - target) * (x - target)))
    };
    aclnnMseLossOut |call, x: Input, target: Input, reduction: i64, out: Output| {
        loss(call, [&x, &target], reduction, &out, float(|[x, target]| (x - target) * (x - target)))
    };
    aclnnMseLossBackward |call, grad: Input, x: Input, target: Input, reduction: i64, out: Output| {
        gradient(call, [&grad, &x, &target], reduction, &out, |[grad, x, target]| 2.0 * grad * (x - target))
    };
    aclnnL1Loss |call, x: Input, target: Input, reduction: i64, out: Output| {
        loss(call, [&x, &target], reduction, &out, float(|[x, target]| (x - target).abs()))
    };
    aclnnL1LossBackward |call, grad: Input, x: Input, target: Input, reduction: i64, out: Output| {
        gradient(call, [&grad, &x, &target], reduction, &out, |[grad, x, target]| grad * sign(x - target))
    };
    aclnnSmoothL1Loss |call, x: Input, target: Input, reduction: i64, beta: f32, out: Output| {
        let beta = f64::from(beta);
        loss(call, [&x, &target], reduction, &out, float(move |[x, target]| smooth(x - target, beta)))
    };
    aclnnSmoothL1LossBackward |call, grad: Input, x: Input, target: Input, reduction: i64, beta: f32, out: Output| {
        let beta = f64::from(beta);
        gradient(call, [&grad, &x, &target], reduction, &out, move |[grad, x, target]| grad * smooth_slope(x - target, beta))
    };
    aclnnSoftMarginLoss |call, x: Input, target: Input, reduction: i64, out: Output| {
        loss(call, [&x, &target], reduction, &out, float(|[x, target]| -log_sigmoid(x * target)))
    };
    aclnnSoftMarginLossBackward |call, grad: Input, x: Input, target: Input, reduction: i64, out: Output| {
        gradient(call, [&grad, &x, &target], reduction, &out, |[grad, x, target]| {
            -grad * target / (1.0 + (x * target).exp())
        })
    };
    aclnnBinaryCrossEntropy |call, x: Input, target: Input, weight: OptionalTensor, reduction: i64, out: Output| {
        let weight = weight_or_one(call, weight)?;
        loss(call, [&x, &target, &weight], reduction, &out, float(|[x, target, weight]| {
            cross_entropy(x, target, weight)
        }))
    };
    aclnnBinaryCrossEntropyBackward |call, grad: Input, x: Input, target: Input, weight: OptionalTensor, reduction: i64, out: Output| {
        let weight = weight_or_one(call, weight)?;
        gradient(call, [&grad, &x, &target, &weight], reduction, &out, |[grad, x, target, weight]| {
            grad * cross_entropy_slope(x, target, weight)
        })
    };
    aclnnBinaryCrossEntropyWithLogits |call, x: Input, target: Input, weight: OptionalTensor, positive: OptionalTensor, reduction: i64, out: Output| {
        let (weight, positive) = (weight_or_one(call, weight)?, weight_or_one(call, positive)?);
        loss(call, [&x, &target, &weight, &positive], reduction, &out, float(|[x, target, weight, positive]| {
            let scale = 1.0 + (positive - 1.0) * target;
            weight * ((1.0 - target) * x - scale * log_sigmoid(x))
        }))
    };
    aclnnBinaryCrossEntropyWithLogitsBackward |call, grad: Input, x: Input, target: Input, weight: OptionalTensor, positive: OptionalTensor, reduction: i64, out: Output| {
        let (weight, positive) = (weight_or_one(call, weight)?, weight_or_one(call, positive)?);
        gradient(call, [&grad, &x, &target, &weight, &positive], reduction, &out, |[grad, x, target, weight, positive]| {
            let both = positive * target;
            let share = super::functions::sigmoid(x);
            grad * weight * ((both + 1.0 - target) * share - both)
        })
    };
    aclnnKlDiv |call, x: Input, target: Input, reduction: i64, log_target: bool, out: Output| {
        // 3 is the mean over the batch.
        let batch = x.shape().first().copied().unwrap_or(1) as f64;
        let scale = if reduction == 3 { 1.0 / batch } else { 1.0 };
        let reduction = if reduction == 3 { 2 } else { reduction };
        loss(call, [&x, &target], reduction, &out, float(move |[x, target]| {
            scale * if log_target {
                target.exp() * (target - x)
            } else if target > 0.0 {
                target * (target.ln() - x)
            } else {
                0.0
            }
        }))
    };
    aclnnKlDivBackward |call, grad: Input, x: Input, target: Input, reduction: i64, log_target: bool, out: Output| {
        gradient(call, [&grad, &x, &target], reduction, &out, move |[grad, _, target]| {
            if log_target { -target.exp() * grad } else if target > 0.0 { -target * grad } else { 0.0 }
        })
    };
    aclnnKlDivTargetBackward |call, grad: Input, x: Input, target: Input, reduction: i64, log_target: bool, out: Output| {
        gradient(call, [&grad, &x, &target], reduction, &out, move |[grad, x, target]| {
            if log_target {
                grad * target.exp() * (target + 1.0 - x)
            } else if target > 0.0 {
                grad * (target.ln() + 1.0 - x)
            } else {
                0.0
            }
        })
    };
    aclnnNLLLoss |call, x: In, target: In, weight: OptionalTensor, reduction: i64, ignored: i64, out: Written, total: Written| {
        likelihood(call, [x, target, weight, out, total], reduction, ignored)
    };
    aclnnNLLLossBackward |call, grad: In, x: In, target: In, weight: OptionalTensor, reduction: i64, ignored: i64, total: In, out: Written| {
        likelihood_gradient(call, [grad, x, target, weight, total, out], reduction, ignored)
    };
    aclnnNLLLoss2d |call, x: In, target: In, weight: OptionalTensor, reduction: i64, ignored: i64, out: Written, total: Written| {
        likelihood(call, [x, target, weight, out, total], reduction, ignored)
    };
    aclnnNLLLoss2dBackward |call, grad: In, x: In, target: In, weight: OptionalTensor, reduction: i64, ignored: i64, total: In, out: Written| {
        likelihood_gradient(call, [grad, x, target, weight, total, out], reduction, ignored)
    };
}

/// For each row, how much each of its classes is ahead of each other class; the targets' row of classes
/// ends with a negative number. The second output says which classes are targets.
pub(super) fn multilabel_margin(
    call: &mut Call,
    all: &softacl_base::arguments::Arguments<'_>,
) -> Outcome {
    let (x, target) = (call.input(all.input(0))?, call.input(all.input(1))?);
    let out = call.output(all.output())?;
    let is_target = call.output(all.outputs.get(1).copied().unwrap_or(0))?;
    require(
        x.shape() == target.shape(),
        "the target's shape is not the input's",
    )?;
    let classes = x.shape().last().copied().unwrap_or(1).max(1);
    let reduction = all.attributes.text("reduction").to_owned();
    call.dense(
        vec![x, target],
        vec![out, is_target],
        0,
        move |values: &[Vec<f64>]| {
            let rows = values[0].chunks(classes).zip(values[1].chunks(classes));
            let (losses, marks): (Vec<f64>, Vec<Vec<f64>>) =
                rows.map(|(x, target)| behind(x, target)).unzip();
            let losses = match reduction.as_str() {
                "none" => losses,
                "sum" => vec![losses.iter().sum()],
                _ => vec![losses.iter().sum::<f64>() / losses.len().max(1) as f64],
            };
            vec![losses, marks.concat()]
        },
    )
}

/// The loss of a row, and which of its classes are targets.
fn behind(x: &[f64], target: &[f64]) -> (f64, Vec<f64>) {
    let named = target.iter().take_while(|it| **it >= 0.0);
    let named: Vec<usize> = named
        .map(|it| *it as usize)
        .filter(|it| *it < x.len())
        .collect();
    let mut marks = vec![0.0; x.len()];
    named.iter().for_each(|it| marks[*it] = 1.0);
    let others = || x.iter().zip(&marks).filter(|(_, mark)| **mark == 0.0);
    let gaps = named
        .iter()
        .flat_map(|it| others().map(|(other, _)| (1.0 - x[*it] + other).max(0.0)));
    (gaps.sum::<f64>() / x.len() as f64, marks)
}

/// Where the class of a target lies: the input is a batch of classes of places, one class of them without a batch.
#[derive(Clone, Copy)]
struct ClassLayout {
    classes: usize,
    places: usize,
    ignored: i64,
}

impl ClassLayout {
    fn of(x: &Operand, target: &Operand, ignored: i64) -> Outcome<Self> {
        let at = usize::from(x.rank() > 1);
        let Some(&classes) = x.shape().get(at) else {
            return refuse("the input has no classes");
        };
        let places = count(&x.shape()[at + 1..]);
        require(
            classes * target.elements() == x.elements(),
            "the target's shape is not the input's without its classes",
        )?;
        Ok(Self {
            classes,
            places,
            ignored,
        })
    }

    /// The number of the input's element for a target, and the class; `None` for an ignored target.
    fn element(self, index: usize, target: f64) -> Option<(usize, usize)> {
        if target as i64 == self.ignored {
            return None;
        }
        let class = usize::try_from(target as i64)
            .ok()
            .filter(|it| *it < self.classes);
        if class.is_none() {
            trouble::outside(target as i64, self.classes);
        }
        let class = class?;
        let (batch, place) = (index / self.places, index % self.places);
        Some(((batch * self.classes + class) * self.places + place, class))
    }
}

fn weight_of(weights: Option<&Vec<f64>>, class: usize) -> f64 {
    weights.map_or(1.0, |weights| weights[class])
}

pub(super) fn likelihood(
    call: &mut Call,
    [x, target, weight, out, total]: [usize; 5],
    reduction: i64,
    ignored: i64,
) -> Outcome {
    let (x, target, weight) = (call.input(x)?, call.input(target)?, call.optional(weight)?);
    let (out, total) = (call.output(out)?, call.output(total)?);
    let classes = ClassLayout::of(&x, &target, ignored)?;
    let totals = total.elements();
    let inputs = [x, target].into_iter().chain(weight).collect();
    call.dense(inputs, vec![out, total], 0, move |values: &[Vec<f64>]| {
        let weights = values.get(2);
        let (mut all, mut sum) = (0.0, 0.0);
        let mut losses = Vec::with_capacity(values[1].len());
        for (index, target) in values[1].iter().enumerate() {
            let loss = classes.element(index, *target).map_or(0.0, |(at, class)| {
                let weight = weight_of(weights, class);
                all += weight;
                -weight * values[0][at]
            });
            sum += loss;
            losses.push(loss);
        }
        let result = match reduction {
            0 => losses,
            MEAN => vec![sum / all],
            _ => vec![sum],
        };
        vec![result, vec![all; totals]]
    })
}

pub(super) fn likelihood_gradient(
    call: &mut Call,
    [grad, x, target, weight, total, out]: [usize; 6],
    reduction: i64,
    ignored: i64,
) -> Outcome {
    let (grad, x, target) = (call.input(grad)?, call.input(x)?, call.input(target)?);
    let (weight, total) = (call.optional(weight)?, call.input(total)?);
    let out = call.output(out)?;
    let classes = ClassLayout::of(&x, &target, ignored)?;
    let elements = out.elements();
    let inputs = [grad, target, total].into_iter().chain(weight).collect();
    call.dense(inputs, vec![out], 0, move |values: &[Vec<f64>]| {
        let (grads, targets) = (&values[0], &values[1]);
        let scale = match reduction {
            MEAN => 1.0 / values[2].first().copied().unwrap_or(1.0),
            _ => 1.0,
        };
        let mut result = vec![0.0; elements];
        for (index, target) in targets.iter().enumerate() {
            if let Some((at, class)) = classes.element(index, *target) {
                let grad = grads[if reduction == 0 { index } else { 0 }];
                result[at] = -weight_of(values.get(3), class) * grad * scale;
            }
        }
        vec![result]
    })
}
