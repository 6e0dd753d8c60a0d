//! Functions of the program that a thread of the runtime runs (`aclrtLaunchHostFunc`).
//!
//! No call names that thread. It makes its first call after the first launch of such a function, submits nothing, and has a
//! name that no thread of the program has. Where exactly one thread is like that and is in a call, it runs the function.

use ascend_trace_recording::{StreamId, ThreadId};

use super::super::queues::PendingTask;
use super::super::report::Culprit;
use super::{Follow, ServedBy};

impl Follow<'_> {
    /// A stream has reached a function on the host.
    pub(super) fn host_function(&mut self, stream: StreamId, entry: &PendingTask) -> Culprit {
        let Some(thread) = self.runs_function(stream, entry) else {
            return self.running(stream, entry);
        };
        let (stream_name, name) = (self.words.stream(stream), self.words.thread(thread));
        let about = self.about_entry(stream, entry);
        self.link(
            about,
            format!(
                "{stream_name} is held by the host function of {}",
                entry.name
            ),
        );
        let role = format!("{name}, which runs it, waits itself");
        self.link(self.words.about_thread(thread), role);
        self.served = Some((self.path.len(), ServedBy::HostFunction));
        self.thread(thread)
    }

    /// The thread that runs the function, if it waits in a call.
    fn runs_function(&self, stream: StreamId, entry: &PendingTask) -> Option<ThreadId> {
        let hosts = &self.state.hosts;
        let process = self.trace.stream(stream).process;
        let launched = hosts.first_function(process)?;
        let own = hosts.threads().into_iter();
        let own = own.filter(|it| self.trace.thread(*it).process == process);
        let name = |thread: ThreadId| self.trace.thread(thread).name.as_str();
        let (guests, others): (Vec<ThreadId>, Vec<ThreadId>) = own.partition(|thread| {
            hosts.get(*thread).is_some_and(|host| {
                host.first >= Some(launched) && !host.submits && !host.is_server(self.trace)
            })
        });
        let is_own_name = |thread: &ThreadId| {
            let name_of = name(*thread);
            !name_of.is_empty() && others.iter().all(|other| name(*other) != name_of)
        };
        let waits = |thread: &ThreadId| {
            let open = hosts.get(*thread).and_then(|it| it.blocked_in(self.trace));
            open.is_some_and(|open| open.call.begin >= entry.begin)
        };
        let mut found = guests.into_iter().filter(is_own_name).filter(waits);
        let thread = found.next()?;
        found.next().is_none().then_some(thread)
    }
}
