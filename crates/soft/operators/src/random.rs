//! Operators that make random numbers. These follow from seed and offset; they are not a card's.

use crate::parameters::{In, Input, IntegerArray, Output, Scalar, Written};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::data_type::DataType;
use softacl_base::operand::Operand;

/// Where the numbers come from: given by the host, or by tensors that the device reads when the task runs.
enum SeedSource {
    Given(u64, u64),
    Tensors(Operand, Operand, u64),
}

impl SeedSource {
    fn given(seed: i64, offset: i64) -> Self {
        Self::Given(seed as u64, offset as u64)
    }

    fn tensors(call: &mut Call, seed: In, base: In, offset: i64) -> Outcome<Self> {
        Ok(Self::Tensors(
            call.input(seed)?,
            call.input(base)?,
            offset as u64,
        ))
    }
}

/// A source of random bits for the elements of one tensor.
#[derive(Clone, Copy)]
struct RandomSource {
    seed: u64,
    offset: u64,
}

impl RandomSource {
    /// The bits of one element; `draw` distinguishes several of them.
    fn bits(self, index: usize, draw: u64) -> u64 {
        let stream = mixed(self.seed ^ mixed(self.offset.wrapping_add(draw << 56)));
        mixed(stream.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Between 0 and 1, never 1.
    fn uniform(self, index: usize, draw: u64) -> f64 {
        (self.bits(index, draw) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(self, index: usize) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform(index, 0)).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform(index, 1)).cos()
    }
}

/// Spreads each bit over all others.
const fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

/// Adds the task that makes each element of the output from its number, a source, and the inputs.
fn made(
    call: &mut Call,
    seed: SeedSource,
    inputs: Vec<Operand>,
    out: Operand,
    each: impl Fn(usize, RandomSource, &[Vec<f64>]) -> f64 + Send + Sync + 'static,
) -> Outcome {
    whole(call, seed, inputs, out, move |count, source, values| {
        (0..count)
            .map(|index| each(index, source, values))
            .collect()
    })
}

fn whole(
    call: &mut Call,
    seed: SeedSource,
    mut inputs: Vec<Operand>,
    out: Operand,
    all: impl Fn(usize, RandomSource, &[Vec<f64>]) -> Vec<f64> + Send + Sync + 'static,
) -> Outcome {
    let elements = out.elements();
    let own = inputs.len();
    let given = match seed {
        SeedSource::Given(seed, offset) => RandomSource { seed, offset },
        SeedSource::Tensors(seed, base, offset) => {
            inputs.extend([seed, base]);
            RandomSource { seed: 0, offset }
        }
    };
    call.dense(inputs, vec![out], 0, move |values: &[Vec<f64>]| {
        let read = |at: usize| {
            values
                .get(at)
                .and_then(|it| it.first())
                .map_or(0, |it| *it as u64)
        };
        let source = RandomSource {
            seed: given.seed.wrapping_add(read(own)),
            offset: given.offset.wrapping_add(read(own + 1)),
        };
        vec![all(elements, source, values)]
    })
}

/// An input as it broadcasts to the output.
fn stretched(x: Operand, out: &Operand) -> Outcome<Operand> {
    match x.view.clone().broadcast(out.shape()) {
        Some(view) => Ok(x.seen(view)),
        None => softacl_base::status::refuse("an input does not broadcast to the output"),
    }
}

/// The inputs' elements at an index; a single one is used for all.
fn at(values: &[f64], index: usize) -> f64 {
    values[if values.len() == 1 { 0 } else { index }]
}

/// An integer from a range; the end does not belong to it.
fn within(bits: u64, from: i64, to: i64) -> f64 {
    let span = to.wrapping_sub(from).max(1) as u64;
    from.wrapping_add((bits % span) as i64) as f64
}

/// A mask of bits, eight to a byte: set where an element stays.
fn mask(call: &mut Call, seed: SeedSource, dropped: f64, out: Written) -> Outcome {
    let out = call.output(out)?;
    made(call, seed, Vec::new(), out, move |index, source, _| {
        let bit = |bit: usize| u8::from(source.uniform(index * 8 + bit, 0) >= dropped) << bit;
        f64::from((0..8).map(bit).sum::<u8>())
    })
}

/// The same; the share that stays is a tensor.
pub(super) fn mask_by(
    call: &mut Call,
    [seed, offset]: [i64; 2],
    kept: Operand,
    out: Written,
) -> Outcome {
    let (seed, out) = (SeedSource::given(seed, offset), call.output(out)?);
    made(call, seed, vec![kept], out, |index, source, values| {
        let dropped = 1.0 - at(&values[0], 0);
        let bit = |bit: usize| u8::from(source.uniform(index * 8 + bit, 0) >= dropped) << bit;
        f64::from((0..8).map(bit).sum::<u8>())
    })
}

/// The same with a seed and an offset from the host.
pub(super) fn mask_from(
    call: &mut Call,
    [seed, offset]: [i64; 2],
    dropped: f64,
    out: Written,
) -> Outcome {
    mask(call, SeedSource::given(seed, offset), dropped, out)
}

/// Draws from rows of weights: each number of a category is as likely as its weight.
fn drawn(
    row: &[f64],
    count: usize,
    replacing: bool,
    source: RandomSource,
    first: usize,
) -> Vec<f64> {
    let mut weights = row.to_vec();
    let draw = |number: usize, weights: &mut Vec<f64>| {
        let mut left = source.uniform(first + number, 0) * weights.iter().sum::<f64>();
        let likely = weights.iter().rposition(|it| *it > 0.0).unwrap_or(0);
        let found = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0 && *weight > 0.0
        });
        let found = found.unwrap_or(likely);
        if !replacing {
            weights[found] = 0.0;
        }
        found as f64
    };
    (0..count)
        .map(|number| draw(number, &mut weights))
        .collect()
}

