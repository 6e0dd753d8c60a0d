//! Operators of elements at one place: of one tensor, of two, of a tensor and a number.

use super::functions::{
    erf, erfc, erfinv, floor_integer, floor_quotient, gelu, gelu_tanh, hard_sigmoid, larger,
    log_sigmoid, mish, modulo, modulo_integer, power_integer, sigmoid, sign, smaller, softplus,
    x_log_y,
};
use crate::parameters::{In, InPlace, Input, Optional, Output, Scalar, Written};
use softacl_base::call::Call;
use softacl_base::call_wide::HostNumber;
use softacl_base::code::Outcome;
use softacl_base::data_type::DataType;
use softacl_base::formula::{Formula, float, number, truth};
use softacl_base::operand::Operand;
use softacl_base::status::refuse;

/// A tensor with a number; the number has the type of the computation.
fn with(
    call: &mut Call,
    x: &Operand,
    scalar: Scalar,
    out: &Operand,
    formula: impl FnOnce(HostNumber) -> Formula<1>,
) -> Outcome {
    let given = call.scalar_as_computed(scalar, &[x])?;
    call.each(suited(formula(given), &[given]), [x], out)
}

/// A number with a fraction makes the computation one of fractions.
fn suited<const N: usize>(formula: Formula<N>, given: &[HostNumber]) -> Formula<N> {
    match given.iter().any(|it| it.is_float) {
        true => formula.in_fractions(),
        false => formula,
    }
}

macro_rules! unary {
    ($($name:ident $in_place:ident = $formula:expr;)*) => { operators! {$(
        $name $in_place |call, x: Input => out| call.each($formula, [&x], &out);
    )*} };
}

