//! Which memory of the device has been written, as far as copies and fills show it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::NotedCall;
use super::area::Area;

/// Allocations that are followed at a time.
const MOST_ALLOCATIONS: usize = 1 << 16;
/// Written parts of an allocation that are followed.
const MOST_PARTS: usize = 1 << 8;

/// Memory of the device from one call.
#[derive(Debug)]
struct Allocation {
    end: u64,
    /// How many tasks that may write any memory had been submitted when it was made.
    doubts: u64,
    /// Something else may have written it.
    is_unknown: bool,
    /// Begins and ends of the parts that were written; they do not touch.
    parts: BTreeMap<u64, u64>,
    /// The last call that wrote a part of it, or the call that wrote the bytes that were copied to it.
    writer: Option<NotedCall>,
}

impl Allocation {
    fn write(&mut self, range: &Range<u64>) {
        let (mut begin, mut end) = (range.start, range.end);
        let near = self.parts.range(..=end).rev();
        let near: Vec<(u64, u64)> = near
            .take_while(|it| *it.1 >= begin)
            .map(|it| (*it.0, *it.1))
            .collect();
        for (first, last) in near {
            self.parts.remove(&first);
            (begin, end) = (begin.min(first), end.max(last));
        }
        self.parts.insert(begin, end);
        self.is_unknown |= self.parts.len() > MOST_PARTS;
    }

    /// The written parts of a range.
    fn within(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let before = self.parts.range(..range.end).rev();
        let parts = before.take_while(|it| *it.1 > range.start);
        let parts = parts.map(|(begin, end)| (*begin).max(range.start)..(*end).min(range.end));
        parts.collect()
    }
}

/// The device memory of a process.
#[derive(Debug, Default)]
pub(super) struct DeviceMemory {
    allocations: BTreeMap<u64, Allocation>,
    doubts: u64,
}

impl DeviceMemory {
    pub(super) fn clear(&mut self) {
        self.allocations.clear();
    }

    pub(super) fn allocate(&mut self, range: &Range<u64>) {
        if self.allocations.len() < MOST_ALLOCATIONS {
            let allocation = Allocation {
                end: range.end,
                doubts: self.doubts,
                is_unknown: false,
                parts: BTreeMap::new(),
                writer: None,
            };
            self.allocations.insert(range.start, allocation);
        }
    }

    pub(super) fn free(&mut self, address: u64) {
        self.allocations.remove(&address);
    }

    /// A task was submitted that may write any memory.
    pub(super) fn doubt_all(&mut self) {
        self.doubts += 1;
    }

    /// The program handed an address to a call that may write there.
    pub(super) fn doubt(&mut self, address: u64) {
        if let Some(found) = self.find(&(address..address + 1)) {
            found.is_unknown = true;
        }
    }

    pub(super) fn write(&mut self, area: &Area, by: NotedCall) {
        if let Some(found) = self.find(&area.whole()) {
            area.ranges().for_each(|it| found.write(&it));
            found.writer = Some(by);
        }
    }

    /// A copy of written bytes writes its target.
    pub(super) fn copy(&mut self, from: &Area, to: &Area, by: NotedCall) {
        let (source, target) = (from.whole(), to.whole());
        let are_plain = from.ranges().count() == 1 && to.ranges().count() == 1;
        let known = self.known(&source).filter(|_| are_plain);
        let Some((parts, writer)) = known.map(|it| (it.within(&source), it.writer)) else {
            return self.write(to, by);
        };
        let is_whole = parts.as_slice() == [source.clone()];
        if let Some(found) = self.find(&target) {
            found.writer = if is_whole {
                Some(by)
            } else {
                writer.or(Some(by))
            };
            for part in parts {
                let moved = |at: u64| at - source.start + target.start;
                found.write(&(moved(part.start)..moved(part.end)));
            }
        }
    }

    /// How many bytes nothing has written, of an area with a part that was written; 0 if that is not known. And the call that
    /// wrote to this memory last.
    pub(super) fn missing(&self, area: &Area) -> (u64, Option<NotedCall>) {
        let Some(known) = self.known(&area.whole()) else {
            return (0, None);
        };
        let bytes = |it: &Range<u64>| it.end - it.start;
        let all: u64 = area.ranges().map(|it| bytes(&it)).sum();
        let parts = area.ranges().flat_map(|it| known.within(&it));
        let written: u64 = parts.map(|it| bytes(&it)).sum();
        let missing = if written == 0 { 0 } else { all - written };
        (missing, known.writer)
    }

    /// The allocation around a range, if all writes of it are known.
    fn known(&self, range: &Range<u64>) -> Option<&Allocation> {
        let (_, found) = self.allocations.range(..=range.start).next_back()?;
        let is_known = found.doubts == self.doubts && !found.is_unknown;
        (is_known && range.end <= found.end).then_some(found)
    }

    fn find(&mut self, range: &Range<u64>) -> Option<&mut Allocation> {
        let (_, found) = self.allocations.range_mut(..=range.start).next_back()?;
        (range.start < found.end).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(begin: u64, bytes: u64) -> Area {
        Area::of(begin, bytes).unwrap()
    }

    fn call(number: u32) -> NotedCall {
        NotedCall {
            number,
            ..NotedCall::default()
        }
    }

    #[test]
    fn parts_that_touch_are_one() {
        let mut written = DeviceMemory::default();
        written.allocate(&(1000..1100));
        for begin in [1000, 1020, 1010, 1040] {
            written.write(&area(begin, 10), call(1));
        }
        assert_eq!(written.missing(&area(1000, 30)).0, 0);
        assert_eq!(written.missing(&area(1000, 50)).0, 10);
        assert_eq!(written.missing(&area(1025, 75)).0, 60);
        // Nothing of it was written, and it lies outside.
        assert_eq!(written.missing(&area(1030, 10)).0, 0);
        assert_eq!(written.missing(&area(1040, 80)).0, 0);
        written.write(&area(1005, 40), call(1));
        assert_eq!(written.missing(&area(1000, 60)).0, 10);
    }

    #[test]
    fn a_copy_takes_what_was_written() {
        let mut written = DeviceMemory::default();
        written.allocate(&(1000..1100));
        written.allocate(&(2000..2100));
        written.write(&area(1000, 50), call(1));
        written.copy(&area(1040, 20), &area(2010, 20), call(2));
        assert_eq!(written.missing(&area(2010, 10)).0, 0);
        assert_eq!(written.missing(&area(2010, 20)).0, 10);
        // The call that wrote too little is not the copy.
        assert_eq!(written.missing(&area(2010, 20)).1, Some(call(1)));
        written.copy(&area(5000, 20), &area(2010, 20), call(2));
        assert_eq!(written.missing(&area(2010, 20)).0, 0);
    }

    #[test]
    fn nothing_is_said_where_other_writes_are_possible() {
        let mut written = DeviceMemory::default();
        let with_two = |written: &mut DeviceMemory| {
            for begin in [1000, 2000] {
                written.allocate(&(begin..begin + 100));
                written.write(&area(begin, 50), call(1));
            }
        };
        let missing =
            |written: &DeviceMemory| [1000, 2000].map(|it| written.missing(&area(it, 100)).0);
        with_two(&mut written);
        written.doubt(1099);
        assert_eq!(missing(&written), [0, 50]);
        written.doubt_all();
        assert_eq!(missing(&written), [0, 0]);
        with_two(&mut written);
        written.free(1000);
        assert_eq!(missing(&written), [0, 50]);
    }
}
