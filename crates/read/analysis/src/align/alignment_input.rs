//! What alignment needs of a recording.

/// Rounds of a lane that are kept; of more, every second one, then every fourth, and so on: the same on all ranks.
const MOST_ROUNDS: usize = 1 << 16;

/// A recording, as far as its clock goes. Times are nanoseconds of its host's `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    pub host: String,
    /// The kernel's id of the time since its start; empty if unknown.
    pub boot: String,
    pub start_ns: i64,
    /// The time of day at `start_ns`, since 1970; 0 where it is not known.
    pub start_realtime_ns: i64,
    /// Begin and end.
    pub span: (i64, i64),
    pub participants: Vec<Participant>,
}

impl Recorded {
    /// Offset that is added to its times to count since 1970.
    pub fn since_1970_ns(&self) -> i64 {
        self.start_realtime_ns.saturating_sub(self.start_ns)
    }
}

/// A process, with its collective work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Participant {
    /// Its number in the recording.
    pub process: u32,
    pub rank: Option<u64>,
    pub comms: Vec<Comm>,
    /// Why its collectives cannot be counted.
    pub obstacle: Option<Obstacle>,
}

/// Why the n-th collective of a process need not be the n-th of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Calls were lost.
    Lost(u64),
    /// Filters may have left out collectives.
    Filtered,
}

/// A communicator of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comm {
    /// The handle that its collectives name.
    pub handle: u64,
    /// The same text at all ranks of a communicator; empty where it is not known.
    pub identity: String,
    pub rank: u64,
    pub size: u64,
    /// The call that made it: it returns when all ranks have made theirs.
    pub made: (i64, i64),
    pub lanes: Vec<Lane>,
}

/// The collectives of one function on a communicator, or the messages from one rank to another, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// The function; empty for messages, which have another at either end.
    pub function: String,
    /// The rank that gives and the one that takes.
    pub peers: Option<(u64, u64)>,
    pub rounds: Vec<Round>,
    /// Only rounds with a multiple of this as their number are kept.
    stride: u32,
}

/// A collective that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Counts from 0 in its lane.
    pub number: u32,
    /// Elements and their type, which are the same on all ranks.
    pub shape: u64,
    /// What this rank gives, or takes where it gives none, if that is known.
    pub bytes: Option<u64>,
    /// Others need its data: they cannot end before it begins.
    pub gives: bool,
    /// It needs the data of others.
    pub takes: bool,
    pub begin: i64,
    pub end: i64,
    pub error: i64,
}

impl Round {
    const BOTH: &str = "both";
    const GIVES: &str = "gives";
    const TAKES: &str = "takes";

    /// The word for its needs, or for the needs of others.
    pub fn needs(&self) -> &'static str {
        match (self.gives, self.takes) {
            (true, false) => Self::GIVES,
            (false, true) => Self::TAKES,
            _ => Self::BOTH,
        }
    }

    /// The same round with what such a word says.
    #[must_use]
    pub fn with_needs(self, word: &str) -> Self {
        Self {
            gives: word != Self::TAKES,
            takes: word != Self::GIVES,
            ..self
        }
    }

    /// It had certainly not begun before this time.
    pub(super) fn earliest_begin(&self) -> i64 {
        self.begin.saturating_sub(self.error)
    }

    /// It had certainly ended by this time.
    pub(super) fn latest_end(&self) -> i64 {
        self.end.saturating_add(self.error)
    }
}

impl Lane {
    pub fn new(function: String, peers: Option<(u64, u64)>) -> Self {
        Self {
            function,
            peers,
            rounds: Vec::new(),
            stride: 1,
        }
    }

    /// Takes the next round that has a time.
    pub fn push(&mut self, round: Round) {
        let stride = self.stride.max(1);
        if !round.number.is_multiple_of(stride) {
            return;
        }
        self.rounds.push(round);
        if self.rounds.len() > MOST_ROUNDS {
            self.stride = stride.saturating_mul(2);
            let stride = self.stride;
            self.rounds.retain(|it| it.number.is_multiple_of(stride));
        }
    }

    /// Whether two lanes are one at two ranks.
    pub(super) fn is_one_with(&self, other: &Self) -> bool {
        (&self.function, self.peers) == (&other.function, other.peers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_keep_fewer_rounds_keep_the_same_ones() {
        let lane = |count: u32| {
            let mut lane = Lane::new("HcclAllReduce".to_owned(), None);
            for number in 0..count {
                lane.push(Round {
                    number,
                    ..Round::default()
                });
            }
            lane
        };
        let (few, many) = (lane(1_000), lane(1_000_000));
        assert_eq!(few.rounds.len(), 1_000);
        assert!(many.rounds.len() <= MOST_ROUNDS && many.rounds.len() > MOST_ROUNDS / 4);
        let step = many.rounds[1].number;
        assert!(step.is_power_of_two());
        assert!(many.rounds.iter().all(|it| it.number.is_multiple_of(step)));
    }
}
