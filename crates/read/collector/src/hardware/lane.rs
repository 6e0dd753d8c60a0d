//! One stream: its submitted tasks, its entries in the log, and the synchronisations between.

use std::collections::{BTreeMap, VecDeque};

use ascend_trace_format::record::ActivityKind;
use ascend_trace_format::time::HostNs;
use ascend_trace_recording::TimeRange;

use super::clock_offset::LogClockOffset;
use super::entry::{LogEntry, groups, split};

/// More entries than this are not kept for a synchronisation that separates them.
const MOST: usize = 1 << 20;
/// Synchronisations that are kept.
const MOST_SYNCS: usize = 1 << 16;

/// Precision of times of calls: they come from the processor's counter.
const COUNTER_NS: i64 = 2_000;

/// A task of a stream of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneWork {
    /// The stream's serial and the task's sequence; of a node those of the task that replays its graph, and none where
    /// the program waited for the replay in the call itself.
    pub(super) task: Option<(u32, u32)>,
    /// The node's number in its graph, 0 where it is one of several that cannot be distinguished.
    pub(super) node: Option<u32>,
}

/// Whose a stream of the device's is: numbers of streams are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnerKey {
    /// The program's stream with this serial.
    Stream(u32),
    /// The graph with this serial.
    Graph(u32),
}

/// An owner, and when it certainly was here.
#[derive(Clone, Copy, Debug)]
struct StreamOwner {
    owner: OwnerKey,
    since: i64,
    until: i64,
}

/// A task, or a node, that was submitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedWork {
    pub(super) work: LaneWork,
    /// The call that submitted it.
    pub(super) begin: i64,
    pub(super) end: i64,
    /// Its kind in the log: other kinds are left out here.
    pub(super) kind: ActivityKind,
    /// The function that submitted it; none of a node.
    pub(super) function: Option<u16>,
    /// It had ended by then, if a synchronisation says so that divided nothing.
    pub(super) done: Option<i64>,
}

/// A call that waited for all that had been submitted before it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct SyncCall {
    pub(super) begin: i64,
    pub(super) end: i64,
}

/// Entries of one task, or of none; or a task that has none.
pub(super) struct JoinedEntries<'e> {
    pub(super) work: Option<LaneWork>,
    pub(super) function: Option<u16>,
    /// The begin of the call that submitted it; 0 without one.
    pub(super) launched: i64,
    pub(super) entries: &'e [LogEntry],
    /// Counts a stretch that does not agree; once for each.
    pub(super) is_mismatch: bool,
}

/// Expected entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectationPhase {
    Growing,
    /// Everything has arrived, but its owner may still be found.
    Complete,
    Last,
}

/// Replays of a graph, between which and those after them all has been waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplayStretch {
    pub(super) replays: usize,
    /// By then all had ended that may have run before on streams of the graph's.
    pub(super) floor: i64,
    /// All earlier entries on such streams are joined: the remaining ones are of these.
    pub(super) is_first: bool,
    /// The first of them was submitted, and all have ended.
    pub(super) span: TimeRange,
    /// Entries after them were not submitted before.
    pub(super) next: i64,
    /// Nothing more will come.
    pub(super) is_last: bool,
}

/// Entries that may be of a stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnownedEntries<'l> {
    pub(super) entries: &'l [LogEntry],
    /// This number of them is certain.
    pub(super) certain: usize,
    /// These are all.
    pub(super) is_clear: bool,
}

#[derive(Debug, Default)]
pub(super) struct LogLane {
    owners: Vec<StreamOwner>,
    /// By place of the owner, and then in the order in which they run.
    tasks: BTreeMap<(usize, u32), ExpectedWork>,
    syncs: VecDeque<SyncCall>,
    entries: VecDeque<LogEntry>,
    /// Entries without an owner, not reported yet.
    skipped: Vec<LogEntry>,
    /// Numbers of entries, tasks and synchronisations at the end of the last pass over all channels:
    /// everything related to them has arrived.
    settled: (usize, usize),
    /// Some of it was not joined: entries may be lost, so their number no longer shows their owners.
    /// From here on msPTI's comparison is not trusted, only the bounds of joined tasks.
    is_broken: bool,
    /// The last number of a call, and whether one was not larger than the one before it.
    last_number: u64,
    pub(super) is_disorderly: bool,
    /// A task has had several entries with its number.
    pub(super) has_shared_number: bool,
    /// There were more numbers than tasks.
    pub(super) has_surplus: bool,
    /// Number of tasks with one number each.
    pub(super) numbered: usize,
}

