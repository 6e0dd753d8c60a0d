//! Marks, jumps to timestamps, and undo of moves.

use crossterm::event::{MouseButton, MouseEventKind};

use super::harness::{LARGE, PIPELINE, Player, SMALL};

fn pipeline() -> Player {
    Player::new(PIPELINE, SMALL)
}

#[test]
fn the_gap_between_two_slices_is_measured() {
    let mut player = pipeline();
    player.play("/ Gelu enter m");
    assert!(player.picture().contains("m at another place"));
    player.play("/ LayerNorm enter m");
    let line = player.line_with("marks: ");
    assert!(line.contains("gap 521 µs"), "{line}");
    assert!(line.contains("begin to begin 600 µs"), "{line}");
    assert!(line.contains("end to end 720 µs"), "{line}");
    player.play("M");
    assert!(!player.picture().contains("marks: "));
}

#[test]
fn marks_stand_on_the_ruler_and_can_be_zoomed_to() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("/ Gelu enter m / LayerNorm enter m esc");
    let ruler = player.app.layout().ruler.y;
    let picture = player.picture();
    let line = picture.lines().nth(usize::from(ruler)).expect("a ruler");
    assert!(line.contains('A') && line.contains('B'), "{line}");
    assert!(picture.contains('┊'));
    player.play("Z");
    let range = player.app.camera.viewport.range();
    assert!(
        range.begin < 1_101_000 && range.begin > 900_000,
        "{range:?}"
    );
    assert!(range.end > 1_900_000 && range.end < 2_100_000, "{range:?}");
}

#[test]
fn the_right_button_draws_a_measure() {
    let mut player = Player::new(PIPELINE, LARGE);
    let lanes = player.app.layout().lanes;
    let right = MouseButton::Right;
    player.mouse(MouseEventKind::Down(right), lanes.x + 10, lanes.y + 2);
    player.mouse(MouseEventKind::Drag(right), lanes.x + 60, lanes.y + 2);
    player.mouse(MouseEventKind::Drag(right), lanes.x + 50, lanes.y + 2);
    player.mouse(MouseEventKind::Up(right), lanes.x + 50, lanes.y + 2);
    let time = |cell| player.app.camera.viewport.time(cell, lanes.width);
    let gap = player.app.camera.marks.measure().expect("two marks").gap;
    assert_eq!(gap, time(50) - time(10));
}

#[test]
fn the_view_goes_to_a_time_from_the_start_from_here_and_by_share() {
    let mut player = pipeline();
    player.play("W g 1.5ms enter");
    let start = player.app.document.span.expect("a span").begin;
    assert_eq!(player.app.camera.viewport.middle(), start + 1_500_000);
    player.play("g -100us enter");
    assert_eq!(player.app.camera.viewport.middle(), start + 1_400_000);
    player.play("g 50% enter");
    let span = player.app.document.span.expect("a span");
    assert!((player.app.camera.viewport.middle() - span.middle()).abs() < 10);
    player.play("g soon enter");
    assert!(player.picture().contains("“soon” is not a time"));
}

#[test]
fn moves_in_a_row_are_undone_at_once_and_redone() {
    let mut player = pipeline();
    let whole = player.app.camera.viewport;
    player.play("w w d d");
    let moved = player.app.camera.viewport;
    player.play("/ Softmax enter");
    player.play("F");
    let close = player.app.camera.viewport;
    player.play("u");
    assert_eq!(player.selected(), "task Softmax at 1101000");
    player.play("u");
    assert_eq!(player.app.camera.viewport, moved);
    player.play("u");
    assert_eq!(player.app.camera.viewport, whole);
    player.play("u");
    assert!(player.picture().contains("there is no way back from here"));
    player.play("U U U");
    assert_eq!(player.app.camera.viewport, close);
    player.play("U");
    assert!(player.picture().contains("nothing was undone"));
}

#[test]
fn a_drag_is_undone_as_a_whole() {
    let mut player = pipeline();
    player.play("W");
    let before = player.app.camera.viewport;
    let lanes = player.app.layout().lanes;
    let left = MouseButton::Left;
    player.mouse(MouseEventKind::Down(left), lanes.x + 30, lanes.y + 12);
    for x in [28, 25, 20] {
        player.mouse(MouseEventKind::Drag(left), lanes.x + x, lanes.y + 12);
    }
    player.mouse(MouseEventKind::Up(left), lanes.x + 20, lanes.y + 12);
    assert_ne!(player.app.camera.viewport, before);
    player.play("u");
    assert!(player.app.camera.viewport == before || player.app.camera.history.is_empty());
}
