//! Linear algebra of small matrices, and distances and lengths of vectors.

use super::functions::{larger, sign};
use super::shapes::steps;
use crate::parameters::{InPlace, Input, Output, Scalar};
use softacl_base::call::Call;
use softacl_base::call_wide::HostNumber;
use softacl_base::code::Outcome;
use softacl_base::dense::dimension;
use softacl_base::operand::Operand;
use softacl_base::status::require;

/// A square matrix, its rows one behind the other.
pub(super) struct Matrix<'a> {
    pub(super) size: usize,
    pub(super) elements: &'a [f64],
}

impl Matrix<'_> {
    fn row(&self, row: usize) -> &[f64] {
        &self.elements[row * self.size..][..self.size]
    }

    /// By elimination with the largest pivot of each column: the product of the pivots, with a sign for each exchange.
    pub(super) fn determinant(&self) -> f64 {
        let mut rows: Vec<Vec<f64>> = (0..self.size).map(|row| self.row(row).to_vec()).collect();
        let mut product = 1.0;
        for column in 0..self.size {
            let by_size =
                |a: &usize, b: &usize| rows[*a][column].abs().total_cmp(&rows[*b][column].abs());
            let pivot = (column..self.size).max_by(by_size).unwrap_or(column);
            if pivot != column {
                rows.swap(column, pivot);
                product = -product;
            }
            let leading = rows[column].clone();
            product *= leading[column];
            if product == 0.0 {
                return product;
            }
            for row in &mut rows[column + 1..] {
                let factor = row[column] / leading[column];
                for at in column..self.size {
                    row[at] -= factor * leading[at];
                }
            }
        }
        product
    }

    /// By elimination with the largest pivot of each column. A singular matrix gives infinities.
    pub(super) fn inverse(&self) -> Vec<f64> {
        let (size, width) = (self.size, 2 * self.size);
        let mut rows: Vec<Vec<f64>> = (0..size)
            .map(|row| {
                let mut both = self.row(row).to_vec();
                both.extend((0..size).map(|column| f64::from(u8::from(column == row))));
                both
            })
            .collect();
        for column in 0..size {
            let by_size =
                |a: &usize, b: &usize| rows[*a][column].abs().total_cmp(&rows[*b][column].abs());
            let pivot = (column..size).max_by(by_size).unwrap_or(column);
            rows.swap(column, pivot);
            let scale = rows[column][column].recip();
            rows[column].iter_mut().for_each(|it| *it *= scale);
            let leading = rows[column].clone();
            for (_, row) in rows
                .iter_mut()
                .enumerate()
                .filter(|(row, _)| *row != column)
            {
                let factor = row[column];
                for at in 0..width {
                    row[at] -= factor * leading[at];
                }
            }
        }
        rows.iter()
            .flat_map(|row| row[size..].iter().copied())
            .collect()
    }
}

/// Which triangle of a matrix counts, and how.
#[derive(Clone, Copy)]
struct Triangle {
    upper: bool,
    transposed: bool,
    ones_on_diagonal: bool,
}

impl Triangle {
    fn element(self, matrix: &Matrix<'_>, row: usize, column: usize) -> f64 {
        match (row == column && self.ones_on_diagonal, self.transposed) {
            (true, _) => 1.0,
            (false, true) => matrix.row(column)[row],
            (false, false) => matrix.row(row)[column],
        }
    }

    /// Solves for the columns of `wanted`, which has as many rows as the matrix.
    fn solve(self, matrix: &Matrix<'_>, wanted: &mut [f64], columns: usize) {
        let from_below = self.upper != self.transposed;
        for number in 0..matrix.size {
            let row = if from_below {
                matrix.size - 1 - number
            } else {
                number
            };
            let known = if from_below {
                row + 1..matrix.size
            } else {
                0..row
            };
            for column in 0..columns {
                let mut rest = wanted[row * columns + column];
                for other in known.clone() {
                    rest -= self.element(matrix, row, other) * wanted[other * columns + column];
                }
                wanted[row * columns + column] = rest / self.element(matrix, row, row);
            }
        }
    }
}

