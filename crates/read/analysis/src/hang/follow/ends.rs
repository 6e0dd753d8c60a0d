//! The ends of chains, in words.

use ascend_trace_recording::units::duration;
use ascend_trace_recording::{StreamId, ThreadId};

use super::super::events::{EventKey, EventState};
use super::super::hosts::{Host, PastCall};
use super::super::queues::{CompletionCondition, PendingTask};
use super::super::report::{Culprit, RootKind, Subject};
use super::super::signals::SignalKey;
use super::{Follow, outside};

/// A task that took that many times longer than any before, and this time, has most likely ended. Nanoseconds.
const TIMES_LONGER: i64 = 10;
const AT_LEAST_NS: i64 = 1_000_000_000;

const AT_WORK: &str = "wait, or look at its inputs: the device is at work or stuck";

const STACKS: &str = "look at the stacks of all threads: the function works, sleeps, or waits, for example for a lock of the \
                      thread that waits for it";

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
            may_recur: false,
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
        let taken_back = state.and_then(EventState::taken_back);
        let taken_back = taken_back.filter(|(reset, _)| reset.begin <= entry.begin);
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
            if let Some((reset, function)) = taken_back {
                let stream = reset.place.map(|it| self.words.stream(it.stream));
                let on = stream.map_or_else(String::new, |it| format!(" on {it}"));
                what += &format!(
                    ", and {}{on} took that back {} ago, before a wait for it",
                    self.trace.function(function).name,
                    self.words.ago(reset.begin)
                );
            }
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
        let is_plain = failed.is_none() && taken_back.is_none();
        if let Some(last) = last.filter(|it| is_plain && self.is_held_outside(it.thread)) {
            let ago = self.words.ago(last.begin);
            return self.likely(last.thread, &format!("recorded it last, {ago} ago"));
        }
        let certain = self.none_goes_on(event.0);
        let advice = match taken_back {
            Some(_) => "submit the wait before the reset, or record the event once more",
            None => "record the event before the wait is submitted",
        };
        let advice = match last.map(|it| self.doing(it.thread)) {
            Some(doing) => format!("{advice}; {doing}"),
            None => advice.to_owned(),
        };
        Culprit {
            code: failed.map(|it| it.code),
            since_ns: Some(entry.begin),
            may_recur: last.is_some_and(|it| self.may_recur(it.thread)),
            ..self.culprit((RootKind::Unrecorded, certain), about, what, advice)
        }
    }

    /// Whether a thread that did something before may do it again: it is in no call, and the system says nothing of it.
    fn may_recur(&self, thread: ThreadId) -> bool {
        let host = self.state.hosts.get(thread);
        host.is_some_and(Host::is_out_of_sight)
    }

    /// Nothing sets the signal that a stream waits for. `is_taken`: there is a record for the wait, and it is done.
    pub(super) fn unset(
        &mut self,
        subject: Subject,
        entry: &PendingTask,
        key: Option<SignalKey>,
        is_taken: bool,
    ) -> Culprit {
        let process = self.trace.process_numbered(subject.process);
        let certain = process.is_some_and(|it| self.none_goes_on(it));
        let setter = key.and_then(|it| self.state.signals.setter(it));
        let lost = key.and_then(|it| self.state.signals.lost(it));
        let name = &entry.name;
        let what = match (lost, is_taken) {
            (Some(lost), _) => format!(
                "nothing sets what {name} waits for: a notify holds one signal, and a record on {} (call {}, {} ago) came while it \
                 was set",
                self.words.stream(lost.place.stream),
                lost.call,
                self.words.ago(lost.begin)
            ),
            (None, true) => format!(
                "{name} is not over, although the notify was recorded for each wait: a notify holds one signal, and a record that \
                 comes while it is set is lost"
            ),
            (None, false) => match setter {
                Some((thread, begin)) => format!(
                    "nothing sets what {name} waits for; {} did so last, {} ago",
                    self.words.thread(thread),
                    self.words.ago(begin)
                ),
                None => format!("nothing in the recording sets what {name} waits for"),
            },
        };
        let is_lost = lost.is_some() || is_taken;
        if let Some((thread, begin)) = setter.filter(|it| !is_lost && self.is_held_outside(it.0)) {
            let ago = self.words.ago(begin);
            return self.likely(thread, &format!("set it last, {ago} ago"));
        }
        let advice = match is_lost {
            true => "let the stream that records the notify wait until its last signal was taken",
            false => {
                "submit what sets the signal; a device or a process outside the recording may do it as well"
            }
        };
        let advice = match setter.map(|it| self.doing(it.0)) {
            Some(doing) => format!("{advice}; {doing}"),
            None => advice.to_owned(),
        };
        Culprit {
            since_ns: Some(entry.begin),
            may_recur: setter.is_some_and(|it| self.may_recur(it.0)),
            ..self.culprit((RootKind::Unset, certain), subject, what, advice)
        }
    }

    /// When the first task of a stream that is not known to be done could begin.
    pub(super) fn due(&self, stream: StreamId, entry: &PendingTask) -> i64 {
        let ended = self.state.queues.stream(stream).and_then(|it| it.last_end);
        entry.begin.max(ended.unwrap_or(i64::MIN))
    }

    /// A task that nothing holds up has not ended. Of one without a time this is not known: then a task behind it may hold the
    /// stream as well.
    pub(super) fn running(&self, stream: StreamId, entry: &PendingTask) -> Culprit {
        let since = self.due(stream, entry);
        let is_before = |it: &&PendingTask| self.before.is_none_or(|before| it.sequence < before);
        let may_be_over = entry.has_no_time && entry.needs != CompletionCondition::HostFunction;
        let next = self.progress.host_work_behind(stream, entry);
        let next = next.filter(|it| may_be_over && is_before(it));
        let name = self.words.stream(stream);
        let own = Self::state_of(entry);
        let for_long = format!("for {}", self.words.ago(since));
        let usual = self.usual(entry);
        let no_time = format!("; {} has no time", entry.name);
        let (about, what, advice) = match next {
            // Tasks that are usually short have ended, most likely.
            Some(next) if self.are_short(stream, entry, next, since) => (
                next,
                format!(
                    "{} on {name} {}, or {} before it {}, {for_long}{no_time}{usual}",
                    self.noun(stream, next),
                    Self::state_of(next),
                    entry.name,
                    own
                ),
                self.running_advice(stream, next),
            ),
            Some(next) => (
                entry,
                format!(
                    "{} on {name} {own}, or {} behind it {}, {for_long}{no_time}{usual}",
                    self.noun(stream, entry),
                    self.noun(stream, next),
                    Self::state_of(next)
                ),
                format!("{AT_WORK}; or {}", self.running_advice(stream, next)),
            ),
            None => {
                let more = self.progress.work_behind(stream, entry).filter(is_before);
                let more = match more.filter(|_| may_be_over).count() {
                    0 => String::new(),
                    1 => ", or the task behind it,".to_owned(),
                    more => format!(", or one of {more} tasks behind it,"),
                };
                (
                    entry,
                    format!(
                        "{} on {name}{more} {own} {for_long}{usual}",
                        self.noun(stream, entry)
                    ),
                    self.running_advice(stream, entry),
                )
            }
        };
        let certain =
            self.is_in_function(stream, about) && self.is_stuck(self.trace.stream(stream).process);
        let (what, advice) = match certain {
            true => (
                format!("{what}, and {}", outside::NONE_GOES_ON),
                "look at the stacks of all threads: the function waits for something that another thread would do".to_owned(),
            ),
            false => (what, advice),
        };
        Culprit {
            since_ns: Some(since),
            ..self.culprit(
                (RootKind::Running, certain),
                self.about_entry(stream, about),
                what,
                advice,
            )
        }
    }

    /// Whether a task and the work between it and a later task have taken much less time before than has passed now.
    fn are_short(
        &self,
        stream: StreamId,
        entry: &PendingTask,
        next: &PendingTask,
        since: i64,
    ) -> bool {
        let between = self.progress.work_behind(stream, entry);
        let between = between.filter(|it| it.sequence < next.sequence);
        let mut all = [entry].into_iter().chain(between);
        all.all(|it| self.is_long(it, since))
    }

    /// Whether the first task of a stream that is not known to be done has taken much longer than such tasks did before.
    pub(super) fn is_overdue(&self, stream: StreamId, entry: &PendingTask) -> bool {
        self.is_long(entry, self.due(stream, entry))
    }

    /// Whether much more time has passed since then than tasks of a name took before.
    fn is_long(&self, entry: &PendingTask, since: i64) -> bool {
        let passed = self.words.now.saturating_sub(since);
        let known = self.state.lengths.of(&entry.name);
        let usual = known.map(|it| it.longest_ns.saturating_mul(TIMES_LONGER));
        usual.is_some_and(|usual| passed >= usual.saturating_add(AT_LEAST_NS))
    }

    /// A task, as the subject of a sentence.
    fn noun(&self, stream: StreamId, entry: &PendingTask) -> String {
        match entry.needs {
            CompletionCondition::HostFunction => format!("the host function of {}", entry.name),
            CompletionCondition::Reports => format!("the callback of {}", entry.name),
            _ => match self.progress.host_functions(stream, entry) {
                0 => entry.name.to_string(),
                1 => format!("{}, a graph with a host function,", entry.name),
                many => format!("{}, a graph with {many} host functions,", entry.name),
            },
        }
    }

    fn state_of(entry: &PendingTask) -> &'static str {
        match entry.needs {
            CompletionCondition::HostFunction | CompletionCondition::Reports => "has not returned",
            _ => "has not ended",
        }
    }

    fn running_advice(&self, stream: StreamId, entry: &PendingTask) -> String {
        let runs_on_host = matches!(
            entry.needs,
            CompletionCondition::HostFunction | CompletionCondition::Reports
        );
        match (runs_on_host, self.progress.host_functions(stream, entry)) {
            (true, _) => format!("wait, or {STACKS}"),
            (false, 0) => AT_WORK.to_owned(),
            (false, _) => format!("{AT_WORK}, or a host function of the graph is: {STACKS}"),
        }
    }

    /// The longest time of earlier tasks of this name.
    fn usual(&self, entry: &PendingTask) -> String {
        let known = self.state.lengths.of(&entry.name);
        known.map_or_else(String::new, |it| {
            let longest = duration(it.longest_ns);
            format!("; the longest of {} before took {longest}", it.count)
        })
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

    /// Present activity of a thread, for advice.
    pub(super) fn doing(&self, thread: ThreadId) -> String {
        let name = self.words.thread(thread);
        let host = self.state.hosts.get(thread);
        if host.is_some_and(Host::has_ended) {
            return format!("{name} has ended");
        }
        let open = host.and_then(|it| it.blocked_in(self.trace));
        match (open, host.and_then(|it| it.last.back())) {
            (Some(open), _) => {
                let function = self.words.function(&open.call);
                format!(
                    "{name} is in {function} for {}",
                    self.words.ago(open.call.begin)
                )
            }
            (None, Some(last)) => {
                let does = host.and_then(|it| it.outside_wait());
                let does =
                    does.map_or_else(String::new, |it| format!(": {}", outside::in_words(it)));
                format!(
                    "{name} is outside AscendCL for {}{does}",
                    self.words.ago(last.end)
                )
            }
            (None, None) => format!("{name} makes no calls"),
        }
    }
}
