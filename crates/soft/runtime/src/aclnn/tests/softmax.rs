//! Softmax against its definition in 64 bits.

use super::{Chance, Sample, compute, indices};
use crate::aclnn::data_type::DataType::{self, Bf16, F16, F32, F64, I32};
use crate::aclnn::kernels;

fn softmax(x: &Sample, dimension: i64, out: &Sample) -> Result<(u64, usize), i32> {
    compute(|call| kernels::softmax(call, x.handle, dimension, out.handle))
}

fn tolerance(kind: DataType) -> f64 {
    match kind {
        F64 => 1e-14,
        F32 => 1e-6,
        F16 => 6e-4,
        _ => 5e-3,
    }
}

fn reference(shape: &[i64], dimension: usize, values: &[f64]) -> Vec<f64> {
    let place = |index: &[i64]| {
        let place = index
            .iter()
            .zip(shape)
            .fold(0, |place, (at, length)| place * length + at);
        place as usize
    };
    let all = indices(shape);
    let row = |index: &[i64]| -> Vec<f64> {
        (0..shape[dimension])
            .map(|at| {
                let mut index = index.to_vec();
                index[dimension] = at;
                values[place(&index)]
            })
            .collect()
    };
    all.iter()
        .map(|index| {
            let sum: f64 = row(index).iter().map(|it| it.exp()).sum();
            values[place(index)].exp() / sum
        })
        .collect()
}

#[test]
fn every_dimension_and_type_follows_the_definition() {
    let mut chance = Chance(11);
    let shapes: [&[i64]; 4] = [&[4], &[3, 5], &[2, 3, 4], &[1, 2, 1, 2, 1, 2, 1, 3]];
    for shape in shapes {
        for kind in [F32, F64, F16, Bf16] {
            for dimension in 0..shape.len() {
                let count = shape.iter().product::<i64>() as usize;
                let values = chance.values(count);
                let (x, out) = (
                    Sample::new(kind, shape, &values),
                    Sample::new(kind, shape, &vec![9.0; count]),
                );
                let from_behind = dimension as i64 - shape.len() as i64;
                softmax(&x, from_behind, &out).unwrap();
                let expected = reference(shape, dimension, &values);
                for (got, wanted) in out.values().iter().zip(expected) {
                    assert!(
                        (got - wanted).abs() <= tolerance(kind),
                        "{kind:?} {got} {wanted}"
                    );
                }
                softmax(&x, dimension as i64, &x).unwrap();
                assert_eq!(x.values(), out.values(), "in place");
            }
        }
    }
}

#[test]
fn long_rows_large_values_and_strides_are_fine() {
    let values: Vec<f64> = (0..1400).map(|it| f64::from(it % 7) + 1000.0).collect();
    let storage = Sample::new(F32, &[1400], &values);
    let x = storage.view(&[700, 2], &[2, 1], 0);
    let out = Sample::laid_out(F32, &[700, 2], &[1, 700], 0, &[0.0; 1400]);
    let (workspace, tasks) = softmax(&x, 0, &out).unwrap();
    assert_eq!((workspace, tasks), ((700_u64 * 4).next_multiple_of(64), 1));
    let expected = reference(
        &[700, 2],
        0,
        &values.iter().map(|it| it - 1000.0).collect::<Vec<_>>(),
    );
    for (index, got) in out.values().iter().enumerate() {
        let wanted = expected[index % 700 * 2 + index / 700];
        assert!((got - wanted).abs() < 1e-6);
    }
}

#[test]
fn nan_fills_its_row() {
    let values = [
        0.0,
        f64::NAN,
        0.0,
        1.0,
        f64::NEG_INFINITY,
        1.0,
        f64::NEG_INFINITY,
        f64::NEG_INFINITY,
    ];
    for kind in [F32, F16, F64, Bf16] {
        let x = Sample::new(kind, &[4, 2], &values);
        softmax(&x, 1, &x).unwrap();
        let out = x.values();
        assert!(out[0].is_nan() && out[1].is_nan() && out[6].is_nan() && out[7].is_nan());
        assert!((out[2] + out[3] - 1.0).abs() < 0.01);
        assert_eq!(out[4..6], [0.0, 1.0]);
    }
}

#[test]
fn a_single_element_is_certain_and_wrong_arguments_are_refused() {
    let x = Sample::new(F32, &[], &[3.0]);
    softmax(&x, -1, &x).unwrap();
    assert_eq!(x.values(), [1.0]);
    assert_eq!(softmax(&x, 1, &x), Err(161_002));
    let row = Sample::new(F32, &[2], &[0.0; 2]);
    assert_eq!(softmax(&row, -2, &row), Err(161_002));
    assert_eq!(softmax(&row, 0, &x), Err(161_002));
    let whole = Sample::new(I32, &[2], &[0.0; 2]);
    assert_eq!(softmax(&whole, 0, &whole), Err(161_002));
}
