//! Messages to and from other ranks that one call passes together.

use ascend_trace_format::api::ArgKind;
use ascend_trace_recording::{Argument, Call, Trace};

use crate::collectives::{Peer, width};
use crate::number_list::{is_cut, numbers};

/// The kinds of a message, by number.
const KINDS: [Peer; 2] = [Peer::Destination, Peer::Source];

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message<'t> {
    /// The other rank of the group, and the direction.
    pub(crate) peer: (Peer, u64),
    pub(crate) count: u64,
    pub(crate) data_type: Option<&'t str>,
}

impl Message<'_> {
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.count.checked_mul(self.data_type.and_then(width)?)
    }
}

/// The messages of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Messages<'t> {
    /// The call passes no array of messages.
    None,
    /// Not all of them are in the recording.
    Unknown,
    Known(Vec<Message<'t>>),
}

impl<'t> Messages<'t> {
    pub(crate) fn of(trace: &'t Trace, call: &Call) -> Self {
        let mut args = trace.function(call.function).args.iter().enumerate();
        let Some((position, argument)) = args.find(|(_, it)| it.kind == ArgKind::Messages) else {
            return Self::None;
        };
        let data_type = |value| trace.constant(&argument.enumeration, value);
        let text = trace.text(call, position).filter(|it| !is_cut(it));
        let Some(words) = text.map(numbers) else {
            return Self::Unknown;
        };
        let messages = words.chunks(4).map(|words| message(words, data_type));
        messages
            .collect::<Option<_>>()
            .map_or(Self::Unknown, Self::Known)
    }
}

/// The messages of an argument in words, such as `send 1024 HCCL_DATA_TYPE_FP32 to rank 2`. `None` for another argument, and for a
/// text of another form.
pub fn messages_in_words(trace: &Trace, argument: &Argument, text: &str) -> Option<String> {
    if argument.kind != ArgKind::Messages {
        return None;
    }
    let words = numbers(text);
    let data_type = |value| trace.constant(&argument.enumeration, value);
    let messages = words.chunks_exact(4).map(|words| {
        let message = message(words, data_type)?;
        let (verb, peer) = match message.peer {
            (Peer::Destination, rank) => ("send", format!("to rank {rank}")),
            (_, rank) => ("receive", format!("from rank {rank}")),
        };
        let data_type = match message.data_type {
            Some(name) => name.to_owned(),
            None => format!("elements of type {}", words[2]),
        };
        Some(format!("{verb} {} {data_type} {peer}", message.count))
    });
    let messages: Vec<String> = messages.collect::<Option<_>>()?;
    let rest = if is_cut(text) { "; …" } else { "" };
    let is_whole = words.len().is_multiple_of(4) || is_cut(text);
    (is_whole && !messages.is_empty()).then(|| messages.join("; ") + rest)
}

/// A message by its words: kind, count, data type and rank.
fn message<'t>(
    words: &[i64],
    name_of_type: impl Fn(i64) -> Option<&'t str>,
) -> Option<Message<'t>> {
    let [kind, count, data_type, rank] = *words else {
        return None;
    };
    let direction = KINDS.get(usize::try_from(kind).ok()?)?;
    Some(Message {
        peer: (*direction, u64::try_from(rank).ok()?),
        count: count.cast_unsigned(),
        data_type: name_of_type(data_type),
    })
}
