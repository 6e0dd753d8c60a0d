//! How threads seem to wait for each other outside of AscendCL, learnt from times.
//!
//! Recordings do not contain locks and queues of the program, with which threads wait for each other. But if each pause
//! of a thread between the same two calls ends right after another thread's call, or after a function on the host, then it
//! seems to wait for that. Such a wait is a separate kind of link. Pauses without an explanation may be waits as well, so they
//! count in the errors of predictions.

mod background;
mod clock;
mod ended_calls;
mod follows;
mod handover;
mod hidden_waits;
mod joins;
mod occupation;
mod pauses;
mod periodic;
mod result;
mod turns;
mod unshown;
mod walker;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use rustc_hash::FxHashMap;

use super::compact_recording::Facts;
use super::links::{LaneCode, LanePosition, Link, LinkKind};
use super::records::Call;
use crate::TaskRole;

pub use handover::Handover;
pub(super) use pauses::OwnTime;
pub(super) use periodic::{Periodic, without};

use ended_calls::EndedCalls;
use hidden_waits::HiddenWaits;
use pauses::{Ending, PauseEnd, Pauses, Source, Verdict};
use walker::Walker;

/// A shorter time between two calls is no pause. Nanoseconds.
const LEAST_NS: i64 = 20_000;

/// Links that are kept on the way; with more candidates nothing is learnt.
const MOST: usize = 1 << 20;

/// With more processes, threads are not compared with those of other processes.
const MOST_PROCESSES: usize = 16;

/// The result for the pauses of threads.
#[derive(Debug, Default)]
pub(super) struct PauseResult {
    pub(super) links: Vec<Link>,
    pub(super) found: Vec<Handover>,
    /// Threads, and shapes of their calls after which another thread seems to go on.
    pub(super) awaited: BTreeSet<(u32, u32)>,
    /// An upper limit of the time that threads take to go on after their wait.
    pub(super) lag: i64,
    /// By how much these times may differ in another run, in all.
    pub(super) off: i64,
    /// The sum of the pauses that nothing explains.
    pub(super) unexplained: i64,
    /// Some of these pauses may be waits for threads without recorded calls.
    pub(super) awaits_others: bool,
    /// Calls after a pause without a known cause, which something may have ended at a fixed time. With how long the thread worked in the
    /// pause, at least.
    pub(super) arrivals: Vec<(LanePosition, i64)>,
    /// Sites with many of these pauses.
    pub(super) arrival_sites: BTreeSet<Site>,
    /// Calls after a pause that a clock ended, with its period.
    pub(super) clocked: Vec<(LanePosition, i64)>,
    /// Threads that make calls at regular times until the program ends.
    pub(super) background: BTreeSet<usize>,
    /// Threads that submit at regular times until the others have done their work.
    pub(super) periodic: Vec<Periodic>,
    /// How long a thread may work in a pause before it waits for another thread, by the site of the pause.
    pub(super) worked: FxHashMap<Site, i64>,
    /// The same by the call after a pause, where the thread's processor time is known.
    pub(super) own_before: FxHashMap<LanePosition, OwnTime>,
    /// All pauses between the same two calls, and half of their spread.
    pub(super) repeated: (i64, i64),
    /// All pauses that are no work of the thread, where they are wanted.
    pub(super) pauses: Option<Vec<Pause>>,
}

/// A pause of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    /// The call after it.
    pub(super) call: LanePosition,
    /// What seems to have ended it.
    pub(super) by: Option<EndedBy>,
}

/// The end of a pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedBy {
    /// The link for it, and the place of its description in [`PauseResult::found`].
    pub(super) link: Link,
    pub(super) handover: usize,
}

/// Where a thread pauses: its number, and the shapes of the calls before and after.
pub(super) type Site = (u32, u32, u32);

/// Pauses with an unknown cause, by their site: the part of them that may be waits.
type Unexplained = BTreeMap<Site, i64>;

/// A function on the host.
#[derive(Clone, Copy, Debug)]
struct HostFunction {
    begin: i64,
    end: i64,
    stream: u32,
    place: LanePosition,
}

