//! Which communicators of different processes are one group, and what hinders waits from being known.

use std::collections::BTreeMap;

use ascend_trace_recording::ProcessId;

use super::rows::GroupStats;
use super::sums::Sums;
use crate::align::Obstacle;
use crate::align::numbering::{NumberedCollective, Numbering};

/// What communicators of one group have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKey {
    /// Communicators with the same identity and size. Where no call gave an identity: those that are the n-th of a size in
    /// their process.
    Joint {
        identity: String,
        size: u64,
        ordinal: usize,
    },
    /// A communicator of which no call is known that made it.
    Alone { process: u32, handle: u64 },
}

#[derive(Clone, Debug)]
struct Group {
    size: Option<u64>,
    /// The process of each rank, and the place of the communicator there.
    members: BTreeMap<u64, (ProcessId, usize)>,
    /// A rank is in it twice: the communicators are not one.
    is_doubtful: bool,
}

/// A communicator that a recorded call made.
struct RecordedCommunicator {
    key: GroupKey,
    size: u64,
    rank: u64,
    /// Among those of its process.
    place: usize,
}

/// The groups, by number.
#[derive(Debug, Default)]
pub(super) struct Groups {
    numbers: BTreeMap<GroupKey, usize>,
    groups: Vec<Group>,
}

impl GroupKey {
    fn alone(process: ProcessId, handle: u64) -> Self {
        let process = process.0;
        Self::Alone { process, handle }
    }
}

impl RecordedCommunicator {
    fn of(
        numbering: &Numbering,
        (process, handle): (ProcessId, u64),
        numbered: Option<&NumberedCollective>,
    ) -> Option<Self> {
        let comms = &numbering.participants.get(&process)?.comms;
        let last = || comms.iter().rposition(|it| it.handle == handle);
        let place = numbered.map(|it| it.comm).or_else(last)?;
        let comm = comms.get(place)?;
        if comm.size == 0 || comm.rank == u64::MAX {
            return None;
        }
        let ordinal = match comm.identity.is_empty() {
            true => comms[..place]
                .iter()
                .filter(|it| it.size == comm.size)
                .count(),
            false => 0,
        };
        let key = GroupKey::Joint {
            identity: comm.identity.clone(),
            size: comm.size,
            ordinal,
        };
        Some(Self {
            key,
            size: comm.size,
            rank: comm.rank,
            place,
        })
    }
}

impl Groups {
    /// The group of a collective.
    pub(super) fn of(
        &mut self,
        numbering: &Numbering,
        (process, handle): (ProcessId, u64),
        numbered: Option<&NumberedCollective>,
    ) -> usize {
        let known = RecordedCommunicator::of(numbering, (process, handle), numbered);
        let (size, member) = known.as_ref().map_or((None, None), |it| {
            (Some(it.size), Some((it.rank, (process, it.place))))
        });
        let key = known.map_or_else(|| GroupKey::alone(process, handle), |it| it.key);
        let groups = &mut self.groups;
        let number = *self.numbers.entry(key).or_insert_with(|| {
            groups.push(Group {
                size,
                members: BTreeMap::new(),
                is_doubtful: false,
            });
            groups.len() - 1
        });
        if let (Some(group), Some((rank, member))) = (groups.get_mut(number), member) {
            let known = *group.members.entry(rank).or_insert(member);
            group.is_doubtful |= known != member;
        }
        number
    }

    /// How many ranks a group has.
    pub(super) fn size(&self, group: usize) -> Option<u64> {
        self.groups.get(group)?.size
    }

    /// The rank of each process in each group.
    pub(super) fn members(&self) -> BTreeMap<(usize, ProcessId), u64> {
        let groups = self.groups.iter().enumerate();
        let members = groups.flat_map(|(number, group)| {
            let members = group.members.iter();
            members.map(move |(rank, (process, _))| ((number, *process), *rank))
        });
        members.collect()
    }

    pub(super) fn rows(&self, numbering: &Numbering, sums: &Sums) -> Vec<GroupStats> {
        let mut rows: Vec<GroupStats> = (0..)
            .zip(&self.groups)
            .map(|(number, group)| GroupStats {
                group: number,
                ranks: group.size,
                recorded: group.members.len() as u64,
                identity: String::new(),
                unknown: group.unknown(numbering, sums.has_splits(number as usize)),
            })
            .collect();
        for (key, number) in &self.numbers {
            if let (GroupKey::Joint { identity, .. }, Some(row)) = (key, rows.get_mut(*number)) {
                row.identity.clone_from(identity);
            }
        }
        rows
    }
}

impl Group {
    /// Why the waits for the last rank are not known.
    fn unknown(&self, numbering: &Numbering, has_splits: bool) -> Option<&'static str> {
        let Some(size) = self.size else {
            return Some("no recorded call made the communicator");
        };
        let mut obstacles = self.members.values().filter_map(|(process, _)| {
            let participant = numbering.participants.get(process)?;
            participant.obstacle
        });
        match obstacles.next() {
            Some(Obstacle::Lost(_)) => return Some("calls were lost"),
            Some(Obstacle::Filtered) => return Some("filters may have left out collectives"),
            None => {}
        }
        match () {
            () if self.is_doubtful => Some("it is not clear which communicators are one group"),
            () if size < 2 => Some("the group has one rank"),
            () if (self.members.len() as u64) < size && !has_splits => {
                Some("not all ranks are in the recording")
            }
            () if !has_splits => Some("no collective has a comparable time on all its ranks"),
            () => None,
        }
    }
}
