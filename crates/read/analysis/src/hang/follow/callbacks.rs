//! Callbacks that run, and those that no thread of the program runs.

use ascend_trace_format::api::REPORT_TIMEOUT;
use ascend_trace_recording::{StreamId, ThreadId};

use super::super::hosts::Host;
use super::super::queues::PendingTask;
use super::super::report::{Culprit, RootKind, Subject};
use super::super::sight::OutsideWait;
use super::{Follow, ServedBy, Step};

const RUNS: &str = "wait, or look at the stack of that thread: the function is at work or stuck";

pub(super) const ADVICE: &str =
    "process reports in a thread that does nothing else and waits for no stream";

impl Follow<'_> {
    /// A stream has reached a callback.
    pub(super) fn callback(&mut self, stream: StreamId, entry: &PendingTask) -> Culprit {
        let name = self.words.stream(stream);
        let about = self.about_entry(stream, entry);
        let what = format!("{name} is held by a callback of {}", entry.name);
        self.link(about.clone(), what);
        let hosts = &self.state.hosts;
        let servers = hosts.servers(self.trace, stream);
        let is_blocked = |thread: &ThreadId| {
            let host = hosts.get(*thread);
            host.is_some_and(|it| it.is_blocked(self.trace))
        };
        let has_ended = |thread: &ThreadId| hosts.get(*thread).is_some_and(Host::has_ended);
        let (ended, servers): (Vec<ThreadId>, Vec<ThreadId>) =
            servers.into_iter().partition(has_ended);
        match servers
            .iter()
            .find(|it| !is_blocked(it))
            .or(servers.first())
        {
            None => self.no_server(stream, entry, about, ended.first().copied()),
            Some(server) if is_blocked(server) => {
                let thread = self.words.thread(*server);
                let role = match hosts.subscriber(stream) {
                    Some(_) => "is subscribed to the stream",
                    None => "processes reports",
                };
                let reports = hosts.get(*server).and_then(|it| it.reporting(self.trace));
                let by = match reports {
                    Some(_) => ServedBy::Callback,
                    None => ServedBy::Reports,
                };
                self.served = Some((self.path.len(), by));
                self.link(
                    self.words.about_thread(*server),
                    format!("{thread}, which {role}, waits itself"),
                );
                self.thread(*server)
            }
            Some(server) => match self.runs_callback(stream, entry, *server) {
                true => self
                    .callback_waits(*server)
                    .unwrap_or_else(|| self.callback_runs(stream, entry, *server)),
                false => self.idle_server(stream, entry, *server),
            },
        }
    }

    /// Whether a thread that waits for reports has got this one: it is the one that is subscribed to the stream, it is in the
    /// call that runs callbacks, and this call has not ended without a report since the callback was due.
    fn runs_callback(&self, stream: StreamId, entry: &PendingTask, server: ThreadId) -> bool {
        let hosts = &self.state.hosts;
        let host = hosts.get(server);
        let reports = |host: &Host| host.reporting(self.trace).is_some();
        let due = self.due(stream, entry);
        let got_none = |host: &Host| {
            let last = host.report;
            last.is_some_and(|it| it.begin > due && it.code == Some(REPORT_TIMEOUT))
        };
        let may_run = host.is_some_and(|it| reports(it) && !got_none(it));
        may_run && hosts.subscriber(stream).is_some()
    }

    /// A thread is in the function of a callback, and waits there for another thread of its process.
    fn callback_waits(&mut self, server: ThreadId) -> Option<Culprit> {
        let host = self.state.hosts.get(server)?;
        let wait = host.callback_wait.clone()?;
        let since_ns = host.reporting(self.trace).map(|it| it.call.begin);
        let process = self.trace.thread(server).process;
        let ends = matches!(wait, OutsideWait::End(_) | OutsideWait::Lock(_));
        if ends && self.held_thread(process, &wait).is_none() {
            return None;
        }
        self.served = Some((self.path.len(), ServedBy::Callback));
        if let Some(cycle) = self.enter(Step::Thread(server)) {
            return Some(cycle);
        }
        let is_in = format!("{} is in the callback", self.words.thread(server));
        self.held_by(server, &wait, &is_in, since_ns)
    }

    /// A thread is in the function of a callback.
    fn callback_runs(&self, stream: StreamId, entry: &PendingTask, server: ThreadId) -> Culprit {
        let due = self.due(stream, entry);
        let (name, doing) = (self.words.stream(stream), self.words.thread(server));
        let what = format!(
            "the callback of {} on {name} has not returned for {}; {doing}, which runs it, is in the call that does so",
            entry.name,
            self.words.ago(due)
        );
        let about = self.about_entry(stream, entry);
        Culprit {
            since_ns: Some(due),
            ..self.culprit((RootKind::Running, false), about, what, RUNS.to_owned())
        }
    }

    /// No thread of the recording can run the callback.
    fn no_server(
        &self,
        stream: StreamId,
        entry: &PendingTask,
        about: Subject,
        ended: Option<ThreadId>,
    ) -> Culprit {
        let subscriber = self.state.hosts.subscriber(stream);
        let what = match (subscriber, ended.map(|it| self.words.thread(it))) {
            (Some(_), Some(thread)) => format!(
                "{thread}, which subscribed to {}, has ended",
                self.words.stream(stream)
            ),
            (None, Some(thread)) => {
                format!("{thread}, which processed reports, has ended, and no other thread does so")
            }
            (Some(_), None) => format!(
                "the thread that subscribed to {} has made no call",
                self.words.stream(stream)
            ),
            (None, None) => "no thread of the program processes reports".to_owned(),
        };
        let certain = self.all_wait(self.trace.stream(stream).process);
        Culprit {
            since_ns: Some(entry.begin),
            ..self.culprit(
                (RootKind::Callback, certain),
                about,
                what,
                ADVICE.to_owned(),
            )
        }
    }

    /// A thread should run the callback, and does not.
    fn idle_server(&self, stream: StreamId, entry: &PendingTask, server: ThreadId) -> Culprit {
        let (thread, name) = (self.words.thread(server), self.words.stream(stream));
        let host = self.state.hosts.get(server);
        let is_subscribed = self.state.hosts.subscriber(stream).is_some();
        let waits = host.is_some_and(|it| !it.open.is_empty());
        let what = match (waits, host.and_then(|it| it.report), is_subscribed) {
            (true, _, true) => format!("{thread} is subscribed to {name}, and gets no report"),
            (true, _, false) => format!(
                "{thread} waits for reports, and the callback on {name} is not among those it gets"
            ),
            (false, Some(last), _) => format!(
                "{thread}, which processes reports, did so last {} ago",
                self.words.ago(last.end)
            ),
            (false, None, true) => {
                format!("{thread} is subscribed to {name}, and has not processed a report")
            }
            (false, None, false) => format!("{thread} has not processed a report"),
        };
        let advice = match is_subscribed {
            true => ADVICE.to_owned(),
            false => format!("subscribe that thread to the stream; {ADVICE}"),
        };
        let about = self.words.about_thread(server);
        Culprit {
            since_ns: Some(entry.begin),
            ..self.culprit((RootKind::Callback, false), about, what, advice)
        }
    }
}
