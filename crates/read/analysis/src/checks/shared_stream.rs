//! Two threads submitted to one stream at the same time: one call began before the other had returned. Nothing in the
//! program can have put the two calls in order, not even a lock, because a lock would have kept them apart. So which of
//! the two tasks runs first is a matter of chance.
//!
//! If the order matters, hold a lock around the calls, or give each thread a stream and put the streams in order with
//! events. If a thread only needs its own tasks in order, this is intended. Threads that pass `NULL` share the default
//! stream of their context.
//!
//! The check compares the times of the calls. Threads that take turns give no finding, because the program may order them in
//! a way that a recording does not show. Calls that returned an error do not count.
//!
//! To time tasks, the tool lets a submission wait a short time for one of another thread to the same stream. So short
//! calls do not overlap in such a recording. Record with `--timing off` to see them.

use std::collections::HashMap;

use ascend_trace_recording::{CallId, StreamId, ThreadId, Trace};

use super::super::grouping::Sorted;
use super::super::happens_before::NotedCall;
use super::super::{Check, Finding};
use crate::Window;

#[derive(Debug, Default)]
pub(super) struct SharedStream {
    /// By stream: the submissions that lasted the longest, one of each thread.
    inside: HashMap<StreamId, Vec<NotedCall>>,
    found: Sorted<(ThreadId, StreamId)>,
}

impl Check for SharedStream {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        let mut notes: Vec<(StreamId, NotedCall)> = window
            .calls()
            .filter_map(|id| Some((submitted_to(trace, id)?, NotedCall::of(trace, id, wanted(id)))))
            .collect();
        notes.sort_by_key(|(_, note)| (note.begin, note.number));
        for (stream, note) in notes {
            let inside = self.inside.entry(stream).or_default();
            inside.retain(|other| other.end > note.begin);
            let other = inside.iter().find(|other| other.thread != note.thread);
            if let Some(other) = other.filter(|_| note.is_wanted) {
                let process = trace.thread(note.thread).process;
                let finding = finding(trace, &note, other);
                self.found.add(process, (note.thread, stream), finding);
            }
            match inside.iter_mut().find(|other| other.thread == note.thread) {
                Some(other) if other.end < note.end => *other = note,
                Some(_) => {}
                None => inside.push(note),
            }
        }
        let until = window.part.until;
        self.inside.retain(|_, inside| {
            inside.retain(|note| note.end > until);
            !inside.is_empty()
        });
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.found.take()
    }
}

/// The stream that a call gave a task to.
fn submitted_to(trace: &Trace, id: CallId) -> Option<StreamId> {
    let call = trace.call(id);
    let task = call.task.filter(|_| call.result() == Some(0))?;
    Some(trace.task(task).stream)
}

fn finding(trace: &Trace, note: &NotedCall, other: &NotedCall) -> Finding {
    let what = format!(
        "{} was called while thread {} was inside {} for the same stream (call {})",
        note.on_stream(trace),
        trace.thread(other.thread).tid,
        trace.function(other.function).name,
        other.number,
    );
    let advice = "hold a lock around the calls, or give each thread a stream, if the order matters";
    Finding {
        what,
        advice: advice.to_owned(),
        ..Finding::of_note(trace, note)
    }
}
