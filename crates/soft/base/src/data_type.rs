//! The data types that operators compute with, and the documented rules between them.

use half::{bf16, f16};

use super::number::Number;
use super::tensor::ComplexPart;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataType {
    F32,
    F16,
    Bf16,
    I32,
    I64,
    F64,
    Bool,
    U8,
    I8,
    I16,
}

/// A number given by the host, in the widest type of its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalarValue {
    Float(f64),
    Integer(i64),
    /// The real and the imaginary part.
    Complex(f64, f64),
}

impl ScalarValue {
    /// One part of the number. Real numbers have no imaginary part.
    pub const fn part(self, part: ComplexPart) -> Self {
        match (self, part) {
            (Self::Complex(re, _), ComplexPart::Real) => Self::Float(re),
            (Self::Complex(_, im), ComplexPart::Imaginary) => Self::Float(im),
            (real, ComplexPart::Real) => real,
            (_, ComplexPart::Imaginary) => Self::Float(0.0),
        }
    }
}

impl DataType {
    /// The type behind a value of `aclDataType`, if operators compute with it.
    pub const fn from_code(code: i32) -> Option<Self> {
        Some(match code {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::I8,
            3 => Self::I32,
            4 => Self::U8,
            6 => Self::I16,
            9 => Self::I64,
            11 => Self::F64,
            12 => Self::Bool,
            27 => Self::Bf16,
            _ => return None,
        })
    }

    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::F16 | Self::Bf16 | Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::F64 | Self::Bf16)
    }

    /// Where an integer type stands among them; the type of truth values comes first.
    const fn rank(self) -> u8 {
        match self {
            Self::Bool => 0,
            Self::U8 | Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 => 3,
            _ => 4,
        }
    }

    /// How many operations of matrix products in 16-bit floating point take as long as one of this type.
    pub const fn effort(self) -> u64 {
        match self {
            Self::F16 | Self::Bf16 | Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F32 => 4,
            Self::I16 | Self::I32 | Self::I64 | Self::F64 => 16,
        }
    }

    /// The integer type of the same size: for what moves elements without looking at them.
    pub const fn bits(self) -> Self {
        match self {
            Self::Bool | Self::U8 | Self::I8 => Self::U8,
            Self::F16 | Self::Bf16 | Self::I16 => Self::I16,
            Self::F32 | Self::I32 => Self::I32,
            Self::I64 | Self::F64 => Self::I64,
        }
    }

    /// The type that two tensors of different types are converted to.
    pub fn promote(self, other: Self) -> Self {
        match (self.is_float(), other.is_float()) {
            _ if self == other => self,
            (true, false) => self,
            (false, true) => other,
            (false, false) if self.rank() > other.rank() => self,
            (false, false) if self.rank() < other.rank() => other,
            // An unsigned and a signed byte.
            (false, false) => Self::I16,
            (true, true) if self == Self::F64 || other == Self::F64 => Self::F64,
            // The two 16-bit types meet in the smallest that holds both.
            (true, true) => Self::F32,
        }
    }

    /// The type that a tensor and a scalar are converted to: the tensor's, unless a fraction would
    /// be lost.
    pub const fn promote_with(self, scalar: ScalarValue) -> Self {
        match scalar {
            ScalarValue::Float(_) | ScalarValue::Complex(..) if !self.is_float() => Self::F32,
            ScalarValue::Integer(_) if matches!(self, Self::Bool) => Self::I64,
            _ => self,
        }
    }

    /// May a result of this type be stored as the other one?
    pub const fn converts_to(self, other: Self) -> bool {
        other.is_float() || !self.is_float() || matches!(other, Self::Bool)
    }

    /// The type that arithmetic happens in; results are rounded to `self` once.
    pub const fn wide(self) -> Self {
        match self {
            Self::F16 | Self::Bf16 => Self::F32,
            Self::Bool | Self::U8 | Self::I8 | Self::I16 => Self::I32,
            other => other,
        }
    }

    /// A narrowed value as one of the 16-bit types has it.
    fn half(self, narrow: f32) -> f32 {
        match self {
            Self::F16 => f16::from_f32(narrow).to_f32(),
            Self::Bf16 => bf16::from_f32(narrow).to_f32(),
            _ => narrow,
        }
    }

    /// Rounds values that were computed in the wide type.
    pub fn round<C: Number>(self, values: &mut [C]) {
        match self {
            Self::F16 | Self::Bf16 => {
                each(values, |value| C::from_f32(self.half(value.narrow())));
            }
            Self::Bool | Self::U8 | Self::I8 | Self::I16 => {
                each(values, |value| C::from_i64(self.wrapped(value.to_i64())));
            }
            _ => {}
        }
    }

    /// An integer as one of the small types has it.
    const fn wrapped(self, value: i64) -> i64 {
        match self {
            Self::Bool => (value != 0) as i64,
            Self::U8 => value as u8 as i64,
            Self::I8 => value as i8 as i64,
            _ => value as i16 as i64,
        }
    }

    /// The scalar as this type has it.
    pub fn round_value(self, value: ScalarValue) -> ScalarValue {
        match (self, value) {
            (_, ScalarValue::Complex(..)) => value,
            (Self::I32, value) => ScalarValue::Integer(i64::from(i32::of(value))),
            (Self::I64, value) => ScalarValue::Integer(i64::of(value)),
            (Self::Bool, ScalarValue::Float(value)) => ScalarValue::Integer((value != 0.0).into()),
            (Self::Bool | Self::U8 | Self::I8 | Self::I16, value) => {
                ScalarValue::Integer(self.wrapped(i64::of(value)))
            }
            (Self::F32, value) => ScalarValue::Float(f64::from(f32::of(value))),
            (Self::F64, value) => ScalarValue::Float(f64::of(value)),
            (_, ScalarValue::Float(value)) => {
                ScalarValue::Float(f64::from(self.half(value.narrow())))
            }
            (_, ScalarValue::Integer(value)) => {
                ScalarValue::Float(f64::from(self.half(value.narrow())))
            }
        }
    }
}

