//! Loops that query until something is done: they wait for it, as a blocking call does.
//!
//! A loop consists of queries of one thread that follow each other, without other work of AscendCL between them. It
//! waits for an object if an earlier query in it has found the object busy, and the last one finds it done. Loops over
//! several objects wait for each of them.

use ascend_trace_format::api::{ArgPart, Fact, RetKind, Role, WaitTarget};
use ascend_trace_recording::{Call, EventId, Function, StreamId, Trace};

/// A longer pause between two queries is work of the host, and ends a loop. Nanoseconds.
const MOST_PAUSE_NS: i64 = 10_000_000;

/// A loop of many queries uses all of its processor's time, so the system stops it now and then: this pause is no work. The number is
/// less than the calls of a thread that every window has.
const MANY_QUERIES: u32 = 64;
const MOST_STOP_NS: i64 = 100_000_000;

/// An object that was busy is forgotten after this number of queries for others. Fewer than the calls of a thread that
/// every window has, so that the cuts between windows change nothing.
const MOST_OTHERS: u32 = 64;

/// The object of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The tasks of a stream.
    Stream(StreamId),
    /// The last record of an event.
    Record(EventId),
    /// The waits of streams for an event.
    Waits(EventId),
}

/// The target of calls of a function that ask whether something is done.
pub(crate) fn target(function: &Function) -> WaitTarget {
    match function.role {
        Role::QueryStream => WaitTarget::Stream,
        Role::QueryEvent | Role::QueryWaits => WaitTarget::Event,
        _ => WaitTarget::Nothing,
    }
}

/// The object of a query, and whether it was done.
fn answer(trace: &Trace, call: &Call) -> Option<(Asked, bool)> {
    let function = trace.function(call.function);
    let event = || Some(call.event?.event);
    let (asked, done) = match function.role {
        Role::QueryStream => (Asked::Stream(call.stream?), 0),
        Role::QueryEvent => {
            let done = u64::from(!function.is(Fact::ZeroWhenDone));
            (Asked::Record(event()?), done)
        }
        Role::QueryWaits => (Asked::Waits(event()?), 0),
        _ => return None,
    };
    let code = call.result()?;
    let succeeded = code == 0 || function.ret != RetKind::Error;
    match function.part(ArgPart::Status) {
        // It succeeds once the object is done.
        None => Some((asked, succeeded)),
        Some(at) => {
            let status = trace.args(call).get(at).filter(|_| succeeded)?;
            Some((asked, *status == done))
        }
    }
}

/// How a call belongs to a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PollStep {
    /// It continues the loop of the call before it.
    pub(crate) continues: bool,
    /// It ends a wait, which began then.
    pub(crate) waited_since: Option<i64>,
    /// The longest time from the end of a query in this wait to the end of the next one.
    pub(crate) period: i64,
}

/// An object that was busy.
#[derive(Clone, Copy, Debug)]
struct BusyObject {
    asked: Asked,
    /// The number of the last query for it.
    at: u32,
}

/// The queries of a thread that follow each other.
#[derive(Clone, Debug)]
struct PollLoop {
    /// The begin of the present wait; `None` right after one.
    begin: Option<i64>,
    end: i64,
    queries: u32,
    period: i64,
    busy: Vec<BusyObject>,
}

/// The loops of all threads, on the way through their calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polls {
    threads: Vec<Option<PollLoop>>,
}

impl Polls {
    /// Takes in the next call of a thread.
    pub(crate) fn note(&mut self, trace: &Trace, call: &Call) -> PollStep {
        if call.depth > 0 {
            return PollStep::default();
        }
        let thread = call.thread.index();
        let answer = answer(trace, call);
        let known = self.threads.get_mut(thread).map(Option::as_mut);
        match (answer, known) {
            (Some(answer), Some(Some(own))) if call.begin - own.end <= own.most_pause() => {
                own.take(call, answer)
            }
            (Some((asked, done)), _) => {
                if self.threads.len() <= thread {
                    self.threads.resize(thread + 1, None);
                }
                self.threads[thread] = Some(PollLoop::of(call, asked, done));
                PollStep::default()
            }
            (None, Some(Some(own))) if trace.function(call.function).is(Fact::Asks) => PollStep {
                continues: own.begin.is_some(),
                ..PollStep::default()
            },
            (None, _) => {
                if let Some(own) = self.threads.get_mut(thread) {
                    *own = None;
                }
                PollStep::default()
            }
        }
    }
}

impl PollLoop {
    fn of(call: &Call, asked: Asked, done: bool) -> Self {
        let first = BusyObject { asked, at: 0 };
        Self {
            begin: Some(call.begin),
            end: call.end,
            queries: 0,
            period: 0,
            busy: if done { Vec::new() } else { vec![first] },
        }
    }

    /// The longest pause before another query of the loop.
    fn most_pause(&self) -> i64 {
        match self.queries {
            0..MANY_QUERIES => MOST_PAUSE_NS,
            _ => MOST_STOP_NS,
        }
    }

    fn take(&mut self, call: &Call, (asked, done): (Asked, bool)) -> PollStep {
        let continues = self.begin.is_some();
        let begin = *self.begin.get_or_insert(call.begin);
        if continues {
            self.period = self.period.max(call.end - self.end);
        }
        self.end = call.end;
        self.queries = self.queries.wrapping_add(1);
        let now = self.queries;
        self.busy
            .retain(|it| now.wrapping_sub(it.at) <= MOST_OTHERS);
        let place = self.busy.iter().position(|it| it.asked == asked);
        let mut waited_since = None;
        match (place, done) {
            (Some(place), true) => {
                self.busy.swap_remove(place);
                self.begin = None;
                waited_since = Some(begin);
            }
            (Some(place), false) => self.busy[place].at = now,
            (None, false) => self.busy.push(BusyObject { asked, at: now }),
            (None, true) => {}
        }
        let period = self.period;
        if waited_since.is_some() {
            self.period = 0;
        }
        PollStep {
            continues,
            waited_since,
            period,
        }
    }
}
