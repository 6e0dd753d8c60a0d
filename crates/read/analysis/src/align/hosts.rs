//! Which recordings have one clock, and the processes in them.

use super::alignment_input::{Comm, Obstacle, Participant, Recorded};

/// The clock of a host since it was started differs from the time of day by the same amount, nearly.
const SAME_BOOT_NS: u64 = 10_000_000_000;

/// A process, and the clock that it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'r> {
    pub(super) recording: usize,
    pub(super) participant: &'r Participant,
    /// By number from 0.
    pub(super) host: usize,
    pub(super) since_1970_ns: i64,
}

impl<'r> Member<'r> {
    /// The communicators with countable collectives.
    pub(super) fn comms(&self) -> &'r [Comm] {
        match self.participant.obstacle {
            Some(Obstacle::Lost(_) | Obstacle::Filtered) => &[],
            None => &self.participant.comms,
        }
    }
}

/// The number of the clock of each recording, and how many clocks there are.
pub(super) fn clocks(recordings: &[Recorded]) -> (Vec<usize>, usize) {
    let mut firsts: Vec<&Recorded> = Vec::new();
    let numbers = recordings.iter().map(|it| {
        let known = firsts.iter().position(|first| is_one_clock(first, it));
        known.unwrap_or_else(|| {
            firsts.push(it);
            firsts.len() - 1
        })
    });
    let numbers = numbers.collect();
    (numbers, firsts.len())
}

/// Two names can belong to one host, because containers have separate names. A boot belongs to one
/// host.
fn is_one_clock(one: &Recorded, other: &Recorded) -> bool {
    if !one.boot.is_empty() && !other.boot.is_empty() {
        return one.boot == other.boot;
    }
    let apart = one.since_1970_ns().abs_diff(other.since_1970_ns());
    one.host == other.host && apart < SAME_BOOT_NS
}

pub(super) fn members<'r>(recordings: &'r [Recorded], clocks: &[usize]) -> Vec<Member<'r>> {
    let numbered = recordings.iter().zip(clocks).enumerate();
    let all = numbered.flat_map(|(recording, (recorded, host))| {
        recorded.participants.iter().map(move |participant| Member {
            recording,
            participant,
            host: *host,
            since_1970_ns: recorded.since_1970_ns(),
        })
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(host: &str, boot: &str, realtime: i64) -> Recorded {
        Recorded {
            host: host.to_owned(),
            boot: boot.to_owned(),
            start_realtime_ns: realtime,
            ..Recorded::default()
        }
    }

    #[test]
    fn a_clock_is_identified_by_its_boot_or_by_host_and_time_of_day() {
        let second = 1_000_000_000;
        let all = [
            recorded("a", "1", 0),
            recorded("container", "1", 0),
            recorded("a", "2", 0),
            recorded("b", "", 0),
            recorded("b", "", 3 * second),
            recorded("b", "", 100 * second),
        ];
        assert_eq!(clocks(&all), (vec![0, 0, 1, 2, 2, 3], 4));
    }
}
