//! The pauses of a thread between the same two calls, and what seems to end them.

use std::collections::{BTreeMap, BTreeSet};

use super::clock;
use super::follows::{follows, most_fixed, most_followed};
use super::occupation::Occupation;
use crate::pause_work::Work;
use crate::whatif::links::{LanePosition, Link, LinkKind};

/// Fewer pauses show nothing.
const LEAST_ROUNDS: usize = 4;

/// With this number of pauses, each round of another thread is in one of them hardly by chance.
const MANY_ROUNDS: usize = 32;

/// Parts of the pauses that a candidate ends: four of five.
const ENDS: (usize, usize) = (4, 5);

/// Pauses that differ by no more than this part of their length all take the same time.
const STEADY: i64 = 20;

/// Work of a thread would end in any part of the time between two candidates: seldom in the first one of this number.
const SOON: i64 = 10;

/// A possible end of pauses: calls of a shape of a thread, or functions on the host of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Calls(u32, u32),
    /// Calls of a shape, of any other thread of the process: a lock may come from any of them.
    AnyCalls(u32),
    FunctionEnds(u32),
    FunctionBegins(u32),
}

impl Source {
    fn way(self, may_be_own: bool) -> LinkKind {
        match (self, may_be_own) {
            (Self::FunctionBegins(_), false) => LinkKind::HandoverBegin,
            (Self::FunctionBegins(_), true) => LinkKind::PossibleHandoverBegin,
            (_, false) => LinkKind::Handover,
            (_, true) => LinkKind::PossibleHandover,
        }
    }
}

/// The end of a pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub(super) from: LanePosition,
    pub(super) to: LanePosition,
    /// The other thread's first call that may have waited for this one.
    pub(super) next: Option<LanePosition>,
    /// The begin of the pause, the time of `from`, and how long after it the pause ended.
    pub(super) since: i64,
    pub(super) at: i64,
    pub(super) lag: i64,
    /// How many such calls of all other threads ended in the pause: each may have woken the thread.
    pub(super) wakes: u8,
}

impl Ending {
    /// The link for the call after the pause.
    fn link(&self, way: LinkKind) -> Link {
        let (from, to) = way.points(self.from, self.to);
        let at = self.at;
        Link { way, from, to, at }
    }

    /// The other thread's next call waits for the last call of the thread that paused.
    pub(super) fn reverse(&self) -> Option<Link> {
        let way = LinkKind::Reverse;
        let before = self.to.ordinal().checked_sub(1)?;
        let before = LanePosition::new(self.to.lane(), before);
        let (from, to) = way.points(before, self.next?);
        let at = self.since;
        Some(Link { way, from, to, at })
    }
}

/// The pauses of a site.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    pub(super) lengths: Vec<i64>,
    ends: Vec<i64>,
    /// How long the thread used a processor in each of them, where that is known.
    work: Vec<Option<Work>>,
    /// The calls after them.
    pub(super) calls: Vec<u32>,
    pub(super) endings: BTreeMap<Source, Vec<Ending>>,
    /// Waits of other threads that ended before the pause: these threads may have worked until its end.
    pub(super) earlier: BTreeMap<Source, Vec<Ending>>,
}

/// A thread that has waited needs no longer than this to use a processor again, as a rule. Nanoseconds.
const WAKE_NS: i64 = 100_000;

/// How long a thread was busy for itself before it began to wait: it worked, slept or read a file. The least and the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::whatif) struct OwnTime {
    pub(in crate::whatif) least: i64,
    pub(in crate::whatif) most: i64,
}

impl From<Work> for OwnTime {
    /// The thread did nothing else for itself than to work.
    fn from(Work { least, most, .. }: Work) -> Self {
        Self { least, most }
    }
}

