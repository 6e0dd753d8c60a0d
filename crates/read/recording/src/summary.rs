//! Summaries of lanes, to draw more slices than the screen has columns: counts and busy time by interval.

use crate::category::Category;
pub use crate::category::SLOTS;

/// Calls nested deeper than this share the deepest lane.
pub const DEEPEST: u8 = 7;

/// Width in ns below which entries are merged first. It doubles until the entries fit.
const FIRST_WIDTH: i64 = 1024;

/// An interval of a lane: its slices, and their busy time by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneEntry {
    pub begin: i64,
    pub end: i64,
    /// Slices in it. Streams may also have worked in stretches that are no slices.
    pub count: u64,
    /// Nanoseconds by [`Category::slot`]. Their sum may be less than the stretch, never more in a lane
    /// without overlapping slices.
    pub busy: [u64; SLOTS],
}

impl LaneEntry {
    fn of(begin: i64, end: i64, slot: usize) -> Self {
        let mut entry = Self {
            begin,
            end,
            count: 1,
            busy: [0; SLOTS],
        };
        entry.busy[slot % SLOTS] = end.saturating_sub(begin).unsigned_abs();
        entry
    }

    fn absorb(&mut self, other: &Self) {
        self.begin = self.begin.min(other.begin);
        self.end = self.end.max(other.end);
        self.count = self.count.saturating_add(other.count);
        for (sum, more) in self.busy.iter_mut().zip(other.busy) {
            *sum = sum.saturating_add(more);
        }
    }

    fn would_span(&self, other: &Self) -> i64 {
        other.end.max(self.end).saturating_sub(self.begin)
    }

    /// All time in it, over all categories.
    pub fn total_busy(&self) -> u64 {
        self.busy
            .iter()
            .fold(0, |sum: u64, part| sum.saturating_add(*part))
    }
}

/// Summarises a lane from a stream of slices, in a bounded number of entries: when there are too many,
/// neighbours are merged. Idle time takes no entries, so a burst after a pause keeps its detail.
#[derive(Clone, Debug)]
pub(crate) struct LaneBuilder {
    entries: Vec<LaneEntry>,
    /// Slices that together span no more than this share an entry.
    width: i64,
    limit: usize,
    slices: u64,
}

impl LaneBuilder {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            entries: Vec::new(),
            width: FIRST_WIDTH,
            limit: limit.max(2),
            slices: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn slices(&self) -> u64 {
        self.slices
    }

    /// Adds a slice. Slices come nearly in the order of their begins.
    pub(crate) fn add(&mut self, begin: i64, end: i64, slot: usize) {
        let end = end.max(begin);
        self.slices += 1;
        if let Some(last) = self.entries.last_mut()
            && begin >= last.begin
            && end.saturating_sub(last.begin) <= self.width
        {
            last.end = last.end.max(end);
            last.count += 1;
            let busy = &mut last.busy[slot % SLOTS];
            *busy = busy.saturating_add((end - begin).unsigned_abs());
            return;
        }
        self.push(LaneEntry::of(begin, end, slot));
    }

    /// Adds time in which slices worked that are not counted.
    pub(crate) fn add_work(&mut self, begin: i64, end: i64, slot: usize) {
        let entry = LaneEntry {
            count: 0,
            ..LaneEntry::of(begin, end.max(begin), slot)
        };
        self.slices += 1;
        match self.entries.last_mut() {
            Some(last) if begin >= last.begin && last.would_span(&entry) <= self.width => {
                last.absorb(&entry);
            }
            _ => self.push(entry),
        }
    }

    /// Adds an entry of another builder.
    pub(crate) fn add_entry(&mut self, entry: &LaneEntry) {
        self.slices = self.slices.saturating_add(entry.count);
        match self.entries.last_mut() {
            Some(last) if entry.begin >= last.begin && last.would_span(entry) <= self.width => {
                last.absorb(entry);
            }
            _ => self.push(*entry),
        }
    }

