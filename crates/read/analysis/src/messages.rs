//! Messages to and from other ranks that one call passes together.

use ascend_trace_format::api::ArgKind;
use ascend_trace_recording::{Call, Trace};

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
