//! An index by several tensors, which replace some of the dimensions.

use super::place;
use super::scatter::changed;
use crate::shapes::coordinates;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::dense::count;
use softacl_base::operand::Operand;
use softacl_base::status::require;

/// The parts of an index by several tensors: the dimensions that they replace, and the shape they
/// broadcast to.
struct Advanced {
    /// By dimension of the indexed tensor: the number of its index, or none for all of it.
    indices: Vec<Option<usize>>,
    shape: Vec<usize>,
    /// Where the shape stands among the dimensions that are taken as a whole.
    at: usize,
    lengths: Vec<usize>,
}

impl Advanced {
    fn new(x: &Operand, given: &[Option<Operand>]) -> Outcome<(Self, Vec<Operand>)> {
        let mut indices = vec![None; x.rank()];
        let mut used: Vec<Operand> = Vec::new();
        let mut shape = Vec::new();
        for (dimension, index) in given.iter().enumerate().take(x.rank()) {
            // A tensor of no elements means a missing one.
            let Some(index) = index.as_ref().filter(|it| it.shape() != [0]) else {
                continue;
            };
            let Some(both) = softacl_base::view::broadcast_shape(&shape, index.shape()) else {
                return softacl_base::status::refuse("the indices do not broadcast");
            };
            shape = both;
            indices[dimension] = Some(used.len());
            used.push(index.clone());
        }
        let first = indices.iter().position(Option::is_some).unwrap_or(0);
        let last = indices.iter().rposition(Option::is_some).unwrap_or(0);
        let together = indices[first.min(indices.len())..]
            .iter()
            .take(last + 1 - first)
            .all(Option::is_some);
        let stretched = used
            .iter()
            .filter_map(|it| Some(it.seen(it.view.clone().broadcast(&shape)?)))
            .collect();
        let advanced = Self {
            indices,
            shape,
            // Indices that stand apart put their shape in front.
            at: if together { first } else { 0 },
            lengths: x.shape().to_vec(),
        };
        Ok((advanced, stretched))
    }

    /// The shape of the result.
    fn picked(&self) -> Vec<usize> {
        let mut whole: Vec<usize> = self.whole().map(|it| self.lengths[it]).collect();
        let at = self.at.min(whole.len());
        whole.splice(at..at, self.shape.iter().copied());
        whole
    }

    fn whole(&self) -> impl Iterator<Item = usize> {
        (0..self.indices.len()).filter(|it| self.indices[*it].is_none())
    }

    /// The element of the indexed tensor for an element of the result.
    fn element(&self, number: usize, picked: &[usize], indices: &[Vec<i64>]) -> Option<usize> {
        let at = coordinates(number, picked);
        let start = self.at.min(picked.len());
        let within = &at[start..start + self.shape.len()];
        let flat = within
            .iter()
            .zip(&self.shape)
            .fold(0, |flat, (at, length)| flat * length + at);
        let mut rest = at[..start].iter().chain(&at[start + self.shape.len()..]);
        let mut element = 0;
        for (dimension, index) in self.indices.iter().enumerate() {
            let length = self.lengths[dimension];
            let place = match index {
                Some(index) => place(indices[*index][flat], length)?,
                None => *rest.next()?,
            };
            element = element * length + place;
        }
        Some(element)
    }
}

pub(super) fn indexed(call: &mut Call, [x, list, out]: [usize; 3]) -> Outcome {
    let (x, given, out) = (call.input(x)?, call.inputs(list)?, call.output(out)?);
    let given: Vec<Option<Operand>> = given.into_iter().map(Some).collect();
    picked(call, x, &given, out)
}

/// As `aclnnIndex`, of indices for those dimensions that have a 1 in a list.
pub(crate) fn indexed_by(
    call: &mut Call,
    x: Operand,
    is_indexed: &[i64],
    given: Vec<Operand>,
    out: Operand,
) -> Outcome {
    let mut given = given.into_iter();
    let indices: Vec<Option<Operand>> = is_indexed
        .iter()
        .map(|it| if *it == 0 { None } else { given.next() })
        .collect();
    picked(call, x, &indices, out)
}

fn picked(call: &mut Call, x: Operand, given: &[Option<Operand>], out: Operand) -> Outcome {
    if out.view.is_empty() {
        return Ok(());
    }
    let (advanced, used) = Advanced::new(&x, given)?;
    require(
        x.view.kind == out.view.kind,
        "the data types are not the same",
    )?;
    let (picked, elements) = (advanced.picked(), out.elements());
    require(
        count(&picked) == elements,
        "the output's shape is not that of the result",
    )?;
    let inputs = [x.bits()].into_iter().chain(used).collect();
    call.dense(inputs, vec![out.bits()], 0, move |values: &[Vec<i64>]| {
        let each = |number| {
            let at = advanced.element(number, &picked, &values[1..])?;
            values[0].get(at).copied()
        };
        vec![
            (0..elements)
                .map(|number| each(number).unwrap_or(0))
                .collect(),
        ]
    })
}

pub(super) fn put(call: &mut Call, [x, list, values]: [usize; 3], accumulate: bool) -> Outcome {
    let (x, given, source) = (call.in_place(x)?, call.inputs(list)?, call.input(values)?);
    let given: Vec<Option<Operand>> = given.into_iter().map(Some).collect();
    let (advanced, used) = Advanced::new(&x, &given)?;
    // Of all indices none has an element: they are no missing ones, and name no place.
    if used.is_empty() {
        return Ok(());
    }
    let picked = advanced.picked();
    let Some(view) = source.view.clone().broadcast(&picked) else {
        return softacl_base::status::refuse("the values do not broadcast to the indexed elements");
    };
    let source = source.seen(view);
    let reduction = i64::from(accumulate);
    if x.is_float() {
        let inputs = [x.clone(), source].into_iter().chain(used).collect();
        return call.dense(inputs, vec![x], 0, move |all: &[Vec<f64>]| {
            let indices = all[2..]
                .iter()
                .map(|it| it.iter().map(|it| *it as i64).collect());
            let indices: Vec<Vec<i64>> = indices.collect();
            vec![changed(&all[0], &all[1], reduction, |at| {
                advanced.element(at, &picked, &indices)
            })]
        });
    }
    let inputs = [x.clone(), source].into_iter().chain(used).collect();
    call.dense(inputs, vec![x], 0, move |all: &[Vec<i64>]| {
        vec![changed(&all[0], &all[1], reduction, |at| {
            advanced.element(at, &picked, &all[2..])
        })]
    })
}
