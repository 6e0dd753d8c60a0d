//! Types, rounding and special values of operators that work element by element.

use super::{KINDS, Sample, compute, float, integer, scalar};
use crate::aclnn::data_type::DataType::{Bf16, F16, F32, F64, I32, I64};
use crate::aclnn::data_type::{DataType, ScalarValue};
use crate::aclnn::kernels;
use crate::aclnn::object::{self, ObjectKind};

const NULL: Result<(u64, usize), i32> = Err(161_001);
const INVALID: Result<(u64, usize), i32> = Err(161_002);

fn one(kind: DataType, value: f64) -> Sample {
    Sample::new(kind, &[1], &[value])
}

fn sum(a: (DataType, f64), b: (DataType, f64), alpha: ScalarValue, out: DataType) -> f64 {
    let (a, b, out) = (one(a.0, a.1), one(b.0, b.1), one(out, 99.0));
    compute(|call| kernels::add(call, a.handle, b.handle, scalar(alpha), out.handle)).unwrap();
    out.values()[0]
}

#[test]
fn sums_are_rounded_once_to_nearest_even() {
    let one = ScalarValue::Integer(1);
    assert_eq!(sum((F16, 2048.0), (F16, 1.0), one, F16), 2048.0);
    assert_eq!(sum((F16, 2048.0), (F16, 3.0), one, F16), 2052.0);
    assert_eq!(sum((Bf16, 256.0), (Bf16, 1.0), one, Bf16), 256.0);
    assert_eq!(sum((Bf16, 256.0), (Bf16, 3.0), one, Bf16), 260.0);
    assert_eq!(
        sum((F16, 65_504.0), (F16, 65_504.0), one, F16),
        f64::INFINITY
    );
    // Rounded to the type of the computation also where the output could hold more.
    assert_eq!(sum((F16, 2048.0), (F16, 1.0), one, F32), 2048.0);
    // The two 16-bit types meet in 32 bits.
    assert_eq!(sum((F16, 2048.0), (Bf16, 1.0), one, F32), 2049.0);
}

#[test]
fn inputs_and_scalars_are_converted_to_the_type_of_the_computation_first() {
    let one = ScalarValue::Integer(1);
    assert_eq!(sum((F16, 0.0), (I64, 2049.0), one, F32), 2048.0);
    assert_eq!(sum((F16, 0.0), (I32, 70_000.0), one, F32), f64::INFINITY);
    let tenth = f64::from(half::f16::from_f64(0.1));
    assert_eq!(
        sum((F16, 0.0), (F16, 1.0), ScalarValue::Float(0.1), F16),
        tenth
    );
    assert_eq!(
        sum((F64, 0.0), (F32, 1.0), ScalarValue::Float(0.1), F64),
        0.1
    );
    assert_eq!(
        sum((F32, 0.0), (F32, 1.0), ScalarValue::Float(1.1), F32),
        f64::from(1.1_f32)
    );
}

#[test]
fn integers_wrap() {
    let one = ScalarValue::Integer(1);
    let top = f64::from(i32::MAX);
    assert_eq!(sum((I32, top), (I32, 1.0), one, I32), f64::from(i32::MIN));
    assert_eq!(sum((I32, top), (I64, 1.0), one, I64), top + 1.0);
    assert_eq!(sum((I32, top), (I64, 1.0), one, I32), f64::from(i32::MIN));
}

#[test]
fn a_fraction_is_not_stored_as_an_integer_by_arithmetic() {
    let (x, n) = (one(F32, 1.5), one(I32, 2.0));
    let (half, unit) = (float(0.5), integer(1));
    let add = |a: &Sample, b: &Sample, alpha, out: &Sample| {
        compute(|call| kernels::add(call, a.handle, b.handle, alpha, out.handle))
    };
    assert_eq!(add(&n, &n, half, &x), INVALID);
    assert_eq!(add(&x, &n, unit, &n), INVALID);
    assert_eq!(add(&n, &n, unit, &x), Ok((0, 1)));
    assert_eq!(x.values(), [4.0]);
    assert_eq!(
        compute(|call| kernels::muls_in_place(call, n.handle, half)),
        INVALID
    );
    assert_eq!(
        compute(|call| kernels::add_in_place(call, n.handle, x.handle, unit)),
        INVALID
    );
    assert_eq!(
        compute(|call| kernels::muls(call, n.handle, half, x.handle)),
        Ok((0, 1))
    );
    assert_eq!(x.values(), [1.0]);
}

