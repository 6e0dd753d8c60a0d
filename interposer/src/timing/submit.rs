//! The events around one submission.

use core::ffi::c_void;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::figure::Work;

use crate::clock::{self, ticks};
use crate::objects::{ContextEntry, StreamEntry};
use crate::spin::Guard;
use crate::thread::ThreadState;
use crate::timing::api::{self, Api};
use crate::timing::event_cache::Stash;
use crate::timing::host_functions::Hosted;
use crate::timing::lane::{self, Lane, Link, MANY_UNREAD, MOST_PENDING, Turn};
use crate::timing::operations::{Operation, SkippedTasks};
use crate::timing::pair::Pair;
use crate::timing::queue_slots::Room;
use crate::timing::runs::{self, OpenRun, RunPlace};
use crate::timing::{capture, chip, counters, harvest, harvester, reference, selection};
use crate::{last_task, session, streams, syscall_policy, thread};

/// A submission between its start event and its end event.
pub(crate) struct Submission {
    api: &'static Api,
    context: &'static ContextEntry,
    lane: &'static Lane,
    order: Guard<'static, Turn>,
    stream: &'static StreamEntry,
    start: u64,
    end: u64,
    /// A second record behind the end event, 0 for none.
    behind: u64,
    entry: u64,
    /// Ticks before the start event: later than `entry` where it was worth a look at the clock.
    armed: u64,
    work: Option<Work>,
    hosted: Option<Hosted>,
    /// The price that the stream has paid for its events, in nanoseconds.
    paid: u32,
    operation: Operation,
    skipped: SkippedTasks,
    /// The latest device time that had been read.
    floor: i64,
    place: RunPlace,
    /// Unmeasured submissions that the lane had seen before the start event.
    untimed: u32,
    /// Calls of unknown functions that there had been then.
    unknown: u32,
}

/// How much of a pair a task needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One event before and one after.
    Span,
    /// The same, of work that the device does by itself.
    Work(Work, Operation),
    /// The same, of a wait for a record that the program has not submitted yet.
    OpenWait,
    /// One event after: an event record takes no time.
    Moment,
}

