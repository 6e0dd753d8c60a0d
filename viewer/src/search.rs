//! Finds items and ranges that match a [`FindCondition`], in order of time.

use std::collections::BTreeSet;

use ascend_trace_recording::{CallId, FunctionId, Range, TaskId, TimeRange, Trace};

use crate::find_condition::FindCondition;
use crate::item::CallOrTask;
use crate::ranges::{DEEPEST, RangeId, RangeLines};
use crate::selection::Selection;
use crate::tracks::SliceTracks;

/// A result of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SearchMatch {
    Item(CallOrTask),
    Range(RangeId),
}

/// Matches are ordered by their begins; those with equal begins by their kinds.
type MatchOrder = (i64, Option<SearchMatch>);

impl SearchMatch {
    pub(crate) fn begin(self, trace: &Trace) -> i64 {
        match self {
            Self::Item(item) => item.span(trace).begin,
            Self::Range(range) => range.span(trace).begin,
        }
    }

    /// Where a search continues; `None` if the selection cannot match a query.
    pub(crate) fn of(selected: Selection) -> Option<Self> {
        match selected {
            Selection::Range(range, _) => Some(Self::Range(range)),
            other => other.item().map(Self::Item),
        }
    }

    pub(crate) fn selected(self, trace: &Trace, ranges: &RangeLines) -> Selection {
        match self {
            Self::Item(item) => Selection::Item(item),
            Self::Range(range) => {
                let level = ranges.level(trace, range).unwrap_or(DEEPEST);
                Selection::Range(range, level)
            }
        }
    }

    fn order(self, trace: &Trace) -> MatchOrder {
        (self.begin(trace), Some(self))
    }
}

/// All calls, tasks and ranges that begin in a range, both ends included.
pub(crate) fn all_in(trace: &Trace, range: TimeRange) -> impl Iterator<Item = SearchMatch> {
    let tasks =
        (0..trace.tasks().len() as u32).map(|id| SearchMatch::Item(CallOrTask::Task(TaskId(id))));
    let calls =
        (0..trace.calls().len() as u32).map(|id| SearchMatch::Item(CallOrTask::Call(CallId(id))));
    let ranges = (0..trace.ranges().len() as u32).map(|id| SearchMatch::Range(RangeId(id)));
    let all = tasks.chain(calls).chain(ranges);
    all.filter(move |it| range.contains(it.begin(trace)))
}

/// A query, and the functions with matching names.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) text: String,
    query: FindCondition,
    /// By function: whether its name meets the conditions on names.
    named: Vec<bool>,
    /// By function: whether its calls have separate names.
    labelled: Vec<bool>,
    /// Whether any function of the trace could match.
    possible: bool,
}

impl Search {
    /// Parses a query; the error names its fault.
    pub(crate) fn new(text: &str, trace: &Trace) -> Result<Self, String> {
        let mut search = Self {
            text: text.to_owned(),
            query: FindCondition::parse(text)?,
            named: Vec::new(),
            labelled: Vec::new(),
            possible: false,
        };
        search.update(trace);
        Ok(search)
    }

    /// Takes in functions that are new in the trace.
    pub(crate) fn update(&mut self, trace: &Trace) {
        let known = self.named.len().min(trace.functions().len());
        for function in &trace.functions()[known..] {
            let named = self.query.has_name(function);
            self.named.push(named);
            self.labelled.push(function.label.is_some());
            self.possible |= named || function.label.is_some();
        }
    }

    /// Whether a call of a function can be a match.
    pub(crate) fn may_match(&self, function: FunctionId) -> bool {
        // Of a function that is new, nothing is known.
        let is = |all: &[bool]| all.get(function.index()).copied().unwrap_or(true);
        is(&self.named) || is(&self.labelled)
    }

    /// The begins of the ranges of a trace that match; nothing when no range can.
    pub(crate) fn ranges(&self, trace: &Trace) -> Option<BTreeSet<i64>> {
        let all = trace.ranges().iter();
        let matching = || all.filter(|it| self.query.is_range(it)).map(|it| it.begin);
        (self.query.may_find_ranges()).then(|| matching().collect())
    }

    pub(crate) fn is_match(&self, trace: &Trace, found: SearchMatch) -> bool {
        match found {
            SearchMatch::Item(item) => self.is_item(trace, item),
            SearchMatch::Range(range) => self.is_range(trace.ranges().get(range.index())),
        }
    }

    fn is_range(&self, range: Option<&Range>) -> bool {
        range.is_some_and(|range| self.query.is_range(range))
    }

    fn is_item(&self, trace: &Trace, item: CallOrTask) -> bool {
        let call = trace.call(item.call(trace));
        // A launch is found as the task that it submitted.
        if matches!(item, CallOrTask::Call(_)) && call.task.is_some() {
            return false;
        }
        let FunctionId(function) = call.function;
        let named = self.named.get(function as usize).copied();
        self.query.is_match(trace, item, named.unwrap_or(false))
    }

    /// The place of a match among all, from 1, and how many there are.
    pub(crate) fn place(&self, trace: &Trace, found: SearchMatch) -> (usize, usize) {
        let own = found.order(trace);
        let (mut place, mut all) = (0, 0);
        let matches = all_in(trace, TimeRange::EVERYTHING);
        for other in matches.filter(|it| self.is_match(trace, *it)) {
            all += 1;
            place += usize::from(other.order(trace) <= own);
        }
        (place, all)
    }

    /// The first match in time order after `(time, match)`, or the last one before it.
    pub(crate) fn from(
        &self,
        trace: &Trace,
        tracks: &SliceTracks,
        from: MatchOrder,
        forward: bool,
    ) -> Option<SearchMatch> {
        let found = [
            self.item_from(trace, tracks, from, forward),
            self.range_from(trace, from, forward),
        ];
        nearest(trace, found.into_iter().flatten(), forward)
    }

    fn item_from(
        &self,
        trace: &Trace,
        tracks: &SliceTracks,
        (time, from): MatchOrder,
        forward: bool,
    ) -> Option<SearchMatch> {
        if !self.possible {
            return None;
        }
        // Of all that begin together, ranges come last.
        let start = match from {
            Some(SearchMatch::Item(item)) => (time, Some(item)),
            Some(SearchMatch::Range(_)) => (time.saturating_add(1), None),
            None => (time, None),
        };
        let found = tracks.originals().filter_map(|key| {
            let track = tracks.get(key)?;
            let step = |(time, item)| match forward {
                true => track.after(trace, time, item),
                false => track.before(trace, time, item),
            };
            let key = |item: CallOrTask| (item.span(trace).begin, Some(item));
            let mut items = std::iter::successors(step(start), |item| step(key(*item)));
            items.find(|item| self.is_item(trace, *item))
        });
        nearest(trace, found.map(SearchMatch::Item), forward)
    }

    fn range_from(&self, trace: &Trace, from: MatchOrder, forward: bool) -> Option<SearchMatch> {
        let ranges = (0..trace.ranges().len() as u32).map(|id| SearchMatch::Range(RangeId(id)));
        let is_ahead = |it: &SearchMatch| match forward {
            true => it.order(trace) > from,
            false => it.order(trace) < from,
        };
        let found = ranges.filter(|it| is_ahead(it) && self.is_match(trace, *it));
        nearest(trace, found, forward)
    }
}

/// The first of some matches, or the last one.
fn nearest(
    trace: &Trace,
    matches: impl Iterator<Item = SearchMatch>,
    forward: bool,
) -> Option<SearchMatch> {
    match forward {
        true => matches.min_by_key(|it| it.order(trace)),
        false => matches.max_by_key(|it| it.order(trace)),
    }
}
