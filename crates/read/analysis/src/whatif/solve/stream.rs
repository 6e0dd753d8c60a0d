//! A stream in several simulations at once: it runs its tasks in order.

use crate::TaskRole;
use crate::whatif::links::{LaneCode, LanePosition, LinkKind, QueueWait, of_lane, take_at};
use crate::whatif::records::{Task, TaskShape};
use crate::whatif::typical::LatencySource;
use crate::whatif::untimed::StreamTasks;
use crate::whatif::wait_index::{Wait, submitted};

use super::effects::Lags;
use super::shared::{LaneNeed, LaneProgress, SolverContext};
use super::thread::{Launched, ThreadLane};

#[derive(Debug)]
pub(super) struct StreamLane<'f> {
    number: usize,
    lane: LaneCode,
    tasks: StreamTasks<'f>,
    task: Option<Task>,
    ordinal: u32,
    /// The task began.
    is_inside: bool,
    /// The end of the task before, in the recording.
    before: Option<i64>,
    /// Reached time in each simulation.
    row: Vec<i64>,
    waits: &'f [Wait],
    /// The first of the index' sources that the lane has not reached.
    source: usize,
    rooms: &'f [QueueWait],
    /// Its working time in each simulation, in addition to the common part.
    worked: Vec<i64>,
    worked_in_all: i64,
    /// It continues without its target.
    pub(super) is_forced: bool,
    /// It gets tasks until the program ends.
    is_background: bool,
}

/// How soon a task can begin, after its submission and after the task before it.
#[derive(Clone, Copy, Debug)]
struct SubmitLead {
    launch: Lags,
    switch: Lags,
}

impl<'f> StreamLane<'f> {
    pub(super) fn of(shared: &SolverContext<'f>, number: usize) -> Self {
        let (facts, index) = (shared.facts, shared.index);
        let lane = LaneCode::stream(number);
        let mut tasks = facts.tasks(number);
        Self {
            number,
            lane,
            task: tasks.next(),
            tasks,
            ordinal: 0,
            is_inside: false,
            before: None,
            row: vec![0; shared.effects.count],
            waits: of_lane(&index.waits, lane, |it| it.to.place()),
            source: index.sources.partition_point(|it| it.place().lane() < lane),
            rooms: of_lane(&facts.rooms, lane, |it| it.task),
            worked: vec![0; shared.effects.count],
            worked_in_all: 0,
            is_forced: false,
            is_background: index.background_streams.contains(&(number as u32)),
        }
    }

    /// When the next begins or ends in the recording.
    pub(super) fn time(&self) -> Option<i64> {
        let task = self.task.as_ref()?;
        Some(if self.is_inside { task.end } else { task.begin })
    }

    /// How long it worked in each simulation.
    pub(super) fn worked(&self) -> impl Iterator<Item = i64> {
        self.worked.iter().map(|it| it + self.worked_in_all)
    }