/// Looks at the pauses of all threads, and keeps each of them where they are wanted. `links` are those of the recording.
pub(super) fn learn(facts: &Facts, links: &[Link], keeps_pauses: bool) -> PauseResult {
    let mut learnt = PauseResult {
        pauses: keeps_pauses.then(Vec::new),
        ..PauseResult::default()
    };
    let mut processes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, thread) in facts.threads.iter().enumerate() {
        if thread.first.is_some() {
            processes.entry(thread.process).or_default().push(number);
        }
    }
    let mut unexplained = Unexplained::new();
    for (process, threads) in &processes {
        let own = (*process, threads.as_slice());
        let mut background: BTreeSet<usize> = match threads.len() {
            1 => BTreeSet::new(),
            _ => background::of(facts, threads).collect(),
        };
        if !keeps_pauses {
            let periodic = periodic::of(facts, threads, links);
            let periodic = not_awaited(facts, own, &background, periodic);
            background.extend(periodic.iter().map(|it| it.thread));
            learnt.off += periodic.iter().map(|it| it.period).sum::<i64>();
            learnt.periodic.extend(periodic);
        }
        unexplained.extend(learn_process(facts, own, &background, &mut learnt));
        learnt.background.extend(background);
    }
    if (2..=MOST_PROCESSES).contains(&processes.len()) && !unexplained.is_empty() {
        let threads: Vec<usize> = processes.into_values().flatten().collect();
        let mut sweep = Sweep::of(facts, &threads, Vec::new());
        sweep.between = Some(unexplained);
        sweep.run(facts);
        let has_peers = links.iter().any(|it| it.way == LinkKind::Peer);
        sweep.judge_between(facts, has_peers, &mut learnt);
    }
    for (thread, _) in &learnt.awaited {
        learnt.background.remove(&(*thread as usize));
    }
    learnt.links.sort_by_key(|it| it.to);
    learnt.clocked.sort_unstable();
    learnt.arrivals.sort_unstable();
    learnt
}

/// Looks at the pauses of the threads of a process.
fn learn_process(
    facts: &Facts,
    (process, threads): (u32, &[usize]),
    background: &BTreeSet<usize>,
    learnt: &mut PauseResult,
) -> Unexplained {
    let others = threads.iter().filter(|it| !background.contains(it));
    let others: Vec<usize> = others.copied().collect();
    let joins = match threads.len() {
        1 => Vec::new(),
        _ => joins::of(facts, &others),
    };
    let functions = host_functions(facts, process);
    learnt.links.extend(turns::links(&functions));
    learnt.links.extend(unshown::links(facts, &others));
    let is_alone = threads.len() == 1 && functions.is_empty();
    let mut sweep = Sweep::of(facts, threads, functions);
    sweep.is_alone = is_alone;
    sweep.other_runs = facts.others.most_runs(process, facts.range());
    sweep.joined = joins.iter().map(|it| it.call).collect();
    joins.iter().for_each(|it| learnt.take_join(facts, it));
    sweep.run(facts);
    sweep.judge(facts, learnt)
}

/// Those of periodic threads that no other thread seems to wait for, and that wait for no other thread.
fn not_awaited(
    facts: &Facts,
    own: (u32, &[usize]),
    background: &BTreeSet<usize>,
    mut periodic: Vec<Periodic>,
) -> Vec<Periodic> {
    if !periodic.is_empty() {
        let mut trial = PauseResult::default();
        learn_process(facts, own, background, &mut trial);
        let found = trial.links.iter();
        let found = found.filter(|it| it.way != LinkKind::Join && it.way != LinkKind::Unshown);
        let linked = found.flat_map(|it| [it.from, it.to]);
        let linked: BTreeSet<LaneCode> = linked.map(|it| it.place().lane()).collect();
        periodic.retain(|it| !linked.contains(&LaneCode::thread(it.thread)));
    }
    periodic
}

