//! The window of a recording: the conditions at which each process begins and ends to record.
//!
//! A condition is met in the process itself, so no call at a border of the window is in doubt. The call, range, step or
//! replay of a condition is inside the window.

use crate::fnv;
use crate::range::step_number;

/// Condition that begins or ends the window in a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// The window has no such border.
    #[default]
    None,
    /// The call number `count` of the function with this id in the hook table, from 1.
    Call { function: u16, count: u32 },
    /// The replay number `count` of a graph in the process, from 1.
    Replay { count: u32 },
    /// The first range with the name of this hash.
    Range { name: u64 },
    /// The step of this number: that in the name of its range, or else its number in the process, from 1.
    Step { number: u32 },
}

const CALL: u64 = 1;
const REPLAY: u64 = 2;
const RANGE: u64 = 3;
const STEP: u64 = 4;
/// The number of a condition is above its kind.
const NUMBER: u32 = 32;

impl Condition {
    /// The range with this name.
    pub fn range(name: &[u8]) -> Self {
        Self::Range {
            name: fnv::hash(name),
        }
    }

    /// Two words for shared memory.
    pub const fn words(self) -> [u64; 2] {
        match self {
            Self::None => [0, 0],
            Self::Call { function, count } => [CALL | (count as u64) << NUMBER, function as u64],
            Self::Replay { count } => [REPLAY | (count as u64) << NUMBER, 0],
            Self::Range { name } => [RANGE, name],
            Self::Step { number } => [STEP | (number as u64) << NUMBER, 0],
        }
    }

    /// The condition of these words; `None` if this build does not know it.
    pub const fn from_words([first, key]: [u64; 2]) -> Option<Self> {
        let number = (first >> NUMBER) as u32;
        match first & ((1 << NUMBER) - 1) {
            0 => Some(Self::None),
            CALL => Some(Self::Call {
                function: key as u16,
                count: number,
            }),
            REPLAY => Some(Self::Replay { count: number }),
            RANGE => Some(Self::Range { name: key }),
            STEP => Some(Self::Step { number }),
            _ => None,
        }
    }

    /// Whether a range or a mark with this name meets it. `steps` is the number of steps of the process, with this one.
    pub fn is_met_by(self, name: &[u8], steps: u32) -> bool {
        match self {
            Self::Range { name: wanted } => fnv::hash(name) == wanted,
            Self::Step { number } => match step_number(name) {
                Some(named) => named == u64::from(number),
                None => steps == number,
            },
            _ => false,
        }
    }
}

/// The window of a session, as each process has it from its first call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Until then, the process records nothing.
    pub start: Condition,
    /// From its end on, the process records nothing.
    pub stop: Condition,
    /// The process begins with a pause, which the program or the recorder ends.
    pub is_paused: bool,
}

impl Window {
    /// Each process records from its first call on.
    pub const ALWAYS: Self = Self {
        start: Condition::None,
        stop: Condition::None,
        is_paused: false,
    };
}

/// The recorder's switch in shared memory: bit 0 is set while the recorder pauses all processes. The next 14 bits count how
/// often it ended all pauses, also those of programs. Bit 15 is set when the recording is complete: processes that can be attached
/// to leave the session. The last 16 bits count changes of the timing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switch(pub u32);

impl Switch {
    pub const fn is_paused(self) -> bool {
        self.0 & 1 != 0
    }

    /// How often all pauses were ended.
    pub const fn resumed(self) -> u32 {
        self.0 >> 1 & RESUMED
    }

    /// How often the timing was changed.
    pub const fn retimed(self) -> u32 {
        self.0 >> RETIMED
    }

    /// Whether the recording is complete.
    pub const fn is_complete(self) -> bool {
        self.0 & COMPLETE != 0
    }

    /// The recording is complete.
    #[must_use]
    pub const fn completed(self) -> Self {
        Self(self.0 | COMPLETE)
    }

    /// Counts one more change of the timing.
    #[must_use]
    pub const fn with_other_timing(self) -> Self {
        Self(self.0.wrapping_add(1 << RETIMED))
    }

    #[must_use]
    pub const fn paused(self) -> Self {
        Self(self.0 | 1)
    }

    /// The recorder's pause ends, and no other.
    #[must_use]
    pub const fn released(self) -> Self {
        Self(self.0 & !1)
    }

    /// All pauses end.
    #[must_use]
    pub const fn forced(self) -> Self {
        let resumed = self.resumed().wrapping_add(1) & RESUMED;
        Self(self.0 & !(RESUMED << 1 | 1) | resumed << 1)
    }
}

/// The count of ended pauses, above bit 0.
const RESUMED: u32 = 0x3fff;
/// Set when the recording is complete.
const COMPLETE: u32 = 1 << 15;
/// The place of the count of changes of the timing.
const RETIMED: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_pass_through_shared_memory() {
        for condition in [
            Condition::None,
            Condition::Call {
                function: 65535,
                count: u32::MAX,
            },
            Condition::Replay { count: 3 },
            Condition::range(b"step 100"),
            Condition::Step { number: 100 },
        ] {
            assert_eq!(Condition::from_words(condition.words()), Some(condition));
        }
        assert_eq!(Condition::from_words([77, 0]), None);
    }

    #[test]
    fn a_step_has_the_number_in_its_name_or_its_number_in_the_process() {
        let step = Condition::Step { number: 12 };
        assert!(step.is_met_by(b"step 12", 1));
        assert!(!step.is_met_by(b"step 13", 12));
        assert!(step.is_met_by(b"", 12) && !step.is_met_by(b"", 11));
        assert!(Condition::range(b"load").is_met_by(b"load", 0));
        assert!(!Condition::range(b"load").is_met_by(b"loads", 0));
    }

    #[test]
    fn a_forced_resumption_ends_the_pause_and_is_noticed_without_one() {
        let switch = Switch::default();
        assert!(!switch.is_paused() && switch.paused().is_paused());
        assert_eq!(switch.paused().released(), switch);
        let forced = switch.paused().forced();
        assert!(!forced.is_paused() && forced.resumed() == 1);
        assert_ne!(switch.forced(), switch);
    }

    #[test]
    fn counts_of_the_switch_do_not_run_into_each_other() {
        let mut switch = Switch::default().paused();
        for number in 1..=2 * RESUMED {
            switch = switch.forced();
            assert_eq!(switch.resumed(), number & RESUMED);
            assert_eq!(switch.retimed(), 0);
        }
        let before = switch.resumed();
        for number in 1..=0x1_0000_u32 {
            switch = switch.with_other_timing();
            assert_eq!(switch.retimed(), number & 0xffff);
        }
        assert!(!switch.is_paused() && switch.resumed() == before);
    }
}