unary! {
    aclnnAbs aclnnInplaceAbs = number(|[x]| x.abs(), |[x]| x.wrapping_abs());
    aclnnAcos aclnnInplaceAcos = float(|[x]| x.acos());
    aclnnAcosh aclnnInplaceAcosh = float(|[x]| x.acosh());
    aclnnAsin aclnnInplaceAsin = float(|[x]| x.asin());
    aclnnAsinh aclnnInplaceAsinh = float(|[x]| x.asinh());
    aclnnAtan aclnnInplaceAtan = float(|[x]| x.atan());
    aclnnAtanh aclnnInplaceAtanh = float(|[x]| x.atanh());
    aclnnCeil aclnnInplaceCeil = number(|[x]| x.ceil(), |[x]| x);
    aclnnCos aclnnInplaceCos = float(|[x]| x.cos());
    aclnnCosh aclnnInplaceCosh = float(|[x]| x.cosh());
    aclnnErf aclnnInplaceErf = float(|[x]| erf(x));
    aclnnErfc aclnnInplaceErfc = float(|[x]| erfc(x));
    aclnnErfinv aclnnInplaceErfinv = float(|[x]| erfinv(x));
    aclnnExp aclnnInplaceExp = float(|[x]| x.exp());
    aclnnExp2 aclnnInplaceExp2 = float(|[x]| x.exp2());
    aclnnExpm1 aclnnInplaceExpm1 = float(|[x]| x.exp_m1());
    aclnnFloor aclnnInplaceFloor = number(|[x]| x.floor(), |[x]| x);
    aclnnFrac aclnnInplaceFrac = number(|[x]| x.fract(), |_| 0);
    aclnnHardsigmoid aclnnInplaceHardsigmoid = float(|[x]| hard_sigmoid(x));
    aclnnHardswish aclnnInplaceHardswish = float(|[x]| x * hard_sigmoid(x));
    aclnnLog aclnnInplaceLog = float(|[x]| x.ln());
    aclnnLog10 aclnnInplaceLog10 = float(|[x]| x.log10());
    aclnnLog1p aclnnInplaceLog1p = float(|[x]| x.ln_1p());
    aclnnLog2 aclnnInplaceLog2 = float(|[x]| x.log2());
    aclnnLogSigmoid aclnnInplaceLogSigmoid = float(|[x]| log_sigmoid(x));
    aclnnLogicalNot aclnnInplaceLogicalNot = truth(|[x]| x == 0.0, |[x]| x == 0);
    aclnnMish aclnnInplaceMish = float(|[x]| mish(x));
    aclnnNeg aclnnInplaceNeg = number(|[x]| -x, |[x]| x.wrapping_neg());
    aclnnReciprocal aclnnInplaceReciprocal = float(|[x]| x.recip());
    aclnnRound aclnnInplaceRound = number(|[x]| x.round_ties_even(), |[x]| x);
    aclnnRsqrt aclnnInplaceRsqrt = float(|[x]| x.sqrt().recip());
    aclnnSelu aclnnInplaceSelu = float(|[x]| SELU_SCALE * if x > 0.0 { x } else { SELU_ALPHA * x.exp_m1() });
    aclnnSigmoid aclnnInplaceSigmoid = float(|[x]| sigmoid(x));
    aclnnSign aclnnInplaceSign = number(|[x]| sign(x), |[x]| x.signum());
    aclnnSignbit aclnnInplaceSignbit = truth(|[x]| x.is_sign_negative(), |[x]| x < 0);
    aclnnSilu aclnnInplaceSilu = float(|[x]| x * sigmoid(x));
    aclnnSin aclnnInplaceSin = float(|[x]| x.sin());
    aclnnSinc aclnnInplaceSinc = float(|[x]| if x == 0.0 { 1.0 } else { (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x) });
    aclnnSinh aclnnInplaceSinh = float(|[x]| x.sinh());
    aclnnSqrt aclnnInplaceSqrt = float(|[x]| x.sqrt());
    aclnnTan aclnnInplaceTan = float(|[x]| x.tan());
    aclnnTanh aclnnInplaceTanh = float(|[x]| x.tanh());
    aclnnTrunc aclnnInplaceTrunc = number(|[x]| x.trunc(), |[x]| x);
    aclnnGelu aclnnInplaceGelu = float(|[x]| gelu(x));
    aclnnIsFinite aclnnInplaceIsFinite = truth(|[x]| x.is_finite(), |_| true);
    aclnnIsInf aclnnInplaceIsInf = truth(|[x]| x.is_infinite(), |_| false);
    aclnnIsPosInf aclnnInplaceIsPosInf = truth(|[x]| x == f64::INFINITY, |_| false);
    aclnnIsNegInf aclnnInplaceIsNegInf = truth(|[x]| x == f64::NEG_INFINITY, |_| false);
}

pub(super) const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
pub(super) const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

macro_rules! binary {
    ($($name:ident $in_place:ident = $formula:expr;)*) => { operators! {$(
        $name $in_place |call, a: Input, b: Input => out| call.each($formula, [&a, &b], &out);
    )*} };
}

