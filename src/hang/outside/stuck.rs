//! Processes in which no thread outside AscendCL can go on: each waits for another one, and none has a limit in time.
//!
//! The tool's thread and those of the runtime do not count. A thread is the runtime's if its stack has no address of the program:
//! none of an object other than the C library, the runtime and the tool.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::helpers::tasks;
use super::system_calls::{Memory, SystemCall};
use super::waits::{ThreadWait, Threads};

/// Name of the tool's thread in a program.
const OWN: &str = "ascend-trace";
/// The part of a stack that is looked at. A longer one counts as the program's.
const MOST_STACK: u64 = 1 << 18;
/// Objects that threads of the runtime use as well, by the begin of their names.
const COMMON: [&str; 10] = [
    "libc.so",
    "libc-",
    "libpthread",
    "libdl",
    "librt",
    "libm.so",
    "libstdc++",
    "libgcc_s",
    "ld-linux",
    "libascend_trace_",
];
/// Libraries of the runtime: the others in their folders are the runtime's, too.
const RUNTIME: [&str; 3] = ["libascendcl.so", "libruntime.so", "libascend_hal.so"];

/// How often a thread is looked at until it sleeps, and the time between: threads of the runtime wake now and then.
const LOOKS: u32 = 8;
const BETWEEN: Duration = Duration::from_millis(1);

/// The waits of the threads of a process that count, and how often each has been suspended. `None` if one of them may go on.
pub(super) type Waits = Option<BTreeMap<u32, (ThreadWait, u64)>>;

/// The waits of the threads that are outside AscendCL. `is_in_call` says it of a thread.
pub(super) fn waits(threads: &Threads, memory: &Memory, is_in_call: impl Fn(u32) -> bool) -> Waits {
    let pid = threads.pid;
    let objects = ProgramObjects::of(pid)?;
    let mut found = BTreeMap::new();
    for tid in tasks(pid).into_iter().filter(|it| !is_in_call(*it)) {
        if is_own(pid, tid) {
            continue;
        }
        let folder = format!("/proc/{pid}/task/{tid}");
        let call = asleep(pid, tid)?;
        match ThreadWait::of(&call, threads, memory) {
            Some(wait) => {
                found.insert(tid, (wait, suspended(&folder)?));
            }
            None if objects.are_on_stack(memory, call.stack) => return None,
            None => {}
        }
    }
    Some(found)
}

/// Whether a thread is the tool's.
pub(super) fn is_own(pid: u32, tid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm"));
    name.is_ok_and(|it| it.trim() == OWN)
}

/// The system call in which a thread sleeps, now or soon.
fn asleep(pid: u32, tid: u32) -> Option<SystemCall> {
    (0..LOOKS).find_map(|look| {
        if look > 0 {
            std::thread::sleep(BETWEEN);
        }
        SystemCall::of(pid, tid)
    })
}

/// How often a thread has been suspended by its own wish.
fn suspended(folder: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("{folder}/status")).ok()?;
    let count = status
        .lines()
        .find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"))?;
    count.trim().parse().ok()
}

/// Whose code it is. That of the C library and of the tool has no owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeOwner {
    Program,
    Runtime,
}

/// Code of a process that only the program runs, that of the runtime, and where its stacks end.
#[derive(Debug)]
pub(super) struct ProgramObjects {
    code: Vec<Range<u64>>,
    runtime: Vec<Range<u64>>,
    mappings: Vec<Range<u64>>,
}

