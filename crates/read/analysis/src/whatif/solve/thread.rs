//! A thread in several simulations at once: it makes its calls in order.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::whatif::links::{LaneCode, LanePosition, of_lane, take_at};
use crate::whatif::records::{Call, CallReader, CallShape};
use crate::whatif::typical::LatencySource;
use crate::whatif::wait_index::Wait;

use super::ALL;
use super::effects::Lags;
use super::shared::{LaneNeed, LaneProgress, SolverContext};
use super::slots::Slot;

/// By which part the time may differ that a thread takes before its first task.
const FIRST_SPREAD: f64 = 0.25;

/// A call with tasks that have not all begun.
#[derive(Clone, Copy, Debug)]
struct Pending {
    ordinal: u32,
    begin: Slot,
    /// For tasks of calls that waited for room.
    end: Option<Slot>,
    /// Its end in the recording.
    call_end: i64,
    /// Tasks that are still to begin.
    left: u32,
}

/// State of the call that submitted a task.
#[derive(Clone, Copy, Debug)]
pub(super) enum Launched {
    Ahead,
    Unknown,
    /// The begin or the end of the call, and its end in the recording.
    At(Slot, i64),
}

#[derive(Debug)]
pub(super) struct ThreadLane<'f> {
    pub(super) number: u32,
    lane: LaneCode,
    calls: CallReader<'f>,
    call: Option<Call>,
    ordinal: u32,
    /// The tracer overhead of each call that submits.
    pub(super) overhead: i64,
    /// The same of each call that waited.
    reading: i64,
    /// The tracer overhead of the calls before, which is in the time until the next one.
    owed: i64,
    /// A call before submitted something.
    has_submitted: bool,
    /// The call began.
    is_inside: bool,
    /// The end of the call before, in the recording, and its shape.
    pub(super) reached: Option<i64>,
    pub(super) before: Option<u32>,
    /// Reached time in each simulation, except for the common part since then.
    pub(super) row: Vec<i64>,
    pub(super) ahead: i64,
    waits: &'f [Wait],
    /// The first of the index' sources that the lane has not reached.
    source: usize,
    rooms: &'f [LanePosition],
    groups: &'f [(LanePosition, u32)],
    /// Calls that a clock begins.
    clocked: &'f [(LanePosition, i64)],
    /// Calls after a pause that may have ended at a fixed time.
    pub(super) arrivals: &'f [(LanePosition, i64)],
    corrections: &'f [(LanePosition, i32)],
    /// By place; some that are over may be among them.
    pending: VecDeque<Pending>,
    /// Tasks that began without their calls.
    skipped: FxHashMap<u32, u32>,
    waiting: Vec<(LaneNeed, usize)>,
    /// It continues without its target.
    pub(super) is_forced: bool,
    /// It makes calls until the program ends.
    is_background: bool,
}

impl<'f> ThreadLane<'f> {
    pub(super) fn of(
        shared: &SolverContext<'f>,
        groups: &'f [(LanePosition, u32)],
        number: usize,
    ) -> Self {
        let (facts, index) = (shared.facts, shared.index);
        let lane = LaneCode::thread(number);
        let mut calls = facts.threads[number].calls.iter();
        Self {
            number: number as u32,
            lane,
            call: calls.next(),
            calls,
            ordinal: 0,
            overhead: index.overheads.get(number).copied().unwrap_or(0),
            reading: index.readings.get(number).copied().unwrap_or(0),
            owed: 0,
            has_submitted: false,
            is_inside: false,
            reached: None,
            before: None,
            row: vec![0; shared.effects.count],
            ahead: 0,
            waits: of_lane(&index.waits, lane, |it| it.to.place()),
            source: index.sources.partition_point(|it| it.place().lane() < lane),
            rooms: of_lane(&index.rooms, lane, |it| *it),
            groups: of_lane(groups, lane, |it| it.0),
            clocked: of_lane(&index.clocked, lane, |it| it.0),
            arrivals: of_lane(&index.arrivals, lane, |it| it.0),
            corrections: of_lane(&facts.corrections, lane, |it| it.0),
            pending: VecDeque::new(),
            skipped: FxHashMap::default(),
            waiting: Vec::new(),
            is_forced: false,
            is_background: index.background.contains(&number),
        }
    }

