//! Ended objects of a program, and the calls that used them later.
//!
//! A handle means nothing after the end of its object, until a new object gets the same handle. Only
//! calls that failed or did not return are examined: a handle that works belongs to a live object.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::api::{ArgKind, ObjectUse, RetKind, Role};
use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{
    Call, CallId, EventId, Function, ProcessId, StreamId, ThreadId, Trace,
};

use super::happens_before::{NotedCall, OrderFact};
use crate::Window;

/// Ended things that are remembered.
const MOST: usize = 1 << 16;

/// What calls return in a thread that is bound to nothing.
const NO_CONTEXT: i64 = 107_002;

/// Kinds of objects that can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndedObject {
    Stream(StreamId),
    Event(EventId),
    Context,
    /// Memory that was given back.
    Memory,
    /// The context or device that the thread was bound to.
    Binding,
}

/// A thing by its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Handle {
    Stream(u64),
    Event(u64),
    Context(u64),
}

/// A call that used what another one had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseAfterEnd {
    pub by: NotedCall,
    pub entity: EndedObject,
    /// The call that ended the thing.
    pub ended: NotedCall,
}

/// Effect of a call on objects, with all necessary data: the call may have been forgotten when its time
/// is reached.
#[derive(Clone, Copy, Debug)]
struct ObjectStep {
    at: i64,
    is_begin: bool,
    process: ProcessId,
    note: NotedCall,
    act: ObjectEffect,
}

#[derive(Clone, Copy, Debug)]
enum ObjectEffect {
    Fails(NamedObjects, bool),
    /// It works, so the object exists.
    Works(NamedObjects),
    Makes(NamedObjects),
    Ends(NamedObjects),
    EndsContext(u64),
    EndsDevice(Option<u32>),
    Binds(NamedObjects),
    Misses,
}

/// The things that a call names.
#[derive(Clone, Copy, Debug, Default)]
struct NamedObjects {
    stream: Option<(StreamId, u64)>,
    event: Option<(EventId, u64)>,
    context: Option<u64>,
}

impl NamedObjects {
    fn handles(self) -> impl Iterator<Item = Handle> {
        let stream = self.stream.map(|(_, handle)| Handle::Stream(handle));
        let event = self.event.map(|(_, handle)| Handle::Event(handle));
        let context = self.context.map(Handle::Context);
        [stream, event, context].into_iter().flatten()
    }
}

/// A live stream.
#[derive(Clone, Copy, Debug)]
struct LiveStream {
    stream: StreamId,
    /// The handle of its context.
    context: Option<u64>,
    device: u32,
}

/// Ended objects of each process.
#[derive(Debug, Default)]
pub(super) struct EndedObjects {
    live: HashMap<(ProcessId, u64), LiveStream>,
    gone: HashMap<(ProcessId, Handle), (EndedObject, NotedCall)>,
    /// The calls that ended the objects which threads were bound to.
    unbound: HashMap<ThreadId, NotedCall>,
    ahead: Vec<ObjectStep>,
}

impl EndedObjects {
    /// Takes the next window, and returns its calls that used ended objects.
    pub(super) fn take(
        &mut self,
        window: &Window<'_>,
        wanted: &dyn Fn(CallId) -> bool,
    ) -> Vec<OrderFact> {
        let trace = window.trace;
        let changes = |id: &CallId| {
            let function = trace.function(trace.call(*id).function);
            function.role.meaning().changes
        };
        let changing = window.calls().filter(changes);
        self.ahead
            .extend(changing.filter_map(|id| step(trace, id, wanted)));
        let until = match window.part.is_last {
            true => i64::MAX,
            false => window.part.until,
        };
        let mut matter = CallRelevance::of(&self.ahead, until);
        let others = window.calls().filter(|id| !changes(id));
        let others = others.filter_map(|id| step(trace, id, wanted));
        let others: Vec<ObjectStep> = others.filter(|it| matter.holds(self, it)).collect();
        self.ahead.extend(others);
        self.ahead.extend(pauses(window));
        // Ends come before begins of the same time.
        self.ahead
            .sort_by_key(|step| (step.at, step.is_begin, step.note.number));
        let due = self.ahead.partition_point(|step| step.at < until);
        let steps: Vec<ObjectStep> = self.ahead.drain(..due).collect();
        let uses = steps.into_iter().filter_map(|step| self.step(trace, step));
        uses.map(OrderFact::UsedAfterEnd).collect()
    }

