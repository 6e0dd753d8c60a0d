//! Where tasks without a time ran, as far as the recording shows it.
//!
//! Tasks without a time that follow each other on a stream form a row ([`RowRoom`]). It ran between the task with a time before it and
//! the one after it, or until the end of a call that waited for it. It took the usual time of its operations there, or all
//! of the time if a call blocked for it and the usual time is not known. Where the operation took about the same time in many tasks,
//! the error is their spread. Else it is half of the usual time, or the rest of the possible time.

use ascend_trace_recording::{Direction, TimeRange};
use rustc_hash::FxHashMap;

use super::compact_recording::{Facts, TaskSums};
use super::links::{LaneCode, LanePosition, Link, LinkKind, of_lane, take_at};
use super::records::{Task, TaskReader, TaskShape};
use super::wait_index::WaitTimes;
use crate::TaskRole;
use crate::estimate::{RowRoom, RowTask, scaled};

/// Tasks that get a place. Where more have no time, errors are not known.
const MOST: usize = 1 << 20;

/// Each round places tasks after the records that have a place since the round before.
const ROUNDS: usize = 3;

/// The spread of fewer tasks says little of others.
const MANY: u64 = 8;

/// A task is no further from the mean of its operation than this number of standard deviations.
const DEVIATIONS: f64 = 3.0;

/// A task without a time, where it probably ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedTask {
    pub(super) place: LanePosition,
    begin: i64,
    end: i64,
}

/// The tasks of a stream, each where it ran.
#[derive(Clone, Debug)]
pub(super) struct StreamTasks<'f> {
    reader: TaskReader<'f>,
    placed: &'f [PlacedTask],
    ordinal: u32,
}

impl Facts {
    /// The tasks of a stream, each where it ran.
    pub(super) fn tasks(&self, stream: usize) -> StreamTasks<'_> {
        StreamTasks {
            reader: self.streams[stream].tasks.iter(),
            placed: of_lane(&self.placed, LaneCode::stream(stream), |it| it.place),
            ordinal: 0,
        }
    }
}

impl Iterator for StreamTasks<'_> {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        let mut task = self.reader.next()?;
        if let Some((first, rest)) = self.placed.split_first()
            && first.place.ordinal() == self.ordinal
        {
            let submitted = task.call_begin();
            (task.begin, task.end) = (first.begin, first.end);
            task.since = task.begin.wrapping_sub(submitted);
            self.placed = rest;
        }
        self.ordinal += 1;
        Some(task)
    }
}

/// A call that waited for a task: the task, and the call's begin and end.
type Target = (LanePosition, i64, i64);

/// A task that waited, and the time of its record.
type Release = (LanePosition, i64);

/// A task of a row.
#[derive(Clone, Copy, Debug)]
struct UntimedTask {
    place: LanePosition,
    shape: u32,
    submitted: i64,
    /// Its usual duration; `None` if no task of its operation has a time.
    usual: Option<UsualDuration>,
    is_work: bool,
    /// When the wait of the task was over, if it is one and that is known.
    released: Option<i64>,
}

/// The duration of the tasks of an operation with times: the mean, and how far one task may be from it.
#[derive(Clone, Copy, Debug)]
struct UsualDuration {
    mean: i64,
    off: i64,
}

/// The end of a row.
#[derive(Clone, Copy, Debug)]
enum Bound {
    /// The begin of the next task with a time.
    Before(i64),
    /// A call that waited for it, from its begin to its end.
    Call(i64, i64),
    None,
}

