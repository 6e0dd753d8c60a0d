//! Writing records into the calling thread's channel.

use core::ffi::c_char;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{AnchorSource, ArgKind, Function, Untimed};
use ascend_trace_format::engine::Outcome;
use ascend_trace_format::rank::{RANK_VARIABLES, is_rank};
use ascend_trace_format::record::{
    Counter, Header, Lookup, MAX_SLOTS, MAX_STRING, Manner, NULL_STRING, RecordKind, SLOT_WORDS,
    STUB, TaskWord, Words, flags, pair, slots_for, stream_bits,
};
use ascend_trace_ring::Producer;

use crate::integers::{self, List};
use crate::objects::{ContextEntry, EventEntry, StreamEntry};
use crate::thread::spill;
use crate::traits::Traits;
use crate::{given, identity, quiet, session, stubs, thread};

/// A call that has returned.
pub(crate) struct CallRecord<'a> {
    pub(crate) id: usize,
    pub(crate) function: &'static Function,
    pub(crate) traits: &'static Traits,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) result: u64,
    pub(crate) depth: u8,
    pub(crate) device: Option<u8>,
    pub(crate) stream: Option<u64>,
    pub(crate) object: Option<u64>,
    pub(crate) task: Option<TaskWord>,
    /// The word that names a graph and a node or replay of it.
    pub(crate) graph: Option<u64>,
    pub(crate) args: &'a [u64],
}

const PLAIN: Header = Header {
    kind: RecordKind::Call,
    slots: 0,
    aux: 0,
    depth: 0,
    flags: 0,
    device: None,
};

/// Words of a call before its optional ones: header, begin, duration and code.
const FIXED_WORDS: usize = 3;

/// Records a call. Answers whether it was the first one to go into a new segment.
#[inline]
pub(crate) fn call(state: &thread::State, call: &CallRecord<'_>) -> bool {
    let has_strings = call.traits.has_strings;
    let duration = call.end.wrapping_sub(call.begin);
    let is_long = duration > u64::from(u32::MAX);
    let is_wide = call.result as i64 != i64::from(call.result as i32);
    let flags = flag(call.stream.is_some(), flags::STREAM)
        | flag(call.object.is_some(), flags::OBJECT)
        | flag(call.task.is_some(), flags::TASK)
        | flag(is_long, flags::LONG)
        | flag(is_wide, flags::WIDE)
        | flag(has_strings, flags::BLOBS)
        | flag(call.graph.is_some(), flags::GRAPH);
    let optional = (flags & !flags::BLOBS).count_ones() as usize;
    let stub = call.id.checked_sub(usize::from(STUB));
    let mut words = FIXED_WORDS + optional + call.args.len() + usize::from(stub.is_some());
    let list = if has_strings {
        integers::of(call)
    } else {
        None
    };
    if has_strings {
        words += strings(call, list.as_ref())
            .map(|text| 1 + text.map_or(0, |t| t.len().div_ceil(8)))
            .sum::<usize>();
    }
    let slots = slots_for(words).min(MAX_SLOTS);
    let mut is_first = false;
    let mut has_channel = false;
    state.record(|producer| {
        has_channel = true;
        if !stub.is_none_or(|index| introduce_stub(state, producer, index)) {
            producer.count_dropped(RecordKind::Call);
            return;
        }
        let Some(room) = producer.reserve(slots) else {
            producer.count_dropped(RecordKind::Call);
            return;
        };
        let mut record = Words::new(room);
        record.push(call.begin);
        record.push(pair(
            if is_long { u32::MAX } else { duration as u32 },
            call.result as u32,
        ));
        let task = call.task.map(TaskWord::encode);
        let long = is_long.then_some(call.end);
        let wide = is_wide.then_some(call.result);
        for word in [call.stream, call.object, task, long, wide, call.graph]
            .into_iter()
            .flatten()
        {
            record.push(word);
        }
        if stub.is_some() {
            record.push(call.args.len() as u64);
        }
        for word in call.args {
            record.push(*word);
        }
        if has_strings {
            for text in strings(call, list.as_ref()) {
                match text {
                    Some(text) => record.push_string(text),
                    None => record.push(NULL_STRING),
                }
            }
        }
        let aux = call.id as u16;
        let slots = record.finish(Header {
            aux,
            depth: call.depth,
            flags,
            device: call.device,
            ..PLAIN
        });
        is_first = producer.publish(slots);
    });
    if !has_channel {
        state.count_lost();
    }
    is_first
}

