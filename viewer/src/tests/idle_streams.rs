//! Streams that never had a task are in one line, and in no table.

use std::fmt::Write as _;

use ascend_trace_testkit::timeline;
use crossterm::event::{MouseButton, MouseEventKind};

use super::harness::{LARGE, Player};
use super::lists::entries;

/// Two streams that work, and 30 that do not, on one device; one of each on another.
fn pool() -> Player {
    let mut text = "s1: A[100us..200us] A[300us..400us]\ns2: B[100us..150us]\n".to_owned();
    text += "s40@1: C[10us..20us]\n";
    text += "t1: create(s1)[0..1us] create(s2)[1us..2us] create(s41)[2us..3us]\n";
    for stream in 3..33 {
        let _ = writeln!(
            text,
            "t1: create(s{stream})[{stream}us..{stream}500ns] | s{stream}:"
        );
    }
    text += "s41@1:\nt1: aclrtMalloc(64)[400us..500us]\n";
    Player::of(timeline(&text), LARGE)
}

#[test]
fn they_are_one_line_of_their_device() {
    let player = pool();
    let line = player.line_with("▸30 streams");
    assert!(line.contains("no tasks"), "{line}");
    assert!(line.contains("30 streams without tasks"), "{line}");
    assert!(!player.picture().contains("stream 17"));
    player.line_with("stream 1 ");
    // One of them alone has its own line.
    player.line_with("stream 41");
}

#[test]
fn the_line_opens_by_a_key_or_a_click_and_closes_again() {
    let mut player = pool();
    let (x, y) = player.place_of("▸30 streams");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
    player.line_with("stream 17");
    assert!(!player.picture().contains("▸30 streams"));
    player.play("c");
    assert!(player.line_with("▸30 streams").starts_with('▶'));
    player.play("c");
    player.line_with("stream 3 ");
}

#[test]
fn they_are_in_no_table_and_no_list_of_stalls() {
    let mut player = pool();
    player.play("t tab");
    assert_eq!(entries(&player).len(), 3);
    player.line_with("31 streams without tasks left out");
    player.play("tab");
    assert!(
        entries(&player)[0].starts_with("1000 0 2 "),
        "{:?}",
        entries(&player)
    );
    player.play("tab tab tab");
    let drained = entries(&player);
    let drained = drained.iter().find(|it| it.starts_with("drained"));
    assert!(
        drained.is_none_or(|it| it.starts_with("drained streams 3 ")),
        "{drained:?}"
    );
}

#[test]
fn a_device_that_is_folded_counts_and_draws_those_that_work() {
    let mut player = pool();
    player.play("c");
    let line = player.line_with("▸device 0");
    assert!(line.contains("2 streams"), "{line}");
}
