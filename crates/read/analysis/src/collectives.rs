//! Collective communication: calls that are collectives, their communicators, and their data; and the
//! program's facts about its communicators.

use std::collections::BTreeMap;

use ascend_trace_format::api::{ArgPart, Fact, TaskKind};
use ascend_trace_recording::{Call, Function, ProcessId, TaskTime, Trace};

/// The arguments of a function that describe a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveArguments {
    comm: usize,
    amount: Option<usize>,
    data_type: Option<usize>,
    operation: Option<usize>,
    peer: Option<(usize, Peer)>,
    counted: Option<CountMeaning>,
}

/// Which elements the number in a call counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountMeaning {
    /// Those of the whole collective.
    All,
    /// Those of the share of each rank.
    Share,
}

/// What another rank is to a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Root,
    Destination,
    Source,
}

impl Peer {
    /// The name of the field with its rank.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Destination => "to_rank",
            Self::Source => "from_rank",
        }
    }

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
    counted: Option<CountMeaning>,
}

impl CountMeaning {
    fn of(function: &Function) -> Option<Self> {
        match (function.is(Fact::CountsAll), function.is(Fact::CountsShare)) {
            (true, _) => Some(Self::All),
            (false, true) => Some(Self::Share),
            (false, false) => None,
        }
    }
}

impl CollectiveArguments {
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
            counted: CountMeaning::of(function),
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

    /// The same where all ranks name the same amount.
    pub(crate) fn equal_amount(&self, trace: &Trace, call: &Call) -> Option<u64> {
        self.counted.and_then(|_| self.amount(trace, call))
    }
}

impl<'t> Collective<'t> {
    /// The collective of a call; `None` for other calls.
    pub fn of(trace: &'t Trace, call: &Call) -> Option<Self> {
        let function = trace.function(call.function);
        let places = CollectiveArguments::of(function)?;
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
            counted: places.counted,
        })
    }

    /// The end of a group of messages of a communicator.
    pub(crate) const fn of_messages(comm: u64) -> Self {
        Self {
            comm,
            count: None,
            data_type: None,
            operation: None,
            peer: None,
            counted: None,
        }
    }

    /// Whether all ranks name the same count. Otherwise each names its share, and shares may differ.
    pub(crate) fn has_equal_counts(&self) -> bool {
        self.counted.is_some()
    }

    /// Bytes of this rank's share where shares may differ. Recordings from before these facts have no function with them.
    pub(crate) fn own_share(&self, has_facts: bool) -> Option<u64> {
        let is_share = has_facts && self.counted.is_none() && self.peer.is_none();
        self.bytes().filter(|_| is_share)
    }

    /// Bytes that this rank gives, or takes where it gives none.
    pub fn bytes(&self) -> Option<u64> {
        self.count?.checked_mul(self.data_type.and_then(width)?)
    }

    /// Bytes of the whole collective, on which bandwidth is based: the buffer that all ranks have, or the shares of all of
    /// these `ranks` together. `None` where counts are in arrays, or the type or the number of ranks is not known.
    pub fn size(&self, ranks: Option<u64>) -> Option<u64> {
        match self.counted? {
            CountMeaning::All => self.bytes(),
            CountMeaning::Share => self.bytes()?.checked_mul(ranks?),
        }
    }

    /// By how much bus bandwidth is more than algorithm bandwidth: bytes over the links of a rank, as a part of the size.
    pub fn bus_factor(&self, ranks: Option<u64>) -> Option<f64> {
        let counted = self.counted?;
        if self.peer.is_some() && counted == CountMeaning::All {
            return Some(1.0);
        }
        let ranks = ranks.filter(|it| *it > 0)? as f64;
        let others = (ranks - 1.0) / ranks;
        Some(match counted {
            CountMeaning::All => 2.0 * others,
            CountMeaning::Share => others,
        })
    }

    /// Bytes in a second that it moved at least: its size in its whole time, in which it may have waited for the last rank.
    /// First algorithm bandwidth, then bus bandwidth. `None` where size or time is not known.
    pub fn least_bandwidths(&self, ranks: Option<u64>, time: TaskTime) -> Option<(f64, f64)> {
        let (_, most) = time.durations();
        let size = self.size(ranks)? as f64;
        let algorithm = (most > 0).then(|| size * 1e9 / most as f64)?;
        Some((algorithm, algorithm * self.bus_factor(ranks)?))
    }
}

/// Whether the functions of a recording have facts about their counts.
pub(crate) fn has_facts_of_counts(trace: &Trace) -> bool {
    let mut functions = trace.functions().iter();
    functions.any(|it| CountMeaning::of(it).is_some())
}

/// Where a function that makes a communicator returns it.
pub(crate) fn made_at(function: &Function) -> Option<usize> {
    let at = function.part(ArgPart::Communicator)?;
    function.part(ArgPart::Rank)?;
    function.args.get(at).filter(|it| it.out).map(|_| at)
}