#[test]
fn scalars_are_added_and_multiplied_in_every_type() {
    for kind in KINDS {
        let (x, out) = (
            Sample::new(kind, &[3], &[1.0, -2.0, 4.0]),
            Sample::new(kind, &[3], &[0.0; 3]),
        );
        let (two, three) = (integer(2), integer(3));
        compute(|call| kernels::adds(call, x.handle, two, three, out.handle)).unwrap();
        assert_eq!(out.values(), [7.0, 4.0, 10.0], "{kind:?}");
        compute(|call| kernels::muls(call, x.handle, three, out.handle)).unwrap();
        assert_eq!(out.values(), [3.0, -6.0, 12.0], "{kind:?}");
        compute(|call| kernels::mul(call, x.handle, out.handle, out.handle)).unwrap();
        assert_eq!(out.values(), [3.0, 12.0, 48.0], "{kind:?}");
        compute(|call| kernels::mul_in_place(call, out.handle, x.handle)).unwrap();
        assert_eq!(out.values(), [3.0, -24.0, 192.0], "{kind:?}");
        compute(|call| kernels::adds_in_place(call, out.handle, two, three)).unwrap();
        assert_eq!(out.values(), [9.0, -18.0, 198.0], "{kind:?}");
    }
    let (x, out) = (one(Bf16, 1.0), one(Bf16, 0.0));
    compute(|call| kernels::adds(call, x.handle, float(0.1), integer(1), out.handle)).unwrap();
    let tenth = f64::from(half::bf16::from_f64(0.1));
    assert_eq!(out.values(), [f64::from(half::bf16::from_f64(1.0 + tenth))]);
}

#[test]
fn relu_keeps_nan() {
    for kind in KINDS.into_iter().filter(|kind| kind.is_float()) {
        let values = [-1.0, -0.0, 2.0, f64::NAN, f64::NEG_INFINITY, f64::INFINITY];
        let x = Sample::new(kind, &[6], &values);
        let out = Sample::new(kind, &[6], &[9.0; 6]);
        compute(|call| kernels::relu(call, x.handle, out.handle)).unwrap();
        let out = out.values();
        assert_eq!(out[..3], [0.0, 0.0, 2.0], "{kind:?}");
        assert!(out[1].is_sign_positive() && out[3].is_nan());
        assert_eq!(out[4..], [0.0, f64::INFINITY]);
    }
    let x = Sample::new(I64, &[2], &[-5.0, 5.0]);
    compute(|call| kernels::relu_in_place(call, x.handle)).unwrap();
    assert_eq!(x.values(), [0.0, 5.0]);
}

#[test]
fn casts_truncate_saturate_and_round_once() {
    let cast = |from: DataType, value: f64, to: DataType| {
        let (x, out) = (one(from, value), one(to, 9.0));
        compute(|call| kernels::cast(call, x.handle, super::code(to), out.handle)).unwrap();
        out.values()[0]
    };
    assert_eq!(cast(F32, -2.9, I32), -2.0);
    assert_eq!(cast(F64, 1e30, I32), f64::from(i32::MAX));
    assert_eq!(cast(F32, f64::NAN, I64), 0.0);
    assert_eq!(cast(I64, f64::from(1 << 30) * 4.0 + 5.0, I32), 5.0);
    assert_eq!(
        cast(F64, 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40), F16),
        1.0 + 2_f64.powi(-10)
    );
    assert_eq!(cast(I32, 257.0, Bf16), 256.0);
    assert_eq!(cast(F16, 0.1, F64), f64::from(half::f16::from_f64(0.1)));
    for (from, to) in KINDS
        .into_iter()
        .flat_map(|from| KINDS.map(|to| (from, to)))
    {
        assert_eq!(cast(from, 96.0, to), 96.0, "{from:?} {to:?}");
    }
    let (x, out) = (one(F32, 1.0), one(F16, 1.0));
    assert_eq!(
        compute(|call| kernels::cast(call, x.handle, 3, out.handle)),
        INVALID
    );
    assert_eq!(
        compute(|call| kernels::cast(call, x.handle, 2, out.handle)),
        INVALID
    );
    let pair = Sample::new(F16, &[2], &[0.0; 2]);
    assert_eq!(
        compute(|call| kernels::cast(call, x.handle, 1, pair.handle)),
        INVALID
    );
}