fn multinomial(
    call: &mut Call,
    [x, out]: [usize; 2],
    count: i64,
    replacing: bool,
    seed: SeedSource,
) -> Outcome {
    let (x, out) = (call.input(x)?, call.output(out)?);
    let (length, count) = (
        x.shape().last().copied().unwrap_or(1).max(1),
        count as usize,
    );
    whole(call, seed, vec![x], out, move |_, source, values| {
        let rows = values[0].chunks(length).enumerate();
        rows.flat_map(|(row, weights)| drawn(weights, count, replacing, source, row * count))
            .collect()
    })
}

fn shuffled(call: &mut Call, seed: SeedSource, out: Written) -> Outcome {
    let out = call.output(out)?;
    whole(call, seed, Vec::new(), out, |count, source, _| {
        let mut order: Vec<f64> = (0..count).map(|it| it as f64).collect();
        for last in (1..count).rev() {
            order.swap(last, (source.bits(last, 0) % (last as u64 + 1)) as usize);
        }
        order
    })
}

/// Zero where a mask of bits says so, and larger elsewhere so that the mean stays.
pub(super) fn masked(call: &mut Call, [x, mask, out]: [usize; 3], dropped: f64) -> Outcome {
    let (x, mask, out) = (call.input(x)?, call.input(mask)?, call.output(out)?);
    let scale = if dropped < 1.0 {
        1.0 / (1.0 - dropped)
    } else {
        0.0
    };
    call.dense(vec![x, mask], vec![out], 0, move |values: &[Vec<f64>]| {
        vec![kept_elements(&values[0], &values[1], scale)]
    })
}

/// Numbers by a seed and an offset from the host.
pub(super) fn normal_from(call: &mut Call, [seed, offset]: [i64; 2], out: Operand) -> Outcome {
    normal(call, SeedSource::given(seed, offset), out, 0.0, 1.0)
}

/// Those that are less than two deviations from the mean.
pub(super) fn short_normal_from(
    call: &mut Call,
    [seed, offset]: [i64; 2],
    out: Operand,
) -> Outcome {
    const WIDTH: f64 = 2.0;
    let seed = SeedSource::given(seed, offset);
    // Part of the numbers below -2 and of those between -2 and 2.
    let below = 0.5 * super::functions::erfc(WIDTH / std::f64::consts::SQRT_2);
    made(call, seed, Vec::new(), out, move |index, source, _| {
        let part = below + (1.0 - 2.0 * below) * source.uniform(index, 0);
        let number = std::f64::consts::SQRT_2 * super::functions::erfinv(2.0 * part - 1.0);
        number.clamp(-WIDTH, WIDTH)
    })
}

pub(super) fn uniform_from(call: &mut Call, [seed, offset]: [i64; 2], out: Operand) -> Outcome {
    uniform(call, SeedSource::given(seed, offset), out, 0.0, 1.0)
}

/// Integers between two tensors of one element.
pub(super) fn integers_from(
    call: &mut Call,
    [seed, offset]: [i64; 2],
    bounds: [Operand; 2],
    out: Operand,
) -> Outcome {
    let seed = SeedSource::given(seed, offset);
    made(call, seed, bounds.into(), out, |index, source, values| {
        let [from, to] = [0, 1].map(|it| at(&values[it], 0) as i64);
        within(source.bits(index, 0), from, to)
    })
}

/// The numbers from 0 on in a random order.
pub(super) fn order_from(call: &mut Call, [seed, offset]: [i64; 2], out: Written) -> Outcome {
    shuffled(call, SeedSource::given(seed, offset), out)
}

