//! Whether a task gets events, by the account of its stream.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::Manner;
use ascend_trace_format::record::figure::Work;
use ascend_trace_format::time::Ticks;

use crate::objects::StreamEntry;
use crate::timing::budget::Offer;
use crate::timing::lane::Lane;
use crate::timing::submit::Extent;
use crate::{clock, session, streams};

/// The price of the events of a task, if the budget of a session has room for them. `work` is its sort and its known duration.
pub(super) fn price(
    lane: &Lane,
    stream: &StreamEntry,
    extent: Extent,
    work: Option<(Work, Option<u32>)>,
    entry: u64,
) -> Option<u32> {
    let known = work.and_then(|(_, known)| known);
    let offer = offer(stream, extent, known, entry);
    if let Some(price) = lane.account.takes(offer, session::budget()) {
        return Some(price);
    }
    if let Some((work, known)) = work {
        lane.skipped.skip(work, known);
    }
    if lane.choice.leaves_out() {
        streams::tell_manner(stream, Manner::Sampled);
    }
    None
}

/// A task for the account of its stream.
fn offer(stream: &StreamEntry, extent: Extent, known: Option<u32>, entry: u64) -> Offer {
    let (kind, is_work) = match extent {
        Extent::Work(_, operation) => (operation.kind(), true),
        Extent::Span => (1, false),
        Extent::OpenWait => (2, false),
        Extent::Moment => (3, false),
    };
    let stream = stream.serial.load(Relaxed).wrapping_mul(0x9e37_79b1);
    Offer {
        kind: kind.wrapping_add(stream),
        is_work,
        known,
        now_ns: clock::moment(Ticks::new(entry)).ns(),
    }
}
