//! Biases, and pools with paddings by a word, which MindSpore calls.

use super::NamedOperator;
use crate::maps::along_channels;
use crate::norms::channels_first;
use crate::pooling::{self, MeanDivisor, PoolingArrays};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::number;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("AvgPool", |call, all| {
        let (x, out) = (image(all, call.input(all.input(0))?)?, output(call, all)?);
        let means = pooling::average(&by_word(all, &x, &out)?, &x, &out, INSIDE, 2)?;
        pooling::means(call, x, out, means, 2)
    }),
    // The first input is the shape of the output.
    ("AvgPoolGrad", |call, all| {
        let (grad, out) = (image(all, all.operand(call, 1)?)?, output(call, all)?);
        let means = pooling::average(&by_word(all, &out, &grad)?, &out, &grad, INSIDE, 2)?;
        pooling::means_back(call, grad, out, means, 2)
    }),
    ("BiasAdd", |call, all| {
        let (x, bias) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let bias = match has_channels_last(all) {
            true => bias,
            false => along_channels(&bias, &x),
        };
        let out = call.output(all.output())?;
        call.each(
            number(
                |[x, bias]| x + bias,
                |[x, bias]: [i64; 2]| x.wrapping_add(bias),
            ),
            [&x, &bias],
            &out,
        )
    }),
    // The sum of each channel.
    ("BiasAddGrad", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let rows = match has_channels_last(all) {
            true => {
                let order: Vec<usize> = (0..x.rank()).rev().collect();
                x.seen(x.view.permuted(&order))
            }
            false => channels_first(&x)?,
        };
        let channels = rows.shape().first().copied().unwrap_or(0);
        require(
            channels == out.elements(),
            "there is not a sum for each channel",
        )?;
        let length = (rows.elements() / channels.max(1)).max(1);
        call.dense(vec![rows], vec![out], 0, move |values: &[Vec<f64>]| {
            vec![
                values[0]
                    .chunks(length)
                    .map(|row| row.iter().sum())
                    .collect(),
            ]
        })
    }),
    ("MaxPool", |call, all| {
        let (x, out) = (image(all, call.input(all.input(0))?)?, output(call, all)?);
        let windows = pooling::by_window(&by_word(all, &x, &out)?.windows(&x, &out, 2)?);
        pooling::max_pool(call, x, windows, [Some(out), None], 2)
    }),
    // The inputs are the input of the pool, its output, and the gradient.
    ("MaxPoolGrad", |call, all| {
        let (x, grad) = (all.operand(call, 0)?, all.operand(call, 2)?);
        let (x, grad, out) = (image(all, x)?, image(all, grad)?, output(call, all)?);
        let windows = pooling::by_window(&by_word(all, &x, &grad)?.windows(&x, &grad, 2)?);
        pooling::max_pool_back(call, [grad, x], windows, out, 2)
    }),
    // The padding is a word, or four numbers: above, below, left and right.
    ("MaxPoolV3", |call, all| {
        let (x, out) = (image(all, call.input(all.input(0))?)?, output(call, all)?);
        let given = windows_of(all, &x, &out)?;
        let windows = pooling::by_window(&given.windows(&x, &out, 2)?);
        pooling::max_pool(call, x, windows, [Some(out), None], 2)
    }),
];

/// The padding does not count for a mean.
const INSIDE: MeanDivisor = MeanDivisor {
    counts_padding: false,
    given: 0,
};

fn has_channels_last(all: &Arguments<'_>) -> bool {
    all.attributes.text("data_format") == "NHWC"
}

/// An image with its channels in front of the two dimensions that windows move in.
fn image(all: &Arguments<'_>, x: Operand) -> Outcome<Operand> {
    require(x.rank() == 4, "the input is no image")?;
    Ok(match has_channels_last(all) {
        true => x.seen(x.view.permuted(&[0, 3, 1, 2])),
        false => x,
    })
}

fn output(call: &mut Call, all: &Arguments<'_>) -> Outcome<Operand> {
    image(all, call.output(all.output())?)
}

/// How the windows of a pool move, with a padding by a word, or by numbers: above, below, left and right.
pub(super) fn windows_of(
    all: &Arguments<'_>,
    image: &Operand,
    places: &Operand,
) -> Outcome<PoolingArrays> {
    let mut given = by_word(all, image, places)?;
    if all.attributes.integer("global_pooling", 0) != 0 {
        given.kernel = image.shape()[2..].iter().map(|it| *it as i64).collect();
        given.padding = vec![0, 0];
    } else if is_calculated(all) {
        let pads = all.attributes.integers("pads");
        if pads.len() == 4 {
            given.windows(image, places, 2)?.check(&pads)?;
        }
        given.padding = pads.into_iter().step_by(2).collect();
    }
    Ok(given)
}

/// Whether the padding is in numbers: so the word says, or there are numbers and no word.
fn is_calculated(all: &Arguments<'_>) -> bool {
    match ["padding", "padding_mode"].map(|it| all.attributes.text(it)) {
        ["", ""] => !all.attributes.integers("pads").is_empty(),
        [_, mode] => mode == "CALCULATED",
    }
}

/// How the windows of a pool move. The word `SAME` means as many places as steps fit into the image, with half of the padding
/// in front.
fn by_word(all: &Arguments<'_>, image: &Operand, places: &Operand) -> Outcome<PoolingArrays> {
    let first = if has_channels_last(all) { 1 } else { 2 };
    let inner = |name: &str| -> Vec<i64> {
        let all = all.attributes.integers(name);
        all.get(first..first + 2).unwrap_or(&all).to_vec()
    };
    let (kernel, stride) = (inner("ksize"), inner("strides"));
    require(kernel.len() == 2 && stride.len() == 2, "there is no window")?;
    let word = ["padding", "padding_mode"].map(|it| all.attributes.text(it));
    let padding = match word {
        ["SAME", _] | [_, "SAME"] => {
            let needed = |at: usize| {
                let (places, length) = (places.shape()[at + 2], image.shape()[at + 2]);
                (places as i64 - 1) * stride[at] + kernel[at] - length as i64
            };
            [0, 1].map(|at| needed(at).max(0) / 2).to_vec()
        }
        ["VALID", _] | [_, "VALID"] => vec![0, 0],
        _ if is_calculated(all) => vec![0, 0],
        _ => return refuse("a pool has no padding by a word"),
    };
    Ok(PoolingArrays {
        kernel,
        stride,
        padding,
        dilation: Vec::new(),
    })
}
