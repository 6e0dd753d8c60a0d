//! Operators of lists of tensors: one task for all of them, as on a device.

use super::TensorList;
use super::functions::{erf, erfc, larger, sigmoid, sign, smaller};
use super::maps::between;
use crate::aclnn::arrays;
use crate::aclnn::call::Call;
use crate::aclnn::call_wide::HostNumber;
use crate::aclnn::data_type::DataType;
use crate::aclnn::formula::{Formula, float, number};
use crate::aclnn::operand::Operand;
use crate::aclnn::operators::{In, Scalar, Written};
use crate::aclnn::status::require;
use crate::code::Outcome;

/// The other operand of each tensor's elements, in addition to those of other lists.
enum ListFactor {
    /// The same for all, or one each, from the host.
    Scalars(Vec<HostNumber>),
    /// One element of a tensor for all.
    Tensor(Operand),
}

impl ListFactor {
    fn scalar(call: &Call, scalar: Scalar) -> Outcome<Self> {
        Ok(Self::Scalars(vec![HostNumber::from(call.scalar(scalar)?)]))
    }

    fn scalars(call: &Call, list: TensorList) -> Outcome<Self> {
        let scalars = arrays::scalars(list)?;
        let given = scalars
            .into_iter()
            .map(|it| call.scalar(it).map(HostNumber::from));
        Ok(Self::Scalars(given.collect::<Outcome<_>>()?))
    }

    fn tensor(call: &mut Call, tensor: In) -> Outcome<Self> {
        let tensor = call.input(tensor)?;
        let mut view = tensor.view.clone();
        require(view.elements() == 1, "the factor is not one element")?;
        (view.shape, view.strides) = (Vec::new(), Vec::new());
        Ok(Self::Tensor(tensor.seen(view)))
    }

    /// The factor of one tensor as a tensor that broadcasts.
    fn operand(&self, call: &mut Call, index: usize) -> Outcome<Operand> {
        let given = match self {
            Self::Tensor(tensor) => return Ok(tensor.clone()),
            Self::Scalars(given) => given[index.min(given.len() - 1)],
        };
        let kind = if given.is_float {
            DataType::F64
        } else {
            DataType::I64
        };
        let one = call.temporary(kind, &[]);
        call.each(
            number(move |[]| given.float, move |[]| given.integer),
            [],
            &one,
        )?;
        Ok(one)
    }
}

/// Each output from the tensors at the same place of some lists.
fn all<const N: usize>(
    call: &mut Call,
    lists: [TensorList; N],
    out: TensorList,
    formula: &Formula<N>,
) -> Outcome {
    let inputs = read(call, lists)?;
    let outputs = call.outputs(out)?;
    let begin = call.mark();
    for (index, out) in outputs.iter().enumerate() {
        let row = place(&inputs, index)?;
        call.each(formula.clone(), row, out)?;
    }
    call.join(begin);
    Ok(())
}

fn read<const N: usize>(call: &mut Call, lists: [TensorList; N]) -> Outcome<[Vec<Operand>; N]> {
    let mut inputs = lists.map(|_| Vec::new());
    for (input, list) in inputs.iter_mut().zip(lists) {
        *input = call.inputs(list)?;
    }
    Ok(inputs)
}

fn place<const N: usize>(inputs: &[Vec<Operand>; N], index: usize) -> Outcome<[&Operand; N]> {
    require(
        inputs.iter().all(|list| index < list.len()),
        "a list is shorter than the output's",
    )?;
    Ok(inputs.each_ref().map(|list| &list[index]))
}

/// As `all` of one, two or three lists, with a factor as the last element.
fn one_with(
    call: &mut Call,
    x: TensorList,
    factor: &ListFactor,
    out: TensorList,
    formula: &Formula<2>,
) -> Outcome {
    let ([x], outputs) = (read(call, [x])?, call.outputs(out)?);
    let begin = call.mark();
    for (index, out) in outputs.iter().enumerate() {
        let [x] = place(std::array::from_ref(&x), index)?;
        let factor = factor.operand(call, index)?;
        call.each(formula.clone(), [x, &factor], out)?;
    }
    call.join(begin);
    Ok(())
}

