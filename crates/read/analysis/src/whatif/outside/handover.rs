//! A wait of a thread outside of AscendCL, in words.

use schemars::JsonSchema;
use serde::Serialize;

use super::Site;
use super::pauses::Source;
use crate::whatif::compact_recording::Facts;

/// A wait of a thread outside of AscendCL, as far as times show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Handover {
    /// Number of the process in the recording.
    pub process: u32,
    pub tid: u32,
    /// The function that it called after the wait.
    pub before: String,
    /// The thread that it seems to wait for, and the function that this one called; without a thread, a function on the
    /// host, or a function that any of several threads called.
    pub by: Option<u32>,
    pub after: String,
    pub count: u64,
}

pub(super) fn handover(
    facts: &Facts,
    (thread, _, next): Site,
    source: Source,
    count: usize,
) -> Handover {
    let function = |shape: u32| {
        let shape = &facts.call_shapes[shape as usize];
        facts.functions[shape.function as usize].0.clone()
    };
    let own = &facts.threads[thread as usize];
    let (by, after) = match source {
        Source::Calls(thread, shape) => (Some(facts.threads[thread as usize].tid), function(shape)),
        Source::AnyCalls(shape) => (None, format!("{} of other threads", function(shape))),
        Source::FunctionEnds(stream) | Source::FunctionBegins(stream) => {
            let place = facts.streams[stream as usize].place;
            let text = format!(
                "a host function on stream {}:{}",
                place.device, place.stream_id
            );
            (None, text)
        }
    };
    Handover {
        process: own.process,
        tid: own.tid,
        before: function(next),
        by,
        after,
        count: count as u64,
    }
}
