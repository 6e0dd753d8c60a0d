//! Puts the report together.

use std::cmp::Reverse;
use std::collections::HashSet;

use ascend_trace_recording::{StackId, StreamId, ThreadId, Trace};

use super::communicators::communicators;
use super::follow::Follow;
use super::hosts::{Host, PastCall, UnreturnedCall};
use super::labels::Labels;
use super::progress::Progress;
use super::queues::{CompletionCondition, PendingTask};
use super::report::{
    Culprit, LastCall, Link, OpenCall, Report, RootKind, StreamState, ThreadState, Verdict,
};
use super::sight::{LookAtThreads, ThreadSight};
use super::state::HangState;
use super::verdict::verdict;
use crate::stats::CallSite;

/// The report on all that is known at the end of a recording.
pub(super) fn report(
    trace: &Trace,
    state: &mut HangState,
    end: i64,
    look: Option<LookAtThreads>,
) -> Report {
    let words = Labels::of(trace, end);
    if let Some(look) = look {
        state.hosts.look(trace, end, look);
    }
    let gone = |it: StreamId| words.gone(trace.stream(it).process).is_some();
    state.queues.end_all(gone);
    let state = &*state;
    let progress = Progress::of(trace, state, end);
    let moved = state.moved.last.unwrap_or(end);
    let builder = Builder {
        trace,
        state,
        progress: &progress,
        words,
        culprits: Vec::new(),
    };
    let is_there = |it: &ThreadId| words.gone(trace.thread(*it).process).is_none();
    let threads = state.hosts.threads().into_iter().filter(is_there);
    let mut report = builder.fill(&threads.collect::<Vec<_>>());
    report.end_ns = end;
    report.moved_ns = moved;
    report.quiet_ns = end.saturating_sub(moved).max(0);
    report.longest_pause_ns = state.moved.longest_ns;
    report.exit_status = trace.exit_status();
    report.communicators = communicators(trace, state, &progress);
    report.missing = missing(trace, state);
    let any_works = state.hosts.any_works();
    report.verdict = verdict(&report, any_works, |it| waited(&report, it));
    match report.verdict {
        Verdict::Hangs | Verdict::Quiet => sorted(report),
        Verdict::Ended | Verdict::Moving => without_culprits(report),
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    state: &'a HangState,
    progress: &'a Progress<'a>,
    words: Labels<'a>,
    culprits: Vec<Culprit>,
}

impl Builder<'_> {
    fn fill(mut self, threads: &[ThreadId]) -> Report {
        let hosts = &self.state.hosts;
        let waits = |thread: &ThreadId| {
            let host = hosts.get(*thread);
            host.is_some_and(|it| it.is_blocked(self.trace) || it.poll(self.words.now).is_some())
        };
        let waiting: HashSet<ThreadId> = threads.iter().copied().filter(waits).collect();
        let busy = self.state.queues.busy();
        let stops = |stream: &StreamId| self.progress.stop(*stream).is_some();
        let is_idle = waiting.is_empty() && !busy.iter().any(stops);
        let mut report = Report::default();
        for thread in threads {
            let Some(host) = hosts.get(*thread) else {
                continue;
            };
            let follows = waiting.contains(thread)
                || is_idle && host.is_outside()
                || host.outside_wait().is_some();
            let (chain, culprit) = match follows {
                true => {
                    let (chain, culprit) = self.follow().of_thread(*thread);
                    let tid = self.trace.thread(*thread).tid;
                    (chain, Some(self.add(culprit, Some(tid), None)))
                }
                false => (Vec::new(), None),
            };
            report
                .threads
                .push(self.thread(*thread, host, chain, culprit));
        }
        let mut listed = HashSet::new();
        for stream in busy {
            let state = self.stream(stream);
            listed.extend(state.is_some().then_some(stream));
            report.streams.extend(state);
        }
        let progress = self.progress;
        for (stream, since) in progress.awaited() {
            let process = self.trace.stream(*stream).process;
            if self.words.gone(process).is_none() && listed.insert(*stream) {
                report.streams.push(self.awaited(*stream, *since));
            }
        }
        report.culprits = self.culprits;
        report
    }

    fn follow(&self) -> Follow<'_> {
        Follow::new(self.words, self.state, self.progress)
    }

    /// Adds a culprit, or a waiter to an existing one.
    fn add(&mut self, culprit: Culprit, tid: Option<u32>, stream: Option<i64>) -> usize {
        let known = |it: &Culprit| {
            let is_same = it.kind == culprit.kind && it.what == culprit.what;
            // The full queue and the wait that fills it are one cause.
            let has_it = it.kind == RootKind::QueueFull && it.what.ends_with(&culprit.what);
            it.subject == culprit.subject && (is_same || has_it)
        };
        let place = self.culprits.iter().position(known);
        let place = place.unwrap_or_else(|| {
            self.culprits.push(culprit);
            self.culprits.len() - 1
        });
        self.culprits[place].threads.extend(tid);
        self.culprits[place].streams.extend(stream);
        place
    }

    fn thread(
        &self,
        thread: ThreadId,
        host: &Host,
        chain: Vec<Link>,
        culprit: Option<usize>,
    ) -> ThreadState {
        let known = self.trace.thread(thread);
        let process = self.trace.process(known.process);
        let polls = host.poll(self.words.now).is_some();
        ThreadState {
            process: process.serial,
            pid: process.pid,
            rank: process.rank_number(),
            tid: known.tid,
            thread: known.name.clone(),
            open_calls: host.open.iter().map(|it| self.open(it)).collect(),
            polls,
            polls_since_ns: host.asks_since.filter(|_| polls),
            ended: host.has_ended(),
            kernel: match &host.sight {
                ThreadSight::Lives { state, .. } => Some(state.clone()),
                ThreadSight::Unknown | ThreadSight::Ended => None,
            },
            last_calls: host.last.iter().map(|it| self.last(it)).collect(),
            chain,
            culprit,
        }
    }

    fn open(&self, open: &UnreturnedCall) -> OpenCall {
        let call = &open.call;
        let stream = call.stream.map(|stream| self.trace.stream(stream));
        OpenCall {
            name: self.words.function(call).to_owned(),
            call: open.number,
            depth: call.depth,
            begin_ns: call.begin,
            length_ns: self.words.now.saturating_sub(call.begin).max(0),
            device: stream.map(|it| it.device),
            stream_id: stream.map(|it| it.number()),
            event: self.follow().event_of(call).map(|event| event.1),
            at: self.place(call.stack),
        }
    }

    fn last(&self, past: &PastCall) -> LastCall {
        let stream = past.stream.map(|stream| self.trace.stream(stream));
        LastCall {
            name: self.trace.function(past.function).name.clone(),
            call: past.number,
            begin_ns: past.begin,
            end_ns: past.end,
            code: past.code,
            stream_id: stream.map(|it| it.number()),
            event: past.event.map(|event| event.0),
            at: self.place(past.stack),
        }
    }

    fn place(&self, stack: Option<StackId>) -> Option<CallSite> {
        CallSite::of(self.trace, stack?)
    }

    fn stream(&mut self, stream: StreamId) -> Option<StreamState> {
        let stop = self.progress.stop(stream);
        let head = stop.or_else(|| self.progress.running(stream))?;
        let queue = self.state.queues.stream(stream)?;
        let place = queue.place_of(head.sequence).unwrap_or(0);
        let known = self.trace.stream(stream);
        let process = self.trace.process(known.process);
        let (_, culprit) = self.follow().of_stream(stream);
        let culprit = self.add(culprit, None, Some(known.number()));
        Some(StreamState {
            process: process.serial,
            pid: process.pid,
            device: known.device,
            stream_id: known.number(),
            pending: (queue.entries().len() - place) as u64,
            head: head.name.to_string(),
            waits_for: waits_for(&self.words, head),
            submitted_ns: head.begin,
            culprit: Some(culprit),
        })
    }
}

