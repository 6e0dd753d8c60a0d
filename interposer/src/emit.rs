//! Writing records into the calling thread's channel.

use core::ffi::c_char;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{ArgKind, Function};
use ascend_trace_format::rank::{RANK_VARIABLES, is_rank};
use ascend_trace_format::record::call::{ArgText, NO_TEXTS};
use ascend_trace_format::record::{
    Call, MAX_LONG_TEXT, MAX_STRING, Manner, RecordKind, Recorded, SLOT_WORDS, STUB, Text, told,
};
use ascend_trace_ring::Producer;

use crate::integers::{self, List};
use crate::objects::StreamEntry;
use crate::thread::spill;
use crate::traits::Traits;
use crate::{given, identity, quiet, session, stubs, thread};

/// A call that has returned, and what is known of its function.
pub(crate) struct CallRecord<'a> {
    pub(crate) function: &'static Function,
    pub(crate) traits: &'static Traits,
    pub(crate) call: Call<'a>,
}

/// Records a call. Answers whether it was the first one to go into a new segment.
#[inline]
pub(crate) fn call(state: &thread::State, record: &CallRecord<'_>) -> bool {
    if !record.traits.has_strings {
        return publish(state, &record.call, NO_TEXTS);
    }
    let list = integers::of(record);
    publish(state, &record.call, Some(strings(record, list.as_ref())))
}

/// Publishes the record of a call, or counts it as lost. Answers as [`call`].
#[inline]
fn publish<'t>(
    state: &thread::State,
    call: &Call<'_>,
    texts: Option<impl Iterator<Item = ArgText<'t>> + Clone>,
) -> bool {
    let slots = call.slots(texts.clone());
    let stub = call.function.checked_sub(STUB);
    let mut is_first = false;
    let mut has_channel = false;
    state.record(|producer| {
        has_channel = true;
        let is_known = stub.is_none_or(|index| introduce_stub(state, producer, index));
        let room = is_known.then(|| producer.reserve(slots)).flatten();
        let Some(room) = room else {
            producer.count_dropped(RecordKind::Call);
            return;
        };
        call.put(room, texts);
        is_first = producer.publish(slots);
    });
    if !has_channel {
        state.count_lost();
    }
    is_first
}

/// Records a call that was under way as `words` tell, and did not return.
pub(crate) fn left(state: &thread::State, words: &[u64; SLOT_WORDS], end: u64) {
    if let Some(call) = Call::take_open(words) {
        publish(state, &Call { end, ..call }, NO_TEXTS);
    }
}

/// Puts a call aside that has returned while the tracer was at work in its thread, or counts it.
/// Nothing but its arguments is told of it.
pub(crate) fn put_aside(
    state: &thread::State,
    id: usize,
    args: &[u64],
    result: u64,
    times: (u64, u64),
) {
    let call = Call {
        depth: state.depth(),
        result,
        ..Call::plain(id as u16, times, args)
    };
    let mut words = [0; spill::WORDS];
    let room = words.get_mut(..call.slots(NO_TEXTS) * SLOT_WORDS);
    let stub = call.function.checked_sub(STUB);
    match room.filter(|_| !stub.is_some_and(|index| state.lacks_stub(index.into()))) {
        Some(room) => {
            call.put(room, NO_TEXTS);
            state.put_aside(&words);
        }
        None => state.count_lost(),
    }
}

/// Makes sure that the channel has told the name of a stub's function; `false` when it is full.
fn introduce_stub(state: &thread::State, producer: &mut Producer, index: u16) -> bool {
    if !state.lacks_stub(index.into()) {
        return true;
    }
    let Some((name, shape)) = stubs::known(index.into()) else {
        return false;
    };
    let name = Text::new(name);
    let is_told = tell(producer, &told::Function { shape, index, name });
    if is_told {
        state.has_stub_now(index.into());
    }
    is_told
}

/// The arguments of a call that are told as texts; `None` for NULL.
fn strings<'a>(
    record: &'a CallRecord<'_>,
    list: Option<&'a List>,
) -> impl Iterator<Item = ArgText<'a>> + Clone {
    let texts = record.function.args.iter().zip(record.call.args);
    texts
        .filter(|(arg, _)| arg.kind.is_text() && !arg.out)
        .map(move |(arg, word)| match arg.kind {
            ArgKind::Integers | ArgKind::Scalar => list.and_then(List::text),
            _ => text(*word),
        })
}

