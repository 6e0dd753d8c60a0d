//! The collectives of a rank, with the names that all ranks have for them.

use std::collections::HashSet;

use ascend_trace_analysis::collectives::{Collective, Peer};
use ascend_trace_analysis::communication::{CollectiveRun, CollectiveRuns, RunGroup, RunTime};
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_recording::{ProcessId, TaskId, TaskTime, Trace};
use rustc_hash::FxHashMap;

use super::names::{self, GroupName};

/// Prefix of the names of data types.
const TYPE_PREFIX: &str = "HCCL_DATA_TYPE_";

/// A collective that ran.
#[derive(Clone, Debug)]
pub(super) struct RankCollective {
    pub(super) process: ProcessId,
    /// The handle of its communicator.
    comm: u64,
    comm_name: Option<String>,
    pub(super) time: TaskTime,
    operation: String,
    pub(super) peer: Option<(Peer, u64)>,
    pub(super) step: Option<u64>,
    /// Its place among the collectives of all ranks.
    run: Option<usize>,
    /// The number of its call.
    pub(super) connection: i64,
    pub(super) device: u32,
    stream_number: i64,
    pub(super) count: Option<u64>,
    pub(super) data_type: Option<String>,
}

/// Bytes over the links of a rank, and the time in which they moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moved {
    pub(super) bytes: f64,
    pub(super) ns: i64,
}

/// A collective with its name.
#[derive(Clone, Debug)]
pub(super) struct NamedCollective {
    pub(super) ran: RankCollective,
    pub(super) name: String,
    /// The place of its group among those of the rank.
    pub(super) group: usize,
    /// From its begin to that of the last rank, and the time after that.
    pub(super) split: Option<(RunTime, RunTime)>,
    /// Only where all ranks are on one host, and the time is known well enough.
    pub(super) moved: Option<Moved>,
    /// The ranks of the group that a message goes from and to.
    pub(super) link: Option<(u64, u64)>,
}

/// A group of ranks, as one of them has it.
#[derive(Clone, Debug)]
pub(super) struct NamedGroup {
    pub(super) name: GroupName,
    /// The program's name of it.
    pub(super) program_name: String,
    pub(super) own_rank: Option<u64>,
    /// The ranks of the job by the rank of the group, if all are recorded.
    pub(super) ranks: Option<Vec<u64>>,
    is_known: bool,
    is_on_one_host: bool,
}

/// The collectives of a rank, and their groups.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedCollectives {
    pub(super) groups: Vec<NamedGroup>,
    /// By begin.
    pub(super) all: Vec<NamedCollective>,
}

impl RankCollective {
    pub(super) fn of(
        trace: &Trace,
        id: TaskId,
        (time, step): (TaskTime, Option<u64>),
        runs: &CollectiveRuns,
    ) -> Option<Self> {
        let task = trace.task(id);
        let call = trace.call(task.call);
        let collective = Collective::of(trace, call);
        let run = runs.place(id);
        // The end of a group of messages names no communicator.
        let comm = match &collective {
            Some(collective) => collective.comm,
            None => runs.run(run?)?.comm,
        };
        let process = trace.thread(call.thread).process;
        let stream = trace.stream(task.stream);
        let data_type = collective.as_ref().and_then(|it| it.data_type);
        let data_type = data_type.map(|it| it.trim_start_matches(TYPE_PREFIX).to_owned());
        let peer = collective.as_ref().and_then(|it| it.peer);
        let comm_name = trace.name_of(process, comm, call.begin);
        Some(Self {
            process,
            comm,
            comm_name: comm_name.map(str::to_owned),
            time,
            operation: names::operation(&task_label(trace, task), peer.map(|it| it.0)),
            peer,
            step,
            run,
            connection: i64::from(trace.call_number(task.call)) + 1,
            device: stream.device,
            stream_number: stream.number(),
            count: collective.and_then(|it| it.count),
            data_type,
        })
    }

    /// Whether it is between two ranks.
    pub(super) fn is_message(&self) -> bool {
        matches!(self.peer, Some((Peer::Source | Peer::Destination, _)))
    }

    /// The type of the operation, such as `hcom_allReduce_`.
    pub(super) fn operation(&self) -> &str {
        &self.operation
    }

    /// Its device, and the number of its stream there.
    pub(super) fn stream(&self) -> (u32, i64) {
        (self.device, self.stream_number)
    }

    pub(super) fn duration(&self) -> i64 {
        self.time.end - self.time.begin
    }
}

