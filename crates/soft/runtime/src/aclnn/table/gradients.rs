//! Gradients of operators of elements at one place.

use super::Text;
use super::functions::{gelu_slope, gelu_tanh_slope, log_sigmoid, sigmoid, softplus};
use super::maps::along_channels;
use crate::aclnn::call::Call;
use crate::aclnn::formula::{Formula, float};
use crate::aclnn::operators::{In, Scalar, Written};
use crate::code::Outcome;

/// The gradient of the output, and the input of the slope.
fn slope(call: &mut Call, grad: In, x: In, out: Written, formula: Formula<2>) -> Outcome {
    let (grad, x, out) = (call.input(grad)?, call.input(x)?, call.output(out)?);
    call.each(formula, [&grad, &x], &out)
}

macro_rules! slopes {
    ($($name:ident = $formula:expr;)*) => { operators! {$(
        $name |call, grad: In, x: In, out: Written| slope(call, grad, x, out, $formula);
    )*} };
}

slopes! {
    aclnnGeluBackward = float(|[grad, x]| grad * gelu_slope(x));
    aclnnHardsigmoidBackward = float(|[grad, x]| if x > -3.0 && x < 3.0 { grad / 6.0 } else { 0.0 });
    aclnnHardswishBackward = float(|[grad, x]| match x {
        x if x <= -3.0 => 0.0,
        x if x < 3.0 => grad * (x / 3.0 + 0.5),
        _ => grad,
    });
    aclnnMishBackward = float(|[grad, x]| {
        let tanh = softplus(x).tanh();
        grad * (tanh + x * sigmoid(x) * (1.0 - tanh * tanh))
    });
    aclnnSigmoidBackward = float(|[grad, y]| grad * y * (1.0 - y));
    aclnnSiluBackward = float(|[grad, x]| {
        let sigmoid = sigmoid(x);
        grad * sigmoid * (1.0 + x * (1.0 - sigmoid))
    });
    aclnnTanhBackward = float(|[grad, y]| grad * (1.0 - y * y));
}