/// The functions on the host that a process launched, by their begins.
fn host_functions(facts: &Facts, process: u32) -> Vec<HostFunction> {
    let has_some = facts
        .task_shapes
        .iter()
        .any(|it| it.class == TaskRole::Callback);
    let mut found = Vec::new();
    let streams = facts.streams.iter().enumerate();
    for (number, stream) in streams.filter(|it| has_some && it.1.place.process == process) {
        for (task, ordinal) in stream.tasks.iter().zip(0..) {
            let shape = &facts.task_shapes[task.shape as usize];
            if shape.class == TaskRole::Callback && shape.is_timed {
                found.push(HostFunction {
                    begin: task.begin,
                    end: task.end,
                    stream: number as u32,
                    place: LanePosition::new(LaneCode::stream(number), ordinal),
                });
            }
        }
    }
    found.sort_by_key(|it| it.begin);
    found
}

/// Passes on the calls of a process in the order of their begins.
#[derive(Debug)]
struct Sweep<'f> {
    threads: Vec<usize>,
    walkers: Vec<Walker<'f>>,
    functions: Vec<HostFunction>,
    /// How many functions have begun.
    begun: usize,
    sites: FxHashMap<Site, Pauses>,
    kept: usize,
    /// Calls after a pause that the ends of other threads ended, in order.
    joined: Vec<LanePosition>,
    /// The process has nothing that a thread can wait for, except a clock and threads without recorded calls.
    is_alone: bool,
    /// How often a thread without recorded calls ran, at most.
    other_runs: u64,
    /// The threads are of several processes: these pauses may end after calls of another one.
    between: Option<Unexplained>,
}

impl<'f> Sweep<'f> {
    fn of(facts: &'f Facts, threads: &[usize], functions: Vec<HostFunction>) -> Self {
        let walkers = threads.iter().map(|it| Walker::of(facts, *it));
        Self {
            threads: threads.to_vec(),
            walkers: walkers.collect(),
            functions,
            begun: 0,
            sites: FxHashMap::default(),
            kept: 0,
            joined: Vec::new(),
            is_alone: false,
            other_runs: 0,
            between: None,
        }
    }

    fn run(&mut self, facts: &Facts) {
        let next = |walker: &Walker<'_>| walker.next.map(|it| it.begin);
        let begins = self.walkers.iter().map(next).enumerate();
        let begins = begins.filter_map(|(number, begin)| Some(Reverse((begin?, number))));
        let mut ready: BinaryHeap<Reverse<(i64, usize)>> = begins.collect();
        while let Some(Reverse((_, number))) = ready.pop() {
            let until = ready.peek().map_or(i64::MAX, |it| it.0.0);
            while let Some(call) = self.walkers[number].next.filter(|it| it.begin <= until) {
                self.pause(number, &call);
                self.walkers[number].step(facts, call);
            }
            if let Some(begin) = next(&self.walkers[number]) {
                ready.push(Reverse((begin, number)));
            }
        }
    }

    /// A call begins: looks for calls and functions that ended shortly before.
    fn pause(&mut self, number: usize, call: &Call) {
        let own = &self.walkers[number];
        let Some(before) = own.done.front().map(|it| it.call) else {
            return;
        };
        let since = before.end;
        if call.begin - since < LEAST_NS || self.kept >= MOST {
            return;
        }
        let to = LanePosition::new(LaneCode::thread(self.threads[number]), own.ordinal);
        if self.joined.binary_search(&to).is_ok() {
            return;
        }
        let site = (self.threads[number] as u32, before.shape, call.shape);
        let process = match &self.between {
            Some(wanted) if !wanted.contains_key(&site) => return,
            Some(_) => Some(own.process),
            None => None,
        };
        let (ended, earlier) = self.ended_calls((number, process), (since, call.begin));
        let pauses = self.sites.entry(site).or_default();
        pauses.add(own.ordinal, (since, call.begin), own.work());
        self.kept += 1;
        let wakes = ended.wakes();
        let mut add = |source: Source, from: LanePosition, at: i64, next: Option<LanePosition>| {
            let endings = pauses.endings.entry(source).or_default();
            endings.push(Ending {
                from,
                to,
                next,
                since,
                at,
                lag: call.begin - at,
                wakes: wakes(source),
            });
            self.kept += 1;
        };
        for it in ended.with_any() {
            add(it.source, it.from, it.at, it.next);
        }
        while let Some(function) = self.functions.get(self.begun)
            && function.begin <= call.begin
        {
            self.begun += 1;
        }
        if let Some(last) = self.begun.checked_sub(1).map(|it| self.functions[it]) {
            if since < last.end && last.end <= call.begin {
                add(
                    Source::FunctionEnds(last.stream),
                    last.place,
                    last.end,
                    None,
                );
            }
            if since < last.begin {
                add(
                    Source::FunctionBegins(last.stream),
                    last.place,
                    last.begin,
                    None,
                );
            }
        }
        for (source, from, at) in earlier {
            let endings = pauses.earlier.entry(source).or_default();
            endings.push(Ending {
                from,
                to,
                next: None,
                since,
                at,
                lag: call.begin - at,
                wakes: 0,
            });
            self.kept += 1;
        }
    }

