//! From a recording to a graph that gives it back, and that can be changed.

use super::change::{Changes, Narrow};
use super::collect::{Call, Facts, Link, NONE, Task, Way};
use super::graph::{Builder, Node};
use super::index::Index;
use super::typical::{Spread, Typical};
use crate::Class;

/// What is taken for latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Those of the recording; the usual one where it does not show any.
    Own,
    /// The same, with a small or a large one where it does not show any.
    Early,
    Late,
    /// The usual ones everywhere: what is off then shows how far the model can be trusted.
    Usual,
}

impl Manner {
    pub(super) const OTHERS: [Self; 3] = [Self::Early, Self::Late, Self::Usual];

    fn of(self, spread: Spread) -> i64 {
        match self {
            Self::Early => spread.low,
            Self::Late => spread.high,
            Self::Own | Self::Usual => spread.middle,
        }
    }
}

/// A recording, and how long its latencies usually are.
#[derive(Debug)]
pub(super) struct Model<'f> {
    pub(super) index: Index<'f>,
    typical: Typical,
}

impl<'f> Model<'f> {
    pub(super) fn of(facts: &'f Facts) -> Self {
        let index = Index::of(facts);
        let typical = index.usual();
        Self { index, typical }
    }

    pub(super) fn typical(&self) -> &Typical {
        &self.typical
    }

    fn task(&self, number: u32) -> Task {
        self.index.task(number)
    }

    fn call(&self, number: u32) -> Call {
        self.index.call(number)
    }

    pub(super) fn call_begin(call: u32) -> Node {
        2 * call
    }

    pub(super) fn task_begin(&self, task: u32) -> Node {
        2 * (self.index.facts.calls.len() as u32 + task)
    }

    /// When everything would happen: two timestamps for each call, then two for each task; and how many waits were left
    /// out since they form a circle.
    pub(super) fn solve(&self, changes: &Changes, manner: Manner) -> (Vec<i64>, u64) {
        let nodes = 2 * (self.index.facts.calls.len() + self.index.facts.tasks.len());
        let mut graph = Builder::of(nodes);
        let leaders = self.leaders();
        for (process, calls) in &self.index.facts.threads {
            let leader = leaders.iter().find(|it| it.0 == *process);
            let leader = leader.map(|it| it.1).filter(|it| *it != calls.as_slice());
            let mut before = None;
            for number in calls {
                self.add_call(&mut graph, *number, (before, leader), changes, manner);
                before = Some(*number);
            }
        }
        for (number, task) in self.index.facts.all_tasks() {
            self.add_task(&mut graph, number, &task, changes, manner);
        }
        graph.solve()
    }

    /// The thread of each process that made the first call.
    fn leaders(&self) -> Vec<(u32, &[u32])> {
        let mut found: Vec<(u32, &[u32])> = Vec::new();
        for (process, calls) in &self.index.facts.threads {
            let begin = |calls: &[u32]| calls.first().map_or(i64::MAX, |it| self.call(*it).begin);
            match found.iter_mut().find(|it| it.0 == *process) {
                Some(known) if begin(calls) < begin(known.1) => known.1 = calls,
                Some(_) => {}
                None => found.push((*process, calls)),
            }
        }
        found
    }

    fn add_call(
        &self,
        graph: &mut Builder,
        number: u32,
        (before, leader): (Option<u32>, Option<&[u32]>),
        changes: &Changes,
        manner: Manner,
    ) {
        let call = self.call(number);
        let begin = Self::call_begin(number);
        // A thread begins some time after what the first thread of its process had done.
        let started = || {
            let calls = leader?;
            let done = calls.partition_point(|it| self.call(*it).end <= call.begin);
            calls.get(done.checked_sub(1)?).copied()
        };
        let before = before.or_else(started);
        let reached = before.map(|it| self.call(it).end);
        let plans = self.index.links_of_call(number).iter();
        let plans = plans.filter(|it| it.way == Way::Plan && it.from != number);
        let planned = plans.map(|it| it.from).max_by_key(|it| self.call(*it).end);
        let planned = planned.filter(|it| self.call(*it).end <= call.begin);
        // The thread had waited for the plan, or the plan for the thread.
        let is_late = planned.map(|it| self.call(it).end) > reached;
        graph.set(begin, call.begin, 0);
        if let (Some(before), Some(reached)) = (before, reached) {
            let lag = if is_late { 0 } else { call.begin - reached };
            graph.wait(begin, Self::call_begin(before) + 1, lag);
        }
        if let Some(planned) = planned {
            let lag = if is_late {
                call.begin - self.call(planned).end
            } else {
                0
            };
            graph.wait(begin, Self::call_begin(planned) + 1, lag);
        }
        self.end_call(graph, number, &call, changes, manner);
    }

    fn end_call(
        &self,
        graph: &mut Builder,
        number: u32,
        call: &Call,
        changes: &Changes,
        manner: Manner,
    ) {
        let begin = Self::call_begin(number);
        let released = self.index.released(number).filter(|it| *it > call.begin);
        let own = match (released, manner) {
            (Some(_), Manner::Usual) if !call.copies => self.typical.returning.middle,
            (Some(released), _) => call.end - released,
            (None, _) => call.end - call.begin,
        };
        graph.set(begin + 1, call.end, scaled(own, changes.call(call)));
        graph.wait(begin + 1, begin, 0);
        let links = self.index.links_of_call(number);
        let narrowed = changes
            .sync(number, call)
            .map(|it| self.narrowed(call, links, it));
        if let Some(tasks) = narrowed {
            for task in tasks {
                graph.wait(begin + 1, self.task_begin(task) + 1, 0);
            }
            return;
        }
        for link in links {
            let task = self.task_begin(link.from);
            match link.way {
                Way::Sync | Way::Room => graph.wait(begin + 1, task + 1, 0),
                Way::Callback => graph.wait(begin + 1, task, 0),
                _ => {}
            }
        }
    }

