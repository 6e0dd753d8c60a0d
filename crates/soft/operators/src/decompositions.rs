//! Matrices as products of others: orthogonal times triangular (`Qr`), and by singular values (`Svd`).

use crate::parameters::{In, Input, Output, Written};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

/// A matrix, its rows one behind the other.
#[derive(Clone)]
struct Matrix {
    rows: usize,
    columns: usize,
    elements: Vec<f64>,
}

impl Matrix {
    fn zero(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            elements: vec![0.0; rows * columns],
        }
    }

    fn identity(rows: usize, columns: usize) -> Self {
        let mut found = Self::zero(rows, columns);
        (0..rows.min(columns)).for_each(|it| *found.at(it, it) = 1.0);
        found
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        self.elements[row * self.columns + column]
    }

    fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.elements[row * self.columns + column]
    }

    fn column(&self, column: usize) -> impl Iterator<Item = f64> {
        (0..self.rows).map(move |row| self.get(row, column))
    }

    fn transposed(&self) -> Self {
        let mut found = Self::zero(self.columns, self.rows);
        for row in 0..self.rows {
            for column in 0..self.columns {
                *found.at(column, row) = self.get(row, column);
            }
        }
        found
    }

    fn first_columns(&self, columns: usize) -> Self {
        let mut found = Self::zero(self.rows, columns);
        for row in 0..self.rows {
            for column in 0..columns {
                *found.at(row, column) = self.get(row, column);
            }
        }
        found
    }

    /// Mirrors all columns: subtracts `factor` times their part of `direction`, which begins at row
    /// `from`.
    fn mirror(&mut self, direction: &[f64], from: usize, factor: f64) {
        for column in 0..self.columns {
            let along: f64 = direction
                .iter()
                .enumerate()
                .map(|(row, it)| it * self.get(from + row, column))
                .sum();
            for (row, it) in direction.iter().enumerate() {
                *self.at(from + row, column) -= factor * along * it;
            }
        }
    }

    /// Turns two columns so that they are orthogonal; whether they were not.
    fn turn(&mut self, [a, b]: [usize; 2], [cosine, sine]: [f64; 2]) {
        for row in 0..self.rows {
            let (x, y) = (self.get(row, a), self.get(row, b));
            *self.at(row, a) = cosine * x - sine * y;
            *self.at(row, b) = sine * x + cosine * y;
        }
    }
}

/// A square orthogonal matrix, and the triangular one that it makes the given one of. By mirrors, with the signs that
/// LAPACK has.
fn orthogonal(given: &Matrix) -> [Matrix; 2] {
    let mut triangle = given.clone();
    let mut mirrors = Vec::new();
    for step in 0..given.rows.min(given.columns) {
        let below: Vec<f64> = triangle.column(step).skip(step).collect();
        if below[1..].iter().all(|it| *it == 0.0) {
            continue;
        }
        let length = below.iter().map(|it| it * it).sum::<f64>().sqrt();
        let end = -length.copysign(below[0]);
        let factor = (end - below[0]) / end;
        let mut direction: Vec<f64> = below.iter().map(|it| it / (below[0] - end)).collect();
        direction[0] = 1.0;
        triangle.mirror(&direction, step, factor);
        *triangle.at(step, step) = end;
        (step + 1..given.rows).for_each(|row| *triangle.at(row, step) = 0.0);
        mirrors.push((direction, step, factor));
    }
    let mut all = Matrix::identity(given.rows, given.rows);
    for (direction, step, factor) in mirrors.iter().rev() {
        all.mirror(direction, *step, *factor);
    }
    [all, triangle]
}

/// Singular values from the largest to the smallest, and the matrices left and right of them: that on
/// the right with one column for each. The input has at least as many rows as columns. By turning pairs
/// of columns.
fn singular(given: &Matrix) -> (Vec<f64>, [Matrix; 2]) {
    const ROUNDS: usize = 60;
    let mut left = given.clone();
    let mut right = Matrix::identity(given.columns, given.columns);
    for _ in 0..ROUNDS {
        let mut is_done = true;
        for a in 0..given.columns {
            for b in a + 1..given.columns {
                if let Some(angle) = angle(&left, a, b) {
                    is_done = false;
                    left.turn([a, b], angle);
                    right.turn([a, b], angle);
                }
            }
        }
        if is_done {
            break;
        }
    }
    let lengths: Vec<f64> = (0..given.columns)
        .map(|it| left.column(it).map(|it| it * it).sum::<f64>().sqrt())
        .collect();
    let mut order: Vec<usize> = (0..given.columns).collect();
    order.sort_by(|a, b| lengths[*b].total_cmp(&lengths[*a]));
    let picked = |from: &Matrix| {
        let mut found = Matrix::zero(from.rows, order.len());
        for (to, column) in order.iter().enumerate() {
            for row in 0..from.rows {
                *found.at(row, to) = from.get(row, *column);
            }
        }
        found
    };
    let values = order.iter().map(|it| lengths[*it]).collect();
    (values, [picked(&left), picked(&right)])
}

/// Cosine and sine of the turn after which two columns are orthogonal; none if they are.
fn angle(matrix: &Matrix, a: usize, b: usize) -> Option<[f64; 2]> {
    let product = |a: usize, b: usize| -> f64 {
        let both = matrix.column(a).zip(matrix.column(b));
        both.map(|(a, b)| a * b).sum()
    };
    let (first, second, both) = (product(a, a), product(b, b), product(a, b));
    if both == 0.0 || both.abs() <= 1e-15 * (first * second).sqrt() || both.is_nan() {
        return None;
    }
    let middle = (second - first) / (2.0 * both);
    let tangent = middle.signum() / (middle.abs() + middle.hypot(1.0));
    let cosine = tangent.hypot(1.0).recip();
    Some([cosine, cosine * tangent])
}

