//! Means and largest elements of windows over images, with gradients.

use super::convolution::{Windows, each_of};
use super::functions::larger;
use crate::parameters::{In, Input, IntegerArray, Integers, Output, Wanted};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::dense::count;
use softacl_base::operand::Operand;
use softacl_base::status::require;

/// The arrays that say how windows move; a stride that is left out is the window's size.
pub(super) struct PoolingArrays {
    pub(super) kernel: Vec<i64>,
    pub(super) stride: Vec<i64>,
    pub(super) padding: Vec<i64>,
    pub(super) dilation: Vec<i64>,
}

impl PoolingArrays {
    pub(super) fn windows(
        &self,
        image: &Operand,
        places: &Operand,
        rank: usize,
    ) -> Outcome<Windows> {
        require(
            image.rank() >= rank && places.rank() == image.rank(),
            "the input is no image",
        )?;
        let sizes = |given: &[i64]| -> Vec<usize> {
            given.iter().map(|it| (*it).max(1) as usize).collect()
        };
        let kernel = each_of(&self.kernel, rank, 1);
        let stride = if self.stride.is_empty() {
            kernel.clone()
        } else {
            each_of(&self.stride, rank, 1)
        };
        let inner = |it: &Operand| it.shape()[it.rank() - rank..].to_vec();
        Ok(Windows {
            kernel: sizes(&kernel),
            stride: sizes(&stride),
            padding: each_of(&self.padding, rank, 0),
            dilation: sizes(&each_of(&self.dilation, rank, 1)),
            image: inner(image),
            places: inner(places),
        })
    }
}

/// The places that a window sees, window by window.
pub(super) fn by_window(windows: &Windows) -> Vec<Vec<usize>> {
    let seen = windows.seen();
    let window = |place: usize| seen.iter().filter_map(|row| row[place]).collect();
    (0..count(&windows.places)).map(window).collect()
}

/// Place of the largest of some elements; the first of equal ones, NaN before all.
fn largest(image: &[f64], window: &[usize]) -> Option<usize> {
    window.iter().copied().reduce(|best, at| {
        match image[at] > image[best] || (image[at].is_nan() && !image[best].is_nan()) {
            true => at,
            false => best,
        }
    })
}

/// Length of an image in `rank` dimensions, of which a tensor has several.
fn image(x: &Operand, rank: usize) -> usize {
    count(&x.shape()[x.rank() - rank..]).max(1)
}

pub(super) fn max_pool(
    call: &mut Call,
    x: Operand,
    windows: Vec<Vec<usize>>,
    [out, places]: [Option<Operand>; 2],
    rank: usize,
) -> Outcome {
    let places = places.filter(|it| Some(it.shape()) == out.as_ref().map(Operand::shape));
    let image = image(&x, rank);
    let outputs = out.into_iter().chain(places).collect();
    call.dense(vec![x], outputs, 0, move |values: &[Vec<f64>]| {
        let (mut results, mut found) = (Vec::new(), Vec::new());
        for image in values[0].chunks(image) {
            for window in &windows {
                let at = largest(image, window);
                results.push(at.map_or(f64::NEG_INFINITY, |at| image[at]));
                found.push(at.map_or(-1.0, |at| at as f64));
            }
        }
        vec![results, found]
    })
}

/// The gradient goes to the largest element, which is looked for again: the marks of it are private to the device.
pub(super) fn max_pool_back(
    call: &mut Call,
    [grad, x]: [Operand; 2],
    windows: Vec<Vec<usize>>,
    out: Operand,
    rank: usize,
) -> Outcome {
    let image = image(&x, rank);
    call.dense(vec![grad, x], vec![out], 0, move |values: &[Vec<f64>]| {
        let mut sums = vec![0.0; values[1].len()];
        let parts = values[1].chunks(image).zip(sums.chunks_mut(image));
        for ((image, sums), grads) in parts.zip(values[0].chunks(windows.len().max(1))) {
            for (window, grad) in windows.iter().zip(grads) {
                if let Some(at) = largest(image, window) {
                    sums[at] += grad;
                }
            }
        }
        vec![sums]
    })
}