    /// Calls of other threads that ended in a pause of a thread, and waits that ended before it. No calls of `process` count.
    fn ended_calls(
        &self,
        (number, process): (usize, Option<u32>),
        (since, until): (i64, i64),
    ) -> (EndedCalls, Vec<(Source, LanePosition, i64)>) {
        let mut ended = EndedCalls::default();
        let mut earlier = Vec::new();
        let others = self.walkers.iter().enumerate();
        for (other, walker) in others.filter(|it| it.0 != number && Some(it.1.process) != process) {
            let thread = self.threads[other];
            let place = |ordinal| LanePosition::new(LaneCode::thread(thread), ordinal);
            let next = walker.next_since(since, until).map(place);
            for done in walker.ended(since, until) {
                let source = Source::Calls(thread as u32, done.call.shape);
                ended.add(source, (place(done.ordinal), done.call.end), next);
            }
            ended.count(walker.all_ended(since, until));
            if let Some(done) = walker.waited_before(since) {
                let source = Source::Calls(thread as u32, done.call.shape);
                earlier.push((source, place(done.ordinal), done.call.end));
            }
        }
        (ended, earlier)
    }

    /// How often the thread makes the call before the pauses of a site, or the call after them if that is rarer.
    fn rounds(&self, (thread, before, after): Site) -> usize {
        let place = self.threads.iter().position(|it| *it == thread as usize);
        place.map_or(0, |it| {
            let counts = &self.walkers[it].counts;
            counts[before as usize].min(counts[after as usize]) as usize
        })
    }

    /// The mean time from one of these calls or functions to the next.
    fn interval(&self, lasts: i64, source: Source) -> i64 {
        let count = match source {
            Source::Calls(thread, shape) => {
                let place = self.threads.iter().position(|it| *it == thread as usize);
                place.map_or(1, |it| self.walkers[it].counts[shape as usize] as usize)
            }
            Source::AnyCalls(shape) => {
                let counts = self
                    .walkers
                    .iter()
                    .map(|it| it.counts[shape as usize] as usize);
                counts.sum()
            }
            Source::FunctionEnds(stream) | Source::FunctionBegins(stream) => self
                .functions
                .iter()
                .filter(|it| it.stream == stream)
                .count(),
        };
        lasts / count.max(1) as i64
    }

