//! Pauses, resumptions and snapshots of the recording from outside the program: by a clock, by signals and by requests.
//!
//! Any thread may ask for one. The collecting thread puts the switch into shared memory with its next pass, and each process
//! follows it at its next call.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ascend_trace_format::session::Timing;
use ascend_trace_format::window::Switch;

use crate::clock;
use crate::ring::{SnapshotOrigin, SnapshotRequest};

/// When the recorder begins and ends the recording by its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowClock {
    /// From the program's start to the begin of the recording.
    pub delay: Option<Duration>,
    /// From the begin of the recording to its end.
    pub duration: Option<Duration>,
    /// A signal begins the recording.
    pub waits_for_signal: bool,
    /// Processes or requests begin the recording: a condition is met, or the first pause ends.
    pub waits_for_processes: bool,
}

/// The switch that is wanted.
#[derive(Debug, Default)]
pub struct Switchboard {
    switch: AtomicU32,
    /// The recording has begun by a signal or a request.
    has_begun: AtomicBool,
    /// The switch in shared memory.
    set: AtomicU32,
    /// Marks that are not in the file yet: when they were asked for, and their texts.
    marks: Mutex<Vec<(i64, String)>>,
    /// A snapshot that was asked for, and is not under way yet.
    wanted: Mutex<Option<SnapshotRequest>>,
    snapshots: Mutex<Snapshots>,
    /// The reason of a snapshot that other recordings do not know of.
    news: Mutex<Option<String>>,
    /// The timing that was asked for, with its budget.
    timing: Mutex<Option<(Timing, u32)>>,
    /// The files of a recording that goes on in further ones, and that stay; the last one is written.
    parts: Mutex<VecDeque<PathBuf>>,
    /// How far the end of the recording before the program is: `RUNS` and the following.
    ending: AtomicU8,
}

/// The recording goes on.
const RUNS: u8 = 0;
/// A request has asked for its end.
const STOPPING: u8 = 1;
/// It has ended, and its file is complete.
const STOPPED: u8 = 2;

/// Snapshots of this recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// Those that ended, well or not.
    pub ended: u64,
    /// The files, the oldest first.
    pub files: VecDeque<PathBuf>,
}

/// Marks that may wait for the collector at a time.
const MOST_MARKS: usize = 1000;
/// Bytes of a mark's text.
const LONGEST_MARK: usize = 1000;

impl Switchboard {
    /// A recording that begins with a pause by the recorder, if its clock says that.
    pub fn new(clock: &WindowClock) -> Self {
        let board = Self::default();
        if clock.delay.is_some() || clock.waits_for_signal {
            board.change(Switch::paused);
        }
        board
    }

    fn change(&self, to: impl Fn(Switch) -> Switch) {
        // A pause that ends the recording stays.
        let next = |now| {
            let to = to(Switch(now));
            Some(if self.is_stopping() { to.paused() } else { to }.0)
        };
        // The function never refuses.
        let _ = self.switch.fetch_update(SeqCst, SeqCst, next);
    }

    /// Nothing is recorded from now on.
    pub fn pause(&self) {
        self.change(Switch::paused);
    }

    /// The recorder's pause ends, and those of programs stay.
    pub fn release(&self) {
        self.change(Switch::released);
        self.has_begun.store(true, SeqCst);
    }

    /// All pauses end.
    pub fn resume(&self) {
        self.change(Switch::forced);
        self.has_begun.store(true, SeqCst);
    }

    /// The recording ends now, and the program runs on: a pause that never ends.
    pub fn stop(&self) {
        let _ = self.ending.compare_exchange(RUNS, STOPPING, SeqCst, SeqCst);
        self.pause();
    }

    /// Whether a request has asked for the end of the recording. It may have ended.
    pub fn is_stopping(&self) -> bool {
        self.ending.load(SeqCst) != RUNS
    }

    /// Whether the recording has ended before the program, and the file is complete.
    pub fn is_stopped(&self) -> bool {
        self.ending.load(SeqCst) == STOPPED
    }

    pub(crate) fn note_stopped(&self) {
        self.ending.store(STOPPED, SeqCst);
    }

