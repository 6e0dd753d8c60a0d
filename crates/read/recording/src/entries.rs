//! Entries of the hardware's log: what ran inside of tasks.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::record::ActivityKind;
use ascend_trace_format::time::DeviceNs;

use crate::TimeRange;
use crate::entities::{ProcessId, Stream, StreamId, Task, TaskId, TaskTime};
use crate::rows::ActivityRow;
use crate::trace::Trace;

/// Number of a process in the file, and serial of a stream.
type StreamKey = (u32, u32);

/// An entry with its number in the recording.
#[derive(Clone, Copy, Debug)]
struct NumberedEntry {
    number: u64,
    row: ActivityRow,
}

/// Entries that are in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogEntries {
    /// Those of tasks, by sequence and begin.
    lanes: BTreeMap<StreamKey, Vec<NumberedEntry>>,
    /// Those of no task that is known.
    loose: Vec<NumberedEntry>,
    next: u64,
    /// Streams with tasks of several parts.
    divided: BTreeSet<StreamKey>,
    /// Where entries were dropped: the highest sequence of any earlier task.
    past: BTreeMap<StreamKey, u32>,
}

/// Something that ran inside of a task: a kernel of its operator, or a node of the graph that it replays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPart<'t> {
    /// As the log calls it; copies and fills have no name there.
    pub name: Option<&'t str>,
    pub kind: Option<ActivityKind>,
    /// The stream of the device that it ran on.
    pub acl_id: u32,
    /// The node's number in its graph; 0 where that is not certain.
    pub node: Option<u32>,
    /// On the host's clock, within the task where that has a time.
    pub begin: i64,
    pub end: i64,
}

fn key(entry: &NumberedEntry) -> (Option<u32>, i64, Option<u32>, u32) {
    let row = &entry.row;
    (row.sequence, row.begin_ns, row.node, row.part)
}

impl LogEntries {
    pub(crate) fn push(&mut self, row: ActivityRow) {
        let entry = NumberedEntry {
            number: self.next,
            row,
        };
        self.next = self.next.saturating_add(1);
        let Some(stream) = row.stream.filter(|_| row.sequence.is_some()) else {
            self.loose.push(entry);
            return;
        };
        if row.part > 0 || row.node.is_some() {
            self.divided.insert((row.process, stream));
        }
        let lane = self.lanes.entry((row.process, stream)).or_default();
        // They come in this order but for nodes of several streams.
        let place = match lane.last().is_none_or(|last| key(last) <= key(&entry)) {
            true => lane.len(),
            false => lane.partition_point(|other| key(other) <= key(&entry)),
        };
        lane.insert(place, entry);
    }

    /// Those of a task, by their begin.
    fn of(&self, lane: StreamKey, sequence: u32) -> &[NumberedEntry] {
        let all = self.lanes.get(&lane).map_or(&[][..], Vec::as_slice);
        let begin = all.partition_point(|entry| entry.row.sequence < Some(sequence));
        let end = all.partition_point(|entry| entry.row.sequence <= Some(sequence));
        all.get(begin..end).unwrap_or_default()
    }

    fn all(&self) -> impl Iterator<Item = &NumberedEntry> {
        self.lanes.values().flatten().chain(&self.loose)
    }

    pub(crate) fn memory(&self) -> u64 {
        let lanes: usize = self.lanes.values().map(Vec::len).sum();
        ((lanes + self.loose.len()) * 2 * size_of::<NumberedEntry>()) as u64
    }

    /// Drops entries without a task among these, except those with a task that is still expected.
    /// `last` is the highest sequence of each stream.
    fn retain(&mut self, last: &BTreeMap<StreamKey, u32>, has: impl Fn(StreamKey, u32) -> bool) {
        self.loose.clear();
        for (lane, last) in last {
            let past = self.past.entry(*lane).or_default();
            *past = (*past).max(*last);
        }
        let past = &self.past;
        for (lane, entries) in &mut self.lanes {
            let past = past.get(lane).copied();
            entries.retain(|entry| {
                let sequence = entry.row.sequence.unwrap_or(0);
                past.is_none_or(|past| sequence > past) || has(*lane, sequence)
            });
        }
    }
}

impl Trace {
    fn key_of(&self, stream: &Stream) -> StreamKey {
        (self.process(stream.process).serial, stream.serial)
    }

    /// Entries of the hardware's log that are in memory, with their numbers in the recording from a number on, in that
    /// order.
    pub fn entries(&self, from: u64) -> Vec<(u64, &ActivityRow)> {
        let all = self.entries.all().filter(|entry| entry.number >= from);
        let mut all: Vec<_> = all.map(|entry| (entry.number, &entry.row)).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        all
    }

    /// From the first begin to the last end of a task's entries, on the log's clock.
    pub fn logged_span(&self, task: TaskId) -> Option<TimeRange> {
        span(self.entries_of(self.task(task)))
    }

    fn entries_of(&self, task: &Task) -> &[NumberedEntry] {
        let lane = self.key_of(self.stream(task.stream));
        self.entries.of(lane, task.sequence)
    }

