//! Batches of matrix products in one type.

use crate::data_type::DataType;
use crate::elementwise::undisturbed;
use crate::number::{Number, read, write};
use crate::view::{View, runs};

/// Rows or columns, and the bytes between them.
#[derive(Debug, Clone, Copy)]
struct Matrix {
    shape: [usize; 2],
    strides: [usize; 2],
}

/// Multiplies the matrices in the last two dimensions. All have the same number of dimensions, data
/// type and batches.
pub(crate) fn run(a: View, b: View, out: &View) {
    let (_copies, [a, b]) = undisturbed([a, b], out);
    let kind = out.kind;
    let (a, left) = matrices(a);
    let (b, right) = matrices(b);
    let (out, target) = matrices(out.clone());
    runs(&out.shape, &[&a, &b, &out], |count, rows| {
        for index in 0..count {
            let places = [0, 1, 2].map(|row: usize| rows[row].at(index));
            multiply(kind, places, left, right, target);
        }
    });
}

/// Where the matrices of each batch begin, and their layout.
fn matrices(view: View) -> (View, Matrix) {
    let at = view.shape.len() - 2;
    let matrix = Matrix {
        shape: [view.shape[at], view.shape[at + 1]],
        strides: [view.strides[at], view.strides[at + 1]],
    };
    (view.without_dimension(at + 1).without_dimension(at), matrix)
}

fn multiply(kind: DataType, places: [usize; 3], a: Matrix, b: Matrix, out: Matrix) {
    let [from_a, from_b, to] = places;
    let [rows, columns] = out.shape;
    let inner = a.shape[1];
    let step = |matrix: Matrix, at: usize| (matrix.strides[at] / kind.size()) as isize;
    match kind {
        // SAFETY: the views are in memory of this library, aligned to their elements; the output's
        // elements do not overlap each other and the inputs, as `undisturbed` has checked.
        DataType::F64 => unsafe {
            matrixmultiply::dgemm(
                rows,
                inner,
                columns,
                1.0,
                from_a as *const f64,
                step(a, 0),
                step(a, 1),
                from_b as *const f64,
                step(b, 0),
                step(b, 1),
                0.0,
                to as *mut f64,
                step(out, 0),
                step(out, 1),
            );
        },
        DataType::I32 => integers::<i32>(places, a, b, out),
        DataType::I64 => integers::<i64>(places, a, b, out),
        // SAFETY: as above.
        _ => unsafe {
            matrixmultiply::sgemm(
                rows,
                inner,
                columns,
                1.0,
                from_a as *const f32,
                step(a, 0),
                step(a, 1),
                from_b as *const f32,
                step(b, 0),
                step(b, 1),
                0.0,
                to as *mut f32,
                step(out, 0),
                step(out, 1),
            );
        },
    }
}

/// Row by row, so that the right matrix is read along its rows.
fn integers<C: Number>([from_a, from_b, to]: [usize; 3], a: Matrix, b: Matrix, out: Matrix) {
    let [rows, columns] = out.shape;
    let mut factors = vec![C::default(); a.shape[1]];
    let mut line = vec![C::default(); columns];
    let mut sums = vec![C::default(); columns];
    for row in 0..rows {
        read(
            C::TYPE,
            from_a + row * a.strides[0],
            a.strides[1],
            &mut factors,
        );
        sums.fill(C::default());
        for (index, factor) in factors.iter().enumerate() {
            read(
                C::TYPE,
                from_b + index * b.strides[0],
                b.strides[1],
                &mut line,
            );
            for (sum, value) in sums.iter_mut().zip(&line) {
                *sum = sum.plus(factor.times(*value));
            }
        }
        write(C::TYPE, to + row * out.strides[0], out.strides[1], &sums);
    }
}