impl OwnTime {
    /// Of a pause with this end. `usual_most` is the limit that all pauses of the site give; threads usually block so often there.
    fn of(work: Work, ending: &Ending, (usual_most, usual_blocks): (i64, i64)) -> Self {
        let pause = ending.at + ending.lag - ending.since;
        let before = (ending.at - ending.since).max(0);
        let is_blocked_after = work.most + WAKE_NS < ending.lag;
        let blocks = i64::from(work.blocks);
        // Each call of others that it waits for may wake it, and it waits again.
        let is_woken_each_time = usual_blocks == i64::from(ending.wakes) && blocks <= usual_blocks;
        match (blocks <= 1 || is_woken_each_time, is_blocked_after) {
            // It slept until the end of the pause. The other thread does not matter.
            (true, true) if blocks <= 1 => Self {
                least: pause,
                most: pause,
            },
            // It gave its processor up to wait for the other thread alone. It may have worked after that as well.
            (true, false) => {
                let most = work.most.min(before);
                let least = (work.least - ending.lag).clamp(0, most);
                Self { least, most }
            }
            // It may have slept as well.
            _ => {
                let least = (work.least - ending.lag).clamp(0, before);
                Self {
                    least,
                    most: usual_most.max(least),
                }
            }
        }
    }
}

/// Pauses of two kinds: the long ones are usually this number of times as long as the short ones, and this part of the differences
/// of all is between the kinds.
const APART: f64 = 3.0;
const BETWEEN: f64 = 0.8;

/// One in this number of pauses may be shorter than the thread's work in it: other processes hold up threads.
const FEW: usize = 16;

/// The result for the pauses of a site.
pub(super) enum Verdict<'p> {
    By(PauseEnd<'p>),
    /// At the ticks of a clock.
    Clock,
    /// Each takes the same time, also where other threads do not.
    OwnWork,
    Unknown,
}

/// What seems to end the pauses of a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct PauseEnd<'p> {
    pub(super) source: Source,
    pub(super) endings: &'p [Ending],
    /// The usual time from there to the end of a pause, and a long one.
    lag: i64,
    most: i64,
    /// A long time to go on after a wait, where no work seems to be in it.
    pub(super) wake: i64,
    /// From the shortest to the longest of the middle half.
    spread: i64,
    /// The pauses vary no more than that time: each may as well be work of the thread.
    may_be_own: bool,
}

impl PauseEnd<'_> {
    /// The time of the pauses that it explains.
    pub(super) fn total(&self) -> i64 {
        self.endings
            .iter()
            .map(|it| it.at + it.lag - it.since)
            .sum()
    }

    /// By how much the lags may differ in another run, in all.
    pub(super) fn off(&self) -> i64 {
        self.spread.saturating_mul(self.endings.len() as i64)
    }

    /// The pauses end later where their ends are later.
    pub(super) fn is_followed(&self) -> bool {
        follows(self.endings)
    }

    /// Pauses that end after calls of another process: they may as well be work of the thread, unless they follow.
    pub(super) fn of_other_process(self) -> Self {
        let may_be_own = self.may_be_own || !self.is_followed();
        Self { may_be_own, ..self }
    }

    pub(super) fn links(&self) -> impl Iterator<Item = Link> {
        let way = self.source.way(self.may_be_own);
        self.endings.iter().map(move |it| it.link(way))
    }
}

impl Pauses {
    /// A pause from the end of a call to the begin of the next one, with the number of that.
    pub(super) fn add(&mut self, call: u32, (since, until): (i64, i64), work: Option<Work>) {
        self.lengths.push(until - since);
        self.ends.push(until);
        self.work.push(work);
        self.calls.push(call);
    }

    /// The time in which the thread waited for something that the recording does not contain, such as input or a thread without
    /// calls. Waits that always take the same time are sleeps.
    pub(super) fn blocked(&self) -> i64 {
        match self.do_waits_differ() {
            true => self.waited(),
            false => 0,
        }
    }

    /// The pauses in which the thread gave its processor up do not all take the same time. In others, it may always do the same work.
    fn do_waits_differ(&self) -> bool {
        let all = self.lengths.iter().zip(&self.work);
        let waits = all.filter(|it| it.1.is_some_and(|work| work.blocks > 0));
        !is_steady(&Quartiles::of(waits.map(|it| *it.0)))
    }

    /// The same, with pauses that always take the same time.
    pub(super) fn waited(&self) -> i64 {
        self.waits().sum()
    }

    /// How long each of them waited or slept in which the thread gave its processor up.
    fn waits(&self) -> impl Iterator<Item = i64> {
        let each = self.lengths.iter().zip(&self.work);
        let waits = each.filter_map(|(length, work)| Some((length, (*work)?)));
        let waits = waits.filter(|it| it.1.blocks > 0);
        waits.map(|(length, work)| length - work.most)
    }

