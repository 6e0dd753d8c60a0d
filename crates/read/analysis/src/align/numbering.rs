//! Numbers the collectives of each communicator, so that the n-th one of a rank is the n-th one of the others.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_format::api::{ArgPart, Fact, Untimed};
use ascend_trace_format::filter::{Filters, Subject};
use ascend_trace_format::fnv;
use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{Call, CallId, Function, ProcessId, Task, Trace};

use super::alignment_input::{Comm, Lane, Obstacle, Participant, Round};
use crate::Window;
use crate::collectives::{Collective, Peer, made_at};
use crate::messages::{Message, Messages};

/// The communicators of all processes, and the numbers of their collectives.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    pub(crate) participants: BTreeMap<ProcessId, Participant>,
    /// The present communicator of each handle.
    comms: HashMap<(ProcessId, u64), CollectiveCounts>,
    /// Submitted collectives without a task yet, by thread and begin of the call.
    pending: HashMap<(u32, i64), NumberedCollective>,
    /// The same of calls that pass several messages, and of ends of groups of messages.
    pending_messages: HashMap<(u32, i64), Vec<NumberedCollective>>,
    /// Messages of a group that has not ended, by thread, with the begins of their calls.
    groups: HashMap<u32, Vec<(i64, NumberedCollective)>>,
    /// When each process paused the recording first: its later work is not counted.
    paused: HashMap<ProcessId, i64>,
}

/// Stands between the identity of a communicator and the number of a part of it.
const PART_OF: char = '/';

/// The collectives of a communicator until now.
#[derive(Clone, Debug, Default)]
struct CollectiveCounts {
    place: usize,
    /// By lane.
    counts: Vec<u32>,
    /// Some messages are not in the recording, so later ones cannot be counted.
    has_unknown_messages: bool,
}

/// A collective with its number. It has no times yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberedCollective {
    pub(crate) process: ProcessId,
    /// Places among the communicators of the process, and among the lanes of that one.
    pub(crate) comm: usize,
    pub(crate) lane: usize,
    pub(crate) round: Round,
}

/// The lane of a collective, and its needs from its peers.
#[derive(Clone, Debug)]
struct Needed {
    function: String,
    peers: Option<(u64, u64)>,
    gives: bool,
    takes: bool,
}

