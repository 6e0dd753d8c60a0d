//! Folding, pinning, hiding and filtering lanes.

use crossterm::event::{MouseButton, MouseEventKind};

use super::harness::{LARGE, PIPELINE, Player, SMALL};

fn pipeline() -> Player {
    Player::new(PIPELINE, LARGE)
}

#[test]
fn a_device_is_folded_into_one_line_and_taken_apart_again() {
    let mut player = pipeline();
    player.play("down c");
    let line = player.line_with("device 0");
    assert!(
        line.contains("▸device 0") && line.contains("4 streams"),
        "{line}"
    );
    assert!(line.starts_with('▶'), "{line}");
    assert!(line.contains('⣤') || line.contains('⣄'), "{line}");
    assert!(
        !player.picture().contains("\n  stream 3 "),
        "it is folded away"
    );
    player.play("c");
    assert!(player.line_with("stream 1").starts_with('▶'));
}

#[test]
fn the_cursor_stops_at_folded_lanes() {
    let mut player = pipeline();
    player.play("c down");
    assert!(player.line_with("stream 4").starts_with('▶'));
    player.play("up c");
    assert!(player.picture().contains("stream 0 default"));
}

#[test]
fn threads_are_folded_too_and_all_is_unfolded_at_once() {
    let mut player = pipeline();
    player.play("down down down down down c");
    let line = player.line_with("▸threads");
    assert!(line.contains(" 2"), "{line}");
    player.play("up c C");
    let picture = player.picture();
    assert!(picture.contains("thread 1002") && picture.contains("stream 4"));
}

#[test]
fn going_to_a_folded_lane_unfolds_it() {
    let mut player = pipeline();
    player.play("c / Softmax enter");
    assert!(player.line_with("stream 3").starts_with('▶'));
}

#[test]
fn a_click_folds_a_device_and_another_unfolds_it() {
    let mut player = pipeline();
    let (x, y) = player.place_of("device 0");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
    let (x, y) = player.place_of("▸device 0");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
    assert!(player.picture().contains("stream 0 default"));
}

#[test]
fn a_pinned_lane_stays_on_top_while_others_scroll() {
    let mut player = Player::new(PIPELINE, (80, 12));
    player.play("down down down v");
    let lanes = player.app.layout().lanes;
    let top = |player: &Player| {
        let picture = player.picture();
        picture
            .lines()
            .nth(usize::from(lanes.y))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(top(&player).contains("* d0 stream 3"), "{}", top(&player));
    player.play("down down down down down");
    assert!(player.app.camera.scroll > 0);
    assert!(top(&player).contains("* d0 stream 3"), "{}", top(&player));
    player.play("pgup pgup pgup v");
    assert!(
        player.picture().contains("stays on top") || player.picture().contains("back in its place")
    );
}

#[test]
fn hidden_lanes_come_back_when_needed_or_requested() {
    let mut player = pipeline();
    player.play("down down down x");
    assert!(
        !player.picture().contains("stream 3  "),
        "{}",
        player.picture()
    );
    assert!(player.picture().contains("X shows them again"));
    player.play("/ Softmax enter");
    assert!(player.line_with("stream 3").starts_with('▶'));
    player.play("x X");
    assert!(player.picture().contains("stream 3  "));
    player.play("X");
    assert!(player.picture().contains("no lane is hidden"));
}

#[test]
fn stalls_of_hidden_lanes_are_left_out() {
    let mut player = pipeline();
    player.play("down down down down x i");
    let list = player.app.panels.list.as_ref().expect("a list");
    assert!(
        list.entries
            .iter()
            .all(|it| !it.cells[1].text.contains("stream 4"))
    );
}

#[test]
fn only_lanes_with_a_name_are_shown() {
    let mut player = pipeline();
    player.play("\\ t h r e a d enter");
    let picture = player.picture();
    assert!(picture.contains("thread 1002"));
    assert!(!picture.contains("stream 1 "));
    player.play("\\ n o n e enter");
    assert!(player.picture().contains("no lane has “none” in its name"));
    player.play("\\ enter");
    assert!(player.picture().contains("stream 1 "));
}

#[test]
fn everything_hidden_leaves_a_view_that_can_be_restored() {
    let mut player = Player::new(PIPELINE, SMALL);
    for _ in 0..12 {
        player.play("x");
    }
    player.play("down up n N i esc t esc / Gelu enter c v x X C");
    assert!(player.picture().contains("stream 1"));
}
