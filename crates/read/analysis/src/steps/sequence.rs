//! The requests of a thread, in order.

use ascend_trace_format::api::{TaskKind, WaitTarget};
use ascend_trace_recording::{Call, CallId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use crate::Class;
use crate::dependencies::runs;

/// One thing that a thread asked for. 16 bytes, since there is one for each task of a recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// When the host began to ask for it.
    pub(super) begin: i64,
    /// Its duration; more than four seconds count as four.
    length: u32,
    pub(super) symbol: u32,
}

impl Entry {
    pub(super) fn end(&self) -> i64 {
        self.begin + i64::from(self.length)
    }
}

/// Numbers for the names of requests.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// By whether they are waits, and by graph.
    numbers: FxHashMap<(bool, u32), FxHashMap<String, u32>>,
    kinds: Vec<Kind>,
}

/// Meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Work,
    /// The launch of a graph.
    Graph,
    /// The thread waits.
    Wait,
}

impl Symbols {
    pub(super) fn kind(&self, symbol: u32) -> Kind {
        let kind = self.kinds.get(symbol as usize);
        kind.copied().unwrap_or(Kind::Work)
    }

    fn number(&mut self, kind: Kind, graph: u32, name: &str) -> u32 {
        let numbers = self.numbers.entry((kind == Kind::Wait, graph));
        let numbers = numbers.or_default();
        if let Some(number) = numbers.get(name) {
            return *number;
        }
        let number = self.kinds.len() as u32;
        numbers.insert(name.to_owned(), number);
        self.kinds.push(kind);
        number
    }
}

/// The requests of a thread.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) entries: Vec<Entry>,
}

impl Sequence {
    /// Takes in the next call of the thread. Records of events, waits of streams and queries say nothing: clients make
    /// them as it comes.
    pub(super) fn take(&mut self, trace: &Trace, symbols: &mut Symbols, id: CallId) {
        let call = trace.call(id);
        let Some(symbol) = symbol(trace, symbols, call) else {
            return;
        };
        let asked = asked(trace, call);
        self.entries.push(Entry {
            begin: asked.begin,
            length: u32::try_from(asked.end - asked.begin).unwrap_or(u32::MAX),
            symbol,
        });
    }
}

fn symbol(trace: &Trace, symbols: &mut Symbols, call: &Call) -> Option<u32> {
    let function = trace.function(call.function);
    if let Some(id) = call.task {
        let task = trace.task(id);
        let is_asked = matches!(Class::of(trace, task), Class::Work | Class::Callback);
        if !is_asked || !runs(trace, id) {
            return None;
        }
        let graph = call.graph.map_or(0, |it| it.serial);
        let kind = match task.kind {
            TaskKind::Graph => Kind::Graph,
            _ => Kind::Work,
        };
        return Some(symbols.number(kind, graph, trace.task_name(task)));
    }
    let waits = match function.role.meaning().waits {
        WaitTarget::Nothing => false,
        WaitTarget::Stream
        | WaitTarget::Device
        | WaitTarget::Event
        | WaitTarget::Replay
        | WaitTarget::Transfer => true,
    };
    let is_own = waits && call.depth == 0 && call.ending.is_return();
    is_own.then(|| symbols.number(Kind::Wait, 0, &function.name))
}

/// When the host asked: where another thread planned it, then.
fn asked(trace: &Trace, call: &Call) -> TimeRange {
    match trace.planned(call).map(|id| trace.call(id)) {
        Some(planned) if planned.thread != call.thread => planned.range(),
        Some(planned) => TimeRange::new(planned.begin.min(call.begin), call.end),
        None => call.range(),
    }
}