fn two_with(
    call: &mut Call,
    lists: [TensorList; 2],
    factor: &ListFactor,
    out: TensorList,
    formula: &Formula<3>,
) -> Outcome {
    let (inputs, outputs) = (read(call, lists)?, call.outputs(out)?);
    let begin = call.mark();
    for (index, out) in outputs.iter().enumerate() {
        let [a, b] = place(&inputs, index)?;
        let factor = factor.operand(call, index)?;
        call.each(formula.clone(), [a, b, &factor], out)?;
    }
    call.join(begin);
    Ok(())
}

fn three_with(
    call: &mut Call,
    lists: [TensorList; 3],
    factor: &ListFactor,
    out: TensorList,
    formula: &Formula<4>,
) -> Outcome {
    let (inputs, outputs) = (read(call, lists)?, call.outputs(out)?);
    let begin = call.mark();
    for (index, out) in outputs.iter().enumerate() {
        let [a, b, c] = place(&inputs, index)?;
        let factor = factor.operand(call, index)?;
        call.each(formula.clone(), [a, b, c, &factor], out)?;
    }
    call.join(begin);
    Ok(())
}

macro_rules! unary {
    ($($name:ident = $formula:expr;)*) => { operators! {$(
        $name |call, x: TensorList, out: TensorList| all(call, [x], out, &$formula);
    )*} };
}

unary! {
    aclnnForeachAbs = number(|[x]| x.abs(), |[x]| x.wrapping_abs());
    aclnnForeachAcos = float(|[x]| x.acos());
    aclnnForeachAsin = float(|[x]| x.asin());
    aclnnForeachAtan = float(|[x]| x.atan());
    aclnnForeachCopy = number(|[x]| x, |[x]| x);
    aclnnForeachCos = float(|[x]| x.cos());
    aclnnForeachCosh = float(|[x]| x.cosh());
    aclnnForeachErf = float(|[x]| erf(x));
    aclnnForeachErfc = float(|[x]| erfc(x));
    aclnnForeachExp = float(|[x]| x.exp());
    aclnnForeachExpm1 = float(|[x]| x.exp_m1());
    aclnnForeachLog = float(|[x]| x.ln());
    aclnnForeachLog10 = float(|[x]| x.log10());
    aclnnForeachLog1p = float(|[x]| x.ln_1p());
    aclnnForeachLog2 = float(|[x]| x.log2());
    aclnnForeachNeg = number(|[x]| -x, |[x]| x.wrapping_neg());
    aclnnForeachReciprocal = float(|[x]| x.recip());
    aclnnForeachSigmoid = float(|[x]| sigmoid(x));
    aclnnForeachSign = number(|[x]| sign(x), |[x]| x.signum());
    aclnnForeachSin = float(|[x]| x.sin());
    aclnnForeachSinh = float(|[x]| x.sinh());
    aclnnForeachSqrt = float(|[x]| x.sqrt());
    aclnnForeachTan = float(|[x]| x.tan());
    aclnnForeachTanh = float(|[x]| x.tanh());
}

/// The same with a list of other tensors, with one number in each of its forms, and with a list of numbers.
macro_rules! binary {
    ($($list:ident $tensor:ident $scalar:ident $scalars:ident = $formula:expr;)*) => { operators! {$(
        $list |call, a: TensorList, b: TensorList, out: TensorList| all(call, [a, b], out, &$formula);
        $tensor |call, x: TensorList, factor: In, out: TensorList| {
            let factor = ListFactor::tensor(call, factor)?;
            one_with(call, x, &factor, out, &$formula)
        };
        $scalar |call, x: TensorList, factor: Scalar, out: TensorList| {
            let factor = ListFactor::scalar(call, factor)?;
            one_with(call, x, &factor, out, &$formula)
        };
        $scalars |call, x: TensorList, factors: TensorList, out: TensorList| {
            let factor = ListFactor::scalars(call, factors)?;
            one_with(call, x, &factor, out, &$formula)
        };
    )*} };
}

binary! {
    aclnnForeachMulList aclnnForeachMulScalar aclnnForeachMulScalarV2 aclnnForeachMulScalarList = product();
    aclnnForeachDivList aclnnForeachDivScalar aclnnForeachDivScalarV2 aclnnForeachDivScalarList = float(|[a, b]| a / b);
    aclnnForeachMaximumList aclnnForeachMaximumScalar aclnnForeachMaximumScalarV2 aclnnForeachMaximumScalarList
        = number(|[a, b]| larger(a, b), |[a, b]| a.max(b));
    aclnnForeachMinimumList aclnnForeachMinimumScalar aclnnForeachMinimumScalarV2 aclnnForeachMinimumScalarList
        = number(|[a, b]| smaller(a, b), |[a, b]| a.min(b));
    aclnnForeachPowList aclnnForeachPowScalar aclnnForeachPowScalarV2 aclnnForeachPowScalarList
        = number(|[a, b]| a.powf(b), |[a, b]| super::functions::power_integer(a, b));
}