/// Divisor of the mean of a window.
#[derive(Clone, Copy)]
pub(super) struct MeanDivisor {
    pub(super) counts_padding: bool,
    pub(super) given: i64,
}

fn divisors(windows: &Windows, seen: &[Vec<usize>], divisor: MeanDivisor) -> Vec<f64> {
    let whole = |place: usize| {
        let at = super::shapes::coordinates(place, &windows.places);
        let reach = |dimension: usize| {
            let padding = windows.padding[dimension];
            let first = (at[dimension] * windows.stride[dimension]) as i64 - padding;
            let end = (first + windows.kernel[dimension] as i64)
                .min(windows.image[dimension] as i64 + padding);
            (end - first).max(0)
        };
        (0..at.len()).map(reach).product::<i64>() as f64
    };
    let each = seen.iter().enumerate();
    each.map(|(place, window)| match divisor {
        MeanDivisor { given, .. } if given != 0 => given as f64,
        MeanDivisor {
            counts_padding: true,
            ..
        } => whole(place),
        MeanDivisor { .. } => window.len() as f64,
    })
    .collect()
}

/// The elements of each window, and what their sum is divided by.
pub(super) struct WindowMeans {
    windows: Vec<Vec<usize>>,
    divisors: Vec<f64>,
}

impl WindowMeans {
    fn each(&self) -> impl Iterator<Item = (&Vec<usize>, &f64)> {
        self.windows.iter().zip(&self.divisors)
    }
}

pub(super) fn means(
    call: &mut Call,
    x: Operand,
    out: Operand,
    means: WindowMeans,
    rank: usize,
) -> Outcome {
    let image = image(&x, rank);
    call.dense(vec![x], vec![out], 0, move |values: &[Vec<f64>]| {
        let mean = |image: &[f64], (window, divisor): (&Vec<usize>, &f64)| {
            window.iter().map(|at| image[*at]).sum::<f64>() / divisor
        };
        let each = |image| means.each().map(move |it| mean(image, it));
        vec![values[0].chunks(image).flat_map(each).collect()]
    })
}

pub(super) fn means_back(
    call: &mut Call,
    grad: Operand,
    out: Operand,
    means: WindowMeans,
    rank: usize,
) -> Outcome {
    let (image, elements) = (image(&out, rank), out.elements());
    call.dense(vec![grad], vec![out], 0, move |values: &[Vec<f64>]| {
        let mut sums = vec![0.0; elements];
        let grads = values[0].chunks(means.windows.len().max(1));
        for (sums, grads) in sums.chunks_mut(image).zip(grads) {
            for ((window, divisor), grad) in means.each().zip(grads) {
                window.iter().for_each(|at| sums[*at] += grad / divisor);
            }
        }
        vec![sums]
    })
}

pub(super) fn average(
    given: &PoolingArrays,
    image: &Operand,
    places: &Operand,
    divisor: MeanDivisor,
    rank: usize,
) -> Outcome<WindowMeans> {
    let windows = given.windows(image, places, rank)?;
    let seen = by_window(&windows);
    let divisors = divisors(&windows, &seen, divisor);
    Ok(WindowMeans {
        windows: seen,
        divisors,
    })
}

