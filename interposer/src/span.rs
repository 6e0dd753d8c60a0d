//! Facts about a running call.

use core::ffi::c_void;

use ascend_trace_format::api::{ArgPart, Function, Untimed};
use ascend_trace_format::record::CpuTime;

use crate::filters::LeftOut;
use crate::function_facts::Traits;
use crate::objects::{ContextEntry, StreamEntry};
use crate::thread::{self, EnclosingCalls};
use crate::timing::lane::{KeptOut, UntimedSubmission};
use crate::timing::running_waits::Waiting;
use crate::timing::submit::Submission;

/// A call under way. If the real function never returns normally (an exception, a thread that
/// exits inside it), dropping the span still leaves the thread's state right.
pub(crate) struct Span {
    pub(crate) id: usize,
    /// It came while the tracer was at work in its thread.
    pub(crate) is_inside: bool,
    /// Whether it leaves no record: decided at its begin.
    pub(crate) left_out: LeftOut,
    /// Word 0 of the call while it is running.
    pub(crate) head: u64,
    pub(crate) function: &'static Function,
    pub(crate) traits: &'static Traits,
    pub(crate) begin: u64,
    /// Processor time of the thread until it began, after a pause.
    pub(crate) cpu: Option<CpuTime>,
    pub(crate) around: EnclosingCalls,
    pub(crate) device: Option<u8>,
    pub(crate) stream: Option<&'static StreamEntry>,
    /// The context that it destroys, and whether it destroys its stream.
    pub(crate) ends_context: Option<&'static ContextEntry>,
    pub(crate) ends_stream: bool,
    /// The word that names an event and its generation.
    pub(crate) object: Option<u64>,
    pub(crate) task: TaskState,
    pub(crate) step: Step,
    /// The word that names a graph and a node or replay of it.
    pub(crate) graph: Option<u64>,
    /// Held while a task that is not measured is being submitted.
    pub(crate) untimed_submission: Option<UntimedSubmission>,
    /// What others must heed while the call lasts.
    pub(crate) hold: Hold,
}

/// Facts about the task that a call may submit.
pub(crate) enum TaskState {
    /// The call submits nothing, or its submission belongs to the task of an enclosing call.
    None,
    Untimed(Untimed),
    Timed(Submission),
}

/// What threads that read times must heed while a call lasts.
pub(crate) enum Hold {
    None,
    /// It waits for a stream.
    Waiting {
        #[expect(dead_code, reason = "lasts as long as the call")]
        lasting: Waiting,
    },
    /// It takes a stream apart.
    Ends(KeptOut),
}

/// What must be remembered of captures and graphs from a call's entry to its return.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    None,
    /// A task for a stream that is being captured into the graph with this serial.
    Captured(u32),
    /// A wait for an event that was captured: the stream is about to join the capture.
    Joining,
    /// A task for a stream of a hand-built model, or one that replaces a captured task.
    Bound,
    /// The call begins a capture; holds the note about it.
    Begins(Option<u32>),
    /// The call ends a capture of the graph with this serial, 0 when it was not seen.
    Ends(u32),
    /// The call binds a stream, or begins an update on it, and its entry says so already.
    Binds,
    /// The call is about the graph with this serial.
    About(u32),
}

impl Span {
    /// Ticks at the call's entry.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// The call is about to give its stream a function of the program, with the argument `data`. Returns both for the runtime:
    /// those of the tool, where the stream waits for the function and the tool measures its task.
    pub(crate) fn host(
        &mut self,
        args: &[u64],
        function: *mut c_void,
        data: *mut c_void,
    ) -> (*mut c_void, *mut c_void) {
        let blocking = self.function.part(ArgPart::Blocking);
        let blocks = blocking.and_then(|place| args.get(usize::from(place)));
        match &mut self.task {
            TaskState::Timed(submission) if blocks != Some(&0) => submission.host(function, data),
            _ => (function, data),
        }
    }

    /// Ends the things that were begun for the call: its task, and the turn that other threads wait
    /// for.
    pub(crate) fn let_go(&mut self) {
        self.untimed_submission = None;
        self.task = TaskState::None;
        self.hold = Hold::None;
    }
}

impl Drop for Span {
    /// The real function did not return.
    #[cold]
    fn drop(&mut self) {
        self.let_go();
        thread::with(|state| match self.is_inside {
            true => {
                state.end_inside();
                state.count_lost();
            }
            false => {
                state.leave_behind(self.around.depth);
                state.ascend(self.around);
            }
        });
    }
}
