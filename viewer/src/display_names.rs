//! How things are called: streams, events, lanes, arguments, results.

use ascend_trace_analysis::messages_in_words;
use ascend_trace_format::api::{ArgKind, RetKind};
use ascend_trace_recording::{Argument, Call, Ending, Generation, StreamId, ThreadId, Trace};

use crate::item::TrackKey;
use crate::text::bytes;

/// How a stream is called.
pub(crate) fn stream(trace: &Trace, id: StreamId) -> String {
    format!("stream {}", trace.stream(id).number())
}

/// How a stream is called by someone who looks at a device: other devices are named.
pub(crate) fn stream_from(trace: &Trace, id: StreamId, device: Option<u32>) -> String {
    let its_device = trace.stream(id).device;
    match device {
        Some(device) if device != its_device => {
            format!("device {its_device} {}", stream(trace, id))
        }
        _ => stream(trace, id),
    }
}

/// How an event is called.
pub(crate) fn event(trace: &Trace, generation: Generation) -> String {
    format!("E{}", trace.event(generation.event).serial)
}

/// An event and which of its records is meant.
fn event_record(trace: &Trace, generation: Generation) -> String {
    let name = event(trace, generation);
    match generation.number {
        0 => format!("{name} (not recorded yet)"),
        number => format!("{name} (record {number})"),
    }
}

/// How a thread is called.
pub(crate) fn thread(trace: &Trace, id: ThreadId) -> String {
    let thread = trace.thread(id);
    let process = trace.process(thread.process);
    let is_main = process.pid == thread.tid && process.name.starts_with(&thread.name);
    match thread.name.as_str() {
        // The first thread has the name of the process, which says nothing new.
        _ if is_main => format!("thread {} main", thread.tid),
        "" => format!("thread {}", thread.tid),
        name => format!("thread {} {name}", thread.tid),
    }
}

/// How a communicator is called: by its name, else by its handle.
pub(crate) fn communicator(trace: &Trace, comm: u64, stream: StreamId) -> String {
    let process = trace.stream(stream).process;
    let name = trace.name_of(process, comm, i64::MAX);
    name.map_or_else(|| format!("HCCL {comm:#x}"), |name| format!("HCCL {name}"))
}

/// How a lane is called by someone who sees no other lane.
pub(crate) fn lane(trace: &Trace, key: TrackKey) -> String {
    match key {
        TrackKey::Stream(id) => {
            let its = trace.stream(id);
            let default = if its.is_default { " default" } else { "" };
            format!("device {} {}{default}", its.device, stream(trace, id))
        }
        TrackKey::Nodes(id) => format!("nodes of {}", lane(trace, TrackKey::Stream(id))),
        TrackKey::Callbacks(id) => format!("callbacks of {}", lane(trace, TrackKey::Stream(id))),
        TrackKey::Collectives(comm, id) => {
            let its = trace.stream(id);
            let name = communicator(trace, comm, id);
            format!("device {} {name} on {}", its.device, stream(trace, id))
        }
        TrackKey::Ranges(id, _) => format!("ranges of {}", thread(trace, id)),
        TrackKey::Memory(_, place) => format!("memory of {place}"),
        TrackKey::Cost(id) => format!("tracer overhead in process {}", trace.process(id).pid),
        TrackKey::Losses(id) => format!("losses of process {}", trace.process(id).pid),
        TrackKey::Thread(id, 0) => thread(trace, id),
        TrackKey::Thread(id, depth) => format!("{} nested {depth}", thread(trace, id)),
    }
}

/// The arguments of a call by name.
pub(crate) fn arguments(trace: &Trace, call: &Call) -> Vec<(String, String)> {
    let function = trace.function(call.function);
    let mut strings = trace.strings(call).iter();
    let values = function.args.iter().zip(trace.args(call));
    let words = values.enumerate().map(|(index, (argument, word))| {
        let position = u8::try_from(index).ok();
        let value = match argument.kind {
            ArgKind::Stream if position == function.stream => call
                .stream
                .map_or_else(|| hex(*word), |id| stream(trace, id)),
            ArgKind::Event if position == function.event => {
                let known = call.event.map(|it| event_record(trace, it));
                known.unwrap_or_else(|| hex(*word))
            }
            ArgKind::String => match strings.next() {
                Some(Some(text)) => format!("\"{text}\""),
                _ => "NULL".to_owned(),
            },
            kind if kind.is_text() => match strings.next() {
                Some(Some(text)) => {
                    messages_in_words(trace, argument, text).unwrap_or_else(|| text.to_string())
                }
                _ => "NULL".to_owned(),
            },
            _ => value(trace, argument, *word),
        };
        (argument.name.clone(), value)
    });
    words.collect()
}

fn value(trace: &Trace, argument: &Argument, word: u64) -> String {
    match argument.kind {
        ArgKind::Int | ArgKind::Timeout | ArgKind::Device => word.cast_signed().to_string(),
        ArgKind::Uint => word.to_string(),
        ArgKind::Size => bytes(word),
        ArgKind::Float => f64::from_bits(word).to_string(),
        ArgKind::Enum => {
            let number = word.cast_signed();
            let constant = trace.constant(&argument.enumeration, number);
            constant.map_or_else(|| number.to_string(), str::to_owned)
        }
        ArgKind::Pointer
        | ArgKind::Stream
        | ArgKind::Event
        | ArgKind::Context
        | ArgKind::String
        | ArgKind::Integers
        | ArgKind::Scalar
        | ArgKind::RootInfo
        | ArgKind::Heap
        | ArgKind::Regions
        | ArgKind::RegionRefs
        | ArgKind::Messages
        | ArgKind::Function
        | ArgKind::Handle => hex(word),
    }
}

fn hex(word: u64) -> String {
    match word {
        0 => "NULL".to_owned(),
        _ => format!("{word:#x}"),
    }
}

/// The result of a call, or that it did not return; `None` for functions without a result.
pub(crate) fn result(trace: &Trace, call: &Call) -> Option<String> {
    match call.ending {
        Ending::Returned => {}
        Ending::Left => return Some("did not return: left".to_owned()),
        Ending::Open => return Some("did not return: still open at the end".to_owned()),
    }
    Some(match trace.function(call.function).ret {
        RetKind::Void => return None,
        RetKind::Error => match trace.error_name(call.ret) {
            Some(name) => format!("{name} ({})", call.ret),
            None if call.ret == 0 => "success (0)".to_owned(),
            None => format!("error {}", call.ret),
        },
        RetKind::Int | RetKind::Wide => call.ret.to_string(),
        RetKind::Pointer => hex(call.ret.cast_unsigned()),
        RetKind::Float => f32::from_bits(call.ret as u32).to_string(),
    })
}