fn product() -> Formula<2> {
    number(|[a, b]| a * b, |[a, b]: [i64; 2]| a.wrapping_mul(b))
}

fn sum() -> Formula<2> {
    number(|[a, b]| a + b, |[a, b]: [i64; 2]| a.wrapping_add(b))
}

fn difference() -> Formula<2> {
    number(|[a, b]| a - b, |[a, b]: [i64; 2]| a.wrapping_sub(b))
}

/// Plus a multiple of the second one.
fn sum_by() -> Formula<3> {
    number(
        |[a, b, alpha]| a + alpha * b,
        |[a, b, alpha]: [i64; 3]| a.wrapping_add(alpha.wrapping_mul(b)),
    )
}

fn difference_by() -> Formula<3> {
    number(
        |[a, b, alpha]| a - alpha * b,
        |[a, b, alpha]: [i64; 3]| a.wrapping_sub(alpha.wrapping_mul(b)),
    )
}

/// Sums and differences, which have a factor when both are lists.
macro_rules! sums {
    ($($list:ident $list_v2:ident $tensor:ident $scalar:ident $scalars:ident = $by:expr, $formula:expr;)*) => { operators! {$(
        $list |call, a: TensorList, b: TensorList, factor: In, out: TensorList| {
            let factor = ListFactor::tensor(call, factor)?;
            two_with(call, [a, b], &factor, out, &$by)
        };
        $list_v2 |call, a: TensorList, b: TensorList, factor: Scalar, out: TensorList| {
            let factor = ListFactor::scalar(call, factor)?;
            two_with(call, [a, b], &factor, out, &$by)
        };
        $tensor |call, x: TensorList, factor: In, out: TensorList| {
            let factor = ListFactor::tensor(call, factor)?;
            one_with(call, x, &factor, out, &$formula)
        };
        $scalar |call, x: TensorList, factor: Scalar, out: TensorList| {
            let factor = ListFactor::scalar(call, factor)?;
            one_with(call, x, &factor, out, &$formula)
        };
        $scalars |call, x: TensorList, factors: TensorList, out: TensorList| {
            let factor = ListFactor::scalars(call, factors)?;
            one_with(call, x, &factor, out, &$formula)
        };
    )*} };
}

sums! {
    aclnnForeachAddList aclnnForeachAddListV2 aclnnForeachAddScalar aclnnForeachAddScalarV2 aclnnForeachAddScalarList = sum_by(), sum();
    aclnnForeachSubList aclnnForeachSubListV2 aclnnForeachSubScalar aclnnForeachSubScalarV2 aclnnForeachSubScalarList = difference_by(), difference();
}

/// A list plus a factor times something of two others.
macro_rules! added {
    ($($tensor:ident $scalar:ident $scalars:ident $list:ident = $formula:expr;)*) => { operators! {$(
        $tensor |call, x: TensorList, a: TensorList, b: TensorList, factor: In, out: TensorList| {
            let factor = ListFactor::tensor(call, factor)?;
            three_with(call, [x, a, b], &factor, out, &$formula)
        };
        $scalar |call, x: TensorList, a: TensorList, b: TensorList, factor: Scalar, out: TensorList| {
            let factor = ListFactor::scalar(call, factor)?;
            three_with(call, [x, a, b], &factor, out, &$formula)
        };
        $scalars |call, x: TensorList, a: TensorList, b: TensorList, factors: TensorList, out: TensorList| {
            let factor = ListFactor::scalars(call, factors)?;
            three_with(call, [x, a, b], &factor, out, &$formula)
        };
        $list |call, x: TensorList, a: TensorList, b: TensorList, factors: In, out: TensorList| {
            // A factor of each tensor, in one.
            let (inputs, outputs) = (read(call, [x, a, b])?, call.outputs(out)?);
            let factors = call.input(factors)?;
            let begin = call.mark();
            for (index, out) in outputs.iter().enumerate() {
                let [x, a, b] = place(&inputs, index)?;
                let mut one = factors.view.part(0, index, 1);
                (one.shape, one.strides) = (Vec::new(), Vec::new());
                call.each($formula, [x, a, b, &factors.seen(one)], out)?;
            }
            call.join(begin);
            Ok(())
        };
    )*} };
}