/// Prepares measuring of a task that is about to be submitted to `stream`, or says why it cannot
/// be measured. The stream is known to be neither captured nor bound.
pub(crate) fn begin(
    stream: &'static StreamEntry,
    state: &ThreadState,
    extent: Extent,
    entry: u64,
) -> Result<Submission, Untimed> {
    if state.in_callback() {
        return Err(Untimed::InCallback);
    }
    // Such a stream is for a model that is built by hand, also before it is bound to one.
    if stream.is_for_models() {
        return Err(Untimed::Bound);
    }
    if !stream.was_made.load(Relaxed) {
        return Err(Untimed::Unknown);
    }
    let context = crate::contexts::adopt_context(state).ok_or(Untimed::Unknown)?;
    if stream.context.load(Relaxed) != context.serial.load(Relaxed) {
        return Err(Untimed::Unknown);
    }
    // The runtime's work for events is more than the program has asked for.
    if !syscall_policy::is_allowed() {
        return Err(Untimed::Off);
    }
    let api = api::get().ok_or(Untimed::NoEvent)?;
    prepare_context(api, context)?;
    learn_id(api, stream);
    let lane = lane::of(stream, context).ok_or(Untimed::NoEvent)?;
    if extent == Extent::OpenWait {
        lane.hold();
    }
    let work = match extent {
        Extent::Work(work, operation) => Some((work, operation)),
        Extent::Span | Extent::OpenWait | Extent::Moment => None,
    };
    let known = |operation: Operation| {
        reference::excess(context).and_then(|it| it.operations.known(operation))
    };
    let mut turn = None;
    let mut place = RunPlace::Alone;
    // Runs may have been made until now.
    if runs::are_made() || lane.has_run.load(Relaxed) {
        let mut order = lane.turn().ok_or(Untimed::Contended)?;
        let task = runs::short_task(context, work).filter(|_| runs::are_made());
        place = runs::place(&mut order, lane, state, (task, entry));
        if let RunPlace::Next { .. } = place {
            state.submission.set_turn(Some(lane.noted()));
            return Ok(Submission::next(
                (api, context, stream),
                lane,
                order,
                (place, entry),
            ));
        }
        turn = Some(order);
    }
    let step = if session::is_auto() {
        lane.choice.step()
    } else {
        session::sampling()
    };
    let is_left_out = || !stream.sequence.load(Relaxed).is_multiple_of(step);
    if step == 0 || place == RunPlace::Alone && is_left_out() {
        if let Some((work, operation)) = work {
            lane.skipped.skip(work, known(operation));
        }
        return Err(match step {
            0 => Untimed::Off,
            _ => Untimed::NotSampled,
        });
    }
    let price = if session::is_auto() && session::budget() > 0 {
        let known = work.map(|(work, operation)| (work, known(operation)));
        selection::price(lane, stream, extent, known, entry).ok_or(Untimed::NotSampled)?
    } else {
        0
    };
    let mut order = match turn {
        Some(order) => order,
        None => lane.turn().ok_or(Untimed::Contended)?,
    };
    let pending = lane.pending.len();
    if pending >= MANY_UNREAD {
        harvest::keep_up(lane, api);
    }
    if pending >= MOST_PENDING {
        return Err(Untimed::Behind);
    }
    // SAFETY: only who has the turn puts in.
    if !unsafe { lane.pending.reserve() } {
        return Err(Untimed::NoEvent);
    }
    // It leaves a few tasks out to learn what its events add to the others, unless all were asked for.
    if let Some((work, operation)) = work
        && place == RunPlace::Alone
        && (session::is_auto() || session::is_chained())
    {
        let samples = reference::excess(context).map_or(u32::MAX, |it| it.samples(work));
        let known = known(operation);
        if order
            .stretches
            .takes(work, pending, known.is_some(), samples)
        {
            lane.skipped.skip(work, known);
            return Err(Untimed::NotSampled);
        }
    }
    let untimed = lane.count_untimed().ok_or(Untimed::Contended)?;
    let unknown = lane::unknown_calls();
    let room = order.slots.room(lane, api);
    if room == Room::None {
        return Err(Untimed::QueueFull);
    }
    let wants_chain = place != RunPlace::Alone
        || session::is_chained()
        || session::is_auto() && lane.choice.is_chained();
    // A stream that the program knows to be done was idle before this task, even if its times are not read yet.
    let is_unbroken = order
        .chain
        .is_some_and(|link| link.others == (untimed, unknown) && link.is_since(lane.known()));
    let is_chained = (wants_chain || room == Room::Little) && pending > 0 && is_unbroken;
    let begins = match extent {
        Extent::Moment => Begins::AtItsEnd,
        Extent::Span | Extent::Work(..) | Extent::OpenWait if is_chained => Begins::WithTheLast,
        Extent::Span | Extent::Work(..) | Extent::OpenWait => Begins::Itself,
    };
    let floor = reference::latest(context);
    let (start, end) = take_events(&mut order.stash, context, api, begins)?;
    let is_first = matches!(place, RunPlace::First { .. });
    let behind = if room == Room::Enough && begins != Begins::AtItsEnd && !is_first {
        take_behind(&mut order, context, api)
    } else {
        0
    };
    if begins == Begins::Itself {
        last_task::keep_if_new(state);
    }
    // To make lanes, events and threads takes long: how soon the device reaches a record is learnt without that.
    let armed = if behind == 0 { entry } else { ticks() };
    if begins == Begins::Itself && !api.record(start, stream.handle()) {
        order.stash.put_back(context, api, start);
        order.stash.put_back(context, api, end);
        order.stash.put_back(context, api, behind);
        return Err(Untimed::NoEvent);
    }
    order.chain = None;
    lane.account.pay(price);
    state.submission.set_turn(Some(lane.noted()));
    Ok(Submission {
        api,
        context,
        lane,
        order,
        stream,
        start,
        end,
        behind,
        entry,
        armed,
        work: work.map(|(work, _)| work),
        operation: work.map_or(Operation::NONE, |(_, operation)| operation),
        skipped: lane.skipped.take(),
        hosted: None,
        paid: price,
        floor,
        place,
        untimed,
        unknown,
    })
}

/// Where the begin of a task is read off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// A separate event.
    Itself,
    /// The end event of the task before it.
    WithTheLast,
    /// Its end event: it takes no time.
    AtItsEnd,
}

/// The context's handle must be known before its events are: the harvester needs it.
fn prepare_context(api: &Api, context: &'static ContextEntry) -> Result<(), Untimed> {
    if context.timing.is_open() {
        return Ok(());
    }
    if context.timing.has_failed() {
        return Err(Untimed::ContextFailed);
    }
    let handle = api.current_context().ok_or(Untimed::Unknown)?;
    if context.is_default() {
        crate::objects::name_default_context(context, handle);
    } else if context.handle.load(Relaxed) != handle {
        return Err(Untimed::Unknown);
    }
    chip::learn();
    context.timing.open();
    thread::upper_layers::watch_exit();
    harvester::ensure_running();
    Ok(())
}

