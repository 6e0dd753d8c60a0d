//! The types that arithmetic happens in, and elements in memory.

use half::{bf16, f16};

use super::data_type::{DataType, ScalarValue};

/// A type that operators compute in.
pub trait Number: Copy + Default + PartialOrd + Send + Sync + 'static {
    const TYPE: DataType;

    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn from_f32(value: f32) -> Self;
    fn from_f64(value: f64) -> Self;
    fn from_i64(value: i64) -> Self;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn to_i32(self) -> i32;
    fn to_i64(self) -> i64;
    /// The value in 32 bits such that one more rounding, to a 16-bit type, is exact.
    fn narrow(self) -> f32;

    fn of(value: ScalarValue) -> Self {
        match value {
            // Operators on real numbers refuse others (`Call::scalar`).
            ScalarValue::Float(value) | ScalarValue::Complex(value, _) => Self::from_f64(value),
            ScalarValue::Integer(value) => Self::from_i64(value),
        }
    }
}

macro_rules! number {
    ($type:ident, $data_type:ident, $plus:expr, $times:expr, $narrow:expr) => {
        impl Number for $type {
            const TYPE: DataType = DataType::$data_type;

            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }
            fn times(self, other: Self) -> Self {
                $times(self, other)
            }
            fn from_f32(value: f32) -> Self {
                value as Self
            }
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            fn from_i64(value: i64) -> Self {
                value as Self
            }
            fn to_f32(self) -> f32 {
                self as f32
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn to_i32(self) -> i32 {
                self as i32
            }
            fn to_i64(self) -> i64 {
                self as i64
            }
            fn narrow(self) -> f32 {
                $narrow(self)
            }
        }
    };
}

number!(f32, F32, |a, b| a + b, |a, b| a * b, |a| a);
number!(f64, F64, |a, b| a + b, |a, b| a * b, odd);
number!(i32, I32, i32::wrapping_add, i32::wrapping_mul, |a| odd(
    f64::from(a)
));
number!(i64, I64, i64::wrapping_add, i64::wrapping_mul, |a| odd(
    odd_integer(a)
));

/// Rounds to odd: an inexact result gets an odd last bit, so that it never looks like a tie.
fn odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    let away = back.abs() > value.abs();
    let bits = nearest.to_bits();
    f32::from_bits(if away { bits - 1 } else { bits + 1 })
}

/// The same for integers that 64 bits of floating point do not hold.
fn odd_integer(value: i64) -> f64 {
    const LOW: i64 = 0xfff;
    if value.unsigned_abs() < 1 << 53 {
        return value as f64;
    }
    let sticky = i64::from(value & LOW != 0) * (LOW + 1);
    (value & !LOW | sticky) as f64
}

/// Reads elements that are `stride` bytes apart.
pub fn read<C: Number>(kind: DataType, address: usize, stride: usize, out: &mut [C]) {
    match kind {
        DataType::F32 => gather(address, stride, out, C::from_f32),
        DataType::F64 => gather(address, stride, out, C::from_f64),
        DataType::I32 => gather(address, stride, out, |it: i32| C::from_i64(i64::from(it))),
        DataType::I64 => gather(address, stride, out, C::from_i64),
        DataType::I16 => gather(address, stride, out, |it: i16| C::from_i64(i64::from(it))),
        DataType::I8 => gather(address, stride, out, |it: i8| C::from_i64(i64::from(it))),
        DataType::U8 => gather(address, stride, out, |it: u8| C::from_i64(i64::from(it))),
        DataType::Bool => gather(address, stride, out, |it: u8| C::from_i64((it != 0).into())),
        DataType::F16 => gather(address, stride, out, |it: f16| C::from_f32(it.to_f32())),
        DataType::Bf16 => gather(address, stride, out, |it: bf16| C::from_f32(it.to_f32())),
    }
}

/// Writes elements that are `stride` bytes apart, each rounded once.
pub fn write<C: Number>(kind: DataType, address: usize, stride: usize, values: &[C]) {
    match kind {
        DataType::F32 => scatter(address, stride, values, C::to_f32),
        DataType::F64 => scatter(address, stride, values, C::to_f64),
        DataType::I32 => scatter(address, stride, values, C::to_i32),
        DataType::I64 => scatter(address, stride, values, C::to_i64),
        DataType::I16 => scatter(address, stride, values, |it| it.to_i64() as i16),
        DataType::I8 => scatter(address, stride, values, |it| it.to_i64() as i8),
        DataType::U8 => scatter(address, stride, values, |it| it.to_i64() as u8),
        DataType::Bool => scatter(address, stride, values, |it| u8::from(it != C::default())),
        DataType::F16 => scatter(address, stride, values, |it| f16::from_f32(it.narrow())),
        DataType::Bf16 => scatter(address, stride, values, |it| bf16::from_f32(it.narrow())),
    }
}

