//! Rules by address, and recorded stacks: tables of fixed size, shared by all threads. A used place is
//! taken over. That costs time, and is always correct.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

const PLACES: usize = 1 << 14;
/// Number of stacks with numbers that share a place in the table.
const WAYS: usize = 4;

/// Rules by key. The first word of an entry is the key, mixed with the rule: entries that two threads write at
/// the same time fit no key.
pub(super) struct Rules([[AtomicU64; 2]; PLACES]);

pub(super) static RULES: Rules = Rules([const { [const { AtomicU64::new(0) }; 2] }; PLACES]);

/// Numbers of stacks with frames of Python, by where these lie.
pub(super) static NUMBERS: Rules = Rules([const { [const { AtomicU64::new(0) }; 2] }; PLACES]);

/// Mixes the bits of a word.
#[inline]
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^ (word >> 29)
}

impl Rules {
    #[inline]
    fn place(&self, key: u64) -> &[AtomicU64; 2] {
        let index = (mixed(key) >> 32) as usize % PLACES;
        // The remainder is within bounds.
        self.0.get(index).unwrap_or(&self.0[0])
    }

    /// The rule of a key, 0 if it is not there.
    #[inline]
    pub(super) fn get(&self, key: u64) -> u64 {
        let [check, rule] = self.place(key);
        let rule = rule.load(Relaxed);
        match check.load(Relaxed) == key ^ mixed(rule) {
            true => rule,
            false => 0,
        }
    }

    pub(super) fn put(&self, key: u64, rule: u64) {
        let [check, place] = self.place(key);
        place.store(rule, Relaxed);
        check.store(key ^ mixed(rule), Relaxed);
    }
}

/// Numbers that are known.
pub(super) struct StackNumbers([[AtomicU64; WAYS]; PLACES / WAYS]);

pub(super) static REPORTED: StackNumbers =
    StackNumbers([const { [const { AtomicU64::new(0) }; WAYS] }; PLACES / WAYS]);

impl StackNumbers {
    #[inline]
    fn places(&self, number: u64) -> &[AtomicU64; WAYS] {
        let index = (number >> 32) as usize % (PLACES / WAYS);
        self.0.get(index).unwrap_or(&self.0[0])
    }

    #[inline]
    pub(super) fn has(&self, number: u64) -> bool {
        self.places(number)
            .iter()
            .any(|place| place.load(Relaxed) == number)
    }

    pub(super) fn add(&self, number: u64) {
        let places = self.places(number);
        let free = places.iter().find(|place| place.load(Relaxed) == 0);
        let other = places.get(number as usize % WAYS);
        if let Some(place) = free.or(other) {
            place.store(number, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_found_by_its_key_alone() {
        let rules = Rules([const { [const { AtomicU64::new(0) }; 2] }; PLACES]);
        assert_eq!(rules.get(0), 0);
        assert_eq!(rules.get(7), 0);
        for key in 1..100_000u64 {
            rules.put(key, key << 3 | 4);
            assert_eq!(rules.get(key), key << 3 | 4);
        }
        let kept = (1..100_000u64).filter(|key| rules.get(*key) != 0).count();
        assert!(kept > PLACES / 2 && kept <= PLACES, "{kept}");
        // Half of an entry is another thread's.
        let [check, _] = rules.place(99_999);
        check.store(1234, Relaxed);
        assert_eq!(rules.get(99_999), 0);
    }

    #[test]
    fn numbers_are_known_until_others_take_their_place() {
        let known = StackNumbers([const { [const { AtomicU64::new(0) }; WAYS] }; PLACES / WAYS]);
        for number in 1..=5u64 {
            assert!(!known.has(number));
            known.add(number);
            assert!(known.has(number));
        }
        assert_eq!((1..=5).filter(|number| known.has(*number)).count(), WAYS);
    }
}
