//! The targets of a blocking call with a narrower wait.

use super::change::Narrow;
use super::links::{ItemEdge, LaneCode, LanePosition, Link, LinkKind};
use super::records::{Task, TaskShape};
use super::wait_index::WaitTimes;

/// The waits of a sync as it is, of one for a stream, and of one for an event.
pub(super) const ALL: u8 = 1;
const STREAM: u8 = 2;
const EVENT: u8 = 4;

impl Narrow {
    /// Which waits are left.
    pub(super) fn waits(self) -> u8 {
        match self {
            Self::Stream => STREAM,
            Self::Event => EVENT,
            Self::None => 0,
        }
    }
}

/// A task that was before another on its stream, or that task itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlierTask {
    pub(super) place: LanePosition,
    pub(super) submitted: i64,
    pub(super) end: i64,
}

/// The last task of a stream that a call waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SyncTask {
    /// The call.
    pub(super) to: ItemEdge,
    /// Its place among all links.
    pub(super) order: u32,
    pub(super) from: LanePosition,
    /// When the task was submitted, and its end.
    submitted: i64,
    end: i64,
    /// The last copy to or from the host up to it, and the last event record.
    pub(super) copy: Option<EarlierTask>,
    record: Option<EarlierTask>,
}

/// The tasks that calls waited for, by their places. The tasks before them are not known yet.
pub(super) fn sync_tasks(links: &[Link]) -> Vec<SyncTask> {
    let own = links
        .iter()
        .zip(0..)
        .filter(|it| it.0.way == LinkKind::Sync);
    let own = own.map(|(link, order)| SyncTask {
        to: link.to,
        order,
        from: link.from.place(),
        submitted: 0,
        end: link.at,
        copy: None,
        record: None,
    });
    let mut syncs: Vec<SyncTask> = own.collect();
    syncs.sort_by_key(|it| it.from);
    syncs
}

/// Goes along a stream, and finds the tasks before each one that a call waited for.
#[derive(Debug)]
pub(super) struct EarlierTasks<'s> {
    /// Those that are still to come.
    syncs: std::slice::IterMut<'s, SyncTask>,
    next: Option<&'s mut SyncTask>,
    copy: Option<EarlierTask>,
    record: Option<EarlierTask>,
}

impl<'s> EarlierTasks<'s> {
    pub(super) fn of(syncs: &'s mut [SyncTask], lane: LaneCode) -> Self {
        let from = syncs.partition_point(|it| it.from.lane() < lane);
        let own = syncs[from..].partition_point(|it| it.from.lane() == lane);
        let mut syncs = syncs[from..from + own].iter_mut();
        Self {
            next: syncs.next(),
            syncs,
            copy: None,
            record: None,
        }
    }

    pub(super) fn pass(&mut self, place: LanePosition, task: &Task, shape: &TaskShape) {
        let submitted = task.call_begin();
        let own = EarlierTask {
            place,
            submitted,
            end: task.end,
        };
        if shape.is_of_host {
            self.copy = Some(own);
        }
        if shape.is_record {
            self.record = Some(own);
        }
        while let Some(sync) = self.next.take_if(|it| it.from == place) {
            sync.submitted = submitted;
            (sync.copy, sync.record) = (self.copy, self.record);
            self.next = self.syncs.next();
        }
    }
}

/// A wait of a narrower sync.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    pub(super) to: ItemEdge,
    pub(super) from: ItemEdge,
    pub(super) at: i64,
    pub(super) of: u8,
}

/// The waits of all narrower syncs. `syncs` are by the call, and `calls` by place.
pub(super) fn alternatives(syncs: &[SyncTask], calls: &[WaitTimes]) -> Vec<Alternative> {
    let mut found = Vec::new();
    for tasks in syncs.chunk_by(|a, b| a.to == b.to) {
        let Some(to) = tasks.first().map(|it| it.to) else {
            continue;
        };
        let place = to.place();
        let call = calls.binary_search_by_key(&place, |it| it.place);
        let begin = call.ok().map_or(i64::MAX, |it| calls[it].begin);
        let mut add = |earlier: EarlierTask, of: u8| {
            // Later submissions cannot be waited for.
            if earlier.submitted <= begin {
                found.push(Alternative {
                    to,
                    from: earlier.place.end(),
                    at: earlier.end,
                    of,
                });
            }
        };
        let copies = || tasks.iter().filter_map(|it| it.copy);
        let latest = copies().max_by_key(|it| it.submitted);
        match latest {
            Some(_) => copies().for_each(|it| add(it, EVENT)),
            None => {
                let records = tasks.iter().filter_map(|it| it.record);
                let last = records.max_by_key(|it| it.submitted);
                last.into_iter().for_each(|it| add(it, EVENT));
            }
        }
        let lane = latest.map(|it| it.place.lane());
        let own = tasks.iter();
        let own = own.filter(|it| lane.is_none_or(|on| it.from.lane() == on));
        let own = own.map(|it| EarlierTask {
            place: it.from,
            submitted: it.submitted,
            end: it.end,
        });
        let own = own.max_by_key(|it| it.submitted);
        own.into_iter().for_each(|it| add(it, STREAM));
    }
    found
}
