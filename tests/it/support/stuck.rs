//! Activity of a command that does not end: itself and the processes that it has started.

use std::fmt::Write as _;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The number of the system call by which threads wait for a word of memory.
const FUTEX: &str = "202";
/// Text in place of a system call while a thread runs.
const RUNNING: &str = "running";
/// The program that emulates another architecture, in its path.
const EMULATOR: &str = "/qemu-";

/// How a command was found when its time was over.
#[derive(Debug)]
pub(crate) struct Stuck {
    /// One line a thread.
    pub(crate) threads: String,
    /// An emulator waits for its lock: the emulated program cannot continue.
    pub(crate) in_emulator: bool,
}

/// Looks at a process and all below it, and ends them.
pub(crate) fn end(pid: Pid) -> Stuck {
    let mut stuck = Stuck {
        threads: String::new(),
        in_emulator: false,
    };
    let family = family(pid.as_raw_nonzero().get());
    for pid in &family {
        stuck.look(*pid);
    }
    // Whoever is left would keep our ends of its pipes open.
    for pid in family.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
    stuck
}

fn numbers(folder: &str) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}

/// A process, its children and theirs.
fn family(first: i32) -> Vec<i32> {
    let mut family = vec![first];
    let mut next = 0;
    while let Some(pid) = family.get(next).copied() {
        next += 1;
        for thread in numbers(&format!("/proc/{pid}/task")) {
            let path = format!("/proc/{pid}/task/{thread}/children");
            let children = fs::read_to_string(path).unwrap_or_default();
            family.extend(
                children
                    .split_whitespace()
                    .filter_map(|it| it.parse::<i32>().ok()),
            );
        }
    }
    family
}

impl Stuck {
    fn look(&mut self, pid: i32) {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        let is_emulator = program.to_string_lossy().contains(EMULATOR);
        let own = EmulatorMemory::of(&read("maps").unwrap_or_default());
        let words = read("cmdline").unwrap_or_default().replace('\0', " ");
        let _ = writeln!(self.threads, "{pid}: {words}");
        let (mut waiting, mut is_going_on) = (0, false);
        for thread in numbers(&format!("/proc/{pid}/task")) {
            let read = |name: &str| read(&format!("task/{thread}/{name}")).unwrap_or_default();
            let (name, call) = (read("comm"), read("syscall"));
            let in_own = is_emulator && word(&call).is_some_and(|word| own.has(word));
            // One thread of the emulator always waits like that, and is never the first one.
            waiting += usize::from(in_own) * if thread == pid { 2 } else { 1 };
            is_going_on |= call.starts_with(RUNNING);
            let remark = if in_own { ", the emulator's own" } else { "" };
            let (name, call) = (name.trim_end(), call.trim_end());
            let _ = writeln!(self.threads, "  {thread} {name}: {call}{remark}");
        }
        self.in_emulator |= waiting > 1 && !is_going_on;
    }
}

/// The word of memory that a thread waits for.
fn word(call: &str) -> Option<usize> {
    let mut parts = call.split(' ');
    if parts.next() != Some(FUTEX) {
        return None;
    }
    usize::from_str_radix(parts.next()?.strip_prefix("0x")?, 16).ok()
}

/// Memory of an emulator's data, as opposed to that of the emulated program.
struct EmulatorMemory(Vec<(usize, usize)>);

impl EmulatorMemory {
    /// From the lines of `/proc/…/maps`. Data without a file follows that of its file.
    fn of(maps: &str) -> Self {
        let mut ranges = Vec::new();
        let (mut last_end, mut last_own) = (0, false);
        for line in maps.lines() {
            let parts: Vec<&str> = line.split_whitespace().collect();
            let Some((begin, end)) = parts.first().and_then(|range| bounds(range)) else {
                continue;
            };
            let is_own = match parts.get(5) {
                Some(name) => *name == "[heap]" || is_hosts(name),
                None => last_own && begin == last_end,
            };
            if is_own {
                ranges.push((begin, end));
            }
            // Memory after the heap does not belong to it.
            (last_end, last_own) = (end, is_own && parts.get(5).is_some_and(|it| is_hosts(it)));
        }
        Self(ranges)
    }

    fn has(&self, address: usize) -> bool {
        let mut ranges = self.0.iter();
        ranges.any(|(begin, end)| (*begin..*end).contains(&address))
    }
}

fn is_hosts(file: &str) -> bool {
    file.contains(EMULATOR) || file.contains(&format!("/{}-linux-gnu/", std::env::consts::ARCH))
}

fn bounds(range: &str) -> Option<(usize, usize)> {
    let (begin, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some((number(begin)?, number(end)?))
}

#[test]
fn the_memory_of_an_emulator_is_distinguished_from_that_of_the_program() {
    let own = format!("/usr/lib/{}-linux-gnu/libc.so.6", std::env::consts::ARCH);
    let maps = format!(
        "1000-2000 r-xp 00000000 fe:00 1 /usr/bin/qemu-aarch64\n\
         2000-3000 rw-p 00000000 00:00 0\n\
         5000-6000 rw-p 00000000 00:00 0\n\
         7000-8000 rw-p 00000000 00:00 0 [heap]\n\
         8000-9000 rw-p 00000000 00:00 0\n\
         a000-b000 rw-p 00000000 fe:00 2 {own}\n\
         c000-d000 rw-p 00000000 fe:00 3 /usr/aarch64-linux-gnu/lib/libc.so.6\n\
         d000-e000 rw-p 00000000 00:00 0\n"
    );
    let own = EmulatorMemory::of(&maps);
    for (address, is_own) in [
        (0x1800, true),
        (0x2800, true),
        (0x5800, false),
        (0x7800, true),
        (0x8800, false),
        (0xa800, true),
        (0xc800, false),
        (0xd800, false),
    ] {
        assert_eq!(own.has(address), is_own, "{address:x}");
    }
    assert_eq!(word("202 0x2800 0x80 0x1 0x7f"), Some(0x2800));
    assert_eq!(word("running"), None);
    assert_eq!(word("230 0x2800"), None);
}

#[test]
fn everything_below_a_stuck_command_is_ended_and_named() {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "sleep 1000 & echo started; wait"]);
    shell.stdout(std::process::Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut line = [0; 8];
    std::io::Read::read_exact(&mut output, &mut line).unwrap();
    let stuck = end(Pid::from_child(&child));
    assert!(!child.wait().unwrap().success());
    assert!(stuck.threads.contains("sleep 1000"), "{}", stuck.threads);
    assert!(!stuck.in_emulator);
    // Nobody holds the pipe any more.
    assert_eq!(std::io::Read::read(&mut output, &mut line).unwrap(), 0);
}