    /// The place of the next call.
    pub(super) fn place(&self) -> LanePosition {
        LanePosition::new(self.lane, self.ordinal)
    }

    /// When the next begins or ends in the recording.
    pub(super) fn time(&self) -> Option<i64> {
        let call = self.call.as_ref()?;
        Some(if self.is_inside { call.end } else { call.begin })
    }

    /// Makes a call.
    pub(super) fn step(&mut self, shared: &mut SolverContext<'f>) -> LaneProgress {
        let Some(call) = self.call else {
            return LaneProgress::Done;
        };
        let place = self.place();
        let shape = shared.facts.call_shapes[call.shape as usize];
        if !self.is_inside {
            if let Err(need) = self.begin(shared, place, &call) {
                return LaneProgress::Blocked(need);
            }
            self.is_inside = true;
            self.launch(shared, place, &call, &shape);
        }
        if let Err(need) = self.end(shared, place, &call, &shape) {
            return LaneProgress::Blocked(need);
        }
        self.arrive(shared, place);
        self.reached = Some(call.end);
        self.before = Some(call.shape);
        self.is_inside = false;
        self.ordinal += 1;
        self.call = self.calls.next();
        self.wake(shared);
        match self.call {
            Some(_) => LaneProgress::On,
            None => {
                self.ends(shared);
                LaneProgress::Done
            }
        }
    }

    fn begin(
        &mut self,
        shared: &mut SolverContext<'f>,
        place: LanePosition,
        call: &Call,
    ) -> Result<(), LaneNeed> {
        let mut left = self.waits;
        let waits = take_at(&mut left, place.begin(), |it| it.to);
        let ends_late = left.first().is_some_and(|it| it.to == place.end());
        if !waits.is_empty() {
            self.begin_after(shared, waits, call, ends_late)?;
        } else if let Some(reached) = self.reached {
            let lag = call.begin - reached;
            if lag < 0 || ends_late {
                self.ends(shared);
            }
            match take_at(&mut self.clocked, place, |it| it.0) {
                [] => {
                    self.ahead += lag;
                    self.slow(shared, lag);
                    self.leave_out_overhead(shared, lag);
                }
                [(_, period), ..] => {
                    // The thread works before it waits for the clock.
                    let own = shared.index.own_before.get(&place);
                    self.ahead += own.map_or(0, |it| it.least).clamp(0, lag.max(0));
                    self.wait_for_tick(shared, call, *period);
                }
            }
            if lag < 0 {
                shared.begins(&self.row, self.ahead);
            }
        } else {
            self.row.fill(call.begin);
            shared.begins(&self.row, 0);
        }
        self.await_arrival(shared, place, call);
        self.waits = left;
        Ok(())
    }

    /// A call ends then, which may be the last one.
    pub(super) fn ends(&self, shared: &mut SolverContext<'f>) {
        if !self.is_background {
            shared.ends(&self.row, self.ahead);
        }
    }

    /// Says when the tasks of a call were submitted.
    fn launch(
        &mut self,
        shared: &mut SolverContext<'f>,
        place: LanePosition,
        call: &Call,
        shape: &CallShape,
    ) {
        let corrections = take_at(&mut self.corrections, place, |it| it.0);
        let mut tasks = i64::from(shape.tasks);
        tasks += corrections.iter().map(|it| i64::from(it.1)).sum::<i64>();
        if !self.skipped.is_empty() {
            tasks -= i64::from(self.skipped.remove(&self.ordinal).unwrap_or(0));
        }
        if tasks > 0 {
            self.has_submitted = true;
            self.fold();
            let pending = Pending {
                ordinal: self.ordinal,
                begin: shared.slots.keep(&self.row),
                end: None,
                call_end: call.end,
                left: tasks as u32,
            };
            self.pending.push_back(pending);
        }
        self.wake(shared);
    }

