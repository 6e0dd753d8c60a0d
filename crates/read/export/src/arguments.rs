//! A call's arguments and result as named values, by the meanings that the trace's tables give.

use ascend_trace_analysis::messages_in_words;
use ascend_trace_format::api::{ArgKind, RetKind};
use ascend_trace_recording::{Argument, Call};

use crate::ExportSource;
use crate::fields::{FieldName, FieldWriter};

/// Under which name an argument is written.
pub(crate) type ArgumentNaming = fn(&Argument) -> FieldName<'_>;

/// Writes every argument.
pub(crate) fn write_arguments<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    call: &Call,
    name_of: ArgumentNaming,
) {
    let trace = source.trace;
    let mut strings = trace.strings(call).iter();
    let arguments = &trace.function(call.function).args;
    for (place, (argument, word)) in arguments.iter().zip(trace.args(call)).enumerate() {
        let name = name_of(argument);
        match argument.kind {
            kind if kind.is_text() => match strings.next() {
                Some(Some(text)) => match messages_in_words(trace, argument, text) {
                    Some(words) => fields.text(name, &words),
                    None => fields.text(name, text),
                },
                _ => fields.nothing(name),
            },
            ArgKind::Enum => {
                let (at, value) = ((call.function, place), *word as i64);
                match source.constants.argument(trace, at, argument, value) {
                    Some(constant) => fields.word(name, constant),
                    None => fields.integer(name, value),
                }
            }
            _ => write_word(fields, (argument, name), *word),
        }
    }
}

/// An argument's name.
pub(crate) fn plain_name(argument: &Argument) -> FieldName<'_> {
    FieldName::of(&argument.name)
}

/// The name of an argument, unless every slice has a field of that name.
pub(crate) fn slice_name(argument: &Argument) -> FieldName<'_> {
    match argument.name.as_str() {
        "stream" => "stream_handle".into(),
        "device" => "device_argument".into(),
        "correlation" => "correlation_argument".into(),
        name => FieldName::of(name),
    }
}

fn write_word<'t>(
    fields: &mut impl FieldWriter<'t>,
    (argument, name): (&'t Argument, FieldName<'t>),
    word: u64,
) {
    match argument.kind {
        ArgKind::Int | ArgKind::Timeout | ArgKind::Enum => fields.integer(name, word as i64),
        ArgKind::Uint | ArgKind::Size | ArgKind::Device => fields.unsigned(name, word),
        ArgKind::Float => fields.float(name, f64::from_bits(word)),
        ArgKind::Pointer
        | ArgKind::Stream
        | ArgKind::Event
        | ArgKind::Context
        | ArgKind::Function
        | ArgKind::Handle
        | ArgKind::String
        | ArgKind::Integers
        | ArgKind::Scalar
        | ArgKind::RootInfo
        | ArgKind::Heap
        | ArgKind::Regions
        | ArgKind::RegionRefs
        | ArgKind::Messages => fields.address(name, word),
    }
}

/// Writes the result of a call as `ret`, and the name of an error as `ret_name`; of a call that did not
/// return, how it ended.
pub(crate) fn write_result<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    call: &Call,
) {
    let trace = source.trace;
    if let Some(ending) = call.ending.exported() {
        fields.word("ending", ending);
        return;
    }
    match trace.function(call.function).ret {
        RetKind::Void => {}
        RetKind::Error => {
            fields.integer("ret", call.ret);
            // What succeeded needs no name: nearly all calls do.
            let code = Some(call.ret).filter(|code| *code != 0);
            if let Some(name) =
                code.and_then(|it| source.constants.result(trace, call.function, it))
            {
                fields.word("ret_name", name);
            }
        }
        RetKind::Int | RetKind::Wide => fields.integer("ret", call.ret),
        RetKind::Pointer => fields.address("ret", call.ret as u64),
        RetKind::Float => fields.float("ret", f64::from(f32::from_bits(call.ret as u32))),
    }
}
