//! Waits of threads outside AscendCL, where the system shows their targets.

use ascend_trace_format::api::WaitTarget;
use ascend_trace_recording::{Call, ProcessId, StreamId, ThreadId};

use super::super::hosts::PastCall;
use super::super::progress::Record;
use super::super::queues::{CompletionCondition, PendingTask, StreamPosition};
use super::super::report::{Culprit, RootKind};
use super::super::sight::OutsideWait;
use super::{Follow, LONGEST};
use crate::dependencies::streams_of;

pub(super) const NONE_GOES_ON: &str = "all threads of the process wait for each other";

/// Threads that have ended, and that a sentence names.
const NAMED: usize = 4;

impl Follow<'_> {
    /// The target of a thread that is in no call.
    pub(super) fn outside_wait(&mut self, thread: ThreadId) -> Culprit {
        let host = self.state.hosts.get(thread);
        let Some(wait) = host.and_then(|it| it.outside_wait()).cloned() else {
            return self.outside(thread, None);
        };
        let name = self.words.thread(thread);
        let last = host.and_then(|it| it.last.back()).copied();
        let for_long =
            last.map_or_else(String::new, |it| format!(" for {}", self.words.ago(it.end)));
        let is_in = format!("{name} is outside AscendCL{for_long}");
        let since_ns = last.map(|it| it.end);
        let culprit = self.held_by(thread, &wait, &is_in, since_ns);
        culprit.unwrap_or_else(|| self.outside(thread, Some(&wait)))
    }

    /// A thread waits in the program's own code. `is_in` says where. Nothing where the target is not in the recording.
    pub(super) fn held_by(
        &mut self,
        thread: ThreadId,
        wait: &OutsideWait,
        is_in: &str,
        since_ns: Option<i64>,
    ) -> Option<Culprit> {
        let about = self.words.about_thread(thread);
        let process = self.trace.thread(thread).process;
        let what = format!("{is_in}: {}", in_words(wait));
        let (certain, what, advice) = match wait {
            OutsideWait::End(_) | OutsideWait::Lock(_) => {
                let other = self.held_thread(process, wait)?;
                self.link(about, what);
                return Some(self.goes_on_to(other, wait));
            }
            OutsideWait::LeftLock(tid) => (
                true,
                format!(
                    "thread {tid} has ended, and holds a lock that {} waits for",
                    self.words.thread(thread)
                ),
                "release the lock on every way out of the thread's function",
            ),
            OutsideWait::EndedChild(_) => (
                self.is_stuck(process),
                what,
                "look at why the child process ended; close the ends of pipes that a process does not use, so that reads end",
            ),
        };
        Some(Culprit {
            since_ns,
            ..self.culprit((RootKind::Ended, certain), about, what, advice.to_owned())
        })
    }

    /// The thread of a process that a wait is for, if it made calls.
    pub(super) fn held_thread(&self, process: ProcessId, wait: &OutsideWait) -> Option<ThreadId> {
        match wait {
            OutsideWait::End(tid) | OutsideWait::Lock(tid) => self.thread_numbered(process, *tid),
            OutsideWait::LeftLock(_) | OutsideWait::EndedChild(_) => None,
        }
    }

    /// The chain goes on to the thread that a wait is for.
    pub(super) fn goes_on_to(&mut self, other: ThreadId, wait: &OutsideWait) -> Culprit {
        if matches!(wait, OutsideWait::Lock(_)) {
            self.locked = Some(self.path.len());
        }
        self.thread(other)
    }

    /// A thread is in no call, and the recording does not show the target of its wait.
    fn outside(&self, thread: ThreadId, wait: Option<&OutsideWait>) -> Culprit {
        let last = self.state.hosts.get(thread).and_then(|it| it.last.back());
        let what = format!("{} is outside AscendCL: {}", self.words.thread(thread), {
            let returned = |it: &PastCall| {
                let ago = self.words.ago(it.end);
                format!("its last call, {}, ended {ago} ago", self.words.past(it))
            };
            last.map_or_else(|| "it made no call".to_owned(), returned)
        });
        let what = match wait {
            Some(wait) => format!("{what}, and {}, which makes no calls", in_words(wait)),
            None => what,
        };
        let process = self.trace.thread(thread).process;
        let certain = self.is_stuck(process);
        let advice = match (certain, self.ended_threads(process)) {
            (false, _) => {
                "look at the stack of this thread: it computes, sleeps, or waits for something else"
                    .to_owned()
            }
            (true, ended) if ended.is_empty() => {
                format!("{NONE_GOES_ON}: look at the stack of this one, and at what was to wake it")
            }
            (true, ended) => {
                let (noun, have) = if ended.len() == 1 {
                    ("thread", "has")
                } else {
                    ("threads", "have")
                };
                let ended = ended.join(", ");
                format!(
                    "{NONE_GOES_ON}: look at the stack of this one, and at what was to wake it; {noun} {ended} {have} ended"
                )
            }
        };
        Culprit {
            since_ns: last.map(|it| it.end),
            ..self.culprit(
                (RootKind::Outside, certain),
                self.words.about_thread(thread),
                what,
                advice,
            )
        }
    }

    /// Threads of a process that have ended, unless they are many.
    fn ended_threads(&self, process: ProcessId) -> Vec<String> {
        let hosts = &self.state.hosts;
        let own = hosts.threads().into_iter();
        let own = own.filter(|it| self.trace.thread(*it).process == process);
        let ended = own.filter(|it| hosts.get(*it).is_some_and(|host| host.has_ended()));
        let ended: Vec<String> = ended
            .map(|it| self.trace.thread(it).tid.to_string())
            .collect();
        if ended.len() > NAMED {
            Vec::new()
        } else {
            ended
        }
    }

    /// A thread did before what would end the wait, so it is likely to do it again. It waits itself.
    pub(super) fn likely(&mut self, thread: ThreadId, did: &str) -> Culprit {
        let name = self.words.thread(thread);
        self.link(self.words.about_thread(thread), format!("{name} {did}"));
        self.assumed = Some(self.path.len());
        self.thread(thread)
    }

    /// Whether a thread is in no call, and waits for another thread of its process.
    pub(super) fn is_held_outside(&self, thread: ThreadId) -> bool {
        let host = self.state.hosts.get(thread);
        let wait = host.and_then(|it| it.outside_wait());
        let process = self.trace.thread(thread).process;
        match wait {
            Some(OutsideWait::End(tid) | OutsideWait::Lock(tid)) => {
                self.thread_numbered(process, *tid).is_some()
            }
            Some(OutsideWait::LeftLock(_) | OutsideWait::EndedChild(_)) => true,
            None => false,
        }
    }

    /// The thread of a process with this number that has not ended.
    fn thread_numbered(&self, process: ProcessId, tid: u32) -> Option<ThreadId> {
        let hosts = &self.state.hosts;
        let mut threads = hosts.threads().into_iter().rev();
        threads.find(|it| {
            let known = self.trace.thread(*it);
            let lives = || hosts.get(*it).is_some_and(|host| !host.has_ended());
            known.process == process && known.tid == tid && lives()
        })
    }

    /// Whether no thread of a process can go on: those outside AscendCL wait for each other, the calls of the others cannot
    /// return, and the device has nothing to do.
    pub(super) fn is_stuck(&self, process: ProcessId) -> bool {
        let hosts = &self.state.hosts;
        if !hosts.are_stuck(self.trace.process(process).pid) || self.lost_calls() {
            return false;
        }
        let is_own = |it: &StreamId| self.trace.stream(*it).process == process;
        let mut busy = self.state.queues.busy().into_iter().filter(is_own);
        let works = busy.any(|stream| {
            let head = self.progress.running(stream);
            head.is_some_and(|head| match head.needs {
                _ if self.is_in_function(stream, head) => false,
                CompletionCondition::Device
                | CompletionCondition::Nothing
                | CompletionCondition::Record(..)
                | CompletionCondition::Ranks(..)
                | CompletionCondition::Reports => true,
                CompletionCondition::Event(..)
                | CompletionCondition::Signal(_)
                | CompletionCondition::HostFunction => false,
            })
        });
        let own = hosts.threads().into_iter();
        let own = own.filter(|it| self.trace.thread(*it).process == process);
        let mut open = own.filter_map(|it| Some(hosts.get(it)?.blocked_in(self.trace)?.call));
        // Other calls, such as one that makes a communicator, may return at any time.
        let waits = |call: &Call| {
            self.trace
                .function(call.function)
                .role
                .meaning()
                .waits
                .is_sync()
        };
        let is_held = |call: &Call| !self.may_return(call) || self.waits_for_function(call);
        !works && open.all(|call| waits(&call) && is_held(&call))
    }

    /// Whether an open call waits for a stream that a function of the program holds, directly or through waits of streams.
    fn waits_for_function(&self, call: &Call) -> bool {
        let is_held = |stream: StreamId| self.leads_to_function(stream);
        let waits = self.trace.function(call.function).role.meaning().waits;
        match (waits, call.stream) {
            (WaitTarget::Device, _) => streams_of(self.trace, call).any(is_held),
            (WaitTarget::Stream, Some(stream)) => is_held(stream),
            _ => false,
        }
    }

    /// Whether the waits of streams lead from one to a function of the program.
    fn leads_to_function(&self, stream: StreamId) -> bool {
        let mut at = stream;
        for _ in 0..LONGEST {
            let Some(head) = self.progress.running(at) else {
                return false;
            };
            if self.is_in_function(at, head) {
                return true;
            }
            let Some(next) = self.held_behind(at, head) else {
                return false;
            };
            at = next;
        }
        false
    }

    /// The stream with the task that a stream waits for at its first task.
    fn held_behind(&self, stream: StreamId, head: &PendingTask) -> Option<StreamId> {
        let place = StreamPosition {
            stream,
            sequence: head.sequence,
        };
        match head.needs {
            CompletionCondition::Event(event, generation) => {
                match self.progress.record(event, generation) {
                    Record::At(record) => Some(record.stream),
                    Record::Done | Record::Never | Record::Unseen => None,
                }
            }
            CompletionCondition::Signal(_) => self.state.signals.set_for(place).map(|it| it.stream),
            _ => None,
        }
    }
}

/// The target of a wait, after "the thread is outside AscendCL".
pub(super) fn in_words(wait: &OutsideWait) -> String {
    match wait {
        OutsideWait::End(tid) => format!("it waits for the end of thread {tid}"),
        OutsideWait::Lock(tid) => format!("it waits for a lock that thread {tid} holds"),
        OutsideWait::LeftLock(tid) => {
            format!("it waits for a lock that thread {tid} held when it ended")
        }
        OutsideWait::EndedChild(child) => {
            format!("it reads a pipe that only its own process can write to, and {child}")
        }
    }
}