/// Records a call that was under way as `words` tell, and did not return.
pub(crate) fn left(state: &thread::State, words: &[u64; SLOT_WORDS], end: u64) {
    let Some(header) = Header::decode(words[0]) else {
        return;
    };
    let (stream, args) = thread::open::told(words, header);
    let [_, begin, ..] = *words;
    let mut record = [0; spill::WORDS];
    let mut record = Words::new(&mut record);
    record.push(begin);
    let duration = end.wrapping_sub(begin);
    let is_long = duration > u64::from(u32::MAX);
    record.push(pair(if is_long { u32::MAX } else { duration as u32 }, 0));
    for word in stream.into_iter().chain(is_long.then_some(end)) {
        record.push(word);
    }
    let stub = header.aux.checked_sub(STUB).map(usize::from);
    if stub.is_some() {
        record.push(0);
    } else {
        args.iter().for_each(|word| record.push(*word));
    }
    let record = record.finished(Header {
        flags: flag(stream.is_some(), flags::STREAM) | flag(is_long, flags::LONG) | flags::LEFT,
        ..header
    });
    let mut has_channel = false;
    state.record(|producer| {
        has_channel = true;
        let known = stub.is_none_or(|index| introduce_stub(state, producer, index));
        match producer
            .reserve(record.len() / SLOT_WORDS)
            .filter(|_| known)
        {
            Some(room) => {
                room.copy_from_slice(record);
                producer.publish(record.len() / SLOT_WORDS);
            }
            None => producer.count_dropped(RecordKind::Call),
        }
    });
    if !has_channel {
        state.count_lost();
    }
}

/// Puts a call aside that has returned while the tracer was at work in its thread, or counts it.
/// Nothing but its arguments is told of it.
pub(crate) fn put_aside(
    state: &thread::State,
    id: usize,
    args: &[u64],
    result: u64,
    (begin, end): (u64, u64),
) {
    let stub = id.checked_sub(usize::from(STUB));
    let duration = end.wrapping_sub(begin);
    let is_long = duration > u64::from(u32::MAX);
    let is_wide = result as i64 != i64::from(result as i32);
    let words = FIXED_WORDS + usize::from(is_long) + usize::from(is_wide) + args.len();
    if stub.is_some_and(|index| state.lacks_stub(index)) || words >= spill::WORDS {
        return state.count_lost();
    }
    let mut buffer = [0; spill::WORDS];
    let mut record = Words::new(&mut buffer);
    record.push(begin);
    record.push(pair(
        if is_long { u32::MAX } else { duration as u32 },
        result as u32,
    ));
    let long = is_long.then_some(end);
    for word in long.into_iter().chain(is_wide.then_some(result)) {
        record.push(word);
    }
    let count = stub.map(|_| args.len() as u64);
    for word in count.iter().chain(args) {
        record.push(*word);
    }
    record.finish(Header {
        aux: id as u16,
        depth: state.depth(),
        flags: flag(is_long, flags::LONG) | flag(is_wide, flags::WIDE),
        ..PLAIN
    });
    state.put_aside(&buffer);
}

/// Makes sure that the channel has told the name of a stub's function; `false` when it is full.
fn introduce_stub(state: &thread::State, producer: &mut Producer, index: usize) -> bool {
    if !state.lacks_stub(index) {
        return true;
    }
    let Some((name, shape)) = stubs::known(index) else {
        return false;
    };
    let told = other(
        producer,
        RecordKind::Function,
        index as u16,
        &[shape as u64],
        &[name],
    );
    if told {
        state.has_stub_now(index);
    }
    told
}

const fn flag(set: bool, flag: u8) -> u8 {
    if set { flag } else { 0 }
}

