//! Data buffers, half floats and data types.

use super::acl;
use crate::code::{INVALID_PARAM, fault};
use crate::ffi::{In, Out};

/// `aclDataBuffer`.
#[derive(Clone, Copy)]
pub(crate) struct DataBuffer {
    pub(crate) data: usize,
    pub(crate) size: usize,
}

// SAFETY: the names are AscendCL's; nothing else in this library defines them. This holds for all
// functions here that `acl!` cannot declare because they return something else than a code.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclCreateDataBuffer(data: usize, size: usize) -> *mut DataBuffer {
    Box::into_raw(Box::new(DataBuffer { data, size }))
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetDataBufferAddr(buffer: In<DataBuffer>) -> usize {
    buffer.optional().map_or(0, |buffer| buffer.data)
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetDataBufferSize(buffer: In<DataBuffer>) -> u32 {
    buffer.optional().map_or(0, |buffer| buffer.size as u32)
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetDataBufferSizeV2(buffer: In<DataBuffer>) -> usize {
    buffer.optional().map_or(0, |buffer| buffer.size)
}

/// Bytes per element; 0 for types that are smaller than a byte or unknown.
// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclDataTypeSize(data_type: i32) -> usize {
    match data_type {
        2 | 4 | 12 | 34..=37 => 1,
        1 | 6 | 7 | 27 => 2,
        0 | 3 | 8 | 33 => 4,
        9 | 10 | 11 | 16 => 8,
        17 => 16,
        _ => 0,
    }
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclFloat16ToFloat(value: u16) -> f32 {
    let sign = f32::from_bits(u32::from(value & 0x8000) << 16 | 0x3f80_0000);
    let exponent = i32::from(value >> 10 & 0x1f);
    let fraction = f32::from(value & 0x3ff);
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    sign * magnitude
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclFloatToFloat16(value: f32) -> u16 {
    let sign = (value.to_bits() >> 16) as u16 & 0x8000;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    // From here up the nearest half float is infinity.
    if magnitude >= 65_520.0 {
        return sign | 0x7c00;
    }
    if magnitude < 2f32.powi(-14) {
        return sign | round_to_even(magnitude * 2f32.powi(24));
    }
    let exponent = (magnitude.to_bits() >> 23) as i32 - 127;
    let steps = round_to_even(magnitude * 2f32.powi(10 - exponent));
    // `steps` may be one binade up after rounding; the addition carries into the exponent.
    sign | (((exponent + 15) as u16) << 10).wrapping_add(steps - 1024)
}

fn round_to_even(value: f32) -> u16 {
    value.round_ties_even() as u16
}

acl! {
    fn aclDestroyDataBuffer(buffer: Out<DataBuffer>) {
        buffer.check()?;
        buffer.free()
    }

    fn aclUpdateDataBuffer(buffer: Out<DataBuffer>, data: usize, size: usize) {
        buffer.put(DataBuffer { data, size })
    }

    fn aclGetCannAttribute(attribute: i32, value: Out<i32>) {
        value.check()?;
        if !(0..=2).contains(&attribute) {
            return fault(INVALID_PARAM, "this attribute does not exist");
        }
        value.put(1)
    }

    fn aclGetCannAttributeList(list: Out<*const i32>, count: Out<usize>) {
        static ATTRIBUTES: [i32; 3] = [0, 1, 2];
        count.check()?;
        list.put(ATTRIBUTES.as_ptr())?;
        count.put(ATTRIBUTES.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{aclFloat16ToFloat, aclFloatToFloat16};

    #[test]
    fn every_half_float_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            let value = aclFloat16ToFloat(bits);
            let back = aclFloatToFloat16(value);
            assert!(back == bits || value.is_nan(), "{bits:#x} became {back:#x}");
        }
    }

    #[test]
    fn floats_between_two_half_floats_go_to_the_nearer_one() {
        assert_eq!(aclFloatToFloat16(1.0), 0x3c00);
        assert_eq!(aclFloatToFloat16(-2.0), 0xc000);
        assert_eq!(aclFloatToFloat16(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(aclFloatToFloat16(1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!(aclFloatToFloat16(65_519.0), 0x7bff);
        assert_eq!(aclFloatToFloat16(65_520.0), 0x7c00);
        assert_eq!(aclFloatToFloat16(2f32.powi(-25)), 0);
        assert_eq!(aclFloatToFloat16(2047.6), 0x6800);
    }
}