    fn step(&mut self, trace: &Trace, step: ObjectStep) -> Option<UseAfterEnd> {
        let (process, note) = (step.process, step.note);
        match step.act {
            ObjectEffect::Fails(names, is_unbound) => {
                return self.used(process, note, names, is_unbound);
            }
            ObjectEffect::Works(names) => self.are_there(trace, process, names),
            ObjectEffect::Makes(names) => {
                self.are_there(trace, process, names);
                if names.context.is_some() {
                    self.unbound.remove(&note.thread);
                }
            }
            ObjectEffect::Ends(names) => self.end(process, names, note),
            ObjectEffect::EndsContext(handle) => {
                self.end_streams(process, note, |it| it.context == Some(handle));
                self.put(process, Handle::Context(handle), EndedObject::Context, note);
                self.unbound.insert(note.thread, note);
            }
            ObjectEffect::EndsDevice(device) => {
                let is_of = |other: u32| device.is_none_or(|it| it == other);
                self.end_streams(process, note, |it| is_of(it.device));
                let contexts = trace.contexts().iter();
                let own = contexts.filter(|it| it.process == process && is_of(it.device));
                for context in own.filter(|it| it.is_default && it.handle != 0) {
                    let handle = Handle::Context(context.handle);
                    self.put(process, handle, EndedObject::Context, note);
                }
                self.unbound.insert(note.thread, note);
            }
            ObjectEffect::Binds(names) => {
                self.are_there(trace, process, names);
                self.unbound.remove(&note.thread);
            }
            ObjectEffect::Misses => {
                self.gone.retain(|(of, _), _| *of != process);
                self.unbound.clear();
            }
        }
        None
    }

    fn used(
        &self,
        process: ProcessId,
        note: NotedCall,
        names: NamedObjects,
        is_unbound: bool,
    ) -> Option<UseAfterEnd> {
        let gone = |handle: Handle| self.gone.get(&(process, handle)).copied();
        // An object that is the same as before for the tool has not ended.
        let stream = names.stream.and_then(|(stream, handle)| {
            gone(Handle::Stream(handle)).filter(|it| it.0 != EndedObject::Stream(stream))
        });
        let event = names.event.and_then(|(event, handle)| {
            gone(Handle::Event(handle)).filter(|it| it.0 != EndedObject::Event(event))
        });
        let context = names.context.and_then(|it| gone(Handle::Context(it)));
        let binding = self.unbound.get(&note.thread).filter(|_| is_unbound);
        let binding = binding.map(|ended| (EndedObject::Binding, *ended));
        let (entity, ended) = stream.or(event).or(context).or(binding)?;
        Some(UseAfterEnd {
            by: note,
            entity,
            ended,
        })
    }

    fn are_there(&mut self, trace: &Trace, process: ProcessId, names: NamedObjects) {
        if let Some((stream, handle)) = names.stream {
            let it = trace.stream(stream);
            let live = LiveStream {
                stream,
                context: it.context.map(|id| trace.context(id).handle),
                device: it.device,
            };
            self.live.insert((process, handle), live);
        }
        for handle in names.handles() {
            self.gone.remove(&(process, handle));
        }
    }

    fn end(&mut self, process: ProcessId, names: NamedObjects, note: NotedCall) {
        if let Some((stream, handle)) = names.stream {
            self.live.remove(&(process, handle));
            self.put(
                process,
                Handle::Stream(handle),
                EndedObject::Stream(stream),
                note,
            );
        }
        if let Some((event, handle)) = names.event {
            self.put(
                process,
                Handle::Event(handle),
                EndedObject::Event(event),
                note,
            );
        }
    }

    fn end_streams(
        &mut self,
        process: ProcessId,
        note: NotedCall,
        is_ended: impl Fn(&LiveStream) -> bool,
    ) {
        let live = self.live.iter();
        let ended = live.filter(|((of, _), it)| *of == process && is_ended(it));
        let ended: Vec<(u64, StreamId)> = ended
            .map(|((_, handle), it)| (*handle, it.stream))
            .collect();
        for (handle, stream) in ended {
            self.live.remove(&(process, handle));
            self.put(
                process,
                Handle::Stream(handle),
                EndedObject::Stream(stream),
                note,
            );
        }
    }

    fn put(&mut self, process: ProcessId, handle: Handle, entity: EndedObject, note: NotedCall) {
        if self.gone.len() >= MOST {
            self.gone.clear();
        }
        self.gone.insert((process, handle), (entity, note));
    }
}

/// Decides which calls change the known state. Most use known live objects, which changes nothing
/// unless the object ends around that time.
struct CallRelevance {
    /// Objects that are being ended.
    ending: HashSet<(ProcessId, Handle)>,
    /// When contexts and devices end, with all that is in them.
    clearings: Vec<i64>,
    /// The earliest call with each set of objects, between two of these.
    earliest: HashMap<(ProcessId, Handle, Option<StreamId>, usize), i64>,
    /// Calls from here on are examined with the next window.
    until: i64,
}

