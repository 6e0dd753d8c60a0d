//! Elements in order and without gaps, in separate memory: for operators that read many at once.

use super::number::{Number, read, write};
use super::status::{refuse, require};
use super::view::{View, runs};
use crate::code::Outcome;
use crate::ffi::complain;

/// All elements of a view, the last dimension innermost.
pub fn load<C: Number>(view: &View) -> Vec<C> {
    let mut values = vec![C::default(); view.elements()];
    let mut next = 0;
    runs(&view.shape, &[view], |length, rows| {
        let part = &mut values[next..next + length];
        read(view.kind, rows[0].address, rows[0].stride, part);
        next += length;
    });
    values
}

/// Writes all elements of a view.
pub fn store<C: Number>(view: &View, values: &[C]) {
    if values.len() != view.elements() {
        complain(
            "an operator has made another number of elements than its output has; please report it",
        );
        return;
    }
    let mut next = 0;
    runs(&view.shape, &[view], |length, rows| {
        let part = &values[next..next + length];
        write(view.kind, rows[0].address, rows[0].stride, part);
        next += length;
    });
}

impl View {
    /// The same elements with the dimensions in another order.
    pub fn permuted(&self, order: &[usize]) -> Self {
        let pick = |from: &[usize]| order.iter().map(|dimension| from[*dimension]).collect();
        Self {
            kind: self.kind,
            address: self.address,
            shape: pick(&self.shape),
            strides: pick(&self.strides),
        }
    }

    /// The same with some dimensions behind all others.
    pub fn with_last(&self, dimensions: &[usize]) -> Self {
        let rest = (0..self.shape.len()).filter(|it| !dimensions.contains(it));
        let order: Vec<usize> = rest.chain(dimensions.iter().copied()).collect();
        self.permuted(&order)
    }

    /// A part along one dimension.
    pub fn part(&self, dimension: usize, first: usize, length: usize) -> Self {
        let mut part = self.clone();
        part.address += first * part.strides[dimension];
        part.shape[dimension] = length;
        part
    }
}

/// A dimension that may be counted from the end. A tensor without dimensions has one of length 1.
pub fn dimension(given: i64, rank: usize) -> Outcome<usize> {
    let rank = rank.max(1) as i64;
    require(
        (-rank..rank).contains(&given),
        "the tensor has no such dimension",
    )?;
    Ok(given.rem_euclid(rank) as usize)
}

/// Some dimensions; none means all.
pub fn dimensions(given: &[i64], rank: usize) -> Outcome<Vec<usize>> {
    if given.is_empty() || rank == 0 {
        return Ok((0..rank).collect());
    }
    let mut found = given
        .iter()
        .map(|it| dimension(*it, rank))
        .collect::<Outcome<Vec<_>>>()?;
    found.sort_unstable();
    let count = found.len();
    found.dedup();
    if found.len() != count {
        return refuse("a dimension is given twice");
    }
    Ok(found)
}

/// The product of lengths.
pub fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}
