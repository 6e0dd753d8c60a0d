//! Calls, tasks and stalls in words.

use ascend_trace_analysis::{Cause, Stall};
use ascend_trace_format::api::{ArgKind, RetKind, Untimed};
use ascend_trace_model::{Argument, Call, Generation, StreamId, Trace};

use crate::app::App;
use crate::item::Item;
use crate::text::{bytes, duration, short_name};

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

/// Why a task has no device time.
pub(crate) fn untimed(reason: Untimed) -> &'static str {
    match reason {
        Untimed::Timed => "its time has not been read yet",
        Untimed::Off => "timing is off",
        Untimed::Captured => "it was captured into a graph, not run",
        Untimed::Bound => "its stream is bound to a model",
        Untimed::NoEvent => "no device event was left to time it",
        Untimed::Contended => "another thread was submitting to its stream",
        Untimed::Failed => "the call failed",
        Untimed::Unreadable => "the runtime did not give its time back",
        Untimed::Lost => "the program ended before its time was read",
        Untimed::HostCopy => "the host copied it: there was no device task",
        Untimed::InCallback => "it was submitted inside a callback",
        Untimed::Unknown => "its stream was not seen being made",
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

/// What a call returned; nothing for functions that return nothing.
pub(crate) fn result(trace: &Trace, call: &Call) -> Option<String> {
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

/// A stall in words, the longest form first and its mere length last.
pub(crate) fn stall(app: &App, trace: &Trace, stall: &Stall) -> Vec<String> {
    let length = duration(stall.end.saturating_sub(stall.begin));
    let culprit = stall.culprit(trace, &app.dependencies);
    let device = match Item::from(stall.node) {
        Item::Task(task) => Some(trace.stream(trace.task(task).stream).device),
        Item::Call(call) => trace.call(call).device.map(u32::from),
    };
    let what = match stall.cause {
        Cause::EventWait => {
            let event = culprit.event.map(|it| event(trace, it));
            format!("waits {}", event.as_deref().unwrap_or("for an event"))
        }
        Cause::SignalWait => "waits for a notify or value".to_owned(),
        Cause::HostLate => return idle("host late", &length),
        Cause::HostBlocked => return idle("host blocked", &length),
        Cause::Callback => return idle("host function", &length),
        Cause::GraphLaunch => return idle("graph launch", &length),
        Cause::CollectivePeer => return idle("waits for a peer", &length),
        Cause::Drained => return idle("nothing more to do", &length),
        Cause::Switch | Cause::Unknown => return idle("idle", &length),
        Cause::QueueFull if stall.is_gap() => return idle("host held up by a full queue", &length),
        Cause::HostSync | Cause::HostCopy | Cause::QueueFull => {
            short_name(Item::from(stall.node).name(trace)).to_owned()
        }
    };
    let stream = culprit.stream.map(|id| stream_from(trace, id, device));
    let task = culprit.task.map(|id| Item::Task(id).label(trace));
    let task = task.as_deref().map(short_name);
    let from = stream.map(|it| format!(" ← {it}")).unwrap_or_default();
    let task = task.map(|it| format!(" '{it}'")).unwrap_or_default();
    let short = match stall.cause {
        Cause::EventWait | Cause::SignalWait => what.trim_start_matches("waits ").to_owned(),
        Cause::QueueFull => "queue full".to_owned(),
        _ => "sync".to_owned(),
    };
    vec![
        format!("{what}{from}{task} {length}"),
        format!("{short}{from}{task} {length}"),
        format!("{short}{from} {length}"),
        format!("{short} {length}"),
        length,
    ]
}

fn idle(why: &str, length: &str) -> Vec<String> {
    vec![format!("{why} {length}"), length.to_owned()]
}
