//! Finds out on which streams of the device the nodes of a graph run: by how many entries they have, and of which kinds,
//! between the submission of the first replays and the synchronisation after them.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::record::ActivityKind;

use super::clock_offset::LogClockOffset;
use super::entry::{LogEntry, groups, split};
use super::graphs::{DeviceStream, GraphBranch, LoggedGraph, LoggedNode};
use super::lane::{LogLane, ReplayStretch, UnownedEntries};
use super::matching::LaneMatching;

/// Nodes of one captured stream, by kind.
type NodePattern = Vec<ActivityKind>;

/// Whose a stream of the device's is.
pub(super) enum LaneOwnership {
    /// It may be the graph's.
    NoOwner,
    /// It is certainly not the graph's.
    Others,
    /// It may have been the graph's before it had another owner.
    Unclear,
}

/// Another graph that may have been replayed meanwhile, and how often at most.
pub(super) struct RivalGraph<'g> {
    pub(super) graph: &'g LoggedGraph,
    pub(super) replays: usize,
}

/// A stream of the device without a known owner, and its entries.
struct OwnerlessLane<'l> {
    place: DeviceStream,
    /// The entries that may have run in the stretch.
    own: UnownedEntries<'l>,
}

/// Where the nodes of a graph run. `None` when that is not certain, or not yet. `rivals` are other graphs that may have
/// been replayed meanwhile.
pub(super) fn find(
    graph: &LoggedGraph,
    stretch: &ReplayStretch,
    axis: LogClockOffset,
    lanes: &BTreeMap<DeviceStream, LogLane>,
    ownership: &dyn Fn(DeviceStream, &LogLane) -> LaneOwnership,
    rivals: &[RivalGraph<'_>],
    do_numbers_grow: bool,
) -> Option<Vec<GraphBranch>> {
    let branches = graph.by_branch();
    let own = lanes.iter().filter(|(place, _)| place.0 == graph.device);
    let mut found = Vec::new();
    for (place, lane) in own.filter(|(_, lane)| !lane.is_empty()) {
        match ownership(*place, lane) {
            LaneOwnership::Others => continue,
            LaneOwnership::Unclear => return None,
            LaneOwnership::NoOwner => {}
        }
        let own = lane.unowned(axis, stretch)?;
        if !own.entries.is_empty() {
            found.push(OwnerlessLane { place: *place, own });
        }
    }
    let mut classes: BTreeMap<Vec<u8>, Vec<&Vec<LoggedNode>>> = BTreeMap::new();
    for branch in &branches {
        let codes = branch.iter().map(|node| node.kind.code());
        classes.entry(codes.collect()).or_default().push(branch);
    }
    let classes: Vec<Vec<&Vec<LoggedNode>>> = classes.into_values().collect();
    let are_of_calls = do_numbers_grow && found.iter().any(OwnerlessLane::has_number_twice);
    let matching = matching(&found, &classes, stretch.replays, rivals, are_of_calls);
    let mut bound = Vec::new();
    for (class, same) in classes.iter().enumerate() {
        let pattern = pattern(same.first()?);
        let fitting: Vec<(usize, &OwnerlessLane<'_>, u64)> = (found.iter().enumerate())
            .filter(|(_, found)| !are_of_calls || found.numbers().len() == pattern.len())
            .filter_map(|(lane, found)| Some((lane, found, found.fits(&pattern, stretch.replays)?)))
            .collect();
        let is_forced =
            |(lane, ..): &(usize, &OwnerlessLane<'_>, u64)| matching.is_forced(*lane, class);
        if fitting.len() != same.len() || !fitting.iter().all(is_forced) {
            return None;
        }
        let fitting = fitting
            .into_iter()
            .map(|(_, found, number)| (found, number));
        bound.extend(assigned(same, fitting.collect(), do_numbers_grow));
    }
    // Whatever else ran has to be another graph's: else the log has lost something of this one.
    matching.is_explained().then_some(bound)
}

fn pattern(nodes: &[LoggedNode]) -> NodePattern {
    nodes.iter().map(|node| node.kind).collect()
}

/// Kinds of nodes in graphs that may have had a stream one after the other.
fn kinds_in_turn(rivals: &[RivalGraph<'_>]) -> NodePattern {
    let is_apart = |one: &LoggedGraph, other: &LoggedGraph| !one.life().shares_time(other.life());
    let has_turns = |own: &&RivalGraph<'_>| {
        let mut others = rivals.iter();
        others.any(|other| is_apart(own.graph, other.graph))
    };
    let in_turn = rivals.iter().filter(has_turns);
    let nodes = in_turn.flat_map(|rival| rival.graph.by_branch().concat());
    nodes.map(|node| node.kind).collect()
}

/// What each lane may be of, be it that entries of it are lost.
fn matching(
    found: &[OwnerlessLane<'_>],
    classes: &[Vec<&Vec<LoggedNode>>],
    replays: usize,
    rivals: &[RivalGraph<'_>],
    are_of_calls: bool,
) -> LaneMatching {
    let mut matching = LaneMatching::default();
    let mut patterns = Vec::new();
    for same in classes {
        let nodes = same.first().map_or(&[][..], |nodes| nodes);
        patterns.push((matching.add_class(same.len()), pattern(nodes), replays));
    }
    for rival in rivals {
        for nodes in rival.graph.by_branch() {
            let class = matching.add_class(1);
            patterns.push((class, pattern(&nodes), rival.replays));
        }
    }
    // A stream may have been one's and then another's.
    let kinds = kinds_in_turn(rivals);
    let in_turn = matching.add_class(usize::MAX);
    for found in found {
        let may_be = patterns
            .iter()
            .filter(|(_, pattern, times)| match are_of_calls {
                true => found.may_be_by_calls(pattern, *times),
                false => found.may_be(pattern, *times),
            });
        let mut classes: Vec<usize> = may_be.map(|(class, ..)| *class).collect();
        classes.extend(found.is_of(&kinds).then_some(in_turn));
        matching.add_lane(classes, found.own.certain > 0);
    }
    matching
}

/// Which of the streams with the same kinds of nodes is which: by the numbers of the calls that captured their first nodes, if
/// these grow with the calls; else that stays open.
fn assigned(
    branches: &[&Vec<LoggedNode>],
    mut fitting: Vec<(&OwnerlessLane<'_>, u64)>,
    do_numbers_grow: bool,
) -> Vec<GraphBranch> {
    let mut branches = branches.to_vec();
    branches.sort_by_key(|nodes| nodes.first().map(|node| node.number));
    fitting.sort_by_key(|(_, number)| *number);
    let mut numbers = fitting.iter().map(|(_, number)| *number);
    let is_growing = numbers.next().is_some_and(|first| {
        let each = numbers.try_fold(first, |last, next| (next > last).then_some(next));
        first > 0 && each.is_some()
    });
    let is_certain = branches.len() == 1 || do_numbers_grow && is_growing;
    let pairs = branches.iter().zip(fitting);
    pairs
        .map(|(nodes, (found, _))| GraphBranch {
            place: found.place,
            nodes: (nodes.iter())
                .map(|node| (if is_certain { node.number } else { 0 }, node.kind))
                .collect(),
        })
        .collect()
}

impl OwnerlessLane<'_> {
    /// The number of the call of its first entry, if it ran these kinds `times` times.
    fn fits(&self, pattern: &[ActivityKind], times: usize) -> Option<u64> {
        let entries = self.own.entries;
        let count = pattern.len().checked_mul(times)?;
        let length = match pattern.len() {
            // One call has entries of all replays.
            1 => period(entries).checked_mul(count)?,
            _ => groups(entries).take(count).map(<[LogEntry]>::len).sum(),
        };
        // Where a later entry could be taken for a lost one, nothing is certain.
        if !self.own.is_clear || length != entries.len() {
            return None;
        }
        let parts = split(entries, count, pattern.len() == 1)?;
        let mut kinds = parts.iter().zip(pattern.iter().cycle());
        let fits = kinds.all(|(part, kind)| part.iter().all(|entry| entry.activity.kind == *kind));
        let first = entries.first()?;
        fits.then_some(first.activity.correlation)
    }

    fn certain(&self) -> &[LogEntry] {
        self.own.entries.get(..self.own.certain).unwrap_or_default()
    }

    /// Whether several entries have one number: then numbers are those of the calls that captured the
    /// nodes.
    fn has_number_twice(&self) -> bool {
        let numbers: BTreeSet<u64> = self
            .own
            .entries
            .iter()
            .map(|it| it.activity.correlation)
            .collect();
        !numbers.contains(&0) && numbers.len() < self.own.entries.len()
    }

    /// The numbers of what certainly ran, in the order of the calls, and the kinds.
    fn numbers(&self) -> BTreeMap<u64, ActivityKind> {
        let certain = self.certain().iter();
        certain
            .map(|entry| (entry.activity.correlation, entry.activity.kind))
            .collect()
    }

    /// Whether the certain entries may be these nodes, at most `times` times, if the log may have lost
    /// some, each node has a number, and these grow along them.
    fn may_be_by_calls(&self, pattern: &[ActivityKind], times: usize) -> bool {
        let mut nodes = pattern.iter();
        let mut kinds = self.numbers().into_values();
        let parts: Vec<&[LogEntry]> = groups(self.certain()).collect();
        let number = |part: &[LogEntry]| part.first().map(|entry| entry.activity.correlation);
        let restarted = parts.iter().zip(parts.iter().skip(1));
        let restarted = restarted.filter(|(one, next)| number(next) <= number(one));
        kinds.all(|kind| nodes.any(|node| *node == kind)) && restarted.count() < times
    }

    /// Whether what certainly ran is of these kinds.
    fn is_of(&self, kinds: &[ActivityKind]) -> bool {
        self.certain()
            .iter()
            .all(|entry| kinds.contains(&entry.activity.kind))
    }

    /// Whether the certain entries may be these nodes, at most `times` times, if the log may have lost
    /// some.
    fn may_be(&self, pattern: &[ActivityKind], times: usize) -> bool {
        let most = pattern.len().saturating_mul(times);
        let mut nodes = pattern.iter().cycle().take(most);
        groups(self.certain()).all(|part| {
            let kind = part.first().map(|entry| entry.activity.kind);
            // A pattern that has not this kind at all need not be gone through as often as it ran.
            kind.is_some_and(|kind| pattern.contains(&kind) && nodes.any(|node| *node == kind))
        })
    }
}

/// Number of entries after which their names repeat.
fn period(entries: &[LogEntry]) -> usize {
    let name = |entry: &LogEntry| entry.activity.name;
    let is_period = |period: &usize| {
        let later = entries.iter().skip(*period);
        let mut pairs = entries.iter().zip(later);
        pairs.all(|(one, next)| name(one) == name(next))
    };
    (1..entries.len()).find(is_period).unwrap_or(entries.len())
}

#[cfg(test)]
mod tests {
    use ascend_trace_format::time::{DeviceNs, HostNs};

    use super::*;
    use crate::clock::WallClock;
    use crate::hardware::graphs::{JoinTargets, ReplayLaunch};
    use crate::hardware::lane::SyncCall;
    use crate::hardware::replays::Replays;
    use ascend_trace_format::record::kinds;

    const OFFSET: i64 = -1_000_000_000_000;
    const WALL: WallClock = WallClock {
        behind_ns: OFFSET,
        now: DeviceNs::new(2_000_000 - OFFSET),
    };
    const KINDS: [ActivityKind; 2] = [ActivityKind::Kernel, ActivityKind::Communication];

    /// A graph with two branches of the same kinds of nodes, replayed twice before a synchronisation.
    fn replayed() -> LoggedGraph {
        let mut graph = LoggedGraph::default();
        for number in 1..=4 {
            let node = LoggedNode {
                number,
                branch: 7 + (number - 1) / 2,
                kind: KINDS[(number as usize - 1) % 2],
            };
            graph.add(node, 1_000_000);
        }
        let mut lanes = BTreeMap::new();
        let mut replays = Replays::default();
        let mut ends = JoinTargets {
            lanes: &mut lanes,
            replays: &mut replays,
        };
        for sequence in [3, 4] {
            let begin = 2_000_000 + i64::from(sequence) * 1_000;
            let launch = ReplayLaunch {
                task: Some((1, sequence)),
                begin,
                end: begin + 500,
                is_mixed: false,
            };
            graph.replay(1, launch, &mut ends);
        }
        let sync = SyncCall {
            begin: 2_010_000,
            end: 2_400_000,
        };
        graph.sync(1, (Some(1), sync), &mut ends);
        graph
    }

    /// A stream of the device with entries of two replays, of these calls.
    fn lane<const N: usize>(numbers: [u64; N], count: usize) -> LogLane {
        let mut lane = LogLane::default();
        for place in 0..count {
            let begin = 2_050_000 + place as i64 * 5_000 - OFFSET;
            let activity = kinds::Activity {
                kind: KINDS[place % 2],
                device: 0,
                stream: 0,
                correlation: numbers[place % N],
                begin_ns: begin,
                end_ns: begin + 3_000,
                name: 0,
                seen: 0,
            };
            lane.take(LogEntry {
                activity,
                seen: HostNs::MAX,
            });
        }
        lane.straighten();
        lane
    }

    fn found(lanes: [LogLane; 2], grow: bool, hides: bool) -> Option<Vec<(u32, Vec<u32>)>> {
        let graph = replayed();
        let stretch = graph.stretches(true).last().unwrap();
        let [first, second] = lanes;
        let mut lanes = BTreeMap::from([((0, 20), first), ((0, 21), second)]);
        if hides {
            lanes.insert((0, 22), lane([90, 91], 1));
        }
        let axis = LogClockOffset::near(WALL);
        let ownership = |place: DeviceStream, _: &LogLane| match place.1 {
            22 => LaneOwnership::Unclear,
            _ => LaneOwnership::NoOwner,
        };
        let branches = find(&graph, &stretch, axis, &lanes, &ownership, &[], grow)?;
        let numbers =
            |branch: &GraphBranch| branch.nodes.iter().map(|(number, _)| *number).collect();
        let numbered = branches.iter().map(|it| (it.place.1, numbers(it)));
        Some(numbered.collect())
    }

    #[test]
    fn similar_branches_are_distinguished_by_their_calls() {
        let lanes = || [lane([13, 14], 4), lane([11, 12], 4)];
        let numbered = found(lanes(), true, false).unwrap();
        assert_eq!(numbered, [(21, vec![1, 2]), (20, vec![3, 4])]);
        // Numbers that need not grow prove nothing.
        let numbered = found(lanes(), false, false).unwrap();
        assert!(
            numbered.iter().all(|(_, nodes)| *nodes == [0, 0]),
            "{numbered:?}"
        );
    }

    #[test]
    fn nothing_is_found_where_something_else_ran_that_is_nobodys() {
        let mut graph = replayed();
        let whole = || [lane([11, 12], 4), lane([13, 14], 4)];
        let [first, second] = whole();
        let lanes = BTreeMap::from([
            ((0, 20), first),
            ((0, 21), second),
            ((0, 22), lane([90, 91], 3)),
        ]);
        let axis = LogClockOffset::near(WALL);
        let ownership = |_: DeviceStream, _: &LogLane| LaneOwnership::NoOwner;
        let stretch = graph.stretches(true).last().unwrap();
        assert!(find(&graph, &stretch, axis, &lanes, &ownership, &[], true).is_none());
        // Another graph has been replayed meanwhile, of such nodes.
        let mut rival = LoggedGraph::default();
        let node = LoggedNode {
            number: 1,
            branch: 9,
            kind: KINDS[0],
        };
        rival.add(node, 1_000_000);
        graph.device = 0;
        let lanes = BTreeMap::from([
            ((0, 20), lane([11, 12], 4)),
            ((0, 21), lane([13, 14], 4)),
            ((0, 22), lane([90], 1)),
        ]);
        assert!(
            find(
                &graph,
                &stretch,
                axis,
                &lanes,
                &ownership,
                &[RivalGraph {
                    graph: &rival,
                    replays: 1
                }],
                true
            )
            .is_some()
        );
    }

    #[test]
    fn nothing_is_found_where_it_is_not_certain() {
        // An entry is missing, or there is one more than was submitted.
        assert_eq!(
            found([lane([11, 12], 3), lane([13, 14], 4)], true, false),
            None
        );
        assert_eq!(
            found([lane([11, 12], 5), lane([13, 14], 4)], true, false),
            None
        );
        // Somebody has a stream that may have been the graph's.
        let whole = || [lane([11, 12], 4), lane([13, 14], 4)];
        assert_eq!(found(whole(), true, true), None);
        assert!(found(whole(), true, false).is_some());
    }
}
