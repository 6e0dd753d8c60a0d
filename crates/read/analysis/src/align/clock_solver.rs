//! Aligns the clocks of hosts and devices of several recordings.

use std::collections::{BTreeMap, BTreeSet};

use super::alignment_input::Recorded;
use super::contradictions::{Contradiction, Culprit, culprits};
use super::groups::groups;
use super::hosts::{Member, clocks, members};
use super::mapping::{AlignedHost, AlignmentBasis, Mapping, WallClockReason};
use super::pairs::ClockFit;
use super::rounds::{CommonLane, joints};

/// The clocks of some recordings on one of them.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// The reference first, then in the order of their ranks.
    pub hosts: Vec<AlignedHost>,
    /// Which of them each recording has, by number.
    pub host_of: Vec<usize>,
    pub culprits: Vec<Culprit>,
}

impl Alignment {
    /// The mapping of a recording's times.
    pub fn mapping(&self, recording: usize) -> &Mapping {
        &self.hosts[self.host_of[recording]].mapping
    }
}

/// Aligns the clocks of recordings. The result does not depend on their order, except for the numbers.
pub fn align(recordings: &[Recorded]) -> Alignment {
    let (clocks, count) = clocks(recordings);
    let members = members(recordings, &clocks);
    let groups = groups(&members);
    let joints: Vec<CommonLane<'_>> = groups.iter().flat_map(|it| joints(&members, it)).collect();
    let left_out = culprits(&members, &joints);
    let mut solver = Solver {
        recordings,
        members: &members,
        joints: &joints,
        clocks: &clocks,
        left_out,
        pairs: BTreeMap::new(),
        placed: BTreeMap::new(),
        order: order(recordings, &clocks, count),
    };
    solver.run();
    solver.finish()
}

/// The clocks by their lowest ranks, then by names: the reference is the first.
fn order(recordings: &[Recorded], clocks: &[usize], count: usize) -> Vec<usize> {
    let key = |clock: &usize| {
        let own = recordings.iter().zip(clocks);
        let own: Vec<&Recorded> = own
            .filter(|(_, it)| *it == clock)
            .map(|(it, _)| it)
            .collect();
        let ranks = own.iter().flat_map(|it| &it.participants);
        let rank = ranks.filter_map(|it| it.rank).min();
        let name = own.iter().map(|it| (&it.host, &it.boot)).min();
        let start = own
            .iter()
            .map(|it| (it.start_realtime_ns, it.start_ns))
            .min();
        (rank.is_none(), rank, name, start)
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|it| key(it));
    order
}

/// The alignment of a clock, and the span of its basis.
#[derive(Clone, Debug)]
struct AlignedClock {
    how: AlignmentBasis,
    mapping: Mapping,
    span: (i64, i64),
}

struct Solver<'a, 'r> {
    recordings: &'r [Recorded],
    members: &'a [Member<'r>],
    joints: &'a [CommonLane<'r>],
    clocks: &'a [usize],
    left_out: BTreeMap<usize, Contradiction>,
    /// The clock of the first on that of the second.
    pairs: BTreeMap<(usize, usize), Option<ClockFit>>,
    placed: BTreeMap<usize, AlignedClock>,
    order: Vec<usize>,
}

impl Solver<'_, '_> {
    fn run(&mut self) {
        self.blame_members();
        let Some(reference) = self.reference() else {
            return;
        };
        self.order.retain(|it| *it != reference);
        self.order.insert(0, reference);
        self.shift(reference, AlignmentBasis::Reference, 0);
        self.reach();
        // Those that no chain reaches: each by its wall clock, and others by it.
        while let Some(clock) = self.next_clock() {
            let contradicts = self.contradicts_any(clock);
            if contradicts {
                self.blame_clock(clock);
            }
            let why = match contradicts {
                true => WallClockReason::Contradicts,
                false => WallClockReason::NothingCommon,
            };
            let shift = self.since_1970(clock) - self.since_1970(reference);
            self.shift(clock, AlignmentBasis::WallClock(why), shift);
            if !contradicts {
                self.reach();
            }
        }
    }

    fn shift(&mut self, clock: usize, how: AlignmentBasis, by: i64) {
        let way = AlignedClock {
            how,
            mapping: Mapping::Shift(by),
            span: self.span(clock),
        };
        self.placed.insert(clock, way);
    }

    fn next_clock(&self) -> Option<usize> {
        let mut open = self.order.iter().filter(|it| !self.placed.contains_key(it));
        open.next().copied()
    }

    /// The first clock that most of those it shares collectives with agree with.
    fn reference(&mut self) -> Option<usize> {
        let order = self.order.clone();
        for clock in &order {
            let (mut good, mut bad) = (0, 0);
            for other in order.iter().filter(|it| *it != clock) {
                match self.judged(*other, *clock) {
                    Some(true) => good += 1,
                    Some(false) => bad += 1,
                    None => {}
                }
            }
            if good >= bad {
                return Some(*clock);
            }
        }
        order.first().copied()
    }

    /// Whether two clocks agree; `None` where nothing is known.
    fn judged(&mut self, child: usize, parent: usize) -> Option<bool> {
        self.pair(child, parent).as_ref().map(|it| !it.is_bad())
    }

    fn pair(&mut self, child: usize, parent: usize) -> &Option<ClockFit> {
        let known = (self.members, self.joints);
        let left_out = &self.left_out;
        self.pairs.entry((child, parent)).or_insert_with(|| {
            ClockFit::of(known, (child, parent), |member| {
                left_out.contains_key(&member)
            })
        })
    }

