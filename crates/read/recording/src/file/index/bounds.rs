//! Bounds of a device's clock from a group's tasks and anchors, without redundant ones.

use std::collections::BTreeMap;

use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::clock::ClockBound;

/// Of the bounds within a slot of device time, the two tightest are kept. Slots have this duration at
/// first, and twice as much whenever they are many: a short recording keeps all bounds, and a long one
/// keeps few.
const FIRST_SLOT: SlotWidth = SlotWidth { bits: 10 };
/// They stay this long, unless there are even more of them.
const LONG_SLOT: SlotWidth = SlotWidth { bits: 23 };
/// Number of slots that counts as many, and the same for slots that are long already.
const MANY_SLOTS: usize = 128;
const MANY_LONG_SLOTS: usize = 8192;
/// Distance of the two anchors that give a drift.
const APART_NS: i64 = 10_000_000;
/// No drift is taken from comparisons that leave more of it open than this: it would choose the wrong bounds.
const MOST_OPEN: f64 = 20e-6;

/// Duration of slots: this number of bits of a device time is inside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SlotWidth {
    bits: u32,
}

impl SlotWidth {
    /// The number of a time's slot.
    fn of(self, device: DeviceNs) -> i64 {
        device.ns() >> self.bits
    }

    /// The part of the slot before a time.
    fn passed(self, device: DeviceNs) -> i64 {
        device.ns() & ((1 << self.bits) - 1)
    }

    /// More of them than this are too many.
    fn many(self) -> usize {
        if self.bits < LONG_SLOT.bits {
            MANY_SLOTS
        } else {
            MANY_LONG_SLOTS
        }
    }

    fn twice(self) -> Self {
        Self {
            bits: self.bits + 1,
        }
    }
}

/// The tightest bounds of a slot: the best lower and the best upper one.
#[derive(Clone, Copy, Debug)]
struct SlotBounds {
    low: ClockBound,
    /// Host minus device time, less what drift makes of it within the slot.
    low_offset: f64,
    high: ClockBound,
    high_offset: f64,
}

impl SlotBounds {
    /// Of a lower and an upper bound in the same slot.
    fn of(low: ClockBound, high: ClockBound, slot: SlotWidth, rate: f64) -> Self {
        let offset = |host: HostNs, device: DeviceNs| {
            host.offset_from(device) as f64 - rate * slot.passed(device) as f64
        };
        Self {
            low,
            low_offset: offset(low.earliest, low.device),
            high,
            high_offset: offset(high.latest, high.device),
        }
    }

    fn take(&mut self, other: &Self) {
        if other.low_offset > self.low_offset {
            (self.low, self.low_offset) = (other.low, other.low_offset);
        }
        if other.high_offset < self.high_offset {
            (self.high, self.high_offset) = (other.high, other.high_offset);
        }
    }
}

/// Bounds on one device's clock.
#[derive(Clone, Debug)]
pub(crate) struct DeviceBounds {
    slot: SlotWidth,
    slots: BTreeMap<i64, SlotBounds>,
    /// The slot that the last bound went to: the next one mostly does too.
    current: Option<(i64, SlotBounds)>,
    /// The first anchor: device time, offset, and its error. A later one with it gives the drift.
    first: Option<(DeviceNs, f64, f64)>,
    /// Nanoseconds by which host minus device time changes per nanosecond.
    rate: f64,
}

impl Default for DeviceBounds {
    fn default() -> Self {
        Self {
            slot: FIRST_SLOT,
            slots: BTreeMap::new(),
            current: None,
            first: None,
            rate: 0.0,
        }
    }
}

impl DeviceBounds {
    pub(super) fn add_anchor(&mut self, bound: &ClockBound) {
        let middle = HostNs::new(bound.earliest.ns() / 2 + bound.latest.ns() / 2);
        let offset = middle.offset_from(bound.device);
        let half = bound.latest.since(bound.earliest).max(0) as f64 / 2.0;
        let here = (bound.device, offset as f64, half);
        // One that is narrower serves better.
        let first = *self.first.get_or_insert(here);
        if half < first.2 / 2.0 {
            self.first = Some(here);
        }
        let passed = here.0.since(first.0);
        if passed > APART_NS && (half + first.2) / passed as f64 <= MOST_OPEN {
            self.rate = ((here.1 - first.1) / passed as f64).clamp(-200e-6, 200e-6);
        }
        self.add(bound);
    }

    pub(super) fn add(&mut self, bound: &ClockBound) {
        if bound.earliest > bound.latest {
            return;
        }
        let slot = self.slot.of(bound.device);
        if self.current.is_some_and(|(at, _)| at != slot) {
            // Slots may be longer after that.
            self.put_away();
        }
        let best = SlotBounds::of(*bound, *bound, self.slot, self.rate);
        match &mut self.current {
            Some((_, known)) => known.take(&best),
            None => self.current = Some((self.slot.of(bound.device), best)),
        }
    }

    fn put_away(&mut self) {
        let Some((slot, best)) = self.current.take() else {
            return;
        };
        if let Some(known) = self.slots.get_mut(&slot) {
            known.take(&best);
        } else {
            self.slots.insert(slot, best);
        }
        while self.slots.len() > self.slot.many() {
            self.lengthen();
        }
    }