impl NamedGroup {
    fn of(trace: &Trace, group: &RunGroup, process: ProcessId, name: String) -> Self {
        let members = || group.members.iter();
        let own = members().find(|(_, member)| *member == process);
        let is_whole = group.size == Some(group.members.len() as u64);
        let ranks = members().map(|(_, process)| trace.process(*process).rank_number());
        let mut hosts = members().map(|(_, process)| trace.process(*process).host.as_str());
        let first = hosts.next();
        Self {
            name: GroupName::new(name),
            program_name: String::new(),
            own_rank: own.map(|(rank, _)| *rank),
            ranks: ranks.collect::<Option<Vec<u64>>>().filter(|_| is_whole),
            is_known: group.is_known,
            is_on_one_host: is_whole && hosts.all(|it| Some(it) == first),
        }
    }

    /// A group of which only the handle is known.
    fn unknown(name: String) -> Self {
        Self {
            name: GroupName::new(name),
            program_name: String::new(),
            own_rank: None,
            ranks: None,
            is_known: false,
            is_on_one_host: false,
        }
    }
}

/// Names the collectives of a rank.
struct CollectiveNaming<'n> {
    trace: &'n Trace,
    runs: &'n CollectiveRuns,
    known: Vec<RunGroup>,
    groups: Vec<NamedGroup>,
    /// By number of the group, or by process and handle.
    places: FxHashMap<Result<usize, (ProcessId, u64)>, usize>,
    counts: FxHashMap<(usize, String), u64>,
    used: HashSet<String>,
}

impl NamedCollectives {
    /// Names collectives of a rank, when all of the recording were seen.
    pub(super) fn of(trace: &Trace, mut ran: Vec<RankCollective>, runs: &CollectiveRuns) -> Self {
        ran.sort_by(|a, b| {
            let key = |it: &RankCollective| (it.time.begin, it.comm);
            (key(a), &a.operation).cmp(&(key(b), &b.operation))
        });
        let mut naming = CollectiveNaming {
            trace,
            runs,
            known: runs.groups(),
            groups: Vec::new(),
            places: FxHashMap::default(),
            counts: FxHashMap::default(),
            used: HashSet::new(),
        };
        let all = ran.into_iter().map(|it| naming.named(it)).collect();
        let groups = naming.groups;
        Self { groups, all }
    }
}

impl CollectiveNaming<'_> {
    fn named(&mut self, ran: RankCollective) -> NamedCollective {
        let run = ran.run.and_then(|place| self.runs.run(place)).copied();
        let place = self.group(&ran, run.as_ref());
        let number = run.and_then(|it| it.number);
        let name = self.name(&ran, place, number.map(u64::from));
        let (is_known, is_on_one_host) = self
            .groups
            .get(place)
            .map_or((false, false), |it| (it.is_known, it.is_on_one_host));
        let split = run.and_then(|it| it.split).filter(|_| is_known);
        let moved = run.filter(|_| is_on_one_host).zip(split);
        NamedCollective {
            name,
            group: place,
            split,
            moved: moved.and_then(|(run, (_, transfer))| moved_in(&run, transfer)),
            link: run.and_then(|it| it.link),
            ran,
        }
    }

    /// The place of its group.
    fn group(&mut self, ran: &RankCollective, run: Option<&CollectiveRun>) -> usize {
        let key = run.map(|it| it.group).ok_or((ran.process, ran.comm));
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let place = self.groups.len();
        let known = key.ok().and_then(|number| self.known.get(number));
        let identity = known.map_or("", |it| it.identity.as_str());
        let mut name = match identity {
            "" => format!("group_{place}"),
            identity => identity.to_owned(),
        };
        if self.groups.iter().any(|it| it.name.name == name) {
            let size = known.and_then(|it| it.size).unwrap_or_default();
            name = format!("{name}_{size}_{place}");
        }
        let mut group = match known {
            Some(known) => NamedGroup::of(self.trace, known, ran.process, name),
            None => NamedGroup::unknown(name),
        };
        group.program_name = ran.comm_name.clone().unwrap_or_default();
        self.groups.push(group);
        self.places.insert(key, place);
        place
    }

    /// A name that no other collective of the rank has. Collectives that all ranks count alike have that number in it.
    fn name(&mut self, ran: &RankCollective, place: usize, number: Option<u64>) -> String {
        let Some(group) = self.groups.get(place).map(|it| &it.name) else {
            return ran.operation.clone();
        };
        if let Some(number) = number.filter(|_| !ran.is_message()) {
            let name = names::collective(&ran.operation, group, number);
            if self.used.insert(name.clone()) {
                return name;
            }
        }
        let count = self.counts.entry((place, ran.operation.clone()));
        let count = count.or_default();
        loop {
            let name = names::collective(&ran.operation, group, *count);
            *count += 1;
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// The bytes over the links of a rank, if at most half of the time may be an error.
fn moved_in(run: &CollectiveRun, transfer: RunTime) -> Option<Moved> {
    let bytes = run.size? as f64 * run.bus_factor?;
    let is_sure = transfer.ns > 0 && transfer.low_ns * 2 >= transfer.ns;
    (is_sure && bytes > 0.0).then_some(Moved {
        bytes,
        ns: transfer.ns,
    })
}
