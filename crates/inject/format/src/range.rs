//! Ranges from the hook inside Python programs (`ascend-trace --python`).

use crate::coded_enum;

coded_enum! {
    /// Kind of a range.
    RangeKind {
        /// From the end of one optimizer step to the end of the next.
        Step = 1 "step",
        /// `forward`, `backward` or `optimizer`.
        Phase = 2 "phase",
        /// A module's forward pass.
        Module = 3 "module",
        /// The program waits for its loader's next batch.
        Loader = 4 "loader",
        /// `torch.profiler.record_function`.
        Function = 5 "function",
        /// A batch is made from the data set, in a process of the loader or in the program itself.
        Fetch = 6 "fetch",
        /// The gradients of a module's results, until the next such module begins.
        Backward = 7 "backward",
        /// The program has paused the recording.
        Pause = 8 "pause",
        /// The program asks for a snapshot of a ring.
        Snapshot = 9 "snapshot",
    }
}

/// Flag in the ids of pauses of the recording: another thread may end one, and its end may be read
/// before its begin.
pub const PAUSE_ID: u64 = 1 << 63;

/// No domain that a program made has such a handle: it is no address of any architecture.
const DOMAINS: u64 = 0x8000_0000_0000_0000;

impl RangeKind {
    /// The domain of such a range in a trace file.
    pub const fn domain(self) -> u64 {
        DOMAINS | self.code() as u64
    }

    /// The kind of a range in this domain; `None` for those of the program's own domains.
    pub const fn of_domain(domain: u64) -> Option<Self> {
        match domain ^ DOMAINS {
            code @ 0..256 => Self::from_code(code as u8),
            _ => None,
        }
    }
}

/// Words that name a step of a program, if a number follows.
const STEP_WORDS: [&[u8]; 4] = [b"profilerstep", b"step", b"iteration", b"iter"];

/// The number of a step in the name of its range: `step 12`, `ProfilerStep#3`, `iteration_7`, `iter 5/100`. `None` for
/// other names.
pub fn step_number(name: &[u8]) -> Option<u64> {
    let is_counter = |it: &u8| it.is_ascii_digit() || *it == b'/';
    let begin = name.iter().rposition(|it| !is_counter(it))? + 1;
    let (word, number) = name.split_at(begin);
    let length = number.iter().take_while(|it| it.is_ascii_digit()).count();
    let digits = number.get(..length).filter(|it| !it.is_empty())?;
    let word = word.trim_ascii_end();
    let is_apart = word.len() < begin || word.last().is_some_and(|it| b"_-:=#".contains(it));
    let end = word.iter().rposition(|it| !b" #:_-=".contains(it))? + 1;
    let word = word.get(..end)?;
    let is_step = STEP_WORDS.iter().any(|it| it.eq_ignore_ascii_case(word));
    let value = |sum: u64, it: &u8| sum.wrapping_mul(10).wrapping_add(u64::from(it - b'0'));
    (is_step && is_apart).then(|| digits.iter().fold(0, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_steps_have_a_number() {
        for (name, number) in [
            (&b"step 12"[..], Some(12)),
            (b"ProfilerStep#3", Some(3)),
            (b"iteration_7", Some(7)),
            (b"Iter: 5/100", Some(5)),
            (b"step12", None),
            (b"step ", None),
            (b"footstep 3", None),
            (b"12", None),
            (b"", None),
        ] {
            assert_eq!(step_number(name), number, "{name:?}");
        }
    }

    #[test]
    fn domains_of_the_tracer_are_no_addresses() {
        for kind in RangeKind::ALL {
            assert_eq!(RangeKind::of_domain(kind.domain()), Some(*kind));
        }
        for domain in [
            0,
            1,
            6,
            0x7fff_ffff_f000,
            DOMAINS,
            DOMAINS | 10,
            DOMAINS | 1 << 40,
        ] {
            assert_eq!(RangeKind::of_domain(domain), None, "{domain:#x}");
        }
    }
}
