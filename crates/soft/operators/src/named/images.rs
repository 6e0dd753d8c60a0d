//! Convolutions and pools.

use super::NamedOperator;
use crate::convolution::{self, ConvolutionArrays};
use crate::pooling::{self, MeanDivisor};
use softacl_base::arguments::Arguments;
use softacl_base::code::Outcome;
use softacl_base::status::require;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("AvgPoolV2", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let means = pooling::average(&all.pool(2)?, &x, &out, all.divisor(), 2)?;
        pooling::means(call, x, out, means, 2)
    }),
    ("AvgPoolV2Grad", |call, all| {
        let (grad, out) = (call.input(all.input(1))?, call.output(all.output())?);
        let means = pooling::average(&all.pool(2)?, &out, &grad, all.divisor(), 2)?;
        pooling::means_back(call, grad, out, means, 2)
    }),
    ("Conv2D", |call, all| {
        let [x, weight, bias] = [all.input(0), all.input(1), all.input(2)];
        convolution::convolution(
            call,
            [x, weight, bias, all.output()],
            all.given(),
            false,
            all.groups(),
        )
    }),
    ("Conv2DBackpropFilter", |call, all| {
        let weight = Some(call.output(all.output())?);
        convolution::gradients(
            call,
            [all.input(2), all.input(0), all.output()],
            all.given(),
            false,
            all.groups(),
            [None, weight, None],
        )
    }),
    ("Conv2DBackpropInput", |call, all| {
        let x = Some(call.output(all.output())?);
        convolution::gradients(
            call,
            [all.input(2), all.output(), all.input(1)],
            all.given(),
            false,
            all.groups(),
            [x, None, None],
        )
    }),
    ("Conv2DTranspose", |call, all| {
        let [x, weight, bias] = [all.input(1), all.input(2), all.input(3)];
        convolution::convolution(
            call,
            [x, weight, bias, all.output()],
            all.given(),
            true,
            all.groups(),
        )
    }),
    ("MaxPoolGradWithArgmaxV1", |call, all| {
        let (x, grad) = (call.input(all.input(0))?, call.input(all.input(1))?);
        let windows = pooling::by_window(&all.pool(1)?.windows(&x, &grad, 2)?);
        let out = call.output(all.output())?;
        pooling::max_pool_back(call, [grad, x], windows, out, 2)
    }),
    ("MaxPoolWithArgmaxV1", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let windows = pooling::by_window(&all.pool(1)?.windows(&x, &out, 2)?);
        pooling::max_pool(call, x, windows, [Some(out), None], 2)
    }),
];

/// The meaning of attributes for these operators.
trait Meanings {
    fn groups(&self) -> i64;
    fn pool(&self, at: usize) -> Outcome<pooling::PoolingArrays>;
    fn divisor(&self) -> MeanDivisor;
    fn given(&self) -> ConvolutionArrays;
}

impl Meanings for Arguments<'_> {
    fn groups(&self) -> i64 {
        self.attributes.integer("groups", 1)
    }

    /// How the windows of a pool move; `at` is where the dimensions of the image begin.
    fn pool(&self, at: usize) -> Outcome<pooling::PoolingArrays> {
        let inner = |name: &str| -> Vec<i64> {
            let all = self.attributes.integers(name);
            all.get(at..at + 2).unwrap_or(&all).to_vec()
        };
        let kernel = inner("ksize");
        require(kernel.len() == 2, "there is no window")?;
        Ok(pooling::PoolingArrays {
            kernel,
            stride: inner("strides"),
            // Of means: above, below, left and right.
            padding: match at {
                1 => inner("pads"),
                _ => self
                    .attributes
                    .integers("pads")
                    .into_iter()
                    .step_by(2)
                    .collect(),
            },
            dilation: match at {
                1 => inner("dilation"),
                _ => Vec::new(),
            },
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
    fn given(&self) -> ConvolutionArrays {
        let inner = |name: &str| self.attributes.integers(name).split_off_last(2);
        ConvolutionArrays {
            stride: inner("strides"),
            padding: self.attributes.integers("pads"),
            dilation: inner("dilations"),
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