pub(super) fn square(x: &Operand) -> Outcome<usize> {
    let &[.., rows, columns] = x.shape() else {
        return softacl_base::status::refuse("a tensor is no matrix");
    };
    require(rows == columns, "the matrix is not square")?;
    Ok(rows)
}

/// The length of a row: of how many are not zero, the largest, or by a power.
fn length(row: impl Iterator<Item = f64>, power: f64) -> f64 {
    if power == 0.0 {
        return row.filter(|it| *it != 0.0).count() as f64;
    }
    // Callers pass -1 for the value that they cannot express: infinity.
    if power < 0.0 || power.is_infinite() {
        return row.fold(0.0, |top, it| larger(top, it.abs()));
    }
    row.map(|it| it.abs().powf(power))
        .sum::<f64>()
        .powf(power.recip())
}

/// Distances of rows at the same place of both.
pub(super) fn distances(
    call: &mut Call,
    [a, b]: [&Operand; 2],
    power: f64,
    out: &Operand,
) -> Outcome {
    let width = a.shape().last().copied().unwrap_or(1).max(1);
    require(
        a.shape() == b.shape() && a.elements() == out.elements() * width,
        "the output's shape is not that of the result",
    )?;
    call.dense(
        vec![a.clone(), b.clone()],
        vec![out.clone()],
        3 * a.elements() as u64,
        move |values: &[Vec<f64>]| {
            let rows = values[0].chunks(width).zip(values[1].chunks(width));
            let apart =
                |(a, b): (&[f64], &[f64])| length(a.iter().zip(b).map(|(a, b)| a - b), power);
            vec![rows.map(apart).collect()]
        },
    )
}

/// Distances of each row of a matrix from each row of another one, matrix by matrix.
fn distances_of_all(call: &mut Call, [a, b, out]: [Operand; 3], power: f64) -> Outcome {
    let (&[.., rows, width], &[.., others, width_of_other]) = (a.shape(), b.shape()) else {
        return softacl_base::status::refuse("a tensor is no matrix");
    };
    let batch = out.elements() / (rows * others).max(1);
    let fits = width == width_of_other
        && a.elements() == batch * rows * width
        && b.elements() == batch * others * width;
    require(fits, "the output's shape is not that of the result")?;
    let operations = 3 * (out.elements() * width) as u64;
    call.dense(
        vec![a, b],
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let row = |values: &[f64], row: usize| values[row * width..][..width].to_vec();
            let mut found = Vec::with_capacity(batch * rows * others);
            for number in 0..batch * rows {
                let one = row(&values[0], number);
                for other in 0..others {
                    let other = row(&values[1], number / rows * others + other);
                    found.push(length(one.iter().zip(&other).map(|(a, b)| a - b), power));
                }
            }
            vec![found]
        },
    )
}

/// Distances of each row of a matrix from each later one.
pub(super) fn distances_of_pairs(call: &mut Call, x: Operand, power: f64, out: Operand) -> Outcome {
    let &[rows, width] = x.shape() else {
        return softacl_base::status::refuse("the tensor is no matrix");
    };
    let pairs = rows * rows.saturating_sub(1) / 2;
    require(
        out.elements() == pairs,
        "the output has not an element for each pair",
    )?;
    let operations = 3 * (pairs * width) as u64;
    call.dense(
        vec![x],
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let row = |row: usize| &values[0][row * width..][..width];
            let apart = |(a, b): (usize, usize)| {
                let gaps = row(a).iter().zip(row(b)).map(|(a, b)| a - b);
                length(gaps, power)
            };
            let all = (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b)));
            vec![all.map(apart).collect()]
        },
    )
}

/// The factor that shortens a part which is longer than allowed.
fn shorter(part: &[f64], [power, most]: [f64; 2]) -> f64 {
    match length(part.iter().copied(), power) {
        long if long > most => most / (long + 1e-7),
        _ => 1.0,
    }
}

