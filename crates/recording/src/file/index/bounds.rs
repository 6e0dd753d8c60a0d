//! What a group's tasks and anchors tell about a device's clock, less what others tell better.

use std::collections::BTreeMap;

use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::clock::Bound;

/// Of the bounds within this much device time, the two that tell most are kept.
const SLOT_NS: i64 = 10_000_000;
/// No drift is taken from comparisons that leave more of it open than this: it would choose the wrong bounds.
const MOST_OPEN: f64 = 20e-6;
/// Slots of one device in a group. More come from times that are no times.
const MOST_SLOTS: usize = 8192;

/// The tightest bounds of a slot: the best lower and the best upper one.
#[derive(Clone, Copy, Debug)]
struct Best {
    low: Bound,
    /// Host minus device time, less what drift makes of it within the slot.
    low_offset: f64,
    high: Bound,
    high_offset: f64,
}

impl Best {
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
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceBounds {
    slots: BTreeMap<i64, Best>,
    /// The slot that the last bound went to: the next one mostly does too.
    current: Option<(i64, Best)>,
    /// The first anchor: device time, offset, and how far that may be off. With a later one it tells the drift.
    first: Option<(DeviceNs, f64, f64)>,
    /// Nanoseconds by which host minus device time changes per nanosecond.
    rate: f64,
}

impl DeviceBounds {
    pub(super) fn add_anchor(&mut self, bound: &Bound) {
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
        if passed > SLOT_NS && (half + first.2) / passed as f64 <= MOST_OPEN {
            self.rate = ((here.1 - first.1) / passed as f64).clamp(-200e-6, 200e-6);
        }
        self.add(bound);
    }

    pub(super) fn add(&mut self, bound: &Bound) {
        if bound.earliest > bound.latest {
            return;
        }
        let slot = bound.device.ns().div_euclid(SLOT_NS);
        let drifted = self.rate * bound.device.ns().rem_euclid(SLOT_NS) as f64;
        let offset = |host: HostNs| host.offset_from(bound.device) as f64 - drifted;
        let best = Best {
            low: *bound,
            low_offset: offset(bound.earliest),
            high: *bound,
            high_offset: offset(bound.latest),
        };
        match &mut self.current {
            Some((at, known)) if *at == slot => known.take(&best),
            _ => {
                self.put_away();
                self.current = Some((slot, best));
            }
        }
    }

    fn put_away(&mut self) {
        let Some((slot, best)) = self.current.take() else {
            return;
        };
        if let Some(known) = self.slots.get_mut(&slot) {
            known.take(&best);
        } else if self.slots.len() < MOST_SLOTS {
            self.slots.insert(slot, best);
        }
    }

    /// The bounds that are worth keeping, in the order of their device times. What is known of the
    /// drift stays.
    pub(super) fn take(&mut self) -> Vec<Bound> {
        self.put_away();
        let slots = std::mem::take(&mut self.slots);
        let mut bounds: Vec<Bound> = slots
            .into_values()
            .flat_map(|best| [best.low, best.high])
            .collect();
        bounds.sort_by_key(|bound| bound.device);
        bounds.dedup();
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_bounds_of_each_slot_stay() {
        let mut bounds = DeviceBounds::default();
        let bound = |device: i64, before: i64, after: i64| Bound {
            device: DeviceNs::new(device),
            earliest: HostNs::new(device + 1_000 - before),
            latest: HostNs::new(device + 1_000 + after),
        };
        let wide = (0..100).map(|i| bound(i * 1_000, 5_000, 5_000));
        let tight = [bound(31_500, 10, 4_000), bound(41_500, 4_000, 20)];
        let later = bound(SLOT_NS + 1, 7, 7);
        wide.chain(tight).for_each(|it| bounds.add(&it));
        bounds.add_anchor(&later);
        assert_eq!(bounds.take(), [tight[0], tight[1], later]);
        assert_eq!(bounds.take(), []);
    }

    #[test]
    fn wild_times_take_no_room() {
        let mut bounds = DeviceBounds::default();
        for i in 0..100_000_i64 {
            let device = i.wrapping_mul(0x1234_5678_9abc_def1);
            bounds.add(&Bound {
                device: DeviceNs::new(device),
                earliest: HostNs::new(0),
                latest: HostNs::new(5),
            });
        }
        assert!(bounds.take().len() <= 2 * MOST_SLOTS);
    }
}