binary! {
    aclnnAtan2 aclnnInplaceAtan2 = float(|[a, b]| a.atan2(b));
    aclnnBitwiseAndTensor aclnnInplaceBitwiseAndTensor = number(|_| f64::NAN, |[a, b]| a & b);
    aclnnBitwiseAndTensorOut aclnnInplaceBitwiseAndTensorOut = number(|_| f64::NAN, |[a, b]| a & b);
    aclnnBitwiseOrTensor aclnnInplaceBitwiseOrTensor = number(|_| f64::NAN, |[a, b]| a | b);
    aclnnBitwiseXorTensor aclnnInplaceBitwiseXorTensor = number(|_| f64::NAN, |[a, b]| a ^ b);
    aclnnDiv aclnnInplaceDiv = float(|[a, b]| a / b);
    aclnnEqTensor aclnnInplaceEqTensor = truth(|[a, b]| a == b, |[a, b]| a == b);
    aclnnFloorDivide aclnnInplaceFloorDivide = number(|[a, b]| floor_quotient(a, b), |[a, b]| floor_integer(a, b));
    aclnnFmodTensor aclnnInplaceFmodTensor = number(|[a, b]| a % b, |[a, b]| a.checked_rem(b).unwrap_or(0));
    aclnnGcd aclnnInplaceGcd = number(|_| f64::NAN, |[a, b]| greatest_divisor(a, b));
    aclnnGeTensor aclnnInplaceGeTensor = truth(|[a, b]| a >= b, |[a, b]| a >= b);
    aclnnGtTensor aclnnInplaceGtTensor = truth(|[a, b]| a > b, |[a, b]| a > b);
    aclnnLeTensor aclnnInplaceLeTensor = truth(|[a, b]| a <= b, |[a, b]| a <= b);
    aclnnLtTensor aclnnInplaceLtTensor = truth(|[a, b]| a < b, |[a, b]| a < b);
    aclnnLessTensor aclnnInplaceLessTensor = truth(|[a, b]| a < b, |[a, b]| a < b);
    aclnnLogAddExp aclnnInplaceLogAddExp = float(|[a, b]| if a == b { a + std::f64::consts::LN_2 } else { a.max(b) + (-(a - b).abs()).exp().ln_1p() });
    aclnnLogAddExp2 aclnnInplaceLogAddExp2 = float(|[a, b]| if a == b { a + 1.0 } else { a.max(b) + (-(a - b).abs()).exp2().ln_1p() / std::f64::consts::LN_2 });
    aclnnLogicalAnd aclnnInplaceLogicalAnd = truth(|[a, b]| a != 0.0 && b != 0.0, |[a, b]| a != 0 && b != 0);
    aclnnLogicalOr aclnnInplaceLogicalOr = truth(|[a, b]| a != 0.0 || b != 0.0, |[a, b]| a != 0 || b != 0);
    aclnnLogicalXor aclnnInplaceLogicalXor = truth(|[a, b]| (a != 0.0) != (b != 0.0), |[a, b]| (a != 0) != (b != 0));
    aclnnMaximum aclnnInplaceMaximum = number(|[a, b]| larger(a, b), |[a, b]| a.max(b));
    aclnnMinimum aclnnInplaceMinimum = number(|[a, b]| smaller(a, b), |[a, b]| a.min(b));
    aclnnClampMinTensor aclnnInplaceClampMinTensor = number(|[a, b]| larger(a, b), |[a, b]| a.max(b));
    aclnnClampMaxTensor aclnnInplaceClampMaxTensor = number(|[a, b]| smaller(a, b), |[a, b]| a.min(b));
    aclnnNeTensor aclnnInplaceNeTensor = truth(|[a, b]| a != b, |[a, b]| a != b);
    aclnnPowTensorTensor aclnnInplacePowTensorTensor = number(|[a, b]| a.powf(b), |[a, b]| power_integer(a, b));
    aclnnRemainderTensorTensor aclnnInplaceRemainderTensorTensor = number(|[a, b]| modulo(a, b), |[a, b]| modulo_integer(a, b));
    aclnnXLogYTensor aclnnInplaceXLogYTensor = float(|[a, b]| x_log_y(a, b));
}

/// A tensor and a number, which is `s` in the formula.
macro_rules! scaled {
    ($($name:ident $in_place:ident = |$s:ident| $formula:expr;)*) => { operators! {$(
        $name $in_place |call, x: Input, scalar: Scalar => out| with(call, &x, scalar, &out, |$s| $formula);
    )*} };
}

