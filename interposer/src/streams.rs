//! Telling the trace of streams.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::{Manner, kinds};

use crate::contexts::adopt_context;
use crate::emit::from_inside;
use crate::objects::StreamEntry;
use crate::thread::ThreadState;
use crate::timing::api;

/// Records a stream, with its present facts.
pub(crate) fn tell(stream: &StreamEntry, id_known: bool) {
    tell_stream(stream, id_known, 0);
}

/// A task was submitted to a stream that was made before this library came into the process: so the stream exists, and belongs to the
/// context of the calling thread. From now on its tasks can be timed.
#[cold]
pub(crate) fn take_over(stream: &StreamEntry, state: &ThreadState) {
    let (Some(api), Some(context)) = (api::get(), adopt_context(state)) else {
        return;
    };
    let (known, current) = (stream.context.load(Relaxed), context.serial.load(Relaxed));
    if known != 0 && known != current {
        return;
    }
    // Streams for models show it in their flags.
    let Some(flags) = api.stream_flags(stream.handle()) else {
        return;
    };
    stream.flags.store(flags, Relaxed);
    stream.context.store(current, Relaxed);
    stream.device.store(context.device.load(Relaxed), Relaxed);
    stream.was_made.store(true, Relaxed);
    tell(stream, stream.id_known.load(Relaxed));
}

/// How the tasks of a stream are timed from now on.
pub(crate) fn tell_manner(stream: &StreamEntry, manner: Manner) {
    tell_stream(stream, stream.acl_id.load(Relaxed) >= 0, manner.code());
}

fn tell_stream(stream: &StreamEntry, id_known: bool, manner: u8) {
    from_inside(&kinds::Stream {
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
