//! The thread that reads a recording for the view, at the visible range.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ascend_trace_recording::file::recognise;
use ascend_trace_recording::recording::WindowError;
use ascend_trace_recording::{OpenError, Recording, Summary, TimeRange, Trace};
use ascend_trace_viewer::{BackgroundQuery, DerivedData, JobNews, LoadedExtent, RecordingOverview};

use super::inbox::{Inbox, LoadedPart};
use super::loader::{LoadRequest, RequestSlot};
use super::memory_pass::MemoryPass;
use super::poll_pace::{IDLE_TICK, PollPace, TICK, UNTIL_ASKED, step_back};
use super::writer_lock;
use crate::cli::trace_files::TraceFiles;
use crate::stack_symbols;

/// Calls and tasks that are read one by one; where there are more, sums are shown.
const MOST: u64 = 150_000;
/// The same for a growing recording, which is read again with each look.
const MOST_GROWING: u64 = 50_000;
/// Tasks without a time are known by their launches. Launches of this long before and after a range are read with it.
const QUEUE_NS: i64 = 10_000_000;
/// Entries per lane in the sums of the whole recording, and of the range on screen.
const WHOLE: usize = 4096;
const NEAR: usize = 4096;
/// Pause before the sums of a whole growing recording are made again, as a multiple of their duration.
const PATIENCE: u32 = 20;
/// In parts of this age, hardly anything changes: late times at most.
const SETTLED_NS: i64 = 2_000_000_000;
/// Pause before they are looked at again.
const LATE_TICK: Duration = Duration::from_secs(1);

/// Input of the thread.
pub(super) struct ReaderInput {
    pub(super) files: TraceFiles,
    /// Whether it is being written by this process.
    pub(super) ours: bool,
}

pub(super) struct PartReader {
    requests: Arc<RequestSlot>,
    inbox: Arc<Inbox>,
    /// The file, unless it is known to grow.
    may_rest: Option<PathBuf>,
}

/// Data that the view has received.
struct SentParts {
    request: LoadRequest,
    loaded: Option<TimeRange>,
    /// When that was read, and up to where the recording went then.
    read: (Instant, i64),
    /// There is more to be known of all of the recording.
    has_news: bool,
    /// When the file was found to have grown.
    grown: Option<Instant>,
    /// The recording gains nothing any more.
    is_final: bool,
    /// All of the file has been looked through for damage.
    is_checked: bool,
    whole: Arc<Summary>,
    near: Arc<Summary>,
    summed: Instant,
    pause: Duration,
    memory: MemoryPass,
}

impl SentParts {
    /// Whether the calls that change memory must be read from the file.
    fn reads_memory(&self) -> bool {
        self.loaded != Some(TimeRange::EVERYTHING) && self.memory.is_due()
    }
}

impl PartReader {
    pub(super) fn new(requests: Arc<RequestSlot>, inbox: Arc<Inbox>) -> Self {
        Self {
            requests,
            inbox,
            may_rest: None,
        }
    }

    /// Reads until the view ends or the file cannot be read.
    pub(super) fn run(mut self, begin: ReaderInput) {
        step_back();
        let ReaderInput { files, ours } = begin;
        self.may_rest = (!ours).then(|| files.last().to_owned());
        if let Err(error) = self.read(&files) {
            self.inbox.open().failed = Some(error);
        }
    }

    /// Whether the recording has ended, or stopped short, as it seems.
    fn is_final(&self, recording: &Recording) -> bool {
        recording.complete() || self.may_rest.as_deref().is_some_and(writer_lock::is_gone)
    }

    fn open(&self, files: &TraceFiles) -> Result<Recording, OpenError> {
        let mut last_report = Instant::now();
        // A recorder may not have written its first bytes yet.
        while !recognise(files.last())? {
            let known = self.requests.now();
            if self.requests.wait(known, TICK).stop {
                return Err(OpenError::Stopped);
            }
        }
        let mut recording = files.read(|done, all| {
            if last_report.elapsed() > TICK {
                last_report = Instant::now();
                self.inbox.open().opening = Some((done, all));
            }
            !self.requests.now().stop
        })?;
        recording.set_symbols_ahead(stack_symbols::of_this_machine());
        recording.find_call_sites();
        Ok(recording)
    }