scaled! {
    aclnnBitwiseAndScalar aclnnInplaceBitwiseAndScalar = |s| number(|_| f64::NAN, move |[x]| x & s.integer);
    aclnnBitwiseOrScalar aclnnInplaceBitwiseOrScalar = |s| number(|_| f64::NAN, move |[x]| x | s.integer);
    aclnnBitwiseXorScalar aclnnInplaceBitwiseXorScalar = |s| number(|_| f64::NAN, move |[x]| x ^ s.integer);
    aclnnCelu aclnnInplaceCelu = |s| float(move |[x]| if x > 0.0 { x } else { s.float * (x / s.float).exp_m1() });
    aclnnClampMax aclnnInplaceClampMax = |s| number(move |[x]| smaller(x, s.float), move |[x]| x.min(s.integer));
    aclnnClampMin aclnnInplaceClampMin = |s| number(move |[x]| larger(x, s.float), move |[x]| x.max(s.integer));
    aclnnDivs aclnnInplaceDivs = |s| float(move |[x]| x / s.float);
    aclnnFloorDivides aclnnInplaceFloorDivides = |s| number(move |[x]| floor_quotient(x, s.float), move |[x]| floor_integer(x, s.integer));
    aclnnFmodScalar aclnnInplaceFmodScalar = |s| number(move |[x]| x % s.float, move |[x]| x.checked_rem(s.integer).unwrap_or(0));
    aclnnHardshrink aclnnInplaceHardshrink = |s| float(move |[x]| if x.abs() <= s.float { 0.0 } else { x });
    aclnnLeakyRelu aclnnInplaceLeakyRelu = |s| float(move |[x]| if x > 0.0 { x } else { x * s.float });
    aclnnPowTensorScalar aclnnInplacePowTensorScalar = |s| number(move |[x]| x.powf(s.float), move |[x]| power_integer(x, s.integer));
    aclnnRemainderTensorScalar aclnnInplaceRemainderTensorScalar = |s| number(move |[x]| modulo(x, s.float), move |[x]| modulo_integer(x, s.integer));
    aclnnSoftshrink aclnnInplaceSoftshrink = |s| float(move |[x]| if x > s.float { x - s.float } else if x < -s.float { x + s.float } else { x * 0.0 });
    aclnnXLogYScalarOther aclnnInplaceXLogYScalarOther = |s| float(move |[x]| x_log_y(x, s.float));
}

/// Comparisons with a number, which is rounded to the tensor's type first.
macro_rules! compared {
    ($($name:ident $in_place:ident = $operator:tt;)*) => { operators! {$(
        $name $in_place |call, x: Input, scalar: Scalar => out| {
            let s = call.compared(scalar, &[&x])?;
            call.each(suited(truth(move |[x]| x $operator s.float, move |[x]| x $operator s.integer), &[s]), [&x], &out)
        };
    )*} };
}

compared! {
    aclnnEqScalar aclnnInplaceEqScalar = ==;
    aclnnGeScalar aclnnInplaceGeScalar = >=;
    aclnnGtScalar aclnnInplaceGtScalar = >;
    aclnnLeScalar aclnnInplaceLeScalar = <=;
    aclnnLtScalar aclnnInplaceLtScalar = <;
    aclnnLessScalar aclnnInplaceLessScalar = <;
    aclnnNeScalar aclnnInplaceNeScalar = !=;
}

/// The difference, the second one by a factor.
fn difference(call: &mut Call, a: &Operand, b: &Operand, alpha: Scalar, out: &Operand) -> Outcome {
    let alpha = call.scalar_as_computed(alpha, &[a, b])?;
    let formula = number(
        move |[a, b]| a - b * alpha.float,
        move |[a, b]: [i64; 2]| a.wrapping_sub(b.wrapping_mul(alpha.integer)),
    );
    call.each(formula, [a, b], out)
}

/// A tensor minus a multiple of a number, or the other way round with a sign of -1.
fn difference_of(
    call: &mut Call,
    x: &Operand,
    [scalar, alpha]: [Scalar; 2],
    out: &Operand,
) -> Outcome {
    let [s, alpha] = call.scalars_as_computed([scalar, alpha], &[x])?;
    let (float, integer) = (s.float * alpha.float, s.integer.wrapping_mul(alpha.integer));
    let formula = number(
        move |[x]| x - float,
        move |[x]: [i64; 1]| x.wrapping_sub(integer),
    );
    call.each(suited(formula, &[s]), [x], out)
}

