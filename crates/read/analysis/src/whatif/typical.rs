//! Usual durations between calls and tasks, for values that a recording does not show: a task that
//! waited for the one before it does not show how soon after its submission it could have begun.

/// The tenth part of some durations, the middle one, and nine tenths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spread {
    pub(super) low: i64,
    pub(super) middle: i64,
    pub(super) high: i64,
}

/// The usual values of a recording.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Typical {
    /// From the begin of a call to the begin of its task, on an idle stream.
    pub(super) launch: Spread,
    /// From the end of a task to the begin of the next, which had been submitted long before.
    pub(super) switch: Spread,
    /// From the end of a record to the end of a wait that it released.
    pub(super) release: Spread,
    /// From the end of a call's target to the call's end.
    pub(super) returning: Spread,
    /// From the begin to the end of a call that neither waited nor copied.
    pub(super) call: Spread,
    /// By how much times of tasks may be off on the host's clock.
    pub(super) error: Spread,
}

/// Source of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LatencySource {
    /// Those of the recording; the usual one where it does not show any.
    Own,
    /// The same, with a small or a large one where it does not show any.
    Early,
    Late,
    /// The usual ones everywhere: the resulting difference shows how far the model can be trusted.
    Usual,
    /// As [`Self::Own`], but a pause that may be the thread's own work is taken for that, not for a wait. In other pauses the thread
    /// works before its wait, as long as it may.
    OwnWork,
    /// As [`Self::Own`], but a thread that others seem to wait for waits for them too.
    Mutual,
    /// As [`Self::Own`], but calls that submit or wait take less by the tracer overhead, and so do submissions.
    Untraced,
    /// As [`Self::Own`], but the host takes longer, by as much as it may differ from run to run.
    SlowHost,
    /// As [`Self::Own`], but a thread that is late for the tick of a clock waits for the next one.
    NextTick,
    /// As [`Self::Own`], with waits of threads for each other that did not happen in the recording.
    Unshown,
    /// As [`Self::Own`], but pauses without a known cause end at fixed times, as when requests arrive.
    Arrivals,
}

impl LatencySource {
    pub(super) const ALL: [Self; 11] = [
        Self::Own,
        Self::Early,
        Self::Late,
        Self::Usual,
        Self::OwnWork,
        Self::Mutual,
        Self::Untraced,
        Self::SlowHost,
        Self::NextTick,
        Self::Unshown,
        Self::Arrivals,
    ];

    /// It has the latencies of the recording, and other waits of threads for each other.
    pub(super) fn is_of_waits(self) -> bool {
        matches!(
            self,
            Self::OwnWork | Self::Mutual | Self::NextTick | Self::Unshown
        )
    }

    pub(super) fn of(self, spread: Spread) -> i64 {
        match self {
            Self::Early => spread.low,
            Self::Late => spread.high,
            Self::Own
            | Self::Usual
            | Self::OwnWork
            | Self::Mutual
            | Self::Untraced
            | Self::SlowHost
            | Self::NextTick
            | Self::Unshown
            | Self::Arrivals => spread.middle,
        }
    }
}
