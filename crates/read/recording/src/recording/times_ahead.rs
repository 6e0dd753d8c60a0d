//! The times of tasks, read where they are when their calls are read: before or after them in the file, however
//! far away.
//!
//! The index says which parts of the file have times of tasks that were launched in which other part. A part is in
//! memory from its first use to its last one. Where that would be more than a few, the part that was not used for
//! longest leaves. It is read again when it is needed. So late times need no more memory.

use std::collections::{BTreeMap, HashMap};

use crate::file::index::{FileSpan, Segment, TimesLink};
use crate::file::{Budget, FileItem, FileParts, ItemSink, OpenError, Table, Warning};
use crate::load::{TraceBuilder, may_be_timed};
use crate::rows::{CallRow, Row, TaskTimeRow};
use crate::trace::{TaskId, Trace};

/// Rows of parts that are in memory together, if they are more than one.
const MOST_ROWS: usize = 24 * 1024 * 1024 / size_of::<TaskTimeRow>();

/// Times of these segments are needed with calls of those.
#[derive(Clone, Copy, Debug)]
struct TimesNeed {
    launches: (u32, u32),
    times: (u32, u32),
}

impl TimesNeed {
    fn and(&self, other: &Self) -> Self {
        let both = |one: (u32, u32), other: (u32, u32)| (one.0.min(other.0), one.1.max(other.1));
        Self {
            launches: both(self.launches, other.launches),
            times: both(self.times, other.times),
        }
    }
}

/// Finds segments by their places in the file.
pub(super) struct Segments {
    /// Begin, end and number, by begin.
    sorted: Vec<(u64, u64, u32)>,
}

impl Segments {
    pub(super) fn new(segments: &[Segment]) -> Self {
        let numbered = segments.iter().zip(0..);
        let mut sorted: Vec<_> = numbered
            .map(|(segment, number)| (segment.offset, segment.end(), number))
            .collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    /// Those that a part of the file has, as numbers from the first to the last.
    pub(super) fn within(&self, place: FileSpan) -> Option<(u32, u32)> {
        let until = self.sorted.partition_point(|it| it.0 <= place.until);
        let from = match place.from == place.until {
            // The calls that are under way can begin together with another segment.
            true => {
                let begin = self.sorted[..until].last()?.0;
                self.sorted.partition_point(|it| it.0 < begin)
            }
            false => self.sorted.partition_point(|it| it.1 <= place.from),
        };
        let numbers = self.sorted.get(from..until)?.iter().map(|it| it.2);
        Some((numbers.clone().min()?, numbers.max()?))
    }
}

/// The times of a segment.
#[derive(Debug)]
struct HeldTimes {
    /// By process, stream and sequence.
    rows: Vec<TaskTimeRow>,
    /// When it was used last.
    used: u32,
}

/// The times of a recording, on the way through it.
#[derive(Debug)]
pub(super) struct TimesAhead {
    /// By the first of the launches.
    needs: Vec<TimesNeed>,
    /// That many of them have been reached.
    reached: usize,
    /// Those of them that later segments may launch tasks of.
    active: Vec<TimesNeed>,
    /// By segment with times: the last one with launches of them.
    last_use: HashMap<u32, u32>,
    /// The same of needs that name several segments with times, all together.
    wide: Option<TimesNeed>,
    /// By segment.
    held: BTreeMap<u32, HeldTimes>,
    rows: usize,
}

impl TimesAhead {
    pub(super) fn new(segments: &[Segment], links: impl Iterator<Item = TimesLink>) -> Self {
        let found = Segments::new(segments);
        let mut needs: Vec<TimesNeed> = links
            .filter_map(|link| {
                Some(TimesNeed {
                    launches: found.within(link.launches)?,
                    times: found.within(link.times)?,
                })
            })
            .collect();
        needs.sort_unstable_by_key(|need| (need.launches, need.times));
        let mut last_use = HashMap::new();
        let mut wide: Option<TimesNeed> = None;
        for need in &needs {
            let (first, last) = need.times;
            if first == last {
                let known = last_use.entry(first).or_insert(0);
                *known = need.launches.1.max(*known);
            } else {
                wide = Some(wide.map_or(*need, |known| known.and(need)));
            }
        }
        Self {
            needs,
            reached: 0,
            active: Vec::new(),
            last_use,
            wide,
            held: BTreeMap::new(),
            rows: 0,
        }
    }

