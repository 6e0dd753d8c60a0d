//! One traced call, from its entry to its return.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{
    Arg, ArgKind, Fact, Function, Part, RetKind, Role, TaskKind, Untimed, Waits,
};
use ascend_trace_format::record::{Call, CallHead, TaskWord, flags, pair};

use crate::clock::ticks;
use crate::emit::{self, CallRecord};
use crate::errno::Errno;
use crate::graph_roles::{self, Step};
use crate::hooks::FUNCTIONS;
use crate::objects::{ContextEntry, StreamEntry};
use crate::stubs::shapes::Known;
use crate::thread::{Around, AtWork, Way};
use crate::timing::lane::{KeptOut, Stranger};
use crate::timing::seen::Waiting;
use crate::timing::submit::Submission;
use crate::traits::{self, Traits};
use crate::{cost, given, last_task, roles, session, thread};

/// A call under way. If the real function never returns normally (an exception, a thread that
/// exits inside it), dropping the span still leaves the thread's state right.
pub(crate) struct Span {
    id: usize,
    /// It came while the tracer was at work in its thread.
    is_inside: bool,
    /// Word 0 of the call as it is told of while it is under way.
    head: u64,
    function: &'static Function,
    traits: &'static Traits,
    begin: u64,
    around: Around,
    device: Option<u8>,
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
    pub(crate) stranger: Option<Stranger>,
    /// What others must heed while the call lasts.
    pub(crate) hold: Hold,
}

/// Tasks so far whose stream is not known.
static STREAMLESS: AtomicU32 = AtomicU32::new(0);

/// What is known of the task that a call may submit.
pub(crate) enum TaskState {
    /// The call submits nothing, or what it submits belongs to the task of a call around it.
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

/// A call as its role sees it.
pub(crate) struct Context<'a> {
    pub(crate) state: &'a thread::State,
    pub(crate) function: &'static Function,
    pub(crate) args: &'a [u64],
}

impl Context<'_> {
    /// The argument at the position that the table names.
    pub(crate) fn arg(&self, position: Option<u8>) -> Option<u64> {
        self.args.get(usize::from(position?)).copied()
    }

    /// The argument that is this part of the call.
    pub(crate) fn part(&self, part: Part) -> Option<u64> {
        self.arg(self.function.part(part))
    }

    pub(crate) fn is(&self, fact: Fact) -> bool {
        self.function.facts.has(fact)
    }

    /// The first argument of this kind.
    pub(crate) fn of_kind(&self, kind: ArgKind) -> Option<u64> {
        let position = (self.function.args.iter()).position(|arg| arg.kind == kind)?;
        self.args.get(position).copied()
    }

    /// Serial of the thread's context, 0 when unknown.
    pub(crate) fn context_serial(&self) -> u32 {
        self.state
            .context()
            .map_or(0, |context| context.serial.load(Relaxed))
    }

    pub(crate) fn device(&self) -> u32 {
        self.state
            .context()
            .map_or(0, |context| context.device.load(Relaxed))
    }
}

impl Span {
    /// A wrapper has been entered, with the stack at `here`. `None` when the call is none of ours to
    /// record.
    #[inline]
    pub(crate) fn enter(id: usize, here: usize, args: &[u64]) -> Option<Self> {
        Self::enter_as(id, here, (FUNCTIONS.get(id)?, traits::of(id)?), args)
    }

    /// The same for a function that is known by its shape only.
    #[inline]
    pub(crate) fn enter_as(id: usize, here: usize, shape: Known, args: &[u64]) -> Option<Self> {
        thread::with(|state| Self::enter_with(state, (id, here), shape, args))
    }

