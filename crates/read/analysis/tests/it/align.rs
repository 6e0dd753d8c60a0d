//! The clocks of hosts, from collectives of made-up clusters with known true clocks.

mod bound;
mod cluster;

use ascend_trace_analysis::align::{
    Alignment, AlignmentBasis, Contradiction, Recorded, Round, WallClockReason, align,
};
use cluster::{Cluster, Hosts};

/// The middle of a recording on the reference, by the truth and by the alignment.
fn off_and_bar(cluster: &Cluster, found: &Alignment, recording: usize, at: i64) -> (i64, i64) {
    let own = cluster.clock(recording);
    let reference = cluster.clock(found.hosts[0].recordings[0]);
    let truth = reference.reads(own.at(at));
    let aligned = found.mapping(recording).map(at);
    ((aligned.ns - truth).abs(), aligned.error_ns)
}

/// Random clusters: the truth lies inside the bar.
#[test]
fn the_truth_lies_inside_the_bar() {
    let (mut looks, mut inside) = (0_u64, 0_u64);
    for seed in 0..40 {
        let cluster = Cluster::random(seed, Hosts { hosts: 4, ranks: 2 }, 2_000);
        let recordings = cluster.recordings();
        let found = align(&recordings);
        assert!(
            found.culprits.is_empty(),
            "seed {seed}: {:?}",
            found.culprits
        );
        for (number, recorded) in recordings.iter().enumerate() {
            let (begin, end) = recorded.span;
            for part in 0..=50 {
                let at = begin + (end - begin) / 50 * part;
                let (off, bar) = off_and_bar(&cluster, &found, number, at);
                looks += 1;
                inside += u64::from(off <= bar);
            }
        }
    }
    assert!(looks > 10_000);
    assert!(inside * 1_000 >= looks * 999, "{inside} of {looks}");
}

/// The bars are no wider than twice the range that the collectives themselves leave open.
#[test]
fn bars_are_as_narrow_as_the_collectives_allow() {
    for seed in 0..10 {
        let cluster = Cluster::random(seed, Hosts { hosts: 2, ranks: 1 }, 1_500);
        let recordings = cluster.recordings();
        let found = align(&recordings);
        let other = found.hosts[1].recordings[0];
        let reference = found.hosts[0].recordings[0];
        let (begin, end) = recordings[other].span;
        for part in 1..20 {
            let at = begin + (end - begin) / 20 * part;
            let bar = found.mapping(other).map(at).error_ns;
            let open = bound::half_width(&recordings[other], &recordings[reference], at);
            // Collectives take some ten microseconds here.
            assert!((1_000.0..100_000.0).contains(&open), "{open}");
            assert!(
                bar as f64 <= 2.0 * open + 2.0,
                "seed {seed} at {part}: bar {bar}, open {open}"
            );
        }
    }
}

#[test]
fn the_order_of_the_recordings_does_not_matter() {
    let cluster = Cluster::random(7, Hosts { hosts: 3, ranks: 2 }, 300);
    let recordings = cluster.recordings();
    let found = align(&recordings);
    let backwards: Vec<Recorded> = recordings.iter().rev().cloned().collect();
    let turned = align(&backwards);
    for number in 0..recordings.len() {
        let own = found.mapping(number);
        let other = turned.mapping(recordings.len() - 1 - number);
        let at = recordings[number].span.0 + 1_000_000;
        assert_eq!(own.map(at), other.map(at));
    }
}

#[test]
fn ranks_of_one_host_have_one_clock() {
    let cluster = Cluster::random(1, Hosts { hosts: 1, ranks: 4 }, 50);
    let found = align(&cluster.recordings());
    assert_eq!(found.hosts.len(), 1);
    assert_eq!(found.hosts[0].recordings, [0, 1, 2, 3]);
    let mapped = found.mapping(2).map(12_345);
    assert_eq!((mapped.ns, mapped.error_ns), (12_345, 0));
}

#[test]
fn without_a_common_collective_the_wall_clock_is_all_there_is() {
    let cluster = Cluster::random(3, Hosts { hosts: 2, ranks: 1 }, 50);
    let mut recordings = cluster.recordings();
    recordings[1].participants[0].comms.clear();
    let found = align(&recordings);
    assert_eq!(
        found.hosts[1].how,
        AlignmentBasis::WallClock(WallClockReason::NothingCommon)
    );
    assert_eq!(found.hosts[1].bar_ns, None);
    let apart = recordings[1].since_1970_ns() - recordings[0].since_1970_ns();
    assert_eq!(found.hosts[1].offset_ns, apart);
}

/// Host c has collectives with b only, and b with a.
#[test]
fn a_host_is_reached_through_another_one_and_its_bar_grows() {
    let cluster = Cluster::chain(5, 1_000);
    let recordings = cluster.recordings();
    let found = align(&recordings);
    let with = |number: usize| match found.hosts[number].how {
        AlignmentBasis::Collectives { with, .. } => with,
        _ => panic!("{:?}", found.hosts[number]),
    };
    assert_eq!((with(1), with(2)), (0, 1));
    assert!(found.hosts[2].bar_ns > found.hosts[1].bar_ns);
    let at = recordings[2].span.0 + 1_000_000_000;
    let (off, bar) = off_and_bar(&cluster, &found, 2, at);
    assert!(off <= bar, "{off} {bar}");
}

