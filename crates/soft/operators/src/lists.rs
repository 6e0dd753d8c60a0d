//! Operators of lists of tensors: one task for all of them, as on a device.

use super::functions::{erf, erfc, larger, sigmoid, sign, smaller};
use super::maps::between;
use crate::parameters::{InPlace, Input, Inputs, Outputs, Scalar, TensorList};
use softacl_base::call::Call;
use softacl_base::call_wide::HostNumber;
use softacl_base::code::Outcome;
use softacl_base::data_type::DataType;
use softacl_base::formula::{Formula, float, number};
use softacl_base::objects;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

use Column::Tensors;

/// An operand of a formula: for each place of the lists the elements of a tensor, or a number.
enum Column {
    Tensors(Vec<Operand>),
    /// From the host: the same for all, or one each.
    Numbers(Vec<HostNumber>),
    /// One element of a tensor for all, or one element each.
    Element(Operand),
    Elements(Operand),
}

impl Column {
    fn number(call: &Call, scalar: Scalar) -> Outcome<Self> {
        Ok(Self::Numbers(vec![HostNumber::from(call.scalar(scalar)?)]))
    }

    fn numbers(call: &Call, list: TensorList) -> Outcome<Self> {
        let scalars = objects::scalars(list)?.into_iter();
        let given = scalars.map(|it| call.scalar(it).map(HostNumber::from));
        Ok(Self::Numbers(given.collect::<Outcome<_>>()?))
    }

    fn element(tensor: Operand) -> Outcome<Self> {
        require(tensor.elements() == 1, "the factor is not one element")?;
        Ok(Self::Element(without_dimensions(tensor)))
    }

    /// The operand at a place, as a tensor that broadcasts.
    fn operand(&self, call: &mut Call, index: usize) -> Outcome<Operand> {
        let given = match self {
            Self::Tensors(tensors) => {
                let at = tensors.get(index).cloned();
                return at.map_or_else(|| refuse("a list is shorter than the output's"), Ok);
            }
            Self::Element(tensor) => return Ok(tensor.clone()),
            Self::Elements(tensor) => {
                let one = tensor.view.part(0, index, 1);
                return Ok(without_dimensions(tensor.seen(one)));
            }
            Self::Numbers(given) => given[index.min(given.len() - 1)],
        };
        let kind = match given.is_float {
            true => DataType::F64,
            false => DataType::I64,
        };
        let one = call.temporary(kind, &[]);
        let formula = number(move |[]| given.float, move |[]| given.integer);
        call.each(formula, [], &one)?;
        Ok(one)
    }
}

fn without_dimensions(mut tensor: Operand) -> Operand {
    (tensor.view.shape, tensor.view.strides) = (Vec::new(), Vec::new());
    tensor
}

/// Each output from the operands at the same place of some columns.
fn all<const N: usize>(
    call: &mut Call,
    columns: [Column; N],
    outputs: Vec<Operand>,
    formula: &Formula<N>,
) -> Outcome {
    let begin = call.mark();
    for (index, out) in outputs.iter().enumerate() {
        let mut row = Vec::with_capacity(N);
        for column in &columns {
            row.push(column.operand(call, index)?);
        }
        if let Ok(row) = <&[Operand; N]>::try_from(&row[..]) {
            call.each(formula.clone(), row.each_ref(), out)?;
        }
    }
    call.join(begin);
    Ok(())
}

