//! Collects what traced programs record and writes it to the trace file.
//!
//! One thread drains every channel of the session, decodes the records and puts rows into columns,
//! until the program has ended; another one packs the columns and writes them. The caller passes a
//! function that shows messages to the user ([`Notify`]).

mod admit;
mod channel_pass;
pub mod clock;
mod command;
mod cost;
pub mod coverage;
mod damage;
mod decode;
pub mod dictionary;
mod end_of_file;
pub mod exports;
pub mod file;
mod filtered_calls;
pub mod gauge;
mod hardware;
mod id_tables;
mod last_activity;
mod liveness;
mod long_texts;
mod marks;
mod name_pattern;
mod open_call_pass;
mod open_calls;
mod operator_words;
mod other_threads;
mod outcome;
mod patching;
pub mod process_name;
mod ranges;
mod repack;
pub mod ring;
pub mod roll;
pub mod session;
mod snapshots;
mod stacks;
mod stop;
mod storage;
mod stub_functions;
pub mod switchboard;
pub mod target;

use std::collections::BTreeMap;
use std::sync::Arc;

use ascend_trace_recording::rows::{LossRow, ProcessEndRow, ProcessRow, RangeRow, Row};
use ascend_trace_ring::Arena;
use ascend_trace_tables as tables;
use clock::TickClock;
use cost::ThreadCosts;
use coverage::Coverage;
use decode::{Decoder, RecordOrigin};
use dictionary::Dictionary;
use file::Recorder;
use filtered_calls::FilteredCalls;
use gauge::{Gauge, RecordedCounts};
use hardware::Hardware;
use id_tables::{IdTables, possible};
use last_activity::ActivityTracker;
use liveness::Liveness;
use marks::Marks;
use open_call_pass::OpenCallHandling;
use other_threads::OtherThreads;
use patching::EngineReport;
use ranges::Ranges;
use snapshots::SnapshotSchedule;

pub use other_threads::kernel::{Children, threads};
pub use outcome::{RecordingCounts, RecordingOutcome};
pub use stop::{ProgramEnd, Stop};
use switchboard::{ClockedWindow, Switchboard, WindowClock};

/// Reports one message to the user.
pub type Notify = fn(&str);

/// Why a recording ended before its program.
const STOPPED: &str = "stopped by ctl";
/// From the pause of a recording that is stopped to its end: times of tasks that have ended arrive until then.
const STOP_NS: i64 = 100_000_000;

/// Finding at least this much in a pass means that more is waiting already.
const BUSY_RECORDS: usize = 4_000;

/// Everything that is needed to collect.
pub struct Collector {
    arena: Arena,
    clock: TickClock,
    file: Recorder,
    decoder: Decoder,
    dictionary: Dictionary,
    id_tables: IdTables,
    liveness: Liveness,
    counts: RecordingCounts,
    coverage: Coverage,
    engine: EngineReport,
    marks: Marks,
    ranges: Ranges,
    filtered: FilteredCalls,
    moved: ActivityTracker,
    /// End of each ended process, as written to the file.
    ended: BTreeMap<u32, i64>,
    /// The last one of each pid, by namespace.
    images: BTreeMap<(u64, u32), u32>,
    /// Processes of other pid namespaces with a pid here that is not known yet.
    unplaced: BTreeMap<u32, ProcessRow>,
    costs: ThreadCosts,
    other_threads: OtherThreads,
    hardware: Hardware,
    without_channel: u64,
    begun_ns: i64,
    out_of_memory: bool,
    /// The message about a cut of the memory has been printed.
    is_cut: bool,
    /// Damage that is not in the file yet.
    unreported: u64,
    gauge: Arc<Gauge>,
    board: Arc<Switchboard>,
    window: ClockedWindow,
    snapshots: SnapshotSchedule,
    /// The first thread that was recorded.
    first: Option<RecordOrigin>,
    /// When a recording that is stopped ends, and when it was asked for that.
    stops_ns: Option<i64>,
    stopped_ns: Option<i64>,
    /// Why it ended then.
    stop_reason: &'static str,
}