/// The dimension in front, so that parts lie one behind the other, and elements of a part.
fn parts_along(x: &Operand, along: usize) -> (Operand, usize) {
    let rest = (0..x.rank()).filter(|it| *it != along);
    let order: Vec<usize> = [along].into_iter().chain(rest).collect();
    let part = (x.elements() / x.shape()[along].max(1)).max(1);
    (x.seen(x.view.permuted(&order)), part)
}

/// The factors by which parts along one dimension are shortened.
pub(super) fn shortening(
    call: &mut Call,
    [x, out]: [&Operand; 2],
    along: i64,
    limits: [f64; 2],
) -> Outcome {
    let along = dimension(along, x.rank())?;
    require(
        x.shape().get(along) == Some(&out.elements()),
        "the output has not a factor for each part",
    )?;
    let (x, part) = parts_along(x, along);
    call.dense(
        vec![x],
        vec![out.clone()],
        0,
        move |values: &[Vec<f64>]| {
            vec![
                values[0]
                    .chunks(part)
                    .map(|part| shorter(part, limits))
                    .collect(),
            ]
        },
    )
}

/// Parts along one dimension that are longer than allowed are shortened.
fn shortened(call: &mut Call, [x, out]: [&Operand; 2], along: i64, limits: [f64; 2]) -> Outcome {
    let along = dimension(along, x.rank())?;
    require(
        x.shape() == out.shape() && x.rank() > 0,
        "the output's shape is not the input's",
    )?;
    let ((x, part), (out, _)) = (parts_along(x, along), parts_along(out, along));
    call.dense(vec![x], vec![out], 0, move |values: &[Vec<f64>]| {
        let mut result = values[0].clone();
        for part in result.chunks_mut(part) {
            let factor = shorter(part, limits);
            part.iter_mut().for_each(|it| *it *= factor);
        }
        vec![result]
    })
}

fn limits(call: &Call, power: Scalar, most: Scalar) -> Outcome<[f64; 2]> {
    let [power, most] = [call.scalar(power)?, call.scalar(most)?];
    Ok([HostNumber::from(power).float, HostNumber::from(most).float])
}

