//! Convolutions and pools.

use super::NamedOperator;
use super::layers::windows_of;
use crate::convolution::{self, ConvolutionArrays, PaddingSource};
use crate::pooling::{self, MeanDivisor};
use crate::resize::{ResizeMethod, resized, resized_back};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::require;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("AdaptiveAvgPool2d", adaptive),
    ("AdaptiveAvgPool2dGrad", adaptive_back),
    ("AvgPool3D", |call, all| {
        let (x, out) = (
            solid(all, all.operand(call, 0)?)?,
            call.output(all.output())?,
        );
        let out = solid(all, out)?;
        let means = pooling::average(&all.solid_pool()?, &x, &out, all.solid_divisor(), 3)?;
        pooling::means(call, x, out, means, 3)
    }),
    // The first input is the shape of the output.
    ("AvgPool3DGrad", |call, all| {
        let (grad, out) = (
            solid(all, all.operand(call, 1)?)?,
            call.output(all.output())?,
        );
        let out = solid(all, out)?;
        let means = pooling::average(&all.solid_pool()?, &out, &grad, all.solid_divisor(), 3)?;
        pooling::means_back(call, grad, out, means, 3)
    }),
    ("AvgPoolV2", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let arrays = windows_of(all, &x, &out)?;
        let means = pooling::average(&arrays, &x, &out, all.divisor(), 2)?;
        pooling::means(call, x, out, means, 2)
    }),
    ("AvgPoolV2Grad", |call, all| {
        let (grad, out) = (call.input(all.input(1))?, call.output(all.output())?);
        let arrays = windows_of(all, &out, &grad)?;
        let means = pooling::average(&arrays, &out, &grad, all.divisor(), 2)?;
        pooling::means_back(call, grad, out, means, 2)
    }),
    ("Conv2D", |call, all| convolved(call, all, 2)),
    ("Conv2DBackpropFilter", |call, all| weights(call, all, 2)),
    ("Conv2DBackpropInput", |call, all| images(call, all, 2)),
    ("Conv2DTranspose", |call, all| {
        let [x, weight, bias] = [all.input(1), all.input(2), all.input(3)];
        convolution::convolution(
            call,
            [x, weight, bias, all.output()],
            all.given(2),
            true,
            all.groups(),
        )
    }),
    ("Conv3D", |call, all| convolved(call, all, 3)),
    ("Conv3DBackpropFilter", |call, all| weights(call, all, 3)),
    ("Conv3DBackpropInput", |call, all| images(call, all, 3)),
    ("CustAdaptiveAvgPool2D", adaptive),
    ("CustAdaptiveAvgPool2DGrad", adaptive_back),
    ("CustIm2col", im2col),
    ("Im2col", im2col),
    ("MaxPoolGradWithArgmaxV1", |call, all| {
        let (x, grad) = (call.input(all.input(0))?, call.input(all.input(1))?);
        let windows = pooling::by_window(&all.pool()?.windows(&x, &grad, 2)?);
        let out = call.output(all.output())?;
        pooling::max_pool_back(call, [grad, x], windows, out, 2)
    }),
    ("MaxPoolWithArgmaxV1", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let windows = pooling::by_window(&all.pool()?.windows(&x, &out, 2)?);
        pooling::max_pool(call, x, windows, [Some(out), None], 2)
    }),
    // The second input is the size, or an image of the size.
    ("ResizeBilinearV2", |call, all| {
        resized(call, [all.input(0), all.output()], all.resize(LINEAR), &[])
    }),
    ("ResizeBilinearV2Grad", |call, all| {
        resized_back(call, [all.input(0), all.output()], all.resize(LINEAR), &[])
    }),
    ("ResizeNearestNeighborV2", |call, all| {
        resized(call, [all.input(0), all.output()], all.resize(NEAREST), &[])
    }),
    ("ResizeNearestNeighborV2Grad", |call, all| {
        resized_back(call, [all.input(0), all.output()], all.resize(NEAREST), &[])
    }),
];

/// Without an attribute, with centres of elements, and with those at the corners.
const LINEAR: [ResizeMethod; 3] = [
    ResizeMethod::LinearByBegin,
    ResizeMethod::Linear { corners: false },
    ResizeMethod::Linear { corners: true },
];
const NEAREST: [ResizeMethod; 3] = [
    ResizeMethod::Nearest,
    ResizeMethod::NearestExact,
    ResizeMethod::NearestByCorners,
];

fn adaptive(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
    let means = pooling::adaptive_means(&x, &out, 2)?;
    pooling::means(call, x, out, means, 2)
}

fn adaptive_back(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (grad, out) = (all.operand(call, 0)?, call.output(all.output())?);
    let means = pooling::adaptive_means(&out, &grad, 2)?;
    pooling::means_back(call, grad, out, means, 2)
}

fn im2col(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let numbers = |name: &str| all.attributes.integers(name);
    let given = ConvolutionArrays {
        stride: numbers("strides"),
        padding: numbers("pads"),
        dilation: numbers("dilations"),
        source: PaddingSource::Numbers,
    };
    convolution::columns(
        call,
        [all.input(0), all.output()],
        numbers("ksizes"),
        given,
        false,
    )
}

