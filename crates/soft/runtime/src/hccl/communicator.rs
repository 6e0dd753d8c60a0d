//! Communicators: how ranks find each other, and the facts about one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use super::region::{MOST, RankIdentity, RankPair, Region, RegionPlace, is_alive};
use super::{NOT_SUPPORTED, PARA, REMOTE, TIMEOUT, seconds};
use crate::clock::mono;
use crate::code::{Code, Outcome, SUCCESS, fault};
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};

static COMMUNICATORS: PerProcess<Registry<Communicator>> =
    PerProcess::new(|| Registry::new(HandleKind::Communicator));

pub(crate) struct Communicator {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    pub(crate) name: String,
    pub(super) region: Region,
    /// How many collectives were asked for, and how many are over.
    pub(super) submitted: AtomicU64,
    pub(super) over: AtomicU64,
    /// The same for messages, by pair.
    pub(super) messages: Mutex<HashMap<RankPair, MessageTurns>>,
    pub(super) error: AtomicI32,
    /// How long a collective waits for the others.
    pub(super) patience_ns: u64,
    subgroups: Mutex<HashMap<u64, u64>>,
}

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct MessageTurns {
    pub(super) submitted: u64,
    pub(super) over: u64,
}

/// The begin of a root info; the rest of its bytes are zero.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct RootInfo {
    mark: u64,
    pid: u64,
    began: u64,
    descriptor: u64,
}

const MARK: u64 = 0x736f_6674_6863_636c;
/// `HCCL_ROOT_INFO_BYTES`.
pub(crate) const ROOT_INFO_BYTES: usize = 4108;

/// How long ranks wait for each other at first, and in each collective, as on a card.
const CONNECT_SECONDS: u64 = 120;
const EXECUTE_SECONDS: u64 = 1836;

/// Regions of root infos that were handed out and not used here yet: the descriptor has to last until all ranks
/// have opened it.
static HANDED_OUT: Mutex<Vec<Region>> = Mutex::new(Vec::new());

pub(crate) fn root_info() -> Outcome<RootInfo> {
    let region = Region::create()?;
    let RegionPlace {
        pid,
        began,
        descriptor,
    } = region.place();
    lock(&HANDED_OUT).push(region);
    Ok(RootInfo {
        mark: MARK,
        pid,
        began,
        descriptor,
    })
}

/// Joins the ranks that have the same root info, and waits for all of them.
pub(crate) fn by_root_info(
    info: RootInfo,
    ranks: u32,
    rank: u32,
    name: Option<String>,
) -> Outcome<usize> {
    if info.mark != MARK {
        return fault(PARA, "this is no root info");
    }
    let place = RegionPlace {
        pid: info.pid,
        began: info.began,
        descriptor: info.descriptor,
    };
    let name =
        name.unwrap_or_else(|| format!("softacl_{}_{}_{}", info.pid, info.began, info.descriptor));
    let region = Region::open(place)?;
    let joined = join(region, ranks as usize, rank as usize, name);
    // All have opened it when the first one returns.
    if u64::from(std::process::id()) == info.pid {
        lock(&HANDED_OUT).retain(|region| region.place().descriptor != info.descriptor);
    }
    joined
}

fn join(region: Region, ranks: usize, rank: usize, name: String) -> Outcome<usize> {
    if ranks == 0 || rank >= ranks {
        return fault(PARA, "the rank is not below the number of ranks");
    }
    if ranks > MOST {
        return fault(NOT_SUPPORTED, "a communicator has 64 ranks at most");
    }
    region.join(ranks, rank)?;
    await_all(&region, ranks)?;
    insert(Communicator::new(region, ranks, rank, name))
}