/// The columns of `given` have the lengths `values`: the orthogonal matrix of their directions, with `columns`
/// columns. Columns without a direction get one.
fn directions(given: &Matrix, values: &[f64], columns: usize) -> Matrix {
    let least = values.first().copied().unwrap_or(0.0) * 1e-14;
    let mut scaled = given.clone();
    for (column, value) in values.iter().enumerate() {
        for row in 0..given.rows {
            *scaled.at(row, column) /= if *value > least { *value } else { 1.0 };
        }
    }
    // The mirrors keep directions up to their sign, and make further ones.
    let [mut all, triangle] = orthogonal(&scaled);
    for (column, value) in values.iter().enumerate().take(given.rows) {
        if *value > least && triangle.get(column, column) < 0.0 {
            (0..given.rows).for_each(|row| *all.at(row, column) *= -1.0);
        }
    }
    all.first_columns(columns)
}

/// The last two lengths of a tensor's shape.
fn matrix(x: &Operand) -> Outcome<[usize; 2]> {
    match x.shape() {
        &[.., rows, columns] => Ok([rows, columns]),
        _ => refuse("a tensor is no matrix"),
    }
}

/// Adds the task that makes parts of each matrix of a batch; the parts are as large as the outputs have room for.
fn each(
    call: &mut Call,
    x: Operand,
    outputs: Vec<Operand>,
    parts: impl Fn(Matrix) -> Vec<Vec<f64>> + Send + Sync + 'static,
) -> Outcome {
    let [rows, columns] = matrix(&x)?;
    let count = outputs.len();
    let operations = 4 * (x.elements() * rows.min(columns)) as u64;
    call.dense(
        vec![x],
        outputs,
        operations,
        move |values: &[Vec<f64>]| {
            let mut results = vec![Vec::new(); count];
            for elements in values[0].chunks((rows * columns).max(1)) {
                let given = Matrix {
                    rows,
                    columns,
                    elements: elements.to_vec(),
                };
                for (result, part) in results.iter_mut().zip(parts(given)) {
                    result.extend(part);
                }
            }
            results
        },
    )
}

pub(super) fn qr(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let is_full = all.attributes.integer("full_matrices", 0) != 0;
    let x = call.input(all.input(0))?;
    let outputs = all.written(call)?;
    require(outputs.len() == 2, "there are not two outputs")?;
    each(call, x, outputs, move |given| {
        factors(&given, is_full).map(|it| it.elements).into()
    })
}

/// An orthogonal matrix and a triangle, with as many columns and rows as the smaller side, or with all.
fn factors(given: &Matrix, is_full: bool) -> [Matrix; 2] {
    let [orthogonal, mut triangle] = orthogonal(given);
    let kept = match is_full {
        true => given.rows,
        false => given.rows.min(given.columns),
    };
    triangle.rows = kept;
    triangle.elements.truncate(kept * given.columns);
    [orthogonal.first_columns(kept), triangle]
}

pub(super) fn svd(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let &[values, left, right] = &all.outputs[..] else {
        return refuse("there are not three outputs");
    };
    if all.attributes.integer("compute_uv", 1) == 0 {
        return only_values(call, all.input(0), values);
    }
    by_singular_values(call, all.input(0), [values, left, right])
}

fn only_values(call: &mut Call, x: usize, values: usize) -> Outcome {
    let (x, values) = (call.input(x)?, call.output(values)?);
    each(call, x, vec![values], |given| {
        let is_wide = given.columns > given.rows;
        vec![singular(&if is_wide { given.transposed() } else { given }).0]
    })
}

/// The shapes of the outputs give the number of columns of the matrices on both sides.
fn by_singular_values(call: &mut Call, x: usize, [values, left, right]: [usize; 3]) -> Outcome {
    let (x, values) = (call.input(x)?, call.output(values)?);
    let (left, right) = (call.output(left)?, call.output(right)?);
    let widths = [matrix(&left)?[1], matrix(&right)?[1]];
    each(call, x, vec![values, left, right], move |given| {
        let is_wide = given.columns > given.rows;
        let tall = if is_wide { given.transposed() } else { given };
        let (values, [left, right]) = singular(&tall);
        let [a, b] = if is_wide { [1, 0] } else { [0, 1] };
        let mut both = [Vec::new(), Vec::new()];
        both[a] = directions(&left, &values, widths[a]).elements;
        both[b] = right.first_columns(widths[b].min(right.columns)).elements;
        let [left, right] = both;
        vec![values, left, right]
    })
}

operators! {
    // The modes are: reduced, complete, and the triangle alone.
    aclnnLinalgQr |call, x: Input, mode: i64, left: Written, right: Output| {
        if mode == 2 {
            return each(call, x, vec![right], |given| {
                let [_, triangle] = factors(&given, false);
                vec![triangle.elements]
            });
        }
        let outputs = vec![call.output(left)?, right];
        each(call, x, outputs, move |given| factors(&given, mode == 1).map(|it| it.elements).into())
    };
    aclnnSvd |call, x: In, _full: bool, wants_sides: bool, values: Written, left: Written, right: Written| {
        if wants_sides {
            return by_singular_values(call, x, [values, left, right]);
        }
        only_values(call, x, values)
    };
}
