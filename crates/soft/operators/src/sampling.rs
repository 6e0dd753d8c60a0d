//! Images sampled at the places of a grid, and the grid of an affine map.

use super::norms::masked;
use crate::parameters::{BoolArray, Input, Integers, Output, Written};
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

/// How a place between elements, or outside of the image, is read.
#[derive(Clone, Copy)]
struct SamplingMethod {
    nearest: bool,
    padding: SamplingPadding,
    corners: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SamplingPadding {
    Zeros,
    Border,
    Reflection,
}

/// An element that counts at a place: its coordinate, its weight, and how the weight grows with the grid's number.
type SampleTap = (Option<usize>, f64, f64);

impl SamplingMethod {
    fn new(interpolation: i64, padding: i64, corners: bool) -> Outcome<Self> {
        let padding = match padding {
            0 => SamplingPadding::Zeros,
            1 => SamplingPadding::Border,
            _ => SamplingPadding::Reflection,
        };
        match interpolation {
            0 | 1 => Ok(Self {
                nearest: interpolation == 1,
                padding,
                corners,
            }),
            _ => refuse("softacl samples images bilinearly or by the nearest element only"),
        }
    }

    /// The place in a dimension of the image for a number from -1 to 1, and how it grows with that.
    fn place(self, number: f64, length: usize) -> (f64, f64) {
        let last = length as f64 - 1.0;
        let (place, growth) = match self.corners {
            true => ((number + 1.0) / 2.0 * last, last / 2.0),
            false => (
                ((number + 1.0) * length as f64 - 1.0) / 2.0,
                length as f64 / 2.0,
            ),
        };
        let within = |place: f64, growth: f64| match place {
            place if place <= 0.0 => (0.0, 0.0),
            place if place >= last => (last, 0.0),
            place => (place, growth),
        };
        match self.padding {
            SamplingPadding::Zeros => (place, growth),
            SamplingPadding::Border => within(place, growth),
            SamplingPadding::Reflection => {
                let (place, turned) = self.reflected(place, length);
                within(place, growth * turned)
            }
        }
    }

    /// Mirrored at the edges until it lies inside; the second number is -1 where that turns the direction.
    fn reflected(self, place: f64, length: usize) -> (f64, f64) {
        let (low, span) = match self.corners {
            true => (0.0, length as f64 - 1.0),
            false => (-0.5, length as f64),
        };
        if span <= 0.0 {
            return (0.0, 0.0);
        }
        let from = place - low;
        let (extra, flips) = (from.abs() % span, (from.abs() / span).floor());
        let direction = if from < 0.0 { -1.0 } else { 1.0 };
        match flips % 2.0 == 0.0 {
            true => (extra + low, direction),
            false => (span - extra + low, -direction),
        }
    }

    fn parts(self, number: f64, length: usize) -> Vec<SampleTap> {
        let (place, growth) = self.place(number, length);
        let inside = |at: f64| (at >= 0.0 && at < length as f64).then_some(at as usize);
        if self.nearest {
            // Halves go to the even neighbour.
            return vec![(inside(place.round_ties_even()), 1.0, 0.0)];
        }
        let (first, part) = (place.floor(), place - place.floor());
        vec![
            (inside(first), 1.0 - part, -growth),
            (inside(first + 1.0), part, growth),
        ]
    }
}

/// Lengths of the images and of the grid.
#[derive(Clone, Copy)]
struct SamplingLengths {
    batch: usize,
    channels: usize,
    image: [usize; 2],
    wanted: usize,
}

impl SamplingLengths {
    fn new(x: &Operand, grid: &Operand) -> Outcome<Self> {
        let (&[batch, channels, rows, columns], &[same, down, across, 2]) =
            (x.shape(), grid.shape())
        else {
            return refuse("the tensors are no images and no grid of pairs");
        };
        require(batch == same, "there is not a grid for each image")?;
        Ok(Self {
            batch,
            channels,
            image: [rows, columns],
            wanted: down * across,
        })
    }

    /// Calls with image, place of the output, and the parts in both dimensions.
    fn each(
        &self,
        way: SamplingMethod,
        grid: &[f64],
        mut visit: impl FnMut(usize, usize, &[SampleTap], &[SampleTap]),
    ) {
        for image in 0..self.batch {
            for at in 0..self.wanted {
                let pair = 2 * (image * self.wanted + at);
                let across = way.parts(grid[pair], self.image[1]);
                let down = way.parts(grid[pair + 1], self.image[0]);
                visit(image, at, &down, &across);
            }
        }
    }