added! {
    aclnnForeachAddcdivScalar aclnnForeachAddcdivScalarV2 aclnnForeachAddcdivScalarList aclnnForeachAddcdivList
        = float(|[x, a, b, factor]| x + factor * (a / b));
    aclnnForeachAddcmulScalar aclnnForeachAddcmulScalarV2 aclnnForeachAddcmulScalarList aclnnForeachAddcmulList
        = number(|[x, a, b, factor]| x + factor * a * b, |[x, a, b, factor]: [i64; 4]| x.wrapping_add(factor.wrapping_mul(a).wrapping_mul(b)));
}

operators! {
    aclnnForeachLerpScalar |call, a: TensorList, b: TensorList, weight: Scalar, out: TensorList| {
        let factor = ListFactor::scalar(call, weight)?;
        two_with(call, [a, b], &factor, out, &float(|[a, b, weight]| between(a, b, weight)))
    };
    aclnnForeachLerpList |call, a: TensorList, b: TensorList, weights: TensorList, out: TensorList| {
        all(call, [a, b, weights], out, &float(|[a, b, weight]| between(a, b, weight)))
    };
    aclnnForeachPowScalarAndTensor |call, base: Scalar, x: TensorList, out: TensorList| {
        let factor = ListFactor::scalar(call, base)?;
        one_with(call, x, &factor, out, &float(|[x, base]| base.powf(x)))
    };
    aclnnForeachRoundOffNumber |call, x: TensorList, mode: In, out: TensorList| {
        let factor = ListFactor::tensor(call, mode)?;
        one_with(call, x, &factor, out, &rounded())
    };
    aclnnForeachRoundOffNumberV2 |call, x: TensorList, mode: Scalar, out: TensorList| {
        let factor = ListFactor::scalar(call, mode)?;
        one_with(call, x, &factor, out, &rounded())
    };
    aclnnForeachZeroInplace |call, x: TensorList| {
        let outputs = call.outputs(x)?;
        let begin = call.mark();
        for out in &outputs {
            call.each(number(|[]| 0.0, |[]| 0), [], out)?;
        }
        call.join(begin);
        Ok(())
    };
    aclnnForeachNorm |call, x: TensorList, order: Scalar, out: TensorList| {
        let order = HostNumber::from(call.scalar(order)?).float;
        let (inputs, outputs) = (call.inputs(x)?, call.outputs(out)?);
        let begin = call.mark();
        for (x, out) in inputs.iter().zip(outputs) {
            let along: Vec<usize> = (0..x.rank()).collect();
            call.reduce(x, &along, vec![out], move |row: &[f64], out| out[0] = super::reductions::norm(row, order))?;
        }
        call.join(begin);
        Ok(())
    };
    aclnnForeachNonFiniteCheckAndUnscale |call, x: TensorList, found: Written, scale: In| {
        let scale = call.input(scale)?;
        let found = call.in_place(found)?;
        let tensors: Vec<Operand> = arrays::tensors(x)?.into_iter().map(|it| call.in_place(it)).collect::<Outcome<_>>()?;
        let begin = call.mark();
        for x in tensors {
            call.dense(vec![x.clone(), found.clone(), scale.clone()], vec![x, found.clone()], 0, |values: &[Vec<f64>]| {
                let bad = values[0].iter().any(|it| !it.is_finite());
                let found = if bad { 1.0 } else { values[1][0] };
                let factor = values[2][0];
                vec![values[0].iter().map(|it| it * factor).collect(), vec![found; values[1].len()]]
            })?;
        }
        call.join(begin);
        Ok(())
    };
}

/// 2 rounds down, 3 up, 4 to the nearest, 5 towards zero, 7 leaves the fraction.
fn rounded() -> Formula<2> {
    float(|[x, mode]| match mode as i64 {
        2 => x.floor(),
        3 => x.ceil(),
        5 => x.trunc(),
        7 => x.fract(),
        _ => x.round_ties_even(),
    })
}