/// Windows with a given number instead of their size: the image is split as evenly as possible.
fn adaptive(image: &Operand, places: &Operand, rank: usize) -> Outcome<Vec<Vec<usize>>> {
    require(
        image.rank() >= rank && places.rank() == image.rank(),
        "the input is no image",
    )?;
    let lengths = image.shape()[image.rank() - rank..].to_vec();
    let wanted = places.shape()[places.rank() - rank..].to_vec();
    let distances = super::shapes::steps(&lengths);
    let window = |place: usize| {
        let at = super::shapes::coordinates(place, &wanted);
        let mut found = vec![0];
        for dimension in 0..rank {
            let first = at[dimension] * lengths[dimension] / wanted[dimension];
            let end = ((at[dimension] + 1) * lengths[dimension]).div_ceil(wanted[dimension]);
            let longer = |base: &usize| {
                (first..end)
                    .map(|it| base + it * distances[dimension])
                    .collect::<Vec<_>>()
            };
            found = found.iter().flat_map(longer).collect();
        }
        found
    };
    Ok((0..count(&wanted)).map(window).collect())
}

pub(super) fn adaptive_means(
    image: &Operand,
    places: &Operand,
    rank: usize,
) -> Outcome<WindowMeans> {
    let windows = adaptive(image, places, rank)?;
    let divisors = windows
        .iter()
        .map(|window| larger(window.len() as f64, 1.0))
        .collect();
    Ok(WindowMeans { windows, divisors })
}

/// Largest elements of windows of a size, and their gradients.
macro_rules! largest_of_windows {
    ($($rank:literal: $forward:ident $backward:ident;)*) => { operators! {$(
        $forward |call, x: Input, kernel: Integers, stride: Integers, padding: Integers, dilation: Integers, _ceil: bool, out: Output, places: Wanted| {
            let given = PoolingArrays { kernel, stride, padding, dilation };
            let windows = by_window(&given.windows(&x, &out, $rank)?);
            max_pool(call, x, windows, [Some(out), places], $rank)
        };
        $backward |call, grad: Input, x: Input, _places: usize, kernel: Integers, stride: Integers, padding: Integers, dilation: Integers, _ceil: bool, out: Output| {
            let given = PoolingArrays { kernel, stride, padding, dilation };
            let windows = by_window(&given.windows(&x, &grad, $rank)?);
            max_pool_back(call, [grad, x], windows, out, $rank)
        };
    )*} };
}

largest_of_windows! {
    2: aclnnMaxPool2dWithMask aclnnMaxPool2dWithMaskBackward;
    2: aclnnMaxPool2dWithIndices aclnnMaxPool2dWithIndicesBackward;
    3: aclnnMaxPool3dWithArgmax aclnnMaxPool3dWithArgmaxBackward;
}

/// Means of windows of a size. Some releases of an operator have further parameters.
macro_rules! means_of_windows {
    ($($rank:literal: $forward:ident $backward:ident ($($further:ident: $type:ty),*);)*) => { operators! {$(
        $forward |call, x: Input, kernel: Integers, stride: Integers, padding: Integers, _ceil: bool, counts_padding: bool, given: i64 $(, $further: $type)*, out: Output| {
            let arrays = PoolingArrays { kernel, stride, padding, dilation: Vec::new() };
            let found = average(&arrays, &x, &out, MeanDivisor { counts_padding, given }, $rank)?;
            means(call, x, out, found, $rank)
        };
        $backward |call, grad: Input, _x: In, kernel: Integers, stride: Integers, padding: Integers, _ceil: bool, counts_padding: bool, given: i64 $(, $further: $type)*, out: Output| {
            let arrays = PoolingArrays { kernel, stride, padding, dilation: Vec::new() };
            let found = average(&arrays, &out, &grad, MeanDivisor { counts_padding, given }, $rank)?;
            means_back(call, grad, out, found, $rank)
        };
    )*} };
}

means_of_windows! {
    2: aclnnAvgPool2d aclnnAvgPool2dBackward (_precision: i8);
    3: aclnnAvgPool3d aclnnAvgPool3dBackward ();
}

macro_rules! adaptive_means {
    ($($rank:literal: $forward:ident $backward:ident;)*) => { operators! {$(
        $forward |call, x: Input, _size: IntegerArray, out: Output| {
            let found = adaptive_means(&x, &out, $rank)?;
            means(call, x, out, found, $rank)
        };
        $backward |call, grad: Input, _x: In, out: Output| {
            let found = adaptive_means(&out, &grad, $rank)?;
            means_back(call, grad, out, found, $rank)
        };
    )*} };
}