    /// Pauses that differ, and in which the thread gave its processor up: the call after each, and how long the thread worked in it, at
    /// least.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = (u32, i64)> {
        let waits = || self.works().filter(|it| it.1.blocks > 0);
        let do_differ = waits().count() >= LEAST_ROUNDS && self.do_waits_differ();
        waits()
            .filter(move |_| do_differ)
            .map(|(call, work)| (call, work.least))
    }

    /// Whether most of them may be waits for a thread without recorded calls: the thread gave its processor up, and the other one ran
    /// about as often.
    pub(super) fn may_await(&self, runs: u64) -> bool {
        let waits = self.waits().count();
        let is_most = 2 * waits >= self.lengths.len().max(2 * LEAST_ROUNDS);
        is_most && runs.saturating_mul(2) >= waits as u64
    }

    /// How long the thread used a processor in each, where that is known, with the call after it.
    pub(super) fn works(&self) -> impl Iterator<Item = (u32, Work)> {
        let all = self.calls.iter().zip(&self.work);
        all.filter_map(|(call, work)| Some((*call, (*work)?)))
    }

    /// Whether the thread worked or waited in them.
    fn occupation(&self) -> Occupation {
        let all = self.lengths.iter().zip(&self.work);
        Occupation::of(all.map(|(length, work)| (*length, *work)))
    }

    /// How long the thread was busy for itself in a pause before it began to wait for this. Nothing of a thread that looks for the
    /// end of its wait again and again, and where no processor time is known.
    pub(super) fn own_before(&self) -> impl Fn(&Ending) -> Option<OwnTime> {
        let is_busy = self.occupation() == Occupation::Busy;
        let usual_most = self.most_work_before();
        let blocks = self.work.iter().flatten();
        let usual_blocks = Quartiles::of(blocks.map(|it| it.blocks.into())).second;
        move |ending| {
            let place = self.calls.binary_search(&ending.to.ordinal()).ok()?;
            let work = self.work.get(place).copied().flatten();
            let work = work.filter(|_| !is_busy)?;
            Some(OwnTime::of(work, ending, (usual_most, usual_blocks)))
        }
    }

    /// A thread with a call that ended once in nearly each of many of these pauses, though they are a small part of the time from one such
    /// call to the next.
    pub(super) fn paced_by(&self, interval: impl Fn(Source) -> i64) -> Option<u32> {
        let count = self.lengths.len();
        let usual = Quartiles::of(self.lengths.iter().copied()).second;
        let paces = |source: &Source, endings: &[Ending]| {
            let once = endings.iter().filter(|it| it.wakes == 1).count();
            let is_small = usual.saturating_mul(2) <= interval(*source);
            count >= MANY_ROUNDS && count - once <= count / FEW && is_small
        };
        self.endings
            .iter()
            .find_map(|(source, endings)| match source {
                Source::Calls(thread, _) => paces(source, endings).then_some(*thread),
                _ => None,
            })
    }

    /// Their sum, and half of the spread of each; nothing of few.
    pub(super) fn total_and_spread(&self) -> (i64, i64) {
        let count = self.lengths.len();
        if count < LEAST_ROUNDS {
            return (0, 0);
        }
        let spread = Quartiles::of(self.lengths.iter().copied()).spread() / 2;
        (self.total(), spread.saturating_mul(count as i64))
    }

    /// The period of the clock that ends them.
    pub(super) fn clock_period(&self) -> Option<i64> {
        clock::period(&self.ends)
    }

    pub(super) fn total(&self) -> i64 {
        self.lengths.iter().sum()
    }

    /// How long a thread may have worked in each of them before it began to wait: no longer than in a short one. Of many, one in
    /// sixteen may be shorter.
    pub(super) fn most_work_before(&self) -> i64 {
        let mut lengths = self.lengths.clone();
        let place = lengths.len() / FEW;
        match lengths.len() {
            0 => 0,
            _ => *lengths.select_nth_unstable(place).1,
        }
    }

    /// The time of the pauses that may be waits for other threads or for functions on the host.
    pub(super) fn unexplained(&self, interval: impl Fn(Source) -> i64) -> i64 {
        let usual = Quartiles::of(self.lengths.iter().copied()).second;
        // By the call after a pause: the largest part.
        let mut parts: BTreeMap<u32, f64> = BTreeMap::new();
        let sources: BTreeSet<Source> = self
            .endings
            .keys()
            .chain(self.earlier.keys())
            .copied()
            .filter(|it| !matches!(it, Source::AnyCalls(_)))
            .collect();
        for source in sources {
            let of =
                |all: &BTreeMap<Source, Vec<Ending>>| all.get(&source).cloned().unwrap_or_default();
            let (within, before) = (of(&self.endings), of(&self.earlier));
            let known: BTreeSet<u32> = within.iter().map(|it| it.to.ordinal()).collect();
            let rest = before.iter().filter(|it| !known.contains(&it.to.ordinal()));
            let lags = within.iter().chain(rest).map(|it| it.lag);
            // Before a pause, the times of waits alone are known.
            let most = if before.is_empty() { usual } else { i64::MAX };
            let fixed = most_fixed(lags, interval(source).min(most));
            for endings in [within, before] {
                let most = most_followed(&endings).min(fixed);
                for ending in endings {
                    let part = parts.entry(ending.to.ordinal()).or_default();
                    *part = part.max(most);
                }
            }
        }
        let each = self.lengths.iter().zip(&self.calls).zip(&self.work);
        let each = each.map(|((length, call), work)| {
            let part = parts.get(call).copied().unwrap_or(0.0);
            let waited = length - work.map_or(0, |it| it.least);
            ((*length as f64 * part) as i64).min(waited)
        });
        each.sum()
    }

    /// The short ones and the long ones, if there are two kinds: a thread may wait in each fourth round alone.
    pub(super) fn split(self) -> Vec<Self> {
        let Some(least) = least_long(&self.lengths) else {
            return vec![self];
        };
        let mut parts = [Self::default(), Self::default()];
        let part_of = |length: i64| usize::from(length >= least);
        let all = self.lengths.iter().zip(&self.ends);
        for ((length, end), (call, work)) in all.zip(self.calls.iter().zip(&self.work)) {
            parts[part_of(*length)].add(*call, (end - length, *end), *work);
        }
        for (source, ending) in all_endings(self.endings) {
            let part = &mut parts[part_of(ending.at + ending.lag - ending.since)];
            part.endings.entry(source).or_default().push(ending);
        }
        for (source, ending) in all_endings(self.earlier) {
            let part = &mut parts[part_of(ending.at + ending.lag - ending.since)];
            part.earlier.entry(source).or_default().push(ending);
        }
        parts.into()
    }

    /// The same ends all of these pauses, and as soon.
    pub(super) fn ended_like(&self, other: &PauseEnd<'_>) -> Option<PauseEnd<'_>> {
        let endings = self.endings.get(&other.source)?;
        let are_alike = endings.iter().all(|it| it.lag <= 2 * other.most);
        (are_alike && endings.len() == self.lengths.len()).then_some(PauseEnd { endings, ..*other })
    }

    /// A candidate ends most pauses, and soon. Of several, the one that ends more of them, or sooner, is taken. Its usual lag
    /// must be short compared with its interval, else this would be chance; and it must vary no more than the pauses do, unless
    /// it is much shorter. A candidate with a longer lag is taken if the pauses follow it, and if the lags differ little compared with
    /// its interval: the thread works after its wait.
    pub(super) fn ended_by(&self, interval: impl Fn(Source) -> i64) -> Verdict<'_> {
        let count = self.lengths.len();
        if count < LEAST_ROUNDS {
            return Verdict::Unknown;
        }
        let lengths = Quartiles::of(self.lengths.iter().copied());
        let occupation = self.occupation();
        let mut best: Option<PauseEnd<'_>> = None;
        // The best of those that are late, but that the pauses follow.
        let mut followed: Option<PauseEnd<'_>> = None;
        let mut least_spread = i64::MAX;
        for (source, endings) in &self.endings {
            if endings.len() * ENDS.1 < count * ENDS.0 {
                continue;
            }
            let lags = Quartiles::of(endings.iter().map(|it| it.lag));
            least_spread = least_spread.min(lags.spread());
            let is_soon = 4 * lags.third <= interval(*source) && 2 * lags.third <= lengths.second;
            let is_steady = !is_clearly_less(lengths.spread(), lags.spread())
                || 8 * lags.third <= lengths.second;
            let are_followed = follows(endings);
            let is_better =
                |it: PauseEnd<'_>| (it.endings.len(), lags.second) < (endings.len(), it.lag);
            let place = match is_soon && is_steady {
                true => &mut best,
                false if are_followed && 4 * lags.spread() <= interval(*source) => &mut followed,
                false => continue,
            };
            if place.is_none_or(is_better) {
                let least = (2 * lags.spread()).max(lengths.second / STEADY);
                let is_very_soon = lags.third.saturating_mul(SOON) <= interval(*source);
                *place = Some(PauseEnd {
                    source: *source,
                    endings,
                    lag: lags.second,
                    most: lags.third,
                    wake: if is_soon { lags.third } else { 0 },
                    spread: lags.spread(),
                    may_be_own: lengths.spread() <= least
                        && !are_followed
                        && !is_very_soon
                        && occupation != Occupation::Waited,
                });
            }
        }
        match (best, followed) {
            (Some(found), _) if found.may_be_own && occupation == Occupation::Busy => {
                Verdict::OwnWork
            }
            (Some(found), _) => Verdict::By(found),
            _ if self.clock_period().is_some() => Verdict::Clock,
            (None, Some(found)) => Verdict::By(found),
            (None, None) if occupation == Occupation::Busy => Verdict::OwnWork,
            (None, None)
                if is_steady(&lengths) && is_clearly_less(lengths.spread(), least_spread) =>
            {
                Verdict::OwnWork
            }
            (None, None) => Verdict::Unknown,
        }
    }
}