/// The rounds of the first collective of a recording.
fn rounds(recorded: &mut Recorded) -> &mut Vec<Round> {
    &mut recorded.participants[0].comms[0].lanes[0].rounds
}

/// A recording of another run, in which the steps took other times.
#[test]
fn a_rank_of_another_run_is_named_and_moves_no_other() {
    let cluster = Cluster::random(11, Hosts { hosts: 4, ranks: 1 }, 400);
    let strange = Cluster::random(12, Hosts { hosts: 4, ranks: 1 }, 400);
    let mut recordings = cluster.recordings();
    let without = align(&recordings);
    let other = strange.recordings().remove(2);
    *rounds(&mut recordings[2]) = rounds(&mut other.clone()).clone();
    let found = align(&recordings);
    let named: Vec<_> = found.culprits.iter().map(|it| it.recording).collect();
    assert_eq!(named, [2]);
    assert_eq!(found.culprits[0].what, Contradiction::Clocks);
    let own = &found.hosts[found.host_of[2]];
    assert_eq!(
        own.how,
        AlignmentBasis::WallClock(WallClockReason::Contradicts)
    );
    for number in [0, 1, 3] {
        let at = recordings[number].span.0 + 1_000_000;
        assert_eq!(
            found.mapping(number).map(at),
            without.mapping(number).map(at)
        );
    }
}

/// The same on a host with other ranks: the clock is theirs.
#[test]
fn a_rank_that_contradicts_those_of_its_host_is_named() {
    let cluster = Cluster::random(13, Hosts { hosts: 2, ranks: 3 }, 400);
    let mut recordings = cluster.recordings();
    for round in rounds(&mut recordings[4]) {
        round.begin += 70_000_000;
        round.end += 70_000_000;
    }
    let found = align(&recordings);
    let named: Vec<_> = found.culprits.iter().map(|it| it.recording).collect();
    assert_eq!(named, [4]);
    assert!(matches!(
        found.culprits[0].what,
        Contradiction::OneHost { .. }
    ));
    assert!(matches!(
        found.hosts[1].how,
        AlignmentBasis::Collectives { .. }
    ));
}

#[test]
fn a_rank_with_other_collectives_is_named() {
    let cluster = Cluster::random(14, Hosts { hosts: 3, ranks: 1 }, 100);
    let mut recordings = cluster.recordings();
    for round in rounds(&mut recordings[1]) {
        round.shape += 1;
    }
    let found = align(&recordings);
    let what: Vec<_> = found
        .culprits
        .iter()
        .map(|it| (it.recording, it.what))
        .collect();
    let expected = Contradiction::Shapes {
        odd: 100,
        rounds: 100,
    };
    assert_eq!(what, [(1, expected)]);
}

/// Of two, the wrong one is not known.
#[test]
fn two_that_contradict_each_other_are_both_said() {
    let cluster = Cluster::random(15, Hosts { hosts: 2, ranks: 1 }, 200);
    let mut recordings = cluster.recordings();
    for (place, round) in rounds(&mut recordings[1]).iter_mut().enumerate() {
        let by = if place % 2 == 0 { 900_000_000 } else { 0 };
        round.begin += by;
        round.end += by;
    }
    let found = align(&recordings);
    assert_eq!(found.culprits.len(), 1);
    assert_eq!(found.culprits[0].what, Contradiction::Either { other: 0 });
    assert_eq!(
        found.hosts[1].how,
        AlignmentBasis::WallClock(WallClockReason::Contradicts)
    );
}

/// Nobody can say which of two ranks 0 belongs to which rank 1: neither is used.
#[test]
fn groups_that_look_the_same_are_left_out() {
    let cluster = Cluster::pairs(21, 300, false);
    let found = align(&cluster.recordings());
    let how = found.hosts[1..].iter().map(|it| &it.how);
    assert!(
        how.clone()
            .all(|it| *it == AlignmentBasis::WallClock(WallClockReason::NothingCommon))
    );
    assert!(found.culprits.is_empty(), "{:?}", found.culprits);
    every_rank_is_aligned(&Cluster::pairs(21, 300, true));
}

#[test]
fn groups_that_look_the_same_are_distinguished_by_their_identity() {
    every_rank_is_aligned(&Cluster::grid(22, 300));
}

fn every_rank_is_aligned(cluster: &Cluster) {
    let recordings = cluster.recordings();
    let found = align(&recordings);
    for (number, recorded) in recordings.iter().enumerate().skip(1) {
        let how = &found.hosts[number].how;
        assert!(
            matches!(how, AlignmentBasis::Collectives { rounds: 300, .. }),
            "{how:?}"
        );
        let at = recorded.span.0 + 2_000_000_000;
        let (off, bar) = off_and_bar(cluster, &found, number, at);
        assert!(off <= bar, "{off} {bar}");
    }
}
