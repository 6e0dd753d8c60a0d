//! One traced call, from its entry to its return.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{RetKind, Role, TaskKind, Untimed, WaitTarget};
use ascend_trace_format::record::{Call, CallHead, TaskWord, flags, pair};

use crate::call_context::Context;
use crate::clock::ticks;
use crate::emit::{self, CallRecord};
use crate::errno::Errno;
use crate::filters::LeftOut;
use crate::function_facts;
use crate::functions::FUNCTIONS;
use crate::objects::StreamEntry;
use crate::outputs::read_outputs;
use crate::span::{Hold, Span, Step, TaskState};
use crate::stubs::shapes::FunctionTraits;
use crate::thread::{Admission, AtWork, EnclosingCalls, ThreadState};
use crate::{
    cost, graph_roles, last_task, loader, roles, session, stacks, streams, thread, window,
    window_borders,
};

/// Number of tasks with an unknown stream.
static STREAMLESS: AtomicU32 = AtomicU32::new(0);

impl Span {
    /// A wrapper has been entered, with the stack at `here`. `None` if the call must not be recorded.
    #[inline]
    pub(crate) fn enter(id: usize, here: usize, args: &[u64]) -> Option<Self> {
        Self::enter_as(
            id,
            here,
            (FUNCTIONS.get(id)?, function_facts::of(id)?),
            args,
        )
    }

    /// The same for a function that is known by its shape only.
    #[inline]
    pub(crate) fn enter_as(
        id: usize,
        here: usize,
        shape: FunctionTraits,
        args: &[u64],
    ) -> Option<Self> {
        thread::with(|state| Self::enter_with(state, (id, here), shape, args))
    }

    fn enter_with(
        state: &ThreadState,
        (id, here): (usize, usize),
        (function, traits): FunctionTraits,
        args: &[u64],
    ) -> Option<Self> {
        let _shield = match state.is_clear() {
            true => None,
            false => state.shield(),
        };
        let is_inside = !(state.is_clear() && session::is_settled_for(state.plain()))
            && match Self::admit(state, here) {
                Admission::Straight => false,
                Admission::Inside => true,
                Admission::Past => return None,
            };
        let mut span = Self {
            id,
            is_inside,
            left_out: window_borders::leaves_out(state, id, Some(function), traits),
            head: 0,
            function,
            traits,
            begin: 0,
            cpu: None,
            around: match is_inside {
                true => EnclosingCalls::unknown(state),
                false => state.around(here),
            },
            device: device_of(state),
            stream: None,
            ends_context: None,
            ends_stream: false,
            object: None,
            task: TaskState::None,
            step: Step::None,
            graph: None,
            untimed_submission: None,
            hold: Hold::None,
        };
        if is_inside {
            if traits.is_runtime {
                state.begin_suppressed(here);
            }
            span.begin = ticks();
            return Some(span);
        }
        if traits.has_role {
            let _errno = Errno::save();
            let entered = ticks();
            let at_work = AtWork::new(entered);
            state.work(&at_work);
            if span.around.depth == 0 {
                span.cpu = state.cpu_before_call(entered);
            }
            roles::before(
                &mut span,
                &Context {
                    state,
                    function,
                    args,
                },
            );
            state.rest();
        }
        if stacks::is_on() && (traits.submits || !span.left_out.is_so()) {
            stacks::note(state, span.around.depth);
        }
        state.descend(span.around, traits.submits, traits.calls_back);
        let stream = span.stream.map(stream_word);
        span.begin = ticks();
        let head = CallHead {
            slots: 1,
            function: id as u16,
            depth: span.around.depth,
            flags: if stream.is_some() { flags::STREAM } else { 0 },
            device: span.device,
        };
        span.head = head.encode();
        state.open_call(head, span.begin, stream, args);
        Some(span)
    }

    #[cold]
    #[inline(never)]
    fn admit(state: &ThreadState, here: usize) -> Admission {
        let _errno = Errno::save();
        state.admit(here)
    }