    /// Makes slots twice as long, also for later bounds.
    fn lengthen(&mut self) {
        let slot = self.slot.twice();
        let mut slots: BTreeMap<i64, SlotBounds> = BTreeMap::new();
        for (place, best) in std::mem::take(&mut self.slots) {
            let best = SlotBounds::of(best.low, best.high, slot, self.rate);
            let known = slots.entry(place >> 1).or_insert(best);
            known.take(&best);
        }
        (self.slot, self.slots) = (slot, slots);
    }

    /// The bounds that are worth keeping, in the order of their device times. The known drift stays.
    pub(super) fn take(&mut self) -> Vec<ClockBound> {
        self.put_away();
        let slots = std::mem::take(&mut self.slots);
        let mut bounds: Vec<ClockBound> = slots
            .into_values()
            .flat_map(|best| [best.low, best.high])
            .collect();
        bounds.sort_by_key(|bound| bound.device);
        bounds.dedup();
        bounds
    }
}

/// Clocks of devices, as processes see them.
const MOST_CLOCKS: usize = 4096;

/// Bounds by process and device.
pub(super) type BoundsByDevice = BTreeMap<(u32, u32), DeviceBounds>;

/// The bounds of a clock; `None` where there are too many clocks.
pub(super) fn bounds_of(clocks: &mut BoundsByDevice, key: (u32, u32)) -> Option<&mut DeviceBounds> {
    if clocks.len() >= MOST_CLOCKS && !clocks.contains_key(&key) {
        return None;
    }
    Some(clocks.entry(key).or_default())
}

/// The bounds worth keeping of each clock that has some.
pub(super) fn known(clocks: &BoundsByDevice) -> BTreeMap<(u32, u32), Vec<ClockBound>> {
    let taken = clocks
        .iter()
        .map(|(key, clock)| (*key, clock.clone().take()));
    taken.filter(|(_, bounds)| !bounds.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(device: i64, before: i64, after: i64) -> ClockBound {
        ClockBound {
            device: DeviceNs::new(device),
            earliest: HostNs::new(device - before),
            latest: HostNs::new(device + after),
        }
    }

    #[test]
    fn the_tightest_bounds_of_each_slot_stay() {
        let mut bounds = DeviceBounds {
            slot: LONG_SLOT,
            ..DeviceBounds::default()
        };
        let wide = (0..100).map(|i| bound(i * 1_000, 5_000, 5_000));
        let tight = [bound(31_500, 10, 4_000), bound(41_500, 4_000, 20)];
        let later = bound((1 << LONG_SLOT.bits) + 1, 7, 7);
        wide.chain(tight).for_each(|it| bounds.add(&it));
        bounds.add_anchor(&later);
        assert_eq!(bounds.take(), [tight[0], tight[1], later]);
        assert_eq!(bounds.take(), []);
    }

    #[test]
    fn few_bounds_all_stay_and_of_many_the_tightest() {
        let all = |count: i64, every: i64| -> Vec<ClockBound> {
            // One in fifty is tight.
            let width = |i: i64| if i % 50 == 7 { 10 } else { 5_000 };
            (0..count)
                .map(|i| bound(i * every, width(i), width(i)))
                .collect()
        };
        let kept = |all: &[ClockBound]| {
            let mut bounds = DeviceBounds::default();
            all.iter().for_each(|it| bounds.add(it));
            bounds.take()
        };
        let few = all(MANY_SLOTS as i64, 50_000);
        assert_eq!(kept(&few), few);
        let many = all(10_000, 50_000);
        let kept = kept(&many);
        assert!(kept.len() <= 2 * MANY_SLOTS + 2, "{}", kept.len());
        let is_tight = |it: &ClockBound| it.latest.since(it.earliest) == 20;
        // Slots of 4 ms have 84 bounds, so each but the last has a tight one.
        let wide = kept.iter().filter(|it| !is_tight(it)).count();
        assert!(wide <= 2, "{wide} of {}", kept.len());
    }

    #[test]
    fn the_end_of_a_long_time_with_little_in_it_is_known_as_well_as_its_begin() {
        let mut bounds = DeviceBounds::default();
        let every = 20_000_000;
        (0..100_000).for_each(|i| bounds.add(&bound(i * every, 10, 10)));
        let kept = bounds.take();
        let apart = kept.windows(2).map(|it| it[1].device.since(it[0].device));
        assert!(kept.len() > MANY_LONG_SLOTS / 2, "{}", kept.len());
        assert!(apart.max() < Some(1_000_000_000), "{}", kept.len());
        let last = kept.last().map(|it| it.device.ns());
        assert!(last > Some(99_900 * every), "{last:?}");
    }

    #[test]
    fn wild_times_take_no_room() {
        let mut bounds = DeviceBounds::default();
        for i in 0..100_000_i64 {
            let device = i.wrapping_mul(0x1234_5678_9abc_def1);
            bounds.add(&ClockBound {
                device: DeviceNs::new(device),
                earliest: HostNs::new(0),
                latest: HostNs::new(5),
            });
        }
        assert!(bounds.take().len() <= 2 * MANY_LONG_SLOTS);
    }
}