#[test]
fn copies_broadcast_and_convert() {
    let source = Sample::new(F64, &[2, 1], &[1.5, -2.5]);
    let target = Sample::new(I32, &[2, 2], &[0.0; 4]);
    compute(|call| kernels::copy_in_place(call, target.handle, source.handle)).unwrap();
    assert_eq!(target.values(), [1.0, 1.0, -2.0, -2.0]);
    let wrong = compute(|call| kernels::copy_in_place(call, source.handle, target.handle));
    assert_eq!(wrong, INVALID);
}

#[test]
fn fills_reach_exactly_the_view() {
    for kind in KINDS {
        let storage = Sample::new(kind, &[6], &[5.0; 6]);
        let view = storage.view(&[3], &[2], 1);
        compute(|call| kernels::fill_scalar(call, view.handle, float(7.0))).unwrap();
        assert_eq!(storage.values(), [5.0, 7.0, 5.0, 7.0, 5.0, 7.0]);
        compute(|call| kernels::one(call, view.handle)).unwrap();
        assert_eq!(storage.values(), [5.0, 1.0, 5.0, 1.0, 5.0, 1.0]);
        compute(|call| kernels::zero(call, view.handle)).unwrap();
        assert_eq!(storage.values(), [5.0, 0.0, 5.0, 0.0, 5.0, 0.0]);
    }
    let x = one(F16, 0.0);
    let above = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40);
    compute(|call| kernels::fill_scalar(call, x.handle, float(above))).unwrap();
    assert_eq!(x.values(), [1.0 + 2_f64.powi(-10)]);
}

#[test]
fn missing_wrong_and_destroyed_arguments_have_different_codes() {
    let x = one(F32, 1.0);
    let alpha = integer(1);
    let add = |a, b, alpha| compute(|call| kernels::add(call, a, b, alpha, x.handle));
    assert_eq!(add(0, x.handle, alpha), NULL);
    assert_eq!(add(x.handle, 0, alpha), NULL);
    assert_eq!(add(x.handle, x.handle, 0), NULL);
    assert_eq!(add(x.handle, alpha, alpha), INVALID);
    assert_eq!(add(x.handle, x.handle, x.handle), INVALID);
    let gone = one(F32, 1.0);
    object::destroy(gone.handle, ObjectKind::Tensor).unwrap();
    assert_eq!(add(gone.handle, x.handle, alpha), INVALID);
    assert_eq!(
        object::destroy(gone.handle, ObjectKind::Tensor)
            .unwrap_err()
            .code,
        161_002
    );
    let deep = Sample::new(F32, &[1; 9], &[1.0]);
    assert_eq!(add(deep.handle, x.handle, alpha), INVALID);
    let (two, three) = (
        Sample::new(F32, &[2], &[1.0; 2]),
        Sample::new(F32, &[3], &[1.0; 3]),
    );
    assert_eq!(add(two.handle, three.handle, alpha), INVALID);
    // The output is not stretched to, nor from, the shape of the result.
    assert_eq!(add(two.handle, two.handle, alpha), INVALID);
    let wide = compute(|call| kernels::add(call, x.handle, x.handle, alpha, two.handle));
    assert_eq!(wide, INVALID);
}