impl LogLane {
    /// The place of an owner that used the stream since a time at the latest.
    fn place(&mut self, owner: OwnerKey, since: i64) -> usize {
        let place = self.owners.iter().rposition(|known| known.owner == owner);
        place.unwrap_or_else(|| {
            self.owners.push(StreamOwner {
                owner,
                since,
                until: i64::MAX,
            });
            self.owners.len() - 1
        })
    }

    /// A graph was found to run here.
    pub(super) fn move_in(&mut self, owner: OwnerKey, since: i64, until: i64) {
        let place = self.place(owner, since);
        if let Some(known) = self.owners.get_mut(place) {
            known.until = until;
        }
    }

    /// The owner's `order`-th piece of work.
    pub(super) fn expect(&mut self, owner: OwnerKey, order: u32, task: ExpectedWork) {
        let place = self.place(owner, task.begin);
        self.tasks.insert((place, order), task);
    }

    /// An owner has left.
    pub(super) fn leave(&mut self, owner: OwnerKey, at: i64) {
        let own = self.owners.iter_mut().filter(|known| known.owner == owner);
        own.for_each(|known| known.until = at);
    }

    /// Whether the stream has a known owner at some point of a time.
    pub(super) fn is_taken(&self, time: TimeRange) -> bool {
        let mut owners = self.owners.iter();
        owners.any(|known| TimeRange::new(known.since, known.until).shares_time(time))
    }

    /// Whether an owner has been given anything here.
    pub(super) fn knows(&self, owner: OwnerKey) -> bool {
        self.owners.iter().any(|known| known.owner == owner)
    }