    fn end(
        &mut self,
        shared: &mut SolverContext<'f>,
        place: LanePosition,
        call: &Call,
        shape: &CallShape,
    ) -> Result<(), LaneNeed> {
        let mut left = self.waits;
        let waits = take_at(&mut left, place.end(), |it| it.to);
        if !waits.is_empty() {
            self.end_after(shared, waits, (call, shape), place)?;
        } else {
            let own = call.end - call.begin;
            self.ahead += own;
            let lags: Lags = [own; LatencySource::ALL.len()];
            for factor in shared.effects.of_call(call.shape) {
                self.row[factor.run()] += factor.more(&lags);
            }
            self.slow(shared, own);
        }
        if shape.tasks > 0 {
            self.owed += self.overhead;
        }
        self.waits = left;
        Ok(())
    }

    /// A call ends that waited for tasks.
    fn end_after(
        &mut self,
        shared: &mut SolverContext<'f>,
        waits: &[Wait],
        (call, shape): (&Call, &CallShape),
        place: LanePosition,
    ) -> Result<(), LaneNeed> {
        match shared.ahead(waits) {
            Some(need) if !self.is_forced => return Err(need),
            Some(_) => shared.leave_out(waits),
            None => {}
        }
        self.is_forced = false;
        self.fold();
        let group = take_at(&mut self.groups, place, |it| it.0).first();
        let left = shared.effects.left_of(shape.function, group.map(|it| it.1));
        for wait in waits {
            let Some(by) = shared.value(wait) else {
                continue;
            };
            match &left {
                None if wait.of & ALL != 0 => {
                    let all = self.row.iter_mut().zip(by);
                    all.for_each(|(it, by)| *it = (*it).max(*by));
                }
                None => {}
                Some(left) => {
                    let all = self.row.iter_mut().zip(by).zip(left);
                    let all = all.filter(|it| it.1 & wait.of != 0);
                    all.for_each(|((it, by), _)| *it = (*it).max(*by));
                }
            }
        }
        let released = shared.index.released(waits).filter(|it| *it > call.begin);
        let returning = shared.index.typical.returning.middle;
        let lags = LatencySource::ALL.map(|manner| match (released, manner) {
            (Some(_), LatencySource::Usual) if !shape.copies && !shape.polls => returning,
            (Some(released), _) => call.end - released,
            (None, _) => call.end - call.begin,
        });
        let factors = shared.effects.of_call(call.shape);
        shared.effects.add(&mut self.row, &lags, factors);
        if let (Some(released), false) = (released, shape.polls) {
            let part = (call.end - released) as f64 * shared.index.host_spread;
            self.slow_by(shared, shared.index.returns_off().max(part as i64));
        }
        self.owed += self.reading;
        if let Some(left) = &left {
            let own = lags[LatencySource::Early as usize];
            let most = match group {
                Some(_) => own.min(shared.index.typical.call.high),
                None => own,
            };
            self.leave_out_call(shared, left, most);
        }
        shared.release(waits);
        Ok(())
    }

    /// The host may take longer in another run: much longer before its first task.
    pub(super) fn slow(&mut self, shared: &SolverContext<'_>, time: i64) {
        let part = match self.has_submitted {
            true => shared.index.host_spread,
            false => FIRST_SPREAD,
        };
        self.slow_by(shared, (time as f64 * part) as i64);
    }

    fn slow_by(&mut self, shared: &SolverContext<'_>, more: i64) {
        let slow = shared.effects.of_manner(LatencySource::SlowHost);
        let row = self.row.get_mut(slow).unwrap_or_default();
        row.iter_mut().for_each(|it| *it += more);
    }

    /// The tool works around a call, which is in the pauses of the thread: a run without the tool has shorter ones.
    pub(super) fn leave_out_overhead(&mut self, shared: &SolverContext<'_>, lag: i64) {
        let less = self.owed.clamp(0, lag.max(0));
        if less > 0 {
            let untraced = shared.effects.of_manner(LatencySource::Untraced);
            let row = self.row.get_mut(untraced).unwrap_or_default();
            row.iter_mut().for_each(|it| *it -= less);
            self.owed -= less;
        }
    }

