//! Where the elements of a tensor lie: a shape, and for each dimension the bytes to the next one.

use super::data_type::DataType;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub kind: DataType,
    /// Of the first element.
    pub address: usize,
    pub shape: Vec<usize>,
    /// In bytes.
    pub strides: Vec<usize>,
}

impl View {
    /// Elements without gaps, the last dimension innermost.
    pub fn contiguous(kind: DataType, address: usize, shape: &[usize]) -> Self {
        let mut strides = vec![0; shape.len()];
        let mut next = kind.size();
        for (stride, length) in strides.iter_mut().zip(shape).rev() {
            *stride = next;
            next *= length;
        }
        Self {
            kind,
            address,
            shape: shape.to_vec(),
            strides,
        }
    }

    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Bytes of all elements, gaps aside.
    pub fn bytes(&self) -> u64 {
        (self.elements() * self.kind.size()) as u64
    }

    /// Bytes from the first element to the end of the last one; `None` when that is not a number.
    pub fn span(&self) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let mut dimensions = self.shape.iter().zip(&self.strides);
        dimensions.try_fold(self.kind.size(), |span, (length, stride)| {
            span.checked_add((length - 1).checked_mul(*stride)?)
        })
    }

    /// The same elements seen with another shape: new dimensions in front, and those of length 1
    /// stretched.
    pub fn broadcast(mut self, shape: &[usize]) -> Option<Self> {
        let added = shape.len().checked_sub(self.shape.len())?;
        for _ in 0..added {
            self = self.with_dimension(0);
        }
        let own = self.shape.iter_mut().zip(&mut self.strides);
        for ((length, stride), wanted) in own.zip(shape) {
            if *length != *wanted {
                if *length != 1 {
                    return None;
                }
                (*length, *stride) = (*wanted, 0);
            }
        }
        Some(self)
    }

    /// Inserts a dimension of length 1.
    pub fn with_dimension(mut self, at: usize) -> Self {
        self.shape.insert(at, 1);
        self.strides.insert(at, 0);
        self
    }

    /// Takes a dimension out: the rest are the places where it begins.
    pub fn without_dimension(mut self, at: usize) -> Self {
        self.shape.remove(at);
        self.strides.remove(at);
        self
    }

    /// Whether two of its elements share memory. Layouts with entangled dimensions count too.
    pub fn overlaps_itself(&self) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut dimensions: Vec<(usize, usize)> = self.dimensions().collect();
        dimensions.sort_unstable();
        let mut reach = self.kind.size();
        dimensions.into_iter().any(|(stride, length)| {
            let overlaps = stride < reach;
            reach += stride * (length - 1);
            overlaps
        })
    }

    /// Stride and length of the dimensions that matter.
    fn dimensions(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = self.strides.iter().copied().zip(self.shape.iter().copied());
        all.filter(|(_, length)| *length != 1)
    }

    /// Whether writing to this view may change other elements that are read from the other one.
    pub fn disturbs(&self, other: &Self) -> bool {
        let same = self.kind.size() == other.kind.size()
            && self.address == other.address
            && self.dimensions().eq(other.dimensions());
        let end = |view: &Self| view.address + view.span().unwrap_or(0);
        !same && self.address < end(other) && other.address < end(self)
    }

    /// A copy of the elements, and the view of it, which is valid as long as the copy.
    pub fn detached(&self) -> (Vec<u64>, Self) {
        let size = self.kind.size();
        let mut copy = vec![0_u64; (self.elements() * size).div_ceil(8)];
        let view = Self::contiguous(self.kind, copy.as_mut_ptr() as usize, &self.shape);
        runs(&self.shape, &[self, &view], |length, rows| {
            for index in 0..length {
                let (from, to) = (rows[0].at(index) as *const u8, rows[1].at(index) as *mut u8);
                // SAFETY: both views have an element there, and the copy is ours alone.
                unsafe { std::ptr::copy_nonoverlapping(from, to, size) };
            }
        });
        (copy, view)
    }
}

/// Elements in a row.
#[derive(Debug, Clone, Copy)]
pub struct ElementRun {
    pub address: usize,
    pub stride: usize,
}

impl ElementRun {
    pub const fn at(self, index: usize) -> usize {
        self.address + index * self.stride
    }
}

/// Goes through views of one shape together, in rows that are as long as their layouts allow: how
/// many elements, and the row of each view.
pub fn runs(shape: &[usize], views: &[&View], mut visit: impl FnMut(usize, &[ElementRun])) {
    if shape.contains(&0) {
        return;
    }
    let dimensions = merged(shape, views);
    let (length, outer) = dimensions
        .split_first()
        .map_or((1, &[][..]), |(inner, outer)| (inner.length, outer));
    let row = |(index, view): (usize, &&View)| ElementRun {
        address: view.address,
        stride: dimensions.first().map_or(0, |inner| inner.strides[index]),
    };
    let mut rows: Vec<ElementRun> = views.iter().enumerate().map(row).collect();
    let mut counters = vec![0; outer.len()];
    loop {
        visit(length, &rows);
        if !advance(outer, &mut counters, &mut rows) {
            return;
        }
    }
}

/// A dimension of several views together.
struct Dimension {
    length: usize,
    strides: Vec<usize>,
}

/// Innermost first, without dimensions of length 1 and with those joined that follow each other
/// without a gap in every view.
fn merged(shape: &[usize], views: &[&View]) -> Vec<Dimension> {
    let mut merged: Vec<Dimension> = Vec::with_capacity(shape.len());
    for (index, &length) in shape.iter().enumerate().rev() {
        if length == 1 {
            continue;
        }
        let strides: Vec<usize> = views.iter().map(|view| view.strides[index]).collect();
        match merged.last_mut() {
            Some(inner) if inner.is_followed_by(&strides) => inner.length *= length,
            _ => merged.push(Dimension { length, strides }),
        }
    }
    merged
}

