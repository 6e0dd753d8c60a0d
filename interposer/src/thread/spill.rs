//! Calls of signal handlers that came while the tracer was at work in their thread. They are put aside
//! and written when that is done. A handler may be interrupted by another one, anywhere.

use core::cell::Cell;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::{RecordHead, RecordKind, SLOT_WORDS};
use ascend_trace_ring::Producer;

/// Calls that can be put aside.
const PLACES: usize = 8;
/// Words of one.
pub(crate) const WORDS: usize = 2 * SLOT_WORDS;

pub(super) struct Spill {
    /// Places taken, and attempts beyond.
    taken: AtomicUsize,
    /// Word 0 is stored last, and 0 while the place holds nothing.
    places: [[Cell<u64>; WORDS]; PLACES],
}

impl Spill {
    pub(super) const fn new() -> Self {
        Self {
            taken: AtomicUsize::new(0),
            places: [const { [const { Cell::new(0) }; WORDS] }; PLACES],
        }
    }

    /// Puts a record aside; `false` when there is no room.
    pub(super) fn put(&self, record: &[u64; WORDS]) -> bool {
        // In one step, since a handler that comes now takes the next place.
        let place = self.taken.fetch_add(1, Relaxed);
        let (Some(place), [first, rest @ ..]) = (self.places.get(place), record) else {
            self.taken.fetch_sub(1, Relaxed);
            return false;
        };
        for (cell, word) in place.iter().skip(1).zip(rest) {
            cell.set(*word);
        }
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
        if let Some(cell) = place.first() {
            cell.set(*first);
        }
        true
    }

    /// Writes the calls that were put aside, also those that arrive meanwhile.
    pub(super) fn write(&self, producer: &mut Producer) {
        self.empty(|place, head| {
            let slots = usize::from(head.slots);
            let Some(room) = producer.reserve(slots) else {
                producer.count_dropped(RecordKind::Call);
                return;
            };
            for (word, cell) in room.iter_mut().zip(place) {
                *word = cell.get();
            }
            producer.publish(slots);
        });
    }

    /// Calls `lost` for each record that was put aside.
    pub(super) fn drop_all(&self, lost: impl Fn()) {
        self.empty(|_, _| lost());
    }

    fn empty(&self, mut action: impl FnMut(&[Cell<u64>; WORDS], RecordHead)) {
        let mut done = 0;
        loop {
            let taken = self.taken.load(Relaxed);
            for place in self.places.iter().take(taken).skip(done) {
                // A place that was begun and left by a jump holds no head.
                let word = place.first().map_or(0, |first| first.replace(0));
                if let Some(head) = RecordHead::decode(word) {
                    if let Some(first) = place.first() {
                        first.set(word);
                    }
                    action(place, head);
                    if let Some(first) = place.first() {
                        first.set(0);
                    }
                }
            }
            done = taken;
            if self
                .taken
                .compare_exchange(taken, 0, Relaxed, Relaxed)
                .is_ok()
            {
                return;
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.taken.load(Relaxed) == 0
    }

    /// Forgets what another process has put aside.
    pub(super) fn forget(&self) {
        for first in self.places.iter().filter_map(|place| place.first()) {
            first.set(0);
        }
        self.taken.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: u64) -> [u64; WORDS] {
        let kind = RecordKind::Call;
        let mut words = [0; WORDS];
        words[0] = RecordHead { kind, slots: 1 }.encode();
        words[1] = value;
        words
    }

    #[test]
    fn records_without_room_are_refused_and_kept_ones_come_out_in_order() {
        let spill = Spill::new();
        let kept = (0..20).filter(|value| spill.put(&record(*value))).count();
        assert_eq!(kept, PLACES);
        let mut seen = Vec::new();
        spill.empty(|place, head| seen.push((place[1].get(), head.slots)));
        assert_eq!(seen, (0..8).map(|value| (value, 1)).collect::<Vec<_>>());
        assert!(spill.is_empty());
        assert!(spill.put(&record(1)));
    }

    #[test]
    fn records_added_while_it_is_emptied_come_out_as_well() {
        let spill = Spill::new();
        spill.put(&record(1));
        let mut seen = Vec::new();
        spill.empty(|place, _| {
            if seen.is_empty() {
                spill.put(&record(2));
            }
            seen.push(place[1].get());
        });
        assert_eq!(seen, [1, 2]);
        assert!(spill.is_empty());
    }

    #[test]
    fn a_place_that_was_never_filled_is_passed_over() {
        let spill = Spill::new();
        spill.taken.fetch_add(1, Relaxed);
        spill.put(&record(7));
        let mut seen = Vec::new();
        spill.empty(|place, _| seen.push(place[1].get()));
        assert_eq!(seen, [7]);
    }
}