    /// Places all clocks that collectives lead to from those that are placed, the directest way first.
    fn reach(&mut self) {
        loop {
            let from: Vec<usize> = self.placed.keys().copied().collect();
            let mut found = Vec::new();
            for clock in self.order.clone() {
                if !self.placed.contains_key(&clock) {
                    found.extend(self.best(clock, &from).map(|it| (clock, it)));
                }
            }
            if found.is_empty() {
                return;
            }
            self.placed.extend(found);
        }
    }

    /// The narrowest way from a clock to one of those that are placed.
    fn best(&mut self, clock: usize, placed: &[usize]) -> Option<AlignedClock> {
        let mut best: Option<(i64, AlignedClock)> = None;
        for parent in placed {
            let Some(pair) = self.pair(clock, *parent).clone().filter(|it| !it.is_bad()) else {
                continue;
            };
            let Some(way) = self.placed.get(parent) else {
                continue;
            };
            if matches!(
                way.how,
                AlignmentBasis::WallClock(WallClockReason::Contradicts)
            ) {
                continue;
            }
            let mapping = way.mapping.after(pair.clock);
            let bar = mapping.widest(pair.span);
            if best.as_ref().is_none_or(|(least, _)| bar < *least) {
                let how = AlignmentBasis::Collectives {
                    rounds: pair.rounds,
                    with: *parent,
                };
                let way = AlignedClock {
                    how,
                    mapping,
                    span: pair.span,
                };
                best = Some((bar, way));
            }
        }
        best.map(|(_, it)| it)
    }

    /// Leaves out members without which two clocks agree, where another member of the clock is left.
    fn blame_members(&mut self) {
        let order = self.order.clone();
        let Some((first, others)) = order.split_first() else {
            return;
        };
        for child in others {
            if self.judged(*child, *first) != Some(false) {
                continue;
            }
            if let Some(member) = self.culprit(*child, *first) {
                self.left_out.insert(member, Contradiction::Clocks);
                let host = self.members[member].host;
                self.pairs
                    .retain(|(child, parent), _| *child != host && *parent != host);
            }
        }
    }

    /// The only member without which two clocks agree.
    fn culprit(&self, child: usize, parent: usize) -> Option<usize> {
        let known = (self.members, self.joints);
        let numbered = self.members.iter().enumerate();
        let own = numbered.filter(|(_, it)| [child, parent].contains(&it.host));
        let mut found = own.map(|(number, _)| number).filter(|number| {
            let is_left_out = |it: usize| it == *number || self.left_out.contains_key(&it);
            let pair = ClockFit::of(known, (child, parent), is_left_out);
            pair.is_some_and(|it| !it.is_bad())
        });
        let first = found.next();
        first.filter(|_| found.next().is_none())
    }

    fn contradicts_any(&mut self, clock: usize) -> bool {
        let others: Vec<usize> = self.placed.keys().copied().collect();
        let mut bad = others
            .into_iter()
            .filter(|it| self.judged(clock, *it) == Some(false));
        bad.next().is_some()
    }

    /// Notes that all members of a clock contradict the others.
    fn blame_clock(&mut self, clock: usize) {
        let others = self.placed.len();
        let only = self.placed.keys().next().copied();
        let what = match only {
            Some(other) if others == 1 => Contradiction::Either { other },
            _ => Contradiction::Clocks,
        };
        let numbered = self.members.iter().enumerate();
        let own = numbered.filter(|(_, it)| it.host == clock && !it.comms().is_empty());
        for (number, _) in own {
            self.left_out.entry(number).or_insert(what);
        }
    }

    fn own(&self, clock: usize) -> impl Iterator<Item = (usize, &Recorded)> {
        let numbered = self.recordings.iter().zip(self.clocks).enumerate();
        let own = numbered.filter(move |(_, (_, it))| **it == clock);
        own.map(|(number, (recorded, _))| (number, recorded))
    }

    fn since_1970(&self, clock: usize) -> i64 {
        let own = self.own(clock).map(|(_, it)| it);
        let first = own.min_by_key(|it| (it.start_ns, it.start_realtime_ns));
        first.map_or(0, Recorded::since_1970_ns)
    }

    fn span(&self, clock: usize) -> (i64, i64) {
        let spans = self.own(clock).map(|(_, it)| it.span);
        let whole = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        whole.unwrap_or_default()
    }

    fn finish(mut self) -> Alignment {
        let order = std::mem::take(&mut self.order);
        let numbers: BTreeMap<usize, usize> = order.iter().copied().zip(0..).collect();
        let number = |clock: &usize| numbers.get(clock).copied().unwrap_or(0);
        let hosts = order.iter().filter_map(|clock| {
            let AlignedClock { how, mapping, span } = self.placed.remove(clock)?;
            let how = match how {
                AlignmentBasis::Collectives { rounds, with } => AlignmentBasis::Collectives {
                    rounds,
                    with: number(&with),
                },
                how => how,
            };
            let names: BTreeSet<&str> = self.own(*clock).map(|(_, it)| &*it.host).collect();
            let name = names.first().copied().unwrap_or_default().to_owned();
            let recordings = self.own(*clock).map(|(number, _)| number).collect();
            let spans = [span, self.span(*clock)];
            Some(AlignedHost::new((name, recordings), how, mapping, spans))
        });
        let hosts = hosts.collect();
        let culprits = self.left_out.iter().map(|(member, what)| {
            let what = match *what {
                Contradiction::Either { other } => Contradiction::Either {
                    other: number(&other),
                },
                what => what,
            };
            Culprit::new(&self.members[*member], what)
        });
        let mut culprits: Vec<Culprit> = culprits.collect();
        culprits.sort_by_key(|it| (it.rank, it.recording, it.process));
        Alignment {
            hosts,
            host_of: self.clocks.iter().map(number).collect(),
            culprits,
        }
    }
}