fn convolved(call: &mut Call, all: &Arguments<'_>, rank: usize) -> Outcome {
    let [x, weight, bias] = [all.input(0), all.input(1), all.input(2)];
    // Without the attribute, channels that the weight has too few of mean groups.
    let channels = |call: &mut Call, handle: usize| {
        let shape = call.input(handle)?.shape().to_vec();
        Outcome::Ok(shape.get(1).copied().unwrap_or(1).max(1))
    };
    let groups = match all.groups() {
        1 => (channels(call, x)? / channels(call, weight)?).max(1) as i64,
        groups => groups,
    };
    // An image of fewer dimensions has as many numbers fewer that count.
    let dimensions = call.input(x)?.rank().saturating_sub(2).min(rank);
    let tensors = [x, weight, bias, all.output()];
    convolution::convolution(call, tensors, all.given(dimensions), false, groups)
}

fn weights(call: &mut Call, all: &Arguments<'_>, rank: usize) -> Outcome {
    let weight = Some(call.output(all.output())?);
    let tensors = [all.input(2), all.input(0), all.output()];
    let wanted = [None, weight, None];
    convolution::gradients(call, tensors, all.given(rank), false, all.groups(), wanted)
}

fn images(call: &mut Call, all: &Arguments<'_>, rank: usize) -> Outcome {
    let x = Some(call.output(all.output())?);
    let tensors = [all.input(2), all.output(), all.input(1)];
    let wanted = [x, None, None];
    convolution::gradients(call, tensors, all.given(rank), false, all.groups(), wanted)
}

/// An image of three dimensions, with its channels in front of them.
fn solid(all: &Arguments<'_>, x: Operand) -> Outcome<Operand> {
    require(x.rank() == 5, "the input is no image of three dimensions")?;
    Ok(match all.attributes.text("data_format") {
        "NDHWC" => x.seen(x.view.permuted(&[0, 4, 1, 2, 3])),
        _ => x,
    })
}

/// The meaning of attributes for these operators.
trait Meanings {
    fn solid_pool(&self) -> Outcome<pooling::PoolingArrays>;
    fn solid_divisor(&self) -> MeanDivisor;
    fn resize(&self, ways: [ResizeMethod; 3]) -> ResizeMethod;
    fn groups(&self) -> i64;
    fn pool(&self) -> Outcome<pooling::PoolingArrays>;
    fn divisor(&self) -> MeanDivisor;
    fn given(&self, rank: usize) -> ConvolutionArrays;
}

impl Meanings for Arguments<'_> {
    fn solid_pool(&self) -> Outcome<pooling::PoolingArrays> {
        let first = match self.attributes.text("data_format") {
            "NDHWC" => 1,
            _ => 2,
        };
        let inner = |name: &str| -> Vec<i64> {
            let all = self.attributes.integers(name);
            all.get(first..first + 3).unwrap_or(&all).to_vec()
        };
        let pads = self.attributes.integers("pads");
        require(!inner("ksize").is_empty(), "there is no window")?;
        Ok(pooling::PoolingArrays {
            kernel: inner("ksize"),
            stride: inner("strides"),
            padding: match pads.len() {
                6 => pads.into_iter().step_by(2).collect(),
                _ => pads,
            },
            dilation: Vec::new(),
        })
    }

    fn solid_divisor(&self) -> MeanDivisor {
        MeanDivisor {
            counts_padding: self.attributes.integer("count_include_pad", 1) != 0,
            given: self.attributes.integer("divisor_override", 0),
        }
    }

    fn resize(&self, ways: [ResizeMethod; 3]) -> ResizeMethod {
        let is_set = |name: &str| self.attributes.integer(name, 0) != 0;
        match (is_set("align_corners"), is_set("half_pixel_centers")) {
            (true, _) => ways[2],
            (false, true) => ways[1],
            (false, false) => ways[0],
        }
    }

    fn groups(&self) -> i64 {
        self.attributes.integer("groups", 1)
    }

    /// How the windows of a pool move that keeps the places of maxima. The dimensions of the image are behind the batch.
    fn pool(&self) -> Outcome<pooling::PoolingArrays> {
        let inner = |name: &str| -> Vec<i64> {
            let all = self.attributes.integers(name);
            all.get(1..3).unwrap_or(&all).to_vec()
        };
        let kernel = inner("ksize");
        require(kernel.len() == 2, "there is no window")?;
        Ok(pooling::PoolingArrays {
            kernel,
            stride: inner("strides"),
            padding: inner("pads"),
            dilation: inner("dilation"),
        })
    }

    fn divisor(&self) -> MeanDivisor {
        MeanDivisor {
            counts_padding: self.attributes.integer("exclusive", 1) == 0,
            given: self.attributes.integer("divisor_override", 0),
        }
    }

    /// The moves of a convolution's windows; batch and channels are in front, and paddings come in
    /// pairs.
    fn given(&self, rank: usize) -> ConvolutionArrays {
        let inner = |name: &str| self.attributes.integers(name).split_off_last(rank);
        ConvolutionArrays {
            stride: inner("strides"),
            padding: self.attributes.integers("pads"),
            dilation: inner("dilations"),
            source: PaddingSource::of(self.attributes.text("auto_pad")),
        }
    }
}

/// The last few of some numbers.
trait SplitLast {
    fn split_off_last(self, count: usize) -> Self;
}

impl SplitLast for Vec<i64> {
    fn split_off_last(mut self, count: usize) -> Self {
        let first = self.len().saturating_sub(count);
        self.split_off(first)
    }
}
