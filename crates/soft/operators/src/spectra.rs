//! Fourier transforms of the windows of a signal.

use std::f64::consts::TAU;

use crate::parameters::{In, Written};
use softacl_base::call::{ArgumentRole, Call};
use softacl_base::code::Outcome;
use softacl_base::complex::parts;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

/// The windows of a signal, and the frequencies that are wanted.
#[derive(Clone)]
struct Spectrogram {
    /// The points of a transform.
    points: usize,
    hop: usize,
    frames: usize,
    frequencies: usize,
    scale: f64,
    /// The cosine and the sine of each part of a turn.
    turns: Vec<(f64, f64)>,
}

impl Spectrogram {
    /// The parts of the transforms of one signal, by frequency. Both have a real and an imaginary part; an absent one is empty.
    fn transform(&self, signal: [&[f64]; 2], window: [&[f64]; 2], into: &mut [Vec<f64>; 2]) {
        let at = |part: &[f64], index: usize| part.get(index).copied().unwrap_or(0.0);
        let mut results = vec![(0.0, 0.0); self.frequencies * self.frames];
        for frame in 0..self.frames {
            let seen: Vec<(f64, f64)> = (0..self.points)
                .map(|point| {
                    let [a, b] = signal.map(|it| at(it, frame * self.hop + point));
                    let [c, d] = window.map(|it| at(it, point));
                    (a * c - b * d, a * d + b * c)
                })
                .collect();
            for frequency in 0..self.frequencies {
                let sum = &mut results[frequency * self.frames + frame];
                for (point, (re, im)) in seen.iter().enumerate() {
                    let (cosine, sine) = self.turns[frequency * point % self.points];
                    sum.0 += re * cosine + im * sine;
                    sum.1 += im * cosine - re * sine;
                }
            }
        }
        for (re, im) in results {
            into[0].push(re * self.scale);
            into[1].push(im * self.scale);
        }
    }
}

/// The window with zeros on both sides, as wide as a transform; without one, ones.
fn padded(given: Option<&Vec<f64>>, otherwise: f64, width: usize, points: usize) -> Vec<f64> {
    let mut window = vec![0.0; points];
    let begin = (points - width) / 2;
    let inner = &mut window[begin..begin + width];
    match given {
        Some(given) => inner.copy_from_slice(given),
        None => inner.fill(otherwise),
    }
    window
}

/// The parts of a result, as complex numbers or as pairs of real ones.
fn outputs(call: &mut Call, handle: usize, wants_complex: bool) -> Outcome<Vec<Operand>> {
    let out = parts(call, handle, ArgumentRole::Output)?;
    if wants_complex {
        require(out.len() == 2, "the output is not complex")?;
        return Ok(out);
    }
    let [pairs] = &out[..] else {
        return refuse("the output is complex");
    };
    let last = pairs.rank().checked_sub(1);
    let Some(last) = last.filter(|last| pairs.shape()[*last] == 2) else {
        return refuse("the output has no pairs");
    };
    let part = |index: usize| pairs.seen(pairs.view.part(last, index, 1).without_dimension(last));
    Ok(vec![part(0), part(1)])
}

fn positive(given: i64) -> Outcome<usize> {
    match usize::try_from(given) {
        Ok(given) if given > 0 => Ok(given),
        _ => refuse("a length is not above 0"),
    }
}

/// `lengths` are those of a transform, of a hop and of the window.
fn transforms(
    call: &mut Call,
    [signal, window, out]: [usize; 3],
    lengths: [i64; 3],
    [normalized, one_sided, wants_complex]: [bool; 3],
) -> Outcome {
    let [points, hop, width] = [
        positive(lengths[0])?,
        positive(lengths[1])?,
        positive(lengths[2])?,
    ];
    let signal = parts(call, signal, ArgumentRole::Input)?;
    let window = match window {
        0 => Vec::new(),
        window => parts(call, window, ArgumentRole::Input)?,
    };
    let out = outputs(call, out, wants_complex)?;
    require(
        window.iter().all(|it| it.shape() == [width]) && width <= points,
        "the window has not the length that is given, or is longer than a transform",
    )?;
    let (&[.., length], rank) = (signal[0].shape(), signal[0].rank()) else {
        return refuse("the signal has no dimension");
    };
    require(
        rank <= 2 && length >= points,
        "the signal has more than two dimensions, or is too short",
    )?;
    let spectrogram = Spectrogram {
        points,
        hop,
        frames: (length - points) / hop + 1,
        frequencies: if one_sided { points / 2 + 1 } else { points },
        scale: if normalized {
            (points as f64).sqrt().recip()
        } else {
            1.0
        },
        turns: (0..points)
            .map(|part| (TAU * part as f64 / points as f64).sin_cos())
            .map(|(sine, cosine)| (cosine, sine))
            .collect(),
    };
    let mut shape = signal[0].shape()[..rank - 1].to_vec();
    shape.extend([spectrogram.frequencies, spectrogram.frames]);
    require(
        out[0].shape() == shape,
        "the output's shape is not that of the result",
    )?;
    let operations = 8 * out[0].elements() as u64 * points as u64;
    let signals = signal.len();
    let inputs = signal.into_iter().chain(window).collect();
    call.dense(inputs, out, operations, move |values: &[Vec<f64>]| {
        let (signal, given) = values.split_at(signals);
        let window = [
            padded(given.first(), 1.0, width, points),
            padded(given.get(1), 0.0, width, points),
        ];
        let mut results = [Vec::new(), Vec::new()];
        for row in 0..signal[0].len() / length {
            let part = |part: usize| {
                signal
                    .get(part)
                    .map_or(&[][..], |it| &it[row * length..][..length])
            };
            spectrogram.transform([part(0), part(1)], [&window[0], &window[1]], &mut results);
        }
        results.into()
    })
}

operators! {
    // The only operator without "nn" in its name.
    aclStft |call, signal: In, window: In, out: Written, points: i64, hop: i64, width: i64, normalized: bool, one_sided: bool, wants_complex: bool| {
        transforms(call, [signal, window, out], [points, hop, width], [normalized, one_sided, wants_complex])
    };
}
