//! Images sampled at the places of a grid, and the grid of an affine map.

use super::norms::masked;
use crate::parameters::{BoolArray, Input, Integers, Output, Written};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

/// How a place between elements, or outside of the image, is read.
#[derive(Clone, Copy)]
struct SamplingMethod {
    interpolation: SamplingInterpolation,
    padding: SamplingPadding,
    corners: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SamplingInterpolation {
    Linear,
    Nearest,
    Cubic,
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
        let interpolation = match interpolation {
            0 => SamplingInterpolation::Linear,
            1 => SamplingInterpolation::Nearest,
            2 => SamplingInterpolation::Cubic,
            _ => return refuse("there is no such interpolation"),
        };
        Ok(Self {
            interpolation,
            padding,
            corners,
        })
    }

    /// The place in a dimension of the image for a number from -1 to 1, and how it grows with that. It may be outside.
    fn unpadded(self, number: f64, length: usize) -> (f64, f64) {
        let last = length as f64 - 1.0;
        match self.corners {
            true => ((number + 1.0) / 2.0 * last, last / 2.0),
            false => (
                ((number + 1.0) * length as f64 - 1.0) / 2.0,
                length as f64 / 2.0,
            ),
        }
    }

    /// As `unpadded`, moved into the image as the padding has it.
    fn place(self, number: f64, length: usize) -> (f64, f64) {
        self.padded(self.unpadded(number, length), length)
    }

    fn padded(self, (place, growth): (f64, f64), length: usize) -> (f64, f64) {
        let last = length as f64 - 1.0;
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
        let inside = |at: f64| (at >= 0.0 && at < length as f64).then_some(at as usize);
        let (place, growth) = self.place(number, length);
        let (first, part) = (place.floor(), place - place.floor());
        match self.interpolation {
            // Halves go to the even neighbour.
            SamplingInterpolation::Nearest => {
                vec![(inside(place.round_ties_even()), 1.0, 0.0)]
            }
            SamplingInterpolation::Linear => vec![
                (inside(first), 1.0 - part, -growth),
                (inside(first + 1.0), part, growth),
            ],
            SamplingInterpolation::Cubic => self.cubic(number, length).to_vec(),
        }
    }

    /// Four elements around a place. The padding moves each of them, not the place.
    fn cubic(self, number: f64, length: usize) -> [SampleTap; 4] {
        let (place, growth) = self.unpadded(number, length);
        let (first, part) = (place.floor(), place - place.floor());
        [-1.0, 0.0, 1.0, 2.0].map(|step| {
            let (at, _) = self.padded((first + step, 0.0), length);
            let element = (at >= 0.0 && at < length as f64).then_some(at.round() as usize);
            let (weight, slope) = cubic_weight(part - step);
            (element, weight, slope * growth)
        })
    }
}

/// The weight of an element at a distance of up to 2, and how it grows with the distance.
fn cubic_weight(distance: f64) -> (f64, f64) {
    const SHARPNESS: f64 = -0.75;
    let (x, direction) = (distance.abs(), distance.signum());
    let (weight, slope) = match x <= 1.0 {
        true => (
            ((SHARPNESS + 2.0) * x - (SHARPNESS + 3.0)) * x * x + 1.0,
            (3.0 * (SHARPNESS + 2.0) * x - 2.0 * (SHARPNESS + 3.0)) * x,
        ),
        false => (
            SHARPNESS * (((x - 5.0) * x + 8.0) * x - 4.0),
            SHARPNESS * ((3.0 * x - 10.0) * x + 8.0),
        ),
    };
    (weight, slope * direction)
}

/// Lengths of the images and of the grid. An image of two dimensions has a depth of 1.
#[derive(Clone, Copy)]
struct SamplingLengths {
    batch: usize,
    channels: usize,
    image: [usize; 3],
    /// Numbers of the grid for each place: across, down, and deep.
    numbers: usize,
    wanted: usize,
}

/// An element that counts at a place: its number in the plane, its weight, and how the weight grows with each of the grid's numbers.
struct SampledElement {
    element: usize,
    weight: f64,
    growth: [f64; 3],
}

impl SamplingLengths {
    fn new(x: &Operand, grid: &Operand) -> Outcome<Self> {
        let (batch, channels, image, numbers) = match *x.shape() {
            [batch, channels, rows, columns] => (batch, channels, [1, rows, columns], 2),
            [batch, channels, depth, rows, columns] => (batch, channels, [depth, rows, columns], 3),
            _ => return refuse("the tensors are no images"),
        };
        let &[same, ref places @ .., last] = grid.shape() else {
            return refuse("the grid has no places");
        };
        require(
            places.len() == numbers && last == numbers,
            "the grid has not a number for each dimension of the images",
        )?;
        require(batch == same, "there is not a grid for each image")?;
        Ok(Self {
            batch,
            channels,
            image,
            numbers,
            wanted: places.iter().product(),
        })
    }