/// Places the tasks of a recording that have no time. `calls` are those that waited.
pub(super) fn place(facts: &mut Facts, links: &mut [Link], calls: &[WaitTimes]) {
    if facts.untimed == 0 {
        return;
    }
    let mut targets: Vec<Target> = links
        .iter()
        .filter(|it| it.way == LinkKind::Sync)
        .filter_map(|it| {
            let call = calls.binary_search_by_key(&it.to.place(), |it| it.place);
            let call = calls[call.ok()?];
            Some((it.from.place(), call.begin, call.end))
        })
        .collect();
    targets.sort_unstable();
    let usual = UsualDurations::of(facts);
    // Waits for records without a time are known only when these have a place.
    for _ in 1..ROUNDS {
        let (rows, _) = rows(facts, &usual, (&targets, &releases(links)));
        facts.placed = rows.placed;
        resolve(facts, links);
    }
    let (found, worked) = rows(facts, &usual, (&targets, &releases(links)));
    for (stream, worked) in facts.streams.iter_mut().zip(worked) {
        stream.worked += worked;
    }
    let Rows {
        placed,
        shares,
        slack,
        ..
    } = found;
    for (shape, (lasted, error)) in shares {
        if let Some(sums) = facts.task_sums.get_mut(shape as usize) {
            sums.lasted += lasted;
            sums.error += error as f64;
            sums.common += error as f64;
        }
    }
    let has_times = facts
        .task_shapes
        .iter()
        .any(|it| it.is_timed && it.class == TaskRole::Work);
    facts.is_open = !has_times || placed.len() >= MOST;
    facts.slack += slack;
    facts.placed = placed;
    resolve(facts, links);
}

/// The rows of all streams, and how long each stream worked in them.
fn rows(
    facts: &Facts,
    usual: &UsualDurations,
    (targets, releases): (&[Target], &[Release]),
) -> (Rows, Vec<i64>) {
    let mut rows = Rows::default();
    let streams = 0..facts.streams.len();
    let worked = streams.map(|it| rows.of_stream(facts, usual, (targets, releases), it));
    let worked = worked.collect();
    (rows, worked)
}

/// When waits of streams were over, by their tasks.
fn releases(links: &[Link]) -> Vec<Release> {
    let waits = links.iter().filter(|it| it.way == LinkKind::Wait);
    let mut releases: Vec<Release> = waits.map(|it| (it.to.place(), it.at)).collect();
    releases.sort_unstable();
    releases
}

/// Takes the times of tasks that have a place now into the links that begin at them.
fn resolve(facts: &Facts, links: &mut [Link]) {
    for link in links {
        let place = link.from.place();
        let known = facts.placed.binary_search_by_key(&place, |it| it.place);
        if let Ok(known) = known {
            let task = facts.placed[known];
            link.at = if link.from.is_end() {
                task.end
            } else {
                task.begin
            };
        }
    }
}

/// The usual durations of tasks with times: of those that are alike, and of each operation.
#[derive(Debug, Default)]
struct UsualDurations {
    alike: FxHashMap<(u32, Option<Direction>, u32), UsualDuration>,
    operations: FxHashMap<u32, UsualDuration>,
}

impl UsualDurations {
    fn of(facts: &Facts) -> Self {
        let mut alike: FxHashMap<_, TaskSums> = FxHashMap::default();
        let mut operations: FxHashMap<u32, TaskSums> = FxHashMap::default();
        for (shape, own) in facts.task_shapes.iter().zip(&facts.task_sums) {
            if shape.is_timed && shape.class == TaskRole::Work {
                let key = (shape.operation, shape.direction, shape.bits);
                alike.entry(key).or_default().join(own);
                operations.entry(shape.operation).or_default().join(own);
            }
        }
        let alike = alike.into_iter();
        let operations = operations.into_iter();
        Self {
            alike: alike.map(|it| (it.0, UsualDuration::of(&it.1))).collect(),
            operations: operations
                .map(|it| (it.0, UsualDuration::of(&it.1)))
                .collect(),
        }
    }

    fn get(&self, shape: &TaskShape) -> Option<UsualDuration> {
        let key = (shape.operation, shape.direction, shape.bits);
        let known = self.alike.get(&key);
        known
            .or_else(|| self.operations.get(&shape.operation))
            .copied()
    }
}

impl UsualDuration {
    fn of(sums: &TaskSums) -> Self {
        let count = sums.count.max(1) as f64;
        let mean = sums.lasted as f64 / count;
        let deviation = (sums.lasted_squares / count - mean * mean).max(0.0).sqrt();
        let half = mean / 2.0;
        let off = match sums.count {
            MANY.. => half.min(DEVIATIONS * deviation),
            _ => half,
        };
        Self {
            mean: mean as i64,
            off: off.ceil() as i64,
        }
    }
}

