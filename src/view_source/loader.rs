//! Reads the range that the view shows, on a separate thread.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;

use ascend_trace_recording::{OpenError, TimeRange, Trace, Warning};
use ascend_trace_viewer::{BackgroundQuery, DerivedData, JobNews, RecordingOverview};

use super::inbox::{Inbox, LoadedPart};
use super::reader::{PartReader, ReaderInput};
use crate::cli::trace_files::TraceFiles;

/// A short recording has nearly always been read after this: then the first picture shows it.
const FIRST: Duration = Duration::from_millis(50);

/// The range and the detail that the view needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LoadRequest {
    pub(super) range: Option<TimeRange>,
    /// Counts the requests.
    pub(super) number: u64,
    /// Number of searches that were started or cancelled.
    pub(super) query: u64,
    pub(super) stop: bool,
}

/// Where the view leaves its wish.
#[derive(Debug, Default)]
pub(super) struct RequestSlot {
    request: Mutex<LoadRequest>,
    query: Mutex<Option<Box<BackgroundQuery>>>,
    changed: Condvar,
}

impl RequestSlot {
    pub(super) fn now(&self) -> LoadRequest {
        *self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is another wish than this, or the time is over.
    pub(super) fn wait(&self, known: LoadRequest, time: Duration) -> LoadRequest {
        let request = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(request, time, |request| *request == known);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The requested search, if it has not been taken yet.
    pub(super) fn take_query(&self) -> Option<Box<BackgroundQuery>> {
        let mut query = self.query.lock().unwrap_or_else(PoisonError::into_inner);
        query.take()
    }

    fn request(&self, query: Option<Box<BackgroundQuery>>) {
        *self.query.lock().unwrap_or_else(PoisonError::into_inner) = query;
        self.change(|request| request.query += 1);
    }

    fn change(&self, change: impl FnOnce(&mut LoadRequest)) {
        change(&mut self.request.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

/// The view's end of the reading thread.
pub(super) struct PartLoader {
    requests: Arc<RequestSlot>,
    inbox: Arc<Inbox>,
    trace: Trace,
    /// Facts about the recording of the trace.
    overview: RecordingOverview,
    /// Damage and missing parts, as far as the file was read.
    warnings: Vec<Warning>,
    next: Option<Box<LoadedPart>>,
    answered: u64,
    position: u64,
    ended: Option<Option<i32>>,
    /// The last requested query.
    current_query: Option<u64>,
}

impl PartLoader {
    /// Begins to read a file. One that is not `ours` and rests for long has ended.
    pub(super) fn start(files: TraceFiles, ours: bool) -> anyhow::Result<Self> {
        let (requests, inbox) = (Arc::<RequestSlot>::default(), Arc::<Inbox>::default());
        let begin = ReaderInput { files, ours };
        let reader = PartReader::new(Arc::clone(&requests), Arc::clone(&inbox));
        std::thread::Builder::new()
            .name("reader".into())
            .spawn(move || reader.run(begin))
            .context("cannot read the file in the background")?;
        let overview = RecordingOverview {
            opening: Some(0),
            ..RecordingOverview::default()
        };
        inbox.wait_for_part(FIRST);
        Ok(Self {
            requests,
            inbox,
            trace: Trace::default(),
            overview,
            warnings: Vec::new(),
            next: None,
            answered: 0,
            position: 0,
            ended: None,
            current_query: None,
        })
    }

    /// Takes the thread's results. Returns whether any of them is visible.
    pub(super) fn poll(&mut self) -> Result<bool, OpenError> {
        let mut letters = self.inbox.open();
        let mut changed = false;
        if let Some((done, all)) = letters.opening.take() {
            let percent = done.saturating_mul(100) / all.max(1);
            self.overview.opening = Some(percent.min(100) as u8);
            changed = true;
        }
        if let Some(overview) = letters.overview.take() {
            let loaded = self.overview.loaded;
            self.overview = RecordingOverview { loaded, ..overview };
            changed = true;
        }
        if self.next.is_none() && letters.part.is_some() {
            self.next = letters.part.take();
            changed = true;
        }
        changed |= letters.ended != self.ended;
        self.ended = letters.ended;
        self.answered = letters.answered;
        self.position = letters.position;
        letters.failed.take().map_or(Ok(changed), Err)
    }

    pub(super) fn look_at(&mut self, range: TimeRange) {
        if self.overview.opening.is_none() && self.requests.now().range != Some(range) {
            self.requests.change(|request| {
                request.range = Some(range);
                request.number += 1;
            });
        }
    }

    /// Starts a search, instead of the present one.
    pub(super) fn request(&mut self, query: Option<Box<BackgroundQuery>>) {
        self.current_query = query.as_ref().map(|query| query.number());
        self.inbox.open().news.clear();
        self.requests.request(query);
    }

    /// Cancels a search, if it is the present one.
    pub(super) fn give_up(&mut self, number: u64) {
        if self.current_query == Some(number) {
            self.request(None);
        }
    }

    pub(super) fn news(&mut self) -> Option<JobNews> {
        self.inbox.open().news.pop_front()
    }

    pub(super) fn is_loading(&self) -> bool {
        self.overview.opening.is_some()
            || self.next.is_some()
            || self.requests.now().number > self.answered
    }

    pub(super) fn next_part(&mut self) -> Option<DerivedData> {
        let part = *self.next.take()?;
        let old = std::mem::replace(&mut self.trace, part.trace);
        self.inbox.give_back(old);
        self.overview.loaded = part.loaded;
        self.warnings = part.warnings;
        Some(part.derived)
    }

    /// Takes the data derived from the previous trace, to be freed.
    pub(super) fn take_back(&mut self, old: DerivedData) {
        self.inbox.give_back_derived(old);
    }

    pub(super) fn trace(&self) -> &Trace {
        &self.trace
    }

    pub(super) fn overview(&self) -> &RecordingOverview {
        &self.overview
    }

    /// Damage and missing parts, as far as the file was read.
    pub(super) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// How many parts wait to be shown.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        usize::from(self.next.is_some()) + usize::from(!self.inbox.is_taken())
    }

    /// Bytes of the file that have been read.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Whether the recording has ended and all of it is known; and the program's status, if it is.
    pub(super) fn ended(&self) -> Option<Option<i32>> {
        self.ended
    }
}

impl Drop for PartLoader {
    /// The thread ends as soon as it notices; its present reading has no use, so the end does not wait
    /// for it.
    fn drop(&mut self) {
        self.requests.change(|request| request.stop = true);
    }
}
