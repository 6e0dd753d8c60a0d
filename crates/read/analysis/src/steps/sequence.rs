//! The requests of a thread, in order.

use ascend_trace_format::api::{TaskKind, WaitTarget};
use ascend_trace_recording::{Call, CallId, Direction, StreamId, TimeRange, Trace};

use super::begins::TaskLengths;
use super::symbols::{NO_STREAM, Request, SymbolKind, Symbols};
use crate::TaskRole;
use crate::dependencies::runs;

/// One thing that a thread asked for. 20 bytes, since there is one for each task of a recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestedOperation {
    /// When the host began to ask for it: the lower and the upper half.
    begin: [u32; 2],
    /// Its duration; more than four seconds count as four.
    length: u32,
    pub(super) symbol: u32,
    /// How long after `begin` its task began; 0 where that is not known. See [`RequestedOperation::ran`].
    ran: u32,
}

/// With this bit, the other bits count units of 64 ns.
const COARSE: u32 = 1 << 31;
const COARSE_NS: i64 = 64;

impl RequestedOperation {
    pub(super) fn new(asked: TimeRange, symbol: u32, ran: Option<i64>) -> Self {
        let begin = asked.begin.cast_unsigned();
        Self {
            begin: [begin as u32, (begin >> 32) as u32],
            length: u32::try_from(asked.end - asked.begin).unwrap_or(u32::MAX),
            symbol,
            ran: ran.map_or(0, |ran| packed(ran - asked.begin)),
        }
    }

    pub(super) fn begin(&self) -> i64 {
        (u64::from(self.begin[0]) | u64::from(self.begin[1]) << 32).cast_signed()
    }

    pub(super) fn end(&self) -> i64 {
        self.begin() + i64::from(self.length)
    }

    /// When its task began on the device. More than two seconds after the request, in steps of 64 ns.
    pub(super) fn ran(&self) -> Option<i64> {
        let after = i64::from(self.ran & !COARSE);
        let after = match self.ran & COARSE {
            0 => after,
            _ => after * COARSE_NS,
        };
        (self.ran != 0).then_some(self.begin() + after)
    }

    /// Makes it last until then.
    pub(super) fn extend(&mut self, end: i64) {
        self.length = u32::try_from(end - self.begin()).unwrap_or(u32::MAX);
    }
}

fn packed(after: i64) -> u32 {
    let most = i64::from(COARSE) - 1;
    match after {
        // The clocks of host and device are compared with an error.
        ..=0 => 1,
        after if after <= most => after as u32,
        after => COARSE | (after / COARSE_NS).min(most) as u32,
    }
}

/// The requests of a thread.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) entries: Vec<RequestedOperation>,
    /// When the last of its tasks ended, as far as that is known.
    pub(super) ran_until: Option<i64>,
    pub(super) lengths: TaskLengths,
}

impl Sequence {
    /// Takes in the next call of the thread. Records of events, waits of streams and queries say nothing: clients make
    /// them as it comes.
    pub(super) fn take(&mut self, trace: &Trace, symbols: &mut Symbols, id: CallId) {
        let call = trace.call(id);
        let Some(symbol) = symbol(trace, symbols, call) else {
            return;
        };
        let time = call.task.and_then(|task| trace.task(task).time);
        self.ran_until = self.ran_until.max(time.map(|it| it.end));
        if let Some(time) = time {
            self.lengths.note(symbol, time.duration());
        }
        let ran = time.map(|it| it.begin);
        self.entries
            .push(RequestedOperation::new(asked(trace, call), symbol, ran));
    }
}

fn symbol(trace: &Trace, symbols: &mut Symbols, call: &Call) -> Option<u32> {
    let function = trace.function(call.function);
    if let Some(id) = call.task {
        let task = trace.task(id);
        let is_asked = matches!(
            TaskRole::of(trace, task),
            TaskRole::Work | TaskRole::Callback
        );
        if !is_asked || !runs(trace, id) {
            return None;
        }
        let kind = match task.kind {
            TaskKind::Graph => SymbolKind::Graph,
            TaskKind::Memcpy if loads(trace, call) => SymbolKind::Load,
            TaskKind::Memcpy | TaskKind::Memset => SymbolKind::Copy,
            _ => SymbolKind::Work,
        };
        let request = Request {
            kind,
            graph: call.graph.map_or(0, |it| it.serial),
            stream: lane(task.stream),
            device: trace.stream(task.stream).device,
        };
        return Some(symbols.number(request, trace.task_name(task)));
    }
    let waits = function.role.meaning().waits;
    let is_own = waits != WaitTarget::Nothing && call.depth == 0 && call.ending.is_return();
    let kind = match waits == WaitTarget::Transfer && loads(trace, call) {
        true => SymbolKind::BlockingLoad,
        false => SymbolKind::Wait,
    };
    let request = Request {
        kind,
        graph: 0,
        stream: call.stream.map_or(NO_STREAM, lane),
        device: call.stream.map_or(NO_STREAM, |it| trace.stream(it).device),
    };
    is_own.then(|| symbols.number(request, &function.name))
}

/// Whether a copy brings data to a device.
fn loads(trace: &Trace, call: &Call) -> bool {
    trace.direction(call) == Some(Direction::HostToDevice)
}

/// The streams beyond these are taken as one, so that a program that makes streams without end needs no memory for them.
const STREAMS: u32 = 256;

fn lane(stream: StreamId) -> u32 {
    stream.0.min(STREAMS)
}

/// When the host asked: where another thread planned it, then.
fn asked(trace: &Trace, call: &Call) -> TimeRange {
    match trace.planned(call).map(|id| trace.call(id)) {
        Some(planned) if planned.thread != call.thread => planned.range(),
        Some(planned) => TimeRange::new(planned.begin.min(call.begin), call.end),
        None => call.range(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_when_its_task_began() {
        let begin = 5_000_000_000_000_i64;
        for after in [1, 999, 2_000_000_000] {
            let entry =
                RequestedOperation::new(TimeRange::new(begin, begin + 7), 3, Some(begin + after));
            assert_eq!(entry.ran(), Some(begin + after));
        }
        let entry = |ran| RequestedOperation::new(TimeRange::new(begin, begin + 7), 3, ran);
        let far = begin + 60_000_000_000;
        let ran = entry(Some(far)).ran().expect("it is known");
        assert!((ran - far).abs() < 64);
        assert_eq!(entry(None).ran(), None);
        assert_eq!(entry(Some(begin - 5)).ran(), Some(begin + 1));
        assert_eq!((entry(None).begin(), entry(None).end()), (begin, begin + 7));
    }
}