    fn push(&mut self, entry: LaneEntry) {
        self.entries.push(entry);
        if self.entries.len() > self.limit {
            self.shrink(self.limit / 2);
        }
    }

    /// Keeps no more entries than this from now on.
    pub(crate) fn limit(&mut self, limit: usize) {
        self.limit = limit.max(2);
        self.shrink(self.limit);
    }

    /// Merges neighbours until there are no more than this many entries.
    pub(crate) fn shrink(&mut self, most: usize) {
        let most = most.max(1);
        if self.entries.len() <= most {
            return;
        }
        self.entries.sort_by_key(|entry| entry.begin);
        while self.entries.len() > most {
            // Past the widest there is, everything is one entry.
            let everything = self.width > i64::MAX / 4;
            self.width = self.width.saturating_mul(2);
            let width = self.width;
            self.entries.dedup_by(|next, entry| {
                let near = everything || entry.would_span(next) <= width;
                if near {
                    entry.absorb(next);
                }
                near
            });
        }
    }

    /// The entries in order of time; none overlaps another.
    pub(crate) fn finish(mut self) -> Vec<LaneEntry> {
        self.entries.sort_by_key(|entry| entry.begin);
        self.entries.dedup_by(|next, entry| {
            let overlaps = next.begin < entry.end;
            if overlaps {
                entry.absorb(next);
            }
            overlaps
        });
        self.entries
    }
}

/// Slices and busy time by category in a range of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotSums {
    pub count: u64,
    pub busy: [u64; SLOTS],
}

impl SlotSums {
    fn add(&mut self, entry: &LaneEntry, part: f64) {
        let share = |value: u64| (value as f64 * part).round() as u64;
        let least = entry.count.min(1);
        self.count = self.count.saturating_add(share(entry.count).max(least));
        for (sum, more) in self.busy.iter_mut().zip(entry.busy) {
            *sum = sum.saturating_add(share(more));
        }
    }

    /// All time, over all categories.
    pub fn all(&self) -> u64 {
        self.busy
            .iter()
            .fold(0, |sum: u64, part| sum.saturating_add(*part))
    }

    /// The slot with the most time.
    pub fn main_slot(&self) -> usize {
        let slots = 0..SLOTS;
        slots.max_by_key(|slot| self.busy[*slot]).unwrap_or(0)
    }
}

/// The summary of one lane, made for questions about ranges: each costs two binary searches.
#[derive(Clone, Debug, Default)]
pub struct LaneSummary {
    entries: Vec<LaneEntry>,
    /// Prefix sums: `before[i]` sums `entries[..i]`.
    before: Vec<SlotSums>,
}

impl LaneSummary {
    pub(crate) fn new(entries: Vec<LaneEntry>) -> Self {
        let mut sums = SlotSums::default();
        let before = entries.iter().map(|entry| {
            let here = sums;
            sums.count = sums.count.saturating_add(entry.count);
            for (sum, more) in sums.busy.iter_mut().zip(entry.busy) {
                *sum = sum.saturating_add(more);
            }
            here
        });
        let before = before.collect();
        Self { entries, before }
    }

    pub fn entries(&self) -> &[LaneEntry] {
        &self.entries
    }

    /// The sums in `[begin, end)`. An entry that crosses an end counts with its part inside.
    pub fn sums(&self, begin: i64, end: i64) -> SlotSums {
        let ends_before = |entry: &LaneEntry| entry.end <= begin && entry.begin < begin;
        let first = self.entries.partition_point(ends_before);
        let last = self.entries.partition_point(|entry| entry.begin < end);
        let mut sums = SlotSums::default();
        if first >= last {
            return sums;
        }
        sums.add(
            &self.entries[first],
            share_inside(&self.entries[first], begin, end),
        );
        if last - first == 1 {
            return sums;
        }
        let (low, high) = (&self.before[first + 1], &self.before[last - 1]);
        sums.count = sums.count.saturating_add(high.count - low.count);
        for (slot, sum) in sums.busy.iter_mut().enumerate() {
            *sum = sum.saturating_add(high.busy[slot] - low.busy[slot]);
        }
        sums.add(
            &self.entries[last - 1],
            share_inside(&self.entries[last - 1], begin, end),
        );
        sums
    }
}

