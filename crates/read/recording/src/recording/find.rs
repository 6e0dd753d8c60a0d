//! Looks for something along the time of a recording, part by part.

use std::collections::BTreeSet;

use crate::TimeRange;
use crate::file::index::ChunkGroup;
use crate::trace::{FunctionId, Trace};

use super::window::overlap;
use super::{Recording, WindowError};

/// Rows of a part, about: many enough that reading them outweighs setting out, few enough that a
/// search that is given up stops at once.
const ROWS: u64 = 100_000;

/// Which way a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchDirection {
    Later,
    Earlier,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchResult<T> {
    Found(T),
    /// There is nothing as far as the recording goes.
    Nothing,
    /// The caller stopped it.
    Stopped,
}

impl<T> SearchResult<T> {
    pub fn found(self) -> Option<T> {
        match self {
            Self::Found(found) => Some(found),
            Self::Nothing | Self::Stopped => None,
        }
    }
}

impl Recording {
    /// Searches from the time `from` on, towards the end or the begin of the recording.
    ///
    /// The recording is read part by part, in that order; parts do not overlap and leave nothing out.
    /// `look` gets each part as a trace with its range, both ends included: it returns the first match
    /// (the last one towards earlier times) among the items that *begin* in the range, and the search
    /// ends. A task with a time counts by its begin, one without by its call's. The trace contains
    /// everything that overlaps the range, and more. Ids of calls and tasks are those of that trace;
    /// ids of streams, threads and functions are the same in all.
    ///
    /// `may_match` says whether a call of a function, or its task, can be a match; where the index has
    /// no such calls, nothing is read. `keep_on` gets the progress of the search before each part, and
    /// ends it by returning false.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn find<T>(
        &mut self,
        from: i64,
        towards: SearchDirection,
        may_match: impl Fn(FunctionId) -> bool,
        keep_on: impl FnMut(i64) -> bool,
        look: impl FnMut(&Trace, TimeRange) -> Option<T>,
    ) -> Result<SearchResult<T>, WindowError> {
        self.find_named(from, towards, may_match, None, keep_on, look)
    }

    /// As [`Recording::find`], for ranges that the program named as well: parts in which one of `named`
    /// begins are read, and those that may hold ranges that [`Recording::entities`] lacks. `named` has the
    /// begins of those ranges of it that can be a match; with `None`, no range is looked for.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn find_named<T>(
        &mut self,
        from: i64,
        towards: SearchDirection,
        may_match: impl Fn(FunctionId) -> bool,
        named: Option<&BTreeSet<i64>>,
        mut keep_on: impl FnMut(i64) -> bool,
        mut look: impl FnMut(&Trace, TimeRange) -> Option<T>,
    ) -> Result<SearchResult<T>, WindowError> {
        for range in self.steps(from, towards) {
            let reached = match towards {
                SearchDirection::Later => range.begin,
                SearchDirection::Earlier => range.end,
            };
            if !keep_on(reached) {
                return Ok(SearchResult::Stopped);
            }
            let may_hold = self.may_hold(range, &may_match) || self.may_name(range, named);
            if !may_hold {
                continue;
            }
            // The caller wants this range at any cost.
            let trace = self.window(range, u64::MAX)?;
            if let Some(found) = look(&trace, range) {
                return Ok(SearchResult::Found(found));
            }
        }
        Ok(SearchResult::Nothing)
    }

    /// The ranges that a search goes through, in its order.
    fn steps(&self, from: i64, towards: SearchDirection) -> Vec<TimeRange> {
        let cuts = self.cuts(ROWS);
        let inner = cuts.get(1..cuts.len().max(1) - 1).unwrap_or_default();
        let begins = std::iter::once(i64::MIN).chain(inner.iter().copied());
        let ends = inner.iter().map(|cut| cut - 1).chain([i64::MAX]);
        let ahead = match towards {
            SearchDirection::Later => TimeRange::new(from, i64::MAX),
            SearchDirection::Earlier => TimeRange::new(i64::MIN, from),
        };
        let all = begins.zip(ends).map(TimeRange::from);
        let left = all.filter(|range| range.overlaps(ahead));
        let mut steps: Vec<TimeRange> = left.map(|range| range.intersection(ahead)).collect();
        if towards == SearchDirection::Earlier {
            steps.reverse();
        }
        steps
    }

    /// Whether a range that is looked for may begin in a range of time.
    fn may_name(&self, range: TimeRange, named: Option<&BTreeSet<i64>>) -> bool {
        let left = self.layout.left();
        named.is_some_and(|begins| {
            begins.range(range.begin..=range.end).next().is_some() || left.may_hold_range(range)
        })
    }

    /// Whether anything in a range, or what launched it, can be a call of such a function.
    fn may_hold(&self, range: TimeRange, may_match: &impl Fn(FunctionId) -> bool) -> bool {
        let groups = self.layout.groups();
        let near: Vec<&ChunkGroup> = groups.filter(|it| overlap(it.span(), range)).collect();
        let Some(last) = near.last() else {
            return false;
        };
        let (mut from, mut until) = (near[0].begin, last.begin);
        for link in self.layout.links() {
            let is_near = |group: &&ChunkGroup| {
                group.begin <= link.times.until && link.times.from < group.end
            };
            if near.iter().any(is_near) {
                from = from.min(link.launches.from);
                until = until.max(link.launches.until);
            }
        }
        let mut groups = self.layout.groups();
        groups.any(|group| {
            let functions = group.totals.functions.iter().zip(0..);
            let mut called = functions.filter(|((calls, _), _)| *calls > 0);
            (group.end > from && group.begin <= until)
                && called.any(|(_, number)| may_match(FunctionId(number)))
        })
    }
}