/// As `masked`; the share that stays is a tensor.
pub(super) fn masked_by(call: &mut Call, [x, mask, out]: [usize; 3], kept: Operand) -> Outcome {
    let (x, mask, out) = (call.input(x)?, call.input(mask)?, call.output(out)?);
    call.dense(
        vec![x, mask, kept],
        vec![out],
        0,
        |values: &[Vec<f64>]| {
            vec![kept_elements(
                &values[0],
                &values[1],
                at(&values[2], 0).recip(),
            )]
        },
    )
}

/// The elements that a mask of bits keeps, by a factor, and 0 for the others.
fn kept_elements(x: &[f64], mask: &[f64], scale: f64) -> Vec<f64> {
    let is_kept = |index: usize| mask[index / 8] as u8 >> (index % 8) & 1 == 1;
    let each = x.iter().enumerate();
    each.map(|(index, x)| if is_kept(index) { x * scale } else { 0.0 })
        .collect()
}

operators! {
    aclnnInplaceNormal |call, x: Output, mean: f32, deviation: f32, seed: i64, offset: i64| {
        normal(call, SeedSource::given(seed, offset), x, mean, deviation)
    };
    aclnnInplaceNormalTensor |call, x: Output, mean: f32, deviation: f32, seed: In, base: In, offset: i64| {
        let seed = SeedSource::tensors(call, seed, base, offset)?;
        normal(call, seed, x, mean, deviation)
    };
    aclnnNormalFloatFloat |call, mean: f32, deviation: f32, seed: i64, offset: i64, out: Output| {
        normal(call, SeedSource::given(seed, offset), out, mean, deviation)
    };
    aclnnNormalTensorFloat |call, mean: Input, deviation: f32, seed: i64, offset: i64, out: Output| {
        let deviation = f64::from(deviation);
        let mean = stretched(mean, &out)?;
        made(call, SeedSource::given(seed, offset), vec![mean], out, move |index, source, values| {
            at(&values[0], index) + deviation * source.normal(index)
        })
    };
    aclnnNormalFloatTensor |call, mean: f32, deviation: Input, seed: i64, offset: i64, out: Output| {
        let mean = f64::from(mean);
        let deviation = stretched(deviation, &out)?;
        made(call, SeedSource::given(seed, offset), vec![deviation], out, move |index, source, values| {
            mean + at(&values[0], index) * source.normal(index)
        })
    };
    aclnnNormalTensorTensor |call, mean: Input, deviation: Input, seed: i64, offset: i64, out: Output| {
        let inputs = vec![stretched(mean, &out)?, stretched(deviation, &out)?];
        made(call, SeedSource::given(seed, offset), inputs, out, |index, source, values| {
            at(&values[0], index) + at(&values[1], index) * source.normal(index)
        })
    };
    aclnnInplaceUniform |call, x: Output, from: f64, to: f64, seed: u64, offset: u64| {
        uniform(call, SeedSource::Given(seed, offset), x, from, to)
    };
    aclnnInplaceUniformTensor |call, x: Output, from: f64, to: f64, seed: In, base: In, offset: u64| {
        let seed = SeedSource::tensors(call, seed, base, offset as i64)?;
        uniform(call, seed, x, from, to)
    };
    aclnnInplaceRandom |call, x: Output, from: i64, to: i64, seed: i64, offset: i64| {
        made(call, SeedSource::given(seed, offset), Vec::new(), x, move |index, source, _| within(source.bits(index, 0), from, to))
    };
    aclnnInplaceRandomTensor |call, x: Output, from: i64, to: i64, seed: In, base: In, offset: i64| {
        let seed = SeedSource::tensors(call, seed, base, offset)?;
        made(call, seed, Vec::new(), x, move |index, source, _| within(source.bits(index, 0), from, to))
    };
    aclnnInplaceBernoulli |call, x: Output, likely: Scalar, seed: i64, offset: i64| {
        let likely = call.scalar_as_computed(likely, &[])?.float;
        made(call, SeedSource::given(seed, offset), Vec::new(), x, move |index, source, _| {
            f64::from(u8::from(source.uniform(index, 0) < likely))
        })
    };
    aclnnBernoulli |call, _x: In, likely: Scalar, seed: i64, offset: i64, out: Output| {
        let likely = call.scalar_as_computed(likely, &[])?.float;
        made(call, SeedSource::given(seed, offset), Vec::new(), out, move |index, source, _| {
            f64::from(u8::from(source.uniform(index, 0) < likely))
        })
    };
    aclnnInplaceBernoulliTensor |call, x: Output, likely: Input, seed: i64, offset: i64| {
        chances(call, SeedSource::given(seed, offset), likely, x)
    };
    aclnnBernoulliTensor |call, _x: In, likely: Input, seed: i64, offset: i64, out: Output| {
        chances(call, SeedSource::given(seed, offset), likely, out)
    };
    aclnnRandperm |call, _count: i64, seed: i64, offset: i64, out: Written| shuffled(call, SeedSource::given(seed, offset), out);
    aclnnMultinomial |call, x: In, count: i64, replacing: bool, seed: i64, offset: i64, out: Written| {
        multinomial(call, [x, out], count, replacing, SeedSource::given(seed, offset))
    };
    aclnnMultinomialTensor |call, x: In, count: i64, replacing: bool, seed: In, base: In, offset: i64, out: Written| {
        let seed = SeedSource::tensors(call, seed, base, offset)?;
        multinomial(call, [x, out], count, replacing, seed)
    };
    aclnnDropoutGenMask |call, _shape: IntegerArray, dropped: f64, seed: i64, offset: i64, out: Written| {
        mask(call, SeedSource::given(seed, offset), dropped, out)
    };
    aclnnDropoutGenMaskV2 |call, _shape: IntegerArray, dropped: f64, seed: i64, offset: i64, _kind: i32, out: Written| {
        mask(call, SeedSource::given(seed, offset), dropped, out)
    };
    aclnnDropoutGenMaskV2Tensor |call, _shape: IntegerArray, dropped: f64, seed: In, base: In, offset: i64, _kind: i32, out: Written| {
        let seed = SeedSource::tensors(call, seed, base, offset)?;
        mask(call, seed, dropped, out)
    };
    aclnnDropoutDoMask |call, x: In, mask: In, dropped: f64, out: Written| masked(call, [x, mask, out], dropped);
    aclnnDropoutBackward |call, x: In, mask: In, scale: f64, out: Written| masked(call, [x, mask, out], 1.0 - 1.0 / scale);
}

