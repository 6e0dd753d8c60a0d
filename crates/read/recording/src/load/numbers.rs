//! From the numbers that a trace file uses to positions in our tables.

use std::collections::HashMap;

const NONE: u32 = u32::MAX;
/// Places of the array before there are entries.
const NEAR: usize = 64;

/// Numbers given out in ascending order are looked up in an array. A file may hold any number,
/// so those far beyond the count of entries go to a map instead of making the array grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    near: Vec<u32>,
    far: HashMap<u32, u32>,
    entries: usize,
}

impl Numbers {
    pub(crate) fn get(&self, number: u32) -> Option<u32> {
        match self.near.get(number as usize) {
            Some(&position) if position != NONE => Some(position),
            _ if self.far.is_empty() => None,
            _ => self.far.get(&number).copied(),
        }
    }

    pub(crate) fn insert(&mut self, number: u32, position: u32) {
        self.entries += 1;
        let place = number as usize;
        if place > 4 * self.entries + NEAR {
            self.far.insert(number, position);
            return;
        }
        if place >= self.near.len() {
            self.near.resize(place + 1, NONE);
        }
        self.near[place] = position;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_numbers_are_found() {
        let mut numbers = Numbers::default();
        for (position, number) in [0, 7, u32::MAX, 5_000_000, 8].into_iter().enumerate() {
            numbers.insert(number, position as u32);
        }
        assert_eq!(numbers.get(7), Some(1));
        assert_eq!(numbers.get(u32::MAX), Some(2));
        assert_eq!(numbers.get(5_000_000), Some(3));
        assert_eq!(numbers.get(1), None);
    }

    #[test]
    fn a_wild_number_takes_no_room() {
        let mut numbers = Numbers::default();
        numbers.insert(4_000_000_000, 0);
        assert!(numbers.near.is_empty());
    }
}
