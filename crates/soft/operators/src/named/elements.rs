//! Results of elements at one place.

use super::{NamedOperator, each, each_of};
use crate::functions::{
    digamma, erf, erfc, floor_integer, floor_quotient, gelu, larger, lgamma, log_sigmoid, mish,
    modulo, modulo_integer, power_integer, sigmoid, sign, smaller, softplus, x_log_y,
};
use crate::maps::{SELU_ALPHA, SELU_SCALE, along_channels, between};
use softacl_base::arguments::Arguments;
use softacl_base::by_kind;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::{Formula, float, number, truth};
use softacl_base::number::Number;
use softacl_base::status::require;

/// Rows of a table of operators without attributes: a formula of the first inputs.
macro_rules! formulas {
    ($($name:literal = $formula:expr;)*) => {
        &[$(($name, |call, all| super::each(call, all, $formula)),)*]
    };
}
pub(super) use formulas;

pub(super) const OPERATORS: &[NamedOperator] = formulas! {
    "Abs" = number(|[x]| x.abs(), |[x]: [i64; 1]| x.wrapping_abs());
    "Acos" = float(|[x]| x.acos());
    "Acosh" = float(|[x]| x.acosh());
    "Add" = number(|[a, b]| a + b, |[a, b]: [i64; 2]| a.wrapping_add(b));
    "Addcdiv" = float(|[x, a, b, value]| x + value * (a / b));
    "Addcmul" = number(
        |[x, a, b, value]| x + value * a * b,
        |[x, a, b, value]: [i64; 4]| x.wrapping_add(value.wrapping_mul(a).wrapping_mul(b)),
    );
    "Asin" = float(|[x]| x.asin());
    "Asinh" = float(|[x]| x.asinh());
    "Atan" = float(|[x]| x.atan());
    "Atan2" = float(|[a, b]| a.atan2(b));
    "Atanh" = float(|[x]| x.atanh());
    "AxpyV2" = number(
        |[a, b, factor]| a + b * factor,
        |[a, b, factor]: [i64; 3]| a.wrapping_add(b.wrapping_mul(factor)),
    );
    "BitwiseAnd" = number(|_| f64::NAN, |[a, b]| a & b);
    "BitwiseOr" = number(|_| f64::NAN, |[a, b]| a | b);
    "BitwiseXor" = number(|_| f64::NAN, |[a, b]| a ^ b);
    "Ceil" = number(|[x]| x.ceil(), |[x]| x);
    "ClipByValue" = clipped();
    "ClipByValueV2" = clipped();
    "Cos" = float(|[x]| x.cos());
    "Cosh" = float(|[x]| x.cosh());
    "CustHypot" = float(|[a, b]| a.hypot(b));
    "CustLgamma" = float(|[x]| lgamma(x));
    "Digamma" = float(|[x]| digamma(x));
    "Div" = number(|[a, b]| a / b, |[a, b]: [i64; 2]| a.checked_div(b).unwrap_or(0));
    "Equal" = truth(|[a, b]| a == b, |[a, b]| a == b);
    "Erf" = float(|[x]| erf(x));
    "Erfc" = float(|[x]| erfc(x));
    "Expm1" = float(|[x]| x.exp_m1());
    "Floor" = number(|[x]| x.floor(), |[x]| x);
    "FloorDiv" = number(|[a, b]| floor_quotient(a, b), |[a, b]| floor_integer(a, b));
    "FloorMod" = number(|[a, b]| modulo(a, b), |[a, b]| modulo_integer(a, b));
    "Gelu" = float(|[x]| gelu(x));
    "Greater" = truth(|[a, b]| a > b, |[a, b]| a > b);
    "GreaterEqual" = truth(|[a, b]| a >= b, |[a, b]| a >= b);
    "HardSwish" = float(|[x]| x * crate::functions::hard_sigmoid(x));
    // One factor for each element, and one number that is added.
    "IndexFillD" = number(
        |[x, factor, added]| x * factor + added,
        |[x, factor, added]: [i64; 3]| x.wrapping_mul(factor).wrapping_add(added),
    );
    "IsFinite" = truth(|[x]| x.is_finite(), |_: [i64; 1]| true);
    "IsInf" = truth(|[x]| x.is_infinite(), |_: [i64; 1]| false);
    "IsNan" = truth(|[x]| x.is_nan(), |_: [i64; 1]| false);
    "Lerp" = float(|[from, to, weight]| between(from, to, weight));
    "LeftShift" = number(|_| f64::NAN, |[a, b]: [i64; 2]| shifted(a, b));
    "Less" = truth(|[a, b]| a < b, |[a, b]| a < b);
    "LessEqual" = truth(|[a, b]| a <= b, |[a, b]| a <= b);
    "Log1p" = float(|[x]| x.ln_1p());
    "LogSigmoid" = float(|[x]| log_sigmoid(x));
    "Lgamma" = float(|[x]| lgamma(x));
    "LogicalAnd" = truth(|[a, b]| a != 0.0 && b != 0.0, |[a, b]| a != 0 && b != 0);
    "LogicalNot" = truth(|[x]| x == 0.0, |[x]| x == 0);
    "LogicalOr" = truth(|[a, b]| a != 0.0 || b != 0.0, |[a, b]| a != 0 || b != 0);
    "MaskedFill" = number(
        |[x, mask, value]| if mask != 0.0 { value } else { x },
        |[x, mask, value]| if mask != 0 { value } else { x },
    );
    "Maximum" = number(|[a, b]| larger(a, b), |[a, b]: [i64; 2]| a.max(b));
    "Minimum" = number(|[a, b]| smaller(a, b), |[a, b]: [i64; 2]| a.min(b));
    "Mish" = float(|[x]| mish(x));
    "Mod" = number(|[a, b]| a % b, |[a, b]: [i64; 2]| a.checked_rem(b).unwrap_or(0));
    "Mul" = number(|[a, b]| a * b, |[a, b]: [i64; 2]| a.wrapping_mul(b));
    "Neg" = number(|[x]| -x, |[x]: [i64; 1]| x.wrapping_neg());
    "NotEqual" = truth(|[a, b]| a != b, |[a, b]| a != b);
    "Pow" = number(|[a, b]| a.powf(b), |[a, b]| power_integer(a, b));
    "RealDiv" = float(|[a, b]| a / b);
    "Reciprocal" = float(|[x]| x.recip());
    "Relu" = number(|[x]| larger(x, 0.0), |[x]: [i64; 1]| x.max(0));
    "Relu6" = number(|[x]| smaller(larger(x, 0.0), 6.0), |[x]: [i64; 1]| x.clamp(0, 6));
    "RightShift" = number(|_| f64::NAN, |[a, b]: [i64; 2]| shifted(a, b.saturating_neg()));
    "Round" = number(|[x]| x.round_ties_even(), |[x]| x);
    "Rsqrt" = float(|[x]| x.sqrt().recip());
    "Select" = chosen();
    "Selu" = float(|[x]| SELU_SCALE * if x > 0.0 { x } else { SELU_ALPHA * x.exp_m1() });
    "Sigmoid" = float(|[x]| sigmoid(x));
    "Sign" = number(|[x]| sign(x), |[x]: [i64; 1]| x.signum());
    "Sin" = float(|[x]| x.sin());
    "Sinh" = float(|[x]| x.sinh());
    "Softplus" = float(|[x]| softplus(x));
    "Softsign" = float(|[x]| x / (1.0 + x.abs()));
    "Sqrt" = float(|[x]| x.sqrt());
    "Square" = number(|[x]| x * x, |[x]: [i64; 1]| x.wrapping_mul(x));
    "Sub" = number(|[a, b]| a - b, |[a, b]: [i64; 2]| a.wrapping_sub(b));
    "Tan" = float(|[x]| x.tan());
    "Tanh" = float(|[x]| x.tanh());
    "Trunc" = number(|[x]| x.trunc(), |[x]| x);
    "Xlogy" = float(|[x, y]| x_log_y(x, y));
    "OnesLike" = number(|[_]| 1.0, |[_]: [i64; 1]| 1);
    "ZerosLike" = number(|[_]| 0.0, |[_]: [i64; 1]| 0);
};

