//! Collective communication: calls that are collectives, their communicators, and their data; and the
//! program's facts about its communicators.

use std::collections::BTreeMap;

use ascend_trace_format::api::{ArgPart, TaskKind};
use ascend_trace_recording::{Call, Function, ProcessId, Trace};

/// The arguments of a function that describe a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    comm: usize,
    amount: Option<usize>,
    data_type: Option<usize>,
    operation: Option<usize>,
    peer: Option<(usize, Peer)>,
}

/// What another rank is to a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Root,
    Destination,
    Source,
}

impl Peer {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Destination => "to rank",
            Self::Source => "from rank",
        }
    }
}

/// Operation of a collective, as far as its call shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective<'t> {
    /// The communicator's handle.
    pub comm: u64,
    /// Elements that this rank gives, or takes where it gives none.
    pub count: Option<u64>,
    pub data_type: Option<&'t str>,
    /// How elements are put together.
    pub operation: Option<&'t str>,
    pub peer: Option<(Peer, u64)>,
}

impl Places {
    /// Nothing for a function that is no collective.
    pub fn of(function: &Function) -> Option<Self> {
        if function.task != Some(TaskKind::Collective) {
            return None;
        }
        let peers = [
            (ArgPart::Root, Peer::Root),
            (ArgPart::ToRank, Peer::Destination),
            (ArgPart::FromRank, Peer::Source),
        ];
        let mut peers = peers.into_iter();
        Some(Self {
            comm: function.part(ArgPart::Communicator)?,
            amount: function.part(ArgPart::Count),
            data_type: function.part(ArgPart::DataType),
            operation: function.part(ArgPart::Reduction),
            peer: peers.find_map(|(part, peer)| Some((function.part(part)?, peer))),
        })
    }

    /// The communicator that a call names.
    pub fn comm(&self, trace: &Trace, call: &Call) -> Option<u64> {
        trace.args(call).get(self.comm).copied()
    }

    /// The amount of data that a call names.
    pub(crate) fn amount(&self, trace: &Trace, call: &Call) -> Option<u64> {
        trace.args(call).get(self.amount?).copied()
    }
}

impl<'t> Collective<'t> {
    /// The collective of a call; `None` for other calls.
    pub fn of(trace: &'t Trace, call: &Call) -> Option<Self> {
        let function = trace.function(call.function);
        let places = Places::of(function)?;
        let args = trace.args(call);
        let constant = |place: Option<usize>| {
            let place = place?;
            let value = args.get(place)?.cast_signed();
            trace.constant(&function.args.get(place)?.enumeration, value)
        };
        Some(Self {
            comm: places.comm(trace, call)?,
            count: places.amount(trace, call),
            data_type: constant(places.data_type),
            operation: constant(places.operation),
            peer: places
                .peer
                .and_then(|(place, peer)| Some((peer, *args.get(place)?))),
        })
    }

    /// Bytes that this rank gives, or takes where it gives none.
    pub fn bytes(&self) -> Option<u64> {
        self.count?.checked_mul(self.data_type.and_then(width)?)
    }
}

/// Where a function that makes a communicator returns it.
pub(crate) fn made_at(function: &Function) -> Option<usize> {
    let at = function.part(ArgPart::Communicator)?;
    function.part(ArgPart::Rank)?;
    function.args.get(at).filter(|it| it.out).map(|_| at)
}

/// Bytes that a call moves, as far as its arguments say.
pub fn bytes_moved(trace: &Trace, call: &Call) -> Option<u64> {
    let told = trace.bytes(call);
    told.or_else(|| Collective::of(trace, call)?.bytes())
}

/// Bytes of an element, by the bits that its type has in its name.
fn width(data_type: &str) -> Option<u64> {
    let name = data_type.strip_prefix("HCCL_DATA_TYPE_")?;
    let digits = name.trim_start_matches(|it: char| !it.is_ascii_digit());
    let end = digits.find(|it: char| !it.is_ascii_digit());
    let bits: u64 = digits[..end.unwrap_or(digits.len())].parse().ok()?;
    (bits.is_multiple_of(8) && bits > 0).then_some(bits / 8)
}