    /// The segments that may have times of tasks of this one, in the order of the file. Calls must be in that order.
    pub(super) fn needed(&mut self, segment: u32) -> Vec<u32> {
        while let Some(need) = self.needs.get(self.reached)
            && need.launches.0 <= segment
        {
            self.active.push(*need);
            self.reached += 1;
        }
        self.active.retain(|need| segment <= need.launches.1);
        let mut times: Vec<_> = self.active.iter().map(|need| need.times).collect();
        times.sort_unstable();
        let mut needed = Vec::new();
        for (first, last) in times {
            let next = needed.last().map_or(0, |last| last + 1);
            needed.extend(first.max(next)..=last);
        }
        needed
    }

    pub(super) fn has(&self, segment: u32) -> bool {
        self.held.contains_key(&segment)
    }

    /// Whether times of a segment are needed with it or after it.
    pub(super) fn wants(&self, segment: u32, now: u32) -> bool {
        let last = self.last_use.get(&segment).copied();
        let wide = self.wide.filter(|wide| {
            let (first, last) = wide.times;
            first <= segment && segment <= last
        });
        last.max(wide.map(|wide| wide.launches.1)) >= Some(now)
    }

    /// Takes the times of a segment in.
    pub(super) fn hold(&mut self, segment: u32, mut rows: Vec<TaskTimeRow>, now: u32) {
        let key = |row: &TaskTimeRow| (row.process, row.stream, row.sequence);
        // Of two for the same task, the first counts.
        if !rows.is_sorted_by_key(key) {
            rows.sort_by_key(key);
        }
        self.rows += rows.len();
        self.held.insert(segment, HeldTimes { rows, used: now });
        while self.rows > MOST_ROWS && self.held.len() > 1 {
            let others = self.held.iter().filter(|(number, _)| **number != segment);
            let oldest = others.min_by_key(|(_, held)| held.used);
            let Some(oldest) = oldest.map(|(number, _)| *number) else {
                break;
            };
            self.give_back(oldest);
        }
    }

    /// Gives tasks the times that a segment has of them. The tasks are in the order of streams and sequences.
    pub(super) fn time(
        &mut self,
        segment: u32,
        tasks: &[LaunchedTask],
        builder: &mut TraceBuilder,
        now: u32,
    ) {
        let Some(held) = self.held.get_mut(&segment) else {
            return;
        };
        held.used = now;
        let mut rows = &held.rows[..];
        for LaunchedTask { key, id } in tasks {
            rows = from_key(rows, *key);
            match rows.first() {
                None => break,
                Some(row) if (row.process, row.stream, row.sequence) == *key => {
                    builder.apply_time(*id, row);
                }
                Some(_) => {}
            }
        }
    }

    /// Forgets what nothing needs after a segment.
    pub(super) fn forget(&mut self, now: u32) {
        let unneeded: Vec<u32> = self
            .held
            .keys()
            .copied()
            .filter(|segment| !self.wants(*segment, now + 1))
            .collect();
        unneeded.into_iter().for_each(|it| self.give_back(it));
    }

    fn give_back(&mut self, segment: u32) {
        if let Some(held) = self.held.remove(&segment) {
            self.rows -= held.rows.len();
        }
    }
}

/// The rows from the first one on that does not come before a key: as a rule one of the next.
fn from_key(rows: &[TaskTimeRow], wanted: (u32, u32, u32)) -> &[TaskTimeRow] {
    let is_before = |row: &TaskTimeRow| (row.process, row.stream, row.sequence) < wanted;
    let mut step = 1;
    let mut from = 0;
    while let Some(row) = rows.get(from + step - 1)
        && is_before(row)
    {
        from += step;
        step *= 2;
    }
    let until = rows.len().min(from + step - 1);
    let place = from + rows[from..until].partition_point(is_before);
    &rows[place..]
}

/// A task that may have a time, and its names in the file: process, stream, sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LaunchedTask {
    key: (u32, u32, u32),
    id: TaskId,
}

impl LaunchedTask {
    /// The tasks from a place on that may have a time.
    pub(super) fn since(trace: &Trace, first: usize) -> Vec<Self> {
        let tasks = trace.tasks().get(first..).unwrap_or_default();
        let tasks = tasks.iter().zip((first as u32..).map(TaskId));
        let mut launched: Vec<Self> = tasks
            .filter(|(task, _)| may_be_timed(trace, task))
            .map(|(task, id)| {
                let stream = trace.stream(task.stream);
                let process = trace.process(stream.process).serial;
                Self {
                    key: (process, stream.serial, task.sequence),
                    id,
                }
            })
            .collect();
        // The tasks of a stream are in order already, and streams are few.
        launched.sort_by_key(|it| (it.key.0, it.key.1));
        if !launched.is_sorted() {
            launched.sort_unstable();
        }
        launched
    }
}

