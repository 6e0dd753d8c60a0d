//! Who is who: processes and threads of the recording get numbers that are never reused.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::session::CHANNELS;
use ascend_trace_recording::rows::{LossRow, ProcessRow, Row, ThreadRow};
use ascend_trace_ring::{ChannelInfo, DrainResult, LostRecords};

use super::clock::TickClock;
use super::decode::RecordOrigin;

/// The thread that holds a channel, with its reported losses.
#[derive(Clone, Copy)]
struct ChannelHolder {
    info: ChannelInfo,
    origin: RecordOrigin,
    lost: LostRecords,
    /// Its reported calls that the filters left out.
    filtered: u64,
    /// When that was.
    settled_ns: i64,
    /// Ticks at which the last call began that was read.
    last_begin: Option<u64>,
}

/// Losses of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ThreadLosses {
    Nothing,
    Lost(LossRow),
    /// The count is impossible: the program has written to memory of the tool.
    Nonsense,
}

/// Numbers of processes and threads, by the channels they hold.
pub(crate) struct IdTables {
    /// By pid, namespace and key.
    processes: HashMap<(u32, u64, u64), u32>,
    keys: HashSet<u64>,
    threads: u32,
    occupants: Vec<Option<ChannelHolder>>,
}

impl IdTables {
    pub(crate) fn new() -> Self {
        Self {
            processes: HashMap::new(),
            keys: HashSet::new(),
            threads: 0,
            occupants: vec![None; CHANNELS],
        }
    }

    /// The thread that holds the channel. Rows that introduce it, and its process, are added to `rows`
    /// when it is seen for the first time; its later descriptions replace them.
    pub(crate) fn origin(
        &mut self,
        channel: usize,
        info: ChannelInfo,
        clock: &TickClock,
        rows: &mut Vec<Row>,
    ) -> RecordOrigin {
        if let Some(Some(occupant)) = self.occupants.get(channel)
            && occupant.info == info
        {
            return occupant.origin;
        }
        let origin = RecordOrigin {
            process: self.process(info, clock, rows),
            thread: self.threads,
            tid: info.tid,
        };
        self.threads += 1;
        rows.push(Row::Thread(ThreadRow {
            thread: origin.thread,
            process: origin.process,
            tid: info.tid,
            handle: 0,
            name: String::new(),
        }));
        if let Some(place) = self.occupants.get_mut(channel) {
            *place = Some(ChannelHolder {
                info,
                origin,
                lost: LostRecords::default(),
                filtered: 0,
                settled_ns: clock.ns(info.process_key),
                last_begin: None,
            });
        }
        origin
    }

    /// Whether the process that holds a channel has been seen before.
    pub(crate) fn knows(&self, info: ChannelInfo) -> bool {
        let process = (info.pid, info.namespace, info.process_key);
        self.processes.contains_key(&process)
    }

