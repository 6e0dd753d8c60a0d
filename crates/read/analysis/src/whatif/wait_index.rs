//! What calls and tasks waited for, looked up: found in a few passes over the tapes, before any simulation.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::compact_recording::Facts;
use super::links::{ItemEdge, LaneCode, LanePosition, Link, LinkKind, QueueWait, of_lane, take_at};
use super::outside::{self, Handover, OwnTime, Periodic, Site};
use super::records::{Call, Task};
use super::sync_rewrite::{self, ALL, SyncTask};
use super::tenths::Tally;
use super::typical::{LatencySource, Spread, Typical};
use super::untimed;

/// Something that was waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) to: ItemEdge,
    /// The place in `Index::sources` of its target.
    pub(super) source: u32,
    pub(super) way: LinkKind,
    /// The syncs, narrow or not, that wait for it; see `narrow`.
    pub(super) of: u8,
}

/// The times of a call or task that waited.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitTimes {
    pub(super) place: LanePosition,
    pub(super) begin: i64,
    pub(super) end: i64,
}

/// A recording with what its parts wait for.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By what waits.
    pub(super) waits: Vec<Wait>,
    /// Targets of waits, in order, and their times in the recording.
    pub(super) sources: Vec<ItemEdge>,
    pub(super) times: Vec<i64>,
    /// The tasks that calls waited for, by the call.
    pub(super) syncs: Vec<SyncTask>,
    /// Outermost calls with one in them that waited for room, by place.
    pub(super) rooms: Vec<LanePosition>,
    pub(super) typical: Typical,
    /// By the shape of calls: their time without waits.
    pub(super) own: Vec<CallSums>,
    /// By thread: the tracer overhead of each call that submits, and of each that waited.
    pub(super) overheads: Vec<i64>,
    pub(super) readings: Vec<i64>,
    /// How threads seem to wait for each other outside of AscendCL.
    pub(super) handovers: Vec<Handover>,
    /// Threads, and shapes of their calls after which another thread seems to go on.
    pub(super) awaited: BTreeSet<(u32, u32)>,
    /// How long a thread may work in a pause before it waits for another thread, by the site of the pause.
    pub(super) worked: FxHashMap<Site, i64>,
    /// The same by the call after a pause, where the thread's processor time is known.
    pub(super) own_before: FxHashMap<LanePosition, OwnTime>,
    /// Some of these waits may be work of the threads, and some may be mutual.
    may_be_own: bool,
    is_mutual: bool,
    /// Some waits did not happen in the recording.
    has_unshown: bool,
    /// Calls after a pause that may have ended at a fixed time, in order, with how long the thread worked in it, at least.
    pub(super) arrivals: Vec<(LanePosition, i64)>,
    /// Sites with many of these pauses.
    pub(super) arrival_sites: BTreeSet<Site>,
    /// Calls after a pause that a clock ended, in order, with its period.
    pub(super) clocked: Vec<(LanePosition, i64)>,
    /// Threads that make calls at regular times until the program ends.
    pub(super) background: BTreeSet<usize>,
    /// Those of them that submit tasks, and their streams.
    pub(super) periodic: Vec<Periodic>,
    pub(super) background_streams: BTreeSet<u32>,
    /// How long a thread takes to go on after another one.
    pub(super) handover_lag: i64,
    /// The part by which the host's time may differ in another run.
    pub(super) host_spread: f64,
    /// By how much another run may differ in that, in all.
    pub(super) handover_off: i64,
    /// By how much another run may differ in when loops of queries notice ends, in all.
    pub(super) poll_lag: i64,
    /// The time that threads were outside, as far as it may have been a wait for others.
    pub(super) outside_ns: i64,
    /// Some of these waits may be for threads without recorded calls, so they may take up all that a change saves.
    pub(super) awaits_others: bool,
}

/// Calls of one shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallSums {
    /// Their duration without waits.
    pub(super) own: i64,
    /// How many tasks they waited for, and how long.
    pub(super) tasks: u64,
    pub(super) waited: i64,
}

