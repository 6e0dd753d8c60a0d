//! From when to when each stream existed.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgKind, Fact, RetKind, Role};
use ascend_trace_recording::{Call, CallId, ContextId, ProcessId, StreamId, Trace};

/// A time, and its call.
pub(super) type CallTime = (i64, CallId);

/// How often a process holds a device, and the range in which it held it: the life of its default
/// context.
#[derive(Clone, Debug, Default)]
struct Device {
    references: u32,
    held: Vec<(CallTime, Option<CallTime>)>,
}

/// When things were made and ended, from the calls until now.
#[derive(Clone, Debug, Default)]
pub(super) struct Lifetimes {
    made: HashMap<StreamId, CallTime>,
    ended: HashMap<StreamId, CallTime>,
    contexts_made: HashMap<ContextId, CallTime>,
    contexts_ended: HashMap<ContextId, CallTime>,
    devices: HashMap<(ProcessId, u32), Device>,
    finalized: HashMap<ProcessId, CallTime>,
    /// The last call of each process to return.
    last: HashMap<ProcessId, CallTime>,
}

impl Lifetimes {
    pub(super) fn of(trace: &Trace) -> Self {
        let mut lives = Self::default();
        lives.take_all(trace);
        lives
    }

    fn take_all(&mut self, trace: &Trace) {
        let mut threads_last: Vec<Option<CallTime>> = vec![None; trace.threads().len()];
        for (id, call) in (0..).map(CallId).zip(trace.calls()) {
            threads_last[call.thread.index()] = Some((call.end, id));
            let function = trace.function(call.function);
            if function.role.meaning().bounds_life
                && (call.ret == 0 || function.ret != RetKind::Error)
            {
                self.take(trace, call, id, function.role);
            }
        }
        for (thread, moment) in trace.threads().iter().zip(threads_last) {
            let (process, Some(moment)) = (thread.process, moment) else {
                continue;
            };
            let last = self.last.entry(process).or_insert(moment);
            *last = (*last).max(moment);
        }
    }

    fn take(&mut self, trace: &Trace, call: &Call, id: CallId, role: Role) {
        let process = trace.thread(call.thread).process;
        let (after, before) = ((call.end, id), (call.begin, id));
        match role {
            Role::CreateStream => first(&mut self.made, call.stream, after),
            Role::DestroyStream => last(&mut self.ended, call.stream, before),
            Role::CreateContext => {
                let context = context_named(trace, call, process);
                first(&mut self.contexts_made, context, after);
            }
            Role::DestroyContext => {
                let context = context_named(trace, call, process);
                last(&mut self.contexts_ended, context, before);
            }
            Role::SetDevice => {
                if let Some(device) = device_named(trace, call) {
                    self.devices
                        .entry((process, device))
                        .or_default()
                        .set(after);
                }
            }
            Role::ResetDevice => {
                let is_forced = trace.function(call.function).is(Fact::Forced);
                let device = device_named(trace, call);
                let device = device.and_then(|it| self.devices.get_mut(&(process, it)));
                if let Some(device) = device {
                    device.reset(before, is_forced);
                }
            }
            Role::Finalize => last(&mut self.finalized, Some(process), before),
            _ => {}
        }
    }

    /// When the stream was created, or the kept part of the recording began; `used` is a time at which it existed. A
    /// default stream is created with its context, and that with the first use of its device.
    pub(super) fn begin(&self, trace: &Trace, id: StreamId, used: i64) -> Option<CallTime> {
        let stream = trace.stream(id);
        let made = match stream.is_default {
            false => self.made.get(&id).copied(),
            true => {
                let made = stream.context.and_then(|it| self.contexts_made.get(&it));
                let held = || Some(self.held(trace, id, used)?.0);
                made.copied().or_else(held)
            }
        };
        let since = trace.session().kept.as_ref().map(|it| it.since_ns);
        made.map(|(at, call)| (since.map_or(at, |since| at.max(since)), call))
    }

    /// When the stream ended: by its own destruction, or with its context, device or process. The
    /// last only counts when the recording has ended.
    pub(super) fn end(&self, trace: &Trace, id: StreamId, used: i64) -> Option<CallTime> {
        let stream = trace.stream(id);
        let own = self.ended.get(&id).copied();
        let context = || self.contexts_ended.get(&stream.context?).copied();
        let device = || self.held(trace, id, used)?.1;
        let finalized = || self.finalized.get(&stream.process).copied();
        let process = || self.last.get(&stream.process).copied();
        let process = || process().filter(|_| trace.end().is_some() && !trace.has_future());
        let found = own.or_else(context).or_else(device).or_else(finalized);
        found.or_else(process)
    }

    /// The time for which the process held the device of a stream of the default context.
    fn held(&self, trace: &Trace, id: StreamId, used: i64) -> Option<(CallTime, Option<CallTime>)> {
        let stream = trace.stream(id);
        if stream
            .context
            .is_some_and(|it| !trace.context(it).is_default)
        {
            return None;
        }
        let held = &self.devices.get(&(stream.process, stream.device))?.held;
        let after = held.partition_point(|(begin, _)| begin.0 <= used);
        held.get(after.checked_sub(1)?).copied()
    }
}

impl Device {
    fn set(&mut self, moment: CallTime) {
        if self.references == 0 {
            self.held.push((moment, None));
        }
        self.references += 1;
    }

    fn reset(&mut self, moment: CallTime, is_forced: bool) {
        self.references = match is_forced {
            true => 0,
            false => self.references.saturating_sub(1),
        };
        if let (0, Some(last)) = (self.references, self.held.last_mut()) {
            last.1 = Some(moment);
        }
    }
}

fn first<K: std::hash::Hash + Eq>(
    all: &mut HashMap<K, CallTime>,
    key: Option<K>,
    moment: CallTime,
) {
    if let Some(key) = key {
        let known = all.entry(key).or_insert(moment);
        *known = (*known).min(moment);
    }
}

fn last<K: std::hash::Hash + Eq>(all: &mut HashMap<K, CallTime>, key: Option<K>, moment: CallTime) {
    if let Some(key) = key {
        let known = all.entry(key).or_insert(moment);
        *known = (*known).max(moment);
    }
}

/// The device that a call names, which need not be the one that its thread was using.
fn device_named(trace: &Trace, call: &Call) -> Option<u32> {
    let args = &trace.function(call.function).args;
    let place = args.iter().position(|arg| arg.kind == ArgKind::Device);
    let named = place.and_then(|place| trace.args(call).get(place));
    let named = named.and_then(|word| u32::try_from(*word).ok());
    named.or(call.device.map(u32::from))
}

/// The context with the handle that a call names.
fn context_named(trace: &Trace, call: &Call, process: ProcessId) -> Option<ContextId> {
    let args = &trace.function(call.function).args;
    let place = args.iter().position(|arg| arg.kind == ArgKind::Context)?;
    let handle = *trace.args(call).get(place)?;
    let contexts = trace.contexts();
    let named = contexts
        .iter()
        .rposition(|it| it.process == process && it.handle == handle);
    named.map(|index| ContextId(index as u32))
}