/// The program's facts about a communicator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Communicator {
    /// This process's number in it.
    pub rank: Option<u64>,
    /// How many take part.
    pub size: Option<u64>,
}

/// The communicators of a trace.
#[derive(Clone, Debug, Default)]
pub struct Communicators {
    known: BTreeMap<(ProcessId, u64), Communicator>,
}

/// Positions of the arguments with facts: the handle, the rank, the size.
#[derive(Clone, Copy, Debug)]
struct Telling {
    comm: usize,
    rank: Option<usize>,
    size: Option<usize>,
}

impl Telling {
    fn of(function: &Function) -> Option<Self> {
        let found = Self {
            comm: function.part(ArgPart::Communicator)?,
            rank: function.part(ArgPart::Rank),
            size: function.part(ArgPart::Ranks),
        };
        (found.rank.is_some() || found.size.is_some()).then_some(found)
    }
}

impl Communicators {
    /// The communicators of a whole trace.
    pub fn of(trace: &Trace) -> Self {
        let mut communicators = Self::default();
        let telling: Vec<_> = trace.functions().iter().map(Telling::of).collect();
        if telling.iter().any(Option::is_some) {
            communicators.take_all(trace, &telling);
        }
        communicators
    }

    /// Takes the facts of calls, by function.
    fn take_all(&mut self, trace: &Trace, telling: &[Option<Telling>]) {
        let succeeded = trace.calls().iter().filter(|call| call.result() == Some(0));
        for call in succeeded {
            let Some(Some(telling)) = telling.get(call.function.index()) else {
                continue;
            };
            let args = trace.args(call);
            let Some(comm) = args.get(telling.comm) else {
                continue;
            };
            let process = trace.thread(call.thread).process;
            let known = self.known.entry((process, *comm)).or_default();
            let value = |place: Option<usize>| args.get(place?).copied();
            known.rank = value(telling.rank).or(known.rank);
            known.size = value(telling.size).or(known.size);
        }
    }

    /// Adds the facts from another part of the recording.
    pub fn take(&mut self, other: Self) {
        self.known.extend(other.known);
    }

    /// The facts about the communicator with this handle, by the last call with any.
    pub fn get(&self, process: ProcessId, comm: u64) -> Option<&Communicator> {
        self.known.get(&(process, comm))
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_testkit::timeline;

    use super::*;

    #[test]
    fn a_collective_names_its_communicator_and_what_it_moves() {
        let trace = timeline(
            "t1: HcclCommInitRootInfo(8,3,77)[0..1us]
             s1: HcclBroadcast(77,1024,4,5)[10us..20us] MatMul[20us..30us]",
        );
        let calls = trace.tasks().iter().map(|task| trace.call(task.call));
        let all: Vec<_> = calls.map(|call| Collective::of(&trace, call)).collect();
        let broadcast = all[0].expect("it is a collective");
        assert_eq!((broadcast.comm, broadcast.count), (77, Some(1024)));
        assert_eq!(broadcast.peer, Some((Peer::Root, 5)));
        assert_eq!(all[1], None);
        let known = Communicators::of(&trace);
        let expected = Communicator {
            rank: Some(3),
            size: Some(8),
        };
        assert_eq!(known.get(ProcessId(0), 77), Some(&expected));
        assert_eq!(known.get(ProcessId(0), 78), None);
    }

    #[test]
    fn the_width_of_an_element_is_in_its_types_name() {
        let types = ["FP16", "BFP16", "INT128", "FP8E4M3", "INT8", "RESERVED"];
        let widths = types.map(|name| width(&format!("HCCL_DATA_TYPE_{name}")));
        let expected = [Some(2), Some(2), Some(16), Some(1), Some(1), None];
        assert_eq!(widths, expected);
        assert_eq!(width("something"), None);
    }
}
