//! Synchronisations of the program that prove tasks done, until the times of these tasks are read.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// The proof of a synchronisation: everything submitted before `begin` was done by `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

const MOST: usize = 16;

/// The proofs of one stream, the oldest first: for who reads its times.
pub(crate) struct Proofs {
    begins: [AtomicU64; MOST],
    ends: [AtomicU64; MOST],
    first: AtomicU32,
    count: AtomicU32,
}

impl Proofs {
    pub(crate) const fn new() -> Self {
        Self {
            begins: [const { AtomicU64::new(0) }; MOST],
            ends: [const { AtomicU64::new(0) }; MOST],
            first: AtomicU32::new(0),
            count: AtomicU32::new(0),
        }
    }

    pub(crate) fn forget(&self) {
        self.count.store(0, Relaxed);
    }

    fn place(&self, index: u32) -> usize {
        self.first.load(Relaxed).wrapping_add(index) as usize % MOST
    }

    fn at(&self, index: u32) -> Proof {
        let place = self.place(index);
        let of = |times: &[AtomicU64; MOST]| times.get(place).map_or(0, |time| time.load(Relaxed));
        Proof {
            begin: of(&self.begins),
            end: of(&self.ends),
        }
    }

    /// The program has synchronised. Returns whether there is room for more: if there is not, the newest proof is replaced by the next
    /// one, which shows less.
    pub(crate) fn add(&self, proof: Proof) -> bool {
        let count = self.count.load(Relaxed);
        let index = count.min(MOST as u32 - 1);
        let place = self.place(index);
        let places = self.begins.get(place).zip(self.ends.get(place));
        if let Some((begin, end)) = places {
            begin.store(proof.begin, Relaxed);
            end.store(proof.end, Relaxed);
        }
        self.count.store(index.wrapping_add(1), Relaxed);
        index.wrapping_add(1) < MOST as u32
    }

    /// When the program first knew a task to be done that had been submitted at `closed`. Earlier tasks must have been asked for
    /// before: proofs of nothing else are left out.
    pub(crate) fn seen(&self, closed: u64) -> Option<u64> {
        loop {
            let count = self.count.load(Relaxed);
            let rest = count.checked_sub(1)?;
            let proof = self.at(0);
            if closed < proof.begin {
                return Some(proof.end);
            }
            self.first
                .store(self.first.load(Relaxed).wrapping_add(1), Relaxed);
            self.count.store(rest, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(begin: u64) -> Proof {
        Proof {
            begin,
            end: begin + 5,
        }
    }

    #[test]
    fn a_task_was_seen_by_the_first_synchronisation_after_it() {
        let proofs = Proofs::new();
        assert_eq!(proofs.seen(0), None);
        for begin in [10, 20, 30] {
            assert!(proofs.add(at(begin)));
        }
        assert_eq!(proofs.seen(9), Some(15));
        assert_eq!(
            proofs.seen(10),
            Some(25),
            "it was submitted in the first one"
        );
        assert_eq!(proofs.seen(29), Some(35));
        assert_eq!(proofs.seen(30), None);
        assert!(proofs.add(at(40)));
        assert_eq!(proofs.seen(31), Some(45));
    }

    #[test]
    fn without_room_the_newest_one_shows_less_and_nothing_wrong() {
        let proofs = Proofs::new();
        let count = MOST as u64;
        let kept = (1..=count + 4).map(|number| proofs.add(at(number * 10)));
        assert_eq!(kept.filter(|has_room| *has_room).count(), MOST - 1);
        for number in 1..count {
            assert_eq!(proofs.seen(number * 10 - 1), Some(number * 10 + 5));
        }
        let last = (count + 4) * 10;
        assert_eq!(proofs.seen(count * 10 - 1), Some(last + 5));
        assert_eq!(proofs.seen(last), None);
    }
}
