//! Reads the records of one channel, and hands each to the parts of the collector that it concerns.

use ascend_trace_format::record::Record;
use ascend_trace_recording::rows::{ProcessRow, Row};
use ascend_trace_ring::ChannelInfo;
use ascend_trace_tables as tables;

use crate::clock;
use crate::decode::Decoded;
use crate::id_tables::ThreadLosses;
use crate::open_call_pass::OpenCallHandling;
use crate::{Collector, last_activity};

impl Collector {
    /// Reads the records of a channel.
    pub(crate) fn drain(
        &mut self,
        channel: usize,
        info: ChannelInfo,
        (gone, open): (bool, OpenCallHandling),
    ) -> usize {
        let mut introduced = Vec::new();
        let origin = self
            .id_tables
            .origin(channel, info, &self.clock, &mut introduced);
        self.first.get_or_insert(origin);
        let outer_pid = self.liveness.outer_pid(info);
        if let Some(pid @ 1..) = outer_pid
            && let Some(row) = self.unplaced.remove(&origin.process)
        {
            self.file.push(&Row::Process(ProcessRow {
                outer_pid: pid,
                ..row
            }));
        }
        for mut row in introduced {
            match &mut row {
                Row::Process(row) => {
                    row.outer_pid = outer_pid.unwrap_or(0);
                    self.replace((info.namespace, info.pid), row);
                    // Those of another namespace have other numbers here.
                    if outer_pid.is_none() {
                        self.other_threads.add_process(row.process, info.pid);
                    }
                }
                Row::Thread(row) => self.other_threads.add_recorded(info.pid, row.tid),
                _ => {}
            }
            self.file.push(&row);
        }
        let (clock, file, counts) = (&self.clock, &mut self.file, &mut self.counts);
        let (coverage, decoder) = (&mut self.coverage, &mut self.decoder);
        let (marks, dictionary) = (&mut self.marks, &mut self.dictionary);
        let (engine, ranges) = (&mut self.engine, &mut self.ranges);
        let (moved, gauge, now) = (&mut self.moved, &self.gauge, clock::now());
        let costs = &mut self.costs;
        let hardware = &mut self.hardware;
        let unplaced = &mut self.unplaced;
        costs.introduce(origin.process, origin.thread, origin.tid);
        let writer = (origin.process, origin.thread);
        let (mut calls, mut unreadable) = (0, 0);
        let mut last_begin = None;
        // Before the channel gets another owner, and before its records are read: a call that is open
        // now and not among them was running when they were read.
        let mut running = match open {
            OpenCallHandling::NotLookedAt => Vec::new(),
            OpenCallHandling::GoOn(_) | OpenCallHandling::UntilNow(_) => {
                self.arena.open_calls(channel)
            }
        };
        // Calls without a begin leave no record: the recording was paused.
        running.retain(|words| words.get(1) != Some(&0));
        let mut returned = Vec::new();
        let drained = self
            .arena
            .drain(channel, gone, &mut |words| match decoder.decode(
                words,
                origin,
                tables::FUNCTIONS,
                clock,
            ) {
                Decoded::Row(row) => {
                    counts.add(row, origin.process);
                    moved.take(row, now);
                    hardware.take(row, origin.process);
                    if let Row::Call(call) = row {
                        calls += 1;
                        last_begin = words.get(1).copied();
                        let begin = words.get(1).copied().unwrap_or(0);
                        file.long_calls.ended((origin.thread, begin));
                        if running.iter().any(|call| call.get(1) == Some(&begin)) {
                            returned.push(begin);
                        }
                        coverage.count(call.function);
                        let function = tables::FUNCTIONS.get(usize::from(call.function));
                        if let Some(function) = function
                            && let Some(row) = marks.row(call, function, origin)
                        {
                            file.push(&row);
                        }
                        if call.ret != 0 {
                            counts.note_failure(call, dictionary);
                            let names = || dictionary.failure(call);
                            if dictionary.is_failure(call)
                                && let Some(failed) =
                                    last_activity::failed_late(call, origin.tid, names)
                            {
                                gauge.tell_failed(failed);
                            }
                        }
                        file.notice(call);
                        if let Some(tables) = dictionary.translate(call) {
                            file.push_tables(tables);
                        }
                    }
                    match (row, outer_pid) {
                        (Row::Process(row), Some(outer_pid)) => {
                            if outer_pid == 0 {
                                unplaced.insert(row.process, row.clone());
                            }
                            file.push(&Row::Process(ProcessRow {
                                outer_pid,
                                ..row.clone()
                            }));
                        }
                        (row, _) => file.push(row),
                    }
                }
                Decoded::Other(record) => match &record {
                    Record::Lookup(record) => coverage.look_up(record),
                    Record::Library(record) => {
                        if let Some(path) = coverage.load(record) {
                            gauge.tell_library(path);
                        }
                    }
                    Record::Patch(record) => engine.patch(record),
                    Record::EngineFailure(record) => engine.fail(record),
                    Record::RangeBegin(record) => ranges
                        .begin(record, origin, clock)
                        .iter()
                        .for_each(|row| file.push(row)),
                    Record::RangeEnd(record) => ranges
                        .end(record, origin, clock)
                        .for_each(|row| file.push(&row)),
                    Record::Cost(record) => {
                        let row = costs.take(record, writer, calls, clock);
                        row.iter().for_each(|row| file.push(&Row::Cost(*row)));
                    }
                    Record::Activity(record) => hardware.entry(record, origin.process, clock),
                    Record::Log(record) => file.push(&hardware.log(record, origin.process)),
                    _ => unreadable += 1,
                },
                Decoded::Learnt => decoder
                    .found
                    .new_ones()
                    .for_each(|new| dictionary.learn(new)),
                Decoded::Nothing => unreadable += 1,
            });
        if let (true, OpenCallHandling::UntilNow(end)) = (gone, open) {
            let left = ranges.leave(origin, end);
            left.iter().for_each(|row| file.push(row));
            self.end_process(origin.process, end);
        }
        self.damage(unreadable + drained.damaged);
        let last_begin = last_begin.or_else(|| self.id_tables.last_begin(channel));
        self.id_tables.set_last_begin(channel, last_begin);
        // A call that was killed just after its record exists already.
        running.retain(|words| {
            let begin = words.get(1).copied();
            begin != last_begin && begin.is_none_or(|begin| !returned.contains(&begin))
        });
        calls += self.take_open(&running, origin, open);
        self.costs.count(origin.thread, calls);
        let now = clock::now();
        let filtered = self.id_tables.take_filtered(channel, drained, now);
        if let Some((process, calls)) = filtered {
            self.counts.filtered += calls;
            if let Some(row) = self.filtered.add(process, calls, now) {
                self.file.push(&Row::Counter(row));
            }
        }
        match self.id_tables.settle(channel, drained, now) {
            ThreadLosses::Lost(loss) => self.lose(loss),
            ThreadLosses::Nonsense => self.damage(1),
            ThreadLosses::Nothing => {}
        }
        drained.records
    }
}
