//! Targets that a thread waits for in its open call.

use ascend_trace_format::api::{Fact, Role, WaitTarget};
use ascend_trace_recording::{Call, StreamId, ThreadId};

use super::super::events::EventKey;
use super::super::hosts::PastCall;
use super::super::progress::Record;
use super::super::report::{Culprit, RootKind, Subject};
use super::{Follow, Step};
use crate::dependencies::streams_of;
use crate::stalls::least_full;

impl Follow<'_> {
    /// The target of a thread's wait.
    pub(super) fn thread(&mut self, thread: ThreadId) -> Culprit {
        if let Some(culprit) = self.enter(Step::Thread(thread)) {
            return culprit;
        }
        let host = self.state.hosts.get(thread);
        if let Some(open) = host.and_then(|it| it.blocked_in(self.trace)) {
            let call = open.call;
            return self.call(thread, open.number, &call);
        }
        match host.and_then(|it| it.poll(self.words.now)).copied() {
            Some(poll) => self.poll(thread, &poll),
            None => self.outside_wait(thread),
        }
    }

    /// The target of an open call's wait.
    fn call(&mut self, thread: ThreadId, number: Option<u32>, call: &Call) -> Culprit {
        let function = self.trace.function(call.function);
        let meaning = function.role.meaning();
        let about = Subject {
            call: number,
            ..self.words.about_thread(thread)
        };
        let is_in = format!(
            "{} is in {} for {}",
            self.words.thread(thread),
            function.name,
            self.words.ago(call.begin)
        );
        let drains = meaning.drains && !function.is(Fact::Forced);
        match (meaning.waits, call.stream) {
            (WaitTarget::Device, _) => {
                self.link(about.clone(), format!("{is_in}: it waits for all streams"));
                self.device(about, call)
            }
            (WaitTarget::Event, _) => match self.event_of(call) {
                Some(event) => {
                    let name = self.words.event(event);
                    let about = Subject {
                        event: Some(event.1),
                        ..about
                    };
                    self.link(about.clone(), format!("{is_in}: it waits for {name}"));
                    self.host_event(about, event, call.begin)
                }
                None => self.unknown(about, format!("{is_in}; the event is not known")),
            },
            (WaitTarget::Stream, Some(stream)) => {
                let name = self.words.stream(stream);
                self.link(about, format!("{is_in}: it waits for {name}"));
                self.stream(stream, None)
            }
            (_, Some(stream)) if drains || meaning.submits => {
                let is_full = meaning.submits && self.is_full(stream);
                let name = self.words.stream(stream);
                let why = match is_full {
                    true => format!("the queue of {name} is full"),
                    false => format!("it works on {name}"),
                };
                self.link(about, format!("{is_in}: {why}"));
                let culprit = self.stream(stream, None);
                behind_queue(culprit, &name, is_full)
            }
            _ => {
                self.link(about.clone(), is_in.clone());
                if let Some(culprit) = self.joining(thread, call) {
                    return culprit;
                }
                Culprit {
                    since_ns: Some(call.begin),
                    ..self.unknown(
                        about,
                        format!("{is_in}; the recording does not show what the call waits for"),
                    )
                }
            }
        }
    }

    /// Whether an open call returns if all work ends and nothing more is submitted.
    pub(super) fn may_return(&self, call: &Call) -> bool {
        let function = self.trace.function(call.function);
        let meaning = function.role.meaning();
        let goes_on = |stream: StreamId| self.progress.stop(stream).is_none();
        let drains = meaning.drains && !function.is(Fact::Forced);
        match (meaning.waits, call.stream) {
            (WaitTarget::Device, _) => streams_of(self.trace, call).all(goes_on),
            (WaitTarget::Event, _) => self.event_of(call).is_some_and(|event| {
                let state = self.state.events.get(event);
                let generation = state.map_or(0, |it| it.generation);
                match self.progress.record(event, generation) {
                    Record::At(place) => self.progress.is_past(place),
                    Record::Done => true,
                    Record::Never | Record::Unseen => false,
                }
            }),
            (WaitTarget::Stream, Some(stream)) => goes_on(stream),
            (_, Some(stream)) if drains || meaning.submits => goes_on(stream),
            _ => false,
        }
    }

    /// The target that a thread queries repeatedly.
    fn poll(&mut self, thread: ThreadId, poll: &PastCall) -> Culprit {
        let about = self.words.about_thread(thread);
        let (name, asks) = (self.words.thread(thread), self.words.past(poll));
        self.link(
            about.clone(),
            format!("{name} asks again and again with {asks}"),
        );
        let process = self.trace.thread(thread).process;
        match (poll.stream, poll.event) {
            (Some(stream), _) => self.stream(stream, None),
            (None, Some((serial, _))) => self.host_event(about, (process, serial), poll.begin),
            (None, None) => self.unknown(about, format!("it is not known what {asks} asks for")),
        }
    }

    /// All streams of a device: the first that stops for good, else the first that has work.
    fn device(&mut self, about: Subject, call: &Call) -> Culprit {
        let busy = self.state.queues.busy();
        let own = streams_of(self.trace, call).filter(|it| busy.contains(it));
        let own: Vec<StreamId> = own.collect();
        let stopped = own.iter().find(|it| self.progress.stop(**it).is_some());
        let works = own.iter().find(|it| self.progress.running(**it).is_some());
        match stopped.or(works) {
            Some(stream) => self.stream(*stream, None),
            None => self.unknown(
                about,
                "nothing on the device is known to be unfinished".to_owned(),
            ),
        }
    }

    /// A thread waits for the record of an event.
    fn host_event(&mut self, about: Subject, event: EventKey, since: i64) -> Culprit {
        let name = self.words.event(event);
        let state = self.state.events.get(event);
        let generation = state.map_or(0, |it| it.generation);
        match self.progress.record(event, generation) {
            Record::At(place) => self.behind(place, &format!("the record of {name}")),
            Record::Never => {
                let what = format!("{name} was never recorded");
                let certain = self.none_goes_on(event.0);
                let advice = "record the event before a thread waits for it".to_owned();
                Culprit {
                    since_ns: Some(since),
                    ..self.culprit((RootKind::Unrecorded, certain), about, what, advice)
                }
            }
            Record::Done | Record::Unseen => {
                self.unknown(about, format!("the record of {name} is known to be done"))
            }
        }
    }

    /// The event that a call names: of an open call only the handle is known.
    pub(in super::super) fn event_of(&self, call: &Call) -> Option<EventKey> {
        if let Some(generation) = call.event {
            let event = self.trace.event(generation.event);
            return Some((event.process, event.serial));
        }
        let at = self.trace.function(call.function).event?;
        let handle = *self.trace.args(call).get(usize::from(at))?;
        let process = self.trace.thread(call.thread).process;
        self.state.events.by_handle(process, handle)
    }

    /// The thread that is in a call which records an event.
    pub(super) fn recorder_under_way(&self, event: EventKey) -> Option<ThreadId> {
        let hosts = &self.state.hosts;
        hosts.threads().into_iter().find(|thread| {
            let open = hosts.get(*thread).and_then(|it| it.blocked_in(self.trace));
            open.is_some_and(|open| {
                let role = self.trace.function(open.call.function).role;
                role == Role::RecordEvent && self.event_of(&open.call) == Some(event)
            })
        })
    }

    /// Whether a stream has enough pending tasks to fill its queue.
    fn is_full(&self, stream: StreamId) -> bool {
        let queue = self.state.queues.stream(stream);
        queue.is_some_and(|it| it.entries().len() >= least_full(self.trace))
    }
}

/// A full queue is named where what holds the stream was not submitted.
fn behind_queue(culprit: Culprit, stream: &str, is_full: bool) -> Culprit {
    let was_not_submitted = matches!(
        culprit.kind,
        RootKind::Unrecorded | RootKind::Unset | RootKind::Callback
    );
    match is_full && was_not_submitted {
        true => Culprit {
            kind: RootKind::QueueFull,
            what: format!(
                "the queue of {stream} is full behind a wait: {}",
                culprit.what
            ),
            ..culprit
        },
        false => culprit,
    }
}