fn gather<T, C>(address: usize, stride: usize, out: &mut [C], convert: impl Fn(T) -> C) {
    // Without gaps the stride is a constant, which lets the compiler use vectors.
    if stride == size_of::<T>() {
        gather_by(address, size_of::<T>(), out, convert);
    } else {
        gather_by(address, stride, out, convert);
    }
}

#[inline(always)]
fn gather_by<T, C>(address: usize, stride: usize, out: &mut [C], convert: impl Fn(T) -> C) {
    let mut at = address;
    for slot in out {
        // SAFETY: views are checked to be in memory of this library, which stays mapped.
        *slot = convert(unsafe { (at as *const T).read_unaligned() });
        at = at.wrapping_add(stride);
    }
}

fn scatter<T, C: Copy>(address: usize, stride: usize, values: &[C], convert: impl Fn(C) -> T) {
    if stride == size_of::<T>() {
        scatter_by(address, size_of::<T>(), values, convert);
    } else {
        scatter_by(address, stride, values, convert);
    }
}

#[inline(always)]
fn scatter_by<T, C: Copy>(address: usize, stride: usize, values: &[C], convert: impl Fn(C) -> T) {
    let mut at = address;
    for value in values {
        // SAFETY: as in `gather_by`.
        unsafe { (at as *mut T).write_unaligned(convert(*value)) };
        at = at.wrapping_add(stride);
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::{Number, write};
    use crate::data_type::DataType;

    fn half_of<C: Number>(value: C) -> (u16, u16) {
        let mut halves = [0_u16; 2];
        let address = (&raw mut halves) as usize;
        write(DataType::F16, address, 0, &[value]);
        write(DataType::Bf16, address + 2, 0, &[value]);
        (halves[0], halves[1])
    }

    #[test]
    fn halves_are_rounded_once_to_nearest_even() {
        let bits = |f: f32, b: f32| (f16::from_f32(f).to_bits(), bf16::from_f32(b).to_bits());
        // Ties go to the even neighbour in both types.
        let tie = 1.0 + 2_f32.powi(-11);
        assert_eq!(half_of(tie).0, bits(1.0, 1.0).0);
        assert_eq!(half_of(1.0 + 3.0 * 2_f32.powi(-11)).0, 0x3c02);
        assert_eq!(half_of(1.0 + 2_f32.powi(-8)).1, bits(1.0, 1.0).1);
        assert_eq!(half_of(1.0 + 3.0 * 2_f32.powi(-8)).1, 0x3f82);
        // Just above a tie, by less than 32 bits can hold.
        assert_eq!(half_of(1.0 + 2_f64.powi(-11) + 2_f64.powi(-40)).0, 0x3c01);
        assert_eq!(half_of(-1.0 - 2_f64.powi(-8) - 2_f64.powi(-50)).1, 0xbf81);
        assert_eq!(half_of(1.0 + 2_f64.powi(-11) - 2_f64.powi(-40)).0, 0x3c00);
        // Between two neighbours of an integer type, above what 64-bit floats hold.
        let above = (1_i64 << 62) + (1 << 54) + 1;
        assert_eq!(
            half_of(above).1,
            bf16::from_f64(2_f64.powi(62)).to_bits() + 1
        );
        assert_eq!(
            half_of(above - 1).1,
            bf16::from_f64(2_f64.powi(62)).to_bits()
        );
        assert_eq!(
            half_of(-above).1,
            bf16::from_f64(-(2_f64.powi(62))).to_bits() + 1
        );
        assert_eq!(half_of(65_519_i32).0, 0x7bff);
        assert_eq!(half_of(65_520_i32).0, 0x7c00);
        assert_eq!(half_of(f64::MIN_POSITIVE), (0, 0));
        assert_eq!(half_of(f64::MAX).1, 0x7f80);
        assert!(f16::from_bits(half_of(f64::NAN).0).is_nan());
    }

    #[test]
    fn integers_wrap_and_floats_saturate_when_they_become_integers() {
        let mut out = [0_i32; 2];
        write(
            DataType::I32,
            (&raw mut out) as usize,
            4,
            &[i64::MAX, 5 - (1 << 32)],
        );
        assert_eq!(out, [-1, 5]);
        write(
            DataType::I32,
            (&raw mut out) as usize,
            4,
            &[1e20_f64, f64::NAN],
        );
        assert_eq!(out, [i32::MAX, 0]);
        write(DataType::I32, (&raw mut out) as usize, 4, &[-1.9_f32, 1.9]);
        assert_eq!(out, [-1, 1]);
    }
}