    /// The real function has returned `result`.
    #[inline]
    pub(crate) fn leave(mut self, args: &mut [u64], result: u64) {
        let end = ticks();
        let (function, is_inside) = (self.function, self.is_inside);
        thread::with(|state| {
            let _shield = match state.is_clear_to_leave() {
                true => None,
                false => state.shield(),
            };
            self.leave_with(state, args, result, end);
        });
        core::mem::forget(self);
        window_borders::call_ends();
        if window::watches_names() && !is_inside {
            window_borders::annotated(function, args, result);
        }
    }

    /// A span has several cache lines: it is not moved.
    fn leave_with(&mut self, state: &ThreadState, args: &mut [u64], result: u64, end: u64) {
        let _errno = Errno::save();
        if self.is_clear(state, args, result, end) {
            let at_work = AtWork::new(end);
            state.work(&at_work);
            self.settle(state, args, result, end);
            match (self.around.depth, self.left_out.is_so()) {
                (0, false) => state.cpu_after_call(self.id as u32, (self.begin, end)),
                // The recording does not contain the time in this call.
                (0, true) => state.forget_cpu(),
                _ => {}
            }
            state.close_call(self.around.depth);
            state.ascend(self.around);
            state.rest();
        } else if !self.is_inside {
            // The things that it holds end with it.
            self.let_go();
            state.close_call(self.around.depth);
            state.ascend(self.around);
        }
        self.let_go();
    }

    /// Whether the call, which has returned, will be recorded. If not, it has been put aside or
    /// counted.
    fn is_clear(&self, state: &ThreadState, args: &mut [u64], result: u64, end: u64) -> bool {
        if self.is_inside {
            state.end_inside();
            if self.left_out.is_so() {
                self.count_filtered(state);
                return false;
            }
            let succeeded = self.function.ret != RetKind::Error || result == 0;
            if succeeded && self.traits.has_outputs {
                read_outputs(self.function, args);
            }
            emit::put_aside(state, self.id, args, result, (self.begin, end));
            return false;
        }
        if !state.is_open(self.head, self.around.depth) && !state.has_lost_list() {
            // It was taken for one that had been left, and recorded as that.
            return false;
        }
        if !state.is_clear_to_leave() && !state.mend(thread::stack()) {
            state.count_lost();
            return false;
        }
        true
    }

    fn settle(&mut self, state: &ThreadState, args: &mut [u64], result: u64, end: u64) {
        let function = self.function;
        self.untimed_submission = None;
        let succeeded = function.ret != RetKind::Error || result == 0;
        let has_role = self.traits.has_role;
        if self.traits.submits {
            let context = Context {
                state,
                function,
                args,
            };
            graph_roles::after_task(self, &context, succeeded);
        }
        let task = if self.traits.submits {
            self.finish_task(state, succeeded, end)
        } else {
            None
        };
        if succeeded && self.traits.submits && loader::walk::is_late() {
            self.take_stream_over(state);
        }
        if succeeded && function.role == Role::LastTaskId {
            last_task::answer(state, args);
        }
        if succeeded && self.traits.has_outputs {
            read_outputs(function, args);
        }
        let context = Context {
            state,
            function,
            args,
        };
        if has_role {
            roles::after(self, &context, succeeded, result);
        }
        let record = CallRecord {
            function,
            traits: self.traits,
            call: Call {
                result,
                depth: self.around.depth,
                device: self.device.or_else(|| device_of(state)),
                stream: self
                    .stream
                    .map(stream_word)
                    .or_else(|| context_word(&context)),
                object: self.object,
                task,
                graph: self.graph,
                stack: state.stack_of(self.around.depth),
                cpu: self.cpu,
                ..Call::plain(self.id as u16, (self.begin, end), args)
            },
        };
        let is_kept_out = self.is_kept_out(record.call.task);
        if is_kept_out {
            self.count_filtered(state);
        }
        let is_first = !is_kept_out && emit::record_call(state, &record);
        if is_first | state.is_sampling() {
            cost::recorded(state, self.around.depth, is_first, (self.begin, end));
        }
        if has_role {
            roles::afterwards(self, &context, succeeded, end);
        }
    }