impl Numbering {
    /// Takes the calls of a window.
    pub(crate) fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        self.note_pauses(trace);
        let tells = |id: &CallId| {
            let function = trace.function(trace.call(*id).function);
            function.part(ArgPart::Communicator).is_some() || function.is(Fact::EndsGroup)
        };
        let mut calls: Vec<CallId> = window.calls().filter(tells).collect();
        calls.sort_by_key(|id| trace.call(*id).begin);
        for id in calls {
            self.call(trace, trace.call(id));
        }
        self.note_losses(trace);
    }

    /// The number of a task, which is asked for once.
    pub(crate) fn number(&mut self, trace: &Trace, task: &Task) -> Option<NumberedCollective> {
        let call = trace.call(task.call);
        self.pending.remove(&(call.thread.0, call.begin))
    }

    /// The numbers of the messages of a task. Its call passes an array of them. This is asked for once.
    pub(crate) fn messages(&mut self, trace: &Trace, task: &Task) -> Vec<NumberedCollective> {
        let call = trace.call(task.call);
        let found = self.pending_messages.remove(&(call.thread.0, call.begin));
        found.unwrap_or_default()
    }

    /// Whether tasks of collectives are still to come. Most programs have none.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty() || !self.pending_messages.is_empty()
    }

    /// The losses of the recording, as far as it has been read.
    fn note_losses(&mut self, trace: &Trace) {
        if leaves_out_collectives(trace) {
            let all = self.participants.values_mut();
            all.for_each(|it| it.obstacle = Some(Obstacle::Filtered));
        }
        for loss in trace.lost().iter().filter(|it| it.calls > 0) {
            let process = loss.thread.map(|it| trace.thread(it).process);
            let all = self.participants.iter_mut();
            let hit = all.filter(|(it, _)| process.is_none_or(|process| process == **it));
            hit.for_each(|(_, it)| it.obstacle = Some(Obstacle::Lost(loss.calls)));
        }
    }

    fn call(&mut self, trace: &Trace, call: &Call) {
        if call.result() != Some(0) {
            return;
        }
        let function = trace.function(call.function);
        let process = trace.thread(call.thread).process;
        let paused = self.paused.get(&process);
        if paused.is_some_and(|paused| call.begin >= *paused) {
            return;
        }
        if function.is(Fact::EndsGroup) {
            self.group_ended(call);
        } else if let Some(at) = made_at(function) {
            self.made(trace, call, (process, at));
        } else if let Some(collective) = Collective::of(trace, call) {
            self.submitted(trace, call, &collective);
        } else if let Some(comm) = argument(trace, call, ArgPart::Communicator) {
            self.reported(trace, call, (process, comm));
        }
    }

    fn note_pauses(&mut self, trace: &Trace) {
        let ranges = trace.ranges().iter();
        for pause in ranges.filter(|it| it.kind() == Some(RangeKind::Pause)) {
            let process = trace.thread(pause.thread).process;
            let first = self.paused.entry(process).or_insert(pause.begin);
            *first = pause.begin.min(*first);
        }
    }

    fn participant(&mut self, trace: &Trace, process: ProcessId) -> &mut Participant {
        self.participants.entry(process).or_insert_with(|| {
            let process = trace.process(process);
            Participant {
                process: process.serial,
                rank: process.rank_number(),
                ..Participant::default()
            }
        })
    }

    fn made(&mut self, trace: &Trace, call: &Call, (process, at): (ProcessId, usize)) {
        let Some(handle) = trace.args(call).get(at).copied() else {
            return;
        };
        let [rank, size] = [ArgPart::Rank, ArgPart::Ranks].map(|part| argument(trace, call, part));
        let participant = self.participant(trace, process);
        participant.comms.push(Comm {
            handle,
            identity: identity(trace, call, &participant.comms),
            rank: rank.unwrap_or(u64::MAX),
            size: size.unwrap_or(0),
            made: (call.begin, call.end),
            lanes: Vec::new(),
        });
        let place = participant.comms.len() - 1;
        let counts = CollectiveCounts {
            place,
            ..CollectiveCounts::default()
        };
        self.comms.insert((process, handle), counts);
    }

    /// A later call says which rank it is, or how many there are.
    fn reported(&mut self, trace: &Trace, call: &Call, (process, handle): (ProcessId, u64)) {
        let [rank, size] = [ArgPart::Rank, ArgPart::Ranks].map(|part| argument(trace, call, part));
        let place = self.comms.get(&(process, handle)).map(|it| it.place);
        let comms = self.participants.get_mut(&process);
        let comm = comms.zip(place).and_then(|(it, at)| it.comms.get_mut(at));
        if let Some(comm) = comm {
            comm.rank = rank.unwrap_or(comm.rank);
            comm.size = size.unwrap_or(comm.size);
        }
    }

    fn submitted(&mut self, trace: &Trace, call: &Call, collective: &Collective<'_>) {
        let key = (call.thread.0, call.begin);
        let of = (trace.thread(call.thread).process, collective.comm);
        let messages = match Messages::of(trace, call) {
            Messages::None => {
                let shape = (shape(collective), collective.bytes());
                let function = trace.function(call.function);
                let needed = |rank| part_in(function, collective, rank);
                let Some(numbered) = self.next_round(of, shape, needed) else {
                    return;
                };
                let task = call.task.map(|it| trace.task(it).untimed);
                if task == Some(Untimed::InGroup) {
                    let group = self.groups.entry(key.0).or_default();
                    group.push((call.begin, numbered));
                } else {
                    self.pending.insert(key, numbered);
                }
                return;
            }
            Messages::Unknown => {
                if let Some(counted) = self.comms.get_mut(&of) {
                    counted.has_unknown_messages = true;
                }
                return;
            }
            Messages::Known(messages) => messages,
        };
        let numbered = messages.iter().filter_map(|message| {
            let shape = (message_shape(message), message.bytes());
            self.next_round(of, shape, |rank| message_in(message.peer, rank))
        });
        let numbered: Vec<NumberedCollective> = numbered.collect();
        if numbered.len() == messages.len() && !numbered.is_empty() {
            self.pending_messages.insert(key, numbered);
        }
    }

    /// The messages of a group of one communicator have the time of its end. Nothing is known of the times of other groups.
    fn group_ended(&mut self, call: &Call) {
        // The end of an inner group is no task.
        if call.task.is_none() {
            return;
        }
        let group = self.groups.remove(&call.thread.0).unwrap_or_default();
        let comm = group.first().map(|(_, first)| first.comm);
        let is_message = |it: &NumberedCollective| {
            let participant = self.participants.get(&it.process);
            let comm = participant.and_then(|comms| comms.comms.get(it.comm));
            comm.and_then(|comm| comm.lanes.get(it.lane))
                .is_some_and(|lane| lane.peers.is_some())
        };
        if group
            .iter()
            .all(|(_, it)| Some(it.comm) == comm && is_message(it))
        {
            let messages = group.into_iter().map(|(_, it)| it).collect();
            self.pending_messages
                .insert((call.thread.0, call.begin), messages);
        }
    }

    /// The next collective or message of a communicator. `needed` gets the rank of the process in it.
    fn next_round(
        &mut self,
        (process, handle): (ProcessId, u64),
        (shape, bytes): (u64, Option<u64>),
        needed: impl FnOnce(u64) -> Option<Needed>,
    ) -> Option<NumberedCollective> {
        let counted = self.comms.get_mut(&(process, handle))?;
        let participant = self.participants.get_mut(&process)?;
        let comm = participant.comms.get_mut(counted.place)?;
        let part = needed(comm.rank)?;
        if part.peers.is_some() && counted.has_unknown_messages {
            return None;
        }
        let lane = lane_of(comm, part.function, part.peers);
        counted.counts.resize(counted.counts.len().max(lane + 1), 0);
        let number = counted.counts[lane];
        counted.counts[lane] = number.saturating_add(1);
        let round = Round {
            number,
            shape,
            bytes,
            gives: part.gives,
            takes: part.takes,
            ..Round::default()
        };
        Some(NumberedCollective {
            process,
            comm: counted.place,
            lane,
            round,
        })
    }
}

