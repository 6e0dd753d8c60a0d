//! Gradients of operators of elements at one place.

use super::functions::{gelu_slope, gelu_tanh_slope, log_sigmoid, sigmoid, softplus};
use super::maps::along_channels;
use crate::parameters::{Input, Output, Scalar, Text, Wanted};
use softacl_base::formula::float;

macro_rules! slopes {
    ($($name:ident = $formula:expr;)*) => { operators! {$(
        $name |call, grad: Input, x: Input, out: Output| call.each($formula, [&grad, &x], &out);
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
    aclnnGeluBackwardV2 |call, grad: Input, x: Input, approximation: Text, out: Output| {
        let by_tanh = approximation.optional().as_deref() == Some("tanh");
        call.each(float(move |[grad, x]| {
            grad * if by_tanh { gelu_tanh_slope(x) } else { gelu_slope(x) }
        }), [&grad, &x], &out)
    };
    aclnnThresholdBackward |call, grad: Input, x: Input, threshold: Scalar, out: Output| {
        let threshold = call.scalar_as_computed(threshold, &[&x])?.float;
        call.each(float(move |[grad, x]| if x <= threshold { 0.0 } else { grad }), [&grad, &x], &out)
    };
    aclnnHardtanhBackward |call, grad: Input, x: Input, least: Scalar, most: Scalar, out: Output| {
        let [least, most] = call.scalars_as_computed([least, most], &[&x])?.map(|it| it.float);
        let formula = float(move |[grad, x]| if x <= least || x >= most { 0.0 } else { grad });
        call.each(formula, [&grad, &x], &out)
    };
    aclnnEluBackward |call, grad: Input, alpha: Scalar, scale: Scalar, inner: Scalar, is_result: bool, x: Input, out: Output| {
        let scalars = call.scalars_as_computed([alpha, scale, inner], &[&x])?;
        let [alpha, scale, inner] = scalars.map(|it| it.float);
        let formula = float(move |[grad, x]| match (x > 0.0, is_result) {
            (true, _) => grad * scale,
            (false, true) => grad * inner * (x + alpha * scale),
            (false, false) => grad * inner * alpha * scale * (x * inner).exp(),
        });
        call.each(formula, [&grad, &x], &out)
    };
    aclnnSeluBackward |call, grad: Input, y: Input, out: Output| {
        const SCALE: f64 = 1.050_700_987_355_480_5;
        const ALPHA: f64 = 1.673_263_242_354_377_2;
        call.each(float(|[grad, y]| {
            if y > 0.0 { grad * SCALE } else { grad * (y + ALPHA * SCALE) }
        }), [&grad, &y], &out)
    };
    aclnnLeakyReluBackward |call, grad: Input, x: Input, factor: Scalar, _is_result: bool, out: Output| {
        let factor = call.scalar_as_computed(factor, &[&x])?.float;
        call.each(float(move |[grad, x]| if x > 0.0 { grad } else { grad * factor }), [&grad, &x], &out)
    };
    aclnnSoftplusBackward |call, grad: Input, x: Input, beta: Scalar, threshold: Scalar, out: Output| {
        let [beta, threshold] = call.scalars_as_computed([beta, threshold], &[&x])?.map(|it| it.float);
        let formula = float(move |[grad, x]| {
            if x * beta > threshold { grad } else { grad * sigmoid(x * beta) }
        });
        call.each(formula, [&grad, &x], &out)
    };
    aclnnSoftshrinkBackward |call, grad: Input, x: Input, lambda: Scalar, out: Output| {
        let lambda = call.scalar_as_computed(lambda, &[&x])?.float;
        call.each(float(move |[grad, x]| if x.abs() <= lambda { 0.0 } else { grad }), [&grad, &x], &out)
    };
    aclnnHardshrinkBackward |call, grad: Input, x: Input, lambda: Scalar, out: Output| {
        let lambda = call.scalar_as_computed(lambda, &[&x])?.float;
        call.each(float(move |[grad, x]| if x.abs() <= lambda { 0.0 } else { grad }), [&grad, &x], &out)
    };
    aclnnLogSigmoidForward |call, x: Input, out: Output, buffer: Wanted| {
        call.each(float(|[x]| log_sigmoid(x)), [&x], &out)?;
        match buffer {
            Some(buffer) if buffer.shape() == x.shape() => {
                call.each(float(|[x]| (-x.abs()).exp()), [&x], &buffer)
            }
            _ => Ok(()),
        }
    };
    aclnnLogSigmoidBackward |call, grad: Input, x: Input, _buffer: usize, out: Output| {
        call.each(float(|[grad, x]| grad * sigmoid(-x)), [&grad, &x], &out)
    };
    aclnnLogitGrad |call, x: Input, grad: Input, eps: f64, out: Output| {
        call.each(float(move |[grad, x]| {
            let (least, most) = if eps >= 0.0 { (eps, 1.0 - eps) } else { (0.0, 1.0) };
            if x < least || x > most { 0.0 } else { grad / (x * (1.0 - x)) }
        }), [&grad, &x], &out)
    };
    aclnnPreluBackward |call, grad: Input, x: Input, weight: Input, grad_x: Output, grad_weight: Output| {
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
