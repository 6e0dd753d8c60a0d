//! Communicators, the collectives that were submitted to each, and which communicators belong together.
//!
//! Those that have the same identity. Where a recording has none, it helps that the call that makes a communicator
//! returns when all ranks have made it: communicators of the same size and of different ranks belong together when these
//! calls overlap in time. Where two fit for a rank, neither is taken.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::{Call, Function, ProcessId, ThreadId, TimeRange, Trace};

use super::queues::StreamPosition;
use crate::collectives::{Collective, Communicators, Peer};

/// A communicator by its process and handle.
pub(super) type CommKey = (ProcessId, u64);

/// The last collective that was submitted to a communicator.
#[derive(Clone, Debug)]
pub(super) struct Submitted {
    pub(super) name: Arc<str>,
    pub(super) thread: ThreadId,
    /// When its call began.
    pub(super) begin: i64,
    pub(super) place: StreamPosition,
}

#[derive(Debug, Default)]
struct Comm {
    /// The call that made it.
    made: Option<(ThreadId, TimeRange)>,
    /// The same text at all its ranks, where it is known.
    identity: Option<Arc<str>>,
    /// Collectives that were submitted.
    count: u64,
    last: Option<Submitted>,
    /// Where those are that may not be done, by number from 1.
    places: BTreeMap<u64, StreamPosition>,
}

/// Another rank of a communicator.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    pub(super) rank: u64,
    /// `None` where the recording does not have it, or it cannot be said which one it is.
    pub(super) peer: Option<PeerState>,
}

/// Progress of another rank's process.
#[derive(Clone, Debug)]
pub(super) struct PeerState {
    pub(super) process: ProcessId,
    /// The thread that submitted the last collective, or made the communicator.
    pub(super) thread: ThreadId,
    pub(super) count: u64,
    pub(super) last: Option<Submitted>,
    /// Where the collective is that is asked for.
    pub(super) place: Option<StreamPosition>,
}

/// Largest number of kept places of a communicator's collectives.
const PLACES: usize = 8192;

#[derive(Debug, Default)]
pub(super) struct Ranks {
    reported: Communicators,
    comms: HashMap<CommKey, Comm>,
}

impl Ranks {
    /// Takes ranks and sizes from the calls of a window.
    pub(super) fn learn(&mut self, trace: &Trace) {
        self.reported.take(Communicators::of(trace));
    }

    /// A communicator was made.
    pub(super) fn made(&mut self, trace: &Trace, call: &Call) {
        let function = trace.function(call.function);
        let Some(at) = makes(function) else {
            return;
        };
        let identity = function.part(ArgPart::Identity);
        let identity = identity.and_then(|at| trace.text(call, at)).map(Into::into);
        if let Some(comm) = trace.args(call).get(at) {
            let key = (trace.thread(call.thread).process, *comm);
            let made = Some((call.thread, call.range()));
            self.comms.insert(
                key,
                Comm {
                    made,
                    identity,
                    ..Comm::default()
                },
            );
        }
    }

    /// A collective was submitted: its communicator and its number there, from 1. Nothing for one that only two ranks
    /// have part in.
    pub(super) fn submitted(
        &mut self,
        trace: &Trace,
        call: &Call,
        submitted: Submitted,
    ) -> Option<(CommKey, u64)> {
        let collective = Collective::of(trace, call)?;
        let is_for_two = matches!(collective.peer, Some((Peer::Source | Peer::Destination, _)));
        if is_for_two {
            return None;
        }
        let key = (trace.thread(call.thread).process, collective.comm);
        let comm = self.comms.entry(key).or_default();
        comm.count += 1;
        comm.places.insert(comm.count, submitted.place);
        if comm.places.len() > PLACES {
            comm.places.pop_first();
        }
        comm.last = Some(submitted);
        Some((key, comm.count))
    }

    /// Communicators of which rank and size are known, by key, with the call that made each, how many collectives were
    /// submitted, and the last.
    pub(super) fn all(
        &self,
    ) -> impl Iterator<Item = (CommKey, TimeRange, u64, Option<&Submitted>)> {
        let all = self.comms.iter();
        all.filter_map(|(key, comm)| {
            let (_, made) = comm.made?;
            Some((*key, made, comm.count, comm.last.as_ref()))
        })
    }

    /// This process's number in a communicator, and how many there are.
    pub(super) fn size(&self, comm: CommKey) -> Option<(u64, u64)> {
        let known = self.reported.get(comm.0, comm.1, i64::MAX)?;
        known.rank.zip(known.size)
    }

    /// The identity of a communicator, equal at all its ranks.
    pub(super) fn identity(&self, comm: CommKey) -> Option<&str> {
        self.comms.get(&comm)?.identity.as_deref()
    }

    /// The other ranks of a communicator, and where their collective of this number is.
    pub(super) fn others(&self, comm: CommKey, number: u64) -> Vec<Rank> {
        let Some((own, size)) = self.size(comm) else {
            return Vec::new();
        };
        // A size that no job has is a mistake of the file.
        let ranks = (0..size.min(65_536)).filter(|rank| *rank != own);
        let peers = self.peers(comm, size);
        let state = |rank: u64| {
            let [peer] = peers.get(&rank)?.as_slice() else {
                return None;
            };
            let known = self.comms.get(peer)?;
            let maker = known.made.map(|(thread, _)| thread);
            Some(PeerState {
                process: peer.0,
                thread: known.last.as_ref().map(|it| it.thread).or(maker)?,
                count: known.count,
                last: known.last.clone(),
                place: known.places.get(&number).copied(),
            })
        };
        let ranks = ranks.map(|rank| Rank {
            rank,
            peer: state(rank),
        });
        ranks.collect()
    }

    /// Communicators that can belong to one, by rank.
    fn peers(&self, comm: CommKey, size: u64) -> HashMap<u64, Vec<CommKey>> {
        let mut peers: HashMap<u64, Vec<CommKey>> = HashMap::new();
        let Some(own) = self.comms.get(&comm) else {
            return peers;
        };
        let Some((_, made)) = own.made else {
            return peers;
        };
        for (key, other) in &self.comms {
            let fits = match (&own.identity, &other.identity) {
                (None, None) => other.made.is_some_and(|(_, it)| it.overlaps(made)),
                (own, its) => own == its,
            };
            if let Some((rank, its)) = self.size(*key)
                && fits
                && its == size
                && *key != comm
            {
                peers.entry(rank).or_default().push(*key);
            }
        }
        peers
    }
}

/// The number that a call which makes a communicator names for its process, and how many ranks it names.
pub(super) fn named(trace: &Trace, call: &Call) -> Option<(u64, u64)> {
    let function = trace.function(call.function);
    makes(function)?;
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    word(ArgPart::Rank).zip(word(ArgPart::Ranks))
}

/// Where a function that makes a communicator returns it.
pub(super) fn makes(function: &Function) -> Option<usize> {
    let at = function.part(ArgPart::Communicator)?;
    let says_size = function.part(ArgPart::Ranks).is_some();
    let is_returned = function.args.get(at).is_some_and(|it| it.out);
    (says_size && is_returned).then_some(at)
}
