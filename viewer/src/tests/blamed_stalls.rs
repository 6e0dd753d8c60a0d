//! Stalls by who is to blame, and the least duration of those that are looked at.

use std::collections::BTreeMap;

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::stats::StallGroup;
use ascend_trace_testkit::Timeline;

use crate::cached_results::StallGroupsKey;
use crate::list::{JumpTarget, ListState};
use crate::panels::{Blames, PanelKind, StallPanel};
use crate::text::{count, duration};
use crate::update::background_query::known_longest;

use super::background_queries;
use super::harness::{LARGE, PIPELINE, Player, SMALL};
use super::lists::entries;

fn list(player: &Player) -> &ListState {
    player.app.panels.list.as_ref().expect("a list")
}

/// Stalls and their time by cause, of the rows of the list on screen.
fn by_cause(player: &Player) -> BTreeMap<(String, String), (u64, i64)> {
    let mut sums: BTreeMap<_, (u64, i64)> = BTreeMap::new();
    let blames = &player.app.document.blames;
    for entry in list(player).shown() {
        let JumpTarget::Blame(id) = entry.target else {
            panic!("{entry:?}");
        };
        let blame = blames.get(id).expect("it is known");
        let groups = player
            .app
            .document
            .blamed
            .groups(|it| it.cause.is_notable());
        let group = groups.iter().find(|it| it.blame == *blame);
        let group = group.expect("it is one of the trace");
        assert_eq!(entry.cells[4].text, duration(group.total_ns));
        let sum = sums.entry(key(group)).or_default();
        sum.0 += group.count;
        sum.1 += group.total_ns;
    }
    sums
}

fn key(group: &StallGroup) -> (String, String) {
    let lane = if group.blame.is_of_threads {
        "thread"
    } else {
        "stream"
    };
    (group.blame.cause.name().to_owned(), lane.to_owned())
}

#[test]
fn stalls_are_grouped_and_their_totals_are_those_of_stats() {
    for trace in [Timeline::of(PIPELINE).trace(), super::scene::scene()] {
        let mut player = Player::of(trace, LARGE);
        player.play("I");
        let trace = &player.trace;
        let stats = Stats::of(trace);
        let notable = ascend_trace_analysis::Cause::ALL.into_iter();
        let notable: Vec<&str> = notable
            .filter(|it| it.is_notable())
            .map(|it| it.name())
            .collect();
        let expected = stats.stall_causes.iter();
        let expected: BTreeMap<_, _> = expected
            .filter(|row| notable.contains(&row.cause))
            .map(|row| {
                (
                    (row.cause.to_owned(), row.lane.to_owned()),
                    (row.count, row.total_ns),
                )
            })
            .collect();
        assert_eq!(by_cause(&player), expected);
        let total: i64 = expected.values().map(|it| it.1).sum();
        let stalls: u64 = expected.values().map(|it| it.0).sum();
        let title = format!("{} in {} stalls", duration(total), count(stalls));
        player.line_with(&title);
    }
}

#[test]
fn a_group_opens_to_its_stalls_and_esc_goes_back_to_the_groups() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("I");
    let all = entries(&player);
    let place = all
        .iter()
        .position(|it| it.contains("device 0 stream 2 'MatMul' event-wait"));
    let place = place.unwrap_or_else(|| panic!("{all:?}"));
    for _ in 0..place {
        player.play("down");
    }
    let row = list(&player).current().expect("a row").clone();
    player.play("enter");
    assert!(matches!(
        list(&player).kind,
        PanelKind::Stalls(StallPanel::Blame(_))
    ));
    player.line_with("event-wait ← device 0 stream 2 'MatMul'");
    let stalls = entries(&player);
    assert_eq!(stalls.len().to_string(), row.cells[3].text);
    assert!(
        stalls.iter().all(|it| it.contains("stream 2 'MatMul'")),
        "{stalls:?}"
    );
    assert!(
        stalls[0].starts_with(&row.cells[6].text),
        "the longest comes first"
    );
    // The stall is shown in the lanes.
    assert!(
        player.selected().contains("StreamWaitEvent"),
        "{}",
        player.selected()
    );
    player.play("esc");
    assert_eq!(list(&player).kind, PanelKind::Blames(Blames));
    assert_eq!(list(&player).current().map(|it| &it.id), Some(&row.id));
    assert_eq!(player.selected(), "nothing");
    player.play("esc");
    assert!(player.app.panels.list.is_none());
}

#[test]
fn tab_turns_between_the_longest_stalls_and_who_is_to_blame() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("i tab");
    assert_eq!(list(&player).kind, PanelKind::Blames(Blames));
    player.play("tab");
    assert_eq!(list(&player).kind, PanelKind::Stalls(StallPanel::All));
    player.play("tab I");
    assert!(player.app.panels.list.is_none());
}

#[test]
fn a_range_of_the_program_separates_groups() {
    let text = "s1: A[0..5us] by t1[-2us..-1us] A[60us..65us] by t1[55us..56us] A[130us..131us] by t1[120us..121us]";
    let timeline = Timeline::of(text);
    let trace = timeline.with_ranges(&[(0, 7, 54, "load")]).trace();
    let mut player = Player::of(trace, LARGE);
    player.play("I");
    let all = entries(&player);
    assert!(
        all.iter().any(|it| it.contains("range 'load' host-late")),
        "{all:?}"
    );
    assert_eq!(all.iter().filter(|it| it.contains("host-late")).count(), 2);
}