/// The arguments of a call that are told as texts; `None` for NULL.
fn strings<'a>(
    call: &'a CallRecord<'_>,
    list: Option<&'a List>,
) -> impl Iterator<Item = Option<&'a [u8]>> {
    let texts = call.function.args.iter().zip(call.args);
    texts
        .filter(|(arg, _)| arg.kind.is_text() && !arg.out)
        .map(move |(arg, word)| match arg.kind {
            ArgKind::Integers => list.and_then(List::text),
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
fn other(
    producer: &mut Producer,
    kind: RecordKind,
    aux: u16,
    words: &[u64],
    texts: &[&[u8]],
) -> bool {
    let blobs: usize = texts
        .iter()
        .map(|text| 1 + text.len().min(MAX_STRING).div_ceil(8))
        .sum();
    let slots = slots_for(1 + words.len() + blobs);
    let Some(room) = producer.reserve(slots) else {
        producer.count_dropped(kind);
        return false;
    };
    let mut record = Words::new(room);
    words.iter().for_each(|word| record.push(*word));
    texts.iter().for_each(|text| record.push_string(text));
    let slots = record.finish(Header { kind, aux, ..PLAIN });
    producer.publish(slots);
    true
}

/// Records from inside the tracer; the thread is marked busy meanwhile.
fn from_inside(kind: RecordKind, aux: u16, words: &[u64]) {
    thread::with(|state| {
        state.record(|producer| {
            other(producer, kind, aux, words, &[]);
        });
    });
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
    let words = [u64::from(thread::tid())];
    other(producer, RecordKind::Thread, 0, &words, &[until_nul(name)]);
}

/// A child is a process of its own.
pub(crate) fn announce_again() {
    ANNOUNCED.store(false, Relaxed);
}

/// Texts of a part of a command line.
const COMMAND_TEXTS: usize = 7;

/// What the process was started with, as far as it is kept.
fn command(producer: &mut Producer) {
    let (line, goes_on) = identity::command_line();
    let mut left = line.len();
    for (part, bytes) in line.chunks(COMMAND_TEXTS * MAX_STRING).enumerate() {
        let mut texts: [&[u8]; COMMAND_TEXTS] = [&[]; COMMAND_TEXTS];
        let mut used = 0;
        for (place, text) in texts.iter_mut().zip(bytes.chunks(MAX_STRING)) {
            *place = text;
            used += 1;
        }
        left = left.saturating_sub(bytes.len());
        let words = [used as u64, u64::from(goes_on && left == 0)];
        let texts = texts.get(..used).unwrap_or(&[]);
        other(producer, RecordKind::Command, part as u16, &words, texts);
    }
}

fn process(producer: &mut Producer) {
    let pid = quiet::pid();
    let mut path = [0u8; 1024];
    if !quiet::is_allowed() {
        let words = [pair(pid, 0), session::process_key()];
        other(producer, RecordKind::Process, 0, &words, &[&[], &[]]);
        return;
    }
    command(producer);
    // SAFETY: always succeeds.
    let parent = unsafe { libc::getppid() as u32 };
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
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(&[]);
    let rank = RANK_VARIABLES
        .iter()
        .find_map(|name| variable_value(name).filter(|value| is_rank(value)))
        .unwrap_or(&[]);
    let words = [pair(pid, parent), session::process_key()];
    other(producer, RecordKind::Process, 0, &words, &[name, rank]);
}

fn variable_value(name: &str) -> Option<&'static [u8]> {
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
    tell_stream(stream, stream.acl_id.load(Relaxed) >= 0, manner as u16);
}

fn tell_stream(stream: &StreamEntry, id_known: bool, manner: u16) {
    let id = stream.acl_id.load(Relaxed) as u32;
    let words = [
        pair(stream.serial.load(Relaxed), stream.context.load(Relaxed)),
        stream.handle(),
        pair(id, stream.device.load(Relaxed)),
        pair(stream.flags.load(Relaxed), stream.priority.load(Relaxed)),
    ];
    let mut aux = manner << stream_bits::MANNER_SHIFT;
    if stream.is_default() {
        aux |= stream_bits::IS_DEFAULT;
    }
    if id_known {
        aux |= stream_bits::HAS_ID;
    }
    from_inside(RecordKind::Stream, aux, &words);
}

pub(crate) fn event(event: &EventEntry, handle: u64, context: u32, flags: u32, creation: u32) {
    let words = [
        pair(event.serial.load(Relaxed), context),
        handle,
        pair(flags, creation),
    ];
    from_inside(RecordKind::Event, 0, &words);
}

pub(crate) fn context(context: &ContextEntry) {
    let words = [
        pair(context.serial.load(Relaxed), context.device.load(Relaxed)),
        context.handle.load(Relaxed),
    ];
    from_inside(RecordKind::Context, u16::from(context.is_default()), &words);
}

/// When a task ran, on the device's clock, and what the host knows about it.
pub(crate) struct TaskTime {
    pub(crate) stream: u32,
    pub(crate) sequence: u32,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) seen: u64,
    /// Ticks before the start event, between it and the task, and after the end event.
    pub(crate) submission: [u64; 3],
    /// Nanoseconds that the event after the task took, and how far off that may be.
    pub(crate) record: (u32, u32),
}