    /// What ran inside of a task, by the hardware's log, in the order of begins. Nothing where the log has the task as one
    /// piece, or was not read.
    pub fn parts(&self, task: TaskId) -> Vec<TaskPart<'_>> {
        let task = self.task(task);
        let entries = match self.runs(task) {
            true => self.entries_of(task),
            false => &[],
        };
        let is_divided = entries.len() > 1 || entries.iter().any(|it| it.row.node.is_some());
        let Some(logged) = span(entries).filter(|_| is_divided) else {
            return Vec::new();
        };
        let stream = self.stream(task.stream);
        let to_host = |ns: i64| self.placed(stream, task.time, logged, ns);
        let timed = entries.iter().filter(|entry| entry.row.begin_ns != 0);
        let parts = timed.filter_map(|entry| {
            let row = &entry.row;
            Some(TaskPart {
                name: self.entry_name(stream.process, row),
                kind: ActivityKind::from_code(row.kind),
                acl_id: row.acl_id,
                node: row.node,
                begin: to_host(row.begin_ns)?,
                end: to_host(row.end_ns)?,
            })
        });
        parts.collect()
    }

    /// Whether tasks of a stream are known to have several parts.
    pub fn has_parts(&self, stream: StreamId) -> bool {
        let divided = &self.entries.divided;
        !divided.is_empty() && divided.contains(&self.key_of(self.stream(stream)))
    }

    /// The log's name of an entry.
    pub fn entry_name(&self, process: ProcessId, row: &ActivityRow) -> Option<&str> {
        let key = Some(row.name).filter(|key| *key != 0)?;
        self.name_of(process, key, i64::MAX)
    }

    /// A time of the log inside of a task, on the host's clock. The task's time stays: if it is the
    /// log's as well, parts keep their place in it; if it comes from events, they are in its middle.
    fn placed(
        &self,
        stream: &Stream,
        time: Option<TaskTime>,
        TimeRange {
            begin: first,
            end: last,
        }: TimeRange,
        ns: i64,
    ) -> Option<i64> {
        let on_host = |ns| {
            let found = self.log_on_host(stream.process, stream.device, DeviceNs::new(ns))?;
            Some(found.at.ns())
        };
        let Some(time) = time else {
            return on_host(ns);
        };
        let host = match (on_host(first), on_host(ns)) {
            (Some(first), Some(host)) => time.begin + (host - first),
            _ => {
                let length = time.end.saturating_sub(time.begin);
                let around = length.saturating_sub(last.saturating_sub(first)) / 2;
                time.begin + around + ns.saturating_sub(first)
            }
        };
        Some(host.clamp(time.begin, time.end.max(time.begin)))
    }

    /// Forgets entries of tasks that are not there any more.
    pub(crate) fn retain_entries(&mut self, last: &BTreeMap<StreamKey, u32>) {
        let mut entries = std::mem::take(&mut self.entries);
        let streams = self.streams.iter().zip(&self.stream_tasks);
        let tasks: BTreeMap<StreamKey, &Vec<TaskId>> = streams
            .map(|(stream, tasks)| (self.key_of(stream), tasks))
            .collect();
        entries.retain(last, |lane, sequence| {
            let of = |id: &TaskId| self.task(*id).sequence;
            let tasks = tasks.get(&lane).map_or(&[][..], |tasks| tasks.as_slice());
            let place = tasks.partition_point(|id| of(id) < sequence);
            tasks.get(place).is_some_and(|id| of(id) == sequence)
        });
        self.entries = entries;
    }

    /// The highest sequence among the tasks of each stream.
    pub(crate) fn last_tasks(&self) -> BTreeMap<StreamKey, u32> {
        let lanes = self.streams.iter().zip(&self.stream_tasks);
        let last = lanes.filter_map(|(stream, tasks)| {
            let last = tasks.iter().map(|id| self.task(*id).sequence).max()?;
            Some((self.key_of(stream), last))
        });
        last.collect()
    }
}

/// From the first begin to the last end of those that have times.
fn span(entries: &[NumberedEntry]) -> Option<TimeRange> {
    let timed = entries.iter().filter(|entry| entry.row.begin_ns != 0);
    let spans = timed.map(|entry| TimeRange::new(entry.row.begin_ns, entry.row.end_ns));
    spans.reduce(TimeRange::hull)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sequence: Option<u32>, begin_ns: i64) -> ActivityRow {
        ActivityRow {
            process: 1,
            stream: sequence.map(|_| 3),
            sequence,
            begin_ns,
            end_ns: begin_ns + 5,
            ..ActivityRow::default()
        }
    }

    fn begins(entries: &[NumberedEntry]) -> Vec<i64> {
        entries.iter().map(|entry| entry.row.begin_ns).collect()
    }

    #[test]
    fn entries_are_found_by_their_task_in_any_order_of_coming() {
        let mut entries = LogEntries::default();
        for (sequence, begin) in [(Some(1), 10), (Some(2), 30), (Some(1), 5), (None, 7)] {
            entries.push(entry(sequence, begin));
        }
        assert_eq!(begins(entries.of((1, 3), 1)), [5, 10]);
        assert_eq!(begins(entries.of((1, 3), 2)), [30]);
        assert!(entries.of((1, 3), 3).is_empty() && entries.of((2, 3), 1).is_empty());
        let mut numbers: Vec<u64> = entries.all().map(|entry| entry.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3]);
    }

    #[test]
    fn entries_leave_with_their_tasks_and_wait_for_those_to_come() {
        let mut entries = LogEntries::default();
        for sequence in [Some(1), Some(2), None, Some(9)] {
            entries.push(entry(sequence, 10));
        }
        let last = BTreeMap::from([((1, 3), 5)]);
        entries.retain(&last, |_, sequence| sequence == 2);
        let left: Vec<_> = entries.all().map(|entry| entry.row.sequence).collect();
        assert_eq!(left, [Some(2), Some(9)]);
        entries.retain(&BTreeMap::from([((1, 3), 9)]), |_, _| false);
        assert_eq!(entries.all().count(), 0);
    }
}
