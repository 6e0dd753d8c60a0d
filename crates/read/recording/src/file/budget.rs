//! Memory limit for the content of a file, in proportion to the file's size.
//!
//! A table can express a property of a million rows in one byte, so the length of a file alone bounds
//! nothing. Each pass over a file has a budget; data in memory is paid from it, and a chunk that asks
//! for more is left out from there on, with a warning.

/// Any pass may take this much: a short recording of similar rows packs very well.
const BASE: u64 = 24 << 20;
/// And this for each byte of the file.
const PER_BYTE: u64 = 16;
/// The most that a file that is kept in memory as a whole may take if it has only an eighth of a byte for
/// each of its rows.
const DENSE: u64 = 640 << 20;
const DENSE_PER_BYTE: u64 = 8 * PER_ROW;
/// Bytes of a file that are not taken for so dense.
const NOT_DENSE: u64 = 1 << 16;
/// Memory for a row that an index counts, arguments and texts included.
const PER_ROW: u64 = 256;
/// The index is believed as far as rows go that may be so short: calls that hardly differ take half a
/// byte.
const ROWS_PER_BYTE: u64 = 4;

/// Rows of a segment: it ends when it has 8192, which a whole chunk may have added to.
const MOST_OF_SEGMENT: u64 = 1 << 18;
/// Memory for calls and tasks that have to be in memory together, for each byte of the file: each may
/// consist of only five bytes.
const HELD_PER_BYTE: u64 = 48;

/// The remaining memory of a pass over a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    base: u64,
    per_byte: u64,
    /// The same for the first of the bytes.
    small_per_byte: u64,
    /// The least amount for these bytes, at an eighth of one for each row.
    dense: u64,
    bytes: u64,
    spent: u64,
}

impl Budget {
    fn new(base: u64, per_byte: u64) -> Self {
        Self {
            base,
            per_byte,
            small_per_byte: 0,
            dense: 0,
            bytes: 0,
            spent: 0,
        }
    }

    /// For a trace that is kept in memory as a whole: calls that hardly differ take half a byte in the
    /// file and 250 in memory. A loop of the same call packs into an eighth of a byte for each; a file of
    /// that kind may take [`DENSE`], if it is not a small one.
    pub(crate) fn whole() -> Self {
        Self {
            dense: DENSE,
            ..Self::new(BASE, 512)
        }
    }

    /// For processes, streams, names and the like. The work of the program that made them is in the
    /// file, too.
    pub(crate) fn entities(bytes: u64) -> Self {
        Self::new(BASE, PER_BYTE).of(bytes)
    }

    /// For a range of a file with `bytes` bytes and `rows` rows in the index.
    pub(crate) fn window(bytes: u64, rows: u64) -> Self {
        let rows = rows.min(bytes.saturating_mul(ROWS_PER_BYTE));
        Self::new(BASE.saturating_add(rows.saturating_mul(PER_ROW)), PER_BYTE).of(bytes)
    }

    /// For a segment of a file with `rows` rows in the index: at most those of a segment.
    pub(crate) fn segment(bytes: u64, rows: u64) -> Self {
        Self::window(bytes, rows.min(MOST_OF_SEGMENT))
    }

    /// What the calls and tasks of a file may take that are in memory at a time while it is gone through. As a
    /// rule that is a step; but calls that began during a long call of another thread wait for its end.
    pub(crate) fn most_held(bytes: u64) -> u64 {
        let rows = bytes.saturating_mul(ROWS_PER_BYTE).min(MOST_OF_SEGMENT);
        let dense = bytes
            .saturating_sub(NOT_DENSE)
            .saturating_mul(DENSE_PER_BYTE);
        let more = bytes.saturating_mul(HELD_PER_BYTE).max(dense.min(DENSE));
        more.saturating_add(BASE + rows * PER_ROW)
    }

    /// For rows that are not kept.
    pub(crate) fn unlimited() -> Self {
        Self::new(u64::MAX, 0)
    }

    /// Sets the present number of bytes of the file.
    pub(crate) fn of(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Adds memory for more bytes of the file.
    pub(crate) fn earn(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Pays for something; false when it is too much.
    #[must_use]
    pub(crate) fn spend(&mut self, bytes: u64) -> bool {
        let dense = self.bytes.saturating_sub(NOT_DENSE);
        let dense = dense.saturating_mul(DENSE_PER_BYTE).min(self.dense);
        let small = self.bytes.min(NOT_DENSE) * self.small_per_byte;
        let limit = self.bytes.saturating_mul(self.per_byte).max(small + dense);
        let limit = limit.saturating_add(self.base);
        let spent = self.spent.saturating_add(bytes);
        let is_enough = spent <= limit;
        if is_enough {
            self.spent = spent;
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_of_a_file_is_spent_once() {
        let mut budget = Budget::new(10, 2).of(5);
        assert!(budget.spend(15));
        assert!(!budget.spend(6));
        assert!(budget.spend(5));
        budget.earn(1);
        assert!(budget.spend(2) && !budget.spend(1));
        assert!(Budget::unlimited().spend(u64::MAX));
    }

    #[test]
    fn an_index_is_believed_in_proportion_to_the_file() {
        let most = Budget::window(1000, u64::MAX);
        let few = Budget::window(1000, 10);
        assert_eq!(few.base, BASE + 2560);
        assert_eq!(most.base, BASE + 4_000 * PER_ROW);
    }
}