impl ProgramObjects {
    pub(super) fn of(pid: u32) -> Option<Self> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        Some(Self::parse(&maps))
    }

    fn parse(maps: &str) -> Self {
        let mappings = maps.lines().filter_map(Mapping::parse);
        let mappings: Vec<Mapping<'_>> = mappings.collect();
        let own = mappings
            .iter()
            .filter(|it| RUNTIME.iter().any(|name| it.is_named(name)));
        let runtime: Vec<PathBuf> = own
            .filter_map(|it| Some(it.path.parent()?.to_owned()))
            .collect();
        let owner = |it: &Mapping<'_>| {
            let is_common = COMMON.iter().any(|name| it.is_named(name));
            let is_runtime = it
                .path
                .parent()
                .is_some_and(|it| runtime.iter().any(|of| of == it));
            let is_kernels = it.path.to_string_lossy().starts_with('[');
            match (it.is_code && !is_common && !is_kernels, is_runtime) {
                (true, true) => Some(CodeOwner::Runtime),
                (true, false) => Some(CodeOwner::Program),
                (false, _) => None,
            }
        };
        let of = |wanted: CodeOwner| {
            let own = mappings.iter().filter(|it| owner(it) == Some(wanted));
            own.map(|it| it.range.clone()).collect()
        };
        Self {
            code: of(CodeOwner::Program),
            runtime: of(CodeOwner::Runtime),
            mappings: mappings.iter().map(|it| it.range.clone()).collect(),
        }
    }

    /// Whether an address of the program is on a stack. Where that is not known, it is.
    fn are_on_stack(&self, memory: &Memory, stack: u64) -> bool {
        let is_code = |word: &u64| self.code.iter().any(|it| it.contains(word));
        let words = self.words(memory, stack);
        words.is_none_or(|words| words.iter().any(is_code))
    }

    /// The words of a stack that is not too long.
    fn words(&self, memory: &Memory, stack: u64) -> Option<Vec<u64>> {
        let mapping = self.mappings.iter().find(|it| it.contains(&stack))?;
        let part = stack & !7..mapping.end;
        let is_short = part.end - part.start <= MOST_STACK;
        is_short.then(|| memory.addresses(&part)).flatten()
    }

    /// The owners of the code of the frames on a stack, the innermost first. Nothing where that is not known.
    pub(super) fn frames(&self, memory: &Memory, stack: u64) -> Vec<CodeOwner> {
        let words = self.words(memory, stack).unwrap_or_default();
        let has = |all: &[Range<u64>], word: u64| all.iter().any(|it| it.contains(&word));
        let owner = |word: u64| match has(&self.code, word) {
            true => Some(CodeOwner::Program),
            false => has(&self.runtime, word).then_some(CodeOwner::Runtime),
        };
        let frames = words.into_iter();
        let frames = frames.filter_map(|word| Some((word, owner(word)?)));
        let frames = frames.filter(|(word, _)| memory.is_behind_a_call(*word));
        frames.map(|it| it.1).collect()
    }
}

/// A line of `/proc/PID/maps`.
#[derive(Debug)]
struct Mapping<'a> {
    range: Range<u64>,
    is_code: bool,
    path: &'a Path,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.splitn(6, ' ');
        let (begin, end) = words.next()?.split_once('-')?;
        let address = |word: &str| u64::from_str_radix(word, 16).ok();
        let access = words.next()?;
        let path = words.nth(3).unwrap_or_default().trim_start();
        Some(Self {
            range: address(begin)?..address(end)?,
            is_code: access.contains('x'),
            path: Path::new(path),
        })
    }

    fn is_named(&self, begin: &str) -> bool {
        let name = self.path.file_name();
        name.is_some_and(|it| it.to_string_lossy().starts_with(begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-2000 r-xp 00001000 fe:00 100 /opt/app/train
2000-3000 rw-p 00000000 fe:00 100 /opt/app/train
3000-4000 r-xp 00000000 00:00 0 
7000-8000 r-xp 00026000 fe:00 101                     /usr/lib/libc.so.6
8000-9000 r-xp 000bb000 fe:00 102                     /opt/cann/lib64/libascendcl.so.1
9000-a000 r-xp 000bb000 fe:00 103                     /opt/cann/lib64/libge.so
a000-b000 r-xp 00110000 fe:00 104                     /x/libascend_trace_interposer.so
b000-c000 r-xp 00000000 00:00 0                       [vdso]
";

    #[test]
    fn code_of_the_program_is_all_but_that_of_the_runtime() {
        let objects = ProgramObjects::parse(MAPS);
        assert_eq!(objects.code, [0x1000..0x2000, 0x3000..0x4000]);
        assert_eq!(objects.runtime, [0x8000..0x9000, 0x9000..0xa000]);
        assert_eq!(objects.mappings.len(), 8);
    }

    #[test]
    fn addresses_on_a_stack_are_looked_for() {
        let memory = Memory::of(std::process::id()).unwrap();
        let words = [5_u64, 0x1800, 9];
        let begin = words.as_ptr() as u64;
        let mapping = begin..begin + 24;
        let objects = |code: Range<u64>| ProgramObjects {
            code: vec![code],
            runtime: Vec::new(),
            mappings: vec![mapping.clone()],
        };
        assert!(objects(0x1000..0x2000).are_on_stack(&memory, begin));
        assert!(!objects(0x1000..0x2000).are_on_stack(&memory, begin + 16));
        assert!(!objects(0x2000..0x3000).are_on_stack(&memory, begin));
        // A stack that is not mapped is not known.
        assert!(objects(0x2000..0x3000).are_on_stack(&memory, begin + 32));
    }
}
