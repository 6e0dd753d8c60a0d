//! Means and largest elements of windows over images, with gradients.

use super::convolution::{Windows, each_of};
use super::functions::larger;
use super::{IntegerArray, OptionalOutput};
use crate::aclnn::arrays;
use crate::aclnn::call::Call;
use crate::aclnn::dense::count;
use crate::aclnn::operand::Operand;
use crate::aclnn::operators::{In, Written};
use crate::aclnn::status::require;
use crate::code::Outcome;

/// The arrays that say how windows move; a stride that is left out is the window's size.
pub(super) struct PoolingArrays {
    pub(super) kernel: Vec<i64>,
    pub(super) stride: Vec<i64>,
    pub(super) padding: Vec<i64>,
    pub(super) dilation: Vec<i64>,
}

impl PoolingArrays {
    fn new([kernel, stride, padding, dilation]: [IntegerArray; 4]) -> Outcome<Self> {
        Ok(Self {
            kernel: arrays::integers(kernel)?,
            stride: arrays::integers(stride)?,
            padding: arrays::integers(padding)?,
            dilation: arrays::integers(dilation)?,
        })
    }

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

pub(super) fn max_pool(
    call: &mut Call,
    x: In,
    windows: impl FnOnce(&Operand, &Operand) -> Outcome<Vec<Vec<usize>>>,
    [out, places]: [Written; 2],
    rank: usize,
) -> Outcome {
    let (x, out) = (call.input(x)?, call.output(out)?);
    let windows = windows(&x, &out)?;
    let places = call.wanted(places)?.filter(|it| it.shape() == out.shape());
    let image = count(&x.shape()[x.rank() - rank..]).max(1);
    let outputs = [out].into_iter().chain(places).collect();
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

/// The gradient goes to the largest element, which is looked for again: what marks it is the device's own.
pub(super) fn max_pool_back(
    call: &mut Call,
    [grad, x]: [In; 2],
    windows: impl FnOnce(&Operand, &Operand) -> Outcome<Vec<Vec<usize>>>,
    out: Written,
    rank: usize,
) -> Outcome {
    let (grad, x, out) = (call.input(grad)?, call.input(x)?, call.output(out)?);
    let windows = windows(&x, &grad)?;
    let image = count(&x.shape()[x.rank() - rank..]).max(1);
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

pub(super) fn means(
    call: &mut Call,
    x: &Operand,
    out: Operand,
    means: WindowMeans,
    rank: usize,
) -> Outcome {
    let image = count(&x.shape()[x.rank() - rank..]).max(1);
    call.dense(
        vec![x.clone()],
        vec![out],
        0,
        move |values: &[Vec<f64>]| {
            let mut results = Vec::new();
            for image in values[0].chunks(image) {
                let each = means.windows.iter().zip(&means.divisors);
                results.extend(each.map(|(window, divisor)| {
                    window.iter().map(|at| image[*at]).sum::<f64>() / divisor
                }));
            }
            vec![results]
        },
    )
}

pub(super) fn means_back(
    call: &mut Call,
    grad: &Operand,
    out: Operand,
    means: WindowMeans,
    rank: usize,
) -> Outcome {
    let image = count(&out.shape()[out.rank() - rank..]).max(1);
    let elements = out.elements();
    call.dense(
        vec![grad.clone()],
        vec![out],
        0,
        move |values: &[Vec<f64>]| {
            let mut sums = vec![0.0; elements];
            for (sums, grads) in sums
                .chunks_mut(image)
                .zip(values[0].chunks(means.windows.len().max(1)))
            {
                for ((window, divisor), grad) in
                    means.windows.iter().zip(&means.divisors).zip(grads)
                {
                    window.iter().for_each(|at| sums[*at] += grad / divisor);
                }
            }
            vec![sums]
        },
    )
}

pub(super) fn average(
    given: PoolingArrays,
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

fn adaptive_means(image: &Operand, places: &Operand, rank: usize) -> Outcome<WindowMeans> {
    let windows = adaptive(image, places, rank)?;
    let divisors = windows
        .iter()
        .map(|window| larger(window.len() as f64, 1.0))
        .collect();
    Ok(WindowMeans { windows, divisors })
}

macro_rules! pools {
    ($rank:literal: $max:ident $max_back:ident $average:ident $average_back:ident
     $adaptive:ident $adaptive_back:ident $adaptive_max:ident $adaptive_max_back:ident) => { operators! {
        $max |call, x: In, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, _ceil: bool, out: Written, places: OptionalOutput| {
            let given = PoolingArrays::new([kernel, stride, padding, dilation])?;
            max_pool(call, x, |x, out| Ok(by_window(&given.windows(x, out, $rank)?)), [out, places], $rank)
        };
        $max_back |call, grad: In, x: In, _places: usize, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, _ceil: bool, out: Written| {
            let given = PoolingArrays::new([kernel, stride, padding, dilation])?;
            max_pool_back(call, [grad, x], |x, grad| Ok(by_window(&given.windows(x, grad, $rank)?)), out, $rank)
        };
        $average |call, x: In, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, _ceil: bool, counts_padding: bool, given: i64, _precision: i8, out: Written| {
            let (x, out) = (call.input(x)?, call.output(out)?);
            let arrays = PoolingArrays::new([kernel, stride, padding, 0])?;
            let found = average(arrays, &x, &out, MeanDivisor { counts_padding, given }, $rank)?;
            means(call, &x, out, found, $rank)
        };
        $average_back |call, grad: In, x: In, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, _ceil: bool, counts_padding: bool, given: i64, _precision: i8, out: Written| {
            let (grad, _, out) = (call.input(grad)?, x, call.output(out)?);
            let arrays = PoolingArrays::new([kernel, stride, padding, 0])?;
            let found = average(arrays, &out, &grad, MeanDivisor { counts_padding, given }, $rank)?;
            means_back(call, &grad, out, found, $rank)
        };
        $adaptive |call, x: In, _size: IntegerArray, out: Written| {
            let (x, out) = (call.input(x)?, call.output(out)?);
            let found = adaptive_means(&x, &out, $rank)?;
            means(call, &x, out, found, $rank)
        };
        $adaptive_back |call, grad: In, x: In, out: Written| {
            let (grad, _, out) = (call.input(grad)?, x, call.output(out)?);
            let found = adaptive_means(&out, &grad, $rank)?;
            means_back(call, &grad, out, found, $rank)
        };
        $adaptive_max |call, x: In, _size: IntegerArray, out: Written, places: OptionalOutput| {
            max_pool(call, x, |x, out| adaptive(x, out, $rank), [out, places], $rank)
        };
        $adaptive_max_back |call, grad: In, x: In, _places: usize, out: Written| {
            max_pool_back(call, [grad, x], |x, grad| adaptive(x, grad, $rank), out, $rank)
        };
    } };
}

pools! {
    2: aclnnMaxPool2dWithMask aclnnMaxPool2dWithMaskBackward aclnnAvgPool2d aclnnAvgPool2dBackward
    aclnnAdaptiveAvgPool2d aclnnAdaptiveAvgPool2dBackward aclnnAdaptiveMaxPool2d aclnnAdaptiveMaxPool2dBackward
}

operators! {
    aclnnMaxPool2dWithIndices |call, x: In, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, _ceil: bool, out: Written, places: OptionalOutput| {
        let given = PoolingArrays::new([kernel, stride, padding, dilation])?;
        max_pool(call, x, |x, out| Ok(by_window(&given.windows(x, out, 2)?)), [out, places], 2)
    };
    aclnnMaxPool2dWithIndicesBackward |call, grad: In, x: In, _places: usize, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, _ceil: bool, out: Written| {
        let given = PoolingArrays::new([kernel, stride, padding, dilation])?;
        max_pool_back(call, [grad, x], |x, grad| Ok(by_window(&given.windows(x, grad, 2)?)), out, 2)
    };
    aclnnMaxPool3dWithArgmax |call, x: In, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, _ceil: bool, out: Written, places: OptionalOutput| {
        let given = PoolingArrays::new([kernel, stride, padding, dilation])?;
        max_pool(call, x, |x, out| Ok(by_window(&given.windows(x, out, 3)?)), [out, places], 3)
    };
    aclnnMaxPool3dWithArgmaxBackward |call, grad: In, x: In, _places: usize, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, _ceil: bool, out: Written| {
        let given = PoolingArrays::new([kernel, stride, padding, dilation])?;
        max_pool_back(call, [grad, x], |x, grad| Ok(by_window(&given.windows(x, grad, 3)?)), out, 3)
    };
    aclnnAvgPool3d |call, x: In, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, _ceil: bool, counts_padding: bool, given: i64, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let arrays = PoolingArrays::new([kernel, stride, padding, 0])?;
        let found = average(arrays, &x, &out, MeanDivisor { counts_padding, given }, 3)?;
        means(call, &x, out, found, 3)
    };
    aclnnAvgPool3dBackward |call, grad: In, x: In, kernel: IntegerArray, stride: IntegerArray, padding: IntegerArray, _ceil: bool, counts_padding: bool, given: i64, out: Written| {
        let (grad, _, out) = (call.input(grad)?, x, call.output(out)?);
        let arrays = PoolingArrays::new([kernel, stride, padding, 0])?;
        let found = average(arrays, &out, &grad, MeanDivisor { counts_padding, given }, 3)?;
        means_back(call, &grad, out, found, 3)
    };
    aclnnAdaptiveAvgPool3d |call, x: In, _size: IntegerArray, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let found = adaptive_means(&x, &out, 3)?;
        means(call, &x, out, found, 3)
    };
    aclnnAdaptiveAvgPool3dBackward |call, grad: In, x: In, out: Written| {
        let (grad, _, out) = (call.input(grad)?, x, call.output(out)?);
        let found = adaptive_means(&out, &grad, 3)?;
        means_back(call, &grad, out, found, 3)
    };
}