impl Collector {
    pub fn new(arena: Arena, clock: TickClock, file: Recorder) -> Self {
        Self {
            arena,
            clock,
            gauge: Arc::clone(&file.gauge),
            file,
            decoder: Decoder::default(),
            dictionary: Dictionary::default(),
            id_tables: IdTables::new(),
            liveness: Liveness::default(),
            counts: RecordingCounts::default(),
            coverage: Coverage::default(),
            engine: EngineReport::default(),
            marks: Marks::default(),
            ranges: Ranges::default(),
            filtered: FilteredCalls::default(),
            moved: ActivityTracker::default(),
            ended: BTreeMap::new(),
            images: BTreeMap::new(),
            unplaced: BTreeMap::new(),
            costs: ThreadCosts::default(),
            other_threads: OtherThreads::default(),
            hardware: Hardware::default(),
            without_channel: 0,
            begun_ns: clock::now(),
            out_of_memory: false,
            is_cut: false,
            unreported: 0,
            board: Arc::default(),
            window: ClockedWindow::default(),
            snapshots: SnapshotSchedule::default(),
            first: None,
            stops_ns: None,
            stopped_ns: None,
            stop_reason: STOPPED,
        }
    }

    /// Sets the reason in the file for an end that the user asks for.
    pub fn with_stop_reason(mut self, reason: &'static str) -> Self {
        self.stop_reason = reason;
        self
    }

    /// Also reads the hardware log.
    pub fn with_log(mut self) -> Self {
        self.hardware.want();
        self
    }

    /// Follows this switch, and turns it by the clock. Its first state must be in the shared memory already.
    pub fn with_window(mut self, board: Arc<Switchboard>, clock: WindowClock) -> Self {
        self.window = ClockedWindow::new(clock, self.begun_ns);
        self.board = board;
        self
    }

    /// Its counts while it runs.
    pub fn gauge(&self) -> Arc<Gauge> {
        Arc::clone(&self.gauge)
    }

    /// Collects until `stop` says that the program has ended, or the recording is stopped before that. Then it ends the file.
    pub fn run(mut self, stop: &Stop) -> RecordingOutcome {
        let mut idle_passes = 0;
        loop {
            let found = self.pass();
            self.gauge.publish(self.counted());
            self.moved.publish(&self.gauge);
            self.file.flush_when_due();
            if let Some(end) = stop.requested() {
                return self.finish(Some(end)).0;
            }
            if self.is_stopped() {
                let board = Arc::clone(&self.board);
                let (outcome, mut arena) = self.finish(None);
                // Processes that others can attach to leave the session now.
                arena.set_switch(board.wanted().completed());
                board.note_stopped();
                // Processes of the program still have the shared memory: its file stays until the program ends.
                stop.wait_for_end();
                drop(arena);
                return outcome;
            }
            idle_passes = if found == 0 { idle_passes + 1 } else { 0 };
            if found < BUSY_RECORDS && !self.arena.is_pressed() {
                stop.wait(pause(idle_passes));
            }
        }
    }

    /// Whether the recording has to end now, before the program.
    fn is_stopped(&mut self) -> bool {
        let now = clock::now();
        // The pass before has set the switch.
        let is_due = self.board.is_stopping() && self.board.is_set();
        is_due && *self.stops_ns.get_or_insert(now.saturating_add(STOP_NS)) <= now
    }

    /// Drains every channel once and returns the number of records.
    fn pass(&mut self) -> usize {
        self.clock.refresh();
        self.liveness.refresh();
        let begun = self.arena.begun();
        self.window.turn(&self.board, begun, clock::now());
        let switch = self.board.wanted();
        if self.board.is_stopping() {
            // Processes pause after this.
            self.stopped_ns.get_or_insert_with(clock::now);
        }
        if let Some((timing, budget)) = self.board.timing() {
            self.arena.set_timing(timing, budget);
        }
        self.arena.set_switch(switch);
        self.board.note_set(switch);
        let found = self.drain_all(None);
        for row in self.other_threads.take() {
            self.file.push(&Row::OtherThread(row));
        }
        self.mark();
        self.snapshots
            .turn(&self.board, &mut self.file, self.first, clock::now());
        found
    }