#[test]
fn short_stalls_are_passed_by_and_left_out_and_the_screen_says_so() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("i");
    let all = list(&player).len();
    player.play("T 4 0 0 u s enter");
    let long = list(&player).len();
    assert!(0 < long && long < all, "{long} {all}");
    player.line_with("longest stalls  1/").contains("≥ 400 µs");
    let picture = player.picture();
    let last = picture.lines().last().unwrap_or_default();
    assert!(last.contains("stalls ≥ 400 µs"), "{last}");
    player.play("tab");
    assert!(player.line_with("by culprit").contains("stalls ≥ 400 µs"));
    player.play("esc home");
    for (key, step) in [("n", 1), ("N", -1)] {
        let mut begins = Vec::new();
        for _ in 0..40 {
            player.play(key);
            let Some(stall) = player.app.selected_stall(&player.trace) else {
                panic!("{}", player.selected());
            };
            assert!(stall.length() >= 400_000, "{stall:?}");
            begins.push(stall.begin * step);
        }
        assert!(begins.is_sorted());
        let message = player.app.message.clone().unwrap_or_default();
        assert!(message.contains("no stall ≥ 400 µs"), "{message}");
    }
    // All causes again; the proposal is the present limit.
    player.play("T");
    player.line_with("400us▏");
    for _ in 0.."400us".len() {
        player.play("backspace");
    }
    player.play("enter i");
    assert_eq!((player.app.camera.least, list(&player).len()), (0, all));
}

#[test]
fn an_invalid_duration_changes_nothing() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("T 5 m s enter T backspace backspace x enter");
    assert_eq!(player.app.camera.least, 5_000_000);
    assert!(player.line_with("is not a duration").contains("“5x”"));
    player.play("T - enter");
    assert_eq!(player.app.camera.least, 5_000_000);
    player.play("i");
    assert!(
        player
            .line_with("there is no stall ≥ 5.00 ms")
            .contains("stall")
    );
}

#[test]
fn groups_of_a_long_recording_are_those_of_its_tables_and_open_to_their_stalls() {
    let (mut player, mut recording) = background_queries::player();
    player.play("I");
    assert!(
        player
            .line_with("by culprit")
            .contains("of the part that is loaded")
    );
    background_queries::pursue_sums(&mut player, &mut recording);
    assert!(
        player
            .line_with("by culprit")
            .contains("of all of the recording")
    );
    let span = recording.span();
    let stats = Stats::of_recording(&mut recording, span, |_| true);
    let stats = stats
        .expect("it is in memory")
        .expect("it was not given up");
    let groups = player.app.document.cache.get(
        player.app.document.counts,
        &StallGroupsKey {
            least: 0,
            hidden: 0,
        },
    );
    let groups = groups.expect("it is known");
    let mut sums: BTreeMap<_, (u64, i64)> = BTreeMap::new();
    for group in groups {
        let sum = sums.entry(key(group)).or_default();
        sum.0 += group.count;
        sum.1 += group.total_ns;
    }
    assert!(sums.len() > 1, "{sums:?}");
    for ((cause, lane), sum) in sums {
        let rows = &mut stats.stall_causes.iter();
        let row = rows.find(|it| it.cause == cause && it.lane == lane);
        let row = row.unwrap_or_else(|| panic!("no {cause}"));
        assert_eq!((row.count, row.total_ns), sum, "{cause}");
    }
    let first = groups[0].clone();
    player.play("enter");
    background_queries::pursue(&mut player, &mut recording);
    let kind = list(&player).kind;
    let PanelKind::Stalls(which) = kind else {
        panic!("{kind:?}")
    };
    let longest = known_longest(&player.app, which).expect("they are known");
    assert!(longest.iter().all(|it| it.cause == first.blame.cause));
    // A stall from one part into another may be blamed on more than the sums could know.
    let length = longest.first().map(|it| it.length());
    assert!(length >= Some(first.max_ns), "{length:?}");
    player.play("esc");
    assert_eq!(list(&player).kind, PanelKind::Blames(Blames));
}

#[test]
fn the_next_long_stall_of_a_long_recording_is_as_long_as_is_wanted() {
    let (mut player, mut recording) = background_queries::player();
    let (_, _, stalls) = background_queries::whole(&mut recording);
    let lengths: Vec<i64> = stalls
        .worst_where(8, |it| it.is_notable())
        .iter()
        .map(|it| it.length())
        .collect();
    let least = lengths[lengths.len() - 1] / 1_000;
    let digits: Vec<String> = least.to_string().chars().map(String::from).collect();
    player.play(&format!("T {} u s enter n", digits.join(" ")));
    background_queries::pursue(&mut player, &mut recording);
    let stall = player.app.selected_stall(&player.trace).expect("a stall");
    assert!(stall.length() >= least * 1_000 - 100, "{stall:?} {least}");
}