    /// Whether there is anything that was not joined.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.entries.is_empty()
    }

    /// Entries without a known submitter that may belong to a stretch. `None` when its first entry is
    /// not clear.
    pub(super) fn unowned(
        &self,
        axis: LogClockOffset,
        stretch: &ReplayStretch,
    ) -> Option<UnownedEntries<'_>> {
        let (entries, rest) = self.entries.as_slices();
        if !self.tasks.is_empty() || !rest.is_empty() {
            return None;
        }
        let axis = self.trusted(axis).unwrap_or(axis);
        let known = if stretch.is_last {
            entries.len()
        } else {
            self.settled.0
        };
        let entries = entries.get(..known)?;
        let floor = match stretch.is_first && !self.is_broken {
            true => HostNs::MIN,
            false => HostNs::new(stretch.floor),
        };
        let around = |entry: &LogEntry| axis.around(entry.begin());
        let is_before = |entry: &&LogEntry| {
            let end = around(entry).latest(entry.end());
            entry.is_timed() && end < floor
        };
        let skipped = entries.iter().take_while(is_before).count();
        let entries = entries.get(skipped..)?;
        let first = entries.first()?;
        let begin = around(first).earliest(first.begin());
        if floor != HostNs::MIN && (!first.is_timed() || begin < floor) {
            return None;
        }
        // Entries of the next stretch ended after the call that waited for this stretch, and began
        // after it.
        let is_possible = |entry: &&LogEntry| {
            let end = around(entry).earliest(entry.end());
            !entry.is_timed() || end <= HostNs::new(stretch.span.end)
        };
        let is_certain = |entry: &LogEntry| {
            let begin = around(entry).latest(entry.begin());
            entry.is_timed() && begin < HostNs::new(stretch.next)
        };
        let possible = entries.iter().take_while(is_possible).count();
        let entries = entries.get(..possible)?;
        let certain = entries.iter().rposition(is_certain);
        let certain = certain.map_or(0, |last| last + 1);
        Some(UnownedEntries {
            entries,
            certain,
            is_clear: stretch.is_last || certain == possible,
        })
    }

    /// Entries that ran before a time have no owner.
    pub(super) fn skip_before(&mut self, axis: LogClockOffset, from: HostNs) {
        let is_before = |entry: &LogEntry| {
            let around = axis.around(entry.begin());
            entry.is_timed() && around.latest(entry.end()) < from
        };
        let count = self.entries.iter().take_while(|entry| is_before(entry));
        let count = count.count();
        self.skipped.extend(self.entries.drain(..count));
        self.settled.0 = self.settled.0.saturating_sub(count);
    }

    /// The nodes of an owner from a time on cannot be assigned to tasks.
    pub(super) fn forget_tasks(&mut self, owner: OwnerKey, since: i64) {
        let place = self.owners.iter().rposition(|known| known.owner == owner);
        let own = self.tasks.iter_mut();
        own.filter(|((of, _), task)| Some(*of) == place && task.begin >= since)
            .for_each(|(_, task)| {
                task.work = LaneWork {
                    task: None,
                    node: Some(0),
                };
            });
    }

    /// Makes the entries contiguous, for [`Self::unowned`].
    pub(super) fn straighten(&mut self) {
        self.entries.make_contiguous();
    }

    pub(super) fn sync(&mut self, sync: SyncCall) {
        if self.syncs.len() >= MOST_SYNCS {
            // Nothing has arrived for a long time, so that one less does not matter.
            self.syncs.pop_front();
        }
        self.syncs.push_back(sync);
    }

    pub(super) fn take(&mut self, entry: LogEntry) {
        self.entries.push_back(entry);
    }

    /// Joins each stretch that is certain; in the last phase the rest as well.
    pub(super) fn settle(
        &mut self,
        axis: &mut LogClockOffset,
        phase: ExpectationPhase,
        emit: &mut impl FnMut(JoinedEntries<'_>),
    ) {
        for entry in self.skipped.drain(..) {
            emit(JoinedEntries {
                work: None,
                function: None,
                launched: 0,
                entries: &[entry],
                is_mismatch: false,
            });
        }
        let (entries, syncs) = self.settled;
        self.settled = (self.entries.len(), self.syncs.len());
        let (known, mut left) = match phase {
            ExpectationPhase::Growing => (entries, syncs),
            ExpectationPhase::Complete | ExpectationPhase::Last => {
                (self.entries.len(), self.syncs.len())
            }
        };
        let mut taken = 0;
        while left > 0 {
            let Some(sync) = self.syncs.pop_front() else {
                break;
            };
            left -= 1;
            match self.cut(axis, sync, known.saturating_sub(taken), phase) {
                CutPoint::Wait => {
                    self.syncs.push_front(sync);
                    break;
                }
                CutPoint::Unclear => self.note_done(sync),
                CutPoint::At { tasks, entries } => {
                    taken += entries;
                    let done = HostNs::new(sync.end);
                    self.stretch(axis, tasks, entries, Some(done), emit);
                }
            }
        }
        if phase == ExpectationPhase::Last {
            self.stretch(axis, self.tasks.len(), self.entries.len(), None, emit);
        } else if self.entries.len() > MOST || self.tasks.len() > MOST {
            // It can no longer be decided.
            self.give_up(self.tasks.len(), self.entries.len(), emit);
        }
        let (entries, syncs) = (self.entries.len(), self.syncs.len());
        self.settled = (self.settled.0.min(entries), self.settled.1.min(syncs));
    }

    /// Work that was submitted before a synchronisation has ended by then.
    fn note_done(&mut self, sync: SyncCall) {
        let before = self.tasks.values_mut().rev();
        let before = before.skip_while(|task| task.end > sync.begin);
        for task in before.take_while(|task| task.done.is_none()) {
            task.done = Some(sync.end);
        }
    }

    /// The bounds of the clock that may separate entries; `None` when nothing is certain.
    fn trusted(&self, axis: LogClockOffset) -> Option<LogClockOffset> {
        if self.is_broken {
            axis.proven()
        } else {
            Some(axis)
        }
    }

    /// Where a synchronisation divides tasks and entries.
    fn cut(
        &self,
        axis: &LogClockOffset,
        sync: SyncCall,
        known: usize,
        phase: ExpectationPhase,
    ) -> CutPoint {
        let axis = &self.trusted(*axis).unwrap_or(*axis);
        let is_complete = phase != ExpectationPhase::Growing;
        let tasks = self.tasks.values();
        let before = tasks.clone().take_while(|task| task.end <= sync.begin);
        let count = before.count();
        let after = tasks.clone().nth(count);
        // Another thread was submitting: it is not known whether the call waited for that.
        if after.is_some_and(|task| task.begin < sync.end) {
            return CutPoint::Unclear;
        }
        if self.entries.is_empty() {
            return if is_complete {
                CutPoint::Unclear
            } else {
                CutPoint::Wait
            };
        }
        let Some(begin) = after.map(|task| HostNs::new(task.begin)) else {
            return self.cut_after(axis, sync, count, (known, phase));
        };
        let mut place = 0_usize;
        let mut is_parted = is_complete;
        for entry in self.entries.iter().take(known) {
            let around = axis.around(entry.begin());
            // Without times it is at its place in the log, if the next entry is certainly earlier.
            let is_before = !entry.is_timed() || around.latest(entry.begin()) < begin;
            if is_before {
                place += 1;
                continue;
            }
            if around.earliest(entry.end()) <= HostNs::new(sync.end) {
                return CutPoint::Unclear;
            }
            is_parted = true;
            break;
        }
        let last = place.checked_sub(1).and_then(|at| self.entries.get(at));
        match last.is_some_and(|entry| !entry.is_timed()) {
            _ if !is_parted => CutPoint::Wait,
            true => CutPoint::Unclear,
            false => CutPoint::At {
                tasks: count,
                entries: place,
            },
        }
    }

    /// A synchronisation that separates all tasks from entries of another owner of the stream.
    fn cut_after(
        &self,
        axis: &LogClockOffset,
        sync: SyncCall,
        tasks: usize,
        (known, phase): (usize, ExpectationPhase),
    ) -> CutPoint {
        let done = HostNs::new(sync.end);
        let mut is_clear = true;
        for (place, entry) in self.entries.iter().take(known).enumerate() {
            let around = axis.around(entry.begin());
            if entry.is_timed() && around.earliest(entry.begin()) > done {
                let last = place.checked_sub(1).and_then(|at| self.entries.get(at));
                // One without times may be on either side.
                is_clear &= last.is_none_or(LogEntry::is_timed);
                return match is_clear {
                    true => CutPoint::At {
                        tasks,
                        entries: place,
                    },
                    false if phase == ExpectationPhase::Last => self.all(tasks),
                    false => CutPoint::Wait,
                };
            }
            is_clear &= !entry.is_timed() || around.latest(entry.begin()) <= done;
        }
        // All entries until now may be of these tasks, and more may arrive.
        match phase {
            ExpectationPhase::Growing => CutPoint::Wait,
            ExpectationPhase::Complete | ExpectationPhase::Last => self.all(tasks),
        }
    }

    fn all(&self, tasks: usize) -> CutPoint {
        CutPoint::At {
            tasks,
            entries: self.entries.len(),
        }
    }

    /// Joins the first tasks to the first entries, if they agree.
    fn stretch(
        &mut self,
        axis: &mut LogClockOffset,
        tasks: usize,
        entries: usize,
        done: Option<HostNs>,
        emit: &mut impl FnMut(JoinedEntries<'_>),
    ) {
        let found: Vec<LogEntry> = self.entries.iter().take(entries).copied().collect();
        let wanted: Vec<ExpectedWork> = self.tasks.values().take(tasks).copied().collect();
        let trusted = self.trusted(*axis);
        let mut nodes = wanted.iter().map(|task| task.work.node);
        let is_one_node = nodes.next().is_some_and(|first| {
            first.is_some_and(|number| number > 0) && nodes.all(|node| node == first)
        });
        let parts = split(&found, wanted.len(), is_one_node);
        let agreed = parts.zip(trusted).and_then(|(parts, trusted)| {
            let axis = agree(&trusted, &wanted, &parts, done)?;
            Some((axis, parts))
        });
        let Some((agreed, parts)) = agreed else {
            let is_surplus = groups(&found).count() > wanted.len();
            self.has_surplus |= is_surplus && !wanted.is_empty();
            self.give_up(tasks, entries, emit);
            return;
        };
        axis.learn(agreed);
        self.note_numbers(&wanted, &parts);
        for (task, group) in wanted.iter().zip(parts) {
            let group: Vec<LogEntry> = (group.iter())
                .map(|entry| LogEntry {
                    seen: done.map_or(entry.seen, |done| done.min(entry.seen)),
                    ..*entry
                })
                .collect();
            emit(JoinedEntries {
                work: Some(task.work),
                function: task.function,
                launched: task.begin,
                entries: &group,
                is_mismatch: false,
            });
        }
        self.forget(tasks, entries);
    }

    /// Whether numbers of calls grow with the calls, as far as it shows.
    fn note_numbers(&mut self, wanted: &[ExpectedWork], groups: &[&[LogEntry]]) {
        for (task, group) in wanted.iter().zip(groups) {
            let number = group.first().map_or(0, |entry| entry.activity.correlation);
            if task.work.node.is_none() {
                self.has_shared_number |= number != 0 && group.len() > 1;
                self.numbered += 1;
                self.is_disorderly |= number <= self.last_number;
                self.last_number = number;
            }
        }
    }

    /// Neither these tasks nor these entries are joined.
    fn give_up(&mut self, tasks: usize, entries: usize, emit: &mut impl FnMut(JoinedEntries<'_>)) {
        let found: Vec<LogEntry> = self.entries.iter().take(entries).copied().collect();
        self.is_broken = true;
        let mut is_mismatch = true;
        for task in self.tasks.values().take(tasks) {
            emit(JoinedEntries {
                work: Some(task.work),
                function: task.function,
                launched: task.begin,
                entries: &[],
                is_mismatch: std::mem::take(&mut is_mismatch),
            });
        }
        for entry in &found {
            emit(JoinedEntries {
                work: None,
                function: None,
                launched: 0,
                entries: std::slice::from_ref(entry),
                is_mismatch: false,
            });
        }
        self.forget(tasks, entries);
    }

    fn forget(&mut self, tasks: usize, entries: usize) {
        for _ in 0..tasks {
            self.tasks.pop_first();
        }
        self.entries.drain(..entries.min(self.entries.len()));
    }
}

/// Result of a cut at a synchronisation.
enum CutPoint {
    /// Needed entries have not arrived yet.
    Wait,
    /// Entries before it cannot be separated from those after it.
    Unclear,
    At {
        tasks: usize,
        entries: usize,
    },
}

/// The bounds of the clock when the entries are these tasks'; `None` when they are not.
fn agree(
    axis: &LogClockOffset,
    tasks: &[ExpectedWork],
    groups: &[&[LogEntry]],
    done: Option<HostNs>,
) -> Option<LogClockOffset> {
    let pairs = || tasks.iter().zip(groups);
    let is_kind = |(task, group): (&ExpectedWork, &&[LogEntry])| {
        group.iter().all(|entry| entry.activity.kind == task.kind)
    };
    if !pairs().all(is_kind) {
        return None;
    }
    let bounds = pairs().flat_map(|(task, group)| {
        let timed = group.iter().filter(|entry| entry.is_timed());
        timed.map(|entry| {
            let done = done.into_iter().chain(task.done.map(HostNs::new));
            let done = done.fold(entry.seen, HostNs::min);
            LogClockOffset::bound(
                entry.begin(),
                HostNs::new(task.begin).offset_from(entry.begin()) - COUNTER_NS,
                done.offset_from(entry.end()) + COUNTER_NS,
            )
        })
    });
    axis.with(bounds)
}