macro_rules! unary {
    ($($name:ident = $formula:expr;)*) => { operators! {$(
        $name |call, x: Inputs, out: Outputs| all(call, [Tensors(x)], out, &$formula);
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
        $list |call, a: Inputs, b: Inputs, out: Outputs| all(call, [Tensors(a), Tensors(b)], out, &$formula);
        $tensor |call, x: Inputs, factor: Input, out: Outputs| all(call, [Tensors(x), Column::element(factor)?], out, &$formula);
        $scalar |call, x: Inputs, factor: Scalar, out: Outputs| all(call, [Tensors(x), Column::number(call, factor)?], out, &$formula);
        $scalars |call, x: Inputs, factors: TensorList, out: Outputs| all(call, [Tensors(x), Column::numbers(call, factors)?], out, &$formula);
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
        $list |call, a: Inputs, b: Inputs, factor: Input, out: Outputs| {
            all(call, [Tensors(a), Tensors(b), Column::element(factor)?], out, &$by)
        };
        $list_v2 |call, a: Inputs, b: Inputs, factor: Scalar, out: Outputs| {
            all(call, [Tensors(a), Tensors(b), Column::number(call, factor)?], out, &$by)
        };
        $tensor |call, x: Inputs, factor: Input, out: Outputs| all(call, [Tensors(x), Column::element(factor)?], out, &$formula);
        $scalar |call, x: Inputs, factor: Scalar, out: Outputs| all(call, [Tensors(x), Column::number(call, factor)?], out, &$formula);
        $scalars |call, x: Inputs, factors: TensorList, out: Outputs| all(call, [Tensors(x), Column::numbers(call, factors)?], out, &$formula);
    )*} };
}

sums! {
    aclnnForeachAddList aclnnForeachAddListV2 aclnnForeachAddScalar aclnnForeachAddScalarV2 aclnnForeachAddScalarList = sum_by(), sum();
    aclnnForeachSubList aclnnForeachSubListV2 aclnnForeachSubScalar aclnnForeachSubScalarV2 aclnnForeachSubScalarList = difference_by(), difference();
}

/// A list plus a factor times something of two others.
macro_rules! added {
    ($($tensor:ident $scalar:ident $scalars:ident $list:ident = $formula:expr;)*) => { operators! {$(
        $tensor |call, x: Inputs, a: Inputs, b: Inputs, factor: Input, out: Outputs| {
            all(call, [Tensors(x), Tensors(a), Tensors(b), Column::element(factor)?], out, &$formula)
        };
        $scalar |call, x: Inputs, a: Inputs, b: Inputs, factor: Scalar, out: Outputs| {
            all(call, [Tensors(x), Tensors(a), Tensors(b), Column::number(call, factor)?], out, &$formula)
        };
        $scalars |call, x: Inputs, a: Inputs, b: Inputs, factors: TensorList, out: Outputs| {
            all(call, [Tensors(x), Tensors(a), Tensors(b), Column::numbers(call, factors)?], out, &$formula)
        };
        $list |call, x: Inputs, a: Inputs, b: Inputs, factors: Input, out: Outputs| {
            all(call, [Tensors(x), Tensors(a), Tensors(b), Column::Elements(factors)], out, &$formula)
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
    aclnnForeachLerpScalar |call, a: Inputs, b: Inputs, weight: Scalar, out: Outputs| {
        let weight = Column::number(call, weight)?;
        all(call, [Tensors(a), Tensors(b), weight], out, &float(|[a, b, weight]| between(a, b, weight)))
    };
    aclnnForeachLerpList |call, a: Inputs, b: Inputs, weights: Inputs, out: Outputs| {
        let lists = [a, b, weights].map(Tensors);
        all(call, lists, out, &float(|[a, b, weight]| between(a, b, weight)))
    };
    aclnnForeachPowScalarAndTensor |call, base: Scalar, x: Inputs, out: Outputs| {
        let base = Column::number(call, base)?;
        all(call, [Tensors(x), base], out, &float(|[x, base]| base.powf(x)))
    };
    aclnnForeachRoundOffNumber |call, x: Inputs, mode: Input, out: Outputs| {
        all(call, [Tensors(x), Column::element(mode)?], out, &rounded())
    };
    aclnnForeachRoundOffNumberV2 |call, x: Inputs, mode: Scalar, out: Outputs| {
        all(call, [Tensors(x), Column::number(call, mode)?], out, &rounded())
    };
    aclnnForeachZeroInplace |call, x: Outputs| all(call, [], x, &number(|[]| 0.0, |[]| 0));
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
    aclnnForeachNonFiniteCheckAndUnscale |call, x: TensorList, found: InPlace, scale: Input| {
        let tensors: Vec<Operand> = objects::tensors(x)?.into_iter().map(|it| call.in_place(it)).collect::<Outcome<_>>()?;
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
