//! States of threads in the system, while the program runs on this host.

/// A thread that made calls, by its numbers and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedThread {
    pub pid: u32,
    pub tid: u32,
    pub name: String,
    /// It is in a call of AscendCL.
    pub in_call: bool,
    /// It is in the call that runs callbacks of the program, and in no other one.
    pub runs_callbacks: bool,
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
        /// The target of its wait, where the system shows it.
        waits: Option<OutsideWait>,
    },
}

/// The target of a wait outside AscendCL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutsideWait {
    /// The end of a thread of its process, by number.
    End(u32),
    /// A lock that a thread of its process holds, by number.
    Lock(u32),
    /// A lock that a thread of its process held when it ended.
    LeftLock(u32),
    /// A pipe that only its own process can write to, and a child process that has ended, in words.
    EndedChild(String),
}

/// The threads of some processes, as the system shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemSight {
    /// In the order of the threads.
    pub threads: Vec<ThreadSight>,
    /// Processes in which all threads outside AscendCL wait for other threads of the process, without a limit in time.
    pub stuck: Vec<u32>,
    /// Threads of the runtime that wait in functions of the program.
    pub functions: Vec<FunctionSight>,
}

/// A thread of the runtime that is in a function of the program, and waits there without a limit in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSight {
    pub pid: u32,
    pub tid: u32,
    /// The target of its wait, where the system shows it.
    pub waits: Option<OutsideWait>,
}

/// Looks at threads.
pub type LookAtThreads = fn(&[NamedThread]) -> SystemSight;
