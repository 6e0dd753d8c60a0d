//! Convolutions of any number of dimensions, by matrix products over the windows.

use super::norms::partly;
use super::shapes::{coordinates, steps};
use crate::parameters::{BoolArray, In, IntegerArray, OptionalOutput, OptionalTensor, Written};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::dense::count;
use softacl_base::objects;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

/// How windows move over an image.
#[derive(Clone)]
pub(super) struct Windows {
    pub(super) kernel: Vec<usize>,
    pub(super) stride: Vec<usize>,
    pub(super) padding: Vec<i64>,
    pub(super) dilation: Vec<usize>,
    /// The lengths of the image, and how many windows there are.
    pub(super) image: Vec<usize>,
    pub(super) places: Vec<usize>,
}

impl Windows {
    /// For each element of a window the place in the image that each window sees, or none in the padding.
    pub(super) fn seen(&self) -> Vec<Vec<Option<usize>>> {
        let distances = steps(&self.image);
        let places = count(&self.places);
        let each = |element: usize| {
            let within = coordinates(element, &self.kernel);
            (0..places)
                .map(|place| self.at(&within, &coordinates(place, &self.places), &distances))
                .collect()
        };
        (0..count(&self.kernel)).map(each).collect()
    }

    /// The elements that a window spans in a dimension.
    fn span(&self, at: usize) -> i64 {
        ((self.kernel[at] - 1) * self.dilation[at] + 1) as i64
    }

    /// The padding without which the places do not fit into a dimension.
    pub(super) fn needed(&self, at: usize) -> i64 {
        let steps = (self.places[at].max(1) - 1) * self.stride[at];
        steps as i64 + self.span(at) - self.image[at] as i64
    }

    /// Refuses another number of places than a padding in pairs gives. The last step may leave the image.
    pub(super) fn check(&self, pairs: &[i64]) -> Outcome {
        let fits = pairs.chunks(2).enumerate().all(|(at, pair)| {
            let room = self.image[at] as i64 + pair.iter().sum::<i64>() - self.span(at);
            let (stride, places) = (self.stride[at] as i64, self.places[at] as i64);
            (room / stride + 1..=(room + stride - 1) / stride + 1).contains(&places)
        });
        require(
            fits,
            "the output has not the shape that the attribute pads gives, in the order above, below, left, right",
        )
    }

    fn at(&self, within: &[usize], place: &[usize], distances: &[usize]) -> Option<usize> {
        let mut found = 0;
        for dimension in 0..self.image.len() {
            let begin =
                (place[dimension] * self.stride[dimension]) as i64 - self.padding[dimension];
            let at = begin + (within[dimension] * self.dilation[dimension]) as i64;
            let at = usize::try_from(at)
                .ok()
                .filter(|it| *it < self.image[dimension])?;
            found += at * distances[dimension];
        }
        Some(found)
    }
}

/// A number per dimension; a single one counts for all.
pub(super) fn each_of(given: &[i64], rank: usize, otherwise: i64) -> Vec<i64> {
    match given {
        [] => vec![otherwise; rank],
        [one] => vec![*one; rank],
        given => given[..rank.min(given.len())].to_vec(),
    }
}

/// A convolution, as all three of its products need it. For a transposed one the roles of image and output are
/// exchanged.
struct Convolution {
    windows: Windows,
    batch: usize,
    groups: usize,
    /// Channels of the image and of the windows' side, of one group.
    image_channels: usize,
    place_channels: usize,
    seen: Vec<Vec<Option<usize>>>,
}

impl Convolution {
    fn image(&self) -> usize {
        count(&self.windows.image)
    }

    fn places(&self) -> usize {
        count(&self.windows.places)
    }

    /// Rows of the matrix of what windows see.
    fn depth(&self) -> usize {
        self.image_channels * self.seen.len()
    }

    fn operations(&self) -> u64 {
        let all = self.batch * self.groups * self.place_channels * self.depth() * self.places();
        2 * all as u64
    }

    /// The windows' elements of one image's channels of a group: a row per channel and element of the
    /// window.
    fn columns(&self, image: &[f64]) -> Vec<f64> {
        let mut columns = Vec::with_capacity(self.depth() * self.places());
        for channel in image.chunks(self.image()) {
            for row in &self.seen {
                columns.extend(row.iter().map(|at| at.map_or(0.0, |at| channel[at])));
            }
        }
        columns
    }

    /// The other way round: what windows hold adds up in the image.
    fn add_up(&self, columns: &[f64], image: &mut [f64]) {
        let places = self.places();
        for (number, channel) in image.chunks_mut(self.image()).enumerate() {
            for (element, row) in self.seen.iter().enumerate() {
                let first = (number * self.seen.len() + element) * places;
                for (value, at) in columns[first..first + places].iter().zip(row) {
                    if let Some(at) = at {
                        channel[*at] += value;
                    }
                }
            }
        }
    }