    /// The changed program may not make a call at all that waits for less: it takes no time in the simulation with short
    /// latencies.
    fn leave_out_call(&mut self, shared: &SolverContext<'_>, left: &[u8], own: i64) {
        let early = shared.effects.of_manner(LatencySource::Early);
        let row = self.row.get_mut(early.clone()).unwrap_or_default();
        let left = left.get(early).unwrap_or_default();
        let changed = row.iter_mut().zip(left).filter(|it| *it.1 != ALL);
        changed.for_each(|it| *it.0 -= own);
    }

    /// Hands the end of a call on to what needs it.
    fn arrive(&mut self, shared: &mut SolverContext<'f>, place: LanePosition) {
        while shared.index.sources.get(self.source) == Some(&place.end()) {
            self.fold();
            shared.reach(self.source as u32, &self.row);
            self.source += 1;
        }
        if !take_at(&mut self.rooms, place, |it| *it).is_empty() {
            self.fold();
            let last = self.pending.back_mut();
            if let Some(pending) = last.filter(|it| it.ordinal == self.ordinal && it.left > 0) {
                pending.end = Some(shared.slots.keep(&self.row));
            }
        }
    }

    pub(super) fn fold(&mut self) {
        if self.ahead != 0 {
            for value in &mut self.row {
                *value += self.ahead;
            }
            self.ahead = 0;
        }
    }

    /// Whether a call began, or ended.
    fn has_reached(&self, ordinal: u32, is_end: bool) -> bool {
        let is_begun = self.is_inside && !is_end && ordinal == self.ordinal;
        ordinal < self.ordinal || is_begun || self.call.is_none()
    }

    pub(super) fn launched(&self, ordinal: u32, is_end: bool) -> Launched {
        if !self.has_reached(ordinal, is_end) {
            return Launched::Ahead;
        }
        let place = self.find(ordinal);
        let at = place.map(|it| self.pending[it]).and_then(|it| {
            let slot = if is_end { it.end? } else { it.begin };
            Some(Launched::At(slot, it.call_end))
        });
        at.unwrap_or(Launched::Unknown)
    }

    /// Where a call is among those with tasks that have not begun. Most often it is one of the first.
    fn find(&self, ordinal: u32) -> Option<usize> {
        let first = self.pending.iter().take(4);
        let near = first.take_while(|it| it.ordinal < ordinal).count();
        let place = match self.pending.get(near)?.ordinal == ordinal {
            true => near,
            false => self.pending.partition_point(|it| it.ordinal < ordinal),
        };
        let found = self.pending.get(place)?;
        (found.ordinal == ordinal && found.left > 0).then_some(place)
    }

    /// A task of a call began. Returns whether the call exists.
    pub(super) fn begun(&mut self, shared: &mut SolverContext<'f>, ordinal: u32) -> bool {
        let Some(place) = self.find(ordinal) else {
            return false;
        };
        let pending = &mut self.pending[place];
        pending.left -= 1;
        if pending.left == 0 {
            shared.slots.free(pending.begin);
            pending.end.into_iter().for_each(|it| shared.slots.free(it));
        }
        while self.pending.pop_front_if(|it| it.left == 0).is_some() {}
        true
    }

    /// A task begins without its call.
    pub(super) fn skip(&mut self, shared: &mut SolverContext<'f>, ordinal: u32) {
        if !self.begun(shared, ordinal) {
            *self.skipped.entry(ordinal).or_default() += 1;
        }
    }

    pub(super) fn wait_for(&mut self, need: LaneNeed, lane: usize) {
        self.waiting.push((need, lane));
    }

    fn wake(&mut self, shared: &mut SolverContext<'f>) {
        if self.waiting.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        for (need, lane) in waiting {
            let is_over = match need {
                LaneNeed::Call(_, ordinal, is_end) => self.has_reached(ordinal, is_end),
                LaneNeed::Source(_) => true,
            };
            match is_over {
                true => shared.woken.push((lane, need)),
                false => self.waiting.push((need, lane)),
            }
        }
    }

    /// The target of a task of this thread.
    pub(super) fn need(&self, ordinal: u32, is_end: bool) -> LaneNeed {
        LaneNeed::Call(self.number, ordinal, is_end)
    }
}