pub(super) const WITH_ATTRIBUTES: &[NamedOperator] = &[
    // The sum of all inputs.
    ("AddN", |call, all| {
        let mut inputs = Vec::new();
        for index in 0..all.inputs.len() {
            inputs.push(all.operand(call, index)?);
        }
        let out = call.output(all.output())?;
        let elements = out.elements();
        require(
            inputs.iter().all(|it| it.elements() == elements),
            "the output's shape is not that of the result",
        )?;
        by_kind!(out.is_float(), C => call.dense(inputs, vec![out], 0, move |values: &[Vec<C>]| {
            let sum = |at: usize| values.iter().map(|it| it[at]).fold(C::default(), C::plus);
            vec![(0..elements).map(sum).collect()]
        }))
    }),
    ("CeluV2", |call, all| {
        let alpha = all.factor(("alpha", 1.0));
        let below = move |x: f64| alpha * (x / alpha).exp_m1();
        each(
            call,
            all,
            float(move |[x]| if x > 0.0 { x } else { below(x) }),
        )
    }),
    ("Elu", |call, all| {
        let [alpha, scale, inner] =
            [("alpha", 1.0), ("scale", 1.0), ("input_scale", 1.0)].map(|it| all.factor(it));
        let below = move |x: f64| alpha * scale * (x * inner).exp_m1();
        each(
            call,
            all,
            float(move |[x]| if x > 0.0 { x * scale } else { below(x) }),
        )
    }),
    ("Exp", |call, all| {
        let [base, scale, shift] = all.scaled();
        let base = if base > 0.0 { base.ln() } else { 1.0 };
        each(
            call,
            all,
            float(move |[x]| ((x * scale + shift) * base).exp()),
        )
    }),
    ("Fill", |call, all| {
        each_of(call, all, [1], number(|[value]| value, |[value]| value))
    }),
    ("HardSigmoid", |call, all| {
        let slope = all.factor(("alpha", 1.0 / 6.0));
        let middle = all.factor(("beta", 0.5));
        each(
            call,
            all,
            float(move |[x]| (x * slope + middle).clamp(0.0, 1.0)),
        )
    }),
    ("LeakyRelu", |call, all| {
        let slope = all.factor(("negative_slope", 0.0));
        each(
            call,
            all,
            float(move |[x]| if x > 0.0 { x } else { x * slope }),
        )
    }),
    ("Log", |call, all| {
        let [base, scale, shift] = all.scaled();
        let base = if base > 0.0 { base.ln() } else { 1.0 };
        each(call, all, float(move |[x]| (x * scale + shift).ln() / base))
    }),
    ("PRelu", |call, all| {
        let (x, weight) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        let weight = along_channels(&weight, &x);
        let formula = float(|[x, weight]| if x > 0.0 { x } else { x * weight });
        call.each(formula, [&x, &weight], &out)
    }),
    ("SoftplusV2", |call, all| {
        let beta = all.factor(("beta", 1.0));
        let threshold = all.factor(("threshold", 20.0));
        let bent = move |x: f64| softplus(x * beta) / beta;
        each(
            call,
            all,
            float(move |[x]| if x * beta > threshold { x } else { bent(x) }),
        )
    }),
    ("ThresholdV2D", |call, all| {
        let (threshold, value) = (all.factor(("threshold", 0.0)), all.factor(("value", 0.0)));
        let formula = float(move |[x]| if x > threshold { x } else { value });
        each(call, all, formula)
    }),
    ("Swish", |call, all| {
        let scale = all.factor(("scale", 1.0));
        each(call, all, float(move |[x]| x * sigmoid(x * scale)))
    }),
];

