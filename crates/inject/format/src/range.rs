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

#[cfg(test)]
mod tests {
    use super::*;

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
            DOMAINS | 9,
            DOMAINS | 1 << 40,
        ] {
            assert_eq!(RangeKind::of_domain(domain), None, "{domain:#x}");
        }
    }
}
