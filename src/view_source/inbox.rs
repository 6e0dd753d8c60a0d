//! Results of the reading thread for the view. Each kind has one place, and a newer result replaces one
//! that was not taken: a view that does not look, such as a stopped one, lets nothing pile up.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ascend_trace_recording::{OpenError, TimeRange, Trace, Warning};
use ascend_trace_viewer::{DerivedData, JobNews, RecordingOverview};

/// A part of the recording that has been read, ready to be shown.
pub(super) struct LoadedPart {
    pub(super) trace: Trace,
    pub(super) derived: DerivedData,
    /// The range of which it holds everything.
    pub(super) loaded: Option<TimeRange>,
    /// Damage in the whole file, where all of it has been read.
    pub(super) warnings: Vec<Warning>,
}

/// What waits for the view.
#[derive(Default)]
pub(super) struct InboxContents {
    /// Read bytes and all bytes while the file is opened.
    pub(super) opening: Option<(u64, u64)>,
    pub(super) overview: Option<RecordingOverview>,
    pub(super) part: Option<Box<LoadedPart>>,
    /// The last request that has been served.
    pub(super) answered: u64,
    /// Bytes that have been read.
    pub(super) position: u64,
    /// There will be no more; and the program's status, if that is known.
    pub(super) ended: Option<Option<i32>>,
    pub(super) news: VecDeque<JobNews>,
    pub(super) failed: Option<OpenError>,
    /// Previous data of the view, which the reading thread frees.
    old: Option<(Trace, Option<DerivedData>)>,
}

/// The place for results of both sides.
#[derive(Default)]
pub(super) struct Inbox {
    contents: Mutex<InboxContents>,
    given: Condvar,
}

impl Inbox {
    pub(super) fn open(&self) -> MutexGuard<'_, InboxContents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is a part, or this time is over.
    pub(super) fn wait_for_part(&self, time: Duration) {
        let is_missing =
            |contents: &mut InboxContents| contents.part.is_none() && contents.failed.is_none();
        // Whichever it was, the view looks what there is.
        let _ = self.given.wait_timeout_while(self.open(), time, is_missing);
    }

    /// Whether the view has taken the last part.
    pub(super) fn is_taken(&self) -> bool {
        self.open().part.is_none()
    }

    /// Gives a part with the further results of `add_results`: the view shows both or neither.
    pub(super) fn put_part(&self, part: LoadedPart, add_results: impl FnOnce(&mut InboxContents)) {
        let mut contents = self.open();
        let untaken = contents.part.replace(Box::new(part));
        add_results(&mut contents);
        drop(contents);
        self.given.notify_all();
        drop(untaken);
        self.free();
    }

    /// Frees the returned data of the view.
    pub(super) fn free(&self) {
        let old = self.open().old.take();
        drop(old);
    }

    /// Progress is replaced by later progress; results stay until they are read.
    pub(super) fn report(&self, news: JobNews) {
        let mut contents = self.open();
        if let Some(JobNews::Reached(..)) = contents.news.back() {
            contents.news.pop_back();
        }
        contents.news.push_back(news);
    }

    /// Leaves a trace that is not shown any more.
    pub(super) fn give_back(&self, trace: Trace) {
        self.open().old = Some((trace, None));
    }

    /// The same for data derived from it.
    pub(super) fn give_back_derived(&self, derived: DerivedData) {
        if let Some((_, old)) = &mut self.open().old {
            *old = Some(derived);
        }
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_viewer::JobProgress;

    use super::*;

    #[test]
    fn results_that_are_not_taken_do_not_pile_up() {
        let inbox = Inbox::default();
        for moment in 0..1_000 {
            inbox.report(JobNews::Reached(1, JobProgress::Moment(moment, false)));
            let part = LoadedPart {
                trace: Trace::default(),
                derived: DerivedData::default(),
                loaded: Some(TimeRange::at(moment)),
                warnings: Vec::new(),
            };
            inbox.put_part(part, |_| {});
        }
        assert!(!inbox.is_taken());
        let mut contents = inbox.open();
        assert_eq!(contents.news.len(), 1);
        assert!(matches!(
            contents.news.pop_front(),
            Some(JobNews::Reached(1, JobProgress::Moment(999, false)))
        ));
        let part = contents.part.take().unwrap();
        assert_eq!(part.loaded, Some(TimeRange::at(999)));
    }
}