    /// Tasks are timed in this way from now on, with this budget.
    pub fn retime(&self, timing: Timing, budget: u32) {
        *self.timing.lock().unwrap_or_else(PoisonError::into_inner) = Some((timing, budget));
        self.change(Switch::with_other_timing);
    }

    /// The timing that was asked for last, with its budget.
    pub fn timing(&self) -> Option<(Timing, u32)> {
        *self.timing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the recorder has paused.
    pub fn is_paused(&self) -> bool {
        self.wanted().is_paused()
    }

    /// Whether the wanted switch is in shared memory: processes follow it at their next calls.
    pub fn is_set(&self) -> bool {
        self.set.load(SeqCst) == self.switch.load(SeqCst)
    }

    pub(crate) fn note_set(&self, switch: Switch) {
        self.set.store(switch.0, SeqCst);
    }

    /// Puts a mark into the recording, at this time. `false` if too many wait already.
    pub fn mark(&self, text: &str) -> bool {
        let text = text
            .get(..text.floor_char_boundary(LONGEST_MARK))
            .unwrap_or(text);
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = marks.len() < MOST_MARKS;
        if has_room {
            marks.push((clock::now(), text.to_owned()));
        }
        has_room
    }

    pub(crate) fn take_marks(&self) -> Vec<(i64, String)> {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *marks)
    }

    /// Asks for a snapshot. If one is asked for already, that has the same content.
    pub fn want_snapshot(&self, reason: &str, origin: SnapshotOrigin) {
        self.want(SnapshotRequest {
            at_ns: clock::now(),
            reason: reason.to_owned(),
            origin,
        });
    }

