//! When it is tried to find out where the nodes of a process's graphs run (`bind.rs` finds it out).

use ascend_trace_format::time::HostNs;
use ascend_trace_recording::TimeRange;

use super::LoggedProcess;
use super::bind::{self, LaneOwnership, RivalGraph};
use super::clock_offset::LogClockOffset;
use super::graphs::{DeviceStream, JoinTargets, LoggedGraph};
use super::lane::{LogLane, OwnerKey, ReplayStretch};

/// Number of stretches of a graph's replays that are examined each time.
const MOST_TRIES: usize = 8;

/// This many tasks with one number each, and none with several, show that numbers are those of calls.
const ENOUGH_NUMBERED: usize = 64;

impl LoggedProcess {
    /// Looks for where graphs are replayed. With `gives_up`, the first replays of graphs of which that is not clear are left.
    /// Returns whether there was anything to do.
    pub(super) fn bind(&mut self, is_last: bool, gives_up: bool) -> bool {
        self.lanes.values_mut().for_each(LogLane::straighten);
        let open = self.graphs.iter().filter(|(_, graph)| graph.is_open());
        let open: Vec<u32> = open.map(|(serial, _)| *serial).collect();
        let mut is_news = false;
        for serial in open {
            if self.bind_any(serial, is_last) {
                is_news = true;
            } else if let Some(graph) = self.graphs.get_mut(&serial)
                && (gives_up || graph.is_full())
            {
                graph.give_up_some();
                is_news = true;
            }
        }
        is_news
    }

    /// Searches the streams of a graph's replays, in the first stretches that a pause follows: without
    /// the pause, a later entry could be taken for a lost one.
    fn bind_any(&mut self, serial: u32, is_last: bool) -> bool {
        let Some(graph) = self
            .graphs
            .get(&serial)
            .filter(|_| self.trusts_numbers(is_last))
        else {
            return false;
        };
        let axis = self.axis(graph.device);
        let is_apart = |stretch: &ReplayStretch| {
            let end = stretch.span.end;
            let open = open_at(axis, end);
            stretch.is_last || stretch.next.saturating_sub(end) >= open / 2
        };
        let stretches = graph.stretches(is_last).filter(is_apart);
        let (mut first, last): (Vec<ReplayStretch>, Vec<ReplayStretch>) =
            stretches.partition(|stretch| !stretch.is_last);
        first.truncate(MOST_TRIES);
        first.into_iter().chain(last).any(|mut stretch| {
            stretch.is_first &= !self.has_leftovers(serial, stretch.span.begin);
            let is_complete = is_last || self.is_complete(serial, &stretch);
            is_complete && self.bind_one(serial, &stretch)
        })
    }

    /// Whether numbers are those of calls, as far as the tasks that were joined show. Where each kernel has one, a node that
    /// launches several looks like several.
    fn trusts_numbers(&self, is_last: bool) -> bool {
        let lanes = || self.lanes.values();
        let numbered: usize = lanes().map(|lane| lane.numbered).sum();
        let is_known = is_last || numbered >= ENOUGH_NUMBERED;
        lanes().any(|lane| lane.has_shared_number)
            || is_known && !lanes().any(|lane| lane.has_surplus)
    }

    fn axis(&self, device: u32) -> LogClockOffset {
        let known = self.axes.get(&device).copied();
        known.unwrap_or_else(|| LogClockOffset::near(self.comparison))
    }

    /// Whether the log contains all entries of a stretch, on any stream.
    fn is_complete(&self, serial: u32, stretch: &ReplayStretch) -> bool {
        let device = self.graphs.get(&serial).map_or(0, |graph| graph.device);
        let whole = self.progress.get(&device).map(|it| it.complete_until());
        let whole = whole.unwrap_or_default();
        self.axis(device).around(whole).earliest(whole) > HostNs::new(stretch.span.end)
    }

    /// Whether entries of other graphs may remain from before a time.
    fn has_leftovers(&self, serial: u32, before: i64) -> bool {
        let mut others = self.graphs.iter().filter(|(other, _)| **other != serial);
        let is_left = |graph: &LoggedGraph| graph.is_open() && graph.reach().begin < before;
        self.has_lost_graphs || others.any(|(_, graph)| graph.has_lost || is_left(graph))
    }

    fn bind_one(&mut self, serial: u32, stretch: &ReplayStretch) -> bool {
        let Some(graph) = self.graphs.get(&serial) else {
            return false;
        };
        let life = graph.life();
        let ownership = |place: DeviceStream, lane: &LogLane| match self.taken.get(&place) {
            _ if lane.is_taken(life) => LaneOwnership::Others,
            // It may have been given nothing yet, and what there is be of before.
            Some(serial) if !lane.knows(OwnerKey::Stream(*serial)) => LaneOwnership::Unclear,
            _ => LaneOwnership::NoOwner,
        };
        // Entries of the stretch may have run this long after it, and since no earlier ones remain.
        let axis = self.axis(graph.device);
        let end = stretch.span.end;
        let end = end.saturating_add(open_at(axis, end));
        let time = TimeRange::new(stretch.span.begin.min(stretch.floor), end);
        let rivals = self.graphs.iter().filter(|(other, graph)| {
            let may_run = graph.loose().is_some_and(|loose| loose.overlaps(time));
            **other != serial && may_run
        });
        let rivals: Vec<RivalGraph<'_>> = rivals
            .map(|(_, graph)| RivalGraph {
                graph,
                replays: graph.replays_within(time),
            })
            .collect();
        let do_numbers_grow = !self.lanes.values().any(|lane| lane.is_disorderly);
        let lanes = &self.lanes;
        let found = bind::find(
            graph,
            stretch,
            axis,
            lanes,
            &ownership,
            &rivals,
            do_numbers_grow,
        );
        let Some(branches) = found else {
            return false;
        };
        let mut ends = JoinTargets {
            lanes: &mut self.lanes,
            replays: &mut self.replays,
        };
        if let Some(graph) = self.graphs.get_mut(&serial) {
            for branch in &branches {
                let lane = ends.lanes.entry(branch.place).or_default();
                lane.skip_before(axis, HostNs::new(stretch.floor));
                lane.move_in(OwnerKey::Graph(serial), life.begin, life.end);
            }
            graph.bind(serial, branches, &mut ends);
        }
        true
    }
}

/// How much of the offset between the clocks is not known around a host time.
fn open_at(axis: LogClockOffset, host_ns: i64) -> i64 {
    axis.around(axis.on_log(HostNs::new(host_ns))).open()
}
