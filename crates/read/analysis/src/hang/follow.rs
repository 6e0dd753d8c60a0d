//! From a thread or a stream to what never came.
//!
//! A thread waits for a stream, an event or a device; a stream waits for what its first task waits for. The chain ends
//! where something was not submitted, where it comes back to where it has been, or where the recording says no more.

mod callbacks;
mod calls;
mod ends;
mod functions;
mod outside;
mod ranks;

use ascend_trace_recording::{ProcessId, StreamId, ThreadId, Trace};

use super::events::EventKey;
use super::hosts::Host;
use super::labels::Labels;
use super::progress::{Progress, Record};
use super::queues::{CompletionCondition, PendingTask, StreamPosition};
use super::report::{Culprit, Link, RootKind, Subject};
use super::signals::SignalKey;
use super::state::HangState;

/// Largest length of a chain.
const LONGEST: usize = 64;

/// Where a chain has been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Thread(ThreadId),
    Stream(StreamId),
}

/// A chain of waits on its way.
#[derive(Debug)]
pub(super) struct Follow<'a> {
    words: Labels<'a>,
    trace: &'a Trace,
    state: &'a HangState,
    progress: &'a Progress<'a>,
    path: Vec<Step>,
    links: Vec<Link>,
    /// A thread that runs functions for a stream: its place in the path, and its role.
    served: Option<(usize, ServedBy)>,
    /// Where the path goes on through a lock.
    locked: Option<usize>,
    /// Where the path goes on to another rank of a collective.
    ranked: Option<usize>,
    /// Where the path goes on to a thread that is only likely to end the wait.
    assumed: Option<usize>,
    /// Tasks from here on of the stream that was reached last are not waited for.
    before: Option<u32>,
}

/// Role of a thread that runs functions for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServedBy {
    /// It processes reports, and waits elsewhere.
    Reports,
    /// It is in a callback.
    Callback,
    HostFunction,
}

impl<'a> Follow<'a> {
    pub(super) fn new(words: Labels<'a>, state: &'a HangState, progress: &'a Progress<'a>) -> Self {
        Self {
            words,
            trace: words.trace,
            state,
            progress,
            path: Vec::new(),
            links: Vec::new(),
            served: None,
            locked: None,
            ranked: None,
            assumed: None,
            before: None,
        }
    }

    /// The chain of a thread, and its culprit.
    pub(super) fn of_thread(mut self, thread: ThreadId) -> (Vec<Link>, Culprit) {
        let culprit = self.thread(thread);
        (self.links, culprit)
    }

    /// The chain of a stream, and its culprit.
    pub(super) fn of_stream(mut self, stream: StreamId) -> (Vec<Link>, Culprit) {
        let culprit = self.stream(stream, None);
        (self.links, culprit)
    }

    fn link(&mut self, subject: Subject, what: String) {
        self.links.push(Link { subject, what });
    }

    /// Notes that the chain reaches a thread or a stream. Returns a culprit when the chain has been
    /// here before, or is too long.
    fn enter(&mut self, step: Step) -> Option<Culprit> {
        if let Some(place) = self.path.iter().position(|it| *it == step) {
            return Some(self.cycle(place));
        }
        self.path.push(step);
        (self.path.len() > LONGEST).then(|| {
            let what = "the chain of waits is too long to be followed".to_owned();
            self.unknown(self.about(step), what)
        })
    }

    fn about(&self, step: Step) -> Subject {
        match step {
            Step::Thread(thread) => self.words.about_thread(thread),
            Step::Stream(stream) => self.words.about_stream(stream),
        }
    }

    /// The order of steps by the program's names.
    fn order(&self, step: Step) -> (u32, bool, u32, i64) {
        match step {
            Step::Thread(thread) => {
                let thread = self.trace.thread(thread);
                let process = self.trace.process(thread.process).serial;
                (process, true, 0, thread.tid.into())
            }
            Step::Stream(stream) => {
                let stream = self.trace.stream(stream);
                let process = self.trace.process(stream.process).serial;
                (process, false, stream.device, stream.number())
            }
        }
    }

    fn name(&self, step: Step) -> String {
        match step {
            Step::Thread(thread) => self.words.thread(thread),
            Step::Stream(stream) => self.words.stream(stream),
        }
    }

    /// The chain is back where it was.
    fn cycle(&self, place: usize) -> Culprit {
        // Wherever it is entered, it is the same cycle.
        let mut steps = self.path[place..].to_vec();
        let order = |it: &usize| self.order(steps[*it]);
        let first = (0..steps.len()).min_by_key(order).unwrap_or(0);
        steps.rotate_left(first);
        let first = steps[0];
        let names = steps.iter().chain([&first]);
        let names: Vec<String> = names.map(|step| self.name(*step)).collect();
        let what = match names.as_slice() {
            [only, _] => format!("{only} waits for a task that is behind the wait itself"),
            _ => format!("they wait for each other: {}", names.join(" → ")),
        };
        let served = self.served.filter(|it| it.0 >= place).map(|it| it.1);
        let is_own = self.path.len() == place + 2;
        let has = |it: Option<usize>| it.is_some_and(|it| it >= place);
        let advice = match (served, is_own) {
            _ if has(self.locked) => {
                "take locks in the same order in all threads, and hold none that another thread needs to end the wait"
            }
            (None, _) if has(self.ranked) => {
                "submit the collectives of all communicators in the same order on all ranks, and what a rank waits for before them"
            }
            (None, _) => {
                "submit the record, or what sets the signal, before the wait on its stream"
            }
            (Some(ServedBy::Reports), _) => callbacks::ADVICE,
            (Some(ServedBy::Callback), true) => "do not wait for the stream in its callback",
            (Some(ServedBy::Callback), false) => {
                "do not wait in a callback for work that comes after the callback"
            }
            (Some(ServedBy::HostFunction), true) => {
                "do not wait for the stream in its host function"
            }
            (Some(ServedBy::HostFunction), false) => {
                "do not wait in a host function for work that comes after the function"
            }
        };
        let advice = advice.to_owned();
        let process = match first {
            Step::Thread(thread) => self.trace.thread(thread).process,
            Step::Stream(stream) => self.trace.stream(stream).process,
        };
        let certain = !has(self.assumed) || self.is_stuck(process);
        self.culprit((RootKind::Cycle, certain), self.about(first), what, advice)
    }

