//! Checks that the thread named by a channel exists. The program shares this memory, and may write anything
//! into it.

use ascend_trace_format::record::Record;
use ascend_trace_ring::ChannelInfo;

use super::{Collector, clock};

/// The memory is made, and a clock is read, within this time of the collector's start and of now.
const SLACK_NS: i64 = 60_000_000_000;

/// The verdict on a channel of an unknown thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    Sound,
    /// It may become sound.
    Waits,
    /// Its process ended before it had recorded anything.
    Empty,
    Damaged,
}

impl Collector {
    /// Whether a channel is read. One that is damaged is freed and counted: it introduces no thread.
    pub(super) fn is_admitted(&mut self, channel: usize, info: ChannelInfo, gone: bool) -> bool {
        if self.arena.is_admitted(channel) {
            return true;
        }
        match self.judge(channel, info, gone) {
            Admission::Sound => {
                self.arena.admit(channel, info);
                return true;
            }
            Admission::Waits => {}
            Admission::Empty => self.arena.refuse(channel),
            Admission::Damaged => {
                self.arena.refuse(channel);
                self.damage(1);
            }
        }
        false
    }

    fn judge(&self, channel: usize, info: ChannelInfo, gone: bool) -> Admission {
        if self.id_tables.knows(info) {
            return Admission::Sound;
        }
        let first = self.arena.first_record(channel);
        let record = first.as_deref().and_then(Record::take);
        if record.is_some_and(|record| announces(&record, info)) {
            return Admission::Sound;
        }
        // The key of a process is the time at which it joined.
        let joined = self.clock.ns(info.process_key);
        let moments =
            self.begun_ns.saturating_sub(SLACK_NS)..=clock::now().saturating_add(SLACK_NS);
        if !moments.contains(&joined) || self.id_tables.has_key(info.process_key) {
            return Admission::Damaged;
        }
        let has_lost = self.arena.dropped(channel).total() > 0;
        match first {
            _ if self.liveness.is_alive(info) => Admission::Sound,
            // Its announcement found no room.
            _ if has_lost => Admission::Sound,
            Some(_) => Admission::Damaged,
            None if gone => Admission::Empty,
            None => Admission::Waits,
        }
    }
}

/// Whether a thread that joins writes this first. The words of a process come in records without its number.
fn announces(record: &Record<'_>, info: ChannelInfo) -> bool {
    match record {
        Record::Process(record) => record.pid == info.pid && record.begin == info.process_key,
        Record::Thread(record) => record.tid == info.tid,
        Record::Command(record) => record.part == 0,
        _ => false,
    }
}
