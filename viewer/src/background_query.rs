//! A search through a whole long recording, part by part, while the view continues. A search
//! borrows the recording of the source. A paused search resumes where it stopped.

mod calls;
mod critical;
mod fold;
mod idle_gaps;
mod next_match;
mod stalls;
mod statistics;

use ascend_trace_recording::recording::{SearchDirection, WindowError};
use ascend_trace_recording::{Recording, TimeRange, Trace};

pub(crate) use calls::CallsQuery;
pub(crate) use critical::CriticalPathQuery;
pub(crate) use fold::{FoldQuery, PanelQuery};
pub(crate) use next_match::MatchQuery;
pub(crate) use stalls::{FoundStall, StallQuery, WantedStalls};
pub(crate) use statistics::{SlowestQuery, StatsQuery};

use crate::item::{CallOrTask, TrackKey};
use crate::job::JobProgress;
use crate::ranges::RangeLines;
use crate::search::SearchMatch;
use crate::stable_id::StableId;

/// A search of a whole recording that runs in the background: its number, its kind and its position.
#[derive(Debug)]
pub struct BackgroundQuery {
    /// Number of this job in its view.
    pub(crate) number: u64,
    pub(crate) kind: QueryKind,
    pub(crate) course: QueryPosition,
}

#[derive(Debug)]
pub(crate) enum QueryKind {
    /// The next match of a search.
    Match(Box<MatchQuery>),
    /// The next stall, or the longest ones.
    Stalls(Box<StallQuery>),
    /// An analysis of the whole recording for a panel.
    Panel(Box<dyn PanelQuery>),
    /// The critical path of a range.
    Critical(Box<CriticalPathQuery>),
    /// The tables of a range.
    Statistics(Box<StatsQuery>),
    /// The calls of a thread by nesting.
    Calls(Box<CallsQuery>),
    /// The slowest instance of something in a range.
    Slowest(Box<SlowestQuery>),
}

/// Position and direction of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueryPosition {
    pub(crate) towards: SearchDirection,
    /// The timestamp where it began.
    pub(crate) begun: i64,
    /// The timestamp where it continues.
    pub(crate) next: i64,
    /// Whether it goes on from the other end, up to where it began.
    pub(crate) wraps: bool,
    pub(crate) wrapped: bool,
}

impl QueryPosition {
    pub(crate) fn new(forward: bool, begun: i64, wraps: bool) -> Self {
        Self {
            towards: match forward {
                true => SearchDirection::Later,
                false => SearchDirection::Earlier,
            },
            begun,
            next: begun,
            wraps,
            wrapped: false,
        }
    }

    pub(crate) fn is_forward(&self) -> bool {
        self.towards == SearchDirection::Later
    }

    /// Moves on past a searched range.
    fn move_past(&mut self, range: TimeRange) {
        self.next = match self.towards {
            SearchDirection::Later => range.end.saturating_add(1),
            SearchDirection::Earlier => range.begin.saturating_sub(1),
        };
    }

    /// Whether a range is the last one.
    fn is_last(&self, range: TimeRange) -> bool {
        match self.towards {
            SearchDirection::Later => range.end == i64::MAX,
            SearchDirection::Earlier => range.begin == i64::MIN,
        }
    }

    /// Whether a second round has reached the begin of the first one.
    fn is_full_circle(&self, reached: i64) -> bool {
        self.wrapped
            && match self.towards {
                SearchDirection::Later => reached > self.begun,
                SearchDirection::Earlier => reached < self.begun,
            }
    }

    /// Starts over at the other end, if that is wanted and has not been done.
    fn wrap(&mut self) -> bool {
        if !self.wraps || self.wrapped {
            return false;
        }
        self.wrapped = true;
        self.next = match self.towards {
            SearchDirection::Later => i64::MIN,
            SearchDirection::Earlier => i64::MAX,
        };
        true
    }

    /// The fraction searched at a timestamp, from 0 to 1.
    pub(crate) fn share(&self, span: TimeRange, reached: i64) -> f64 {
        let inside = |time: i64| span.clamp(time);
        let (begun, reached) = (inside(self.begun), inside(reached));
        let length = |from: i64, to: i64| to.saturating_sub(from).max(0) as f64;
        let (first, second, done) = match self.towards {
            SearchDirection::Later => (
                length(begun, span.end),
                length(span.begin, begun),
                length(if self.wrapped { span.begin } else { begun }, reached),
            ),
            SearchDirection::Earlier => (
                length(span.begin, begun),
                length(begun, span.end),
                length(reached, if self.wrapped { span.end } else { begun }),
            ),
        };
        let all = first + if self.wraps { second } else { 0.0 };
        let done = done + if self.wrapped { first } else { 0.0 };
        if all > 0.0 {
            (done / all).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }
}

impl BackgroundQuery {
    /// Number of this job in its view.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Continues until it is done. `keep_on` receives the progress, and returns false to pause the search.
    /// Returns whether it is done.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn advance(
        &mut self,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        match &mut self.kind {
            QueryKind::Match(query) => query.advance(&mut self.course, recording, keep_on),
            QueryKind::Stalls(query) => query.advance(&mut self.course, recording, keep_on),
            QueryKind::Statistics(query) => query.advance(recording, keep_on),
            QueryKind::Panel(query) => query.advance(recording, keep_on),
            QueryKind::Critical(query) => query.advance(recording, keep_on),
            QueryKind::Calls(query) => query.advance(&mut self.course, recording, keep_on),
            QueryKind::Slowest(query) => query.advance(&mut self.course, recording, keep_on),
        }
    }
}

/// Something that was found in another part than the one that is loaded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundElsewhere {
    pub(crate) span: TimeRange,
    pub(crate) lane: TrackKey,
    pub(crate) identity: StableId,
}

impl FoundElsewhere {
    /// A match of a search.
    fn of_match(trace: &Trace, found: SearchMatch) -> Option<Self> {
        let range = match found {
            SearchMatch::Item(item) => return Some(Self::of(trace, item)),
            SearchMatch::Range(range) => range,
        };
        // The line of a range depends on those around it.
        let mut ranges = RangeLines::default();
        ranges.update(trace);
        let selected = found.selected(trace, &ranges);
        Some(Self {
            span: range.span(trace),
            lane: selected.track(trace),
            identity: StableId::of(selected, trace)?,
        })
    }

    fn of(trace: &Trace, item: CallOrTask) -> Self {
        Self {
            span: item.span(trace),
            lane: item.track(trace),
            identity: StableId::of_item(item, trace),
        }
    }
}
