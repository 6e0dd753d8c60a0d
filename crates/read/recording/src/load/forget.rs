//! A trace that forgets: the kept calls and tasks move together and get new ids.

use crate::trace::{CallId, TaskId, Trace};

use super::TraceBuilder;

/// New id of a forgotten one.
const GONE: u32 = u32::MAX;

/// The numbers that calls and tasks have in the recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadNumbering {
    calls: Vec<u32>,
    tasks: Vec<u32>,
    next_call: u32,
    next_task: u32,
}

impl LoadNumbering {
    pub(crate) fn call(&self, id: CallId) -> u32 {
        self.calls.get(id.index()).copied().unwrap_or(id.0)
    }

    pub(crate) fn task(&self, id: TaskId) -> u32 {
        self.tasks.get(id.index()).copied().unwrap_or(id.0)
    }

    pub(super) fn count_call(&mut self) {
        self.calls.push(self.next_call);
        self.next_call = self.next_call.saturating_add(1);
    }

    pub(super) fn count_task(&mut self) {
        self.tasks.push(self.next_task);
        self.next_task = self.next_task.saturating_add(1);
    }
}

/// Old ids and new ones.
struct IdMoves(Vec<u32>);

impl IdMoves {
    /// Things are kept in their order.
    fn of(keep: impl Iterator<Item = bool>) -> Self {
        let mut next = 0;
        let moves = keep.map(|is_kept| match is_kept {
            true => {
                next += 1;
                next - 1
            }
            false => GONE,
        });
        Self(moves.collect())
    }

    fn of_id(&self, id: u32) -> Option<u32> {
        let new = self.0.get(id as usize).copied();
        new.filter(|new| *new != GONE)
    }

    fn retain<T>(&self, items: &mut Vec<T>) {
        let mut moves = self.0.iter();
        items.retain(|_| moves.next().is_some_and(|new| *new != GONE));
    }
}

impl TraceBuilder {
    /// From now on calls and tasks have numbers apart from their ids, so that some can be forgotten.
    pub(crate) fn set_forgetful(&mut self) {
        self.trace.numbering = Some(LoadNumbering::default());
    }

    /// Forgets the calls outside `keep`, and their tasks. Ids change, numbers do not. Applied rows must
    /// have been settled.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let trace = &mut self.trace;
        let last = trace.last_tasks();
        let calls = IdMoves::of(keep.iter().copied());
        let of_call = |id: CallId| calls.of_id(id.0).map(CallId);
        let tasks = IdMoves::of(trace.tasks.iter().map(|task| of_call(task.call).is_some()));
        let of_task = |id: TaskId| tasks.of_id(id.0).map(TaskId);

        trace.operands.renumber(of_call);
        calls.retain(&mut trace.calls);
        tasks.retain(&mut trace.tasks);
        if let Some(numbering) = &mut trace.numbering {
            calls.retain(&mut numbering.calls);
            tasks.retain(&mut numbering.tasks);
        }
        for task in &mut trace.tasks {
            task.call = of_call(task.call).unwrap_or(task.call);
        }
        for call in &mut trace.calls {
            call.task = call.task.and_then(of_task);
        }
        for lane in &mut trace.thread_calls {
            lane.retain_mut(|id| move_id(id, of_call(*id)));
        }
        for lane in &mut trace.stream_tasks {
            lane.retain_mut(|id| move_id(id, of_task(*id)));
        }
        let runs = std::mem::take(&mut trace.runs).into_iter();
        trace.runs = runs
            .filter_map(|(first, run)| Some((of_task(first)?, run)))
            .collect();
        keep_arguments(trace);
        trace.retain_entries(&last);
        self.lanes.restart(&self.trace);
    }
}

fn move_id<I>(id: &mut I, new: Option<I>) -> bool {
    match new {
        Some(new) => {
            *id = new;
            true
        }
        None => false,
    }
}

/// Moves the words and texts of the remaining calls together. They are in the order of the calls.
fn keep_arguments(trace: &mut Trace) {
    let (mut words, mut texts) = (0, 0);
    for call in &mut trace.calls {
        let (begin, count) = (call.args.0 as usize, usize::from(call.args.1));
        trace.words.copy_within(begin..begin + count, words);
        call.args.0 = words as u32;
        words += count;
        let (begin, count) = (call.strings.0 as usize, usize::from(call.strings.1));
        for place in 0..count {
            trace.texts.swap(begin + place, texts + place);
        }
        call.strings.0 = texts as u32;
        texts += count;
    }
    trace.words.truncate(words);
    trace.texts.truncate(texts);
}
