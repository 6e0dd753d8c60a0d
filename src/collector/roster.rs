//! Who is who: processes and threads of the recording get numbers that are never reused.

use std::collections::HashMap;

use ascend_trace_format::session::CHANNELS;
use ascend_trace_model::rows::{LossRow, ProcessRow, Row, ThreadRow};
use ascend_trace_ring::{ChannelInfo, Drained, Dropped};

use super::clock::Clock;
use super::decode::Origin;

/// The thread that holds a channel, with what has been reported of its losses.
#[derive(Clone, Copy)]
struct Occupant {
    info: ChannelInfo,
    origin: Origin,
    lost: Dropped,
    /// Ticks at which the last call began that was read.
    last_begin: Option<u64>,
}

/// Numbers of processes and threads, by the channels they hold.
pub(crate) struct Roster {
    processes: HashMap<(u32, u64), u32>,
    threads: u32,
    occupants: Vec<Option<Occupant>>,
}

impl Roster {
    pub(crate) fn new() -> Self {
        Self {
            processes: HashMap::new(),
            threads: 0,
            occupants: vec![None; CHANNELS],
        }
    }

    /// The thread that holds the channel. Rows that introduce it, and its process, go to `rows`
    /// when it is seen for the first time; what it says of itself comes later and replaces them.
    pub(crate) fn origin(
        &mut self,
        channel: usize,
        info: ChannelInfo,
        clock: &Clock,
        rows: &mut Vec<Row>,
    ) -> Origin {
        if let Some(Some(occupant)) = self.occupants.get(channel)
            && occupant.info == info
        {
            return occupant.origin;
        }
        let origin = Origin {
            process: self.process(info, clock, rows),
            thread: self.threads,
            tid: info.tid,
        };
        self.threads += 1;
        rows.push(Row::Thread(ThreadRow {
            thread: origin.thread,
            process: origin.process,
            tid: info.tid,
            name: String::new(),
        }));
        if let Some(place) = self.occupants.get_mut(channel) {
            *place = Some(Occupant {
                info,
                origin,
                lost: Dropped::default(),
                last_begin: None,
            });
        }
        origin
    }

    fn process(&mut self, info: ChannelInfo, clock: &Clock, rows: &mut Vec<Row>) -> u32 {
        let next = self.processes.len() as u32;
        let number = *self
            .processes
            .entry((info.pid, info.process_key))
            .or_insert(next);
        if number == next {
            rows.push(Row::Process(ProcessRow {
                process: number,
                pid: info.pid,
                parent_pid: 0,
                begin_ns: clock.ns(info.process_key),
                name: String::new(),
                rank: String::new(),
            }));
        }
        number
    }

    fn occupant(&mut self, channel: usize) -> Option<&mut Occupant> {
        self.occupants.get_mut(channel)?.as_mut()
    }

    /// Ticks at which the last call of the channel's thread began that was read.
    pub(crate) fn last_begin(&mut self, channel: usize) -> Option<u64> {
        self.occupant(channel)?.last_begin
    }

    pub(crate) fn set_last_begin(&mut self, channel: usize, ticks: Option<u64>) {
        if let Some(occupant) = self.occupant(channel) {
            occupant.last_begin = ticks;
        }
    }

    /// What the channel's thread has lost since it was last asked about; forgets a thread that
    /// has ended.
    pub(crate) fn settle(&mut self, channel: usize, drained: Drained) -> Option<LossRow> {
        let place = self.occupants.get_mut(channel)?;
        let occupant = place.as_mut()?;
        let lost = drained.dropped.since(occupant.lost);
        let loss = LossRow {
            thread: Some(occupant.origin.thread),
            calls: lost.calls,
            others: lost.times + lost.others,
            times: lost.times,
        };
        occupant.lost = drained.dropped;
        if drained.ended {
            *place = None;
        }
        (lost.total() > 0).then_some(loss)
    }

    /// Processes that have been seen so far.
    pub(crate) fn processes(&self) -> usize {
        self.processes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pid: u32, tid: u32, process_key: u64) -> ChannelInfo {
        ChannelInfo {
            pid,
            tid,
            process_key,
        }
    }

    fn drained(ended: bool, dropped_calls: u64) -> Drained {
        Drained {
            records: 0,
            ended,
            dropped: Dropped {
                calls: dropped_calls,
                ..Dropped::default()
            },
        }
    }

    #[test]
    fn threads_of_one_process_share_its_number_and_a_reused_pid_does_not() {
        let clock = Clock::monotonic();
        let mut roster = Roster::new();
        let mut rows = Vec::new();
        let first = roster.origin(0, info(10, 10, 7), &clock, &mut rows);
        let second = roster.origin(1, info(10, 11, 7), &clock, &mut rows);
        let later = roster.origin(2, info(10, 10, 9000), &clock, &mut rows);
        assert_eq!((first.process, second.process, later.process), (0, 0, 1));
        assert_eq!((first.thread, second.thread, later.thread), (0, 1, 2));
        assert_eq!(rows.len(), 5, "two processes and three threads");
        assert_eq!(roster.processes(), 2);
    }

    #[test]
    fn a_channel_is_given_a_new_thread_number_when_it_changes_hands() {
        let clock = Clock::monotonic();
        let mut roster = Roster::new();
        let mut rows = Vec::new();
        let first = roster.origin(3, info(1, 5, 1), &clock, &mut rows);
        assert_eq!(roster.origin(3, info(1, 5, 1), &clock, &mut rows), first);
        roster.settle(3, drained(true, 0));
        let second = roster.origin(3, info(1, 5, 1), &clock, &mut rows);
        assert_eq!((first.thread, second.thread), (0, 1));
    }

    #[test]
    fn losses_are_told_once() {
        let clock = Clock::monotonic();
        let mut roster = Roster::new();
        roster.origin(0, info(1, 1, 1), &clock, &mut Vec::new());
        let calls = |loss: Option<LossRow>| loss.map(|loss| loss.calls);
        assert_eq!(calls(roster.settle(0, drained(false, 4))), Some(4));
        assert_eq!(calls(roster.settle(0, drained(false, 4))), None);
        assert_eq!(calls(roster.settle(0, drained(true, 5))), Some(1));
    }
}