operators! {
    aclnnSub aclnnInplaceSub |call, a: Input, b: Input, alpha: Scalar => out| difference(call, &a, &b, alpha, &out);
    aclnnRsub |call, a: Input, b: Input, alpha: Scalar, out: Output| difference(call, &b, &a, alpha, &out);
    aclnnSubs aclnnInplaceSubs |call, x: Input, scalar: Scalar, alpha: Scalar => out| {
        difference_of(call, &x, [scalar, alpha], &out)
    };
    aclnnRsubs |call, x: Input, scalar: Scalar, alpha: Scalar, out: Output| {
        let [s, alpha] = call.scalars_as_computed([scalar, alpha], &[&x])?;
        let formula = number(
            move |[x]| s.float - x * alpha.float,
            move |[x]: [i64; 1]| s.integer.wrapping_sub(x.wrapping_mul(alpha.integer)),
        );
        call.each(suited(formula, &[s]), [&x], &out)
    };
    aclnnAddRelu |call, a: Input, b: Input, alpha: Scalar, out: Output| {
        let alpha = call.scalar_as_computed(alpha, &[&a, &b])?;
        let formula = number(
            move |[a, b]| larger(a + b * alpha.float, 0.0),
            move |[a, b]: [i64; 2]| a.wrapping_add(b.wrapping_mul(alpha.integer)).max(0),
        );
        call.each(formula, [&a, &b], &out)
    };
    aclnnAddV3 |call, scalar: Scalar, x: Input, alpha: Scalar, out: Output| {
        let [s, alpha] = call.scalars_as_computed([scalar, alpha], &[&x])?;
        let formula = number(
            move |[x]| s.float + x * alpha.float,
            move |[x]: [i64; 1]| s.integer.wrapping_add(x.wrapping_mul(alpha.integer)),
        );
        call.each(suited(formula, &[s]), [&x], &out)
    };
    // Both have formulas of complex numbers (`softacl_base::complex`), where their outputs have them.
    aclnnComplex |call, _real: In, _imaginary: In, out: Written| complex_only(call, out);
    aclnnPolar |call, _length: In, _angle: In, out: Written| complex_only(call, out);
    aclnnLeftShift |call, x: Input, bits: Input, out: Output| {
        call.each(number(|_| f64::NAN, |[x, bits]| shifted_left(x, bits)), [&x, &bits], &out)
    };
    aclnnLeftShifts |call, x: Input, bits: Scalar, out: Output| {
        with(call, &x, bits, &out, |s| number(|_| f64::NAN, move |[x]| shifted_left(x, s.integer)))
    };
    aclnnRightShift |call, x: Input, bits: Input, out: Output| {
        call.each(number(|_| f64::NAN, |[x, bits]| shifted_right(x, bits)), [&x, &bits], &out)
    };
    aclnnBitwiseNot |call, x: Input, out: Output| {
        let is_truth = x.view.kind == DataType::Bool;
        let formula = number(|_| f64::NAN, move |[x]| if is_truth { i64::from(x == 0) } else { !x });
        call.each(formula, [&x], &out)
    };
    aclnnDivMod aclnnInplaceDivMod |call, a: Input, b: Input, mode: i32 => out| call.each(quotient(mode), [&a, &b], &out);
    aclnnDivMods aclnnInplaceDivMods |call, x: Input, scalar: Scalar, mode: i32 => out| {
        with(call, &x, scalar, &out, |s| quotient_by(mode, s))
    };
    aclnnPowScalarTensor |call, scalar: Scalar, x: Input, out: Output| with(call, &x, scalar, &out, |s| {
        number(move |[x]| s.float.powf(x), move |[x]| power_integer(s.integer, x))
    });
    aclnnRemainderScalarTensor |call, scalar: Scalar, x: Input, out: Output| with(call, &x, scalar, &out, |s| {
        number(move |[x]| modulo(s.float, x), move |[x]| modulo_integer(s.integer, x))
    });
    aclnnXLogYScalarSelf |call, scalar: Scalar, x: Input, out: Output| with(call, &x, scalar, &out, |s| {
        float(move |[x]| x_log_y(s.float, x))
    });
    aclnnAngleV2 |call, x: Input, out: Output| {
        let formula = float(|[x]| if x.is_nan() { x } else if x < 0.0 { std::f64::consts::PI } else { 0.0 });
        call.each(formula, [&x], &out)
    };
    aclnnClamp |call, x: Input, least: Scalar, most: Scalar, out: Output| {
        let (least, most) = (call.maybe(least, &[&x])?, call.maybe(most, &[&x])?);
        let given: Vec<HostNumber> = least.into_iter().chain(most).collect();
        let formula = number(
            move |[x]| {
                let x = least.map_or(x, |least| larger(x, least.float));
                most.map_or(x, |most| smaller(x, most.float))
            },
            move |[x]| {
                let x = least.map_or(x, |least| x.max(least.integer));
                most.map_or(x, |most| x.min(most.integer))
            },
        );
        call.each(suited(formula, &given), [&x], &out)
    };
    aclnnClampTensor |call, x: Input, least: Optional, most: Optional, out: Output| {
        let above = number(|[x, least]| larger(x, least), |[x, least]: [i64; 2]| x.max(least));
        let below = number(|[x, most]| smaller(x, most), |[x, most]: [i64; 2]| x.min(most));
        match (least, most) {
            (Some(least), Some(most)) => {
                let formula = number(
                    |[x, least, most]| smaller(larger(x, least), most),
                    |[x, least, most]: [i64; 3]| x.max(least).min(most),
                );
                call.each(formula, [&x, &least, &most], &out)
            }
            (Some(least), None) => call.each(above, [&x, &least], &out),
            (None, Some(most)) => call.each(below, [&x, &most], &out),
            (None, None) => softacl_base::status::null("a clamp has no bound"),
        }
    };
    aclnnHardtanh aclnnInplaceHardtanh |call, x: Input, least: Scalar, most: Scalar => out| {
        hard_tanh(call, &x, [least, most], &out)
    };
    aclnnElu aclnnInplaceElu |call, x: Input, alpha: Scalar, scale: Scalar, input_scale: Scalar => out| {
        elu(call, &x, [alpha, scale, input_scale], &out)
    };
    aclnnSoftplus |call, x: Input, beta: Scalar, threshold: Scalar, out: Output| {
        let [beta, threshold] = call.scalars_as_computed([beta, threshold], &[&x])?;
        let formula = float(move |[x]| {
            let scaled = x * beta.float;
            if scaled > threshold.float { x } else { softplus(scaled) / beta.float }
        });
        call.each(formula, [&x], &out)
    };
    aclnnThreshold aclnnInplaceThreshold |call, x: Input, threshold: Scalar, value: Scalar => out| {
        over_threshold(call, &x, [threshold, value], &out)
    };
    aclnnGeluV2 |call, x: Input, approximation: i64, out: Output| {
        call.each(float(move |[x]| if approximation == 1 { gelu_tanh(x) } else { gelu(x) }), [&x], &out)
    };
    aclnnLogit |call, x: Input, eps: f64, out: Output| call.each(float(move |[x]| {
        // The bounds cross above a half, and the first one wins then.
        let x = match eps >= 0.0 {
            true if x < eps => eps,
            true if x > 1.0 - eps => 1.0 - eps,
            _ => x,
        };
        (x / (1.0 - x)).ln()
    }), [&x], &out);
    aclnnNanToNum aclnnInplaceNanToNum |call, x: Input, nan: f32, above: f32, below: f32 => out| {
        call.each(finite([nan, above, below]), [&x], &out)
    };
    aclnnRoundDecimals aclnnInplaceRoundDecimals |call, x: Input, decimals: i64 => out| call.each(rounded(decimals), [&x], &out);
    aclnnPrelu |call, x: Input, weight: Input, out: Output| {
        let weight = along_channels(&weight, &x);
        call.each(float(|[x, weight]| if x > 0.0 { x } else { x * weight }), [&x, &weight], &out)
    };
    aclnnAddcdiv aclnnInplaceAddcdiv |call, x: Input, a: Input, b: Input, value: Scalar => out| {
        quotient_added(call, [&x, &a, &b], value, &out)
    };
    aclnnAddcmul aclnnInplaceAddcmul |call, x: Input, a: Input, b: Input, value: Scalar => out| {
        product_added(call, [&x, &a, &b], value, &out)
    };
    aclnnLerp aclnnInplaceLerp |call, x: Input, end: Input, weight: Input => out| {
        call.each(float(|[x, end, weight]| between(x, end, weight)), [&x, &end, &weight], &out)
    };
    aclnnLerps aclnnInplaceLerps |call, x: Input, end: Input, weight: Scalar => out| {
        let weight = call.scalar_as_computed(weight, &[&x])?.float;
        call.each(float(move |[x, end]| between(x, end, weight)), [&x, &end], &out)
    };
    aclnnSWhere |call, condition: Input, a: Input, b: Input, out: Output| call.each(chosen(), [&condition, &a, &b], &out);
    aclnnWhere |call, condition: Input, a: Input, b: Input, out: Output| call.each(chosen(), [&condition, &a, &b], &out);
    aclnnIsClose |call, a: Input, b: Input, relative: f64, absolute: f64, equal_nan: bool, out: Output| {
        call.each(truth(
            move |[a, b]| {
                let both_nan = equal_nan && a.is_nan() && b.is_nan();
                let near = (a - b).abs() <= absolute + relative * b.abs();
                both_nan || a == b || (near && a.is_finite() && b.is_finite())
            },
            move |[a, b]| ((a - b).abs() as f64) <= absolute + relative * (b as f64).abs(),
        ), [&a, &b], &out)
    };
    aclnnInplaceFillTensor |call, x: Output, value: Input| {
        call.each(number(|[value]| value, |[value]| value), [&value], &x)
    };
    aclnnInplaceMaskedFillScalar |call, x: InPlace, mask: Input, value: Scalar| {
        let value = call.scalar_as_computed(value, &[&x])?;
        let formula = number(
            move |[x, mask]| if mask != 0.0 { value.float } else { x },
            move |[x, mask]| if mask != 0 { value.integer } else { x },
        );
        call.each(formula, [&x, &mask], &x)
    };
    aclnnInplaceMaskedFillTensor |call, x: InPlace, mask: Input, value: Input| {
        let formula = number(
            |[x, mask, value]| if mask != 0.0 { value } else { x },
            |[x, mask, value]| if mask != 0 { value } else { x },
        );
        call.each(formula, [&x, &mask, &value], &x)
    };
}