    /// The parts of a batch's group.
    fn image_part(&self, batch: usize, group: usize) -> std::ops::Range<usize> {
        let length = self.image_channels * self.image();
        let first = (batch * self.groups + group) * length;
        first..first + length
    }

    fn place_part(&self, batch: usize, group: usize) -> std::ops::Range<usize> {
        let length = self.place_channels * self.places();
        let first = (batch * self.groups + group) * length;
        first..first + length
    }

    fn weight_part(&self, group: usize) -> std::ops::Range<usize> {
        let length = self.place_channels * self.depth();
        group * length..(group + 1) * length
    }

    fn parts(&self) -> impl Iterator<Item = (usize, usize)> {
        let groups = self.groups;
        (0..self.batch).flat_map(move |batch| (0..groups).map(move |group| (batch, group)))
    }

    /// From images to places: weight times columns.
    fn forward(&self, images: &[f64], weight: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.batch * self.groups * self.place_channels * self.places()];
        for (batch, group) in self.parts() {
            let columns = self.columns(&images[self.image_part(batch, group)]);
            let shape = [self.place_channels, self.depth(), self.places()];
            let out = &mut out[self.place_part(batch, group)];
            product(
                shape,
                [&weight[self.weight_part(group)], &columns],
                [false, false],
                out,
            );
        }
        out
    }

    /// From places to images: the sums that the weights spread.
    fn backward(&self, places: &[f64], weight: &[f64]) -> Vec<f64> {
        let mut images = vec![0.0; self.batch * self.groups * self.image_channels * self.image()];
        for (batch, group) in self.parts() {
            let mut columns = vec![0.0; self.depth() * self.places()];
            let shape = [self.depth(), self.place_channels, self.places()];
            let grad = &places[self.place_part(batch, group)];
            product(
                shape,
                [&weight[self.weight_part(group)], grad],
                [true, false],
                &mut columns,
            );
            self.add_up(&columns, &mut images[self.image_part(batch, group)]);
        }
        images
    }

    /// The gradient of the weight.
    fn weights(&self, images: &[f64], places: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.groups * self.place_channels * self.depth()];
        for (batch, group) in self.parts() {
            let columns = self.columns(&images[self.image_part(batch, group)]);
            let shape = [self.place_channels, self.places(), self.depth()];
            let grad = &places[self.place_part(batch, group)];
            product(
                shape,
                [grad, &columns],
                [false, true],
                &mut weights[self.weight_part(group)],
            );
        }
        weights
    }
}

/// Adds the product of two matrices, each of which may be given the other way round.
pub(super) fn product(
    [rows, inner, columns]: [usize; 3],
    [a, b]: [&[f64]; 2],
    turned: [bool; 2],
    out: &mut [f64],
) {
    let a_steps = if turned[0] { (1, rows) } else { (inner, 1) };
    let b_steps = if turned[1] { (1, inner) } else { (columns, 1) };
    assert!(a.len() >= rows * inner && b.len() >= inner * columns && out.len() >= rows * columns);
    // SAFETY: the lengths were looked at, and the output is apart from the inputs.
    unsafe {
        matrixmultiply::dgemm(
            rows,
            inner,
            columns,
            1.0,
            a.as_ptr(),
            a_steps.0 as isize,
            a_steps.1 as isize,
            b.as_ptr(),
            b_steps.0 as isize,
            b_steps.1 as isize,
            1.0,
            out.as_mut_ptr(),
            columns as isize,
            1,
        );
    }
}

/// An image without a batch gets one.
fn batched(x: &Operand, rank: usize) -> Operand {
    match x.rank() == rank + 1 {
        true => x.seen(x.view.clone().with_dimension(0)),
        false => x.clone(),
    }
}

/// Where the padding of a convolution comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PaddingSource {
    Numbers,
    /// As many places as steps fit into the image. An odd rest is behind it, or in front.
    Same {
        rest_in_front: bool,
    },
    Valid,
}

impl PaddingSource {
    /// By the attribute `auto_pad`.
    pub(super) fn of(text: &str) -> Self {
        match text {
            "SAME_UPPER" | "SAME_LOWER" => Self::Same {
                rest_in_front: text == "SAME_LOWER",
            },
            "VALID" => Self::Valid,
            _ => Self::Numbers,
        }
    }
}

/// Parameters from the arrays of a convolution.
pub(super) struct ConvolutionArrays {
    pub(super) stride: Vec<i64>,
    pub(super) padding: Vec<i64>,
    pub(super) dilation: Vec<i64>,
    pub(super) source: PaddingSource,
}

impl ConvolutionArrays {
    fn new(stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray) -> Outcome<Self> {
        Ok(Self {
            stride: objects::integers(stride)?,
            padding: objects::integers(padding)?,
            dilation: objects::integers(dilation)?,
            source: PaddingSource::Numbers,
        })
    }

