//! Single values in the data types of AscendCL.

use core::fmt::{self, Write};

/// Codes of `aclDataType`.
mod code {
    pub(super) const FLOAT: u64 = 0;
    pub(super) const FLOAT16: u64 = 1;
    pub(super) const INT8: u64 = 2;
    pub(super) const INT32: u64 = 3;
    pub(super) const UINT8: u64 = 4;
    pub(super) const INT16: u64 = 6;
    pub(super) const UINT16: u64 = 7;
    pub(super) const UINT32: u64 = 8;
    pub(super) const INT64: u64 = 9;
    pub(super) const UINT64: u64 = 10;
    pub(super) const DOUBLE: u64 = 11;
    pub(super) const BOOL: u64 = 12;
    pub(super) const BF16: u64 = 27;
}

/// Bytes of a value; `None` for types that are not written down.
pub(crate) fn width(data_type: u64) -> Option<usize> {
    Some(match data_type {
        code::INT8 | code::UINT8 | code::BOOL => 1,
        code::FLOAT16 | code::BF16 | code::INT16 | code::UINT16 => 2,
        code::FLOAT | code::INT32 | code::UINT32 => 4,
        code::INT64 | code::UINT64 | code::DOUBLE => 8,
        _ => return None,
    })
}

/// Writes a value, given its bits.
pub(crate) fn write(to: &mut impl Write, data_type: u64, bits: u64) -> fmt::Result {
    match data_type {
        code::BOOL => write!(to, "{}", bits as u8 != 0),
        code::INT8 => write!(to, "{}", bits as i8),
        code::INT16 => write!(to, "{}", bits as i16),
        code::INT32 => write!(to, "{}", bits as i32),
        code::INT64 => write!(to, "{}", bits as i64),
        code::UINT8 | code::UINT16 | code::UINT32 | code::UINT64 => write!(to, "{bits}"),
        code::FLOAT => single(to, f32::from_bits(bits as u32)),
        code::BF16 => single(to, f32::from_bits((bits as u32) << 16)),
        code::FLOAT16 => single(to, half(bits as u16)),
        code::DOUBLE => double(to, f64::from_bits(bits)),
        _ => Err(fmt::Error),
    }
}

/// The shortest text that is unambiguous, without hundreds of zeros.
fn single(to: &mut impl Write, value: f32) -> fmt::Result {
    match value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs()) {
        true => write!(to, "{value}"),
        false => write!(to, "{value:e}"),
    }
}

fn double(to: &mut impl Write, value: f64) -> fmt::Result {
    match value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs()) {
        true => write!(to, "{value}"),
        false => write!(to, "{value:e}"),
    }
}

/// The value of 16 bits: a sign, 5 of the exponent, 10 of the fraction.
fn half(bits: u16) -> f32 {
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    let exponent = i32::from(bits >> 10 & 0x1f);
    let power = |exponent: i32| f32::from_bits(((exponent + 127) as u32) << 23);
    let value = match exponent {
        0 => fraction * power(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * power(exponent - 15),
    };
    if bits & 0x8000 == 0 { value } else { -value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_type_are_written() {
        let cases = [
            (code::BOOL, 1, "true"),
            (code::INT8, 0xff, "-1"),
            (code::UINT8, 0xff, "255"),
            (code::INT16, 0x8000, "-32768"),
            (code::UINT16, 0x8000, "32768"),
            (code::INT32, 0xffff_fffe, "-2"),
            (code::UINT32, 0xffff_fffe, "4294967294"),
            (code::INT64, u64::MAX, "-1"),
            (code::UINT64, u64::MAX, "18446744073709551615"),
            (code::FLOAT, u64::from(0.1_f32.to_bits()), "0.1"),
            (code::FLOAT, u64::from(f32::MAX.to_bits()), "3.4028235e38"),
            (code::FLOAT, u64::from(f32::NAN.to_bits()), "NaN"),
            (code::DOUBLE, 1e-9_f64.to_bits(), "1e-9"),
            (code::DOUBLE, (-0.01_f64).to_bits(), "-0.01"),
            (code::DOUBLE, f64::NEG_INFINITY.to_bits(), "-inf"),
            (code::BF16, 0x3f80, "1"),
            (code::FLOAT16, 0xc100, "-2.5"),
            (code::FLOAT16, 0x7c00, "inf"),
            (code::FLOAT16, 0x0400, "0.000061035156"),
            (code::FLOAT16, 0x0001, "5.9604645e-8"),
        ];
        for (data_type, bits, expected) in cases {
            let mut text = String::new();
            write(&mut text, data_type, bits).unwrap();
            assert_eq!(text, expected, "{data_type}");
            assert!(width(data_type).is_some());
        }
        assert_eq!(width(99), None);
        assert!(write(&mut String::new(), 99, 0).is_err());
    }
}
