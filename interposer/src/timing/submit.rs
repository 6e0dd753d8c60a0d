//! The events around one submission.

use core::sync::atomic::Ordering::{AcqRel, Relaxed};

use ascend_trace_format::api::Untimed;

use crate::objects::{ContextEntry, StreamEntry};
use crate::spin::Guard;
use crate::timing::api::{self, Api};
use crate::timing::lane::{self, Lane, MOST_PENDING, Pair};
use crate::timing::{capture, harvester};
use crate::{emit, thread};

/// A submission between its start event and its end event.
pub(crate) struct Submission {
    api: &'static Api,
    context: &'static ContextEntry,
    lane: &'static Lane,
    _order: Guard<'static, ()>,
    stream: &'static StreamEntry,
    start: u64,
    end: u64,
    entry: u64,
    /// Unmeasured submissions that the lane had seen before the start event.
    strangers: u32,
}

/// How much of a pair a task needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One event before and one after.
    Span,
    /// One event after: an event record takes no time.
    Moment,
}

/// Prepares measuring of a task that is about to be submitted to `stream`, or says why it cannot
/// be measured. The stream is known to be neither captured nor bound.
pub(crate) fn begin(
    stream: &'static StreamEntry,
    state: &thread::State,
    extent: Extent,
    entry: u64,
) -> Result<Submission, Untimed> {
    if state.in_callback() {
        return Err(Untimed::InCallback);
    }
    // Such a stream is for a model that is built by hand, also before it is bound to one.
    if stream.is_for_models() {
        return Err(Untimed::Bound);
    }
    let context = state.context().ok_or(Untimed::Unknown)?;
    if !stream.was_made.load(Relaxed) {
        return Err(Untimed::Unknown);
    }
    if stream.context.load(Relaxed) != context.serial.load(Relaxed) {
        return Err(Untimed::Unknown);
    }
    let api = api::get().ok_or(Untimed::NoEvent)?;
    prepare_context(api, context)?;
    learn_id(api, stream);
    let lane = lane::of(stream, context).ok_or(Untimed::NoEvent)?;
    let order = lane.submission.try_lock().ok_or(Untimed::Contended)?;
    let pending = lane.pending.try_lock().ok_or(Untimed::Contended)?.len();
    if pending >= MOST_PENDING {
        return Err(Untimed::NoEvent);
    }
    let strangers = lane.strangers().ok_or(Untimed::Contended)?;
    let (start, end) = take_events(api, context, extent)?;
    if extent == Extent::Span && !api.record(start, stream.handle()) {
        context.timing.give_event(start);
        context.timing.give_event(end);
        return Err(Untimed::NoEvent);
    }
    Ok(Submission {
        api,
        context,
        lane,
        _order: order,
        stream,
        start,
        end,
        entry,
        strangers,
    })
}

/// The context's handle must be known before its events are: the harvester needs it.
fn prepare_context(api: &Api, context: &'static ContextEntry) -> Result<(), Untimed> {
    if context.timing.is_open() {
        return Ok(());
    }
    let handle = api.current_context().ok_or(Untimed::Unknown)?;
    if context.is_default() {
        crate::objects::name_default_context(context, handle);
    } else if context.handle.load(Relaxed) != handle {
        return Err(Untimed::Unknown);
    }
    context.timing.open();
    harvester::ensure_running();
    Ok(())
}

/// Asks the runtime once for the number by which it and its users know the stream.
fn learn_id(api: &Api, stream: &'static StreamEntry) {
    if stream.id_known.swap(true, AcqRel) {
        return;
    }
    if let Some(id) = api.stream_id(stream.handle()) {
        stream.acl_id.store(id, Relaxed);
        emit::stream(stream, true);
    }
}

fn take_events(api: &Api, context: &ContextEntry, extent: Extent) -> Result<(u64, u64), Untimed> {
    let end = context.timing.take_event(api).ok_or(Untimed::NoEvent)?;
    if extent == Extent::Moment {
        return Ok((end, end));
    }
    match context.timing.take_event(api) {
        Some(start) => Ok((start, end)),
        None => {
            context.timing.give_event(end);
            Err(Untimed::NoEvent)
        }
    }
}

impl Submission {
    /// The real call has returned. `sequence` is the number of the task that it submitted, if it
    /// did. Answers why the task will have no time, if it will not.
    pub(crate) fn finish(self, sequence: Option<u32>) -> Untimed {
        let moment = self.start == self.end;
        if sequence.is_none() && moment {
            self.context.timing.give_event(self.end);
            return Untimed::Timed;
        }
        let mut alone = true;
        // Another thread may have begun to capture the stream meanwhile.
        let may_end = sequence.is_some() && capture::of(self.stream).is_none();
        let pair = if may_end && self.api.record(self.end, self.stream.handle()) {
            alone = self.lane.strangers() == Some(self.strangers);
            Pair {
                start: self.start,
                end: self.end,
                // Events of a pair that cannot be believed only have to come back.
                sequence: sequence.filter(|_| alone),
                entry: self.entry,
            }
        } else {
            self.context.timing.give_event(self.end);
            if moment {
                return Untimed::NoEvent;
            }
            // The start event is on its way: it comes back by itself.
            Pair {
                start: self.start,
                end: self.start,
                sequence: None,
                entry: self.entry,
            }
        };
        self.lane.pending.lock_patiently().push_back(pair);
        match (sequence, pair.sequence) {
            (Some(_), None) if !alone => Untimed::Contended,
            (Some(_), None) => Untimed::NoEvent,
            _ => Untimed::Timed,
        }
    }
}
