//! Any shape, stride, offset and broadcast gives the same as a plain loop over indices.

use super::{Chance, KINDS, Sample, compute, indices, integer};
use crate::aclnn::kernels;

/// A layout with gaps and its dimensions in any order in memory.
struct Layout {
    shape: Vec<i64>,
    strides: Vec<i64>,
    offset: i64,
    elements: usize,
}

impl Layout {
    fn any(chance: &mut Chance, shape: &[i64]) -> Self {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, chance.below(at + 1));
        }
        let mut strides = vec![0; shape.len()];
        let mut next = 1 + chance.below(2) as i64;
        for at in order {
            strides[at] = next;
            next = next * shape[at] + chance.below(3) as i64;
        }
        let offset = chance.below(4) as i64;
        Self {
            shape: shape.to_vec(),
            strides,
            offset,
            elements: (offset + next) as usize + 1,
        }
    }

    /// One that broadcasts to the shape: some dimensions are missing, 1, or repeated by a stride of 0.
    fn broadcasting(chance: &mut Chance, shape: &[i64]) -> Self {
        let missing = chance.below(shape.len() + 1) * chance.below(2);
        let mut own = shape[missing..].to_vec();
        own.iter_mut().for_each(|length| {
            if chance.below(4) == 0 {
                *length = 1;
            }
        });
        let mut layout = Self::any(chance, &own);
        for stride in &mut layout.strides {
            if chance.below(4) == 0 {
                *stride = 0;
            }
        }
        layout
    }

    fn place(&self, index: &[i64]) -> usize {
        let skipped = index.len() - self.shape.len();
        let own = index[skipped..].iter().zip(&self.shape).zip(&self.strides);
        let steps = own.map(|((at, length), stride)| at.min(&(length - 1)) * stride);
        (self.offset + steps.sum::<i64>()) as usize
    }

    fn sample(&self, chance: &mut Chance, kind: crate::aclnn::data_type::DataType) -> Sample {
        let values = chance.values(self.elements);
        Sample::laid_out(kind, &self.shape, &self.strides, self.offset, &values)
    }
}

/// The shape that two layouts make together.
fn together(one: &Layout, other: &Layout) -> Vec<i64> {
    let rank = one.shape.len().max(other.shape.len());
    let length = |layout: &Layout, at: usize| {
        let missing = rank - layout.shape.len();
        if at < missing {
            1
        } else {
            layout.shape[at - missing]
        }
    };
    (0..rank)
        .map(|at| length(one, at).max(length(other, at)))
        .collect()
}

#[test]
fn sums_of_any_layouts_and_types_are_those_of_a_plain_loop() {
    let mut chance = Chance(7);
    for round in 0..3000 {
        let rank = chance.below(9);
        let whole: Vec<i64> = (0..rank).map(|_| 1 + chance.below(3) as i64).collect();
        let (a, b) = (
            Layout::broadcasting(&mut chance, &whole),
            Layout::broadcasting(&mut chance, &whole),
        );
        let to = Layout::any(&mut chance, &together(&a, &b));
        let (one, other) = (KINDS[chance.below(6)], KINDS[chance.below(6)]);
        let kind = one.promote(other);
        let (x, y) = (a.sample(&mut chance, one), b.sample(&mut chance, other));
        let out = to.sample(&mut chance, kind);
        let alpha = chance.below(5) as i64 - 2;
        let mut expected = out.values();
        let (left, right) = (x.values(), y.values());
        for index in indices(&to.shape) {
            expected[to.place(&index)] =
                left[a.place(&index)] + alpha as f64 * right[b.place(&index)];
        }
        let alpha = integer(alpha);
        compute(|call| kernels::add(call, x.handle, y.handle, alpha, out.handle)).unwrap();
        // Memory between the elements is unchanged.
        assert_eq!(out.values(), expected, "round {round}: {one:?} {other:?}");
        assert_eq!((x.values(), y.values()), (left, right));
    }
}

#[test]
fn long_rows_are_computed_to_their_end() {
    for length in [255, 256, 257, 5000] {
        let values: Vec<f64> = (0..length).map(f64::from).collect();
        let x = Sample::new(
            crate::aclnn::data_type::DataType::F32,
            &[length.into()],
            &values,
        );
        compute(|call| kernels::muls_in_place(call, x.handle, integer(3))).unwrap();
        let expected: Vec<f64> = values.iter().map(|it| 3.0 * it).collect();
        assert_eq!(x.values(), expected);
    }
}

#[test]
fn overlapping_memory_is_read_before_it_is_written() {
    use crate::aclnn::data_type::DataType::F32;
    let values: Vec<f64> = (0..700).map(f64::from).collect();
    for (from, to) in [(0, 1), (1, 0), (0, 300), (3, 2)] {
        let storage = Sample::new(F32, &[700], &values);
        let source = storage.view(&[350], &[1], from);
        let target = storage.view(&[350], &[1], to);
        compute(|call| kernels::copy_in_place(call, target.handle, source.handle)).unwrap();
        let (from, to) = (from as usize, to as usize);
        let mut expected = values.clone();
        expected.copy_within(from..from + 350, to);
        assert_eq!(storage.values(), expected);
    }
    // A matrix becomes its own mirror image.
    let square = Sample::new(F32, &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let mirrored = square.view(&[2, 2], &[1, 2], 0);
    let one = integer(1);
    compute(|call| kernels::add_in_place(call, square.handle, mirrored.handle, one)).unwrap();
    assert_eq!(square.values(), [2.0, 5.0, 5.0, 8.0]);
}

#[test]
fn an_output_with_elements_that_share_memory_is_refused() {
    use crate::aclnn::data_type::DataType::F32;
    let x = Sample::new(F32, &[4], &[1.0; 4]);
    for (shape, strides) in [([4_i64, 1], [0, 0]), ([2, 3], [1, 1])] {
        let spread = x.view(&shape, &strides, 0);
        assert_eq!(
            compute(|call| kernels::zero(call, spread.handle)),
            Err(161_002)
        );
    }
    let column = x.view(&[1, 4], &[0, 1], 0);
    assert_eq!(
        compute(|call| kernels::zero(call, column.handle)),
        Ok((0, 1))
    );
}

#[test]
fn empty_tensors_need_no_task() {
    use crate::aclnn::data_type::DataType::F16;
    let (x, y) = (
        Sample::new(F16, &[2, 0], &[]),
        Sample::new(F16, &[1], &[1.0]),
    );
    let one = integer(1);
    let sum = compute(|call| kernels::add(call, x.handle, y.handle, one, x.handle));
    assert_eq!(sum, Ok((0, 0)));
    assert_eq!(
        compute(|call| kernels::softmax(call, x.handle, 0, x.handle)),
        Ok((0, 0))
    );
    assert_eq!(compute(|call| kernels::one(call, x.handle)), Ok((0, 0)));
    let wrong = compute(|call| kernels::add(call, x.handle, y.handle, one, y.handle));
    assert_eq!(wrong, Err(161_002));
}