operators! {
    aclnnInverse |call, x: Input, out: Output| {
        let size = square(&x)?;
        require(x.shape() == out.shape(), "the output's shape is not the input's")?;
        let operations = 2 * (x.elements() * size) as u64;
        call.dense(vec![x], vec![out], operations, move |values: &[Vec<f64>]| {
            let matrices = values[0].chunks((size * size).max(1));
            vec![matrices.flat_map(|elements| Matrix { size, elements }.inverse()).collect()]
        })
    };
    aclnnCdist |call, a: Input, b: Input, power: f32, _mode: i64, out: Output| {
        distances_of_all(call, [a, b, out], power.into())
    };
    aclnnTriangularSolve |call, wanted: Input, matrix: Input, upper: bool, transposed: bool, ones: bool, out: Output, copy: Output| {
        let outputs = vec![out, copy];
        let size = square(&matrix)?;
        let columns = outputs[0].shape().last().copied().unwrap_or(1);
        let triangle = Triangle { upper, transposed, ones_on_diagonal: ones };
        // A batch of one is repeated for all of the other's.
        let stretched = |given: &Operand, like: &Operand| {
            given.view.clone().broadcast(like.shape()).map(|view| given.seen(view))
        };
        let (Some(wanted), Some(matrix)) = (stretched(&wanted, &outputs[0]), stretched(&matrix, &outputs[1])) else {
            return softacl_base::status::refuse("the shapes do not broadcast to the output's");
        };
        let operations = (wanted.elements() * size) as u64;
        call.dense(vec![wanted, matrix], outputs, operations, move |values: &[Vec<f64>]| {
            let mut found = values[0].clone();
            let matrices = values[1].chunks((size * size).max(1));
            for (wanted, elements) in found.chunks_mut((size * columns).max(1)).zip(matrices) {
                triangle.solve(&Matrix { size, elements }, wanted, columns);
            }
            vec![found, values[1].clone()]
        })
    };
    aclnnLinalgCross |call, a: Input, b: Input, along: i64, out: Output| {
        let along = dimension(along, out.rank())?;
        require(out.shape().get(along) == Some(&3), "the vectors have not three elements")?;
        let stretched = |given: &Operand| given.view.clone().broadcast(out.shape()).map(|view| given.seen(view));
        let (Some(a), Some(b)) = (stretched(&a), stretched(&b)) else {
            return softacl_base::status::refuse("the shapes do not broadcast to the output's");
        };
        let (step, elements) = (steps(out.shape())[along], out.elements());
        call.dense(vec![a, b], vec![out], 0, move |values: &[Vec<f64>]| {
            let each = |at: usize| {
                let number = at / step % 3;
                let start = at - number * step;
                let of = |values: &[f64], ahead: usize| values[start + (number + ahead) % 3 * step];
                of(&values[0], 1) * of(&values[1], 2) - of(&values[0], 2) * of(&values[1], 1)
            };
            vec![(0..elements).map(each).collect()]
        })
    };
    aclnnRenorm aclnnInplaceRenorm |call, x: Input, power: Scalar, along: i64, most: Scalar => out| {
        let limits = limits(call, power, most)?;
        shortened(call, [&x, &out], along, limits)
    };
    aclnnEmbeddingRenorm |call, x: InPlace, index: Input, most: f64, power: f64| {
        require(x.rank() == 2, "the table of embeddings is no matrix")?;
        let width = x.shape()[1].max(1);
        call.dense(vec![x.clone(), index], vec![x], 0, move |values: &[Vec<f64>]| {
            let mut table = values[0].clone();
            let rows = table.len() / width;
            let mut used: Vec<usize> = values[1].iter().map(|it| *it as usize).filter(|it| *it < rows).collect();
            used.sort_unstable();
            used.dedup();
            for row in used {
                let row = &mut table[row * width..][..width];
                let long = length(row.iter().copied(), power);
                if long > most {
                    row.iter_mut().for_each(|it| *it *= most / (long + 1e-7));
                }
            }
            vec![table]
        })
    };
}

/// The gradient of the first rows, where both and the inputs of each pair have been stretched to all
/// pairs and elements: pairs of a row and of another, each with its elements.
pub(super) fn distances_back(
    call: &mut Call,
    [grad, a, b, apart]: [usize; 4],
    power: f64,
    out: usize,
) -> Outcome {
    let mut inputs = Vec::new();
    for handle in [grad, a, b, apart] {
        inputs.push(call.input(handle)?);
    }
    let out = call.output(out)?;
    let &[.., others, width] = inputs[1].shape() else {
        return softacl_base::status::refuse("a tensor is no matrix");
    };
    let elements = out.elements();
    require(
        inputs.iter().all(|it| it.elements() == elements * others),
        "the output's shape is not that of the result",
    )?;
    call.dense(inputs, vec![out], 0, move |values: &[Vec<f64>]| {
        let mut sums = vec![0.0; elements];
        for at in 0..values[0].len() {
            let gap = values[1][at] - values[2][at];
            let sum = &mut sums[at / (others * width) * width + at % width];
            *sum += values[0][at] * slope(gap, values[3][at], power);
        }
        vec![sums]
    })
}

/// How much a distance grows with the gap in one dimension.
fn slope(gap: f64, apart: f64, power: f64) -> f64 {
    if apart == 0.0 || power == 0.0 {
        0.0
    } else if power < 0.0 || power.is_infinite() {
        sign(gap) * f64::from(u8::from(gap.abs() == apart))
    } else {
        sign(gap) * (gap.abs() / apart).powf(power - 1.0)
    }
}
