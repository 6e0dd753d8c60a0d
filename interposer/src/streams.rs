//! Telling the trace of streams.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::{Manner, kinds};

use crate::emit::from_inside;
use crate::objects::StreamEntry;

/// Records a stream, with its present facts.
pub(crate) fn tell(stream: &StreamEntry, id_known: bool) {
    tell_stream(stream, id_known, 0);
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