    /// Finds the calls and functions that seem to end the pauses of each site. Returns the sites without a known cause.
    fn judge(mut self, facts: &Facts, learnt: &mut PauseResult) -> Unexplained {
        let lasts = facts.range().duration();
        let found = std::mem::take(&mut self.sites);
        let interval = |source: Source| self.interval(lasts, source);
        let mut left = Unexplained::new();
        let mut sites: Vec<(Site, Pauses)> = Vec::new();
        let mut worked: FxHashMap<Site, i64> = FxHashMap::default();
        for (site, pauses) in found {
            worked.insert(site, pauses.most_work_before());
            let is_known = matches!(pauses.ended_by(interval), Verdict::By(_) | Verdict::Clock);
            let parts = match is_known || self.is_alone {
                true => vec![pauses],
                false => pauses.split(),
            };
            sites.extend(parts.into_iter().map(|it| (site, it)));
        }
        sites.sort_by_key(|it| it.0);
        let mut rare: Vec<(Site, &Pauses)> = Vec::new();
        let mut known: Vec<(Site, PauseEnd<'_>)> = Vec::new();
        let mut hidden = HiddenWaits::default();
        for (site, pauses) in &sites {
            let (total, spread) = pauses.total_and_spread();
            learnt.repeated.0 = learnt.repeated.0.saturating_add(total);
            learnt.repeated.1 = learnt.repeated.1.saturating_add(spread);
            match pauses.ended_by(interval) {
                _ if self.is_alone => {
                    if !learnt.take_clocked(*site, pauses) {
                        left.insert(*site, 0);
                        let blocked = learnt.take_others(pauses, self.other_runs);
                        learnt.unexplained = learnt.unexplained.saturating_add(blocked);
                        learnt.take_arrivals(*site, pauses, self.rounds(*site));
                    }
                }
                Verdict::By(found) => {
                    learnt.take(facts, *site, (&found, pauses));
                    learnt.work_before(*site, &worked);
                    learnt.unexplained += pauses.total() - found.total();
                    learnt.keep_others(*site, pauses, &found);
                    known.push((*site, found));
                }
                Verdict::Clock => {
                    learnt.take_clocked(*site, pauses);
                }
                Verdict::OwnWork => {
                    left.insert(*site, 0);
                    hidden.add(*site, pauses, interval);
                }
                Verdict::Unknown => rare.push((*site, pauses)),
            }
        }
        let found = known.iter().map(|it| (it.0, it.1.source));
        let waited = hidden.waited(&found.collect::<Vec<_>>());
        learnt.unexplained = learnt.unexplained.saturating_add(waited);
        for (site, pauses) in rare {
            // The first round of a loop comes after another call.
            let alike = known
                .iter()
                .filter(|it| (it.0.0, it.0.2) == (site.0, site.2));
            match alike.filter_map(|it| pauses.ended_like(&it.1)).next() {
                Some(found) => {
                    learnt.take(facts, site, (&found, pauses));
                    learnt.work_before(site, &worked);
                }
                None => {
                    let part = learnt.take_unexplained(site, pauses, interval);
                    learnt.take_others(pauses, self.other_runs);
                    learnt.take_arrivals(site, pauses, self.rounds(site));
                    *left.entry(site).or_default() += part;
                }
            }
        }
        left
    }

    /// The same for calls of other processes. Processes with collectives wait for each other there, so that their calls are often
    /// at the same time: only pauses that follow the other process count.
    fn judge_between(mut self, facts: &Facts, has_peers: bool, learnt: &mut PauseResult) {
        let lasts = facts.range().duration();
        let mut sites: Vec<_> = std::mem::take(&mut self.sites).into_iter().collect();
        sites.sort_by_key(|it| it.0);
        let known = self.between.take().unwrap_or_default();
        let mut hidden = HiddenWaits::default();
        let mut ended: Vec<(Site, Source)> = Vec::new();
        for (site, pauses) in &sites {
            let interval = |source| self.interval(lasts, source);
            let counted = known.get(site).copied().unwrap_or(0);
            let unexplained = match pauses.ended_by(interval) {
                Verdict::By(found) if !has_peers || found.is_followed() => {
                    learnt.take(facts, *site, (&found.of_other_process(), pauses));
                    ended.push((*site, found.source));
                    learnt.worked.insert(*site, pauses.most_work_before());
                    pauses.total() - found.total()
                }
                Verdict::Unknown if !has_peers => pauses.unexplained(interval).max(counted),
                Verdict::OwnWork => {
                    hidden.add(*site, pauses, interval);
                    counted
                }
                _ => counted,
            };
            learnt.unexplained = learnt
                .unexplained
                .saturating_add(unexplained - counted)
                .max(0);
        }
        let waited = hidden.waited(&ended);
        learnt.unexplained = learnt.unexplained.saturating_add(waited);
    }
}