#[derive(Debug, Default)]
struct Rows {
    row: Vec<UntimedTask>,
    /// The end of the task before the row.
    reached: i64,
    placed: Vec<PlacedTask>,
    /// By the shape of tasks: their time, and its error.
    shares: FxHashMap<u32, (i64, i64)>,
    slack: i64,
}

impl Rows {
    fn of_stream(
        &mut self,
        facts: &Facts,
        usual: &UsualDurations,
        (targets, releases): (&[Target], &[Release]),
        stream: usize,
    ) -> i64 {
        let lane = LaneCode::stream(stream);
        let mut targets = of_lane(targets, lane, |it| it.0);
        let mut releases = of_lane(releases, lane, |it| it.0);
        let mut worked = 0;
        self.reached = i64::MIN;
        for (task, ordinal) in facts.streams[stream].tasks.iter().zip(0..) {
            let place = LanePosition::new(lane, ordinal);
            let shape = &facts.task_shapes[task.shape as usize];
            let released = take_at(&mut releases, place, |it| it.0);
            if shape.is_timed {
                worked += self.close(Bound::Before(task.begin));
                self.reached = task.end;
            } else {
                self.row.push(UntimedTask {
                    place,
                    shape: task.shape,
                    submitted: task.call_begin(),
                    usual: usual.get(shape),
                    is_work: shape.class == TaskRole::Work,
                    released: released.iter().map(|it| it.1).max(),
                });
            }
            let waited = take_at(&mut targets, place, |it| it.0);
            if let Some((_, begin, end)) = waited.iter().min_by_key(|it| it.2) {
                worked += self.close(Bound::Call(*begin, *end));
            }
        }
        worked + self.close(Bound::None)
    }

    /// Places the tasks of a row, and says how long they worked.
    fn close(&mut self, bound: Bound) -> i64 {
        let row = std::mem::take(&mut self.row);
        let Some(first) = row.first() else {
            return 0;
        };
        let from = self.reached.max(first.submitted);
        let work = row.iter().filter(|it| it.is_work);
        let usual: Option<i64> = work.clone().map(|it| Some(it.usual?.mean)).sum();
        let off: i64 = work.clone().filter_map(|it| Some(it.usual?.off)).sum();
        let until = match bound {
            Bound::Before(until) | Bound::Call(_, until) => until.max(from),
            Bound::None => from.saturating_add(usual.unwrap_or(0)),
        };
        let room = until - from;
        let (lasted, error) = match (usual, bound) {
            _ if work.clone().count() == 0 => (0, 0),
            (Some(usual), _) => {
                let lasted = usual.min(room);
                (lasted, (off + usual - lasted).min(lasted / 2))
            }
            // The call did nothing but wait.
            (None, Bound::Call(begin, end)) if end - begin > room / 2 => (room, room),
            (None, _) => (0, room),
        };
        self.slack = self.slack.saturating_add(error);
        let count = work.count() as i64;
        let part = |of: i64, task: &UntimedTask| match (usual, task.is_work) {
            (_, false) => 0,
            (Some(all), true) if all > 0 => scaled(task.usual.map_or(0, |it| it.mean), of, all),
            _ => of / count.max(1),
        };
        let mut room = RowRoom::new(TimeRange::new(from, until), lasted);
        for task in &row {
            let span = room.take(RowTask {
                launched: task.submitted,
                usual: part(lasted, task),
                released: task.released,
            });
            let TimeRange { begin, end } = span;
            if task.is_work {
                let share = self.shares.entry(task.shape).or_default();
                *share = (share.0 + end - begin, share.1 + part(error, task));
            }
            if self.placed.len() < MOST {
                self.placed.push(PlacedTask {
                    place: task.place,
                    begin,
                    end,
                });
            }
        }
        self.reached = room.reached();
        lasted
    }
}