/// Attributes that are numbers.
pub(super) trait NumberAttributes {
    /// A number by its name; the second one without such an attribute.
    fn factor(&self, attribute: (&str, f64)) -> f64;
    /// Base, scale and shift of exponentials and logarithms. A base of -1 is that of the natural ones.
    fn scaled(&self) -> [f64; 3];
}

impl NumberAttributes for Arguments<'_> {
    fn factor(&self, (name, otherwise): (&str, f64)) -> f64 {
        self.attributes.float_or(name, otherwise)
    }

    fn scaled(&self) -> [f64; 3] {
        [("base", -1.0), ("scale", 1.0), ("shift", 0.0)].map(|it| self.factor(it))
    }
}

/// Bits that are moved to the left, or to the right by a negative number. All can be moved out.
fn shifted(bits: i64, by: i64) -> i64 {
    let count = u32::try_from(by.unsigned_abs()).unwrap_or(u32::MAX);
    match by >= 0 {
        true => bits.checked_shl(count).unwrap_or(0),
        false => bits >> count.min(63),
    }
}

fn clipped() -> Formula<3> {
    number(
        |[x, least, most]| smaller(larger(x, least), most),
        |[x, least, most]: [i64; 3]| x.max(least).min(most),
    )
}

fn chosen() -> Formula<3> {
    number(
        |[condition, a, b]| if condition != 0.0 { a } else { b },
        |[condition, a, b]| if condition != 0 { a } else { b },
    )
}

/// The elements as they are, in the output's type and shape.
pub(super) fn same(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
    let out = out.shaped(x.shape())?;
    call.each(number(|[x]| x, |[x]| x), [&x], &out)
}
