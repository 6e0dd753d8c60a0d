//! A search through a whole long recording, part by part, while the view continues. The source lends
//! its recording; a search that has to wait continues at its last place.

mod blames;
mod calls;
mod critical;
mod findings;
mod gaps;
mod matches;
mod stalls;
mod sums;

use ascend_trace_recording::recording::{SearchDirection, WindowError};
use ascend_trace_recording::{Recording, TimeRange, Trace};

pub(crate) use blames::BlameQuest;
pub(crate) use calls::CallsQuest;
pub(crate) use critical::CriticalQuest;
pub(crate) use findings::FindingsQuest;
pub(crate) use matches::MatchQuest;
pub(crate) use stalls::{StallQuest, Told, Wanted};
pub(crate) use sums::{SlowestQuest, StatsQuest};

use crate::identity::Identity;
use crate::item::{Item, TrackKey};
use crate::job::Reached;
use crate::ranges::Ranges;
use crate::search::Match;

/// Subject of a search.
#[derive(Debug)]
pub struct Quest {
    /// Counts the jobs of a view.
    pub(crate) number: u64,
    pub(crate) kind: Kind,
    pub(crate) course: Course,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// The next match of a question.
    Match(Box<MatchQuest>),
    /// The next stall, or the longest ones.
    Stalls(Box<StallQuest>),
    /// Sums of stalls by culprit.
    Blames(Box<BlameQuest>),
    /// What checks find.
    Findings(Box<FindingsQuest>),
    /// The critical path of a range.
    Critical(Box<CriticalQuest>),
    /// The tables of a range.
    Statistics(Box<StatsQuest>),
    /// The calls of a thread by nesting.
    Calls(Box<CallsQuest>),
    /// The slowest instance of something in a range.
    Slowest(Box<SlowestQuest>),
}

/// Where a quest is, and where it may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Course {
    pub(crate) towards: SearchDirection,
    /// The timestamp where it began.
    pub(crate) begun: i64,
    /// The timestamp where it continues.
    pub(crate) next: i64,
    /// Whether it goes on from the other end, up to where it began.
    pub(crate) wraps: bool,
    pub(crate) wrapped: bool,
}

impl Course {
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

    /// Goes on behind a range that has been looked at.
    fn pass(&mut self, range: TimeRange) {
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
    fn is_round(&self, reached: i64) -> bool {
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

    /// The finished share of the way at a timestamp, from 0 to 1.
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

impl Quest {
    /// Counts the jobs of a view.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Continues until it is done. `keep_on` gets the progress, and returns false to make it wait.
    /// Returns whether it is done.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn advance(
        &mut self,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(Reached) -> bool,
    ) -> Result<bool, WindowError> {
        match &mut self.kind {
            Kind::Match(quest) => quest.advance(&mut self.course, recording, keep_on),
            Kind::Stalls(quest) => quest.advance(&mut self.course, recording, keep_on),
            Kind::Statistics(quest) => quest.advance(recording, keep_on),
            Kind::Blames(quest) => quest.advance(recording, keep_on),
            Kind::Findings(quest) => quest.advance(recording, keep_on),
            Kind::Critical(quest) => quest.advance(recording, keep_on),
            Kind::Calls(quest) => quest.advance(&mut self.course, recording, keep_on),
            Kind::Slowest(quest) => quest.advance(&mut self.course, recording, keep_on),
        }
    }
}

/// Something that was found in another part than the one that is loaded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) span: TimeRange,
    pub(crate) lane: TrackKey,
    pub(crate) identity: Identity,
}

impl Found {
    /// A match of a question.
    fn of_match(trace: &Trace, found: Match) -> Option<Self> {
        let range = match found {
            Match::Item(item) => return Some(Self::of(trace, item)),
            Match::Range(range) => range,
        };
        // The line of a range depends on those around it.
        let mut ranges = Ranges::default();
        ranges.update(trace);
        let selected = found.selected(trace, &ranges);
        Some(Self {
            span: range.span(trace),
            lane: selected.track(trace),
            identity: Identity::of(selected, trace)?,
        })
    }

    fn of(trace: &Trace, item: Item) -> Self {
        Self {
            span: item.span(trace),
            lane: item.track(trace),
            identity: Identity::of_item(item, trace),
        }
    }
}
