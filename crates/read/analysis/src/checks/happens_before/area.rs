//! Memory that a task reads or writes.

use std::ops::Range;

/// Rows of a copy in rows that are followed; of a copy with more, the memory is not known.
const MOST_ROWS: u64 = 1 << 12;

/// Rows of the same length, at the same distance from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Area {
    first: Range<u64>,
    pitch: u64,
    rows: u64,
}

impl Area {
    /// Without gaps. `None` where there is no memory.
    pub(super) fn of(begin: u64, bytes: u64) -> Option<Self> {
        let end = begin.saturating_add(bytes);
        (begin != 0 && begin < end).then_some(Self {
            first: begin..end,
            pitch: bytes,
            rows: 1,
        })
    }

    /// Each row begins `pitch` bytes after the one before it. `None` where there is no memory, or where too many rows have
    /// gaps between them.
    pub(super) fn of_rows(begin: u64, width: u64, pitch: u64, rows: u64) -> Option<Self> {
        let bytes = width.checked_mul(rows)?;
        if rows <= 1 || pitch == width {
            return Self::of(begin, bytes);
        }
        let is_followed = pitch > width && rows <= MOST_ROWS;
        let before = pitch.checked_mul(rows - 1).filter(|_| is_followed)?;
        begin.checked_add(before)?.checked_add(width)?;
        Some(Self {
            pitch,
            rows,
            ..Self::of(begin, width)?
        })
    }

    /// The ranges that it consists of.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let (first, pitch) = (self.first.clone(), self.pitch);
        (0..self.rows).map(move |row| first.start + row * pitch..first.end + row * pitch)
    }

    /// From its first to its last byte.
    pub(super) fn whole(&self) -> Range<u64> {
        self.first.start..self.first.end + (self.rows - 1) * self.pitch
    }

    pub(super) fn touches(&self, range: &Range<u64>) -> bool {
        self.ranges()
            .any(|it| it.start < range.end && range.start < it.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(begin: u64, width: u64, pitch: u64, rows: u64) -> Option<Vec<Range<u64>>> {
        let area = Area::of_rows(begin, width, pitch, rows)?;
        Some(area.ranges().collect())
    }

    #[test]
    fn rows_are_ranges_unless_they_have_no_gaps() {
        assert_eq!(
            ranges(100, 4, 10, 3),
            Some(vec![100..104, 110..114, 120..124])
        );
        assert_eq!(ranges(100, 4, 4, 3).map(|it| it.len()), Some(1));
        assert_eq!(
            ranges(100, 4, 4, 3),
            Area::of(100, 12).map(|it| it.ranges().collect())
        );
        assert_eq!(ranges(100, 4, 0, 1).map(|it| it[0].clone()), Some(100..104));
        assert_eq!(
            Area::of_rows(100, 4, 10, 3).map(|it| it.whole()),
            Some(100..124)
        );
    }

    #[test]
    fn memory_that_is_none_or_not_known_has_no_area() {
        for (begin, width, pitch, rows) in [
            (0, 4, 10, 3),
            (100, 0, 10, 3),
            (100, 4, 10, 0),
            (100, 4, 3, 3),
            (100, 4, 10, MOST_ROWS + 1),
            (100, u64::MAX, u64::MAX, 2),
            (u64::MAX - 8, 4, 8, 2),
        ] {
            assert_eq!(
                ranges(begin, width, pitch, rows),
                None,
                "{begin} {width} {pitch} {rows}"
            );
        }
    }

    #[test]
    fn memory_between_rows_is_not_touched() {
        let Some(area) = Area::of_rows(100, 4, 10, 3) else {
            return assert_eq!(1, 2, "an area");
        };
        assert!(area.touches(&(103..104)) && area.touches(&(0..200)) && area.touches(&(120..121)));
        assert!(
            !area.touches(&(104..110)) && !area.touches(&(124..200)) && !area.touches(&(0..100))
        );
    }
}