impl Index {
    /// Takes the links out of the facts: they are in the index in another form.
    pub(super) fn of(facts: &mut Facts) -> Self {
        let mut links = std::mem::take(&mut facts.links);
        links.extend(starts(facts));
        let outside = outside::learn(facts, &links, false);
        outside::without(&mut links, &outside.periodic);
        links.extend(&outside.links);
        links.sort_by_key(|it| it.to);
        let calls = held_calls(facts, &links);
        untimed::place(facts, &mut links, &calls);
        let streams = outside.periodic.iter();
        let streams = streams.flat_map(|it| it.streams.iter().copied());
        let mut index = Self {
            may_be_own: links.iter().any(|it| it.way.is_possible()) || !outside.worked.is_empty(),
            worked: outside.worked,
            own_before: outside.own_before,
            has_unshown: links.iter().any(|it| it.way == LinkKind::Unshown),
            is_mutual: links.iter().any(|it| it.way == LinkKind::Reverse),
            overheads: overheads(facts),
            readings: readings(facts, &calls),
            handovers: outside.found,
            awaited: outside.awaited,
            handover_lag: outside.lag,
            handover_off: outside.off,
            host_spread: host_spread(outside.repeated),
            outside_ns: outside.unexplained,
            awaits_others: outside.awaits_others,
            arrivals: outside.arrivals,
            arrival_sites: outside.arrival_sites,
            clocked: outside.clocked,
            background: outside.background,
            background_streams: streams.collect(),
            periodic: outside.periodic,
            ..Self::default()
        };
        let (mut syncs, mut tallies) = (sync_rewrite::sync_tasks(&links), Tallies::default());
        let held = first_pass(facts, &links, &mut syncs, &mut tallies);
        index.own = vec![CallSums::default(); facts.call_shapes.len()];
        let mut polls = PollLags::default();
        each_call(facts, &links, |call, released, tasks| {
            tallies.add_call(facts, call, released);
            polls.add(facts, call, released);
            if let Some(sums) = index.own.get_mut(call.shape as usize) {
                sums.own += call.end - released.unwrap_or(call.begin);
                sums.tasks += tasks;
                sums.waited += released.map_or(0, |it| it.min(call.end) - call.begin);
            }
        });
        index.poll_lag = polls.off(facts.poll_periods);
        held.iter().for_each(|it| tallies.add_wait(&links, it));
        tallies.turn();
        each_call(facts, &links, |call, released, _| {
            tallies.add_call(facts, call, released);
        });
        second_pass(facts, &mut tallies);
        held.iter().for_each(|it| tallies.add_wait(&links, it));
        index.typical = tallies.typical();
        drop(held);
        syncs.sort_by_key(|it| (it.to, it.order));
        index.resolve(links, &syncs, &calls);
        index.syncs = syncs;
        index.rooms = facts.rooms.iter().map(|it| it.call).collect();
        index.rooms.sort_unstable();
        index.rooms.dedup();
        index
    }

    /// Gives each source a number, and each narrower sync its waits.
    fn resolve(&mut self, links: Vec<Link>, syncs: &[SyncTask], calls: &[WaitTimes]) {
        let others = sync_rewrite::alternatives(syncs, calls);
        let mut sources: Vec<(ItemEdge, i64)> = links.iter().map(|it| (it.from, it.at)).collect();
        sources.extend(others.iter().map(|it| (it.from, it.at)));
        sources.sort_unstable();
        sources.dedup_by_key(|it| it.0);
        self.sources = sources.iter().map(|it| it.0).collect();
        self.times = sources.iter().map(|it| it.1).collect();
        drop(sources);
        let number = |from: &ItemEdge| self.sources.binary_search(from).unwrap_or_default() as u32;
        let own = links.iter().map(|it| Wait {
            to: it.to,
            source: number(&it.from),
            way: it.way,
            of: ALL,
        });
        let narrow = others.iter().map(|it| Wait {
            to: it.to,
            source: number(&it.from),
            way: LinkKind::Sync,
            of: it.of,
        });
        let mut waits = Vec::with_capacity(links.len() + others.len());
        waits.extend(own.chain(narrow));
        waits.sort_by_key(|it| it.to);
        self.waits = waits;
    }