impl CallRelevance {
    /// Of a window's calls that create or end something, and of the calls left from the last one.
    fn of(changing: &[ObjectStep], until: i64) -> Self {
        let mut this = Self {
            ending: HashSet::new(),
            clearings: Vec::new(),
            earliest: HashMap::new(),
            until,
        };
        for step in changing {
            match step.act {
                ObjectEffect::Ends(names) => this
                    .ending
                    .extend(names.handles().map(|handle| (step.process, handle))),
                ObjectEffect::EndsContext(_) | ObjectEffect::EndsDevice(_) => {
                    this.clearings.push(step.at)
                }
                _ => {}
            }
        }
        this.clearings.sort_unstable();
        this
    }

    fn holds(&mut self, known: &EndedObjects, step: &ObjectStep) -> bool {
        let ObjectEffect::Works(names) = step.act else {
            return true;
        };
        let (process, at) = (step.process, step.at);
        let is_ending = |handle: Handle| {
            let key = (process, handle);
            self.ending.contains(&key) || known.gone.contains_key(&key)
        };
        let clearing = self.clearings.binary_search(&at);
        if at >= self.until || clearing.is_ok() || names.handles().any(is_ending) {
            return true;
        }
        let cleared = clearing.unwrap_or_else(|before| before);
        let stream = names.stream.map(|(stream, _)| stream);
        let mut matters = false;
        for handle in names.handles() {
            let is_there = cleared == 0
                && match handle {
                    Handle::Stream(word) => {
                        let live = known.live.get(&(process, word));
                        live.is_some_and(|live| Some(live.stream) == stream)
                    }
                    // Nothing ends them here.
                    Handle::Event(_) | Handle::Context(_) => true,
                };
            if is_there {
                continue;
            }
            let key = (process, handle, stream, cleared);
            let earliest = self.earliest.entry(key).or_insert(i64::MAX);
            matters |= at < *earliest;
            *earliest = at.min(*earliest);
        }
        matters
    }
}

/// What happens in a pause of the recording is not known.
fn pauses(window: &Window<'_>) -> Vec<ObjectStep> {
    let ranges = window.trace.ranges().iter();
    let pauses = ranges.filter(|it| it.kind() == Some(RangeKind::Pause));
    let pauses = pauses.filter(|it| window.part.holds(it.end));
    let steps = pauses.map(|pause| ObjectStep {
        at: pause.end,
        is_begin: false,
        process: window.trace.thread(pause.thread).process,
        note: NotedCall::default(),
        act: ObjectEffect::Misses,
    });
    steps.collect()
}

fn step(trace: &Trace, id: CallId, wanted: &dyn Fn(CallId) -> bool) -> Option<ObjectStep> {
    let call = trace.call(id);
    let function = trace.function(call.function);
    let note = NotedCall::of(trace, id, wanted(id));
    let act = act(trace, call, function)?;
    let is_begin = matches!(act, ObjectEffect::Fails(..));
    Some(ObjectStep {
        at: if is_begin { note.begin } else { note.end },
        is_begin,
        process: trace.thread(call.thread).process,
        note,
        act,
    })
}

fn act(trace: &Trace, call: &Call, function: &Function) -> Option<ObjectEffect> {
    let names = names(trace, call, function);
    let has_names = names.stream.is_some() || names.event.is_some() || names.context.is_some();
    let code = call.result().filter(|_| function.ret == RetKind::Error);
    if call.result().is_none() || code.is_some_and(|code| code != 0) {
        let is_unbound = code == Some(NO_CONTEXT);
        return (has_names || is_unbound).then_some(ObjectEffect::Fails(names, is_unbound));
    }
    let meaning = function.role.meaning();
    let gives = [meaning.stream, meaning.event, meaning.context].contains(&ObjectUse::Gives);
    match function.role {
        // The others only look up existing objects.
        _ if gives && meaning.changes => Some(ObjectEffect::Makes(names)),
        Role::DestroyStream | Role::DestroyEvent => Some(ObjectEffect::Ends(names)),
        Role::DestroyContext => names.context.map(ObjectEffect::EndsContext),
        Role::ResetDevice => Some(ObjectEffect::EndsDevice(device(trace, call, function))),
        Role::SetDevice | Role::SetContext => Some(ObjectEffect::Binds(names)),
        _ => has_names.then_some(ObjectEffect::Works(names)),
    }
}

