//! What rounds say of the clocks of two hosts.

use ascend_trace_recording::{ClockComparison, HostClock};

use super::alignment_input::Round;
use super::hosts::Member;
use super::rounds::{CommonLane, usual_shape};

/// Clocks run no faster or slower against each other.
const FASTEST: f64 = 1.0 + 1_010e-6;
/// Where a round bounds the clock on one side only, the other side is this far.
const FAR_NS: i64 = 3_600_000_000_000;

/// Facts of one host's members about a round: the first end of those that need others, the last begin
/// of those that others need.
#[derive(Clone, Copy, Debug, Default)]
struct RoundBounds {
    first_end: Option<i64>,
    last_begin: Option<i64>,
}

impl RoundBounds {
    fn of<'r>(rounds: impl Iterator<Item = &'r Round>) -> Self {
        rounds.fold(Self::default(), |side, round| {
            let end = round.takes.then(|| round.latest_end());
            let begin = round.gives.then(|| round.earliest_begin());
            Self {
                first_end: side.first_end.into_iter().chain(end).min(),
                last_begin: side.last_begin.into_iter().chain(begin).max(),
            }
        })
    }
}

/// A fit of two clocks, and how many rounds it is made of.
#[derive(Clone, Debug)]
pub(super) struct ClockFit {
    pub(super) clock: HostClock,
    pub(super) rounds: u64,
    pub(super) contradicting: u64,
    /// The first and the last time, on the child's clock, with a bound from a round.
    pub(super) span: (i64, i64),
}

impl ClockFit {
    /// The clock of `child` on that of `parent`, by the members that are not left out; `None` without a common round
    /// that bounds it on both sides.
    pub(super) fn of(
        (members, joints): (&[Member<'_>], &[CommonLane<'_>]),
        (child, parent): (usize, usize),
        is_left_out: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let mut found = SideComparisons::default();
        for joint in joints {
            joint.each(|round| {
                let shape = usual_shape(round);
                let of = |host: usize| {
                    let own = round.iter().filter(|(member, it)| {
                        members[*member].host == host && it.shape == shape && !is_left_out(*member)
                    });
                    RoundBounds::of(own.map(|(_, it)| *it))
                };
                found.take(of(child), of(parent));
            });
        }
        found.fit()
    }

    /// Whether the rounds cannot be those of two clocks that run steadily.
    pub(super) fn is_bad(&self) -> bool {
        self.contradicting.saturating_mul(50) > self.rounds
    }
}

/// The comparisons of two clocks.
#[derive(Debug, Default)]
struct SideComparisons {
    comparisons: Vec<ClockComparison>,
    rounds: u64,
    bounds: [bool; 2],
}

impl SideComparisons {
    fn take(&mut self, own: RoundBounds, other: RoundBounds) {
        let latest = own.last_begin.zip(other.first_end);
        let earliest = own.first_end.zip(other.last_begin);
        if latest.is_none() && earliest.is_none() {
            return;
        }
        self.rounds += 1;
        self.bounds[0] |= latest.is_some();
        self.bounds[1] |= earliest.is_some();
        // A bound of one side at one time bounds the other side at another time, less exactly.
        let between = latest.zip(earliest);
        let between = between.map(|((from, _), (to, _))| to.saturating_sub(from).max(0));
        let reach = between.map_or(FAR_NS, |it| (it as f64 * FASTEST).ceil() as i64);
        if let Some((at, latest)) = latest {
            let other = earliest.map_or(latest, |(_, it)| it);
            self.comparisons.push(ClockComparison {
                at,
                earliest: other.saturating_sub(reach).min(latest),
                latest,
            });
        }
        if let Some((at, earliest)) = earliest {
            let other = latest.map_or(earliest, |(_, it)| it);
            self.comparisons.push(ClockComparison {
                at,
                earliest,
                latest: other.saturating_add(reach).max(earliest),
            });
        }
    }

    fn fit(self) -> Option<ClockFit> {
        if self.bounds != [true; 2] {
            return None;
        }
        let moments = self.comparisons.iter().map(|it| it.at);
        let span = moments.clone().min().zip(moments.max())?;
        let clock = HostClock::fit(self.comparisons)?;
        let (steps, mistakes) = clock.contradictions();
        // A clock of this kind does not step: all after a step is in doubt.
        let contradicting = match steps {
            0 => mistakes,
            _ => self.rounds,
        };
        Some(ClockFit {
            clock,
            rounds: self.rounds,
            contradicting,
            span,
        })
    }
}
