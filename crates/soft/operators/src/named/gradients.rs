//! Gradients of elements at one place.

use super::elements::{NumberAttributes, formulas};
use super::{NamedOperator, each};
use crate::functions::{gelu_slope, log_sigmoid, sigmoid, sign, softplus};
use crate::maps::{SELU_ALPHA, SELU_SCALE, along_channels};
use crate::shapes::halves_back;
use softacl_base::formula::float;

pub(super) const OPERATORS: &[NamedOperator] = formulas! {
    "AbsGrad" = float(|[x, grad]| grad * sign(x));
    "AcosGrad" = float(|[x, grad]| -grad / (1.0 - x * x).sqrt());
    "AcoshGrad" = float(|[y, grad]| grad / y.sinh());
    "AsinGrad" = float(|[x, grad]| grad / (1.0 - x * x).sqrt());
    "AsinhGrad" = float(|[y, grad]| grad / y.cosh());
    "AtanGrad" = float(|[x, grad]| grad / (1.0 + x * x));
    "GeluGrad" = float(|[grad, x]| grad * gelu_slope(x));
    "HardSwishGrad" = float(|[grad, x]| match x {
        x if x <= -3.0 => 0.0,
        x if x < 3.0 => grad * (x / 3.0 + 0.5),
        _ => grad,
    });
    "LogSigmoidGrad" = float(|[grad, x]| grad * (1.0 - log_sigmoid(x).exp()));
    "MishGrad" = float(|[grad, x]| {
        let tanh = softplus(x).tanh();
        grad * (tanh + x * sigmoid(x) * (1.0 - tanh * tanh))
    });
    "ReciprocalGrad" = float(|[y, grad]| -grad * y * y);
    "Relu6Grad" = float(|[grad, x]| if x > 0.0 && x < 6.0 { grad } else { 0.0 });
    "ReluGrad" = float(|[grad, x]| if x > 0.0 { grad } else { 0.0 });
    "RsqrtGrad" = float(|[y, grad]| -0.5 * grad * y * y * y);
    "SeluGrad" = float(|[grad, y]| grad * if y > 0.0 { SELU_SCALE } else { y + SELU_SCALE * SELU_ALPHA });
    "SigmoidGrad" = float(|[y, grad]| grad * y * (1.0 - y));
    "SiluGrad" = float(|[grad, x]| {
        let share = sigmoid(x);
        grad * share * (1.0 + x * (1.0 - share))
    });
    "SoftplusGrad" = float(|[grad, x]| grad * sigmoid(x));
    "SqrtGrad" = float(|[y, grad]| 0.5 * grad / y);
    "TanhGrad" = float(|[y, grad]| grad * (1.0 - y * y));
};

pub(super) const WITH_ATTRIBUTES: &[NamedOperator] = &[
    ("EluGradV2", |call, all| {
        let [alpha, scale, inner] =
            [("alpha", 1.0), ("scale", 1.0), ("input_scale", 1.0)].map(|it| all.factor(it));
        let is_result = all.attributes.integer("is_result", 0) != 0;
        let below = move |x: f64| match is_result {
            true => inner * (x + alpha * scale),
            false => inner * alpha * scale * (x * inner).exp(),
        };
        let formula = float(move |[grad, x]| grad * if x > 0.0 { scale } else { below(x) });
        each(call, all, formula)
    }),
    ("GLUGrad", |call, all| {
        let (grad, x) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        halves_back(call, &grad, &x, all.attributes.integer("dim", -1), &out)
    }),
    ("HardSigmoidGrad", |call, all| {
        let slope = all.factor(("alpha", 1.0 / 6.0));
        let middle = all.factor(("beta", 0.5));
        let formula = float(move |[grad, x]| {
            let y = x * slope + middle;
            if y > 0.0 && y < 1.0 {
                grad * slope
            } else {
                0.0
            }
        });
        each(call, all, formula)
    }),
    ("HardtanhGrad", |call, all| {
        let (least, most) = (all.factor(("min_val", -1.0)), all.factor(("max_val", 1.0)));
        let formula = float(move |[y, grad]| if y > least && y < most { grad } else { 0.0 });
        each(call, all, formula)
    }),
    ("LeakyReluGrad", |call, all| {
        let slope = all.factor(("negative_slope", 0.0));
        let formula = float(move |[grad, x]| if x > 0.0 { grad } else { grad * slope });
        each(call, all, formula)
    }),
    ("PReluGrad", |call, all| {
        let [grad, x, weight] = [0, 1, 2].map(|it| all.operand(call, it));
        let (grad, x, weight) = (grad?, x?, weight?);
        let [to_x, to_weight] = super::two_outputs(call, all)?;
        let spread = along_channels(&weight, &x);
        let formula = float(|[grad, x, weight]| if x > 0.0 { grad } else { grad * weight });
        call.each(formula, [&grad, &x, &spread], &to_x)?;
        let weights = weight.elements().max(1);
        let inner = x.shape().iter().skip(2).product::<usize>().max(1);
        call.dense(
            vec![grad, x],
            vec![to_weight],
            0,
            move |values: &[Vec<f64>]| {
                let mut sums = vec![0.0; weights];
                for (index, (grad, x)) in values[0].iter().zip(&values[1]).enumerate() {
                    sums[index / inner % weights] += grad * x.min(0.0);
                }
                vec![sums]
            },
        )
    }),
    ("SoftplusV2Grad", |call, all| {
        let beta = all.factor(("beta", 1.0));
        let threshold = all.factor(("threshold", 20.0));
        let formula = float(move |[grad, x]| match x * beta > threshold {
            true => grad,
            false => grad * sigmoid(x * beta),
        });
        each(call, all, formula)
    }),
    ("ThresholdGradV2D", |call, all| {
        let threshold = all.factor(("threshold", 0.0));
        let formula = float(move |[grad, x]| if x > threshold { grad } else { 0.0 });
        each(call, all, formula)
    }),
];
