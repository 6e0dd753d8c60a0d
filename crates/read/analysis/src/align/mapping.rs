//! How the times of a host become those of the reference.

use ascend_trace_recording::{AlignedTime, HostClock};

/// Moments at which a mapping is looked at to say how exact it is.
const LOOKS: i64 = 64;

/// Basis of the alignment of a host's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlignmentBasis {
    /// It is the clock that others are aligned to.
    Reference,
    /// By this number of rounds that it shares with the host of this number. The other host may be aligned
    /// by further hosts.
    Collectives { rounds: u64, with: usize },
    /// By the time of day alone.
    WallClock(WallClockReason),
}

/// Why only the time of day was available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallClockReason {
    /// It has no collective in common with the others that bounds its clock.
    NothingCommon,
    /// Its collectives contradict those of the others.
    Contradicts,
}

/// Maps the clock of a host to the reference.
#[derive(Clone, Debug)]
pub enum Mapping {
    /// This offset is added.
    Shift(i64),
    /// From clock to clock, and then this offset.
    Fits(Vec<HostClock>, i64),
}

impl Mapping {
    /// A time on the reference, and its error bar.
    pub fn map(&self, ns: i64) -> AlignedTime {
        let begin = AlignedTime { ns, error_ns: 0 };
        let shifted = |at: AlignedTime, by: i64| AlignedTime {
            ns: at.ns.saturating_add(by),
            ..at
        };
        match self {
            Self::Shift(by) => shifted(begin, *by),
            Self::Fits(fits, by) => {
                let reached = fits.iter().fold(begin, |at, fit| {
                    let next = fit.map(at.ns);
                    AlignedTime {
                        error_ns: next.error_ns.saturating_add(at.error_ns),
                        ..next
                    }
                });
                shifted(reached, *by)
            }
        }
    }

    /// The mapping by one more clock first.
    pub(super) fn after(&self, fit: HostClock) -> Self {
        match self {
            Self::Shift(by) => Self::Fits(vec![fit], *by),
            Self::Fits(fits, by) => {
                let fits = std::iter::once(fit).chain(fits.iter().cloned());
                Self::Fits(fits.collect(), *by)
            }
        }
    }

    /// The widest error bar in a span.
    pub(super) fn widest(&self, span: (i64, i64)) -> i64 {
        let errors = looks(span).map(|at| self.map(at).error_ns);
        errors.max().unwrap_or(0)
    }
}

fn looks((begin, end): (i64, i64)) -> impl Iterator<Item = i64> {
    let step = end.saturating_sub(begin) / LOOKS;
    let looks = (0..LOOKS).map(move |it| begin.saturating_add(step.saturating_mul(it)));
    looks.chain([end])
}

/// Where the clock of a host lies.
#[derive(Clone, Debug)]
pub struct AlignedHost {
    /// The name of the host.
    pub host: String,
    /// The recordings that have this clock, by number.
    pub recordings: Vec<usize>,
    pub how: AlignmentBasis,
    pub mapping: Mapping,
    /// From its first to its last collective, on its clock; else the recorded span.
    pub span: (i64, i64),
    /// Offset that is added to its times, in the middle of the span.
    pub offset_ns: i64,
    /// How much faster the reference runs: nanoseconds for each second.
    pub rate_ppb: i64,
    /// By how much a time of the span may be off; `None` where only the time of day is known.
    pub bar_ns: Option<i64>,
    /// The same for the whole recording: less is known about the time before and after all collectives.
    pub widest_bar_ns: Option<i64>,
}

impl AlignedHost {
    pub(super) fn new(
        (host, recordings): (String, Vec<usize>),
        how: AlignmentBasis,
        mapping: Mapping,
        [(begin, end), recorded]: [(i64, i64); 2],
    ) -> Self {
        let middle = begin.saturating_add(end.saturating_sub(begin) / 2);
        let length = end.saturating_sub(begin);
        let [first, last] = [begin, end].map(|it| mapping.map(it).ns);
        let gained = last.saturating_sub(first).saturating_sub(length);
        let rate = match length {
            1.. => gained as f64 / length as f64 * 1e9,
            _ => 0.0,
        };
        let is_known = !matches!(how, AlignmentBasis::WallClock(_));
        Self {
            span: (begin, end),
            host,
            recordings,
            offset_ns: mapping.map(middle).ns.saturating_sub(middle),
            rate_ppb: rate.round() as i64,
            bar_ns: is_known.then(|| mapping.widest((begin, end))),
            widest_bar_ns: is_known
                .then(|| mapping.widest(recorded).max(mapping.widest((begin, end)))),
            how,
            mapping,
        }
    }

    /// The middle of the span, where the offset holds.
    pub fn middle(&self) -> i64 {
        let (begin, end) = self.span;
        begin.saturating_add(end.saturating_sub(begin) / 2)
    }

    /// By how much a time of the span may be off that is mapped by offset and rate alone.
    pub fn line_bar_ns(&self) -> Option<i64> {
        self.bar_ns?;
        let middle = self.middle();
        let off = |at: i64| {
            let passed = at.saturating_sub(middle) as f64;
            let gained = (passed * self.rate_ppb as f64 * 1e-9).round() as i64;
            let by_line = at.saturating_add(self.offset_ns).saturating_add(gained);
            let mapped = self.mapping.map(at);
            let apart = mapped.ns.abs_diff(by_line).cast_signed();
            mapped.error_ns.saturating_add(apart).saturating_add(1)
        };
        looks(self.span).map(off).max()
    }
}
