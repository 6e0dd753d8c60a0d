//! The next match of a question in all of a recording.

use ascend_trace_recording::recording::{SearchDirection, SearchResult, WindowError};
use ascend_trace_recording::{FunctionId, Recording, TimeRange, Trace};

use crate::search::{Search, SearchMatch, all_in};

use super::{FoundElsewhere, QueryPosition};
use crate::job::JobProgress;

#[derive(Debug)]
pub(crate) struct MatchQuery {
    pub(crate) search: Search,
    pub(crate) found: Option<FoundElsewhere>,
}

impl MatchQuery {
    pub(super) fn advance(
        &mut self,
        course: &mut QueryPosition,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        self.search.update(recording.entities());
        let ranges = self.search.ranges(recording.entities());
        loop {
            let (search, now) = (&self.search, *course);
            let mut is_round = false;
            let mut next = now.next;
            let answer = recording.find_named(
                now.next,
                now.towards,
                |function: FunctionId| search.may_match(function),
                ranges.as_ref(),
                |reached| {
                    next = reached;
                    is_round = now.is_full_circle(reached);
                    !is_round && keep_on(JobProgress::Moment(reached, now.wrapped))
                },
                |trace, range| find(trace, search, range, now.towards),
            )?;
            course.next = next;
            match answer {
                SearchResult::Found(found) => {
                    self.found = Some(found);
                    return Ok(true);
                }
                SearchResult::Stopped => return Ok(is_round),
                SearchResult::Nothing if course.wrap() => {}
                SearchResult::Nothing => return Ok(true),
            }
        }
    }
}

/// The first match that begins in a range, or the last one towards earlier times.
fn find(
    trace: &Trace,
    search: &Search,
    range: TimeRange,
    towards: SearchDirection,
) -> Option<FoundElsewhere> {
    let all = all_in(trace, range).filter(|it| search.is_match(trace, *it));
    let key = |it: &SearchMatch| (it.begin(trace), *it);
    let found = match towards {
        SearchDirection::Later => all.min_by_key(key),
        SearchDirection::Earlier => all.max_by_key(key),
    };
    FoundElsewhere::of_match(trace, found?)
}
