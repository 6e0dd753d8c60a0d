//! Images of another size: from the nearest element, or from those around.

use super::shapes::{coordinates, steps};
use crate::parameters::{In, IntegerArray, Written};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::dense::count;
use softacl_base::operand::Operand;
use softacl_base::status::require;

/// How the elements of a smaller or larger image follow from the image's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ResizeMethod {
    Nearest,
    /// The nearest by centres.
    NearestExact,
    /// The nearest, where the elements at the edges are those of the image.
    NearestByCorners,
    Linear {
        corners: bool,
    },
    /// Elements are where they begin, not at their centres.
    LinearByBegin,
    Cubic {
        corners: bool,
    },
}

/// For one dimension: for each element of the output the image's elements, and their weights.
type ResizeWeights = Vec<Vec<(usize, f64)>>;

/// How far it is in the image from one element of the output to the next. A scale that is given counts where it leads to
/// the output's length: callers that have none say 1 or 0.
fn distance(way: ResizeMethod, image: usize, wanted: usize, scale: f64) -> f64 {
    match way {
        ResizeMethod::Linear { corners: true }
        | ResizeMethod::Cubic { corners: true }
        | ResizeMethod::NearestByCorners => match wanted > 1 {
            true => (image - 1) as f64 / (wanted - 1) as f64,
            false => 0.0,
        },
        _ if scale > 0.0 && (image as f64 * scale).floor() as usize == wanted => scale.recip(),
        _ => image as f64 / wanted as f64,
    }
}

fn weights(way: ResizeMethod, image: usize, wanted: usize, scale: f64) -> ResizeWeights {
    let distance = distance(way, image, wanted, scale);
    let last = image as i64 - 1;
    let at = |place: i64| place.clamp(0, last) as usize;
    let between = |place: f64| {
        let (first, part) = (place.floor(), place.fract());
        vec![(at(first as i64), 1.0 - part), (at(first as i64 + 1), part)]
    };
    let each = |index: usize| match way {
        ResizeMethod::Nearest => vec![(at((index as f64 * distance).floor() as i64), 1.0)],
        ResizeMethod::NearestExact => {
            vec![(at(((index as f64 + 0.5) * distance).floor() as i64), 1.0)]
        }
        ResizeMethod::NearestByCorners => vec![(at((index as f64 * distance).round() as i64), 1.0)],
        ResizeMethod::Linear { corners: true } | ResizeMethod::LinearByBegin => {
            between(index as f64 * distance)
        }
        ResizeMethod::Linear { corners: false } => {
            between(((index as f64 + 0.5) * distance - 0.5).max(0.0))
        }
        ResizeMethod::Cubic { corners } => {
            let place = if corners {
                index as f64 * distance
            } else {
                (index as f64 + 0.5) * distance - 0.5
            };
            let first = place.floor();
            (-1..3)
                .map(|step| (at(first as i64 + step), cubic(place - first - step as f64)))
                .collect()
        }
    };
    (0..wanted).map(each).collect()
}

/// Keys' kernel with a = -0.75.
fn cubic(distance: f64) -> f64 {
    const A: f64 = -0.75;
    let x = distance.abs();
    if x <= 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A
    } else {
        0.0
    }
}

/// What each element of an output's image is made of.
fn sources(
    way: ResizeMethod,
    image: &[usize],
    wanted: &[usize],
    scales: &[f64],
) -> Vec<Vec<(usize, f64)>> {
    let dimensions: Vec<ResizeWeights> = (0..image.len())
        .map(|it| {
            weights(
                way,
                image[it],
                wanted[it],
                scales.get(it).copied().unwrap_or(0.0),
            )
        })
        .collect();
    let distances = steps(image);
    let each = |place: usize| {
        let at = coordinates(place, wanted);
        let mut found = vec![(0, 1.0)];
        for (dimension, weights) in dimensions.iter().enumerate() {
            let more = |(base, weight): &(usize, f64)| {
                let parts = weights[at[dimension]].iter();
                parts
                    .map(|(place, part)| (base + place * distances[dimension], weight * part))
                    .collect::<Vec<_>>()
            };
            found = found.iter().flat_map(more).collect();
        }
        found
    };
    (0..count(wanted)).map(each).collect()
}

fn inner(x: &Operand) -> Outcome<&[usize]> {
    require(x.rank() >= 3, "the input is no batch of images")?;
    Ok(&x.shape()[2..])
}

pub(super) fn resized(
    call: &mut Call,
    [x, out]: [usize; 2],
    way: ResizeMethod,
    scales: &[f64],
) -> Outcome {
    let (x, out) = (call.input(x)?, call.output(out)?);
    let sources = sources(way, inner(&x)?, inner(&out)?, scales);
    let image = count(inner(&x)?).max(1);
    call.dense(vec![x], vec![out], 0, move |values: &[Vec<f64>]| {
        let mut results = Vec::new();
        for image in values[0].chunks(image) {
            results.extend(sources.iter().map(|from| {
                from.iter()
                    .map(|(at, weight)| image[*at] * weight)
                    .sum::<f64>()
            }));
        }
        vec![results]
    })
}