    /// Runs a task.
    pub(super) fn step(
        &mut self,
        shared: &mut SolverContext<'f>,
        threads: &mut [ThreadLane<'f>],
    ) -> LaneProgress {
        let Some(task) = self.task else {
            return LaneProgress::Done;
        };
        let place = LanePosition::new(self.lane, self.ordinal);
        let shape = shared.facts.task_shapes[task.shape as usize];
        let mut left = self.waits;
        let waits = take_at(&mut left, place.end(), |it| it.to);
        if !self.is_inside {
            if let Err(need) = self.begin(shared, threads, (place, &task), waits) {
                return LaneProgress::Blocked(need);
            }
            self.is_inside = true;
            self.arrive(shared, place, false);
        }
        let is_work = shape.class == TaskRole::Work;
        if waits.is_empty() {
            self.end_alone(shared, &task, is_work);
        } else if let Err(need) = self.end_after(shared, waits, (&task, &shape)) {
            return LaneProgress::Blocked(need);
        }
        self.waits = left;
        self.arrive(shared, place, true);
        self.before = Some(task.end);
        self.is_inside = false;
        self.ordinal += 1;
        self.task = self.tasks.next();
        match self.task {
            Some(_) => LaneProgress::On,
            None => {
                self.ends(shared);
                LaneProgress::Done
            }
        }
    }

    /// A task ends then, which may be the last one.
    fn ends(&self, shared: &mut SolverContext<'f>) {
        if !self.is_background {
            shared.ends(&self.row, 0);
        }
    }

    fn begin(
        &mut self,
        shared: &mut SolverContext<'f>,
        threads: &mut [ThreadLane<'f>],
        (place, task): (LanePosition, &Task),
        waits: &[Wait],
    ) -> Result<(), LaneNeed> {
        let ends_late = !waits.is_empty();
        let mut rooms = self.rooms;
        let room = take_at(&mut rooms, place, |it| it.task).first();
        let thread = threads.get_mut(task.thread as usize);
        let launched = match &thread {
            Some(thread) => thread.launched(task.call, room.is_some()),
            None => Launched::Unknown,
        };
        if let (Launched::Ahead, Some(thread)) = (launched, &thread)
            && !self.is_forced
        {
            return Err(thread.need(task.call, room.is_some()));
        }
        self.is_forced = false;
        self.rooms = rooms;
        let mut lead = self.lead(shared, task, room, launched);
        if self.turn(shared, task, waits).is_some() {
            // It was ready at once, and waited.
            lead.switch.iter_mut().for_each(|it| *it = (*it).min(0));
            lead.launch
                .iter_mut()
                .for_each(|it| *it = (*it).min(task.inside));
        }
        let goes_back = lead.switch.iter().any(|it| *it < 0);
        match self.before {
            Some(_) if goes_back || ends_late => self.ends(shared),
            _ => {}
        }
        self.go_on(shared, task, launched, &lead);
        if goes_back || self.before.is_none() {
            shared.begins(&self.row, 0);
        }
        match (launched, thread) {
            (Launched::Ahead, Some(thread)) => {
                shared.left_out += 1;
                thread.skip(shared, task.call);
            }
            (Launched::At(..), Some(thread)) => {
                thread.begun(shared, task.call);
            }
            _ => {}
        }
        Ok(())
    }

    fn lead(
        &self,
        shared: &SolverContext<'f>,
        task: &Task,
        room: Option<&QueueWait>,
        launched: Launched,
    ) -> SubmitLead {
        let typical = &shared.index.typical;
        let overhead = shared.index.overheads.get(task.thread as usize);
        let overhead = overhead.copied().unwrap_or(0);
        let submitted = submitted(task, room);
        let inside = match (room, launched) {
            (Some(_), Launched::At(_, call_end)) => submitted - call_end,
            _ => task.inside,
        };
        let mut lead = SubmitLead {
            launch: [0; LatencySource::ALL.len()],
            switch: [0; LatencySource::ALL.len()],
        };
        for (place, manner) in LatencySource::ALL.into_iter().enumerate() {
            let usual = manner.of(typical.launch);
            // Until a task can begin, at most: it did begin.
            let launch = usual.min(task.begin - submitted);
            // The stream was busy until after the task could have begun.
            let is_held = |end: &i64| *end > submitted && *end >= submitted + launch;
            let (launch, switch) = match (self.before.filter(is_held), manner) {
                (_, LatencySource::Usual) => (usual, typical.switch.middle),
                (Some(end), _) => (launch, task.begin - end),
                (None, _) => (task.begin - submitted, 0),
            };
            let overhead = match manner {
                LatencySource::Untraced => overhead.min(launch.max(0)),
                _ => 0,
            };
            lead.launch[place] = inside + launch - overhead;
            // Without a time, it was put right after the one before it, or at its submission.
            lead.switch[place] = match self.before {
                Some(end) if end > task.begin => task.begin - end,
                _ => switch,
            };
        }
        lead
    }

    /// When a function on the host had its turn, for which it had waited.
    fn turn(&self, shared: &SolverContext<'f>, task: &Task, waits: &[Wait]) -> Option<i64> {
        let turn = waits.iter().find(|it| it.way == LinkKind::Turn)?;
        let ready = self.before.unwrap_or(i64::MIN).max(task.call_begin());
        Some(shared.index.time(turn)).filter(|it| *it > ready)
    }

    /// From the end of the task before to the begin of this one.
    fn go_on(
        &mut self,
        shared: &SolverContext<'f>,
        task: &Task,
        launched: Launched,
        lead: &SubmitLead,
    ) {
        let effects = &shared.effects;
        let switch = match (self.before, launched) {
            (Some(_), _) => &lead.switch,
            (None, Launched::At(..)) => {
                self.row.fill(i64::MIN / 2);
                &[0; LatencySource::ALL.len()]
            }
            (None, _) => return self.row.fill(task.begin),
        };
        match launched {
            Launched::At(slot, _) => {
                let submitted = shared.slots.get(slot);
                effects.later(&mut self.row, switch, (submitted, &lead.launch));
            }
            _ => effects.add(&mut self.row, switch, &[]),
        }
    }

    /// A task ends that waited for nothing.
    fn end_alone(&mut self, shared: &SolverContext<'f>, task: &Task, is_work: bool) {
        let lags: Lags = [task.end - task.begin; LatencySource::ALL.len()];
        let factors = shared.effects.of_task(task.shape);
        shared.effects.add(&mut self.row, &lags, factors);
        if is_work {
            self.worked_in_all += task.end - task.begin;
            for factor in factors {
                self.worked[factor.run()] += factor.more(&lags);
            }
        }
    }

    fn end_after(
        &mut self,
        shared: &mut SolverContext<'f>,
        waits: &[Wait],
        (task, shape): (&Task, &TaskShape),
    ) -> Result<(), LaneNeed> {
        match shared.ahead(waits) {
            Some(need) if !self.is_forced => return Err(need),
            Some(_) => {
                self.is_forced = false;
                shared.leave_out(waits);
            }
            None => {}
        }
        let is_work = shape.class == TaskRole::Work;
        let each = self.worked.iter_mut().zip(&self.row);
        each.filter(|_| is_work).for_each(|(it, at)| *it -= at);
        let index = shared.index;
        let released = index.released(waits).filter(|it| *it > task.begin);
        let released = released.or_else(|| self.turn(shared, task, waits));
        let lags = LatencySource::ALL.map(|manner| match (released, manner) {
            (Some(_), LatencySource::Usual) if shape.is_wait() => index.typical.release.middle,
            (Some(released), _) => task.end - released,
            (None, _) => task.end - task.begin,
        });
        let without = match shape.is_wait() {
            true => shared.effects.without_waits(self.number),
            false => None,
        };
        for by in waits.iter().filter_map(|it| shared.value(it)) {
            let all = self.row.iter_mut().zip(by);
            match without {
                None => all.for_each(|(it, by)| *it = (*it).max(*by)),
                Some(without) => {
                    let held = all.zip(without).filter(|it| !it.1);
                    held.for_each(|((it, by), _)| *it = (*it).max(*by));
                }
            }
        }
        let factors = shared.effects.of_task(task.shape);
        shared.effects.add(&mut self.row, &lags, factors);
        let each = self.worked.iter_mut().zip(&self.row);
        each.filter(|_| is_work).for_each(|(it, at)| *it += at);
        shared.release(waits);
        Ok(())
    }

    /// Hands the begin or the end of a task on to what needs it.
    fn arrive(&mut self, shared: &mut SolverContext<'f>, place: LanePosition, is_end: bool) {
        let point = if is_end { place.end() } else { place.begin() };
        while shared.index.sources.get(self.source) == Some(&point) {
            shared.reach(self.source as u32, &self.row);
            self.source += 1;
        }
    }
}
