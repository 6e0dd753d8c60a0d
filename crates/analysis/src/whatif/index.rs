//! What calls and tasks waited for, looked up.

use ascend_trace_format::api::Waits;

use super::collect::{Call, Facts, Link, NONE, Task, Way};
use super::typical::{Spread, Typical};

/// A recording with what its parts wait for.
#[derive(Debug)]
pub(super) struct Index<'f> {
    pub(super) facts: &'f Facts,
    /// By what waits; calls are outermost ones.
    of_calls: Vec<Link>,
    of_tasks: Vec<Link>,
    /// The last copy to or from the host, and the last event record, of the same stream up to each task.
    pub(super) copies: Vec<u32>,
    pub(super) records: Vec<u32>,
    /// The task before each on its stream.
    pub(super) before: Vec<u32>,
}

impl<'f> Index<'f> {
    pub(super) fn of(facts: &'f Facts) -> Self {
        let is_of_call =
            |it: &&Link| matches!(it.way, Way::Sync | Way::Room | Way::Plan | Way::Callback);
        let is_there = |row: &[bool], at: u32| row.get(at as usize).copied().unwrap_or(false);
        let tasks: Vec<bool> = facts.tasks.iter().map(Option::is_some).collect();
        let calls: Vec<bool> = facts.calls.iter().map(Option::is_some).collect();
        let known = |it: &&Link| {
            let from = if it.way == Way::Plan { &calls } else { &tasks };
            let to = if is_of_call(it) { &calls } else { &tasks };
            is_there(from, it.from) && is_there(to, it.to)
        };
        let outer = |call: u32| facts.calls[call as usize].map_or(call, |it| it.outer);
        let of_calls = facts.links.iter().filter(known).filter(is_of_call);
        let of_calls = of_calls.map(|it| Link {
            from: if it.way == Way::Plan {
                outer(it.from)
            } else {
                it.from
            },
            to: outer(it.to),
            way: it.way,
        });
        let of_tasks = facts
            .links
            .iter()
            .filter(known)
            .filter(|it| !is_of_call(it));
        let mut index = Self {
            facts,
            of_calls: of_calls.collect(),
            of_tasks: of_tasks.copied().collect(),
            copies: vec![NONE; tasks.len()],
            records: vec![NONE; tasks.len()],
            before: vec![NONE; tasks.len()],
        };
        index.of_calls.sort_by_key(|it| it.to);
        index.of_tasks.sort_by_key(|it| it.to);
        index.look_back();
        index
    }

    fn look_back(&mut self) {
        for (_, tasks) in &self.facts.streams {
            let (mut copy, mut record, mut last) = (NONE, NONE, NONE);
            for number in tasks {
                let task = self.task(*number);
                if task.is_of_host {
                    copy = *number;
                }
                if task.is_record {
                    record = *number;
                }
                let at = *number as usize;
                (self.copies[at], self.records[at], self.before[at]) = (copy, record, last);
                last = *number;
            }
        }
    }

    /// A task; links and streams name those that are there.
    pub(super) fn task(&self, number: u32) -> Task {
        self.facts.task(number).unwrap_or(Task::NOTHING)
    }

    pub(super) fn call(&self, number: u32) -> Call {
        self.facts.call(number).unwrap_or(Call::NOTHING)
    }

    pub(super) fn links_of_call(&self, call: u32) -> &[Link] {
        between(&self.of_calls, call)
    }

    pub(super) fn links_of_task(&self, task: u32) -> &[Link] {
        between(&self.of_tasks, task)
    }

    /// What calls of the function wait for.
    pub(super) fn waits(&self, call: Call) -> Waits {
        let functions = self.facts.functions.get(call.function as usize);
        functions.map_or(Waits::Nothing, |it| it.1)
    }

    /// The end of the task before, if there is one.
    pub(super) fn end_before(&self, number: u32) -> Option<i64> {
        let before = self.before[number as usize];
        (before != NONE).then(|| self.task(before).end)
    }

    /// When a task was submitted: at the begin of the outermost call, plus the time until the call that submits. A call
    /// that waited for room submitted at its end.
    pub(super) fn submitted(&self, task: &Task) -> i64 {
        let call = self.call(task.call);
        if call.waits_for_room {
            call.end
        } else {
            call.begin
        }
    }

    /// How long latencies usually are.
    pub(super) fn usual(&self) -> Typical {
        let mut found: [Vec<i64>; 6] = Default::default();
        for (number, task) in self.facts.all_tasks().filter(|it| it.1.is_timed) {
            let submitted = self.submitted(&task);
            match self.end_before(number) {
                Some(end) if end > submitted => found[1].push(task.begin - end),
                _ => found[0].push(task.begin - submitted),
            }
            let causes = self
                .links_of_task(number)
                .iter()
                .filter(|it| it.way == Way::Wait);
            let released = causes.map(|it| self.task(it.from).end).max();
            found[2].extend(
                released
                    .filter(|it| *it > task.begin)
                    .map(|it| task.end - it),
            );
            found[4].push(task.error);
        }
        for (number, call) in self.facts.outer_calls() {
            let released = self.released(number).filter(|it| *it > call.begin);
            match released {
                Some(released) => found[3].push(call.end - released),
                None if call.copies => {}
                None => found[5].push(call.end - call.begin),
            }
        }
        let [launch, switch, release, returning, error, call] = found.map(Spread::of);
        Typical {
            launch,
            switch,
            release,
            returning,
            call,
            error,
        }
    }

    /// When the last was there that a call waited for.
    pub(super) fn released(&self, call: u32) -> Option<i64> {
        let links = self.links_of_call(call).iter();
        let moments = links.filter_map(|it| match it.way {
            Way::Sync | Way::Room => Some(self.task(it.from).end),
            Way::Callback => Some(self.task(it.from).begin),
            _ => None,
        });
        moments.max()
    }
}

fn between(links: &[Link], to: u32) -> &[Link] {
    let from = links.partition_point(|it| it.to < to);
    let until = from + links[from..].partition_point(|it| it.to == to);
    &links[from..until]
}
