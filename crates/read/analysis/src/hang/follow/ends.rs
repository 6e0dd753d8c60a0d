//! The ends of chains, in words.

use ascend_trace_recording::units::duration;
use ascend_trace_recording::{StreamId, ThreadId};

use super::super::events::EventKey;
use super::super::hosts::PastCall;
use super::super::queues::{CompletionCondition, PendingTask};
use super::super::report::{Culprit, RootKind, Subject};
use super::Follow;

impl Follow<'_> {
    pub(super) fn culprit(
        &self,
        (kind, certain): (RootKind, bool),
        subject: Subject,
        what: String,
        advice: String,
    ) -> Culprit {
        Culprit {
            kind,
            certain,
            subject,
            rank: None,
            code: None,
            since_ns: None,
            what,
            advice,
            threads: Vec::new(),
            streams: Vec::new(),
        }
    }

    pub(super) fn unknown(&self, subject: Subject, what: String) -> Culprit {
        let advice =
            "see what the recording lacks, and look at the stacks of the process".to_owned();
        self.culprit((RootKind::Unknown, false), subject, what, advice)
    }

    /// An event was not recorded after a wait for it.
    pub(super) fn never(&mut self, event: EventKey, entry: &PendingTask) -> Culprit {
        if let Some(thread) = self.recorder_under_way(event) {
            let name = self.words.thread(thread);
            let about = self.words.about_thread(thread);
            self.link(about, format!("{name} is in the call that records it"));
            return self.thread(thread);
        }
        let state = self.state.events.get(event);
        let name = self.words.event(event);
        let (last, failed) = (state.and_then(|it| it.last), state.and_then(|it| it.failed));
        let failed = failed.filter(|it| it.begin > entry.begin);
        let mut what = format!("{name} was not recorded after the wait for it");
        let mut about = Subject {
            event: Some(event.1),
            ..self.words.about_process(event.0)
        };
        if let Some(failed) = failed {
            let thread = self.words.thread(failed.thread);
            let code = self.words.code(failed.code);
            what += &format!("; {thread} was to record it, and its call returned {code}");
        } else if let Some(last) = last {
            let thread = self.words.thread(last.thread);
            let ago = self.words.ago(last.begin);
            let stream = last.place.map(|it| self.words.stream(it.stream));
            let stream = stream.map_or_else(String::new, |it| format!(" on {it}"));
            what += &format!("; {thread} recorded it last, {ago} ago{stream}");
            about = Subject {
                event: Some(event.1),
                ..self.words.about_thread(last.thread)
            };
        } else {
            what += ", nor before";
        }
        if self.lost_calls() {
            what += "; calls were lost, which may have";
        }
        let certain = self.all_wait(event.0);
        let advice = match last.map(|it| self.doing(it.thread)) {
            Some(doing) => format!("record the event before the wait is submitted; {doing}"),
            None => "record the event before the wait is submitted".to_owned(),
        };
        Culprit {
            code: failed.map(|it| it.code),
            since_ns: Some(entry.begin),
            ..self.culprit((RootKind::Unrecorded, certain), about, what, advice)
        }
    }

    /// Nothing sets the signal that a stream waits for.
    pub(super) fn unset(&self, subject: Subject, entry: &PendingTask) -> Culprit {
        let process = self.trace.process_numbered(subject.process);
        let certain = process.is_some_and(|it| self.all_wait(it));
        let what = format!(
            "nothing in the recording sets what {} waits for",
            entry.name
        );
        let advice = "submit what sets the signal; a device or a process outside the recording may do it as well";
        Culprit {
            since_ns: Some(entry.begin),
            ..self.culprit((RootKind::Unset, certain), subject, what, advice.to_owned())
        }
    }

    /// When the first task of a stream that is not known to be done could begin.
    pub(super) fn due(&self, stream: StreamId, entry: &PendingTask) -> i64 {
        let ended = self.state.queues.stream(stream).and_then(|it| it.last_end);
        entry.begin.max(ended.unwrap_or(i64::MIN))
    }

    /// A task that nothing holds up has not ended.
    pub(super) fn running(&self, stream: StreamId, entry: &PendingTask) -> Culprit {
        let since = self.due(stream, entry);
        let known = self.state.lengths.of(&entry.name);
        let (name, ago) = (self.words.stream(stream), self.words.ago(since));
        let (what, advice) = match entry.needs {
            CompletionCondition::HostFunction => (
                format!(
                    "the host function of {} on {name} has not returned for {ago}",
                    entry.name
                ),
                "wait, or look at the stacks of all threads: the function works, sleeps, or waits, for example for a lock of the thread that waits for it",
            ),
            _ => (
                format!("{} on {name} has not ended for {ago}", entry.name),
                "wait, or look at its inputs: the device is at work or stuck",
            ),
        };
        let usual = known.map_or_else(String::new, |it| {
            let longest = duration(it.longest_ns);
            format!("; the longest of {} before took {longest}", it.count)
        });
        let about = self.about_entry(stream, entry);
        Culprit {
            since_ns: Some(since),
            ..self.culprit(
                (RootKind::Running, false),
                about,
                what + &usual,
                advice.to_owned(),
            )
        }
    }

    /// The tasks of a stream were stopped.
    pub(super) fn aborted(&self, stream: StreamId, by: PastCall) -> Culprit {
        let (name, thread) = (self.words.stream(stream), self.words.thread(by.thread));
        let (call, ago) = (self.words.past(&by), self.words.ago(by.begin));
        let what = format!("{thread} stopped the tasks of {name} with {call}, {ago} ago");
        let advice = "destroy the stream, and submit the work to another one";
        Culprit {
            since_ns: Some(by.begin),
            ..self.culprit(
                (RootKind::Failed, true),
                self.about_past(&by),
                what,
                advice.to_owned(),
            )
        }
    }

    /// The device failed.
    pub(super) fn failed(&self, by: PastCall) -> Culprit {
        let code = self.words.code(by.code.unwrap_or(0));
        let (call, ago) = (self.words.past(&by), self.words.ago(by.end));
        let what = format!("{call} returned {code}, {ago} ago: tasks after a failure do not run");
        let advice = "look at this first failure; later failures follow from it";
        Culprit {
            code: by.code,
            since_ns: Some(by.end),
            ..self.culprit(
                (RootKind::Failed, true),
                self.about_past(&by),
                what,
                advice.to_owned(),
            )
        }
    }

    fn about_past(&self, by: &PastCall) -> Subject {
        let stream = by.stream.map(|it| self.words.about_stream(it));
        let stream = stream.unwrap_or_default();
        Subject {
            device: stream.device,
            stream_id: stream.stream_id,
            call: Some(by.number),
            ..self.words.about_thread(by.thread)
        }
    }

    /// A thread is in no call.
    pub(super) fn outside(&self, thread: ThreadId) -> Culprit {
        let last = self.state.hosts.get(thread).and_then(|it| it.last.back());
        let what = format!("{} is outside AscendCL: {}", self.words.thread(thread), {
            let returned = |it: &PastCall| {
                let ago = self.words.ago(it.end);
                format!("its last call, {}, ended {ago} ago", self.words.past(it))
            };
            last.map_or_else(|| "it made no call".to_owned(), returned)
        });
        let advice =
            "look at the stack of this thread: it computes, sleeps, or waits for something else";
        Culprit {
            since_ns: last.map(|it| it.end),
            ..self.culprit(
                (RootKind::Outside, false),
                self.words.about_thread(thread),
                what,
                advice.to_owned(),
            )
        }
    }

    /// Present activity of a thread, for advice.
    pub(super) fn doing(&self, thread: ThreadId) -> String {
        let name = self.words.thread(thread);
        let host = self.state.hosts.get(thread);
        let open = host.and_then(|it| it.blocked_in(self.trace));
        match (open, host.and_then(|it| it.last.back())) {
            (Some(open), _) => {
                let function = self.words.function(&open.call);
                format!(
                    "{name} is in {function} for {}",
                    self.words.ago(open.call.begin)
                )
            }
            (None, Some(last)) => format!(
                "{name} is outside AscendCL for {}",
                self.words.ago(last.end)
            ),
            (None, None) => format!("{name} makes no calls"),
        }
    }
}