fn names(trace: &Trace, call: &Call, function: &Function) -> NamedObjects {
    let stream = call.stream.map(|id| (id, trace.stream(id)));
    let stream = stream.filter(|(_, it)| !it.is_default && it.handle != 0);
    let event = call.event.map(|it| (it.event, trace.event(it.event)));
    let context = argument(trace, call, function, ArgKind::Context);
    NamedObjects {
        stream: stream.map(|(id, it)| (id, it.handle)),
        event: event.map(|(id, it)| (id, it.handle)).filter(|it| it.1 != 0),
        context: context.filter(|handle| *handle != 0),
    }
}

/// The device that a call is about.
fn device(trace: &Trace, call: &Call, function: &Function) -> Option<u32> {
    let named = argument(trace, call, function, ArgKind::Device);
    let named = named.and_then(|it| u32::try_from(it).ok());
    named.or(call.device.map(u32::from))
}

fn argument(trace: &Trace, call: &Call, function: &Function, kind: ArgKind) -> Option<u64> {
    let at = function.args.iter().position(|it| it.kind == kind)?;
    trace.args(call).get(at).copied()
}

#[cfg(test)]
mod tests {
    use ascend_trace_testkit::timeline;

    use super::*;

    /// Numbers that are the same in every run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005) + 1;
            (self.0 >> 33) % most
        }
    }

    /// Calls of two threads on three streams and an event. Streams 0 and 1 have the same handle, one after the other.
    fn program(numbers: &mut Numbers) -> Vec<ObjectStep> {
        let mut ended = 0;
        let steps = (1..=40).map(|at| {
            let stream = match numbers.below(3) {
                0 => Some((StreamId(ended % 2), 100)),
                1 => Some((StreamId(2), 102)),
                _ => None,
            };
            let names = NamedObjects {
                stream,
                event: (numbers.below(3) == 0).then_some((EventId(0), 7)),
                context: (numbers.below(4) == 0).then_some(55),
            };
            let act = match numbers.below(16) {
                0 => ObjectEffect::Ends(NamedObjects {
                    context: None,
                    ..names
                }),
                1 => ObjectEffect::EndsDevice(None),
                2 => ObjectEffect::EndsContext(55),
                3 => ObjectEffect::Makes(names),
                4 => ObjectEffect::Binds(names),
                5 | 6 => ObjectEffect::Fails(names, numbers.below(2) == 0),
                _ => ObjectEffect::Works(names),
            };
            let is_reused =
                matches!(act, ObjectEffect::Ends(it) if it.stream.is_some_and(|it| it.1 == 100));
            ended += u32::from(is_reused);
            ObjectStep {
                at,
                is_begin: matches!(act, ObjectEffect::Fails(..)),
                process: ProcessId(0),
                note: NotedCall {
                    number: at as u32,
                    thread: ThreadId((at % 2) as u32),
                    ..NotedCall::default()
                },
                act,
            }
        });
        steps.collect()
    }

    /// The findings, and the number of examined calls.
    fn found(trace: &Trace, program: &[ObjectStep], is_all: bool) -> (Vec<UseAfterEnd>, usize) {
        let (mut ended, mut uses, mut looked_at) = (EndedObjects::default(), Vec::new(), 0);
        for window in program.chunks(20) {
            let is_end = |it: &&ObjectStep| {
                matches!(
                    it.act,
                    ObjectEffect::Ends(_)
                        | ObjectEffect::EndsContext(_)
                        | ObjectEffect::EndsDevice(_)
                )
            };
            let ends: Vec<ObjectStep> = window.iter().filter(is_end).copied().collect();
            let mut matter = CallRelevance::of(&ends, i64::MAX);
            // Thread after thread, as a window has them.
            let threads = [0, 1].into_iter().flat_map(|thread| {
                let own = window.iter();
                own.filter(move |it| it.note.thread == ThreadId(thread))
            });
            let mut steps: Vec<ObjectStep> = threads
                .filter(|it| is_all || matter.holds(&ended, it))
                .copied()
                .collect();
            steps.sort_by_key(|step| step.at);
            looked_at += steps.len();
            uses.extend(steps.into_iter().filter_map(|it| ended.step(trace, it)));
        }
        (uses, looked_at)
    }

    #[test]
    fn calls_that_do_not_matter_change_nothing() {
        let trace = timeline("s1: A[0..1us]\ns2: B[0..1us]\ns3: C[0..1us]");
        let mut numbers = Numbers(1);
        let (mut uses, mut all, mut some) = (0, 0, 0);
        for _ in 0..20_000 {
            let program = program(&mut numbers);
            let (expected, of_all) = found(&trace, &program, true);
            let (found, of_some) = found(&trace, &program, false);
            assert_eq!(found, expected, "{program:?}");
            uses += found.len();
            all += of_all;
            some += of_some;
        }
        assert!(uses > 10_000, "{uses}");
        assert!(some < all, "{some} of {all}");
    }
}