adaptive_means! {
    2: aclnnAdaptiveAvgPool2d aclnnAdaptiveAvgPool2dBackward;
    3: aclnnAdaptiveAvgPool3d aclnnAdaptiveAvgPool3dBackward;
}

operators! {
    aclnnAdaptiveMaxPool2d |call, x: Input, _size: IntegerArray, out: Output, places: Wanted| {
        let windows = adaptive(&x, &out, 2)?;
        max_pool(call, x, windows, [Some(out), places], 2)
    };
    aclnnAdaptiveMaxPool2dBackward |call, grad: Input, x: Input, _places: usize, out: Output| {
        let windows = adaptive(&x, &grad, 2)?;
        max_pool_back(call, [grad, x], windows, out, 2)
    };
    aclnnAdaptiveMaxPool3d |call, x: Input, _size: IntegerArray, out: Output, places: Wanted| {
        let windows = adaptive(&x, &out, 3)?;
        max_pool(call, x, windows, [Some(out), places], 3)
    };
    aclnnAdaptiveMaxPool3dBackward |call, grad: Input, x: Input, _places: usize, out: Output| {
        let windows = adaptive(&x, &grad, 3)?;
        max_pool_back(call, [grad, x], windows, out, 3)
    };
    aclnnMaxUnpool2d |call, x: Input, places: Input, _size: IntegerArray, out: Output| {
        unpooled(call, [x, places, out], 2)
    };
    aclnnMaxUnpool2dBackward |call, grad: Input, _x: In, places: Input, _size: IntegerArray, out: Output| {
        unpooled_back(call, [grad, places, out], 2)
    };
    aclnnMaxUnpool3d |call, x: Input, places: Input, _size: IntegerArray, _stride: IntegerArray, _padding: IntegerArray, out: Output| {
        unpooled(call, [x, places, out], 3)
    };
    aclnnMaxUnpool3dBackward |call, grad: Input, _x: In, places: Input, _size: IntegerArray, _stride: IntegerArray, _padding: IntegerArray, out: Output| {
        unpooled_back(call, [grad, places, out], 3)
    };
}

/// The number of elements of an image without its channels.
fn plane(image: &Operand, rank: usize) -> Outcome<usize> {
    require(image.rank() >= rank, "the input is no image")?;
    let shape = image.shape();
    Ok(shape[shape.len() - rank..].iter().product::<usize>().max(1))
}

/// Puts elements at their places in images of zeros.
fn unpooled(call: &mut Call, [x, places, out]: [Operand; 3], rank: usize) -> Outcome {
    let (few, many) = (plane(&x, rank)?, plane(&out, rank)?);
    let elements = out.elements();
    let inputs = vec![x.bits(), places];
    call.dense(inputs, vec![out.bits()], 0, move |values: &[Vec<i64>]| {
        let mut result = vec![0; elements];
        for (number, (x, place)) in values[0].iter().zip(&values[1]).enumerate() {
            if let Ok(place) = usize::try_from(*place)
                && place < many
            {
                result[number / few * many + place] = *x;
            }
        }
        vec![result]
    })
}

/// Takes elements from their places in images.
fn unpooled_back(call: &mut Call, [grad, places, out]: [Operand; 3], rank: usize) -> Outcome {
    let (few, many) = (plane(&out, rank)?, plane(&grad, rank)?);
    let inputs = vec![grad.bits(), places];
    call.dense(inputs, vec![out.bits()], 0, move |values: &[Vec<i64>]| {
        let each = values[1].iter().enumerate().map(|(number, place)| {
            let place = usize::try_from(*place).ok().filter(|it| *it < many);
            place.map_or(0, |place| values[0][number / few * many + place])
        });
        vec![each.collect()]
    })
}