/// Refuses an output of real numbers. One of complex numbers is met here, and gets them by a formula.
fn complex_only(call: &mut Call, out: Written) -> Outcome {
    call.output(out)?;
    refuse("the output is not complex")
}

/// A quotient that is rounded: 1 towards zero, 2 down.
fn quotient(mode: i32) -> Formula<2> {
    match mode {
        1 => number(
            |[a, b]| (a / b).trunc(),
            |[a, b]| a.checked_div(b).unwrap_or(0),
        ),
        2 => number(|[a, b]| floor_quotient(a, b), |[a, b]| floor_integer(a, b)),
        _ => float(|[a, b]| a / b),
    }
}

fn quotient_by(mode: i32, s: HostNumber) -> Formula<1> {
    match mode {
        1 => number(
            move |[x]| (x / s.float).trunc(),
            move |[x]| x.checked_div(s.integer).unwrap_or(0),
        ),
        2 => number(
            move |[x]| floor_quotient(x, s.float),
            move |[x]| floor_integer(x, s.integer),
        ),
        _ => float(move |[x]| x / s.float),
    }
}

/// No bit of the number is left behind its width.
fn shifted_left(x: i64, bits: i64) -> i64 {
    u32::try_from(bits)
        .ok()
        .and_then(|bits| x.checked_shl(bits))
        .unwrap_or(0)
}

