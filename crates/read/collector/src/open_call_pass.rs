//! Running calls of a thread: written while they last, or recorded as open.

use ascend_trace_format::record::SLOT_WORDS;
use ascend_trace_recording::rows::Row;

use super::Collector;
use super::decode::RecordOrigin;
use crate::tables;

/// Treatment of a thread's running calls.
#[derive(Clone, Copy)]
pub(super) enum OpenCallHandling {
    NotLookedAt,
    /// They continue at this time, and are written if they have lasted long.
    GoOn(i64),
    /// Their thread is dead, or the recording ends: that is their end.
    UntilNow(i64),
}

impl Collector {
    /// Takes the calls that a thread has announced and not recorded yet. Returns the number of calls that this
    /// records.
    pub(super) fn take_open(
        &mut self,
        running: &[[u64; SLOT_WORDS]],
        origin: RecordOrigin,
        open: OpenCallHandling,
    ) -> u64 {
        let taken = running.iter().filter(|words| match open {
            OpenCallHandling::NotLookedAt => false,
            OpenCallHandling::GoOn(now_ns) => {
                self.note_open(words, origin, now_ns);
                false
            }
            OpenCallHandling::UntilNow(end_ns) => self.record_open(words, origin, end_ns),
        });
        taken.count() as u64
    }

    /// Writes a call that still runs, if it has lasted long.
    fn note_open(&mut self, words: &[u64; SLOT_WORDS], origin: RecordOrigin, now_ns: i64) {
        let begin = words.get(1).copied().unwrap_or(0);
        let (key, begin_ns) = ((origin.thread, begin), self.clock.ns(begin));
        let long_calls = &mut self.file.long_calls;
        if long_calls.goes_on(key, now_ns) || !long_calls.is_long(begin_ns, now_ns) {
            return;
        }
        let (functions, clock) = (tables::FUNCTIONS, &self.clock);
        let call = self
            .decoder
            .open_call(words, now_ns, origin, functions, clock);
        let Some(call) = call else {
            return;
        };
        self.moved.began(call);
        if let Some(tables) = self.dictionary.translate(call) {
            self.file.push_tables(tables);
        }
        self.file.long_calls.note(key, call.clone());
    }

    /// Records a call that ran until then. Returns false if its words are damaged.
    fn record_open(
        &mut self,
        words: &[u64; SLOT_WORDS],
        origin: RecordOrigin,
        end_ns: i64,
    ) -> bool {
        let (functions, clock) = (tables::FUNCTIONS, &self.clock);
        let call = self
            .decoder
            .open_call(words, end_ns, origin, functions, clock);
        let Some(call) = call else {
            self.damage(1);
            return false;
        };
        self.coverage.count(call.function);
        if let Some(tables) = self.dictionary.translate(call) {
            self.file.push_tables(tables);
        }
        let row = Row::Call(call.clone());
        self.counts.add(&row, origin.process);
        let begin = words.get(1).copied().unwrap_or(0);
        self.file.long_calls.ended((origin.thread, begin));
        self.file.push(&row);
        true
    }
}