    /// The padding in front of each dimension. Numbers in pairs are those in front of and behind one, and decide the places.
    fn front(&self, windows: &Windows) -> Outcome<Vec<i64>> {
        let rank = windows.image.len();
        match self.source {
            PaddingSource::Valid => Ok(vec![0; rank]),
            PaddingSource::Same { rest_in_front } => {
                let needed = (0..rank).map(|at| windows.needed(at));
                let rest = i64::from(rest_in_front);
                Ok(needed.map(|it| (it.max(0) + rest) / 2).collect())
            }
            PaddingSource::Numbers if self.padding.len() == 2 * rank && rank > 1 => {
                windows.check(&self.padding)?;
                Ok(self.padding.iter().step_by(2).copied().collect())
            }
            PaddingSource::Numbers => Ok(each_of(&self.padding, rank, 0)),
        }
    }

    /// `image` and `places` are what windows move over and what there is one of per window.
    fn convolution(
        &self,
        image: &Operand,
        places: &Operand,
        weight: &Operand,
        groups: i64,
    ) -> Outcome<Convolution> {
        let rank = weight.rank().saturating_sub(2);
        require(
            image.rank() == rank + 2 && places.rank() == rank + 2 && groups > 0,
            "the shapes do not fit a convolution",
        )?;
        let sizes = |given: &[i64]| {
            each_of(given, rank, 1)
                .iter()
                .map(|it| (*it).max(1) as usize)
                .collect()
        };
        let mut windows = Windows {
            kernel: weight.shape()[2..].to_vec(),
            stride: sizes(&self.stride),
            padding: Vec::new(),
            dilation: sizes(&self.dilation),
            image: image.shape()[2..].to_vec(),
            places: places.shape()[2..].to_vec(),
        };
        windows.padding = self.front(&windows)?;
        let groups = groups as usize;
        let found = Convolution {
            batch: image.shape()[0],
            groups,
            image_channels: image.shape()[1] / groups,
            place_channels: places.shape()[1] / groups,
            seen: windows.seen(),
            windows,
        };
        let fits = weight.elements() == groups * found.place_channels * found.depth()
            && places.shape()[0] == found.batch;
        require(fits, "the shapes do not fit a convolution")?;
        Ok(found)
    }
}

pub(super) fn convolution(
    call: &mut Call,
    [x, weight, bias, out]: [usize; 4],
    given: ConvolutionArrays,
    transposed: bool,
    groups: i64,
) -> Outcome {
    let (x, weight, bias) = (call.input(x)?, call.input(weight)?, call.optional(bias)?);
    let out = call.output(out)?;
    let rank = weight.rank().saturating_sub(2);
    let (x, out) = (batched(&x, rank), batched(&out, rank));
    let convolution = match transposed {
        false => given.convolution(&x, &out, &weight, groups)?,
        true => given.convolution(&out, &x, &weight, groups)?,
    };
    let operations = convolution.operations() * x.view.kind.effort();
    let (channels, places) = (out.shape()[1].max(1), count(&out.shape()[2..]).max(1));
    let inputs = [x, weight].into_iter().chain(bias).collect();
    call.dense(
        inputs,
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let mut result = match transposed {
                false => convolution.forward(&values[0], &values[1]),
                true => convolution.backward(&values[0], &values[1]),
            };
            if let Some(bias) = values.get(2) {
                for (number, part) in result.chunks_mut(places).enumerate() {
                    part.iter_mut()
                        .for_each(|it| *it += bias[number % channels]);
                }
            }
            vec![result]
        },
    )
}

/// The gradients of input, weight and bias.
pub(super) fn gradients(
    call: &mut Call,
    [grad, x, weight]: [In; 3],
    given: ConvolutionArrays,
    transposed: bool,
    groups: i64,
    outputs: [Option<Operand>; 3],
) -> Outcome {
    let (grad, x, weight) = (call.input(grad)?, call.input(x)?, call.input(weight)?);
    let rank = weight.rank().saturating_sub(2);
    let (grad, x) = (batched(&grad, rank), batched(&x, rank));
    let convolution = match transposed {
        false => given.convolution(&x, &grad, &weight, groups)?,
        true => given.convolution(&grad, &x, &weight, groups)?,
    };
    let wanted = outputs.each_ref().map(Option::is_some);
    let products = u64::from(wanted[0]) + u64::from(wanted[1]);
    let operations = convolution.operations() * products * x.view.kind.effort();
    let (channels, places) = (grad.shape()[1].max(1), count(&grad.shape()[2..]).max(1));
    partly(
        call,
        vec![grad, x, weight],
        outputs.into(),
        operations,
        move |values| {
            let [grad, x, weight] = values else {
                return Vec::new();
            };
            let unless_unwanted = |wanted: bool, compute: &dyn Fn() -> Vec<f64>| {
                if wanted { compute() } else { Vec::new() }
            };
            let images = unless_unwanted(wanted[0], &|| match transposed {
                false => convolution.backward(grad, weight),
                true => convolution.forward(grad, weight),
            });
            let weights = unless_unwanted(wanted[1], &|| match transposed {
                false => convolution.weights(x, grad),
                true => convolution.weights(grad, x),
            });
            let mut biases = vec![0.0; channels];
            for (number, part) in grad.chunks(places).enumerate() {
                biases[number % channels] += part.iter().sum::<f64>();
            }
            vec![images, weights, biases]
        },
    )
}