    /// The ways in which a program is simulated, of which the first one gives the prediction.
    pub(super) fn manners(&self) -> impl Iterator<Item = LatencySource> {
        let (may_be_own, is_mutual) = (self.may_be_own, self.is_mutual);
        let (is_clocked, has_unshown) = (!self.clocked.is_empty(), self.has_unshown);
        let has_arrivals = !self.arrivals.is_empty();
        let mut costs = self.overheads.iter().chain(&self.readings);
        let is_traced = costs.any(|it| *it > 0);
        LatencySource::ALL.into_iter().filter(move |it| match it {
            LatencySource::OwnWork => may_be_own,
            LatencySource::Mutual => is_mutual,
            LatencySource::Untraced => is_traced,
            LatencySource::NextTick => is_clocked,
            LatencySource::Unshown => has_unshown,
            LatencySource::Arrivals => has_arrivals,
            _ => true,
        })
    }

    pub(super) fn time(&self, wait: &Wait) -> i64 {
        self.times.get(wait.source as usize).copied().unwrap_or(0)
    }

    /// By how much the usual time may differ in another run that calls take to return after their target: a quarter of the
    /// range from short to long ones.
    pub(super) fn returns_off(&self) -> i64 {
        let returning = self.typical.returning;
        (returning.high - returning.low) / 4
    }

    /// When the last target of these waits was done in the recording.
    pub(super) fn released(&self, waits: &[Wait]) -> Option<i64> {
        let own = waits.iter().filter(|it| it.of & ALL != 0);
        own.map(|it| self.time(it)).max()
    }
}

/// The least and the largest part by which the host's time differs from run to run.
const HOST_SPREAD: (f64, f64) = (0.01, 0.1);

/// The part by which the host's time may differ: the spread of pauses between the same two calls.
fn host_spread((total, spread): (i64, i64)) -> f64 {
    let part = spread as f64 / total.max(1) as f64;
    part.clamp(HOST_SPREAD.0, HOST_SPREAD.1)
}

/// The tracer overhead of each call that waited, by thread: it reads the times of tasks.
fn readings(facts: &Facts, waited: &[WaitTimes]) -> Vec<i64> {
    let each = facts.threads.iter().enumerate().map(|(number, thread)| {
        let own = of_lane(waited, LaneCode::thread(number), |it| it.place);
        let each = thread.reading.checked_div(own.len() as u64).unwrap_or(0);
        i64::try_from(each).unwrap_or(i64::MAX)
    });
    each.collect()
}

/// The tracer overhead of each call that submits, by thread. Others have little of it, but for those that wait.
fn overheads(facts: &Facts) -> Vec<i64> {
    let shapes = &facts.call_shapes;
    let each = facts.threads.iter().map(|thread| {
        let overhead = thread.overhead.saturating_sub(thread.reading);
        if overhead == 0 {
            return 0;
        }
        let submits = |call: &Call| {
            shapes
                .get(call.shape as usize)
                .is_some_and(|it| it.tasks > 0)
        };
        let count = thread.calls.iter().filter(submits).count() as u64;
        let each = overhead.checked_div(count).unwrap_or(0);
        i64::try_from(each).unwrap_or(i64::MAX)
    });
    each.collect()
}

/// A thread begins some time after earlier work of the first thread in its process.
fn starts(facts: &Facts) -> Vec<Link> {
    // By process: the thread that made the first call.
    let mut leaders: BTreeMap<u32, (i64, usize)> = BTreeMap::new();
    for (number, thread) in facts.threads.iter().enumerate() {
        if let Some(first) = thread.first {
            let leader = leaders.entry(thread.process).or_insert((first, number));
            *leader = (*leader).min((first, number));
        }
    }
    let mut found = Vec::new();
    for (process, (_, leader)) in leaders {
        let others = facts.threads.iter().enumerate();
        let others = others.filter(|it| it.0 != leader && it.1.process == process);
        let others = others.filter_map(|it| Some((it.1.first?, it.0)));
        let mut others: Vec<(i64, usize)> = others.collect();
        others.sort_unstable();
        let mut others = others.into_iter().peekable();
        let mut before = None;
        let calls = facts.threads[leader].calls.iter();
        for (call, ordinal) in calls.zip(0..) {
            let began = std::iter::from_fn(|| others.next_if(|it| it.0 < call.end));
            found.extend(began.filter_map(|it| start(before?, it.1)));
            if others.peek().is_none() {
                break;
            }
            before = Some((
                LanePosition::new(LaneCode::thread(leader), ordinal),
                call.end,
            ));
        }
        found.extend(others.filter_map(|it| start(before?, it.1)));
    }
    found
}

