//! The chips that softacl can imitate: their names, their capacities, and when their runtime learns
//! that a task is complete.

/// A generation of cards, as far as a program can distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chip {
    A910b,
    A910_93,
    A950,
    A310p,
    A910a,
    A310b,
}

/// Who looks whether tasks are complete, and at which streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecyclingMode {
    /// A thread of the runtime's, which walks all streams of the device when it is woken.
    Thread,
    /// The same, but a query looks at its own stream by itself.
    ThreadOrQuery,
    /// The calling thread, at the stream that it asks about or waits for. It takes the lock that a
    /// synchronisation of the stream holds as long as it lasts.
    Caller,
    /// The calling thread, when it synchronises. A query sees completion before the time is available.
    Synchronisation,
}

impl Chip {
    /// Every chip, by the name that the option `chip` takes.
    pub const NAMES: [(&str, Self); 6] = [
        ("910b", Self::A910b),
        ("910_93", Self::A910_93),
        ("950", Self::A950),
        ("310p", Self::A310p),
        ("910a", Self::A910a),
        ("310b", Self::A310b),
    ];

    /// Returns the chip with this name.
    pub fn named(name: &str) -> Option<Self> {
        let mut known = Self::NAMES.iter();
        known.find(|(own, _)| *own == name).map(|&(_, chip)| chip)
    }

    /// Result of `aclrtGetSocName`.
    pub const fn soc_name(self) -> &'static std::ffi::CStr {
        match self {
            Self::A910b => c"Ascend910B1",
            Self::A910_93 => c"Ascend910_9391",
            Self::A950 => c"Ascend950PR_9589",
            Self::A310p => c"Ascend310P3",
            Self::A910a => c"Ascend910A",
            Self::A310b => c"Ascend310B1",
        }
    }

    /// Who sees that tasks are complete.
    pub const fn recycling(self) -> RecyclingMode {
        match self {
            Self::A910b | Self::A910_93 => RecyclingMode::Thread,
            Self::A950 => RecyclingMode::ThreadOrQuery,
            Self::A310b => RecyclingMode::Caller,
            Self::A310p | Self::A910a => RecyclingMode::Synchronisation,
        }
    }

    /// A record with a time needs one of this number of places of its stream.
    pub const fn timeline_slots(self) -> Option<usize> {
        match self {
            Self::A310p | Self::A910a => Some(512),
            _ => None,
        }
    }

    /// How many tasks a stream takes before a submission waits.
    pub const fn queue(self) -> u32 {
        match self {
            Self::A310p | Self::A910a => 1024,
            Self::A950 => 2048,
            _ => 2047,
        }
    }

    /// How many streams a device has.
    pub const fn streams(self) -> u32 {
        match self {
            Self::A310b => 512,
            Self::A310p => 1024,
            Self::A910a => 2048,
            _ => 1984,
        }
    }

    /// How many events a device has.
    pub const fn events(self) -> u32 {
        match self {
            Self::A310p => 1023,
            Self::A910a => 65_535,
            _ => 65_536,
        }
    }

    /// How many notifies a device has.
    pub const fn notifies(self) -> u32 {
        match self {
            Self::A950 => 65_535,
            Self::A310b => 2048,
            Self::A310p | Self::A910a => 1024,
            _ => 8192,
        }
    }

    /// How often the device's clock ticks in a millisecond.
    pub const fn ticks_per_ms(self) -> u32 {
        match self {
            Self::A910b | Self::A910_93 => 50_000,
            Self::A310b => 48_000,
            Self::A950 | Self::A310p | Self::A910a => 1_000_000,
        }
    }

    /// Operations of matrix products in 16-bit floating point, 10^12 a second at most.
    pub const fn tera_operations(self) -> u64 {
        match self {
            Self::A910b | Self::A910_93 => 320,
            Self::A950 => 500,
            Self::A910a => 256,
            Self::A310p => 70,
            Self::A310b => 10,
        }
    }

    /// Is a negative elapsed time the difference of unsigned numbers?
    pub const fn elapses_unsigned(self) -> bool {
        matches!(self, Self::A950)
    }

    /// Do kernels use cores of several kinds? Then there is an address where these synchronise, and the runtime says
    /// more of errors.
    pub const fn mixes_cores(self) -> bool {
        matches!(self, Self::A910b | Self::A910_93 | Self::A950)
    }

    /// Can a process be locked for a snapshot?
    pub const fn takes_snapshots(self) -> bool {
        matches!(self, Self::A910b | Self::A910_93)
    }

    /// Is the priority an attribute of streams, which can be changed?
    pub const fn changes_priorities(self) -> bool {
        matches!(self, Self::A950)
    }

    /// Does a notify count its records?
    pub const fn counts_notifies(self) -> bool {
        matches!(self, Self::A950)
    }
}