    fn enter_with(
        state: &thread::State,
        (id, here): (usize, usize),
        (function, traits): Known,
        args: &[u64],
    ) -> Option<Self> {
        let is_inside = !(state.is_clear() && session::is_settled())
            && match Self::admit(state, here) {
                Way::Straight => false,
                Way::Inside => true,
                Way::Past => return None,
            };
        let mut span = Self {
            id,
            is_inside,
            head: 0,
            function,
            traits,
            begin: 0,
            around: match is_inside {
                true => Around::unknown(state),
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
            stranger: None,
            hold: Hold::None,
        };
        if is_inside {
            if traits.is_runtime {
                state.begin_unseen(here);
            }
            span.begin = ticks();
            return Some(span);
        }
        if traits.has_role {
            let _errno = Errno::save();
            let at_work = AtWork::new(ticks());
            state.work(&at_work);
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
    fn admit(state: &thread::State, here: usize) -> Way {
        let _errno = Errno::save();
        state.admit(here)
    }

    /// Ticks at the call's entry.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// The real function has returned `result`.
    #[inline]
    pub(crate) fn leave(mut self, args: &mut [u64], result: u64) {
        let end = ticks();
        let _errno = Errno::save();
        thread::with(|state| {
            if self.is_clear(state, args, result, end) {
                let at_work = AtWork::new(end);
                state.work(&at_work);
                self.settle(state, args, result, end);
                state.close_call(self.around.depth);
                state.ascend(self.around);
                state.rest();
            } else if !self.is_inside {
                // What it holds goes with it.
                self.let_go();
                state.close_call(self.around.depth);
                state.ascend(self.around);
            }
        });
        self.let_go();
        core::mem::forget(self);
    }

    /// Ends what was begun for the call: its task, and what other threads had to heed.
    fn let_go(&mut self) {
        self.stranger = None;
        self.task = TaskState::None;
        self.hold = Hold::None;
    }

    /// Whether the call, which has returned, is to be recorded. If not, it has been put aside or counted.
    fn is_clear(&self, state: &thread::State, args: &mut [u64], result: u64, end: u64) -> bool {
        if self.is_inside {
            state.end_inside();
            let succeeded = self.function.ret != RetKind::Error || result == 0;
            if succeeded && self.traits.has_outputs {
                read_outputs(self.function, args);
            }
            emit::put_aside(state, self.id, args, result, (self.begin, end));
            return false;
        }
        if !state.is_open(self.head, self.around.depth) {
            // It was taken for one that had been left, and recorded as that.
            return false;
        }
        if !state.is_clear_to_leave() && !state.mend(thread::stack()) {
            state.count_lost();
            return false;
        }
        true
    }

    fn settle(&mut self, state: &thread::State, args: &mut [u64], result: u64, end: u64) {
        let function = self.function;
        self.stranger = None;
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
                ..Call::plain(self.id as u16, (self.begin, end), args)
            },
        };
        let is_first = emit::call(state, &record);
        if is_first | state.is_sampling() {
            cost::recorded(state, self.around.depth, is_first, (self.begin, end));
        }
        if has_role {
            roles::afterwards(self, &context, succeeded, end);
        }
    }

    /// Numbers the task that the call has submitted and ends its measuring.
    fn finish_task(
        &mut self,
        thread: &thread::State,
        succeeded: bool,
        end: u64,
    ) -> Option<TaskWord> {
        let kind = self.function.task.unwrap_or(TaskKind::Other);
        let state = core::mem::replace(&mut self.task, TaskState::None);
        let sequence = match (&state, self.stream) {
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
            // There was no room to remember the stream: the task is kept all the same.
            (_, None) => Some(STREAMLESS.fetch_add(1, Relaxed)),
        };
        let is_timed = matches!(state, TaskState::Timed(_));
        if !is_timed {
            match state {
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
        let untimed = match state {
            TaskState::None => return None,
            TaskState::Untimed(reason) => reason,
            TaskState::Timed(submission) => submission.finish(thread, sequence, (self.begin, end)),
        };
        Some(TaskWord {
            sequence: sequence?,
            kind,
            untimed,
        })
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

fn device_of(state: &thread::State) -> Option<u8> {
    state
        .context()
        .map(|context| context.device.load(Relaxed) as u8)
}

fn stream_word(stream: &'static StreamEntry) -> u64 {
    pair(stream.serial.load(Relaxed), stream.context.load(Relaxed))
}

/// The context that a call waits for as a whole.
fn context_word(call: &Context<'_>) -> Option<u64> {
    (call.function.role.meaning().waits == Waits::Device).then(|| pair(0, call.context_serial()))
}

/// Replaces each output pointer by what the call has written there.
#[inline]
pub(crate) fn read_outputs(function: &Function, args: &mut [u64]) {
    for (arg, word) in function.args.iter().zip(args) {
        if arg.out && *word != 0 {
            *word = match given::is_there(*word as usize, bytes_of(arg)) {
                true => read_output(*word, arg),
                false => 0,
            };
        }
    }
}

/// Bytes that [`read_output`] reads.
#[inline]
fn bytes_of(arg: &Arg) -> usize {
    match arg.width {
        1 | 2 | 4 => arg.width.into(),
        _ => size_of::<u64>(),
    }
}

#[inline]
fn read_output(address: u64, arg: &Arg) -> u64 {
    let address = address as usize;
    let is_signed = matches!(arg.kind, ArgKind::Int | ArgKind::Enum | ArgKind::Timeout);
    // SAFETY: the call succeeded, so it has written a value of the table's width to the address;
    // C allows any alignment the program got away with, hence the unaligned reads.
    unsafe {
        match (arg.width, arg.kind) {
            (4, ArgKind::Float) => {
                f64::from(core::ptr::read_unaligned(address as *const f32)).to_bits()
            }
            (1, _) => core::ptr::read_unaligned(address as *const u8).into(),
            (2, _) => core::ptr::read_unaligned(address as *const u16).into(),
            (4, _) if is_signed => core::ptr::read_unaligned(address as *const i32) as i64 as u64,
            (4, _) => core::ptr::read_unaligned(address as *const u32).into(),
            _ => core::ptr::read_unaligned(address as *const u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(value: &T, kind: ArgKind) -> u64 {
        let arg = Arg {
            name: "out",
            ctype: "",
            kind,
            out: true,
            width: size_of::<T>() as u8,
            enumeration: "",
            count: None,
        };
        read_output(core::ptr::from_ref(value) as usize as u64, &arg)
    }

    #[test]
    fn outputs_are_read_by_kind_and_width() {
        assert_eq!(read(&1.5f32, ArgKind::Float), 1.5f64.to_bits());
        assert_eq!(read(&2.5f64, ArgKind::Float), 2.5f64.to_bits());
        assert_eq!(read(&-1i32, ArgKind::Int) as i64, -1);
        assert_eq!(read(&u32::MAX, ArgKind::Uint), u64::from(u32::MAX));
        assert_eq!(read(&u64::MAX, ArgKind::Size), u64::MAX);
        assert_eq!(read(&200u8, ArgKind::Uint), 200);
    }
}
