//! Reads the calls that change memory, for the lines of memory in use of a recording that is not loaded as a whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ascend_trace_analysis::memory::{MemoryCurves, MemoryCurvesFold, changes_memory};
use ascend_trace_recording::recording::{SearchDirection, SearchResult, WindowError};
use ascend_trace_recording::{CallId, Recording, Trace};

/// Pause before a growing recording is read again, as a multiple of the duration of the last pass.
const PATIENCE: u32 = 20;

/// A pass through a recording, and the result of the last one.
#[derive(Debug, Default)]
pub(super) struct MemoryPass {
    under_way: Option<PassState>,
    /// The end of the last pass, and its duration.
    last: Option<(Instant, Duration)>,
    /// The recording has grown since the last pass began.
    has_grown: bool,
    pub(super) curves: Option<Arc<MemoryCurves>>,
}

#[derive(Debug, Default)]
struct PassState {
    fold: MemoryCurvesFold,
    /// Where the pass continues.
    next: Option<i64>,
    spent: Duration,
}

impl MemoryPass {
    /// All of the recording is in memory.
    pub(super) fn take_whole(&mut self, trace: &Trace) {
        self.under_way = None;
        self.has_grown = false;
        self.curves = Some(Arc::new(MemoryCurvesFold::of_trace(trace)));
    }

    pub(super) fn note_growth(&mut self) {
        self.has_grown = true;
    }

    /// Whether there is something to read now.
    pub(super) fn is_due(&self) -> bool {
        let is_rested = |(at, spent): (Instant, Duration)| at.elapsed() > spent * PATIENCE;
        let is_stale = self.curves.is_none() || self.has_grown;
        self.under_way.is_some() || (is_stale && self.last.is_none_or(is_rested))
    }

    /// Reads on until it is done or `keep_on` returns false. Returns whether there are new curves.
    pub(super) fn advance(
        &mut self,
        recording: &mut Recording,
        mut keep_on: impl FnMut() -> bool,
    ) -> Result<bool, WindowError> {
        if self.under_way.is_none() {
            self.has_grown = false;
        }
        let begun = Instant::now();
        let pass = self.under_way.get_or_insert_default();
        let functions = recording.entities().functions();
        let changes: Vec<bool> = functions.iter().map(changes_memory).collect();
        let (from, mut next) = (pass.next.unwrap_or(i64::MIN), pass.next);
        let fold = &mut pass.fold;
        let answer = recording.find(
            from,
            SearchDirection::Later,
            |id| changes.get(id.index()) == Some(&true),
            |reached| {
                next = Some(reached);
                keep_on()
            },
            |trace, range| {
                let ids = (0..).map(CallId).zip(trace.calls());
                let own = ids.filter(|(_, call)| range.contains(call.begin));
                fold.take_calls(trace, own.map(|(id, _)| id), range.end);
                None::<()>
            },
        )?;
        pass.next = next;
        pass.spent += begun.elapsed();
        if answer == SearchResult::Stopped {
            return Ok(false);
        }
        let end = match recording.complete() {
            true => i64::MAX,
            false => recording.span().map_or(i64::MAX, |span| span.end),
        };
        if let Some(pass) = self.under_way.take() {
            self.last = Some((Instant::now(), pass.spent));
            self.curves = Some(Arc::new(pass.fold.finished(end)));
        }
        Ok(true)
    }
}