impl Builder<'_> {
    /// A stream that a thread waits for, and on which nothing is known to be unfinished.
    fn awaited(&mut self, stream: StreamId, since: i64) -> StreamState {
        let known = self.trace.stream(stream);
        let process = self.trace.process(known.process);
        let (_, culprit) = self.follow().of_stream(stream);
        let culprit = self.add(culprit, None, Some(known.number()));
        StreamState {
            process: process.serial,
            pid: process.pid,
            device: known.device,
            stream_id: known.number(),
            pending: 0,
            head: String::new(),
            waits_for: "not known".to_owned(),
            submitted_ns: since,
            culprit: Some(culprit),
        }
    }
}

fn waits_for(words: &Labels<'_>, entry: &PendingTask) -> String {
    match entry.needs {
        CompletionCondition::Event(event, _) => words.event(event),
        CompletionCondition::Signal(_) => "a signal".to_owned(),
        CompletionCondition::Reports => "a callback".to_owned(),
        CompletionCondition::HostFunction => "a host function".to_owned(),
        CompletionCondition::Ranks(..) => "the other ranks".to_owned(),
        CompletionCondition::Device
        | CompletionCondition::Nothing
        | CompletionCondition::Record(..) => "the device".to_owned(),
    }
}

/// How long the threads that wait for a culprit have waited, at least since nothing moved.
fn waited(report: &Report, culprit: &Culprit) -> i64 {
    let waiters = report.threads.iter();
    let waiters = waiters.filter(|it| culprit.threads.contains(&it.tid));
    let open = waiters.flat_map(|it| &it.open_calls).map(|it| it.length_ns);
    open.max().unwrap_or(0).max(report.quiet_ns)
}

/// The most likely culprits first: certain ones, and those with most waiters.
fn sorted(mut report: Report) -> Report {
    let mut places: Vec<usize> = (0..report.culprits.len()).collect();
    places.sort_by_key(|place| {
        let it = &report.culprits[*place];
        (!it.certain, it.kind, Reverse(it.threads.len()), *place)
    });
    let moved = |old: Option<usize>| places.iter().position(|place| Some(*place) == old);
    for thread in &mut report.threads {
        thread.culprit = moved(thread.culprit);
    }
    for stream in &mut report.streams {
        stream.culprit = moved(stream.culprit);
    }
    report.culprits = places
        .iter()
        .map(|place| report.culprits[*place].clone())
        .collect();
    report
}

/// Nothing hangs, so nothing is to blame.
fn without_culprits(mut report: Report) -> Report {
    report.culprits.clear();
    for thread in &mut report.threads {
        thread.culprit = None;
        thread.chain.clear();
    }
    for stream in &mut report.streams {
        stream.culprit = None;
    }
    report
}

/// Data that the report would need and the recording does not have.
fn missing(trace: &Trace, state: &HangState) -> Vec<String> {
    let losses = trace.losses();
    let mut missing = Vec::new();
    if losses.calls > 0 || losses.others > 0 {
        missing.push(format!(
            "{} calls and {} other records were lost: what seems missing may be among them",
            losses.calls, losses.others
        ));
    }
    if state.untimed > 0 {
        missing.push(format!(
            "{} kernels and copies have no time: only a later sync shows that they ended",
            state.untimed
        ));
    }
    if trace.is_damaged() {
        missing.push("a part of the file cannot be read".to_owned());
    }
    missing
}
