//! States of threads in the system, while the program runs on this host.

/// A thread that made calls, by its numbers and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedThread {
    pub pid: u32,
    pub tid: u32,
    pub name: String,
}

/// State of a thread in the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ThreadSight {
    /// Nothing: the program has ended, or runs elsewhere.
    #[default]
    Unknown,
    /// Its process runs, and it has ended.
    Ended,
    /// It lives.
    Lives {
        /// It uses a processor, or waits for a disk.
        works: bool,
        /// Its state, in words.
        state: String,
    },
}

/// Looks at threads, and returns their states in the same order.
pub type LookAtThreads = fn(&[NamedThread]) -> Vec<ThreadSight>;