    fn element(&self, plane: usize, down: Option<usize>, across: Option<usize>) -> Option<usize> {
        let [rows, columns] = self.image;
        Some((plane * rows + down?) * columns + across?)
    }
}

fn sampled(
    lengths: SamplingLengths,
    way: SamplingMethod,
    images: &[f64],
    grid: &[f64],
) -> Vec<f64> {
    let SamplingLengths {
        batch,
        channels,
        wanted,
        ..
    } = lengths;
    let mut result = vec![0.0; batch * channels * wanted];
    lengths.each(way, grid, |image, at, down, across| {
        for plane in image * channels..(image + 1) * channels {
            for (row, weight, _) in down {
                for (column, share, _) in across {
                    if let Some(element) = lengths.element(plane, *row, *column) {
                        result[plane * wanted + at] += images[element] * weight * share;
                    }
                }
            }
        }
    });
    result
}

fn sampled_back(
    lengths: SamplingLengths,
    way: SamplingMethod,
    [grads, images, grid]: [&[f64]; 3],
) -> (Vec<f64>, Vec<f64>) {
    let SamplingLengths {
        channels, wanted, ..
    } = lengths;
    let (mut of_images, mut of_grid) = (vec![0.0; images.len()], vec![0.0; grid.len()]);
    lengths.each(way, grid, |image, at, down, across| {
        let pair = 2 * (image * wanted + at);
        for plane in image * channels..(image + 1) * channels {
            let grad = grads[plane * wanted + at];
            for (row, weight, growth) in down {
                for (column, share, growing) in across {
                    if let Some(element) = lengths.element(plane, *row, *column) {
                        of_images[element] += grad * weight * share;
                        of_grid[pair] += grad * images[element] * weight * growing;
                        of_grid[pair + 1] += grad * images[element] * growth * share;
                    }
                }
            }
        }
    });
    (of_images, of_grid)
}

operators! {
    aclnnGridSampler2D |call, x: Input, grid: Input, interpolation: i64, padding: i64, corners: bool, out: Output| {
        let way = SamplingMethod::new(interpolation, padding, corners)?;
        let lengths = SamplingLengths::new(&x, &grid)?;
        call.dense(vec![x, grid], vec![out], 0, move |values: &[Vec<f64>]| {
            vec![sampled(lengths, way, &values[0], &values[1])]
        })
    };
    aclnnGridSampler2DBackward |call, grad: Input, x: Input, grid: Input, interpolation: i64, padding: i64, corners: bool, mask: BoolArray, of_x: Written, of_grid: Written| {
        let way = SamplingMethod::new(interpolation, padding, corners)?;
        let inputs = vec![grad, x, grid];
        let lengths = SamplingLengths::new(&inputs[1], &inputs[2])?;
        let [of_x, of_grid, _] = masked(call, mask, [of_x, of_grid, 0])?;
        super::norms::partly(call, inputs, vec![of_x, of_grid], 0, move |values: &[Vec<f64>]| {
            let given = [&values[0][..], &values[1][..], &values[2][..]];
            let (of_images, of_grid) = sampled_back(lengths, way, given);
            vec![of_images, of_grid]
        })
    };
    aclnnAffineGrid |call, theta: Input, size: Integers, corners: bool, out: Output| {
        let &[batch, _, ref inner @ ..] = &size[..] else { return refuse("the size is not that of images") };
        let lengths: Vec<usize> = inner.iter().map(|it| (*it).max(1) as usize).collect();
        let (batch, rank) = (batch.max(0) as usize, lengths.len());
        require(theta.elements() == batch * rank * (rank + 1), "there is not a map for each image")?;
        let places: usize = lengths.iter().product();
        call.dense(vec![theta], vec![out], 0, move |values: &[Vec<f64>]| {
            let mut result = Vec::new();
            for map in values[0].chunks(rank * (rank + 1)).take(batch) {
                for place in 0..places {
                    // The last dimension comes first, and a one last.
                    let at = super::shapes::coordinates(place, &lengths);
                    let mut point: Vec<f64> = (0..rank).rev().map(|it| centre(at[it], lengths[it], corners)).collect();
                    point.push(1.0);
                    let row = |row: &[f64]| row.iter().zip(&point).map(|(a, b)| a * b).sum::<f64>();
                    result.extend(map.chunks(rank + 1).map(row));
                }
            }
            vec![result]
        })
    };
}

/// Where an element lies between -1 and 1.
fn centre(at: usize, length: usize, corners: bool) -> f64 {
    match corners {
        true if length > 1 => 2.0 * at as f64 / (length - 1) as f64 - 1.0,
        true => 0.0,
        false => (2 * at + 1) as f64 / length as f64 - 1.0,
    }
}
