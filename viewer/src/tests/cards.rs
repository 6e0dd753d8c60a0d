//! Devices of several processes on one card.

use ascend_trace_format::record::figure::Figure;
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{CounterRow, Row};
use ascend_trace_testkit::Timeline;

use super::harness::{LARGE, Player};

/// Three processes. The device of each is the card with this number, if it is known.
fn recorded(cards: [Option<u32>; 3]) -> Trace {
    let text = "p1.s1: A[10us..20us] | p1.t1: aclrtMalloc(64,4096)[0..1us]
        p2.s2: B[30us..40us] | p2.t2: aclrtMalloc(64,4096)[5us..6us]
        p3.s3: C[30us..40us]";
    let mut timeline = Timeline::of(text);
    let ranks = ["2", "0", ""];
    let mut number = 0;
    let mut counters = Vec::new();
    for row in &mut timeline.rows {
        if let Row::Process(process) = row {
            ranks[number].clone_into(&mut process.rank);
            counters.extend(cards[number].map(|card| {
                Row::Counter(CounterRow {
                    process: process.process,
                    what: Figure::CardNumber.code(0).expect("a code"),
                    value: u64::from(card) + 1,
                })
            }));
            number += 1;
        }
    }
    timeline.with_rows(counters).trace()
}

/// The names of the rows, without their values.
fn names(player: &Player) -> Vec<String> {
    let picture = player.picture();
    let lanes = picture.lines().filter_map(|it| it.split_once('│'));
    let names = lanes.map(|(name, _)| name.trim_matches(['▶', ' ']).to_owned());
    names.filter(|it| !it.is_empty()).collect()
}

fn place(names: &[String], text: &str) -> usize {
    let found = names.iter().position(|it| it.starts_with(text));
    found.unwrap_or_else(|| panic!("{text} in {names:#?}"))
}

#[test]
fn processes_on_one_card_are_together_with_rank_and_number() {
    let player = Player::of(recorded([Some(5), Some(5), Some(6)]), LARGE);
    let names = names(&player);
    let card = place(&names, "card 5");
    let first = place(&names, "rank 0 (2000)");
    let second = place(&names, "rank 2 (1000)");
    assert!(card < first && first < second, "{names:#?}");
    // The lower rank comes first, and its threads after the card.
    let lanes: Vec<&str> = names[first + 1..second]
        .iter()
        .map(String::as_str)
        .collect();
    assert!(lanes[0].starts_with("stream 2"), "{names:#?}");
    assert!(
        lanes.iter().any(|it| it.starts_with("memory")),
        "{names:#?}"
    );
    assert!(place(&names, "thread 2002") > second, "{names:#?}");
    // A card of one process is in its group.
    let alone = place(&names, "stream 3");
    assert!(names[alone - 1].contains("card 6"), "{names:#?}");
    assert_eq!(names.iter().filter(|it| it.contains("card")).count(), 2);
}

#[test]
fn processes_on_other_cards_or_unknown_ones_have_their_own_groups() {
    for cards in [[Some(5), Some(6), Some(7)], [None, None, None]] {
        let player = Player::of(recorded(cards), LARGE);
        let names = names(&player);
        assert!(names.iter().all(|it| !it.starts_with("card")), "{names:#?}");
        let devices = names.iter().filter(|it| it.starts_with("device 0"));
        assert_eq!(devices.count(), 3, "{names:#?}");
    }
}

#[test]
fn a_device_of_a_card_is_folded_by_its_process() {
    let mut player = Player::of(recorded([Some(5), Some(5), None]), LARGE);
    player.play("c");
    let line = player.line_with("▸rank 0 (2000)");
    assert!(line.contains("device 0"), "{line}");
    player.play("c");
    assert!(player.line_with("rank 0 (2000)").contains("device 0"));
}