/// The identity of a communicator, equal at all its ranks. Part of a communicator has a number in the
/// whole one, which is known only if there is one.
fn identity(trace: &Trace, call: &Call, made: &[Comm]) -> String {
    let Some(at) = trace.function(call.function).part(ArgPart::Identity) else {
        return String::new();
    };
    if let Some(text) = trace.text(call, at) {
        return text.to_owned();
    }
    let is_whole = |it: &&str| !it.is_empty() && !it.contains(PART_OF);
    let mut wholes = made.iter().map(|it| it.identity.as_str()).filter(is_whole);
    let number = trace.args(call).get(at);
    match (wholes.next(), wholes.next(), number) {
        (Some(whole), None, Some(number)) => format!("{whole}{PART_OF}{number}"),
        _ => String::new(),
    }
}

fn argument(trace: &Trace, call: &Call, part: ArgPart) -> Option<u64> {
    let at = trace.function(call.function).part(part)?;
    trace.args(call).get(at).copied()
}

fn lane_of(comm: &mut Comm, function: String, peers: Option<(u64, u64)>) -> usize {
    let own = Lane::new(function, peers);
    let known = comm.lanes.iter().position(|it| it.is_one_with(&own));
    known.unwrap_or_else(|| {
        comm.lanes.push(own);
        comm.lanes.len() - 1
    })
}

/// The needs of a collective from its peers, by its arguments. `None` for one in which only some ranks
/// may take part.
fn part_in(function: &Function, collective: &Collective<'_>, rank: u64) -> Option<Needed> {
    let of_all = |gives, takes| Needed {
        function: function.name.clone(),
        peers: None,
        gives,
        takes,
    };
    // A barrier has no data, and no arguments other than its communicator and stream.
    let is_barrier = function.args.len() == 2;
    // In a collective of shares that differ, a rank without a share counts as well. Its peers may not wait for it.
    let is_empty = |count| count == 0 && collective.has_equal_counts();
    if collective.count.is_none_or(is_empty) && !is_barrier {
        return None;
    }
    let adds_up = function.part(ArgPart::Reduction).is_some();
    Some(match collective.peer {
        None => {
            let has_share = collective.count != Some(0);
            of_all(has_share, has_share)
        }
        Some(peer @ (Peer::Destination | Peer::Source, _)) => return message_in(peer, rank),
        // The root of a reduction needs all others, that of a broadcast is needed by all.
        Some((Peer::Root, root)) => {
            let is_root = root == rank;
            of_all(is_root != adds_up, is_root == adds_up)
        }
    })
}

/// The needs of a message. `None` for a peer that is neither its source nor its destination.
fn message_in(peer: (Peer, u64), rank: u64) -> Option<Needed> {
    let (from, to) = match peer {
        (Peer::Destination, to) => (rank, to),
        (Peer::Source, from) => (from, rank),
        (Peer::Root, _) => return None,
    };
    Some(Needed {
        function: String::new(),
        peers: Some((from, to)),
        gives: from == rank,
        takes: to == rank,
    })
}

/// What all ranks of a collective have in common: the type of its elements, and their count where all name the same.
fn shape(collective: &Collective<'_>) -> u64 {
    let count = collective.count.filter(|_| collective.has_equal_counts());
    shape_of(count.unwrap_or(0), collective.data_type)
}

/// The same of a message.
fn message_shape(message: &Message<'_>) -> u64 {
    shape_of(message.count, message.data_type)
}

fn shape_of(count: u64, data_type: Option<&str>) -> u64 {
    let of_type = data_type.unwrap_or_default().as_bytes();
    fnv::extend(fnv::hash(&count.to_le_bytes()), of_type)
}

/// Whether the filters of a recording may have left out collectives. The numbers of the others are unknown then.
fn leaves_out_collectives(trace: &Trace) -> bool {
    let lines = trace.session().filters.iter().map(String::as_str);
    // A newer tool may have other rules.
    let Some(filters) = Filters::of_lines(lines) else {
        return true;
    };
    let tells = |function: &&Function| function.part(ArgPart::Communicator).is_some();
    let mut functions = trace.functions().iter().filter(tells);
    filters.subjects() & !Subject::Call.bit() != 0
        || functions.any(|it| !filters.admits_name(Subject::Call, it.name.as_bytes()))
}
