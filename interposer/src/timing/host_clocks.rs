//! Notices a suspension of the host, or a change of its wall clock: times before and after are then not
//! comparable.

use crate::timing::counters;

/// Two readings of different clocks lie this far apart when the thread loses its processor between
/// them; a step is longer.
const STEP_NS: i64 = 10_000_000;

/// How far two clocks of the host are ahead of `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostClocks {
    /// Grows by the time for which the host is suspended.
    boot: i64,
    /// Jumps when the wall clock is set, and by the time for which the host is suspended.
    wall: i64,
}

fn now(clock: libc::clockid_t) -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time into a live local.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec)
}

impl HostClocks {
    pub(crate) fn read() -> Self {
        let [boot, wall] = [libc::CLOCK_BOOTTIME, libc::CLOCK_REALTIME].map(|clock| {
            // The smaller of two readings: one may be late.
            let ahead = || now(clock).wrapping_sub(now(libc::CLOCK_MONOTONIC));
            let readings = [ahead(), ahead()];
            if readings[0].abs_diff(readings[1]) < STEP_NS as u64 {
                readings[0]
            } else {
                ahead()
            }
        });
        Self { boot, wall }
    }

    /// Reads the clocks again and counts their changes.
    pub(crate) fn follow(self) -> Self {
        let next = Self::read();
        let (suspended, stepped) = self.changes(next);
        if suspended > 0 {
            counters::SUSPENDED.add(suspended as u64);
        }
        if stepped {
            counters::CLOCK_STEPS.add(1);
        }
        // Small differences are kept: a wall clock that is slewed makes no step.
        Self {
            boot: if suspended > 0 { next.boot } else { self.boot },
            wall: next.wall,
        }
    }

    /// Nanoseconds of suspension from here to `next`, and whether the wall clock was set.
    fn changes(self, next: Self) -> (i64, bool) {
        let suspended = next.boot.wrapping_sub(self.boot);
        let suspended = if suspended > STEP_NS { suspended } else { 0 };
        let step = next.wall.wrapping_sub(self.wall).wrapping_sub(suspended);
        (suspended, step.abs() > STEP_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: HostClocks = HostClocks {
        boot: 50,
        wall: 1_700_000_000_000_000_000,
    };

    #[test]
    fn clocks_that_run_on_have_no_steps() {
        let next = HostClocks {
            boot: HERE.boot + 900,
            wall: HERE.wall - 4_000,
        };
        assert_eq!(HERE.changes(next), (0, false));
    }

    #[test]
    fn a_suspended_host_is_not_a_wall_clock_that_was_set() {
        const HOUR: i64 = 3_600_000_000_000;
        let next = HostClocks {
            boot: HERE.boot + HOUR,
            wall: HERE.wall + HOUR,
        };
        assert_eq!(HERE.changes(next), (HOUR, false));
        let set = HostClocks {
            wall: HERE.wall - HOUR,
            ..HERE
        };
        assert_eq!(HERE.changes(set), (0, true));
    }
}