    fn read(&self, files: &TraceFiles) -> Result<(), OpenError> {
        let mut recording = match self.open(files) {
            Err(OpenError::Stopped) => return Ok(()),
            opened => opened?,
        };
        let mut given = SentParts {
            request: LoadRequest::default(),
            loaded: None,
            read: (Instant::now(), i64::MIN),
            has_news: false,
            grown: None,
            is_final: self.is_final(&recording),
            is_checked: false,
            whole: Arc::default(),
            near: Arc::default(),
            summed: Instant::now(),
            pause: Duration::ZERO,
            memory: MemoryPass::default(),
        };
        self.sum_up(&mut recording, &mut given)?;
        self.begin(&mut recording, &mut given)?;
        let mut pace = PollPace::new();
        let mut was_complete = false;
        let mut query: Option<Box<BackgroundQuery>> = None;
        loop {
            self.inbox.open().position = recording.position();
            if recording.complete() && !was_complete {
                was_complete = true;
                self.inbox.open().ended = Some(recording.entities().exit_status());
            }
            let time = match (&query, recording.complete()) {
                (Some(_), _) => Duration::ZERO,
                (None, _) if given.reads_memory() => Duration::ZERO,
                // The returned data of the view has been freed.
                (None, true) if self.inbox.is_taken() => UNTIL_ASKED,
                (None, true) => IDLE_TICK,
                (None, false) if given.is_final => IDLE_TICK,
                (None, false) if self.inbox.is_taken() => pace.rest(),
                (None, false) => TICK,
            };
            let request = self.requests.wait(given.request, time);
            if request.stop {
                return Ok(());
            }
            self.inbox.free();
            let is_due = !recording.complete() && pace.is_due() && self.inbox.is_taken();
            if is_due {
                pace.begin();
            }
            let mut grown = is_due && recording.poll()?;
            if grown {
                recording.find_call_sites();
            }
            if grown {
                given.memory.note_growth();
            }
            given.grown = grown.then(Instant::now).or(given.grown);
            // The open calls of a growing recording are then looked at again.
            let is_final = self.is_final(&recording);
            grown |= is_final != std::mem::replace(&mut given.is_final, is_final);
            if grown && (given.summed.elapsed() > given.pause || recording.complete()) {
                self.sum_up(&mut recording, &mut given)?;
            }
            match request.range {
                Some(range) if grown || request != given.request => {
                    self.look(&mut recording, &mut given, range, grown)?;
                }
                None if grown => self.begin(&mut recording, &mut given)?,
                _ => {}
            }
            if std::mem::take(&mut given.has_news) {
                self.inbox.open().overview = Some(overview(&mut recording, &given));
            }
            if is_due {
                pace.end();
            }
            if request.query != given.request.query {
                query = self.requests.take_query();
            }
            given.request = request;
            self.inbox.open().answered = request.number;
            if let Some(mut own) = query.take() {
                match self.search_until_found(&mut recording, &mut own, request) {
                    Ok(true) => self.inbox.report(JobNews::Found(own)),
                    Ok(false) => query = Some(own),
                    Err(WindowError::Open(error)) => return Err(error),
                    Err(WindowError::TooMany(_)) => self.inbox.report(JobNews::Found(own)),
                }
            } else if given.reads_memory() {
                self.follow_memory(&mut recording, &mut given, request)?;
            }
        }
    }

    /// Goes on reading the memory in use, until the view wants something else or the recording may have grown.
    fn follow_memory(
        &self,
        recording: &mut Recording,
        given: &mut SentParts,
        request: LoadRequest,
    ) -> Result<(), OpenError> {
        let begun = Instant::now();
        let keep_on = || self.requests.now() == request && begun.elapsed() < TICK;
        match given.memory.advance(recording, keep_on) {
            Ok(is_new) => {
                if is_new {
                    self.inbox.open().overview = Some(overview(recording, given));
                }
                Ok(())
            }
            // Parts are read at any size.
            Err(WindowError::TooMany(_)) => Ok(()),
            Err(WindowError::Open(error)) => Err(error),
        }
    }

    /// Goes on looking for something until it is found or the view wants something else.
    fn search_until_found(
        &self,
        recording: &mut Recording,
        query: &mut BackgroundQuery,
        request: LoadRequest,
    ) -> Result<bool, WindowError> {
        let mut last_report: Option<Instant> = None;
        let number = query.number();
        query.advance(recording, &mut |reached| {
            if last_report.is_none_or(|last_report| last_report.elapsed() > TICK) {
                last_report = Some(Instant::now());
                self.inbox.report(JobNews::Reached(number, reached));
            }
            self.requests.now() == request
        })
    }

    /// Sums the whole recording up.
    fn sum_up(&self, recording: &mut Recording, given: &mut SentParts) -> Result<(), OpenError> {
        let begin = Instant::now();
        given.whole = Arc::new(recording.summary(TimeRange::EVERYTHING, WHOLE)?);
        given.summed = Instant::now();
        given.pause = begin.elapsed() * PATIENCE;
        given.has_news = true;
        Ok(())
    }

    /// Updates the data of a range: its sums, and its calls and tasks if they are not too many.
    fn look(
        &self,
        recording: &mut Recording,
        given: &mut SentParts,
        range: TimeRange,
        grown: bool,
    ) -> Result<(), OpenError> {
        let wide = widened(range);
        let end = end_of(recording);
        // Later rows are not loaded.
        let known_until = match given.read.1 < end {
            true => given.read.1,
            false => i64::MAX,
        };
        let current = TimeRange::new(i64::MIN, known_until);
        let covered = |known: TimeRange| known.intersection(current).covers(range);
        let fits = |known: &Summary| {
            // Much more than is on screen is too coarse for it.
            covered(known.range) && known.range.duration() / 8 < range.duration()
        };
        let is_settled = range.end.saturating_add(SETTLED_NS) < given.read.1;
        let is_late = is_settled && given.read.0.elapsed() < LATE_TICK;
        let is_new = grown && (given.is_final || !is_late);
        if is_new || !fits(&given.near) {
            given.near = Arc::new(recording.summary(wide, NEAR)?);
        }
        given.has_news = true;
        if !is_new && given.loaded.is_some_and(covered) {
            return Ok(());
        }
        if self.give_whole(recording, given)? {
            return Ok(());
        }
        let most = most(given, is_settled);
        given.read = (Instant::now(), end);
        for wanted in [wide, range] {
            let loaded = open_ended(wanted, recording.span());
            if self.give_range(recording, given, (wanted, loaded), most)? {
                return Ok(());
            }
        }
        let is_near = given.loaded.is_some_and(|known| known.shares_time(range));
        if is_new || !is_near {
            self.give(recording, None, given)?;
        }
        Ok(())
    }