    /// Whether a process has this key. A key is the time of joining, so no two processes share one.
    pub(crate) fn has_key(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    fn process(&mut self, info: ChannelInfo, clock: &TickClock, rows: &mut Vec<Row>) -> u32 {
        self.keys.insert(info.process_key);
        let next = self.processes.len() as u32;
        let number = *self
            .processes
            .entry((info.pid, info.namespace, info.process_key))
            .or_insert(next);
        if number == next {
            rows.push(Row::Process(ProcessRow {
                process: number,
                pid: info.pid,
                begin_ns: clock.ns(info.process_key),
                ..ProcessRow::default()
            }));
        }
        number
    }

    fn occupant(&mut self, channel: usize) -> Option<&mut ChannelHolder> {
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

    /// The process of the channel's thread, and the calls that the filters left out there since the last call. To be called before
    /// [`Self::settle`].
    pub(crate) fn take_filtered(
        &mut self,
        channel: usize,
        drained: DrainResult,
        now_ns: i64,
    ) -> Option<(u32, u64)> {
        let occupant = self.occupant(channel)?;
        let new = drained.filtered.saturating_sub(occupant.filtered);
        occupant.filtered = drained.filtered;
        let is_possible = new <= possible(occupant.settled_ns, now_ns);
        is_possible.then_some((occupant.origin.process, new))
    }

    /// Losses of the channel's thread since the last call; forgets a thread that has ended.
    pub(crate) fn settle(
        &mut self,
        channel: usize,
        drained: DrainResult,
        now_ns: i64,
    ) -> ThreadLosses {
        let place = self.occupants.get_mut(channel);
        let Some(occupant) = place.as_ref().and_then(|place| place.as_ref()).copied() else {
            return ThreadLosses::Nothing;
        };
        let lost = drained.dropped.since(occupant.lost);
        let is_less = occupant.lost.since(drained.dropped).total() > 0;
        if let Some(place) = place {
            *place = (!drained.ended).then_some(ChannelHolder {
                lost: drained.dropped,
                settled_ns: now_ns,
                ..occupant
            });
        }
        if lost.total() == 0 && !is_less {
            return ThreadLosses::Nothing;
        }
        if is_less || lost.total() > possible(occupant.settled_ns, now_ns) {
            return ThreadLosses::Nonsense;
        }
        ThreadLosses::Lost(LossRow {
            thread: Some(occupant.origin.thread),
            calls: lost.calls,
            others: lost.times + lost.others,
            times: lost.times,
        })
    }

    /// Number of processes that have been seen.
    pub(crate) fn processes(&self) -> usize {
        self.processes.len()
    }
}

/// Largest number of records that a thread can lose between two times: each takes a nanosecond at the
/// least.
pub(crate) fn possible(from_ns: i64, to_ns: i64) -> u64 {
    // Ticks of several processors differ a little.
    const SLACK_NS: u64 = 1_000_000;
    u64::try_from(to_ns.saturating_sub(from_ns)).map_or(SLACK_NS, |passed| passed + SLACK_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pid: u32, tid: u32, process_key: u64) -> ChannelInfo {
        ChannelInfo {
            pid,
            tid,
            process_key,
            namespace: 1,
        }
    }

    fn drained(ended: bool, dropped_calls: u64) -> DrainResult {
        DrainResult {
            records: 0,
            ended,
            dropped: LostRecords {
                calls: dropped_calls,
                ..LostRecords::default()
            },
            filtered: 0,
            damaged: 0,
        }
    }

    #[test]
    fn threads_of_one_process_share_its_number_and_a_reused_pid_does_not() {
        let clock = TickClock::monotonic();
        let mut id_tables = IdTables::new();
        let mut rows = Vec::new();
        let first = id_tables.origin(0, info(10, 10, 7), &clock, &mut rows);
        let second = id_tables.origin(1, info(10, 11, 7), &clock, &mut rows);
        let later = id_tables.origin(2, info(10, 10, 9000), &clock, &mut rows);
        let elsewhere = ChannelInfo {
            namespace: 2,
            ..info(10, 10, 7)
        };
        let elsewhere = id_tables.origin(3, elsewhere, &clock, &mut rows);
        assert_eq!((first.process, second.process, later.process), (0, 0, 1));
        assert_eq!((first.thread, second.thread, later.thread), (0, 1, 2));
        assert_eq!((elsewhere.process, elsewhere.thread), (2, 3));
        assert_eq!(rows.len(), 7, "three processes and four threads");
        assert_eq!(id_tables.processes(), 3);
    }

    #[test]
    fn a_channel_is_given_a_new_thread_number_when_it_changes_hands() {
        let clock = TickClock::monotonic();
        let mut id_tables = IdTables::new();
        let mut rows = Vec::new();
        let first = id_tables.origin(3, info(1, 5, 1), &clock, &mut rows);
        assert_eq!(id_tables.origin(3, info(1, 5, 1), &clock, &mut rows), first);
        id_tables.settle(3, drained(true, 0), 0);
        let second = id_tables.origin(3, info(1, 5, 1), &clock, &mut rows);
        assert_eq!((first.thread, second.thread), (0, 1));
    }

    #[test]
    fn losses_are_reported_once() {
        let clock = TickClock::monotonic();
        let mut id_tables = IdTables::new();
        id_tables.origin(0, info(1, 1, 1), &clock, &mut Vec::new());
        let calls = |settled| match settled {
            ThreadLosses::Lost(loss) => Some(loss.calls),
            _ => None,
        };
        assert_eq!(calls(id_tables.settle(0, drained(false, 4), 9)), Some(4));
        assert_eq!(calls(id_tables.settle(0, drained(false, 4), 9)), None);
        assert_eq!(calls(id_tables.settle(0, drained(true, 5), 9)), Some(1));
    }

    #[test]
    fn an_impossible_loss_does_not_count() {
        let clock = TickClock::monotonic();
        let mut id_tables = IdTables::new();
        let second = 1_000_000_000;
        id_tables.origin(0, info(1, 1, 1), &clock, &mut Vec::new());
        let mut settle = |calls, now| id_tables.settle(0, drained(false, calls), now);
        assert_eq!(settle(u64::MAX, second), ThreadLosses::Nonsense);
        assert_eq!(settle(u64::MAX, second), ThreadLosses::Nothing);
        assert_eq!(
            settle(0, second),
            ThreadLosses::Nonsense,
            "counts only grow"
        );
        assert!(matches!(
            settle(900_000_000, 2 * second),
            ThreadLosses::Lost(_)
        ));
    }
}
