//! Matrix products against a plain triple loop.

use super::{Chance, KINDS, Sample, compute, indices};
use crate::aclnn::data_type::DataType::{self, Bf16, F16, F32, F64, I32};
use crate::aclnn::kernels;

fn matmul(a: &Sample, b: &Sample, out: &Sample) -> Result<(u64, usize), i32> {
    compute(|call| kernels::matmul(call, a.handle, b.handle, out.handle, 0))
}

/// The element at an index with front dimensions that broadcast.
fn at(values: &[f64], shape: &[i64], batch: &[i64], row: i64, column: i64) -> f64 {
    let own = shape.len() - 2;
    let batch = &batch[batch.len() - own..];
    let place = batch.iter().zip(shape).fold(0, |place, (index, length)| {
        place * length + index.min(&(length - 1))
    });
    values[((place * shape[own] + row) * shape[own + 1] + column) as usize]
}

#[track_caller]
fn multiplies(chance: &mut Chance, kinds: (DataType, DataType), a: &[i64], b: &[i64], out: &[i64]) {
    let count = |shape: &[i64]| shape.iter().product::<i64>() as usize;
    let (left, right) = (chance.values(count(a)), chance.values(count(b)));
    let kind = kinds.0.promote(kinds.1);
    let result = Sample::new(kind, out, &vec![77.0; count(out)]);
    let (x, y) = (
        Sample::new(kinds.0, a, &left),
        Sample::new(kinds.1, b, &right),
    );
    matmul(&x, &y, &result).unwrap();
    let batch = out.len() - 2;
    let expected: Vec<f64> = indices(out)
        .iter()
        .map(|index| {
            let (front, matrix) = index.split_at(batch);
            (0..a[a.len() - 1])
                .map(|k| at(&left, a, front, matrix[0], k) * at(&right, b, front, k, matrix[1]))
                .sum()
        })
        .collect();
    assert_eq!(result.values(), expected, "{kinds:?} {a:?} {b:?}");
}

#[test]
fn products_of_every_type_and_batch_are_those_of_a_triple_loop() {
    let mut chance = Chance(3);
    let shapes: [(&[i64], &[i64], &[i64]); 7] = [
        (&[2, 3], &[3, 4], &[2, 4]),
        (&[1, 1], &[1, 1], &[1, 1]),
        (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
        (&[2, 3], &[5, 3, 4], &[5, 2, 4]),
        (&[2, 1, 4, 3], &[3, 3, 2], &[2, 3, 4, 2]),
        (
            &[1, 2, 1, 2, 3, 2],
            &[2, 1, 2, 1, 2, 3],
            &[2, 2, 2, 2, 3, 3],
        ),
        (&[2, 0], &[0, 3], &[2, 3]),
    ];
    for (a, b, out) in shapes {
        for kinds in KINDS
            .into_iter()
            .flat_map(|one| KINDS.map(|other| (one, other)))
        {
            multiplies(&mut chance, kinds, a, b, out);
        }
    }
    multiplies(&mut chance, (F32, F32), &[33, 70], &[70, 65], &[33, 65]);
    multiplies(&mut chance, (F64, F64), &[65, 17], &[17, 40], &[65, 40]);
}

#[test]
fn vectors_lose_their_dimension() {
    let (a, b) = (
        Sample::new(F32, &[3], &[1.0, 2.0, 3.0]),
        Sample::new(F32, &[3], &[4.0, 5.0, 6.0]),
    );
    let matrix = Sample::new(F32, &[2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    let batch = Sample::new(F32, &[2, 3, 1], &[1.0, 1.0, 1.0, 2.0, 0.0, 0.0]);
    let (dot, two) = (
        Sample::new(F32, &[], &[0.0]),
        Sample::new(F32, &[2], &[0.0; 2]),
    );
    matmul(&a, &b, &dot).unwrap();
    assert_eq!(dot.values(), [32.0]);
    matmul(&matrix, &b, &two).unwrap();
    assert_eq!(two.values(), [4.0, 11.0]);
    let row = Sample::new(F32, &[2, 1], &[0.0; 2]);
    matmul(&a, &batch, &row).unwrap();
    assert_eq!(row.values(), [6.0, 2.0]);
    assert_eq!(
        matmul(&a, &b, &Sample::new(F32, &[1], &[0.0])),
        Err(161_002)
    );
}

#[test]
fn views_are_multiplied_where_they_lie() {
    let storage = Sample::new(F32, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let turned = storage.view(&[3, 2], &[1, 3], 0);
    let square = Sample::new(F32, &[2, 2], &[0.0; 4]);
    assert_eq!(matmul(&storage, &turned, &square), Ok((0, 1)));
    assert_eq!(square.values(), [14.0, 32.0, 32.0, 77.0]);
    let column = square.view(&[2, 2], &[1, 2], 0);
    matmul(&square, &square, &column).unwrap();
    let expected = [1220.0, 2912.0, 2912.0, 6953.0];
    assert_eq!(square.values(), expected);
    // Every row is the same row.
    let repeated = storage.view(&[2, 3], &[0, 1], 0);
    matmul(&repeated, &turned, &square).unwrap();
    assert_eq!(square.values(), [14.0, 32.0, 14.0, 32.0]);
}

#[test]
fn half_products_are_summed_in_the_workspace_and_rounded_once() {
    for (kind, large) in [(F16, 2048.0), (Bf16, 256.0)] {
        let a = Sample::new(kind, &[1, 5], &[large, 1.0, 1.0, 1.0, 1.0]);
        let b = Sample::new(kind, &[5, 1], &[1.0; 5]);
        let out = Sample::new(kind, &[1, 1], &[0.0]);
        let (workspace, tasks) = matmul(&a, &b, &out).unwrap();
        assert_eq!(out.values(), [large + 4.0]);
        assert_eq!((workspace, tasks), (3 * 64, 4));
        let wide = Sample::new(F32, &[1, 1], &[0.0]);
        assert_eq!(matmul(&a, &b, &wide), Ok((2 * 64, 3)));
    }
}

#[test]
fn shapes_types_and_precisions_are_checked() {
    let sample = |shape: &[i64]| Sample::new(F32, shape, &[1.0; 64]);
    let wrong: [(&[i64], &[i64], &[i64]); 6] = [
        (&[2, 3], &[2, 3], &[2, 3]),
        (&[2, 3], &[3, 4], &[4, 2]),
        (&[2, 2, 3], &[3, 3, 4], &[2, 2, 4]),
        (&[], &[1], &[]),
        (&[1; 7], &[1; 7], &[1; 7]),
        (&[2, 3], &[3], &[2, 1]),
    ];
    for (a, b, out) in wrong {
        assert_eq!(
            matmul(&sample(a), &sample(b), &sample(out)),
            Err(161_002),
            "{a:?} {b:?}"
        );
    }
    let x = sample(&[2, 2]);
    let out = sample(&[2, 2]);
    let mm = |a: &Sample, precision| {
        compute(|call| kernels::mm(call, a.handle, x.handle, out.handle, precision))
    };
    assert_eq!(mm(&x, 3), Ok((0, 1)));
    assert_eq!(mm(&x, 4), Err(161_002));
    assert_eq!(mm(&sample(&[2]), 0), Err(161_002));
    let whole = Sample::new(I32, &[2, 2], &[0.0; 4]);
    assert_eq!(matmul(&x, &x, &whole), Err(161_002));
}