    /// Drains every channel. With `end_ns`, the recording ends then.
    fn drain_all(&mut self, end_ns: Option<i64>) -> usize {
        self.mend();
        self.replenish();
        let mut records = 0;
        let now = clock::now();
        let looks = self.file.long_calls.begin_look(now);
        for (channel, info) in self.arena.channels() {
            // Asked before draining: then everything that a dead process wrote is visible.
            let gone = self.liveness.has_ended(info);
            if !self.is_admitted(channel, info, gone) {
                continue;
            }
            let until = end_ns.or_else(|| gone.then(clock::now));
            let open = match until {
                Some(end) => OpenCallHandling::UntilNow(end),
                None if looks => OpenCallHandling::GoOn(now),
                None => OpenCallHandling::NotLookedAt,
            };
            records += self.drain(channel, info, (gone, open));
        }
        if looks {
            self.file.long_calls.end_look();
        }
        self.join_log(end_ns.is_some());
        self.tell_damage();
        records
    }

    /// Writes the marks that were asked for. They belong to the thread that was recorded first.
    fn mark(&mut self) {
        let Some(origin) = self.first else { return };
        for (at_ns, name) in self.board.take_marks() {
            self.file.push(&Row::Range(RangeRow {
                process: origin.process,
                thread: origin.thread,
                begin_ns: at_ns,
                end_ns: at_ns,
                domain: 0,
                name: format!("ctl: {name}"),
            }));
        }
    }

    /// Writes the entries of the hardware log that can be joined now.
    fn join_log(&mut self, is_last: bool) {
        let now = clock::now();
        for row in self.hardware.settle(is_last) {
            self.counts.add(&row, 0);
            self.moved.take(&row, now);
            self.file.push(&row);
        }
    }

    /// A process has been met. Another program may have run under its pid until then.
    fn replace(&mut self, pid: (u64, u32), row: &ProcessRow) {
        let before = self.images.insert(pid, row.process);
        if let Some(before) = before.filter(|it| *it != row.process) {
            self.end_process(before, row.begin_ns);
        }
    }

    /// Notes an end once, and again when it turns out to have been earlier: a program that replaces another is met
    /// after that one was found gone.
    fn end_process(&mut self, process: u32, end_ns: i64) {
        self.unplaced.remove(&process);
        self.other_threads.end_process(process);
        if self.ended.get(&process).is_none_or(|known| end_ns < *known) {
            self.ended.insert(process, end_ns);
            self.file
                .push(&Row::ProcessEnd(ProcessEndRow { process, end_ns }));
        }
    }

    /// Counts up to now, including those of threads without a channel.
    fn counted(&self) -> RecordedCounts {
        let counts = &self.counts;
        let without_channel = self.without_channel().unwrap_or(0);
        RecordedCounts {
            calls: counts.calls + counts.nested,
            lost: counts.lost_calls + counts.lost_times + counts.lost_others + without_channel,
        }
    }

    /// Calls without a channel that were not reported yet, if their number can be true.
    fn without_channel(&self) -> Option<u64> {
        let without_channel = self
            .arena
            .without_channel()
            .saturating_sub(self.without_channel);
        // Of any number of threads.
        let most = possible(self.begun_ns, clock::now()).saturating_mul(1 << 10);
        (without_channel <= most).then_some(without_channel)
    }

    fn lose(&mut self, loss: LossRow) {
        self.counts.lost_calls += loss.calls;
        self.counts.lost_times += loss.times;
        self.counts.lost_others += loss.others - loss.times;
        self.file.push(&Row::Loss(loss));
    }

    /// Keeps free memory ahead of the program. When it is used up, records are dropped and counted
    /// there; the message appears once.
    fn replenish(&mut self) {
        if let Err(error) = self.arena.replenish()
            && !self.out_of_memory
        {
            self.out_of_memory = true;
            let path = self.arena.path().display();
            (self.file.say)(&format!(
                "no more memory for records in {path}: {error}; some may be lost"
            ));
        }
    }
}

/// Pause after a number of passes without a record: short while records may arrive, as a program that
/// begins at full speed fills the first memory within milliseconds.
fn pause(idle_passes: u32) -> std::time::Duration {
    std::time::Duration::from_millis(match idle_passes {
        0 => 1,
        1..=100 => 2,
        _ => 5,
    })
}