    /// Calls with the image, the place of the output, and the elements that count there.
    fn each(
        &self,
        way: SamplingMethod,
        grid: &[f64],
        mut visit: impl FnMut(usize, usize, &[SampledElement]),
    ) {
        let [depth, rows, columns] = self.image;
        for image in 0..self.batch {
            for at in 0..self.wanted {
                let first = self.numbers * (image * self.wanted + at);
                let across = way.parts(grid[first], columns);
                let down = way.parts(grid[first + 1], rows);
                let deep = match self.numbers {
                    3 => way.parts(grid[first + 2], depth),
                    _ => vec![(Some(0), 1.0, 0.0)],
                };
                visit(image, at, &self.elements(&deep, &down, &across));
            }
        }
    }

    fn elements(
        &self,
        deep: &[SampleTap],
        down: &[SampleTap],
        across: &[SampleTap],
    ) -> Vec<SampledElement> {
        let [_, rows, columns] = self.image;
        let mut found = Vec::with_capacity(deep.len() * down.len() * across.len());
        for (layer, thick, thicker) in deep {
            for (row, weight, growth) in down {
                for (column, share, growing) in across {
                    if let (Some(layer), Some(row), Some(column)) = (layer, row, column) {
                        found.push(SampledElement {
                            element: (layer * rows + row) * columns + column,
                            weight: thick * weight * share,
                            growth: [
                                thick * weight * growing,
                                thick * growth * share,
                                thicker * weight * share,
                            ],
                        });
                    }
                }
            }
        }
        found
    }

    /// Elements of one channel of an image.
    fn plane(&self) -> usize {
        self.image.iter().product()
    }
}

fn sampled(
    lengths: SamplingLengths,
    way: SamplingMethod,
    images: &[f64],
    grid: &[f64],
) -> Vec<f64> {
    let (channels, wanted, size) = (lengths.channels, lengths.wanted, lengths.plane());
    let mut result = vec![0.0; lengths.batch * channels * wanted];
    lengths.each(way, grid, |image, at, elements| {
        for plane in image * channels..(image + 1) * channels {
            let sum = elements
                .iter()
                .map(|it| images[plane * size + it.element] * it.weight);
            result[plane * wanted + at] = sum.sum();
        }
    });
    result
}

fn sampled_back(
    lengths: SamplingLengths,
    way: SamplingMethod,
    [grads, images, grid]: [&[f64]; 3],
) -> (Vec<f64>, Vec<f64>) {
    let (channels, wanted, size) = (lengths.channels, lengths.wanted, lengths.plane());
    let (mut of_images, mut of_grid) = (vec![0.0; images.len()], vec![0.0; grid.len()]);
    lengths.each(way, grid, |image, at, elements| {
        let first = lengths.numbers * (image * wanted + at);
        for plane in image * channels..(image + 1) * channels {
            let grad = grads[plane * wanted + at];
            for it in elements {
                let element = plane * size + it.element;
                of_images[element] += grad * it.weight;
                for (number, growth) in it.growth.iter().take(lengths.numbers).enumerate() {
                    of_grid[first + number] += grad * images[element] * growth;
                }
            }
        }
    });
    (of_images, of_grid)
}

/// How an operator by name samples, as its attributes have it.
fn named_method(all: &Arguments<'_>) -> Outcome<SamplingMethod> {
    let interpolation = match all.attributes.text("interpolation_mode") {
        "" | "bilinear" => 0,
        "nearest" => 1,
        _ => 2,
    };
    let padding = match all.attributes.text("padding_mode") {
        "" | "zeros" => 0,
        "border" => 1,
        _ => 2,
    };
    let corners = all.attributes.integer("align_corners", 0) != 0;
    SamplingMethod::new(interpolation, padding, corners)
}

/// Images at the places of a grid, by name.
pub(crate) fn named(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, grid) = (all.operand(call, 0)?, all.operand(call, 1)?);
    let (way, out) = (named_method(all)?, call.output(all.output())?);
    let lengths = SamplingLengths::new(&x, &grid)?;
    call.dense(vec![x, grid], vec![out], 0, move |values: &[Vec<f64>]| {
        vec![sampled(lengths, way, &values[0], &values[1])]
    })
}

/// Gradients of images and of the grid, by name.
pub(crate) fn named_gradient(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let inputs = all.read(call, [0, 1, 2])?;
    let (way, outputs) = (named_method(all)?, all.written(call)?);
    let lengths = SamplingLengths::new(&inputs[1], &inputs[2])?;
    call.dense(inputs, outputs, 0, move |values: &[Vec<f64>]| {
        let given = [&values[0][..], &values[1][..], &values[2][..]];
        let (of_images, of_grid) = sampled_back(lengths, way, given);
        vec![of_images, of_grid]
    })
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