/// What windows see, a column per window, or the other way round.
pub(super) fn columns(
    call: &mut Call,
    [x, out]: [usize; 2],
    kernel: Vec<i64>,
    given: ConvolutionArrays,
    back: bool,
) -> Outcome {
    let (x, out) = (call.input(x)?, call.output(out)?);
    let kernel: Vec<usize> = each_of(&kernel, 2, 1)
        .iter()
        .map(|it| (*it).max(1) as usize)
        .collect();
    let image = if back { &out } else { &x };
    let &[.., rows, across] = image.shape() else {
        return refuse("the input is no image");
    };
    let sizes = |given: &[i64]| -> Vec<usize> {
        each_of(given, 2, 1).iter().map(|it| *it as usize).collect()
    };
    let (stride, dilation, padding) = (
        sizes(&given.stride),
        sizes(&given.dilation),
        each_of(&given.padding, 2, 0),
    );
    let windows = |length: usize, at: usize| {
        let reach = dilation[at] * (kernel[at] - 1) + 1;
        (length + 2 * padding[at] as usize - reach) / stride[at] + 1
    };
    let places = vec![windows(rows, 0), windows(across, 1)];
    let windows = Windows {
        kernel,
        stride,
        padding: padding.clone(),
        dilation,
        image: vec![rows, across],
        places,
    };
    let batch = image.elements() / (rows * across).max(1);
    let convolution = Convolution {
        batch,
        groups: 1,
        image_channels: 1,
        place_channels: 1,
        seen: windows.seen(),
        windows,
    };
    call.dense(vec![x], vec![out], 0, move |values: &[Vec<f64>]| {
        let (image, part) = (
            convolution.image(),
            convolution.depth() * convolution.places(),
        );
        if !back {
            return vec![
                values[0]
                    .chunks(image)
                    .flat_map(|channel| convolution.columns(channel))
                    .collect(),
            ];
        }
        let mut images = vec![0.0; batch * image];
        for (channel, columns) in images.chunks_mut(image).zip(values[0].chunks(part)) {
            convolution.add_up(columns, channel);
        }
        vec![images]
    })
}

operators! {
    aclnnConvolution |call, x: In, weight: In, bias: OptionalTensor, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, transposed: bool, _more: IntegerArray, groups: i64, out: Written, _precision: i8| {
        convolution(call, [x, weight, bias, out], ConvolutionArrays::new(stride, padding, dilation)?, transposed, groups)
    };
    aclnnConvDepthwise2d |call, x: In, weight: In, _kernel: IntegerArray, bias: OptionalTensor, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, out: Written, _precision: i8| {
        let groups = call.input(x)?.shape().get(1).copied().unwrap_or(1) as i64;
        convolution(call, [x, weight, bias, out], ConvolutionArrays::new(stride, padding, dilation)?, false, groups)
    };
    aclnnConvolutionBackward |call, grad: In, x: In, weight: In, _bias: IntegerArray, stride: IntegerArray, padding: IntegerArray, dilation: IntegerArray, transposed: bool, _more: IntegerArray, groups: i32, mask: BoolArray, _precision: i8, grad_x: OptionalOutput, grad_weight: OptionalOutput, grad_bias: OptionalOutput| {
        let outputs = super::norms::masked(call, mask, [grad_x, grad_weight, grad_bias])?;
        gradients(call, [grad, x, weight], ConvolutionArrays::new(stride, padding, dilation)?, transposed, groups.into(), outputs)
    };
    aclnnIm2col |call, x: In, kernel: IntegerArray, dilation: IntegerArray, padding: IntegerArray, stride: IntegerArray, out: Written| {
        columns(call, [x, out], objects::integers(kernel)?, ConvolutionArrays::new(stride, padding, dilation)?, false)
    };
    aclnnIm2colBackward |call, x: In, _size: IntegerArray, kernel: IntegerArray, dilation: IntegerArray, padding: IntegerArray, stride: IntegerArray, out: Written| {
        columns(call, [x, out], objects::integers(kernel)?, ConvolutionArrays::new(stride, padding, dilation)?, true)
    };
}
