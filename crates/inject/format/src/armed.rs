//! Programs that were started with the library and without a recording: a recorder can attach to them later.
//!
//! Each process of such a program has a page in a folder of its user, from its first call of AscendCL on. The page says
//! whether a recorder wants the process in its session.
//!
//! A program with the variables of `ascend-trace env` has such a page as well, and asks for the session of the server itself.

/// The environment variable with the folder of the pages.
pub const ARMED_VARIABLE: &str = "ASCEND_TRACE_ARMED";

/// Pages are called this, the number of the pid namespace, a dash, and the pid.
pub const PAGE_PREFIX: &str = "armed-";

/// Bytes of a page's file.
pub const PAGE_BYTES: usize = 4096;

/// Bytes of the path of a session, at most.
pub const LONGEST_PATH: usize = 2048;

/// First word of a page.
pub const PAGE_MAGIC: u64 = u64::from_le_bytes(*b"ASCTARM1");

crate::coded_enum! {
    /// The result of a request to join a session.
    JoinOutcome: u32 {
        /// The process records into the session.
        Joined = 1,
        /// The session file could not be mapped.
        Unreachable = 2,
        /// The library in the process belongs to another version of the command.
        OtherVersion = 3,
        /// Too many threads of the process still use the memory of earlier sessions.
        Crowded = 4,
    }
}