/// Asks the runtime once for the number by which it and its users know the stream.
pub(crate) fn learn_id(api: &Api, stream: &'static StreamEntry) {
    if stream.id_known.load(Relaxed) || stream.id_known.swap(true, AcqRel) {
        return;
    }
    if let Some(id) = api.stream_id(stream.handle()) {
        stream.acl_id.store(id, Relaxed);
        streams::tell(stream, true);
    }
}

/// An event for a second record behind the end event, if it is time to learn how long records take; 0
/// for none.
fn take_behind(turn: &mut Turn, context: &'static ContextEntry, api: &Api) -> u64 {
    match reference::record_time(context) {
        Some(time) if time.wants_sample(&mut turn.since_behind) => {
            turn.stash.take(context, api).unwrap_or(0)
        }
        _ => 0,
    }
}

fn take_events(
    stash: &mut Stash,
    context: &ContextEntry,
    api: &Api,
    begins: Begins,
) -> Result<(u64, u64), Untimed> {
    let none = || match context.timing.has_all_events() {
        true => Untimed::Behind,
        false => Untimed::NoEvent,
    };
    let end = stash.take(context, api).ok_or_else(none)?;
    match begins {
        Begins::AtItsEnd => Ok((end, end)),
        Begins::WithTheLast => Ok((0, end)),
        Begins::Itself => match stash.take(context, api) {
            Some(start) => Ok((start, end)),
            None => {
                stash.put_back(context, api, end);
                Err(none())
            }
        },
    }
}

impl Drop for Submission {
    fn drop(&mut self) {
        // Before the turn itself goes on.
        thread::with(|state| state.submission.set_turn(None));
    }
}

