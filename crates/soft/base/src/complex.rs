//! Operators on complex numbers. A row of a table is about real numbers. Where it meets a complex tensor or number, this module
//! describes the work instead: by a formula of complex numbers, by the row itself, once for the real parts and once for the
//! imaginary ones, by products of the parts, or by a reduction of both.

mod products;
mod rows;

pub use rows::ComplexRows;

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::atomic::Ordering;

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

/// A complex number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

const fn real(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

const ONE: Complex = real(1.0);
const HALF: Complex = real(0.5);
const TWO: Complex = real(2.0);
/// The imaginary unit.
const UNIT: Complex = Complex { re: 0.0, im: 1.0 };

impl Complex {
    fn of(value: ScalarValue) -> Self {
        match value {
            ScalarValue::Complex(re, im) => Self { re, im },
            other => real(f64::of(other)),
        }
    }

    fn length(self) -> f64 {
        self.re.hypot(self.im)
    }

    fn angle(self) -> f64 {
        self.im.atan2(self.re)
    }

    fn exp(self) -> Self {
        let (sine, cosine) = self.im.sin_cos();
        let length = self.re.exp();
        Self {
            re: length * cosine,
            im: if self.im == 0.0 {
                self.im
            } else {
                length * sine
            },
        }
    }

    fn ln(self) -> Self {
        Self {
            re: self.length().ln(),
            im: self.angle(),
        }
    }

    /// The root in the right half of the plane.
    fn sqrt(self) -> Self {
        let length = self.length();
        let re = f64::midpoint(length, self.re).max(0.0).sqrt();
        let im = f64::midpoint(length, -self.re).max(0.0).sqrt();
        Self {
            re,
            im: im.copysign(self.im),
        }
    }

    fn power(self, exponent: Self) -> Self {
        match exponent {
            it if it == Self::default() => ONE,
            it if it == ONE => self,
            it if it == TWO => self * self,
            it if it == HALF => self.sqrt(),
            _ if self == Self::default() => Self::default(),
            it => (it * self.ln()).exp(),
        }
    }

    fn sinh(self) -> Self {
        let (sine, cosine) = self.im.sin_cos();
        Self {
            re: self.re.sinh() * cosine,
            im: self.re.cosh() * sine,
        }
    }

    fn cosh(self) -> Self {
        let (sine, cosine) = self.im.sin_cos();
        Self {
            re: self.re.cosh() * cosine,
            im: self.re.sinh() * sine,
        }
    }

    /// A function of the hyperbola as the one of the circle: at the number times the imaginary unit.
    fn turned(self) -> Self {
        UNIT * self
    }

    fn truth(holds: bool) -> Self {
        real(f64::from(u8::from(holds)))
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Complex {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            re: -self.re,
            im: -self.im,
        }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

impl Div for Complex {
    type Output = Self;

    /// Scaled by the larger part of the divisor, so that its square does not overflow.
    fn div(self, other: Self) -> Self {
        if other.im.abs() <= other.re.abs() {
            let ratio = other.im / other.re;
            let scale = other.re + other.im * ratio;
            Self {
                re: (self.re + self.im * ratio) / scale,
                im: (self.im - self.re * ratio) / scale,
            }
        } else {
            let ratio = other.re / other.im;
            let scale = other.re * ratio + other.im;
            Self {
                re: (self.re * ratio + self.im) / scale,
                im: (self.im * ratio - self.re) / scale,
            }
        }
    }
}

/// A result of the elements at one place, and of numbers, in the order of the parameters.
type ComplexFormula = fn(&[Complex]) -> Complex;

/// Operators by their name without `Inplace`. The last parameter of the others is the output; it is not among the numbers.
const FORMULAS: &[(&str, ComplexFormula)] = &[
    ("aclnnAbs", |x| real(x[0].length())),
    ("aclnnAdd", |x| x[0] + x[2] * x[1]),
    ("aclnnAdds", |x| x[0] + x[2] * x[1]),
    ("aclnnAddcdiv", |x| x[0] + x[3] * x[1] / x[2]),
    ("aclnnAddcmul", |x| x[0] + x[3] * x[1] * x[2]),
    ("aclnnAngleV2", |x| real(x[0].angle())),
    ("aclnnCast", |x| x[0]),
    ("aclnnComplex", |x| Complex {
        re: x[0].re,
        im: x[1].re,
    }),
    ("aclnnCos", |x| x[0].turned().cosh()),
    ("aclnnCosh", |x| x[0].cosh()),
    ("aclnnDiv", |x| x[0] / x[1]),
    ("aclnnDivs", |x| x[0] / x[1]),
    ("aclnnEqScalar", |x| Complex::truth(x[0] == x[1])),
    ("aclnnEqTensor", |x| Complex::truth(x[0] == x[1])),
    ("aclnnExp", |x| x[0].exp()),
    ("aclnnLog", |x| x[0].ln()),
    ("aclnnMul", |x| x[0] * x[1]),
    ("aclnnMuls", |x| x[0] * x[1]),
    ("aclnnNeScalar", |x| Complex::truth(x[0] != x[1])),
    ("aclnnNeTensor", |x| Complex::truth(x[0] != x[1])),
    ("aclnnNeg", |x| -x[0]),
    ("aclnnPolar", |x| Complex {
        re: x[0].re * x[1].re.cos(),
        im: x[0].re * x[1].re.sin(),
    }),
    ("aclnnPowScalarTensor", |x| x[0].power(x[1])),
    ("aclnnPowTensorScalar", |x| x[0].power(x[1])),
    ("aclnnPowTensorTensor", |x| x[0].power(x[1])),
    ("aclnnReciprocal", |x| ONE / x[0]),
    ("aclnnRsqrt", |x| ONE / x[0].sqrt()),
    ("aclnnRsub", |x| x[1] - x[2] * x[0]),
    ("aclnnRsubs", |x| x[1] - x[2] * x[0]),
    ("aclnnSigmoid", |x| ONE / (ONE + (-x[0]).exp())),
    ("aclnnSin", |x| -x[0].turned().sinh().turned()),
    ("aclnnSinh", |x| x[0].sinh()),
    ("aclnnSqrt", |x| x[0].sqrt()),
    ("aclnnSub", |x| x[0] - x[2] * x[1]),
    ("aclnnSubs", |x| x[0] - x[2] * x[1]),
    ("aclnnTan", |x| {
        let turned = x[0].turned();
        -(turned.sinh() / turned.cosh()).turned()
    }),
    ("aclnnTanh", |x| x[0].sinh() / x[0].cosh()),
];

/// Operators that write to their first parameter, and have no other form, or are another function of the parameters then.
const IN_PLACE: &[(&str, ComplexFormula)] = &[
    ("aclnnInplaceCopy", |x| x[1]),
    ("aclnnInplaceFillScalar", |x| x[1]),
    ("aclnnInplaceMaskedFillScalar", masked),
    ("aclnnInplaceMaskedFillTensor", masked),
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
    "aclnnConstantPadNd",
    "aclnnCumsum",
    "aclnnCumsumV2",
    "aclnnEmbedding",
    "aclnnExpand",
    "aclnnFlip",
    "aclnnGather",
    "aclnnIndex",
    "aclnnIndexAdd",
    "aclnnIndexCopy",
    "aclnnIndexPutImpl",
    "aclnnIndexSelect",
    "aclnnInplaceFillTensor",
    "aclnnInplaceIndexCopy",
    "aclnnInplaceTril",
    "aclnnInplaceTriu",
    "aclnnInplaceZero",
    "aclnnMean",
    "aclnnMeanV2",
    "aclnnPermute",
    "aclnnReduceSum",
    "aclnnRepeat",
    "aclnnRoll",
    "aclnnSWhere",
    "aclnnScatterAdd",
    "aclnnStack",
    "aclnnTrace",
    "aclnnTril",
    "aclnnTriu",
    "aclnnWhere",
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
    if !BY_PARTS.contains(&name) {
        return found;
    }
    let begin = call.mark();
    for part in BOTH {
        call.part = Some(part);
        row(call)?;
    }
    call.part = None;
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
                Ok(value) => Self::Number(Complex::of(value)),
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
}
