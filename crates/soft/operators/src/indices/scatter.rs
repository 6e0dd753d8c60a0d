//! Values put at the places of indices, instead of the old ones or together with them.

use super::{around, place};
use crate::parameters::Written;
use crate::shapes::{coordinates, steps};
use softacl_base::call::Call;
use softacl_base::call_wide::HostNumber;
use softacl_base::code::Outcome;
use softacl_base::data_type::DataType;
use softacl_base::dense::dimension;
use softacl_base::formula::number;
use softacl_base::number::Number;
use softacl_base::operand::Operand;
use softacl_base::status::require;

/// Combines a value with the old one: 0 replaces it, 1 is added, 2 multiplies, 3 and 4 keep the larger and the smaller one, and 5
/// is taken away.
fn met<C: Number>(old: C, new: C, reduction: i64) -> C {
    match reduction {
        0 => new,
        1 => old.plus(new),
        2 => old.times(new),
        3 => {
            if new > old {
                new
            } else {
                old
            }
        }
        4 => {
            if new < old {
                new
            } else {
                old
            }
        }
        _ => old.plus(new.times(C::from_i64(-1))),
    }
}

/// Values at the places that `target` gives for their number.
pub(super) fn changed<C: Number>(
    x: &[C],
    values: &[C],
    reduction: i64,
    target: impl Fn(usize) -> Option<usize>,
) -> Vec<C> {
    let mut result = x.to_vec();
    for (index, value) in values.iter().enumerate() {
        if let Some(old) = target(index).and_then(|at| result.get_mut(at)) {
            *old = met(*old, *value, reduction);
        }
    }
    result
}

/// `x` with values put where an index of their shape says along a dimension.
pub(super) fn scattered(
    call: &mut Call,
    x: &Operand,
    along: i64,
    index: &Operand,
    values: ScatterSource,
    reduction: i64,
    out: &Operand,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let (shape, length) = (
        index.shape().to_vec(),
        x.shape().get(along).copied().unwrap_or(1),
    );
    let distances = steps(x.shape());
    let target = move |indices: &[f64], number: usize| {
        let place = place(indices[number] as i64, length)?;
        let at = coordinates(number, &shape);
        let each = at.iter().enumerate();
        Some(
            each.map(|(dimension, at)| {
                distances.get(dimension).copied().unwrap_or(0)
                    * if dimension == along { place } else { *at }
            })
            .sum(),
        )
    };
    combine(call, x, index, values, reduction, out, target)
}

/// Where the values come from: a tensor, seen with the index's shape, or one number for all.
pub(super) enum ScatterSource {
    Tensor(Operand),
    Number(HostNumber),
}

/// Adds the task of a change; integers are changed as such, so that none of their digits is lost.
pub(super) fn combine(
    call: &mut Call,
    x: &Operand,
    index: &Operand,
    source: ScatterSource,
    reduction: i64,
    out: &Operand,
    target: impl Fn(&[f64], usize) -> Option<usize> + Send + Sync + 'static,
) -> Outcome {
    // Indices are small enough for fractions to hold them; both kinds of values take them from a copy.
    let places = call.temporary(DataType::F64, index.shape());
    call.each(number(|[x]| x, |[x]| x), [index], &places)?;
    let (tensor, given) = match source {
        ScatterSource::Tensor(tensor) => (Some(tensor), None),
        ScatterSource::Number(given) => (None, Some(given)),
    };
    let total = index.elements();
    let as_floats = |values: &[i64]| {
        values
            .iter()
            .map(|it| f64::from_bits(*it as u64))
            .collect::<Vec<_>>()
    };
    if out.is_float() {
        let inputs = [x.clone(), places].into_iter().chain(tensor).collect();
        return call.dense(
            inputs,
            vec![out.clone()],
            0,
            move |values: &[Vec<f64>]| {
                let filled = given.map(|given| vec![given.float; total]);
                let source = filled.as_ref().unwrap_or_else(|| &values[2]);
                vec![changed(&values[0], source, reduction, |at| {
                    target(&values[1], at)
                })]
            },
        );
    }
    let inputs = [x.clone(), places.bits()]
        .into_iter()
        .chain(tensor)
        .collect();
    call.dense(
        inputs,
        vec![out.clone()],
        0,
        move |values: &[Vec<i64>]| {
            let places = as_floats(&values[1]);
            let filled = given.map(|given| vec![given.integer; total]);
            let source = filled.as_ref().unwrap_or_else(|| &values[2]);
            vec![changed(&values[0], source, reduction, |at| {
                target(&places, at)
            })]
        },
    )
}

/// A tensor seen with the shape of an index that is no larger.
fn like(source: &Operand, index: &Operand) -> Outcome<Operand> {
    let mut view = source.view.clone();
    require(
        view.shape.len() == index.rank(),
        "the index has not the tensor's dimensions",
    )?;
    for (length, wanted) in view.shape.iter_mut().zip(index.shape()) {
        require(*length >= *wanted, "the index is larger than the tensor")?;
        *length = *wanted;
    }
    Ok(source.seen(view))
}

pub(super) fn scatter(
    call: &mut Call,
    [x, index, source]: [usize; 3],
    along: i64,
    reduction: i64,
    out: Option<Written>,
) -> Outcome {
    let [x, out] = target(call, x, out)?;
    let (index, source) = (call.input(index)?, call.input(source)?);
    let source = ScatterSource::Tensor(like(&source, &index)?);
    scattered(call, &x, along, &index, source, reduction, &out)
}

