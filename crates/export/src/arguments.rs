//! A call's arguments and result as JSON members, by the meanings that the trace's tables give.

use ascend_trace_format::api::{ArgKind, RetKind};
use ascend_trace_model::{Argument, Call, Trace};

use crate::json::Json;

/// Writes every argument as a member named after it.
pub(crate) fn write_arguments(json: &mut Json, trace: &Trace, call: &Call) {
    let mut strings = trace.strings(call).iter();
    let arguments = &trace.function(call.function).args;
    for (argument, word) in arguments.iter().zip(trace.args(call)) {
        json.name(&argument.name);
        match argument.kind {
            ArgKind::String => match strings.next() {
                Some(Some(text)) => json.string(text),
                _ => json.null(),
            },
            _ => write_word(json, trace, argument, *word),
        }
    }
}

fn write_word(json: &mut Json, trace: &Trace, argument: &Argument, word: u64) {
    match argument.kind {
        ArgKind::Int | ArgKind::Timeout => json.integer(word as i64),
        ArgKind::Uint | ArgKind::Size | ArgKind::Device => json.unsigned(word),
        ArgKind::Float => json.float(f64::from_bits(word)),
        ArgKind::Enum => match trace.constant(&argument.enumeration, word as i64) {
            Some(constant) => json.string(constant),
            None => json.integer(word as i64),
        },
        ArgKind::Pointer
        | ArgKind::Stream
        | ArgKind::Event
        | ArgKind::Context
        | ArgKind::Function
        | ArgKind::Handle
        | ArgKind::String => json.address(word),
    }
}

/// Writes what the call returned as `ret`, and the name of an error code as `ret_name`.
pub(crate) fn write_result(json: &mut Json, trace: &Trace, call: &Call) {
    match trace.function(call.function).ret {
        RetKind::Void => {}
        RetKind::Error => {
            json.name("ret").integer(call.ret);
            if let Some(name) = trace.error_name(call.ret) {
                json.name("ret_name").string(name);
            }
        }
        RetKind::Int | RetKind::Wide => json.name("ret").integer(call.ret),
        RetKind::Pointer => json.name("ret").address(call.ret as u64),
        RetKind::Float => json
            .name("ret")
            .float(f64::from(f32::from_bits(call.ret as u32))),
    }
}