    /// What a call takes itself, and by how much a program may differ that makes it wait for less, or has no such
    /// call: it makes one call for each task that it waits for after all, and each may take as long as others.
    pub(super) fn call_bar(&self, number: u32, call: &Call, changes: &Changes) -> i64 {
        let usual = self.typical.call.high;
        let released = self.index.released(number).filter(|it| *it > call.begin);
        let own = call.end - released.unwrap_or(call.begin);
        match changes.sync(number, call) {
            Some(narrow) => {
                let links = self.index.links_of_call(number);
                let calls = self.narrowed(call, links, narrow).len().max(1);
                own.max(usual * calls as i64)
            }
            // A copy that is faster is still a call.
            None if call.copies => {
                let gone = (1.0 - changes.call(call)).abs();
                scaled(usual.min(own), gone)
            }
            None => 0,
        }
    }

    /// The tasks that a call waits for after all.
    fn narrowed(&self, call: &Call, links: &[Link], narrow: Narrow) -> Vec<u32> {
        let tasks = || {
            links
                .iter()
                .filter(|it| it.way == Way::Sync)
                .map(|it| it.from)
        };
        let submitted = |it: &u32| self.call(self.task(*it).call).begin;
        let known = |row: &[u32]| -> Vec<u32> {
            let found = tasks().map(|it| row[it as usize]);
            found.filter(|it| *it != NONE).collect()
        };
        let copies = known(&self.index.copies);
        let latest = copies.iter().copied().max_by_key(submitted);
        let mut found = match (narrow, latest) {
            (Narrow::None, _) => Vec::new(),
            (Narrow::Event, Some(_)) => copies,
            (Narrow::Event, None) => {
                let records = known(&self.index.records).into_iter();
                records.max_by_key(submitted).into_iter().collect()
            }
            (Narrow::Stream, latest) => {
                let stream = latest.map(|it| self.task(it).stream);
                let is_on = |it: &u32| stream.is_none_or(|on| self.task(*it).stream == on);
                let own = tasks().filter(is_on).max_by_key(submitted);
                own.into_iter().collect()
            }
        };
        found.retain(|it| submitted(it) <= call.begin);
        found
    }

    fn add_task(
        &self,
        graph: &mut Builder,
        number: u32,
        task: &Task,
        changes: &Changes,
        manner: Manner,
    ) {
        let begin = self.task_begin(number);
        let call = self.call(task.call);
        let submitted = self.index.submitted(task);
        let ended = self.index.end_before(number);
        let usual = manner.of(self.typical.launch);
        // Until a task can begin, at most: it did begin.
        let launch = usual.min(task.begin - submitted);
        // The stream was busy until after the task could have begun.
        let held = ended.filter(|end| *end > submitted && *end >= submitted + launch);
        let (launch, switch) = match (held, manner) {
            (_, Manner::Usual) => (usual, self.typical.switch.middle),
            (Some(end), _) => (launch, task.begin - end),
            (None, _) => (task.begin - submitted, 0),
        };
        graph.set(begin, task.begin, 0);
        let outer = self.call(call.outer);
        let (from, inside) = match call.waits_for_room {
            true => (Self::call_begin(call.outer) + 1, call.end - outer.end),
            false => (Self::call_begin(call.outer), call.begin - outer.begin),
        };
        let launch = scaled(inside + launch, changes.launch());
        graph.wait(begin, from, launch);
        let before = self.index.before[number as usize];
        if before != NONE {
            // Without a time, it was put right after the one before it, or at its submission.
            let lag = match ended {
                Some(end) if end > task.begin => task.begin - end,
                _ => switch,
            };
            graph.wait(begin, self.task_begin(before) + 1, lag);
        }
        self.end_task(graph, number, task, changes, manner);
    }

    fn end_task(
        &self,
        graph: &mut Builder,
        number: u32,
        task: &Task,
        changes: &Changes,
        manner: Manner,
    ) {
        let begin = self.task_begin(number);
        let links = self.index.links_of_task(number);
        let moment = |link: &Link| match link.way {
            Way::Peer => self.task(link.from).begin,
            _ => self.task(link.from).end,
        };
        let released = links.iter().map(moment).max().filter(|it| *it > task.begin);
        let is_wait = matches!(task.class, Class::EventWait | Class::SignalWait);
        let own = match (released, manner) {
            (Some(_), Manner::Usual) if is_wait => self.typical.release.middle,
            (Some(released), _) => task.end - released,
            (None, _) => task.end - task.begin,
        };
        graph.set(begin + 1, task.end, scaled(own, changes.task(task)));
        graph.wait(begin + 1, begin, 0);
        if changes.holds_nothing(task) {
            return;
        }
        for link in links {
            let from = self.task_begin(link.from);
            let from = if link.way == Way::Peer {
                from
            } else {
                from + 1
            };
            graph.wait(begin + 1, from, 0);
        }
    }
}

fn scaled(time: i64, factor: f64) -> i64 {
    match factor == 1.0 {
        true => time,
        false => (time as f64 * factor).round() as i64,
    }
}
