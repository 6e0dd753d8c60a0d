//! The next match of a question in all of a recording.

use ascend_trace_model::archive::{Answer, Towards, WindowError};
use ascend_trace_model::{Archive, CallId, FunctionId, TaskId, Trace};

use crate::item::Item;
use crate::search::Search;

use super::{Course, Found, News};

#[derive(Debug)]
pub(crate) struct MatchQuest {
    pub(crate) search: Search,
    pub(crate) found: Option<Found>,
}

impl MatchQuest {
    pub(super) fn advance(
        &mut self,
        course: &mut Course,
        archive: &mut Archive,
        keep_on: &mut dyn FnMut(&News) -> bool,
    ) -> Result<bool, WindowError> {
        self.search.update(archive.things());
        loop {
            let (search, now) = (&self.search, *course);
            let mut is_round = false;
            let mut next = now.next;
            let answer = archive.find(
                now.next,
                now.towards,
                |function: FunctionId| search.may_match(function),
                |reached| {
                    next = reached;
                    is_round = now.is_round(reached);
                    !is_round && keep_on(&News::Reached(reached, now.wrapped))
                },
                |trace, range| find(trace, search, range, now.towards),
            )?;
            course.next = next;
            match answer {
                Answer::Found(found) => {
                    self.found = Some(found);
                    return Ok(true);
                }
                Answer::Stopped => return Ok(is_round),
                Answer::Nothing if course.wrap() => {}
                Answer::Nothing => return Ok(true),
            }
        }
    }
}

/// The first match that begins in a range, or the last one towards earlier times.
fn find(trace: &Trace, search: &Search, range: (i64, i64), towards: Towards) -> Option<Found> {
    let tasks = (0..trace.tasks().len() as u32).map(|id| Item::Task(TaskId(id)));
    let calls = (0..trace.calls().len() as u32).map(|id| Item::Call(CallId(id)));
    let begin = |item: &Item| item.span(trace).0;
    let begins_here = |item: &Item| (range.0..=range.1).contains(&begin(item));
    let all = tasks.chain(calls).filter(begins_here);
    let all = all.filter(|item| search.is_match(trace, *item));
    let key = |item: &Item| (begin(item), *item);
    let found = match towards {
        Towards::Later => all.min_by_key(key),
        Towards::Earlier => all.max_by_key(key),
    };
    found.map(|item| Found::of(trace, item))
}