pub(crate) fn task_time(time: &TaskTime) {
    let [entry, begin, closed] = time.submission;
    let words = [
        pair(time.stream, time.sequence),
        time.begin as u64,
        time.end as u64,
        time.seen,
        begin,
        pair(passed(entry, begin), passed(begin, closed)),
        pair(time.record.0, time.record.1),
    ];
    from_inside(RecordKind::TaskTime, Untimed::Timed.code().into(), &words);
}

/// Ticks from one moment to another, as many as a half word holds.
fn passed(from: u64, to: u64) -> u32 {
    u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX)
}

/// That a task will have no time after all.
pub(crate) fn task_untimed(stream: u32, sequence: u32, reason: Untimed) {
    from_inside(
        RecordKind::TaskTime,
        reason.code().into(),
        &[pair(stream, sequence), 0, 0, 0, 0, 0, 0],
    );
}

/// How far one of the tool's own counters has come.
pub(crate) fn counter(what: Counter, value: u64) {
    from_inside(RecordKind::Counter, 0, &[what as u64, value]);
}

/// What the tracer has cost a thread of this process.
pub(crate) fn cost(state: &thread::State, words: &[u64]) {
    state.record(|producer| {
        other(producer, RecordKind::Cost, 0, words, &[]);
    });
}

/// That the program has fetched a function by name.
pub(crate) fn lookup(state: &thread::State, lookup: Lookup, name: &[u8]) {
    state.record(|producer| {
        other(producer, RecordKind::Lookup, lookup as u16, &[], &[name]);
    });
}

/// What came of patching a function, or of loading what would.
pub(crate) fn patch(state: &thread::State, outcome: Outcome, texts: &[&[u8]]) {
    state.record(|producer| {
        other(producer, RecordKind::Patch, outcome as u16, &[], texts);
    });
}

/// A library that was loaded. Its path is told in parts as long as a text may be.
pub(crate) fn library(state: &thread::State, path: &[u8]) {
    let mut parts: [&[u8]; 7] = [&[]; 7];
    let mut used = 0;
    for (place, part) in parts.iter_mut().zip(path.chunks(MAX_STRING)) {
        *place = part;
        used += 1;
    }
    let parts = parts.get(..used).unwrap_or(&[]);
    let words = [used as u64];
    state.record(|producer| {
        other(producer, RecordKind::Library, 0, &words, parts);
    });
}

/// That what `key` stands for has a name from now on.
pub(crate) fn name(state: &thread::State, key: u64, ticks: u64, name: &[u8]) {
    state.record(|producer| {
        other(producer, RecordKind::Name, 0, &[key, ticks], &[name]);
    });
}

/// A comparison of the device's clock with the host's.
pub(crate) fn anchor(device: u32, before: u64, after: u64, device_ns: i64, source: AnchorSource) {
    let words = [u64::from(device), before, after, device_ns as u64];
    from_inside(RecordKind::Anchor, source as u16, &words);
}