    /// The call has submitted a task to its stream, which may be one from before this library.
    #[cold]
    fn take_stream_over(&self, state: &ThreadState) {
        let unseen = self.stream.filter(|it| !it.was_made.load(Relaxed));
        if let Some(stream) = unseen.filter(|_| session::is_timed()) {
            streams::take_over(stream, state);
        }
    }

    /// The call leaves no record.
    fn count_filtered(&self, state: &ThreadState) {
        if self.left_out == LeftOut::Filtered {
            state.count_filtered();
        }
    }

    /// Whether the call leaves no record, since the recording is paused or its filters leave it out. The nodes of a graph are
    /// always recorded.
    fn is_kept_out(&self, task: Option<TaskWord>) -> bool {
        let builds = |it: TaskWord| matches!(it.untimed, Untimed::Captured | Untimed::Bound);
        self.left_out.is_so() && !task.is_some_and(builds)
    }

    /// Numbers the task that the call has submitted and ends its measuring.
    fn finish_task(&mut self, thread: &ThreadState, succeeded: bool, end: u64) -> Option<TaskWord> {
        let kind = self.function.task.unwrap_or(TaskKind::Other);
        let sequence = match (&self.task, self.stream) {
            (TaskState::None, _) => None,
            _ if !succeeded => None,
            // It did not run: it has the number of the next one that does.
            (TaskState::Untimed(Untimed::Captured), Some(stream)) => {
                Some(stream.sequence.load(Relaxed))
            }
            (TaskState::Untimed(Untimed::Bound), Some(stream)) if self.graph.is_some() => {
                Some(stream.sequence.load(Relaxed))
            }
            (_, Some(stream)) => Some(stream.sequence.fetch_add(1, Relaxed)),
            // No memory was left for the stream: the task is still kept.
            (_, None) => Some(STREAMLESS.fetch_add(1, Relaxed)),
        };
        // The next task of a run has no record after it.
        let is_timed = matches!(&self.task, TaskState::Timed(it) if !it.goes_on_with_run());
        if !is_timed {
            match self.task {
                // It is the last one until the call around it ends. A wait may have submitted nothing.
                TaskState::None if succeeded && kind != TaskKind::Wait => {
                    last_task::release(thread);
                }
                TaskState::Untimed(Untimed::HostCopy) => last_task::after_copy(thread),
                // A call that failed has submitted nothing.
                _ if sequence.is_some() => last_task::release(thread),
                _ => {}
            }
        } else if sequence.is_some() && kind != TaskKind::Wait {
            // Before the record that follows. A wait may have submitted nothing.
            last_task::keep(thread);
        }
        let times = (self.begin, end);
        let untimed = match &mut self.task {
            TaskState::None => return None,
            TaskState::Untimed(reason) => *reason,
            TaskState::Timed(submission) => submission.finish(thread, sequence, times),
        };
        // Other threads wait for the turn.
        self.task = TaskState::None;
        Some(TaskWord {
            sequence: sequence?,
            kind,
            untimed,
        })
    }
}

fn device_of(state: &ThreadState) -> Option<u8> {
    state
        .context()
        .map(|context| context.device.load(Relaxed) as u8)
}

fn stream_word(stream: &'static StreamEntry) -> u64 {
    pair(stream.serial.load(Relaxed), stream.context.load(Relaxed))
}

/// The context that a call waits for as a whole.
fn context_word(call: &Context<'_>) -> Option<u64> {
    (call.function.role.meaning().waits == WaitTarget::Device)
        .then(|| pair(0, call.context_serial()))
}
