//! The offset between the clock of the log and the host's clock, from certain facts: nothing begins
//! before it was submitted, nor ends after it was seen done.

use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::clock::WallClock;

/// The log's clock may run faster or slower than the host's by this, in parts per million.
const DRIFT_PPM: i64 = 300;
/// msPTI compares a device's clock with the wall clock once. How far off that is, is taken to be no more than this:
/// entries of a clock that is further off agree with nothing.
const COMPARISON_NS: i64 = 50_000;

/// One device: host time − time of the log is between these, in nanoseconds, at a time of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogClockOffset {
    least: i64,
    most: i64,
    at: DeviceNs,
    /// The same by joined tasks alone, without msPTI's comparison; `None` before the first.
    proven: Option<(i64, i64)>,
}

impl LogClockOffset {
    /// The log's times are those of the wall clock, which was compared with the host's.
    pub(super) const fn near(wall: WallClock) -> Self {
        Self {
            least: wall.behind_ns.saturating_sub(COMPARISON_NS),
            most: wall.behind_ns.saturating_add(COMPARISON_NS),
            at: wall.now,
            proven: None,
        }
    }

    /// The offset around a time of the log.
    pub(super) fn around(self, at: DeviceNs) -> Self {
        let away = at.since(self.at).saturating_abs();
        let open = (away / 1_000_000)
            .saturating_mul(DRIFT_PPM)
            .saturating_add(DRIFT_PPM);
        let wider =
            |(least, most): (i64, i64)| (least.saturating_sub(open), most.saturating_add(open));
        let (least, most) = wider((self.least, self.most));
        Self {
            least,
            most,
            at,
            proven: self.proven.map(wider),
        }
    }

    /// Bounds from joined tasks only: a comparison that is off by the duration of a program's loop
    /// would join each round to the entries of another. `None` when no task was joined.
    pub(super) fn proven(self) -> Option<Self> {
        let (least, most) = self.proven?;
        Some(Self {
            least,
            most,
            ..self
        })
    }

    /// A time of the log's was no earlier on the host's clock, by the offset that is known here.
    pub(super) const fn earliest(self, at: DeviceNs) -> HostNs {
        at.on_host(self.least)
    }

    /// Nor later than this.
    pub(super) const fn latest(self, at: DeviceNs) -> HostNs {
        at.on_host(self.most)
    }

    /// The log's clock showed no less than this.
    pub(super) const fn on_log(self, at: HostNs) -> DeviceNs {
        DeviceNs::new(at.ns().saturating_sub(self.most))
    }

    /// How much of the offset is not known.
    pub(super) const fn open(self) -> i64 {
        self.most.saturating_sub(self.least)
    }

    /// These bounds with further ones, each with its time; `None` where they contradict each other.
    pub(super) fn with(self, bounds: impl Iterator<Item = Self>) -> Option<Self> {
        let mut all = self;
        for bound in bounds {
            let before = all.around(bound.at);
            let (least, most) = before.proven.unwrap_or((i64::MIN, i64::MAX));
            all = Self {
                least: before.least.max(bound.least),
                most: before.most.min(bound.most),
                at: bound.at,
                proven: Some((least.max(bound.least), most.min(bound.most))),
            };
            if all.least > all.most {
                return None;
            }
        }
        Some(all)
    }

    /// Adds the bounds of a joined stretch. Where they contradict msPTI's comparison, the comparison
    /// stays unchanged for streams that still trust it: nothing agrees with both.
    pub(super) fn learn(&mut self, joined: Self) {
        let before = self.around(joined.at);
        let (least, most) = (before.least.max(joined.least), before.most.min(joined.most));
        *self = match least <= most {
            true => Self {
                least,
                most,
                ..joined
            },
            false => Self {
                proven: joined.proven,
                ..before
            },
        };
    }

    /// At a time of the log the offset is between these.
    pub(super) const fn bound(at: DeviceNs, least: i64, most: i64) -> Self {
        Self {
            least,
            most,
            at,
            proven: None,
        }
    }
}
