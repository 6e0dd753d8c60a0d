//! The busy share of a lane over time, at one scale.

use ascend_trace_recording::TimeRange;

use super::names::OTHER;
use super::packed::PackedBytes;

/// The time of one column.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    busy: i64,
    /// Slices that begin in it.
    count: u32,
    /// The name that is ahead of all others, and by how much.
    name: u32,
    lead: i64,
}

/// The columns of a lane.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    begin: i64,
    width: i64,
    most: usize,
    columns: Vec<Column>,
}

impl Columns {
    /// Of a range of time that is divided into this many.
    pub(super) fn new(range: TimeRange, most: usize) -> Self {
        let width = range.duration().max(1).unsigned_abs();
        Self {
            begin: range.begin,
            width: width.div_ceil(most as u64).max(1) as i64,
            most,
            columns: Vec::new(),
        }
    }

    fn place(&self, time: i64) -> usize {
        let place = (time - self.begin).max(0) / self.width;
        (place as usize).min(self.most - 1)
    }

    /// Adds a slice that is work, or one that only counts.
    pub(super) fn add(&mut self, time: TimeRange, name: u32, is_work: bool) {
        let first = self.places(time).0;
        self.columns[first].count = self.columns[first].count.saturating_add(1);
        if is_work {
            self.add_work(time, name);
        }
    }

    /// The first and the last column of a time, which exist then.
    fn places(&mut self, time: TimeRange) -> (usize, usize) {
        let (first, last) = (self.place(time.begin), self.place(time.end));
        if self.columns.len() <= last {
            self.columns.resize(last + 1, Column::default());
        }
        (first, last)
    }

    /// Adds time in which the lane worked.
    pub(super) fn add_work(&mut self, time: TimeRange, name: u32) {
        let (first, last) = self.places(time);
        for place in first..=last {
            let begin = self.begin + place as i64 * self.width;
            let inside = time.end.min(begin + self.width) - time.begin.max(begin);
            self.columns[place].take(inside.max(0), name);
        }
    }

    pub(super) fn busy(&self) -> i64 {
        self.columns.iter().map(|it| it.busy).sum()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = u32> {
        let seen = self.columns.iter().filter(|it| it.lead > 0);
        seen.map(|it| it.name)
    }

    pub(super) fn packed(&self, numbers: &[u32]) -> String {
        let mut packed = PackedBytes::default();
        let mut at = 0;
        while at < self.columns.len() {
            let rest = &self.columns[at..];
            let is_empty = |it: &&Column| it.busy == 0 && it.count == 0;
            let skipped = rest.iter().take_while(is_empty).count();
            let run = &rest[skipped..];
            let length = run.iter().take_while(|it| !is_empty(it)).count();
            if length == 0 {
                break;
            }
            packed.put(skipped as i64);
            packed.put(length as i64);
            for column in &run[..length] {
                packed.put(column.share(self.width));
                packed.put(column.count.into());
                let name = if column.lead > 0 { column.name } else { OTHER };
                packed.put(numbers.get(name as usize).copied().unwrap_or(OTHER).into());
            }
            at += skipped + length;
        }
        packed.text()
    }
}

impl Column {
    /// A name with more than half of the time is ahead at the end, in any order.
    fn take(&mut self, time: i64, name: u32) {
        self.busy = self.busy.saturating_add(time);
        match () {
            () if self.name == name => self.lead = self.lead.saturating_add(time),
            () if self.lead >= time => self.lead -= time,
            () => {
                self.lead = time - self.lead;
                self.name = name;
            }
        }
    }

    /// The busy share, of 255. A little is not nothing.
    fn share(&self, width: i64) -> i64 {
        let share = (self.busy.min(width) as f64 / width as f64 * 255.0).round() as i64;
        share.max(i64::from(self.busy > 0))
    }
}