/// The share of an entry in a range.
fn share_inside(entry: &LaneEntry, begin: i64, end: i64) -> f64 {
    let length = entry.end.saturating_sub(entry.begin);
    if length <= 0 {
        return 1.0;
    }
    let part = entry.end.min(end).saturating_sub(entry.begin.max(begin));
    part.max(0) as f64 / length as f64
}

/// The category that fills most of a lane's range.
pub fn main_category(is_stream: bool, sums: &SlotSums) -> Category {
    match is_stream {
        true => Category::of_stream_slot(sums.main_slot()),
        false => Category::of_thread_slot(sums.main_slot()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten thousand slices of 60 ns every 100 ns, then a pause, then as many again.
    fn two_bursts() -> impl Iterator<Item = (i64, i64, usize)> {
        let starts = [0, 1_000_000_000_000].into_iter();
        starts.flat_map(|start| {
            (0..10_000).map(move |i| (start + i * 100, start + i * 100 + 60, (i % 2) as usize))
        })
    }

    fn built(limit: usize) -> LaneBuilder {
        let mut lane = LaneBuilder::new(limit);
        two_bursts().for_each(|(begin, end, slot)| lane.add(begin, end, slot));
        lane
    }

    #[test]
    fn nothing_is_lost_however_few_entries_are_kept() {
        for limit in [2, 7, 100, 100_000] {
            let lane = built(limit);
            assert!(lane.len() <= limit && lane.slices() == 20_000);
            let summary = LaneSummary::new(lane.finish());
            let sums = summary.sums(i64::MIN, i64::MAX);
            assert_eq!((sums.count, sums.all()), (20_000, 1_200_000), "{limit}");
            assert_eq!(sums.busy[0], 600_000);
        }
    }

    #[test]
    fn a_pause_costs_no_detail() {
        let summary = LaneSummary::new(built(200).finish());
        assert!(summary.entries().len() > 60);
        let widest = summary.entries().iter().map(|it| it.end - it.begin).max();
        assert!(widest.unwrap() < 100_000, "{widest:?}");
        // The sums of a part are the part of the sums.
        let part = summary.sums(250_000, 500_000).all() as i64;
        assert!((part - 150_000).abs() < 3_000, "{part}");
        assert_eq!(
            summary.sums(2_000_000, 900_000_000_000),
            SlotSums::default()
        );
    }

    #[test]
    fn late_slices_and_wild_times_keep_the_order() {
        let mut lane = LaneBuilder::new(8);
        for time in [5, i64::MAX, 3, i64::MIN, 70_000, 1 << 40, -9, 1 << 50, 12] {
            lane.add(time, time.saturating_add(10), 1);
        }
        let entries = lane.finish();
        assert!(entries.is_sorted_by_key(|entry| entry.begin));
        assert!(entries.windows(2).all(|two| two[0].end <= two[1].begin));
        assert_eq!(entries.iter().map(|entry| entry.count).sum::<u64>(), 9);
    }

    #[test]
    fn a_slice_without_duration_is_seen() {
        let mut lane = LaneBuilder::new(8);
        lane.add(100, 100, 5);
        let summary = LaneSummary::new(lane.finish());
        assert_eq!(summary.sums(100, 101).count, 1);
        assert_eq!(summary.sums(101, 200).count, 0);
    }

    #[test]
    fn categories_keep_their_place() {
        for category in Category::ALL {
            let slot = category.slot();
            let known = [
                Category::of_stream_slot(slot),
                Category::of_thread_slot(slot),
            ];
            assert!(known.contains(&category), "{category:?}");
        }
    }
}