fn normal(call: &mut Call, seed: SeedSource, out: Operand, mean: f32, deviation: f32) -> Outcome {
    let (mean, deviation) = (f64::from(mean), f64::from(deviation));
    made(call, seed, Vec::new(), out, move |index, source, _| {
        mean + deviation * source.normal(index)
    })
}

fn uniform(call: &mut Call, seed: SeedSource, out: Operand, from: f64, to: f64) -> Outcome {
    // Types with few digits could round up to the end, which does not belong to the range.
    let step = match out.view.kind {
        DataType::Bf16 => 1.0 / 256.0,
        DataType::F16 => 1.0 / 2048.0,
        DataType::F32 => 1.0 / 16_777_216.0,
        _ => 0.0,
    };
    made(call, seed, Vec::new(), out, move |index, source, _| {
        let part = source.uniform(index, 0);
        let part = if step > 0.0 {
            (part / step).floor() * step
        } else {
            part
        };
        from + (to - from) * part
    })
}

fn chances(call: &mut Call, seed: SeedSource, likely: Operand, out: Operand) -> Outcome {
    made(call, seed, vec![likely], out, |index, source, values| {
        f64::from(u8::from(source.uniform(index, 0) < at(&values[0], index)))
    })
}

#[cfg(test)]
mod tests {
    use super::{RandomSource, drawn};

    #[test]
    fn numbers_are_spread_as_they_should_be() {
        let source = RandomSource { seed: 7, offset: 3 };
        let count = 100_000;
        let uniform: Vec<f64> = (0..count).map(|it| source.uniform(it, 0)).collect();
        let normal: Vec<f64> = (0..count).map(|it| source.normal(it)).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let squares =
            |values: &[f64]| values.iter().map(|it| it * it).sum::<f64>() / values.len() as f64;
        assert!(
            (mean(&uniform) - 0.5).abs() < 0.01 && (squares(&uniform) - 1.0 / 3.0).abs() < 0.01
        );
        assert!(mean(&normal).abs() < 0.02 && (squares(&normal) - 1.0).abs() < 0.02);
        assert!(uniform.iter().all(|it| (0.0..1.0).contains(it)));
        let other = RandomSource { seed: 7, offset: 4 };
        let same = (0..count)
            .filter(|it| source.bits(*it, 0) == other.bits(*it, 0))
            .count();
        assert_eq!(same, 0);
    }

    #[test]
    fn draws_without_replacement_are_unique() {
        let source = RandomSource { seed: 1, offset: 0 };
        let mut found = drawn(&[1.0, 0.0, 3.0, 2.0], 3, false, source, 0);
        found.sort_by(f64::total_cmp);
        assert_eq!(found, [0.0, 2.0, 3.0]);
        let often = drawn(&[1.0, 0.0, 3.0], 10_000, true, source, 0);
        let share = often.iter().filter(|it| **it == 2.0).count() as f64 / 10_000.0;
        assert!((share - 0.75).abs() < 0.03, "{share}");
        assert!(!often.contains(&1.0));
    }
}