impl Dimension {
    fn is_followed_by(&self, strides: &[usize]) -> bool {
        let mut pairs = self.strides.iter().zip(strides);
        pairs.all(|(own, outer)| own * self.length == *outer)
    }
}

/// To the next rows; false after the last ones.
fn advance(outer: &[Dimension], counters: &mut [usize], rows: &mut [ElementRun]) -> bool {
    for (dimension, counter) in outer.iter().zip(counters) {
        *counter += 1;
        let has_more = *counter < dimension.length;
        for (row, stride) in rows.iter_mut().zip(&dimension.strides) {
            if has_more {
                row.address += stride;
            } else {
                row.address -= stride * (dimension.length - 1);
            }
        }
        if has_more {
            return true;
        }
        *counter = 0;
    }
    false
}

/// The shape that both broadcast to.
pub fn broadcast_shape(one: &[usize], other: &[usize]) -> Option<Vec<usize>> {
    let rank = one.len().max(other.len());
    let length = |shape: &[usize], index: usize| {
        (index + shape.len())
            .checked_sub(rank)
            .map_or(1, |index| shape[index])
    };
    (0..rank)
        .map(|index| match (length(one, index), length(other, index)) {
            (a, b) if a == b => Some(a),
            (1, b) => Some(b),
            (a, 1) => Some(a),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{View, broadcast_shape, runs};
    use crate::data_type::DataType::{F16, F32};

    fn view(shape: &[usize], strides: &[usize]) -> View {
        View {
            kind: F32,
            address: 0x1000,
            shape: shape.to_vec(),
            strides: strides.iter().map(|stride| stride * 4).collect(),
        }
    }

    /// The elements of a view in order, counted from its address.
    fn order(view: &View) -> Vec<usize> {
        let mut seen = Vec::new();
        runs(&view.shape, &[view], |length, rows| {
            seen.extend((0..length).map(|index| (rows[0].at(index) - 0x1000) / 4));
        });
        seen
    }

    #[test]
    fn elements_are_visited_with_the_last_dimension_innermost() {
        assert_eq!(order(&view(&[2, 3], &[3, 1])), [0, 1, 2, 3, 4, 5]);
        assert_eq!(order(&view(&[2, 3], &[1, 2])), [0, 2, 4, 1, 3, 5]);
        assert_eq!(order(&view(&[2, 1, 2], &[5, 9, 0])), [0, 0, 5, 5]);
        assert_eq!(order(&view(&[], &[])), [0]);
        assert_eq!(order(&view(&[1, 1], &[7, 7])), [0]);
        assert!(order(&view(&[2, 0], &[1, 1])).is_empty());
        let deep = View::contiguous(F32, 0x1000, &[2; 8]);
        assert_eq!(order(&deep), (0..256).collect::<Vec<_>>());
        let mut mirrored = deep;
        mirrored.strides.reverse();
        let expected: Vec<_> = (0..=255_u8)
            .map(|it| usize::from(it.reverse_bits()))
            .collect();
        assert_eq!(order(&mirrored), expected);
    }

    #[test]
    fn rows_are_as_long_as_the_layouts_allow() {
        let lengths = |view: &View| {
            let mut lengths = Vec::new();
            runs(&view.shape, &[view], |length, _| lengths.push(length));
            lengths
        };
        assert_eq!(lengths(&view(&[2, 3, 4], &[12, 4, 1])), [24]);
        assert_eq!(lengths(&view(&[2, 3, 4], &[16, 4, 1])), [12, 12]);
        assert_eq!(lengths(&view(&[2, 3, 1], &[6, 2, 1])), [6]);
    }

    #[test]
    fn shapes_broadcast_from_the_right() {
        assert_eq!(broadcast_shape(&[3, 1], &[4]), Some(vec![3, 4]));
        assert_eq!(broadcast_shape(&[], &[2, 2]), Some(vec![2, 2]));
        assert_eq!(broadcast_shape(&[0], &[1]), Some(vec![0]));
        assert_eq!(broadcast_shape(&[2], &[3]), None);
        let stretched = view(&[3, 1], &[1, 1]).broadcast(&[2, 3, 2]).unwrap();
        assert_eq!(order(&stretched), [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
        assert_eq!(view(&[2, 3], &[3, 1]).broadcast(&[3]), None);
    }

    #[test]
    fn views_that_share_memory_are_recognised() {
        let row = view(&[4], &[1]);
        assert!(!row.overlaps_itself());
        assert!(view(&[4], &[0]).overlaps_itself());
        assert!(view(&[3, 2], &[1, 1]).overlaps_itself());
        assert!(!view(&[2, 3], &[1, 2]).overlaps_itself());
        assert!(!view(&[1], &[0]).overlaps_itself());
        let mut shifted = row.clone();
        shifted.address += 4;
        assert!(row.disturbs(&shifted) && shifted.disturbs(&row));
        assert!(!row.disturbs(&row.clone().with_dimension(0)));
        shifted.address = row.address + 16;
        assert!(!row.disturbs(&shifted));
        assert!(
            View {
                kind: F16,
                ..row.clone()
            }
            .disturbs(&row)
        );
    }

    #[test]
    fn the_span_reaches_to_the_end_of_the_last_element() {
        assert_eq!(view(&[2, 3], &[10, 2]).span(), Some((10 + 4 + 1) * 4));
        assert_eq!(view(&[0, 3], &[10, 2]).span(), Some(0));
        assert_eq!(view(&[2, usize::MAX / 4], &[1, 8]).span(), None);
    }
}