impl Submission {
    /// The next task of a run.
    fn next(
        (api, context, stream): (&'static Api, &'static ContextEntry, &'static StreamEntry),
        lane: &'static Lane,
        order: Guard<'static, Turn>,
        (place, entry): (RunPlace, u64),
    ) -> Self {
        Self {
            api,
            context,
            lane,
            order,
            stream,
            start: 0,
            end: 0,
            behind: 0,
            entry,
            armed: entry,
            work: None,
            operation: Operation::NONE,
            skipped: SkippedTasks::NONE,
            hosted: None,
            paid: 0,
            floor: 0,
            place,
            untimed: 0,
            unknown: 0,
        }
    }

    /// Whether it is the next task of a run: no event is around it alone.
    pub(crate) fn goes_on_with_run(&self) -> bool {
        matches!(self.place, RunPlace::Next { .. })
    }

    /// The stream is about to get a function of the program. Returns the function and the argument for the runtime.
    pub(crate) fn host(
        &mut self,
        function: *mut c_void,
        data: *mut c_void,
    ) -> (*mut c_void, *mut c_void) {
        self.hosted = Hosted::take(function, data);
        self.hosted.map_or((function, data), Hosted::given)
    }

    /// Notes whether the runtime has taken the function, and how often it may call it.
    fn settle_hosted(&mut self, was_taken: bool, is_task: bool) {
        match (self.hosted, was_taken) {
            // The runtime may still call it.
            (Some(hosted), false) => {
                hosted.leave();
                self.hosted = None;
            }
            // A node of a graph is called again by each replay: its place stays taken.
            (Some(_), true) if !is_task => self.hosted = None,
            _ => {}
        }
    }

    /// The real call has returned. `sequence` is the number of the task that it submitted, if it
    /// did, and the ticks are those before it and after it. Answers why the task will have no time,
    /// if it will not.
    pub(crate) fn finish(
        &mut self,
        state: &ThreadState,
        sequence: Option<u32>,
        (begin, end): (u64, u64),
    ) -> Untimed {
        if let RunPlace::Next { lasts } = self.place {
            runs::submitted(&mut self.order, self.lane, state, (sequence, lasts));
            let meter = state.meter();
            meter.spend(state, &meter.timing, (self.entry, begin));
            return Untimed::InRun;
        }
        // Another thread may have begun to capture the stream meanwhile.
        let may_end = sequence.is_some() && capture::of(self.stream).is_none();
        self.settle_hosted(sequence.is_some(), may_end);
        if may_end && self.begin_run(state, sequence, (begin, end)) {
            return Untimed::Timed;
        }
        let has_ended = may_end && self.api.record(self.end, self.stream.handle());
        let closed = ticks();
        let is_followed =
            has_ended && self.behind != 0 && self.api.record(self.behind, self.stream.handle());
        if !is_followed {
            let behind = core::mem::take(&mut self.behind);
            self.order.stash.put_back(self.context, self.api, behind);
        }
        let closed_behind = ticks();
        let has_begun = self.start != 0 && self.start != self.end;
        let alone = !has_ended || self.lane.untimed() == Some(self.untimed);
        let task = sequence.filter(|_| has_ended && alone);
        if let Some(hosted) = self.hosted.take_if(|_| task.is_none()) {
            hosted.leave();
        }
        let place = self.lane.pending.counts().0;
        let last = match self.behind {
            0 if has_ended => self.end,
            0 => self.start,
            behind => behind,
        };
        if let Some(mut pair) = self.pair(has_ended, task, (begin, closed)) {
            pair.closed_behind = closed_behind;
            // SAFETY: the submission lock is held, so no other thread puts in.
            unsafe { self.lane.pending.push(pair) };
        }
        let link = Link::new((self.untimed, self.unknown), closed_behind);
        self.order.chain = link.filter(|_| has_ended && alone);
        let meter = state.meter();
        meter.spend(state, &meter.timing, (self.entry, begin));
        meter.spend(state, &meter.timing, (end, closed_behind));
        let events = u64::from(has_begun)
            .wrapping_add(has_ended.into())
            .wrapping_add(is_followed.into());
        meter.events.add(events);
        let host = begin
            .saturating_sub(self.entry)
            .saturating_add(closed_behind.saturating_sub(end));
        if session::budget() > 0 {
            self.lane.account.note_host(clock::nanoseconds(host));
        }
        self.order.slots.put(events, last, (place, closed_behind));
        counters::MOST_PENDING.raise(self.lane.pending.len() as u64);
        match sequence {
            Some(_) if !alone => Untimed::Contended,
            Some(_) if !has_ended => Untimed::NoEvent,
            Some(_) => {
                meter.tasks.add(1);
                Untimed::Timed
            }
            None => Untimed::Timed,
        }
    }

    /// Begins a run with the task, if it may be the first of one: no event follows yet.
    fn begin_run(
        &mut self,
        state: &ThreadState,
        sequence: Option<u32>,
        (begin, end): (u64, u64),
    ) -> bool {
        let (RunPlace::First { most, lasts }, Some(first)) = (self.place, sequence) else {
            return false;
        };
        let is_alone = self.lane.untimed() == Some(self.untimed);
        let closed = ticks();
        let Some(pair) = self
            .pair(true, sequence, (begin, closed))
            .filter(|_| is_alone)
        else {
            return false;
        };
        let run = OpenRun::begin(
            (self.api, self.context, self.stream),
            (pair, first),
            (self.untimed, self.unknown),
            (most, lasts),
        );
        if !runs::begin(&mut self.order, self.lane, run) {
            return false;
        }
        self.order.chain = None;
        let has_begun = self.start != 0;
        if has_begun {
            let place = self.lane.pending.counts().0;
            self.order.slots.put(1, self.start, (place, closed));
        }
        let meter = state.meter();
        meter.spend(state, &meter.timing, (self.entry, begin));
        meter.spend(state, &meter.timing, (end, closed));
        meter.events.add(has_begun.into());
        meter.tasks.add(1);
        true
    }

    /// A pair to read, or only to return without a `sequence`.
    fn pair(
        &mut self,
        has_ended: bool,
        sequence: Option<u32>,
        (begin, closed): (u64, u64),
    ) -> Option<Pair> {
        let mut pair = Pair {
            start: self.start,
            end: self.end,
            work: self.work,
            operation: self.operation,
            skipped: self.skipped,
            hosted: self.hosted,
            paid: self.paid,
            behind: self.behind,
            sequence,
            tasks: 1,
            entry: self.armed,
            begin,
            closed,
            closed_behind: closed,
            floor: self.floor,
        };
        if has_ended {
            return Some(pair);
        }
        self.order.stash.put_back(self.context, self.api, self.end);
        // A separate event was submitted: it returns by itself.
        let has_begun = self.start != 0 && self.start != self.end;
        pair.end = self.start;
        has_begun.then_some(pair)
    }
}