fn start((before, at): (LanePosition, i64), thread: usize) -> Option<Link> {
    let way = LinkKind::Start;
    let (from, to) = way.points(before, LanePosition::new(LaneCode::thread(thread), 0));
    Some(Link { way, from, to, at })
}

/// The times of the calls with ends that waited.
fn held_calls(facts: &Facts, links: &[Link]) -> Vec<WaitTimes> {
    let mut held = Vec::new();
    for (number, thread) in facts.threads.iter().enumerate() {
        let lane = LaneCode::thread(number);
        let mut links = of_lane(links, lane, |it| it.to.place());
        if links.is_empty() {
            continue;
        }
        for (call, ordinal) in thread.calls.iter().zip(0..) {
            let place = LanePosition::new(lane, ordinal);
            if !take_at(&mut links, place.end(), |it| it.to).is_empty() {
                let (begin, end) = (call.begin, call.end);
                held.push(WaitTimes { place, begin, end });
            }
            if links.is_empty() {
                break;
            }
        }
    }
    held
}

/// Passes on all calls, with the time of the last target that each waited for, and the number of these
/// tasks.
fn each_call(facts: &Facts, links: &[Link], mut take: impl FnMut(&Call, Option<i64>, u64)) {
    for (number, thread) in facts.threads.iter().enumerate() {
        let lane = LaneCode::thread(number);
        let mut links = of_lane(links, lane, |it| it.to.place());
        for (call, ordinal) in thread.calls.iter().zip(0..) {
            let own = take_at(&mut links, LanePosition::new(lane, ordinal).end(), |it| {
                it.to
            });
            let released = own.iter().map(|it| it.at).max();
            let tasks = own.iter().filter(|it| it.way == LinkKind::Sync).count();
            take(&call, released.filter(|it| *it > call.begin), tasks as u64);
        }
    }
}

/// How long after the end of its target each loop of queries ends.
#[derive(Debug, Default)]
struct PollLags {
    count: f64,
    sum: f64,
    squares: f64,
}

/// The spread of fewer loops says little of others.
const MANY_POLLS: f64 = 16.0;

/// The standard deviation of times that are anywhere between two queries is 0.29 of the time between them. From this part on,
/// the times of loops are taken as random.
const RANDOM_PART: f64 = 0.2;

/// By this part of the time between two queries, the mean of these times may differ in another run.
const LOCKED_PART: f64 = 0.25;

impl PollLags {
    fn add(&mut self, facts: &Facts, call: &Call, released: Option<i64>) {
        let shape = facts.call_shapes.get(call.shape as usize);
        if let Some(released) = released.filter(|_| shape.is_some_and(|it| it.polls)) {
            let lag = call.end.saturating_sub(released) as f64;
            self.count += 1.0;
            self.sum += lag;
            self.squares += lag.powi(2);
        }
    }

    /// By how much the sum of another run may differ; `periods` is the sum of the longest times between two queries.
    fn off(&self, periods: i64) -> i64 {
        if self.count < MANY_POLLS {
            return periods;
        }
        let mean = self.sum / self.count;
        let deviation = (self.squares / self.count - mean * mean).max(0.0).sqrt();
        if deviation * self.count < RANDOM_PART * periods as f64 {
            return periods;
        }
        // Three standard deviations of the difference of two sums.
        let random = 3.0 * (2.0 * self.count).sqrt() * deviation;
        // A loop begins with its wait, so its queries come at the same times after the begin: the mean depends on the duration.
        let period = periods as f64 / self.count;
        let usual = (mean - period / 2.0).abs().max(period * LOCKED_PART);
        let off = random.hypot(usual * self.count);
        periods.min(off.ceil() as i64)
    }
}

/// Latencies on their way.
#[derive(Debug, Default)]
struct Tallies {
    launch: Tally,
    switch: Tally,
    release: Tally,
    returning: Tally,
    call: Tally,
    error: Tally,
}

impl Tallies {
    /// A task with a time, and when the one before it on its stream had ended.
    fn add_task(&mut self, task: &Task, submitted: i64, before: Option<i64>) {
        match before {
            Some(end) if end > submitted => self.switch.add(task.begin - end),
            _ => self.launch.add(task.begin - submitted),
        }
        self.error.add(task.error);
    }

