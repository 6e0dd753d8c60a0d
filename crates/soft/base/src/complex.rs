//! Operators on complex numbers. A row of a table is about real numbers. Where it meets a complex tensor or number, this module
//! describes the work instead: by a formula of complex numbers, by the row itself, once for the real parts and once for the
//! imaginary ones, by products of the parts, or by a reduction of both.

mod products;
mod rows;

pub use rows::ComplexRows;

use std::f64::consts::LN_2;
use std::sync::atomic::Ordering;

use num_complex::Complex64 as Complex;

use super::call::{ArgumentRole, Call};
use super::code::Outcome;
use super::data_type::ScalarValue;
use super::number::Number;
use super::objects;
use super::operand::Operand;
use super::runtime::Describe;
use super::status::refuse;
use super::tensor::ComplexPart;
use super::view::broadcast_shape;

const BOTH: [ComplexPart; 2] = [ComplexPart::Real, ComplexPart::Imaginary];

const fn real(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

const ONE: Complex = real(1.0);
const HALF: Complex = real(0.5);
const TWO: Complex = real(2.0);
/// The imaginary unit.
const UNIT: Complex = Complex { re: 0.0, im: 1.0 };

fn number_of(value: ScalarValue) -> Complex {
    match value {
        ScalarValue::Complex(re, im) => Complex { re, im },
        other => real(f64::of(other)),
    }
}

/// Scaled by the larger part of the divisor, so that its square does not overflow.
fn quotient(dividend: Complex, divisor: Complex) -> Complex {
    let larger = divisor.re.abs().max(divisor.im.abs());
    match larger.is_normal() {
        true => dividend.unscale(larger) / divisor.unscale(larger),
        false => dividend / divisor,
    }
}

fn power(base: Complex, exponent: Complex) -> Complex {
    match exponent {
        it if it == Complex::default() => ONE,
        it if it == ONE => base,
        it if it == TWO => base * base,
        it if it == HALF => base.sqrt(),
        _ if base == Complex::default() => base,
        it => base.powc(it),
    }
}

/// `exp(x) - 1` without the loss of digits near zero.
fn exp_m1(x: Complex) -> Complex {
    let half = (x.im / 2.0).sin();
    Complex {
        re: x.re.exp_m1() * x.im.cos() - 2.0 * half * half,
        im: x.re.exp() * x.im.sin(),
    }
}

/// `ln(1 + x)` without the loss of digits near zero.
fn ln_1p(x: Complex) -> Complex {
    Complex {
        re: (x.re * (2.0 + x.re) + x.im * x.im).ln_1p() / 2.0,
        im: x.im.atan2(1.0 + x.re),
    }
}

fn sigmoid(x: Complex) -> Complex {
    quotient(ONE, ONE + (-x).exp())
}

/// The number of length 1 in the same direction.
fn sign(x: Complex) -> Complex {
    match x.norm() {
        0.0 => x,
        length => x.unscale(length),
    }
}

fn sinc(x: Complex) -> Complex {
    match x * std::f64::consts::PI {
        it if it == Complex::default() => ONE,
        it => quotient(it.sin(), it),
    }
}

fn truth(holds: bool) -> Complex {
    real(f64::from(u8::from(holds)))
}

fn holds(x: Complex) -> bool {
    x != Complex::default()
}

/// A result of the elements at one place, and of numbers, in the order of the parameters.
type ComplexFormula = fn(&[Complex]) -> Complex;

/// Operators by their name without `Inplace`. The last parameter of the others is the output; it is not among the numbers.
const FORMULAS: &[(&str, ComplexFormula)] = &[
    ("aclnnAbs", |x| real(x[0].norm())),
    ("aclnnAcos", |x| x[0].acos()),
    ("aclnnAcosh", |x| x[0].acosh()),
    ("aclnnAdd", |x| x[0] + x[2] * x[1]),
    ("aclnnAdds", |x| x[0] + x[2] * x[1]),
    ("aclnnAddcdiv", |x| x[0] + quotient(x[3] * x[1], x[2])),
    ("aclnnAddcmul", |x| x[0] + x[3] * x[1] * x[2]),
    ("aclnnAngleV2", |x| real(x[0].arg())),
    ("aclnnAsin", |x| x[0].asin()),
    ("aclnnAsinh", |x| x[0].asinh()),
    ("aclnnAtan", |x| x[0].atan()),
    ("aclnnAtanh", |x| x[0].atanh()),
    ("aclnnCast", |x| x[0]),
    ("aclnnComplex", |x| Complex {
        re: x[0].re,
        im: x[1].re,
    }),
    ("aclnnCos", |x| x[0].cos()),
    ("aclnnCosh", |x| x[0].cosh()),
    ("aclnnDiv", |x| quotient(x[0], x[1])),
    ("aclnnDivs", |x| quotient(x[0], x[1])),
    ("aclnnEqScalar", |x| truth(x[0] == x[1])),
    ("aclnnEqTensor", |x| truth(x[0] == x[1])),
    ("aclnnExp", |x| x[0].exp()),
    ("aclnnExp2", |x| (x[0] * LN_2).exp()),
    ("aclnnExpm1", |x| exp_m1(x[0])),
    ("aclnnIsFinite", |x| truth(x[0].is_finite())),
    ("aclnnLerp", |x| x[0] + x[2] * (x[1] - x[0])),
    ("aclnnLerps", |x| x[0] + x[2] * (x[1] - x[0])),
    ("aclnnLog", |x| x[0].ln()),
    ("aclnnLog10", |x| x[0].log10()),
    ("aclnnLog1p", |x| ln_1p(x[0])),
    ("aclnnLog2", |x| x[0].log2()),
    ("aclnnLogicalAnd", |x| truth(holds(x[0]) && holds(x[1]))),
    ("aclnnLogicalNot", |x| truth(!holds(x[0]))),
    ("aclnnLogicalOr", |x| truth(holds(x[0]) || holds(x[1]))),
    ("aclnnLogicalXor", |x| truth(holds(x[0]) != holds(x[1]))),
    ("aclnnMul", |x| x[0] * x[1]),
    ("aclnnMuls", |x| x[0] * x[1]),
    ("aclnnNeScalar", |x| truth(x[0] != x[1])),
    ("aclnnNeTensor", |x| truth(x[0] != x[1])),
    ("aclnnNeg", |x| -x[0]),
    ("aclnnPolar", |x| Complex::from_polar(x[0].re, x[1].re)),
    ("aclnnPowScalarTensor", |x| power(x[0], x[1])),
    ("aclnnPowTensorScalar", |x| power(x[0], x[1])),
    ("aclnnPowTensorTensor", |x| power(x[0], x[1])),
    ("aclnnReciprocal", |x| quotient(ONE, x[0])),
    ("aclnnRsqrt", |x| quotient(ONE, x[0].sqrt())),
    ("aclnnRsub", |x| x[1] - x[2] * x[0]),
    ("aclnnRsubs", |x| x[1] - x[2] * x[0]),
    ("aclnnSigmoid", |x| sigmoid(x[0])),
    ("aclnnSign", |x| sign(x[0])),
    ("aclnnSilu", |x| x[0] * sigmoid(x[0])),
    ("aclnnSin", |x| x[0].sin()),
    ("aclnnSinc", |x| sinc(x[0])),
    ("aclnnSinh", |x| x[0].sinh()),
    ("aclnnSqrt", |x| x[0].sqrt()),
    ("aclnnSub", |x| x[0] - x[2] * x[1]),
    ("aclnnSubs", |x| x[0] - x[2] * x[1]),
    ("aclnnTan", |x| quotient(x[0].sin(), x[0].cos())),
    ("aclnnTanh", |x| quotient(x[0].sinh(), x[0].cosh())),
];

/// Operators that write to their first parameter, and have no other form, or are another function of the parameters then.
const IN_PLACE: &[(&str, ComplexFormula)] = &[
    ("aclnnInplaceCopy", |x| x[1]),
    ("aclnnInplaceFillScalar", |x| x[1]),
    ("aclnnInplaceMaskedFillScalar", masked),
    ("aclnnInplaceMaskedFillTensor", masked),
    ("aclnnInplaceOne", |_| ONE),
];

fn masked(x: &[Complex]) -> Complex {
    if x[1] == Complex::default() {
        x[0]
    } else {
        x[2]
    }
}

/// Operators that move elements or add them up: the parts of the result are those of the parts.
const BY_PARTS: &[&str] = &[
    "aclnnCat",
    "aclnnChannelShuffle",
    "aclnnCumsum",
    "aclnnCumsumV2",
    "aclnnEmbedding",
    "aclnnExpand",
    "aclnnEye",
    "aclnnFlip",
    "aclnnGather",
    "aclnnIm2col",
    "aclnnIm2colBackward",
    "aclnnIndex",
    "aclnnIndexAdd",
    "aclnnIndexCopy",
    "aclnnIndexPutImpl",
    "aclnnIndexSelect",
    "aclnnInplaceFillTensor",
    "aclnnInplaceIndexCopy",
    "aclnnInplaceMaskedScatter",
    "aclnnInplacePut",
    "aclnnInplaceTril",
    "aclnnInplaceTriu",
    "aclnnInplaceZero",
    "aclnnMaskedSelect",
    "aclnnMean",
    "aclnnMeanV2",
    "aclnnPermute",
    "aclnnReduceSum",
    "aclnnReflectionPad1d",
    "aclnnReflectionPad2d",
    "aclnnReflectionPad3d",
    "aclnnRepeat",
    "aclnnRepeatInterleave",
    "aclnnRepeatInterleaveInt",
    "aclnnRepeatInterleaveIntWithDim",
    "aclnnRepeatInterleaveWithDim",
    "aclnnReplicationPad1d",
    "aclnnReplicationPad2d",
    "aclnnReplicationPad3d",
    "aclnnRoll",
    "aclnnSWhere",
    "aclnnScatterAdd",
    "aclnnStack",
    "aclnnTake",
    "aclnnTrace",
    "aclnnTril",
    "aclnnTriu",
    "aclnnWhere",
];

/// The same, where the numbers among the parameters are elements too: each part has its part of them.
const BY_PARTS_WITH_NUMBERS: &[&str] = &[
    "aclnnConstantPadNd",
    "aclnnIndexFill",
    "aclnnIndexFillTensor",
    "aclnnInplaceIndexFill",
    "aclnnInplaceIndexFillTensor",
];

/// Describes the work of an operator by its row, or by complex numbers where the row met one. `handles` are those of the
/// parameters, in their order.
pub fn described(
    name: &str,
    call: &mut Call,
    handles: &[Option<usize>],
    row: &mut Describe<'_>,
) -> Outcome {
    let found = row(call);
    if !call.met_complex.load(Ordering::Relaxed) {
        return found;
    }
    call.begin_again();
    let handles: Vec<usize> = handles.iter().copied().flatten().collect();
    let handles = &handles[..];
    if let Some(formula) = find(IN_PLACE, name) {
        return in_place(call, formula, handles);
    }
    if let Some(formula) = find(FORMULAS, name) {
        let Some((out, inputs)) = handles.split_last() else {
            return refuse("the operator has no output");
        };
        let inputs = inputs.iter().copied().map(FormulaSource::Handle).collect();
        return elements(call, formula, inputs, (*out, ArgumentRole::Output));
    }
    if let Some(product) = products::find(name) {
        return products::describe(call, product, handles);
    }
    if let Some(rows) = rows::find(name) {
        (call.part, call.rows) = (Some(ComplexPart::Real), Some(rows));
        return row(call);
    }
    let plain = name.replacen("Inplace", "", 1);
    if let Some(formula) = find(FORMULAS, &plain) {
        return in_place(call, formula, handles);
    }
    let splits_numbers = BY_PARTS_WITH_NUMBERS.contains(&name);
    if !splits_numbers && !BY_PARTS.contains(&name) {
        return found;
    }
    call.splits_numbers = splits_numbers;
    let begin = call.mark();
    for part in BOTH {
        call.part = Some(part);
        row(call)?;
    }
    (call.part, call.splits_numbers) = (None, false);
    call.join(begin);
    Ok(())
}

fn find(table: &[(&str, ComplexFormula)], name: &str) -> Option<ComplexFormula> {
    let mut rows = table.iter();
    rows.find(|row| row.0 == name).map(|row| row.1)
}

fn in_place(call: &mut Call, formula: ComplexFormula, handles: &[usize]) -> Outcome {
    let Some(first) = handles.first() else {
        return refuse("the operator has no output");
    };
    let inputs = handles.iter().copied().map(FormulaSource::Handle).collect();
    elements(call, formula, inputs, (*first, ArgumentRole::InPlace))
}

/// Where the numbers of a formula come from.
enum FormulaSource {
    /// A tensor or a number of the program.
    Handle(usize),
    /// The parts of a tensor: one if it is real.
    Parts(Vec<Operand>),
    Number(Complex),
}

impl FormulaSource {
    fn taken(self, call: &mut Call) -> Outcome<Self> {
        Ok(match self {
            Self::Handle(handle) => match objects::scalar(handle) {
                Ok(value) => Self::Number(number_of(value)),
                Err(_) => Self::Parts(parts(call, handle, ArgumentRole::Input)?),
            },
            taken => taken,
        })
    }
}

/// A parameter of a formula: a number, or the places of the parts among the tensors that are read.
enum FormulaInput {
    Number(Complex),
    Tensor(usize, Option<usize>),
}

/// Adds the task that computes each element of the output; inputs broadcast.
fn elements(
    call: &mut Call,
    formula: ComplexFormula,
    inputs: Vec<FormulaSource>,
    (out, role): (usize, ArgumentRole),
) -> Outcome {
    let out = parts(call, out, role)?;
    let shape = out[0].view.shape.clone();
    let (mut given, mut read) = (Vec::new(), Vec::new());
    let mut whole = Some(Vec::new());
    for source in inputs {
        let parts = match source.taken(call)? {
            FormulaSource::Parts(parts) => parts,
            FormulaSource::Number(value) => {
                given.push(FormulaInput::Number(value));
                continue;
            }
            FormulaSource::Handle(_) => return refuse("a parameter is no tensor"),
        };
        given.push(FormulaInput::Tensor(
            read.len(),
            (parts.len() > 1).then_some(read.len() + 1),
        ));
        for part in parts {
            whole = whole.and_then(|it| broadcast_shape(&it, &part.view.shape));
            let Some(view) = part.view.clone().broadcast(&shape) else {
                return refuse("the shapes do not broadcast to the output's");
            };
            read.push(part.seen(view));
        }
    }
    if whole.as_ref() != Some(&shape) {
        return refuse("the output's shape is not that of the result");
    }
    let (count, operations) = (out[0].view.elements(), 4 * out[0].view.elements() as u64);
    let written = out.len();
    call.dense(read, out, operations, move |values: &[Vec<f64>]| {
        let mut results = vec![vec![0.0; count]; written];
        let mut numbers = vec![Complex::default(); given.len()];
        for at in 0..count {
            for (number, given) in numbers.iter_mut().zip(&given) {
                *number = match given {
                    FormulaInput::Number(value) => *value,
                    FormulaInput::Tensor(re, im) => Complex {
                        re: values[*re][at],
                        im: im.map_or(0.0, |im| values[im][at]),
                    },
                };
            }
            let found = formula(&numbers);
            for (result, part) in results.iter_mut().zip([found.re, found.im]) {
                result[at] = part;
            }
        }
        results
    })
}

/// The parts of a tensor: one if it is real.
pub fn parts(call: &mut Call, handle: usize, role: ArgumentRole) -> Outcome<Vec<Operand>> {
    let is_complex = objects::tensor(handle)?.layout().is_complex();
    let wanted = if is_complex { &BOTH[..] } else { &BOTH[..1] };
    let mut found = Vec::new();
    for part in wanted {
        call.part = Some(*part);
        let taken = match role {
            ArgumentRole::Input => call.input(handle),
            ArgumentRole::Output => call.output(handle),
            ArgumentRole::InPlace => call.in_place(handle),
        };
        call.part = None;
        found.push(taken?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{Complex, FORMULAS, find};

    /// The result of an operator on numbers.
    #[track_caller]
    fn of(name: &str, numbers: &[(f64, f64)]) -> (f64, f64) {
        let numbers = numbers.iter().map(|(re, im)| Complex { re: *re, im: *im });
        let numbers: Vec<Complex> = numbers.collect();
        let found = find(FORMULAS, name).unwrap()(&numbers);
        (found.re, found.im)
    }

    #[track_caller]
    fn near(found: (f64, f64), expected: (f64, f64)) {
        let apart = (found.0 - expected.0).hypot(found.1 - expected.1);
        assert!(apart < 1e-9, "{found:?}, not {expected:?}");
    }

    #[test]
    fn products_quotients_and_lengths() {
        near(of("aclnnMul", &[(1.0, 2.0), (3.0, -1.0)]), (5.0, 5.0));
        near(of("aclnnDiv", &[(5.0, 5.0), (3.0, -1.0)]), (1.0, 2.0));
        near(
            of("aclnnDiv", &[(1e300, 1e300), (1e300, 1e300)]),
            (1.0, 0.0),
        );
        near(of("aclnnAbs", &[(3.0, -4.0)]), (5.0, 0.0));
        near(
            of("aclnnAdd", &[(1.0, 1.0), (2.0, 3.0), (0.0, 1.0)]),
            (-2.0, 3.0),
        );
    }

    #[test]
    fn functions_agree_with_each_other() {
        let z = (0.3, -1.2);
        near(of("aclnnExp", &[of("aclnnLog", &[z])]), z);
        let root = of("aclnnSqrt", &[z]);
        near(of("aclnnMul", &[root, root]), z);
        near(of("aclnnPowTensorScalar", &[z, (3.0, 0.0)]), {
            of("aclnnMul", &[z, of("aclnnMul", &[z, z])])
        });
        let (sine, cosine) = (of("aclnnSin", &[z]), of("aclnnCos", &[z]));
        near(of("aclnnDiv", &[sine, cosine]), of("aclnnTan", &[z]));
        let squares = [sine, cosine].map(|it| of("aclnnMul", &[it, it]));
        near(
            of("aclnnAdd", &[squares[0], squares[1], (1.0, 0.0)]),
            (1.0, 0.0),
        );
        near(of("aclnnSqrt", &[(-4.0, 0.0)]), (0.0, 2.0));
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        let z = (1e-12, -3e-12);
        for name in ["aclnnExpm1", "aclnnLog1p"] {
            let found = of(name, &[z]);
            let apart = (found.0 - z.0).hypot(found.1 - z.1);
            assert!(apart < 1e-22, "{name}: {found:?}");
        }
    }

    #[test]
    fn inverse_functions_lead_back() {
        let z = (0.3, -0.7);
        for (name, inverse) in [
            ("aclnnCos", "aclnnAcos"),
            ("aclnnCosh", "aclnnAcosh"),
            ("aclnnSin", "aclnnAsin"),
            ("aclnnSinh", "aclnnAsinh"),
            ("aclnnTan", "aclnnAtan"),
            ("aclnnTanh", "aclnnAtanh"),
        ] {
            near(of(name, &[of(inverse, &[z])]), z);
        }
    }

    #[test]
    fn a_number_with_an_imaginary_part_is_not_zero() {
        let (zero, unit) = ((0.0, 0.0), (0.0, 1.0));
        near(of("aclnnLogicalNot", &[unit]), zero);
        near(of("aclnnLogicalAnd", &[unit, zero]), zero);
        near(of("aclnnLogicalXor", &[unit, zero]), (1.0, 0.0));
        near(of("aclnnSign", &[(0.0, -4.0)]), (0.0, -1.0));
        near(of("aclnnSign", &[zero]), zero);
        near(of("aclnnSinc", &[zero]), (1.0, 0.0));
    }
}
