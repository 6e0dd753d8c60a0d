//! How much is in use in one place, and by which places in the program, also at the peak.

use std::collections::BTreeMap;

use super::changes::MemoryId;

/// Allocations of a site, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteTotals {
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) unsized_count: u64,
}

/// A site. It has its allocations at the last peak, if they have changed since.
#[derive(Clone, Copy, Debug, Default)]
struct SiteState {
    now: SiteTotals,
    /// The number of the peak of `at_peak`.
    peak: u64,
    at_peak: SiteTotals,
}

/// Memory in use in one place of one process.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaceState {
    sites: Vec<SiteState>,
    /// Sizes by address.
    live: BTreeMap<u64, u64>,
    pub(super) now: u64,
    pub(super) peak_bytes: u64,
    pub(super) peak_at: i64,
    /// How many peaks there were, each higher than the one before.
    peaks: u64,
    pub(super) allocations: u64,
    pub(super) releases: u64,
    pub(super) allocated_bytes: u64,
    /// In use at the begin of the present step, and the most since then.
    pub(super) step_begin: u64,
    pub(super) step_peak: u64,
}

impl PlaceState {
    /// Adds an allocation, and returns whether more is in use than ever before.
    pub(super) fn allocate(
        &mut self,
        at: i64,
        site: usize,
        id: MemoryId,
        size: Option<u64>,
    ) -> bool {
        let bytes = size.unwrap_or(0);
        self.allocations += 1;
        self.allocated_bytes = self.allocated_bytes.saturating_add(bytes);
        let held = self.changing(site);
        held.count += 1;
        held.bytes = held.bytes.saturating_add(bytes);
        held.unsized_count += u64::from(size.is_none());
        // Physical memory is counted without its addresses.
        id.address().map(|address| self.live.insert(address, bytes));
        self.now = self.now.saturating_add(bytes);
        self.step_peak = self.step_peak.max(self.now);
        let is_peak = self.now > self.peak_bytes;
        if is_peak {
            (self.peak_bytes, self.peak_at) = (self.now, at);
            self.peaks += 1;
        }
        is_peak
    }

    /// Takes an allocation away that was made for this site. A call inside the allocation may have reported it before.
    pub(super) fn remove(&mut self, site: usize, id: MemoryId, size: Option<u64>) {
        let bytes = size.unwrap_or(0);
        let held = self.changing(site);
        held.count = held.count.saturating_sub(1);
        held.bytes = held.bytes.saturating_sub(bytes);
        held.unsized_count = held.unsized_count.saturating_sub(u64::from(size.is_none()));
        id.address().map(|address| self.live.remove(&address));
        self.now = self.now.saturating_sub(bytes);
    }

    /// The state of a site, which is about to change.
    fn changing(&mut self, site: usize) -> &mut SiteTotals {
        if self.sites.len() <= site {
            self.sites.resize(site + 1, SiteState::default());
        }
        let state = &mut self.sites[site];
        if state.peak < self.peaks {
            (state.peak, state.at_peak) = (self.peaks, state.now);
        }
        &mut state.now
    }

    /// The allocations of each site now.
    pub(super) fn held(&self) -> impl Iterator<Item = (usize, SiteTotals)> + '_ {
        self.sites.iter().map(|it| it.now).enumerate()
    }

    /// The allocations of each site at the peak.
    pub(super) fn held_at_peak(&self) -> impl Iterator<Item = (usize, SiteTotals)> + '_ {
        let at_peak = |it: &SiteState| match it.peak == self.peaks {
            true => it.at_peak,
            // It has not changed since.
            false => it.now,
        };
        self.sites.iter().map(at_peak).enumerate()
    }

    /// The free ranges between the addresses in use: all of them together, and the largest.
    pub(super) fn gaps(&self) -> (u64, u64) {
        let (mut all, mut largest) = (0_u64, 0);
        let mut reach = None;
        for (&address, &size) in &self.live {
            if let Some(reach) = reach {
                let gap = address.saturating_sub(reach);
                all = all.saturating_add(gap);
                largest = largest.max(gap);
            }
            reach = reach.max(Some(address.saturating_add(size)));
        }
        (all, largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: u64) -> MemoryId {
        MemoryId::Address(address)
    }

    fn bytes(held: impl Iterator<Item = (usize, SiteTotals)>) -> Vec<u64> {
        held.map(|(_, it)| it.bytes).collect()
    }

    #[test]
    fn sites_keep_their_state_at_the_highest_peak() {
        let mut place = PlaceState::default();
        place.allocate(1, 0, at(100), Some(10));
        place.allocate(2, 1, at(200), Some(5));
        place.remove(0, at(100), Some(10));
        place.allocate(3, 1, at(300), Some(20));
        place.allocate(4, 2, at(400), Some(1));
        place.remove(1, at(300), Some(20));
        place.remove(1, at(200), Some(5));
        place.allocate(5, 0, at(100), Some(7));
        assert_eq!((place.peak_bytes, place.peak_at, place.now), (26, 4, 8));
        assert_eq!(bytes(place.held_at_peak()), [0, 25, 1]);
        assert_eq!(bytes(place.held()), [7, 0, 1]);
    }

    #[test]
    fn gaps_are_between_the_addresses_in_use() {
        let mut place = PlaceState::default();
        assert_eq!(place.gaps(), (0, 0));
        for (address, size) in [(100, 10), (150, 50), (200, 10), (215, 1)] {
            place.allocate(1, 0, at(address), Some(size));
        }
        assert_eq!(place.gaps(), (45, 40));
        place.remove(0, at(150), Some(50));
        assert_eq!(place.gaps(), (95, 90));
    }
}