    /// Asks for a snapshot of an event in the recording.
    pub(crate) fn want(&self, request: SnapshotRequest) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *wanted {
            Some(known) => known.origin = known.origin.with(request.origin),
            None => *wanted = Some(request),
        }
    }

    /// A snapshot for this reason is taken, and other recordings do not know of it.
    pub(crate) fn announce(&self, reason: &str) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        *news = Some(reason.to_owned());
    }

    /// The reason of a snapshot that other recordings do not know of.
    pub fn take_news(&self) -> Option<String> {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.take()
    }

    pub(crate) fn take_wanted(&self) -> Option<SnapshotRequest> {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.take()
    }

    /// A snapshot has ended; with a file, and the number of files that stay. Returns the files that do not.
    pub(crate) fn note_snapshot(&self, file: Option<(PathBuf, usize)>) -> Vec<PathBuf> {
        let snapshots = self.snapshots.lock();
        let mut snapshots = snapshots.unwrap_or_else(PoisonError::into_inner);
        snapshots.ended += 1;
        let Some((file, keep)) = file else {
            return Vec::new();
        };
        snapshots.files.push_back(file);
        let more = snapshots.files.len().saturating_sub(keep.max(1));
        snapshots.files.drain(..more).collect()
    }

    /// The recording goes on in this file. Returns the files that do not stay, if there are more than `keep`.
    pub(crate) fn note_part(&self, file: PathBuf, keep: Option<usize>) -> Vec<PathBuf> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.push_back(file);
        let more = keep.map_or(0, |keep| parts.len().saturating_sub(keep.max(1)));
        parts.drain(..more).collect()
    }

    /// The files of a recording that goes on in further ones, the oldest first.
    pub fn parts(&self) -> VecDeque<PathBuf> {
        let parts = self.parts.lock();
        parts.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The snapshots until now.
    pub fn snapshots(&self) -> Snapshots {
        let snapshots = self.snapshots.lock();
        snapshots.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// For shared memory.
    pub fn wanted(&self) -> Switch {
        Switch(self.switch.load(SeqCst))
    }
}

/// Turns the switch by the clock.
#[derive(Debug, Default)]
pub(crate) struct ClockedWindow {
    clock: WindowClock,
    /// When the recorder's pause ends.
    opens_ns: Option<i64>,
    /// When the recording ends, once it has begun.
    closes_ns: Option<i64>,
}

impl ClockedWindow {
    /// The program starts now.
    pub(crate) fn new(clock: WindowClock, now: i64) -> Self {
        Self {
            clock,
            opens_ns: clock
                .delay
                .map(|delay| now.saturating_add(nanoseconds(delay))),
            closes_ns: None,
        }
    }

    /// Turns the switch if that is due. `begun` is the number of processes in which the recording has begun.
    pub(crate) fn turn(&mut self, board: &Switchboard, begun: u32, now: i64) {
        if self.opens_ns.is_some_and(|at| at <= now) {
            self.opens_ns = None;
            board.release();
        }
        let Some(duration) = self.clock.duration else {
            return;
        };
        if self.closes_ns.is_none() && self.has_begun(board, begun) {
            self.closes_ns = Some(now.saturating_add(nanoseconds(duration)));
        }
        if self.closes_ns.is_some_and(|at| at <= now) {
            self.clock.duration = None;
            board.pause();
        }
    }

    /// Whether the recording has begun: at once, by the clock, by a request, or in a process.
    pub(crate) fn has_begun(&self, board: &Switchboard, begun: u32) -> bool {
        let clock = &self.clock;
        let waits = clock.delay.is_some() || clock.waits_for_signal || clock.waits_for_processes;
        !waits || begun > 0 || board.has_begun.load(SeqCst)
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn window(clock: WindowClock) -> (Switchboard, ClockedWindow) {
        (Switchboard::new(&clock), ClockedWindow::new(clock, 0))
    }

    #[test]
    fn a_delay_and_a_duration_follow_each_other() {
        let (board, mut window) = window(WindowClock {
            delay: Some(Duration::from_secs(5)),
            duration: Some(Duration::from_secs(10)),
            ..WindowClock::default()
        });
        for (second, is_paused) in [(0, true), (4, true), (5, false), (14, false), (15, true)] {
            window.turn(&board, 0, second * SECOND);
            assert_eq!(board.is_paused(), is_paused, "{second}");
        }
        board.resume();
        window.turn(&board, 0, 99 * SECOND);
        assert!(!board.is_paused(), "a duration ends once");
    }

    #[test]
    fn a_duration_counts_from_the_begin_in_the_first_process() {
        let (board, mut window) = window(WindowClock {
            duration: Some(Duration::from_secs(2)),
            waits_for_processes: true,
            ..WindowClock::default()
        });
        for (second, begun, is_paused) in
            [(0, 0, false), (9, 0, false), (10, 1, false), (12, 3, true)]
        {
            window.turn(&board, begun, second * SECOND);
            assert_eq!(board.is_paused(), is_paused, "{second}");
        }
    }

    #[test]
    fn a_stop_is_a_pause_that_nothing_ends() {
        let board = Switchboard::default();
        board.stop();
        board.resume();
        board.release();
        board.retime(Timing::Off, 0);
        assert!(board.is_paused() && board.is_stopping() && !board.is_stopped());
        board.note_stopped();
        board.stop();
        assert!(board.is_stopped(), "a second request changes nothing");
    }

    #[test]
    fn marks_wait_for_the_collector_up_to_a_number() {
        let board = Switchboard::default();
        assert!((0..MOST_MARKS).all(|_| board.mark("x")) && !board.mark("x"));
        assert_eq!(board.take_marks().len(), MOST_MARKS);
        assert!(board.mark(&"µ".repeat(LONGEST_MARK)));
        let marks = board.take_marks();
        assert_eq!(marks.first().map(|it| it.1.len()), Some(LONGEST_MARK));
    }

    #[test]
    fn a_signal_begins_the_recording_and_requests_count_as_well() {
        let (board, mut window) = window(WindowClock {
            duration: Some(Duration::from_secs(2)),
            waits_for_signal: true,
            ..WindowClock::default()
        });
        window.turn(&board, 0, 50 * SECOND);
        assert!(board.is_paused());
        board.release();
        window.turn(&board, 0, 60 * SECOND);
        assert!(!board.is_paused());
        window.turn(&board, 0, 62 * SECOND);
        assert!(board.is_paused());
    }
}
