//! Callbacks that no thread of the program runs.

use ascend_trace_recording::{StreamId, ThreadId};

use super::super::queues::Entry;
use super::super::report::{Culprit, Kind};
use super::Follow;

impl Follow<'_> {
    /// A stream has come to a callback.
    pub(super) fn callback(&mut self, stream: StreamId, entry: &Entry) -> Culprit {
        let name = self.words.stream(stream);
        let about = self.about_entry(stream, entry);
        let what = format!("{name} is held by a callback of {}", entry.name);
        self.link(about.clone(), what);
        let process = self.trace.stream(stream).process;
        let hosts = &self.state.hosts;
        let own = hosts.threads().into_iter();
        let own = own.filter(|thread| self.trace.thread(*thread).process == process);
        let servers: Vec<ThreadId> = own
            .filter(|it| hosts.get(*it).is_some_and(|it| it.is_server(self.trace)))
            .collect();
        let is_blocked = |thread: &ThreadId| {
            let host = hosts.get(*thread);
            host.is_some_and(|it| it.is_blocked(self.trace))
        };
        let advice = "process reports in a thread that does nothing else and waits for no stream";
        let (server, is_stuck) = match servers.as_slice() {
            [] => {
                let what = "no thread of the program processes reports".to_owned();
                let certain = self.all_wait(process);
                return Culprit {
                    since_ns: Some(entry.begin),
                    ..self.culprit((Kind::Callback, certain), about, what, advice.to_owned())
                };
            }
            servers => match servers.iter().find(|it| !is_blocked(it)) {
                Some(idle) => (*idle, false),
                None => (servers[0], true),
            },
        };
        let thread = self.words.thread(server);
        let subject = self.words.about_thread(server);
        if is_stuck {
            self.link(
                subject,
                format!("{thread}, which processes reports, waits itself"),
            );
            return self.thread(server);
        }
        let waits = hosts.get(server).is_some_and(|it| !it.open.is_empty());
        let last = hosts.get(server).and_then(|it| it.report);
        let what = match (waits, last) {
            (true, _) => format!(
                "{thread} waits for reports, and the callback on {name} is not among those it gets"
            ),
            (false, Some(last)) => format!(
                "{thread}, which processes reports, did so last {} ago",
                self.words.ago(last.end)
            ),
            (false, None) => format!("{thread} has not processed a report"),
        };
        let advice = format!("subscribe that thread to the stream; {advice}");
        Culprit {
            since_ns: Some(entry.begin),
            ..self.culprit((Kind::Callback, false), subject, what, advice)
        }
    }
}