    /// A call without a wait and without a copy shows the duration of calls, and one with a wait how long calls take to
    /// return. Loops show neither.
    fn add_call(&mut self, facts: &Facts, call: &Call, released: Option<i64>) {
        let shape = facts.call_shapes.get(call.shape as usize);
        let (copies, polls) = shape.map_or((false, false), |it| (it.copies, it.polls));
        match released {
            _ if polls => {}
            Some(released) => self.returning.add(call.end - released),
            None if copies => {}
            None => self.call.add(call.end - call.begin),
        }
    }

    /// A task with a time that waited.
    fn add_wait(&mut self, links: &[Link], task: &WaitTimes) {
        let released = latest(links, task, |way| way == LinkKind::Wait);
        if let Some(released) = released.filter(|it| *it > task.begin) {
            self.release.add(task.end - released);
        }
    }

    fn each(&mut self) -> [&mut Tally; 6] {
        [
            &mut self.launch,
            &mut self.switch,
            &mut self.release,
            &mut self.returning,
            &mut self.call,
            &mut self.error,
        ]
    }

    fn turn(&mut self) {
        self.each().into_iter().for_each(Tally::turn);
    }

    fn typical(mut self) -> Typical {
        let spread = |it: &mut Tally| -> Spread { std::mem::take(it).spread() };
        let [launch, switch, release, returning, call, error] = self.each().map(spread);
        Typical {
            launch,
            switch,
            release,
            returning,
            call,
            error,
        }
    }
}

/// When the last of the links to the end of something was done.
fn latest(links: &[Link], held: &WaitTimes, is_own: impl Fn(LinkKind) -> bool) -> Option<i64> {
    let to = held.place.end();
    let from = links.partition_point(|it| it.to < to);
    let own = links[from..].iter().take_while(|it| it.to == to);
    own.filter(|it| is_own(it.way)).map(|it| it.at).max()
}

/// Goes through the tasks of all streams: which of them waited, and the tasks before those that calls
/// waited for.
fn first_pass(
    facts: &Facts,
    links: &[Link],
    syncs: &mut [SyncTask],
    tallies: &mut Tallies,
) -> Vec<WaitTimes> {
    let mut held = Vec::new();
    for number in 0..facts.streams.len() {
        let lane = LaneCode::stream(number);
        let mut links = of_lane(links, lane, |it| it.to.place());
        let mut past = sync_rewrite::EarlierTasks::of(syncs, lane);
        each_task(facts, number, |place, task, submitted, before| {
            let shape = &facts.task_shapes[task.shape as usize];
            past.pass(place, task, shape);
            if shape.is_timed {
                tallies.add_task(task, submitted, before);
            }
            let own = take_at(&mut links, place.end(), |it| it.to);
            if !own.is_empty() && shape.is_timed {
                let (begin, end) = (task.begin, task.end);
                held.push(WaitTimes { place, begin, end });
            }
        });
    }
    held
}

fn second_pass(facts: &Facts, tallies: &mut Tallies) {
    for number in 0..facts.streams.len() {
        each_task(facts, number, |_, task, submitted, before| {
            if facts.task_shapes[task.shape as usize].is_timed {
                tallies.add_task(task, submitted, before);
            }
        });
    }
}

/// Hands out the tasks of a stream, with when each was submitted, and when the one before it had ended.
fn each_task(
    facts: &Facts,
    stream: usize,
    mut take: impl FnMut(LanePosition, &Task, i64, Option<i64>),
) {
    let lane = LaneCode::stream(stream);
    let mut rooms = of_lane(&facts.rooms, lane, |it: &QueueWait| it.task);
    let mut before = None;
    for (task, ordinal) in facts.tasks(stream).zip(0..) {
        let place = LanePosition::new(lane, ordinal);
        let room = take_at(&mut rooms, place, |it| it.task).first();
        take(place, &task, submitted(&task, room), before);
        before = Some(task.end);
    }
}

/// When a task was submitted: at the begin of its call, or at the end of one that waited for room.
pub(super) fn submitted(task: &Task, room: Option<&QueueWait>) -> i64 {
    let lasts = room.map_or(0, |it| it.lasts);
    task.call_begin().wrapping_add(lasts)
}
