//! Functions of the program that a thread of the runtime runs (`aclrtLaunchHostFunc`).
//!
//! No call names that thread. It makes its first call after the first launch of such a function, submits nothing, and has a
//! name that no thread of the program has. Where exactly one thread is like that and is in a call, it runs the function. A
//! thread without calls runs it if the system shows exactly one thread of the runtime that waits in code of the program.
//!
//! The runtime has one such thread for each context. So of several functions of a context, the one that was due first runs.

use ascend_trace_recording::{StreamId, ThreadId};

use super::super::queues::{CompletionCondition, PendingTask};
use super::super::report::Culprit;
use super::{Follow, ServedBy};

impl Follow<'_> {
    /// A stream has reached a function on the host.
    pub(super) fn host_function(&mut self, stream: StreamId, entry: &PendingTask) -> Culprit {
        let name = self.words.stream(stream);
        let held = format!("{name} is held by the host function of {}", entry.name);
        let about = self.about_entry(stream, entry);
        if let Some(other) = self.earlier_function(stream, entry) {
            let other_name = self.words.stream(other);
            self.link(
                about,
                format!(
                    "{held}, behind that of {other_name}: the runtime runs the host functions of a context one after another"
                ),
            );
            return self.stream(other, None);
        }
        let Some(thread) = self.runs_function(stream, entry) else {
            let culprit = self.function_waits(stream, entry, &held);
            return culprit.unwrap_or_else(|| self.running(stream, entry));
        };
        let name = self.words.thread(thread);
        self.link(about, held);
        let role = format!("{name}, which runs it, waits itself");
        self.link(self.words.about_thread(thread), role);
        self.served = Some((self.path.len(), ServedBy::HostFunction));
        self.thread(thread)
    }

    /// Whether a stream has reached a function of the program. A graph with a function counts if a thread of the runtime waits in a
    /// function, and earlier replays took much less time.
    pub(super) fn is_in_function(&self, stream: StreamId, entry: &PendingTask) -> bool {
        let process = self.trace.process(self.trace.stream(stream).process);
        let mut waiting = self.state.hosts.in_functions(process.pid);
        let is_graph_with_one = || self.progress.host_functions(stream, entry) > 0;
        entry.needs == CompletionCondition::HostFunction
            || is_graph_with_one() && waiting.next().is_some() && self.is_overdue(stream, entry)
    }

    /// Streams of a process that have reached a function, and that no function of their context holds up.
    fn at_functions(&self, stream: StreamId) -> Vec<StreamId> {
        let process = self.trace.stream(stream).process;
        let mut found = self.state.queues.busy();
        found.retain(|it| {
            let head = self.progress.running(*it);
            let head = head.filter(|head| head.needs == CompletionCondition::HostFunction);
            self.trace.stream(*it).process == process
                && head.is_some_and(|head| self.earlier_function(*it, head).is_none())
        });
        found
    }

    /// Another stream of the context, with a function that was due before this one.
    fn earlier_function(&self, stream: StreamId, entry: &PendingTask) -> Option<StreamId> {
        let context = self.trace.stream(stream).context?;
        let own = (self.due(stream, entry), stream);
        let busy = self.state.queues.busy().into_iter();
        let others = busy.filter(|it| self.trace.stream(*it).context == Some(context));
        let due = others.filter_map(|other| {
            let head = self.progress.running(other)?;
            (head.needs == CompletionCondition::HostFunction)
                .then(|| (self.due(other, head), other))
        });
        due.min().filter(|first| *first < own).map(|it| it.1)
    }

    /// A thread of the runtime, which made no calls, waits in the function for a thread that did.
    fn function_waits(
        &mut self,
        stream: StreamId,
        entry: &PendingTask,
        held: &str,
    ) -> Option<Culprit> {
        let process = self.trace.stream(stream).process;
        let pid = self.trace.process(process).pid;
        let mut waiting = self.state.hosts.in_functions(pid);
        let (runs, others) = (waiting.next()?, waiting.next());
        if others.is_some() || self.at_functions(stream) != [stream] {
            return None;
        }
        let wait = runs.waits.clone()?;
        let other = self.held_thread(process, &wait)?;
        let about = self.about_entry(stream, entry);
        let tid = runs.tid;
        self.link(about.clone(), held.to_owned());
        let does = super::outside::in_words(&wait);
        self.link(
            about,
            format!("thread {tid} of the runtime runs it: {does}"),
        );
        self.served = Some((self.path.len(), ServedBy::HostFunction));
        Some(self.goes_on_to(other, &wait))
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