pub(super) fn scatter_value(
    call: &mut Call,
    [x, index, value]: [usize; 3],
    along: i64,
    reduction: i64,
    out: Option<Written>,
) -> Outcome {
    let [x, out] = target(call, x, out)?;
    let index = call.input(index)?;
    let value = ScatterSource::Number(call.scalar_as_computed(value, &[&x])?);
    scattered(call, &x, along, &index, value, reduction, &out)
}

/// The tensor that is changed, and where the result goes: the same without an output.
pub(super) fn target(call: &mut Call, x: usize, out: Option<Written>) -> Outcome<[Operand; 2]> {
    if let Some(out) = out {
        return Ok([call.input(x)?, call.output(out)?]);
    }
    let x = call.in_place(x)?;
    Ok([x.clone(), x])
}

/// Parts at coordinates take those of a source: the last dimension of the index has the coordinates of a part in the first
/// dimensions of `x`.
pub(super) fn parts_changed(
    call: &mut Call,
    x: &Operand,
    index: &Operand,
    source: Operand,
    reduction: i64,
    out: &Operand,
) -> Outcome {
    let parts = Parts::new(x, index)?;
    require(
        source.elements() == parts.count * parts.length,
        "there is not a value for each place",
    )?;
    let source = ScatterSource::Tensor(source);
    combine(
        call,
        x,
        index,
        source,
        reduction,
        out,
        move |indices, number| {
            let (part, within) = (number / parts.length, number % parts.length);
            let at = |dimension: usize| indices[part * parts.depth + dimension] as i64;
            Some(parts.begin(at)? + within)
        },
    )
}

/// Parts of a tensor that coordinates in its first dimensions name.
pub(super) struct Parts {
    /// The lengths of these dimensions, and how far it is from one element to the next.
    shape: Vec<(usize, usize)>,
    pub(super) depth: usize,
    pub(super) count: usize,
    /// Elements of a part.
    pub(super) length: usize,
}

impl Parts {
    pub(super) fn new(x: &Operand, index: &Operand) -> Outcome<Self> {
        let depth = index.shape().last().copied().unwrap_or(1);
        require(
            depth <= x.rank(),
            "there are more coordinates than dimensions",
        )?;
        let lengths = x.shape().iter().copied().zip(steps(x.shape()));
        Ok(Self {
            shape: lengths.take(depth).collect(),
            depth,
            count: index.elements() / depth.max(1),
            length: x.shape()[depth..].iter().product(),
        })
    }

    /// Where the part at some coordinates begins; none outside of the tensor.
    pub(super) fn begin(&self, at: impl Fn(usize) -> i64) -> Option<usize> {
        let mut found = 0;
        for (dimension, (length, step)) in self.shape.iter().enumerate() {
            found += place(at(dimension), *length)? * step;
        }
        Some(found)
    }
}

/// Rows of `x` are combined by segments: an index has the number of the segment that each row of the index's shape belongs to.
/// A row with a negative number belongs to none.
pub(crate) fn segments(
    call: &mut Call,
    [x, index]: [Operand; 2],
    [reduction, first]: [i64; 2],
    out: &Operand,
) -> Outcome {
    let count = out.shape().first().copied().unwrap_or(1);
    let length: usize = out.shape().get(1..).unwrap_or(&[]).iter().product();
    require(
        x.elements() == index.elements() * length,
        "there is not a segment for each row",
    )?;
    let begin = call.temporary(out.view.kind, out.shape());
    let lowest =
        |float: f64, integer: i64| number(move |[]: [f64; 0]| float, move |[]: [i64; 0]| integer);
    let start = match reduction {
        3 => lowest(f64::NEG_INFINITY, i64::MIN),
        4 => lowest(f64::INFINITY, i64::MAX),
        _ => lowest(first as f64, first),
    };
    call.each(start, [], &begin)?;
    let source = ScatterSource::Tensor(x);
    combine(
        call,
        &begin,
        &index,
        source,
        reduction,
        out,
        move |indices, at| {
            let segment = usize::try_from(indices[at / length] as i64).ok()?;
            (segment < count).then(|| segment * length + at % length)
        },
    )
}

/// Rows along a dimension take those of a source, in the order of an index.
pub(super) fn rows_changed(
    call: &mut Call,
    x: &Operand,
    along: i64,
    index: &Operand,
    source: ScatterSource,
    reduction: i64,
    out: &Operand,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let length = x.shape().get(along).copied().unwrap_or(1);
    let [outer, inner] = around(x.shape(), along);
    let picked = index.elements();
    // An index for each value, so that the following code needs no rows.
    let mut spread = index.view.clone();
    if spread.shape.is_empty() {
        spread = spread.with_dimension(0);
    }
    let wide = spread.with_dimension(0).with_dimension(2);
    let Some(wide) = wide.broadcast(&[outer, picked, inner]) else {
        return Ok(());
    };
    let wide = index.seen(wide);
    combine(
        call,
        x,
        &wide,
        source,
        reduction,
        out,
        move |indices, number| {
            let place = place(indices[number] as i64, length)?;
            let (row, within) = (number / inner, number % inner);
            Some((row / picked * length + place) * inner + within)
        },
    )
}