operators! {
    aclnnGeluBackwardV2 |call, grad: In, x: In, approximation: Text, out: Written| {
        let by_tanh = approximation.optional().as_deref() == Some("tanh");
        slope(call, grad, x, out, float(move |[grad, x]| {
            grad * if by_tanh { gelu_tanh_slope(x) } else { gelu_slope(x) }
        }))
    };
    aclnnThresholdBackward |call, grad: In, x: In, threshold: Scalar, out: Written| {
        let (grad, x, out) = (call.input(grad)?, call.input(x)?, call.output(out)?);
        let threshold = call.given(threshold, &[&x])?.float;
        call.each(float(move |[grad, x]| if x <= threshold { 0.0 } else { grad }), [&grad, &x], &out)
    };
    aclnnHardtanhBackward |call, grad: In, x: In, least: Scalar, most: Scalar, out: Written| {
        let (grad, x, out) = (call.input(grad)?, call.input(x)?, call.output(out)?);
        let (least, most) = (call.given(least, &[&x])?.float, call.given(most, &[&x])?.float);
        let formula = float(move |[grad, x]| if x <= least || x >= most { 0.0 } else { grad });
        call.each(formula, [&grad, &x], &out)
    };
    aclnnEluBackward |call, grad: In, alpha: Scalar, scale: Scalar, inner: Scalar, is_result: bool, x: In, out: Written| {
        let (grad, x) = (call.input(grad)?, call.input(x)?);
        let out = call.output(out)?;
        let alpha = call.given(alpha, &[&x])?.float;
        let (scale, inner) = (call.given(scale, &[&x])?.float, call.given(inner, &[&x])?.float);
        let formula = float(move |[grad, x]| match (x > 0.0, is_result) {
            (true, _) => grad * scale,
            (false, true) => grad * inner * (x + alpha * scale),
            (false, false) => grad * inner * alpha * scale * (x * inner).exp(),
        });
        call.each(formula, [&grad, &x], &out)
    };
    aclnnSeluBackward |call, grad: In, y: In, out: Written| {
        const SCALE: f64 = 1.050_700_987_355_480_5;
        const ALPHA: f64 = 1.673_263_242_354_377_2;
        slope(call, grad, y, out, float(|[grad, y]| {
            if y > 0.0 { grad * SCALE } else { grad * (y + ALPHA * SCALE) }
        }))
    };
    aclnnLeakyReluBackward |call, grad: In, x: In, factor: Scalar, _is_result: bool, out: Written| {
        let (grad, x, out) = (call.input(grad)?, call.input(x)?, call.output(out)?);
        let factor = call.given(factor, &[&x])?.float;
        call.each(float(move |[grad, x]| if x > 0.0 { grad } else { grad * factor }), [&grad, &x], &out)
    };
    aclnnSoftplusBackward |call, grad: In, x: In, beta: Scalar, threshold: Scalar, out: Written| {
        let (grad, x, out) = (call.input(grad)?, call.input(x)?, call.output(out)?);
        let (beta, threshold) = (call.given(beta, &[&x])?.float, call.given(threshold, &[&x])?.float);
        let formula = float(move |[grad, x]| {
            if x * beta > threshold { grad } else { grad * sigmoid(x * beta) }
        });
        call.each(formula, [&grad, &x], &out)
    };
    aclnnSoftshrinkBackward |call, grad: In, x: In, lambda: Scalar, out: Written| {
        let (grad, x, out) = (call.input(grad)?, call.input(x)?, call.output(out)?);
        let lambda = call.given(lambda, &[&x])?.float;
        call.each(float(move |[grad, x]| if x.abs() <= lambda { 0.0 } else { grad }), [&grad, &x], &out)
    };
    aclnnHardshrinkBackward |call, grad: In, x: In, lambda: Scalar, out: Written| {
        let (grad, x, out) = (call.input(grad)?, call.input(x)?, call.output(out)?);
        let lambda = call.given(lambda, &[&x])?.float;
        call.each(float(move |[grad, x]| if x.abs() <= lambda { 0.0 } else { grad }), [&grad, &x], &out)
    };
    aclnnLogSigmoidForward |call, x: In, out: Written, buffer: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let buffer = call.wanted(buffer)?;
        call.each(float(|[x]| log_sigmoid(x)), [&x], &out)?;
        match buffer {
            Some(buffer) if buffer.shape() == x.shape() => {
                call.each(float(|[x]| (-x.abs()).exp()), [&x], &buffer)
            }
            _ => Ok(()),
        }
    };
    aclnnLogSigmoidBackward |call, grad: In, x: In, _buffer: usize, out: Written| {
        slope(call, grad, x, out, float(|[grad, x]| grad * sigmoid(-x)))
    };
    aclnnLogitGrad |call, x: In, grad: In, eps: f64, out: Written| {
        slope(call, grad, x, out, float(move |[grad, x]| {
            let (least, most) = if eps >= 0.0 { (eps, 1.0 - eps) } else { (0.0, 1.0) };
            if x < least || x > most { 0.0 } else { grad / (x * (1.0 - x)) }
        }))
    };
    aclnnPreluBackward |call, grad: In, x: In, weight: In, grad_x: Written, grad_weight: Written| {
        let (grad, x, weight) = (call.input(grad)?, call.input(x)?, call.input(weight)?);
        let (grad_x, grad_weight) = (call.output(grad_x)?, call.output(grad_weight)?);
        let spread = along_channels(&weight, &x);
        let formula = float(|[grad, x, weight]| if x > 0.0 { grad } else { grad * weight });
        call.each(formula, [&grad, &x, &spread], &grad_x)?;
        let weights = weight.elements();
        let inner: usize = x.shape().iter().skip(2).product();
        call.dense(vec![grad, x], vec![grad_weight], 0, move |values: &[Vec<f64>]| {
            let mut sums = vec![0.0; weights];
            for (index, (grad, x)) in values[0].iter().zip(&values[1]).enumerate() {
                if *x <= 0.0 {
                    sums[index / inner % weights] += grad * x;
                }
            }
            vec![sums]
        })
    };
}