/// The string at an address that the program passed to the runtime, cut to what a record holds.
fn text<'a>(address: u64) -> Option<&'a [u8]> {
    let start = address as usize as *const c_char;
    if start.is_null() {
        return None;
    }
    let most = given::readable(start as usize, MAX_STRING);
    if most == 0 {
        return None;
    }
    // SAFETY: the table calls an argument a string only if the runtime reads it up to its NUL;
    // reading stops there or at the limit, whichever comes first.
    let length = unsafe { libc::strnlen(start, most) };
    // SAFETY: `length` bytes were just read.
    Some(unsafe { core::slice::from_raw_parts(start.cast::<u8>(), length) })
}

/// Publishes a record of a kind other than a call; `false` when there was no room.
fn tell<'a, R: Recorded<'a>>(producer: &mut Producer, record: &R) -> bool {
    let slots = record.slots();
    let Some(room) = producer.reserve(slots) else {
        producer.count_dropped(R::KIND);
        return false;
    };
    record.put(room);
    producer.publish(slots);
    true
}

/// Records something that is no call, while the tracer is at work in the thread.
pub(crate) fn record<'a>(state: &thread::State, record: &impl Recorded<'a>) {
    state.record(|producer| {
        tell(producer, record);
    });
}

/// The same for whoever does not have the thread's state at hand.
pub(crate) fn from_inside<'a>(told: &impl Recorded<'a>) {
    thread::with(|state| record(state, told));
}

static ANNOUNCED: AtomicBool = AtomicBool::new(false);

/// The first records of a channel: the thread, and the process if it is new. Answers the thread's
/// name.
pub(crate) fn introduce(producer: &mut Producer) -> [u8; 16] {
    if !ANNOUNCED.swap(true, Relaxed) {
        process(producer);
    }
    let name = own_name();
    thread_name(producer, &name);
    name
}

/// The thread has another name by now, perhaps: most are named after they have begun.
pub(crate) fn rename(state: &thread::State) {
    let name = own_name();
    if state.changes_name(name) {
        state.record(|producer| thread_name(producer, &name));
    }
}

fn own_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    if !quiet::is_allowed() {
        return name;
    }
    // SAFETY: the kernel writes at most 16 bytes, NUL included.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

fn thread_name(producer: &mut Producer, name: &[u8; 16]) {
    let (tid, name) = (thread::tid(), Text::new(until_nul(name)));
    tell(producer, &told::Thread { tid, name });
}

/// A child is a process of its own.
pub(crate) fn announce_again() {
    ANNOUNCED.store(false, Relaxed);
}

/// What the process was started with, as far as it is kept.
fn command(producer: &mut Producer) {
    let (line, goes_on) = identity::command_line();
    let parts = line.chunks(MAX_LONG_TEXT);
    let last = parts.len().saturating_sub(1);
    for (part, bytes) in parts.enumerate() {
        let part_of_line = told::Command {
            part: part as u16,
            goes_on: goes_on && part == last,
            bytes: Text::new(bytes),
        };
        tell(producer, &part_of_line);
    }
}

fn process(producer: &mut Producer) {
    let mut process = told::Process {
        pid: quiet::pid(),
        parent_pid: 0,
        begin: session::process_key(),
        name: Text::new(&[]),
        rank: Text::new(&[]),
    };
    if !quiet::is_allowed() {
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
    let rank = RANK_VARIABLES
        .iter()
        .find_map(|name| variable_value(name).filter(|value| is_rank(value)));
    process.rank = Text::new(rank.unwrap_or(&[]));
    tell(producer, &process);
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
    // SAFETY: a lookup by a C string: what follows the name in the buffer is 0.
    let value = unsafe { libc::getenv(terminated.as_ptr().cast()) };
    text(value as usize as u64)
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or(&[])
}

/// A stream, with what is known of it now.
pub(crate) fn stream(stream: &StreamEntry, id_known: bool) {
    tell_stream(stream, id_known, 0);
}

/// How the tasks of a stream are timed from now on.
pub(crate) fn manner(stream: &StreamEntry, manner: Manner) {
    tell_stream(stream, stream.acl_id.load(Relaxed) >= 0, manner.code());
}

fn tell_stream(stream: &StreamEntry, id_known: bool, manner: u8) {
    from_inside(&told::Stream {
        serial: stream.serial.load(Relaxed),
        context: stream.context.load(Relaxed),
        device: stream.device.load(Relaxed),
        handle: stream.handle(),
        acl_id: id_known.then(|| stream.acl_id.load(Relaxed)),
        flags: stream.flags.load(Relaxed),
        priority: stream.priority.load(Relaxed),
        is_default: stream.is_default(),
        manner,
    });
}