    /// Gives the first data before the view requests a range.
    fn begin(&self, recording: &mut Recording, given: &mut SentParts) -> Result<(), OpenError> {
        match self.give_whole(recording, given)? {
            true => Ok(()),
            false => self.give(recording, None, given),
        }
    }

    /// Gives all of the recording, if there is not too much of it.
    fn give_whole(
        &self,
        recording: &mut Recording,
        given: &mut SentParts,
    ) -> Result<bool, OpenError> {
        let most = most(given, false);
        if recording.rows() > most {
            return Ok(false);
        }
        given.read = (Instant::now(), end_of(recording));
        self.give_range(
            recording,
            given,
            (TimeRange::EVERYTHING, TimeRange::EVERYTHING),
            most,
        )
    }

    /// Gives the content of a range, if it is not too much: then the second range is loaded.
    fn give_range(
        &self,
        recording: &mut Recording,
        given: &mut SentParts,
        (wanted, loaded): (TimeRange, TimeRange),
        most: u64,
    ) -> Result<bool, OpenError> {
        if loaded == TimeRange::EVERYTHING && given.is_final && !given.is_checked {
            // A window does not ask for all that is in a file.
            given.is_checked = true;
            recording.check()?;
        }
        match recording.window_with_graphs(wanted, most) {
            Ok(trace) => {
                self.give(recording, Some((trace, loaded)), given)?;
                Ok(true)
            }
            Err(WindowError::TooMany(_)) => Ok(false),
            Err(WindowError::Open(error)) => Err(error),
        }
    }

    /// Gives a range of the recording, or nothing but its things.
    fn give(
        &self,
        recording: &mut Recording,
        part: Option<(Trace, TimeRange)>,
        given: &mut SentParts,
    ) -> Result<(), OpenError> {
        given.loaded = part.as_ref().map(|(_, range)| *range);
        given.has_news = false;
        let extent = LoadedExtent {
            is_whole: given.loaded == Some(TimeRange::EVERYTHING),
            is_final: given.is_final,
        };
        let mut trace = part.map_or_else(|| recording.entities().clone(), |(trace, _)| trace);
        if extent.is_whole {
            given.memory.take_whole(&trace);
        }
        let derived = DerivedData::of(&mut trace, extent);
        let part = LoadedPart {
            trace,
            derived,
            loaded: given.loaded,
            warnings: recording.final_warnings(),
        };
        let overview = overview(recording, given);
        self.inbox
            .put_part(part, |contents| contents.overview = Some(overview));
        Ok(())
    }
}

/// Where the recording ends, as far as it is known.
fn end_of(recording: &Recording) -> i64 {
    recording.span().map_or(i64::MIN, |span| span.end)
}

/// Calls and tasks that are read one by one.
fn most(given: &SentParts, is_settled: bool) -> u64 {
    let is_growing = given.grown.is_some_and(|at| at.elapsed() < LATE_TICK);
    match is_growing && !is_settled && !given.is_final {
        true => MOST_GROWING,
        false => MOST,
    }
}

/// Facts about the whole recording.
fn overview(recording: &mut Recording, given: &SentParts) -> RecordingOverview {
    let counts = recording.counts();
    RecordingOverview {
        span: recording.span(),
        calls: counts.calls,
        tasks: counts.tasks,
        failed: counts.errors,
        used: (counts.streams.keys())
            .map(|id| recording.entities().lane_of(*id))
            .collect(),
        whole: Arc::clone(&given.whole),
        near: Arc::clone(&given.near),
        loaded: None,
        ranges_until: recording.ranges_until(),
        memory: given.memory.curves.clone(),
        opening: None,
    }
}

/// With as much again on either side, so that the next move finds it there.
fn widened(range: TimeRange) -> TimeRange {
    range.widened(range.duration().max(QUEUE_NS))
}

/// Beyond the recording there is nothing that could be missing.
fn open_ended(range: TimeRange, span: Option<TimeRange>) -> TimeRange {
    let Some(span) = span else {
        return range;
    };
    let begin = match range.begin <= span.begin {
        true => i64::MIN,
        false => range.begin,
    };
    let end = match range.end >= span.end {
        true => i64::MAX,
        false => range.end,
    };
    TimeRange::new(begin, end)
}
