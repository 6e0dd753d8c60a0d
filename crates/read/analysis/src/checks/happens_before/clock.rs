//! Vector clocks: the progress of each stream before something.
//!
//! A stream has a *slot*, and its tasks have growing positions there. After a stream's end, another one
//! gets the slot and continues its positions, so a clock never means the wrong stream.

/// Entries of a clock; with more, its order counts as unknown.
const MOST: usize = 1 << 10;

/// All tasks of a slot up to a position come before.
pub(super) type Reached = (u32, u64);

/// The predecessors of a submission, in addition to everything that the host knows to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// By slot.
    reached: Vec<Reached>,
    /// More may come before, that is not known.
    pub(super) is_open: bool,
}

impl Clock {
    pub(super) fn at(&self, slot: u32) -> u64 {
        let place = self.reached.binary_search_by_key(&slot, |entry| entry.0);
        place.map_or(0, |place| self.reached[place].1)
    }

    pub(super) fn entries(&self) -> &[Reached] {
        &self.reached
    }

    pub(super) fn raise(&mut self, (slot, position): Reached) {
        match self.reached.binary_search_by_key(&slot, |entry| entry.0) {
            Ok(place) => self.reached[place].1 = self.reached[place].1.max(position),
            Err(_) if self.reached.len() >= MOST => self.is_open = true,
            Err(place) => self.reached.insert(place, (slot, position)),
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.is_open |= other.is_open;
        for entry in &other.reached {
            self.raise(*entry);
        }
    }

    /// Drops entries that the host knows anyway.
    pub(super) fn prune(&mut self, host: &HostKnowledge) {
        let reached = &mut self.reached;
        reached.retain(|(slot, position)| host.at(*slot) < *position);
    }
}

/// The tasks that the host knows to be done, by slot.
#[derive(Clone, Debug, Default)]
pub(super) struct HostKnowledge(Vec<u64>);

impl HostKnowledge {
    pub(super) fn at(&self, slot: u32) -> u64 {
        self.0.get(slot as usize).copied().unwrap_or(0)
    }

    pub(super) fn raise(&mut self, (slot, position): Reached) {
        let slot = slot as usize;
        if self.0.len() <= slot {
            self.0.resize(slot + 1, 0);
        }
        self.0[slot] = self.0[slot].max(position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_has_the_later_position_of_each_slot() {
        let (mut one, mut other) = (Clock::default(), Clock::default());
        one.raise((3, 5));
        one.raise((1, 2));
        other.raise((1, 7));
        other.raise((2, 1));
        one.join(&other);
        assert_eq!(one.entries(), [(1, 7), (2, 1), (3, 5)]);
        assert_eq!((one.at(1), one.at(4)), (7, 0));
    }

    #[test]
    fn facts_known_to_the_host_are_forgotten() {
        let (mut clock, mut host) = (Clock::default(), HostKnowledge::default());
        clock.raise((0, 4));
        clock.raise((1, 4));
        host.raise((0, 4));
        host.raise((1, 3));
        clock.prune(&host);
        assert_eq!(clock.entries(), [(1, 4)]);
    }

    #[test]
    fn a_clock_of_too_many_streams_is_open() {
        let mut clock = Clock::default();
        (0..MOST as u32).for_each(|slot| clock.raise((slot, 1)));
        assert!(!clock.is_open);
        clock.raise((MOST as u32, 1));
        assert!(clock.is_open && clock.entries().len() == MOST);
    }
}