/// Bytes that a call moves, as far as its arguments say.
pub fn bytes_moved(trace: &Trace, call: &Call) -> Option<u64> {
    let reported = trace.bytes(call);
    reported.or_else(|| Collective::of(trace, call)?.bytes())
}

/// Bytes of an element, by the bits that its type has in its name.
pub(crate) fn width(data_type: &str) -> Option<u64> {
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
    /// By handle: the facts of calls by their begin, without those that change nothing.
    known: BTreeMap<(ProcessId, u64), BTreeMap<i64, Communicator>>,
}

/// Positions of the arguments with facts: the handle, the rank, the size.
#[derive(Clone, Copy, Debug)]
struct FactArguments {
    comm: usize,
    rank: Option<usize>,
    size: Option<usize>,
}

impl FactArguments {
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
        let telling: Vec<_> = trace.functions().iter().map(FactArguments::of).collect();
        if telling.iter().any(Option::is_some) {
            communicators.take_all(trace, &telling);
        }
        communicators
    }

    /// Takes the facts of calls, by function.
    fn take_all(&mut self, trace: &Trace, telling: &[Option<FactArguments>]) {
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
            let value = |place: Option<usize>| args.get(place?).copied();
            let fact = Communicator {
                rank: value(telling.rank),
                size: value(telling.size),
            };
            self.add((process, *comm), (call.begin, fact));
        }
    }

    fn add(&mut self, key: (ProcessId, u64), (at, fact): (i64, Communicator)) {
        let facts = self.known.entry(key).or_default();
        let before = facts_until(facts, at);
        if before.with(&fact) != before {
            facts.insert(at, fact);
        }
    }

    /// Adds the facts from another part of the recording.
    pub fn take(&mut self, other: Self) {
        for (key, facts) in other.known {
            for fact in facts {
                self.add(key, fact);
            }
        }
    }

    /// The facts about the communicator with this handle by calls until a time. A handle may be used again.
    pub fn get(&self, process: ProcessId, comm: u64, at: i64) -> Option<Communicator> {
        let facts = self.known.get(&(process, comm))?;
        Some(facts_until(facts, at)).filter(|it| *it != Communicator::default())
    }
}

fn facts_until(facts: &BTreeMap<i64, Communicator>, at: i64) -> Communicator {
    let until = facts.range(..=at).map(|(_, it)| it);
    until.fold(Communicator::default(), |sum, it| sum.with(it))
}

impl Communicator {
    /// The same with later facts.
    fn with(&self, later: &Self) -> Self {
        Self {
            rank: later.rank.or(self.rank),
            size: later.size.or(self.size),
        }
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_testkit::timeline;

    use super::*;

    #[test]
    fn a_collective_names_its_communicator_and_its_data() {
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
        assert_eq!(known.get(ProcessId(0), 77, i64::MAX), Some(expected));
        assert_eq!(known.get(ProcessId(0), 78, i64::MAX), None);
    }

    #[test]
    fn a_handle_that_is_used_again_has_the_facts_of_its_time() {
        let trace = timeline(
            "t1: HcclCommInitRootInfo(8,3,77)[0..1us] HcclCommInitRootInfo(4,1,77)[10us..20us]",
        );
        let mut known = Communicators::of(&trace);
        known.take(Communicators::of(&trace));
        let size = |at| known.get(ProcessId(0), 77, at).and_then(|it| it.size);
        let begin = |call: usize| trace.calls()[call].begin;
        assert_eq!(
            [begin(0) - 1, begin(0), begin(1) - 1, begin(1)].map(size),
            [None, Some(8), Some(8), Some(4)]
        );
    }

    #[test]
    fn the_size_of_a_collective_is_that_of_all_shares() {
        let trace = timeline(
            "s1: HcclBroadcast(77,1024,4,5)[10us..20us] HcclAllGather(77,1024,4)[20us..30us]
             s1: HcclAllReduce(77,1024)[30us..40us]",
        );
        let of = |task: usize| Collective::of(&trace, trace.call(trace.tasks()[task].call));
        let [broadcast, gather, reduce] = [0, 1, 2].map(|it| of(it).expect("a collective"));
        assert_eq!(
            (broadcast.size(None), broadcast.bus_factor(None)),
            (Some(4096), Some(1.0))
        );
        assert_eq!(
            (gather.size(Some(4)), gather.bus_factor(Some(4))),
            (Some(16_384), Some(0.75))
        );
        assert_eq!((gather.size(None), gather.bus_factor(None)), (None, None));
        // The type is not known.
        assert_eq!(
            (reduce.size(Some(4)), reduce.bus_factor(Some(4))),
            (None, Some(1.5))
        );
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