/// Waits until all ranks have joined, one of them has died, or the time is up.
fn await_all(region: &Region, ranks: usize) -> Outcome {
    let deadline = mono() + seconds("HCCL_CONNECT_TIMEOUT", CONNECT_SECONDS) * 1_000_000_000;
    while region.joined() < ranks {
        let dead = (0..ranks)
            .map(|rank| region.member(rank))
            .any(|member| has_died(&member));
        if dead {
            return fault(REMOTE, "a rank ended before all ranks had arrived");
        }
        if mono() > deadline {
            return fault(TIMEOUT, "not all ranks arrived in time");
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

/// Whether a process has ended. One without a known begin is just joining.
pub(super) fn has_died(member: &RankIdentity) -> bool {
    member.pid != 0 && member.began != 0 && !is_alive(member.pid, member.began)
}

/// Communicators of several devices of this process, a rank each.
pub(crate) fn all_in_one(ranks: u32) -> Outcome<Vec<usize>> {
    let ranks = ranks as usize;
    if ranks == 0 || ranks > MOST {
        return fault(PARA, "there are 1 to 64 ranks");
    }
    let first = Region::create()?;
    let name = format!(
        "softacl_{}_{}",
        std::process::id(),
        first.place().descriptor
    );
    let mut regions = Vec::with_capacity(ranks);
    for _ in 1..ranks {
        regions.push(Region::open(first.place())?);
    }
    regions.insert(0, first);
    for (rank, region) in regions.iter().enumerate() {
        region.join(ranks, rank)?;
    }
    let each = regions.into_iter().enumerate();
    each.map(|(rank, region)| insert(Communicator::new(region, ranks, rank, name.clone())))
        .collect()
}

fn insert(communicator: Communicator) -> Outcome<usize> {
    let mut made = 0;
    let inserted = COMMUNICATORS.get().insert_with(|handle| {
        made = handle;
        communicator
    });
    match inserted {
        Some(_) => Ok(made),
        None => fault(super::NOT_SUPPORTED, "there are too many communicators"),
    }
}

pub(crate) fn found(handle: usize) -> Outcome<Arc<Communicator>> {
    if handle == 0 {
        return fault(super::PTR, "the communicator is NULL");
    }
    match COMMUNICATORS.get().get(handle) {
        Some(communicator) => Ok(communicator),
        None => fault(PARA, "this is no communicator"),
    }
}

/// Ends a communicator; running tasks keep the parts that they need.
pub(crate) fn destroy(handle: usize) -> Outcome {
    let communicator = found(handle)?;
    communicator.region.leave(communicator.rank);
    COMMUNICATORS.get().remove(handle);
    Ok(())
}

/// A communicator of some ranks of another one, all of which call this. Without ranks the caller does
/// not belong to it.
pub(crate) fn create_sub(
    parent: usize,
    ranks: &[u32],
    id: u64,
    rank: u32,
    name: Option<String>,
) -> Outcome<usize> {
    let parent = found(parent)?;
    let known = ranks.iter().all(|rank| (*rank as usize) < parent.ranks);
    if ranks.is_empty() || !known || rank as usize >= ranks.len() {
        return fault(PARA, "the communicator does not have these ranks");
    }
    let key = parent.subgroup_key(ranks, id);
    let name = name.unwrap_or_else(|| format!("{}_{id}", parent.name));
    let region = if rank == 0 {
        let region = Region::create()?;
        parent.region.tell_subgroup(key, region.place())?;
        region
    } else {
        Region::open(parent.await_subgroup(key)?)?
    };
    join(region, ranks.len(), rank as usize, name)
}

impl Communicator {
    fn new(region: Region, ranks: usize, rank: usize, name: String) -> Self {
        let patience = seconds("HCCL_EXEC_TIMEOUT", EXECUTE_SECONDS);
        Self {
            rank,
            ranks,
            name,
            region,
            submitted: AtomicU64::new(0),
            over: AtomicU64::new(0),
            messages: Mutex::default(),
            error: AtomicI32::new(SUCCESS),
            // 0 waits for ever.
            patience_ns: if patience == 0 {
                u64::MAX
            } else {
                patience.saturating_mul(1_000_000_000)
            },
            subgroups: Mutex::default(),
        }
    }

    /// Failures outside of any call.
    pub(crate) fn async_error(&self) -> Code {
        self.error.load(Ordering::Acquire)
    }

    /// Which of the other ranks have died or left.
    pub(super) fn lost_peers(&self) -> impl Iterator<Item = usize> {
        let others = (0..self.ranks).filter(|rank| *rank != self.rank);
        others.filter(|rank| {
            let member = self.region.member(*rank);
            member.has_left || has_died(&member)
        })
    }

    /// The same for all ranks of a group that is made for the same time.
    fn subgroup_key(&self, ranks: &[u32], id: u64) -> u64 {
        let mixed = |key: u64, number: u64| crate::scatter::scatter(key ^ number);
        let key = ranks
            .iter()
            .fold(mixed(1, id), |key, rank| mixed(key, u64::from(*rank)));
        let mut known = lock(&self.subgroups);
        let times = known.entry(key).or_default();
        *times += 1;
        mixed(key, *times) | 1
    }

    fn await_subgroup(&self, key: u64) -> Outcome<RegionPlace> {
        let deadline = mono() + seconds("HCCL_CONNECT_TIMEOUT", CONNECT_SECONDS) * 1_000_000_000;
        loop {
            if let Some(place) = self.region.subgroup(key) {
                return Ok(place);
            }
            if mono() > deadline {
                return fault(
                    TIMEOUT,
                    "the first rank of the group did not arrive in time",
                );
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}
