//! How long the steps between calls and tasks usually take, for what a recording does not show: a task that waited for
//! the one before it does not show how soon after its submission it could have begun.

/// The tenth part of some durations, the middle one, and nine tenths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spread {
    pub(super) low: i64,
    pub(super) middle: i64,
    pub(super) high: i64,
}

impl Spread {
    pub(super) fn of(mut durations: Vec<i64>) -> Self {
        durations.sort_unstable();
        let at = |tenths: usize| {
            let last = durations.len().saturating_sub(1);
            durations.get(last * tenths / 10).copied().unwrap_or(0)
        };
        Self {
            low: at(1),
            middle: at(5),
            high: at(9),
        }
    }
}

/// What is usual in a recording.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Typical {
    /// From the begin of a call to the begin of its task, on an idle stream.
    pub(super) launch: Spread,
    /// From the end of a task to the begin of the next, which had been submitted long before.
    pub(super) switch: Spread,
    /// From the end of a record to the end of a wait that it released.
    pub(super) release: Spread,
    /// From the end of what a call waited for to its own end.
    pub(super) returning: Spread,
    /// From the begin to the end of a call that neither waited nor copied.
    pub(super) call: Spread,
    /// By how much times of tasks may be off on the host's clock.
    pub(super) error: Spread,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_tenths() {
        let spread = Spread::of((0..=20).rev().collect());
        assert_eq!((spread.low, spread.middle, spread.high), (2, 10, 18));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