/// Whether pauses all take about the same time.
fn is_steady(lengths: &Quartiles) -> bool {
    10 * lengths.spread() <= lengths.second
}

/// Whether a spread is smaller than another one by more than the spreads of some pauses differ by chance.
fn is_clearly_less(one: i64, other: i64) -> bool {
    3 * one < 2 * other.min(i64::MAX / 2)
}

/// The length of the shortest long pause, if there are short and long ones: where the variance between two kinds is largest.
fn least_long(lengths: &[i64]) -> Option<i64> {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    // Times of different sizes differ by factors.
    let logarithms: Vec<f64> = sorted.iter().map(|it| (*it.max(&1) as f64).ln()).collect();
    let (count, sum) = (sorted.len() as f64, logarithms.iter().sum::<f64>());
    let mean = sum / count;
    let of_all: f64 = logarithms.iter().map(|it| (it - mean).powi(2)).sum();
    let (mut best, mut below) = ((0.0, 0), 0.0);
    for (place, own) in logarithms.iter().enumerate() {
        let short = place as f64;
        let is_inside = place >= LEAST_ROUNDS && place + LEAST_ROUNDS <= sorted.len();
        if is_inside && sorted[place] > sorted[place - 1] {
            let apart = below / short - (sum - below) / (count - short);
            let between = short * (count - short) / count * apart.powi(2);
            if between > best.0 {
                best = (between, place);
            }
        }
        below += own;
    }
    let (between, place) = best;
    let usual = |part: &[i64]| part.get(part.len() / 2).copied().unwrap_or(0) as f64;
    let (short, long) = sorted.split_at(place);
    let are_two = between >= BETWEEN * of_all && usual(long) >= APART * usual(short);
    (place > 0 && are_two).then(|| sorted[place])
}

/// Endings with their sources.
fn all_endings(all: BTreeMap<Source, Vec<Ending>>) -> impl Iterator<Item = (Source, Ending)> {
    let each = all.into_iter();
    each.flat_map(|(source, endings)| endings.into_iter().map(move |it| (source, it)))
}

/// The values that a quarter, half and three quarters of some values do not exceed.
pub(super) struct Quartiles {
    pub(super) first: i64,
    pub(super) second: i64,
    pub(super) third: i64,
}

impl Quartiles {
    pub(super) fn of(values: impl Iterator<Item = i64>) -> Self {
        let mut all: Vec<i64> = values.collect();
        all.sort_unstable();
        let at = |part: usize| {
            let place = (all.len() * part / 4).min(all.len().saturating_sub(1));
            all.get(place).copied().unwrap_or(0)
        };
        Self {
            first: at(1),
            second: at(2),
            third: at(3),
        }
    }

    pub(super) fn spread(&self) -> i64 {
        self.third - self.first
    }

    /// Whether a value is no further from half of the values than twice their spread.
    pub(super) fn is_usual(&self, value: i64) -> bool {
        (value - self.second).abs() <= 2 * self.spread().max(1)
    }
}