/// The sign fills the bits from above.
fn shifted_right(x: i64, bits: i64) -> i64 {
    let most = i64::BITS - 1;
    x >> u32::try_from(bits).unwrap_or(most).min(most)
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.wrapping_abs(), b.wrapping_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn hard_tanh(call: &mut Call, x: &Operand, [least, most]: [Scalar; 2], out: &Operand) -> Outcome {
    let [least, most] = call.scalars_as_computed([least, most], &[x])?;
    let formula = number(
        move |[x]| smaller(larger(x, least.float), most.float),
        move |[x]| x.max(least.integer).min(most.integer),
    );
    call.each(formula, [x], out)
}

fn elu(call: &mut Call, x: &Operand, scalars: [Scalar; 3], out: &Operand) -> Outcome {
    let scalars = call.scalars_as_computed(scalars, &[x])?;
    let [alpha, scale, inner] = scalars.map(|it| it.float);
    let formula = float(move |[x]| match x > 0.0 {
        true => x * scale,
        false => alpha * scale * (x * inner).exp_m1(),
    });
    call.each(formula, [x], out)
}

fn over_threshold(call: &mut Call, x: &Operand, scalars: [Scalar; 2], out: &Operand) -> Outcome {
    let [threshold, value] = call.scalars_as_computed(scalars, &[x])?;
    let formula = number(
        move |[x]| if x <= threshold.float { value.float } else { x },
        move |[x]| match x <= threshold.integer {
            true => value.integer,
            false => x,
        },
    );
    call.each(formula, [x], out)
}

fn finite(given: [f32; 3]) -> Formula<1> {
    let [nan, above, below] = given.map(f64::from);
    let float = move |[x]: [f64; 1]| match x {
        x if x.is_nan() => nan,
        f64::INFINITY => above,
        f64::NEG_INFINITY => below,
        x => x,
    };
    number(float, |[x]| x)
}

fn rounded(decimals: i64) -> Formula<1> {
    let factor = 10_f64.powi(decimals.unsigned_abs().min(300) as i32);
    let float = move |[x]: [f64; 1]| match decimals >= 0 {
        true => (x * factor).round_ties_even() / factor,
        false => (x / factor).round_ties_even() * factor,
    };
    number(float, |[x]| x)
}

/// A vector with an element per channel, seen so that it broadcasts to a tensor with channels behind the batch.
pub(super) fn along_channels(vector: &Operand, x: &Operand) -> Operand {
    let mut view = vector.view.clone();
    if view.shape.len() == 1 && x.rank() == 0 {
        (view.shape, view.strides) = Default::default();
    } else if view.shape.len() == 1 {
        for _ in 2..x.rank() {
            let last = view.shape.len();
            view = view.with_dimension(last);
        }
    }
    vector.seen(view)
}

fn quotient_added(call: &mut Call, inputs: [&Operand; 3], value: Scalar, out: &Operand) -> Outcome {
    let value = call.scalar_as_computed(value, &inputs)?.float;
    call.each(float(move |[x, a, b]| x + value * (a / b)), inputs, out)
}

fn product_added(call: &mut Call, inputs: [&Operand; 3], value: Scalar, out: &Operand) -> Outcome {
    let value = call.scalar_as_computed(value, &inputs)?;
    let formula = number(
        move |[x, a, b]| x + value.float * a * b,
        move |[x, a, b]: [i64; 3]| x.wrapping_add(value.integer.wrapping_mul(a).wrapping_mul(b)),
    );
    call.each(formula, inputs, out)
}

/// From one number to another by a weight; exact at both ends.
pub(super) fn between(from: f64, to: f64, weight: f64) -> f64 {
    if weight.abs() < 0.5 {
        from + weight * (to - from)
    } else {
        to - (to - from) * (1.0 - weight)
    }
}

fn chosen() -> Formula<3> {
    number(
        |[condition, a, b]| if condition != 0.0 { a } else { b },
        |[condition, a, b]| if condition != 0 { a } else { b },
    )
}