fn each<C: Copy>(values: &mut [C], convert: impl Fn(C) -> C) {
    for value in values {
        *value = convert(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::DataType::{self, Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8};
    use super::ScalarValue::{Float, Integer};

    const ALL: [DataType; 6] = [F32, F16, F64, Bf16, I32, I64];

    #[test]
    fn tensors_of_two_types_meet_as_the_documented_table_says() {
        let table = [
            [F32, F32, F64, F32, F32, F32],
            [F32, F16, F64, F32, F16, F16],
            [F64, F64, F64, F64, F64, F64],
            [F32, F32, F64, Bf16, Bf16, Bf16],
            [F32, F16, F64, Bf16, I32, I64],
            [F32, F16, F64, Bf16, I64, I64],
        ];
        for (row, one) in table.iter().zip(ALL) {
            for (expected, other) in row.iter().zip(ALL) {
                assert_eq!(one.promote(other), *expected, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn integers_meet_in_the_larger_type() {
        let rising = [Bool, U8, I16, I32, I64, Bf16];
        for (index, small) in rising.iter().enumerate() {
            for large in &rising[index..] {
                assert_eq!(
                    (small.promote(*large), large.promote(*small)),
                    (*large, *large)
                );
            }
        }
        assert_eq!((I8.promote(U8), U8.promote(I8)), (I16, I16));
    }

    #[test]
    fn a_scalar_changes_the_type_of_integers_only() {
        for tensor in ALL {
            let float = if tensor.is_float() { tensor } else { F32 };
            assert_eq!(tensor.promote_with(Float(1.0)), float);
            assert_eq!(tensor.promote_with(Integer(1)), tensor);
        }
    }

    #[test]
    fn fractions_do_not_become_integers_silently() {
        for (from, to) in ALL.into_iter().flat_map(|from| ALL.map(|to| (from, to))) {
            assert_eq!(from.converts_to(to), !from.is_float() || to.is_float());
        }
    }

    #[test]
    fn scalars_are_rounded_once() {
        let above = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40);
        assert_eq!(F16.round_value(Float(above)), Float(1.0 + 2_f64.powi(-10)));
        assert_eq!(F16.round_value(Integer(70_000)), Float(f64::INFINITY));
        assert_eq!(Bf16.round_value(Integer(257)), Float(256.0));
        assert_eq!(I32.round_value(Float(-2.7)), Integer(-2));
        assert_eq!(I32.round_value(Integer(1 << 32)), Integer(0));
        assert_eq!(I64.round_value(Integer(i64::MIN)), Integer(i64::MIN));
    }
}