pub(super) fn resized_back(
    call: &mut Call,
    [grad, out]: [usize; 2],
    way: ResizeMethod,
    scales: &[f64],
) -> Outcome {
    let (grad, out) = (call.input(grad)?, call.output(out)?);
    let sources = sources(way, inner(&out)?, inner(&grad)?, scales);
    let (image, elements) = (count(inner(&out)?).max(1), out.elements());
    call.dense(vec![grad], vec![out], 0, move |values: &[Vec<f64>]| {
        let mut sums = vec![0.0; elements];
        for (sums, grads) in sums
            .chunks_mut(image)
            .zip(values[0].chunks(sources.len().max(1)))
        {
            for (from, grad) in sources.iter().zip(grads) {
                from.iter()
                    .for_each(|(at, weight)| sums[*at] += grad * weight);
            }
        }
        vec![sums]
    })
}

operators! {
    aclnnUpsampleNearest1d |call, x: In, _size: IntegerArray, out: Written| resized(call, [x, out], ResizeMethod::Nearest, &[]);
    aclnnUpsampleNearest1dV2 |call, x: In, _size: IntegerArray, scale: f32, out: Written| {
        resized(call, [x, out], ResizeMethod::Nearest, &[scale.into()])
    };
    aclnnUpsampleNearest1dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, scale: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::Nearest, &[scale])
    };
    aclnnUpsampleNearest2d |call, x: In, _size: IntegerArray, out: Written| resized(call, [x, out], ResizeMethod::Nearest, &[]);
    aclnnUpsampleNearest2dV2 |call, x: In, _size: IntegerArray, down: f32, across: f32, out: Written| {
        resized(call, [x, out], ResizeMethod::Nearest, &[down.into(), across.into()])
    };
    aclnnUpsampleNearest2dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, down: f64, across: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::Nearest, &[down, across])
    };
    aclnnUpsampleNearestExact2d |call, x: In, _size: IntegerArray, down: f64, across: f64, out: Written| {
        resized(call, [x, out], ResizeMethod::NearestExact, &[down, across])
    };
    aclnnUpsampleNearestExact2dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, down: f64, across: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::NearestExact, &[down, across])
    };
    aclnnUpsampleNearestExact1d |call, x: In, _size: IntegerArray, scale: f64, out: Written| {
        resized(call, [x, out], ResizeMethod::NearestExact, &[scale])
    };
    aclnnUpsampleNearestExact1dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, scale: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::NearestExact, &[scale])
    };
    aclnnUpsampleNearestExact3d |call, x: In, _size: IntegerArray, depth: f64, down: f64, across: f64, out: Written| {
        resized(call, [x, out], ResizeMethod::NearestExact, &[depth, down, across])
    };
    aclnnUpsampleNearestExact3dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, depth: f64, down: f64, across: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::NearestExact, &[depth, down, across])
    };
    aclnnUpsampleLinear1d |call, x: In, _size: IntegerArray, corners: bool, scale: f64, out: Written| {
        resized(call, [x, out], ResizeMethod::Linear { corners }, &[scale])
    };
    aclnnUpsampleLinear1dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, corners: bool, scale: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::Linear { corners }, &[scale])
    };
    aclnnUpsampleBilinear2d |call, x: In, _size: IntegerArray, corners: bool, down: f64, across: f64, out: Written| {
        resized(call, [x, out], ResizeMethod::Linear { corners }, &[down, across])
    };
    aclnnUpsampleBilinear2dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, corners: bool, down: f64, across: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::Linear { corners }, &[down, across])
    };
    aclnnUpsampleBilinear2dBackwardV2 |call, grad: In, _size: IntegerArray, _image: IntegerArray, corners: bool, down: f64, across: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::Linear { corners }, &[down, across])
    };
    aclnnUpsampleBicubic2d |call, x: In, _size: IntegerArray, corners: bool, down: f64, across: f64, out: Written| {
        resized(call, [x, out], ResizeMethod::Cubic { corners }, &[down, across])
    };
    aclnnUpsampleBicubic2dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, corners: bool, down: f64, across: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::Cubic { corners }, &[down, across])
    };
    aclnnUpsampleTrilinear3d |call, x: In, _size: IntegerArray, corners: bool, deep: f64, down: f64, across: f64, out: Written| {
        resized(call, [x, out], ResizeMethod::Linear { corners }, &[deep, down, across])
    };
    aclnnUpsampleTrilinear3dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, corners: bool, deep: f64, down: f64, across: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::Linear { corners }, &[deep, down, across])
    };
    aclnnUpsampleNearest3dBackward |call, grad: In, _size: IntegerArray, _image: IntegerArray, deep: f64, down: f64, across: f64, out: Written| {
        resized_back(call, [grad, out], ResizeMethod::Nearest, &[deep, down, across])
    };
    aclnnUpsampleNearest3d |call, x: In, _size: IntegerArray, deep: f64, down: f64, across: f64, out: Written| {
        resized(call, [x, out], ResizeMethod::Nearest, &[deep, down, across])
    };
}