/// Keeps rows of times.
#[derive(Debug, Default)]
pub(super) struct TimeRows(pub(super) Vec<TaskTimeRow>);

impl ItemSink for TimeRows {
    fn take(&mut self, item: FileItem) {
        if let FileItem::Row(Row::TaskTime(row)) = item {
            self.0.push(row);
        }
    }

    fn call(&mut self, _: &mut CallRow) {}
}

/// Reads the times of a segment.
pub(super) fn read(
    parts: &FileParts,
    segment: &Segment,
    length: u64,
) -> Result<(Vec<TaskTimeRow>, Vec<Warning>), OpenError> {
    let mut budget = Budget::segment(length, segment.rows());
    let mut rows = TimeRows::default();
    let bytes = (segment.offset, segment.end());
    let is_time = |kind| kind == TaskTimeRow::KIND;
    let warnings = parts.range(bytes, is_time, &mut budget, &mut rows)?;
    Ok((rows.0, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENTS: u32 = 40;

    fn segments() -> Vec<Segment> {
        let segment = |number: u32| Segment {
            offset: 100 + u64::from(number) * 10,
            length: 10,
            ..Segment::default()
        };
        (0..SEGMENTS).map(segment).collect()
    }

    fn place(first: u32, last: u32) -> FileSpan {
        FileSpan {
            from: 100 + u64::from(first) * 10,
            until: 100 + u64::from(last) * 10,
        }
    }

    fn row(sequence: u32) -> TaskTimeRow {
        TaskTimeRow {
            process: 1,
            stream: 2,
            sequence,
            untimed: 0,
            begin_device_ns: 0,
            end_device_ns: 0,
            seen_ns: 0,
            arming_ns: 0,
            submitting_ns: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        }
    }

    #[test]
    fn times_are_needed_with_their_launches_and_not_after_them() {
        let link = |times, launches| TimesLink { times, launches };
        let links = [
            link(place(9, 9), place(1, 2)),
            link(place(0, 0), place(1, 1)),
            link(place(20, 22), place(2, 5)),
        ];
        let mut ahead = TimesAhead::new(&segments(), links.into_iter());
        let needed: Vec<Vec<u32>> = (0..7).map(|segment| ahead.needed(segment)).collect();
        let rest = vec![20, 21, 22];
        let two = vec![9, 20, 21, 22];
        let expected = [
            vec![],
            vec![0, 9],
            two,
            rest.clone(),
            rest.clone(),
            rest,
            vec![],
        ];
        assert_eq!(needed, expected);
        assert!(ahead.wants(9, 2) && !ahead.wants(9, 3) && ahead.wants(21, 5));
    }

    #[test]
    fn the_memory_of_late_times_has_a_limit() {
        let links = (0..SEGMENTS).map(|number| TimesLink {
            times: place(number, number),
            launches: place(0, SEGMENTS - 1),
        });
        let mut ahead = TimesAhead::new(&segments(), links);
        let rows: Vec<TaskTimeRow> = (0..MOST_ROWS as u32 / 4).map(row).collect();
        for segment in 0..SEGMENTS {
            ahead.hold(segment, rows.clone(), segment);
            assert!(ahead.has(segment) && ahead.rows <= MOST_ROWS);
        }
        ahead.forget(0);
        assert_eq!(ahead.held.len(), 4);
        ahead.forget(SEGMENTS - 1);
        assert_eq!((ahead.held.len(), ahead.rows), (0, 0));
    }

    #[test]
    fn a_row_is_found_from_any_place_before_it() {
        let rows: Vec<TaskTimeRow> = (0..100).map(|number| row(number * 3)).collect();
        for from in 0..100 {
            for wanted in 0..300 {
                let found = from_key(&rows[from..], (1, 2, wanted)).first();
                let next = rows[from..].iter().find(|row| row.sequence >= wanted);
                assert_eq!(found, next);
            }
        }
        assert_eq!(from_key(&rows, (1, 3, 0)), []);
    }
}
