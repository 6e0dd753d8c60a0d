//! Which tasks used which memory last, by ranges of addresses.

use std::collections::BTreeMap;
use std::ops::Range;

use super::NotedCall;

/// Pieces of memory that are followed at a time.
const MOST: usize = 1 << 16;
/// Reads of a piece of memory that are followed at a time.
const MOST_READS: usize = 64;

/// A task that used memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryUse {
    pub(super) slot: u32,
    pub(super) position: u64,
    pub(super) note: NotedCall,
}

/// History of a piece of memory.
#[derive(Clone, Debug)]
struct PieceHistory {
    end: u64,
    write: Option<MemoryUse>,
    /// Reads since `write`.
    reads: Vec<MemoryUse>,
}

impl PieceHistory {
    fn uses(&self) -> impl Iterator<Item = (&MemoryUse, bool)> {
        let write = self.write.iter().map(|it| (it, true));
        write.chain(self.reads.iter().map(|it| (it, false)))
    }
}

/// The last uses of a process's memory.
#[derive(Debug)]
pub(super) struct MemoryHistory {
    /// By begin; they do not overlap.
    pieces: BTreeMap<u64, PieceHistory>,
    /// At this number of pieces, `tidy` removes those that are not needed.
    limit: usize,
}

impl Default for MemoryHistory {
    fn default() -> Self {
        Self {
            pieces: BTreeMap::new(),
            limit: 1 << 10,
        }
    }
}

/// Two uses of the same memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub(super) before: MemoryUse,
    pub(super) before_writes: bool,
    /// Bytes that both use.
    pub(super) bytes: u64,
}

impl MemoryHistory {
    pub(super) fn clear(&mut self) {
        self.pieces.clear();
    }

    /// The first use in a range that conflicts with a new access, since it is not ordered before it, and the bytes that they
    /// share. Two reads do not conflict.
    pub(super) fn conflict(
        &self,
        range: &Range<u64>,
        writes: bool,
        is_before: impl Fn(&MemoryUse) -> bool,
    ) -> Option<Conflict> {
        let mut found: Option<Conflict> = None;
        for (begin, piece) in self.within(range) {
            let bytes = piece.end.min(range.end) - begin.max(range.start);
            let uses = piece.uses().filter(|(_, wrote)| writes || *wrote);
            let mut open = uses.filter(|(it, _)| !is_before(it));
            match &mut found {
                None => {
                    found = open.next().map(|(before, before_writes)| Conflict {
                        before: *before,
                        before_writes,
                        bytes,
                    });
                }
                Some(shared) => {
                    let number = shared.before.note.number;
                    if open.any(|(it, _)| it.note.number == number) {
                        shared.bytes += bytes;
                    }
                }
            }
        }
        found
    }

    fn within(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, &PieceHistory)> {
        let before = self.pieces.range(..range.start).next_back();
        let before = before.filter(|(_, piece)| piece.end > range.start);
        let inside = self.pieces.range(range.clone());
        before
            .into_iter()
            .chain(inside)
            .map(|(begin, piece)| (*begin, piece))
    }

    /// Discards the history of a range.
    pub(super) fn forget(&mut self, range: &Range<u64>) {
        self.split(range.start);
        self.split(range.end);
        let inside: Vec<u64> = self.pieces.range(range.clone()).map(|it| *it.0).collect();
        for begin in inside {
            self.pieces.remove(&begin);
        }
    }

    /// Notes that a task writes a range.
    pub(super) fn write(&mut self, range: &Range<u64>, by: MemoryUse) {
        self.forget(range);
        let piece = PieceHistory {
            end: range.end,
            write: Some(by),
            reads: Vec::new(),
        };
        self.pieces.insert(range.start, piece);
    }

    /// Notes that a task reads a range. Earlier reads need not be kept: successors of this one come
    /// after them.
    pub(super) fn read(
        &mut self,
        range: &Range<u64>,
        by: MemoryUse,
        is_before: impl Fn(&MemoryUse) -> bool,
    ) {
        self.split(range.start);
        self.split(range.end);
        let mut from = range.start;
        let mut gaps: Vec<Range<u64>> = Vec::new();
        for (begin, piece) in self.pieces.range_mut(range.clone()) {
            if from < *begin {
                gaps.push(from..*begin);
            }
            from = piece.end;
            piece.reads.retain(|it| !is_before(it));
            if piece.reads.len() < MOST_READS {
                piece.reads.push(by);
            }
        }
        if from < range.end {
            gaps.push(from..range.end);
        }
        for gap in gaps {
            let piece = PieceHistory {
                end: gap.end,
                write: None,
                reads: vec![by],
            };
            self.pieces.insert(gap.start, piece);
        }
    }

    /// Makes two pieces of the one that goes over an address.
    fn split(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else {
            return;
        };
        if piece.end > at {
            let rest = piece.clone();
            piece.end = at;
            self.pieces.insert(at, rest);
        }
    }

    /// Limits the number of pieces, with the tasks that are done before everything later.
    pub(super) fn tidy(&mut self, is_done: impl Fn(&MemoryUse) -> bool) {
        if self.pieces.len() < self.limit {
            return;
        }
        self.pieces
            .retain(|_, piece| !piece.uses().all(|(it, _)| is_done(it)));
        if self.pieces.len() > MOST {
            self.pieces.clear();
        }
        self.limit = (2 * self.pieces.len()).max(1 << 10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(number: u32) -> MemoryUse {
        MemoryUse {
            slot: number,
            position: 1,
            note: NotedCall {
                number,
                ..NotedCall::default()
            },
        }
    }

    fn found(memory: &MemoryHistory, range: Range<u64>, writes: bool) -> Option<(u32, bool, u64)> {
        let shared = memory.conflict(&range, writes, |_| false)?;
        Some((
            shared.before.note.number,
            shared.before_writes,
            shared.bytes,
        ))
    }

    #[test]
    fn ranges_are_cut_where_others_begin_and_end() {
        let mut memory = MemoryHistory::default();
        memory.write(&(100..200), by(1));
        memory.read(&(150..250), by(2), |_| false);
        assert_eq!(found(&memory, 0..100, true), None);
        assert_eq!(found(&memory, 90..120, false), Some((1, true, 20)));
        assert_eq!(found(&memory, 200..300, false), None);
        assert_eq!(found(&memory, 200..300, true), Some((2, false, 50)));
        assert_eq!(found(&memory, 0..1000, true), Some((1, true, 100)));
        memory.write(&(120..130), by(3));
        assert_eq!(found(&memory, 125..126, false), Some((3, true, 1)));
        memory.forget(&(0..130));
        assert_eq!(found(&memory, 0..1000, false), Some((1, true, 70)));
    }

    #[test]
    fn two_reads_do_not_disturb_each_other() {
        let mut memory = MemoryHistory::default();
        memory.read(&(0..10), by(1), |_| false);
        assert_eq!(found(&memory, 0..10, false), None);
        assert_eq!(found(&memory, 9..20, true), Some((1, false, 1)));
    }

    #[test]
    fn pieces_that_no_reader_needs_are_removed() {
        let mut memory = MemoryHistory::default();
        for number in 0..2_000 {
            let begin = u64::from(number) * 10;
            memory.write(&(begin..begin + 5), by(number));
        }
        memory.tidy(|it| it.slot % 2 == 0);
        assert_eq!(memory.pieces.len(), 1_000);
        for number in 0..2 * MOST as u32 {
            let begin = u64::from(number) * 10;
            memory.write(&(begin..begin + 5), by(number));
            memory.tidy(|_| false);
        }
        assert!(memory.pieces.len() <= MOST);
    }
}