    /// The target that a stream waits for, before a task of it if one is given.
    fn stream(&mut self, stream: StreamId, before: Option<u32>) -> Culprit {
        if let Some(culprit) = self.enter(Step::Stream(stream)) {
            return culprit;
        }
        if let Some(abort) = self.state.hosts.aborted(stream) {
            return self.aborted(stream, *abort);
        }
        self.before = before;
        let is_before = |it: &&PendingTask| before.is_none_or(|before| it.sequence < before);
        let stop = self.progress.stop(stream).filter(is_before);
        if let Some(entry) = stop {
            return self.stopped(stream, entry);
        }
        let process = self.trace.stream(stream).process;
        if let Some(failed) = self.state.hosts.failed(process) {
            return self.failed(*failed);
        }
        match self.progress.running(stream).filter(is_before) {
            Some(entry) => self.stopped(stream, entry),
            None => {
                let name = self.words.stream(stream);
                let what = format!("nothing on {name} is known to be unfinished");
                self.unknown(self.words.about_stream(stream), what)
            }
        }
    }

    /// A stream stops at a task.
    fn stopped(&mut self, stream: StreamId, entry: &PendingTask) -> Culprit {
        match entry.needs {
            CompletionCondition::Event(event, generation) => {
                self.event(stream, entry, (event, generation))
            }
            CompletionCondition::Signal(key) => self.signal(stream, entry, key),
            CompletionCondition::Reports => self.callback(stream, entry),
            CompletionCondition::Ranks(comm, number) => {
                self.collective(stream, entry, (comm, number))
            }
            CompletionCondition::HostFunction => self.host_function(stream, entry),
            CompletionCondition::Device
            | CompletionCondition::Nothing
            | CompletionCondition::Record(..) => self.running(stream, entry),
        }
    }

    /// A stream stops at a wait for an event.
    fn event(
        &mut self,
        stream: StreamId,
        entry: &PendingTask,
        (event, generation): (EventKey, u32),
    ) -> Culprit {
        let (name, event_name) = (self.words.stream(stream), self.words.event(event));
        let subject = self.about_entry(stream, entry);
        let what = format!("{name} is held by {} for {event_name}", entry.name);
        let about = Subject {
            event: Some(event.1),
            ..subject
        };
        self.link(about, what);
        match self.progress.record(event, generation) {
            Record::At(record) => self.behind(record, &format!("the record of {event_name}")),
            _ => self.never(event, entry),
        }
    }

    /// A stream stops at a wait for a notify or a value.
    fn signal(&mut self, stream: StreamId, entry: &PendingTask, key: Option<SignalKey>) -> Culprit {
        let place = StreamPosition {
            stream,
            sequence: entry.sequence,
        };
        let name = self.words.stream(stream);
        let subject = self.about_entry(stream, entry);
        self.link(
            subject.clone(),
            format!("{name} is held by {} for a signal", entry.name),
        );
        let set = self.state.signals.set_for(place);
        match set.filter(|_| !self.progress.is_lost(place)) {
            Some(set) => self.behind(set, "what sets the signal"),
            None => self.unset(subject, entry, key, set.is_some()),
        }
    }

    /// The target was submitted, and is not done either.
    fn behind(&mut self, place: StreamPosition, noun: &str) -> Culprit {
        let name = self.words.stream(place.stream);
        let queue = self.state.queues.stream(place.stream);
        let entry = queue.and_then(|it| it.entries().get(it.place_of(place.sequence)?));
        let by = entry.map_or_else(String::new, |entry| {
            let thread = self.words.thread(entry.thread);
            format!(
                ", submitted by {thread} {} ago",
                self.words.ago(entry.begin)
            )
        });
        let subject = self.words.about_stream(place.stream);
        self.link(subject, format!("{noun} is pending on {name}{by}"));
        self.stream(place.stream, Some(place.sequence))
    }

    fn about_entry(&self, stream: StreamId, entry: &PendingTask) -> Subject {
        Subject {
            call: Some(entry.call),
            ..self.words.about_stream(stream)
        }
    }

    /// Whether all threads of a process that made calls are in calls that wait without an end: no thread is left that
    /// could submit more. A thread without submissions may be about to submit; those that run callbacks
    /// submit nothing.
    fn all_wait(&self, process: ProcessId) -> bool {
        let hosts = &self.state.hosts;
        let own = hosts.threads().into_iter();
        let own = own.filter(|thread| self.trace.thread(*thread).process == process);
        let own = own.filter_map(|it| hosts.get(it));
        let mut able = own.filter(|it| !it.is_server(self.trace) && !it.has_ended());
        let waits = |host: &Host| {
            let open = host.blocked_in(self.trace);
            open.is_some_and(|open| !self.may_return(&open.call))
        };
        able.all(waits) && !self.lost_calls()
    }

    /// The same where the threads that are in no call wait for each other.
    fn none_goes_on(&self, process: ProcessId) -> bool {
        self.all_wait(process) || self.is_stuck(process)
    }

    /// Whether an unseen call may have been lost, or left out by filters.
    fn lost_calls(&self) -> bool {
        self.trace.losses().calls > 0 || self.trace.is_filtered()
    }
}
