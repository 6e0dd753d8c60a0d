//! The first records of a channel: the process, if it is new, and the thread.

use core::ffi::c_char;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::rank::{RANK_VARIABLES, is_rank};
use ascend_trace_format::record::{MAX_LONG_TEXT, MAX_STRING, Recorded, Text, kinds};
use ascend_trace_ring::Producer;

use crate::{process_facts, session, syscall_policy};

/// Publishes a record of a kind other than a call; `false` when there was no room.
pub(crate) fn tell<'a, R: Recorded<'a>>(producer: &mut Producer, record: &R) -> bool {
    let slots = record.slots();
    let Some(room) = producer.reserve(slots) else {
        producer.count_dropped(R::KIND);
        return false;
    };
    record.put(room);
    producer.publish(slots);
    true
}

static ANNOUNCED: AtomicBool = AtomicBool::new(false);

/// The first records of a channel: the thread, and the process if it is new. Returns the thread's
/// name.
pub(crate) fn introduce(producer: &mut Producer) -> [u8; 16] {
    if !ANNOUNCED.swap(true, Relaxed) {
        process(producer);
    }
    let name = own_name();
    thread_name(producer, &name);
    name
}

pub(crate) fn own_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    if !syscall_policy::is_allowed() {
        return name;
    }
    // SAFETY: the kernel writes at most 16 bytes, NUL included.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

pub(crate) fn thread_name(producer: &mut Producer, name: &[u8; 16]) {
    let thread = kinds::Thread {
        tid: syscall_policy::tid(),
        handle: own_handle(),
        name: Text::new(until_nul(name)),
    };
    tell(producer, &thread);
}

/// How the program itself names the calling thread, as to the runtime when it subscribes for callbacks.
pub(crate) fn own_handle() -> u64 {
    // SAFETY: it only reads where the thread's block is.
    unsafe { libc::pthread_self() as u64 }
}

/// A child is a separate process.
pub(crate) fn announce_again() {
    ANNOUNCED.store(false, Relaxed);
}

/// The command line of the process, up to the limit.
fn command(producer: &mut Producer) {
    let (line, goes_on) = process_facts::command_line();
    let parts = line.chunks(MAX_LONG_TEXT);
    let last = parts.len().saturating_sub(1);
    for (part, bytes) in parts.enumerate() {
        let part_of_line = kinds::Command {
            part: part as u16,
            goes_on: goes_on && part == last,
            bytes: Text::new(bytes),
        };
        tell(producer, &part_of_line);
    }
}

fn process(producer: &mut Producer) {
    let mut process = kinds::Process {
        pid: syscall_policy::pid(),
        parent_pid: 0,
        begin: session::process_key(),
        name: Text::new(&[]),
        rank: Text::new(&[]),
    };
    if !syscall_policy::is_allowed() {
        tell(producer, &process);
        return;
    }
    command(producer);
    // SAFETY: always succeeds.
    process.parent_pid = unsafe { libc::getppid() as u32 };
    let mut path = [0u8; 1024];
    // SAFETY: `path` is a live local of the length given.
    let length = unsafe {
        libc::readlink(
            c"/proc/self/exe".as_ptr(),
            path.as_mut_ptr().cast(),
            path.len(),
        )
    };
    let path = path
        .get(..usize::try_from(length).unwrap_or(0))
        .unwrap_or(&[]);
    process.name = Text::new(path.rsplit(|byte| *byte == b'/').next().unwrap_or(&[]));
    process.rank = Text::new(rank().unwrap_or(&[]));
    tell(producer, &process);
}

/// The rank of this process, if a launcher has given it one.
pub(crate) fn rank() -> Option<&'static [u8]> {
    RANK_VARIABLES
        .iter()
        .find_map(|name| variable_value(name).filter(|value| is_rank(value)))
}

/// A variable of the environment, as the program finds it now.
pub(crate) fn variable_value(name: &str) -> Option<&'static [u8]> {
    let mut terminated = [0u8; 32];
    terminated
        .get_mut(..name.len())?
        .copy_from_slice(name.as_bytes());
    if *terminated.last()? != 0 {
        return None;
    }
    // SAFETY: a lookup by a C string: the bytes after the name in the buffer are 0.
    let value: *const c_char = unsafe { libc::getenv(terminated.as_ptr().cast()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: a C string of the environment.
    let length = unsafe { libc::strnlen(value, MAX_STRING) };
    // SAFETY: `length` bytes were just read.
    Some(unsafe { core::slice::from_raw_parts(value.cast(), length) })
}

pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or(&[])
}
