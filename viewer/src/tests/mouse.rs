//! The mouse: double clicks, drags in the ruler and in the second line, tips.

use std::time::Duration;

use ascend_trace_recording::TimeRange;
use crossterm::event::{MouseButton, MouseEventKind};

use crate::app::FollowMode;
use crate::event::InputEvent;
use crate::theme::{ColorMode, Theme};
use crate::viewport::Viewport;

use super::harness::{LARGE, PIPELINE, Player, SMALL};
use super::scene::{running_scene, scene};

const DOWN: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const UP: MouseEventKind = MouseEventKind::Up(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const MOVED: MouseEventKind = MouseEventKind::Moved;

fn player() -> Player {
    Player::new(PIPELINE, LARGE)
}

fn wait(player: &mut Player, milliseconds: u64) {
    let now = player.app.clock + Duration::from_millis(milliseconds);
    player.event(InputEvent::Clock(now));
}

fn click(player: &mut Player, (x, y): (u16, u16)) {
    player.mouse(DOWN, x, y).mouse(UP, x, y);
}

fn double_click(player: &mut Player, at: (u16, u16)) {
    click(player, at);
    wait(player, 120);
    click(player, at);
}

fn drag(player: &mut Player, from: (u16, u16), to: u16) {
    player.mouse(DOWN, from.0, from.1);
    let step = if to > from.0 { 1 } else { -1 };
    let mut x = from.0;
    while x != to {
        x = x.saturating_add_signed(step);
        player.mouse(DRAG, x, from.1);
    }
}

/// The tip at the mouse, if any.
fn tip(player: &Player) -> Option<String> {
    let before = player.picture();
    let mut bare = Player::of(player.trace.clone(), player.app.size);
    bare.app.camera.viewport = player.app.camera.viewport;
    bare.app.theme = player.app.theme;
    let bare = bare.picture();
    let pairs = before.lines().zip(bare.lines());
    let (with, _) = pairs.filter(|(with, without)| with != without).last()?;
    Some(with.to_owned())
}

#[test]
fn a_double_click_on_a_slice_fits_the_range_to_it() {
    let mut player = player();
    let (x, y) = player.place_of("MatMul 619 µs");
    let before = player.app.camera.viewport;
    double_click(&mut player, (x, y));
    assert_eq!(player.selected(), "task MatMul at 481000");
    let shown = player.app.camera.viewport;
    assert_eq!(
        shown,
        Viewport::with_room(TimeRange::new(481_000, 1_100_000), 4)
    );
    player.play("u");
    assert_eq!(player.app.camera.viewport, before, "one step to undo");
}

#[test]
fn two_clicks_with_a_pause_or_apart_are_no_double_click() {
    let mut player = player();
    let before = player.app.camera.viewport;
    let (x, y) = player.place_of("MatMul 619 µs");
    click(&mut player, (x, y));
    wait(&mut player, 800);
    click(&mut player, (x, y));
    assert_eq!(player.app.camera.viewport, before);
    wait(&mut player, 800);
    click(&mut player, (x, y));
    wait(&mut player, 100);
    click(&mut player, (x + 5, y));
    assert_eq!(player.app.camera.viewport, before);
}

#[test]
fn a_double_click_on_an_idle_stretch_fits_and_on_nothing_does_nothing() {
    let mut player = Player::new("s1: A[0us..400us] B[900us..1000us]", LARGE);
    let (x, y) = player.place_of("╌");
    double_click(&mut player, (x + 3, y));
    assert!(
        player.selected().starts_with("gap"),
        "{}",
        player.selected()
    );
    assert_eq!(
        player.app.camera.viewport,
        Viewport::with_room(TimeRange::new(400_000, 900_000), 4)
    );
    let mut player = self::player();
    let before = player.app.camera.viewport;
    let lanes = player.app.layout().lanes;
    double_click(&mut player, (lanes.x + 30, lanes.bottom() - 1));
    assert_eq!(player.app.camera.viewport, before);
}

#[test]
fn a_double_click_on_the_ruler_or_the_second_line_shows_everything() {
    for line in 0..2 {
        let mut player = player();
        let everything = player.app.camera.viewport;
        player.play("W W");
        let before = player.app.camera.viewport;
        let layout = player.app.layout();
        let y = [layout.ruler.y, layout.minimap.y][line];
        double_click(&mut player, (layout.ruler.x + 60, y));
        assert_eq!(player.app.camera.viewport, everything, "{line}");
        player.play("u");
        let back = player.app.camera.viewport;
        assert_eq!(back.length(), before.length(), "{line}");
    }
}

#[test]
fn a_double_click_on_the_ruler_of_a_live_view_shows_everything_from_then_on() {
    let mut player = Player::of(running_scene(), LARGE);
    let ruler = player.app.layout().ruler;
    double_click(&mut player, (ruler.x + 60, ruler.y));
    assert_eq!(player.app.camera.follow, FollowMode::Everything);
}

#[test]
fn a_drag_in_the_ruler_chooses_a_range_and_zooms_to_it_when_it_ends() {
    let mut player = player();
    let (ruler, before) = (player.app.layout().ruler, player.app.camera.viewport);
    let time = |cell: u16| before.time(i64::from(cell), ruler.width);
    drag(&mut player, (ruler.x + 100, ruler.y), ruler.x + 40);
    assert_eq!(player.app.camera.viewport, before, "not before it ends");
    let picture = player.picture();
    assert!(picture.contains("release to zoom to it"), "{picture}");
    let chosen = player.app.theme.chosen().bg;
    let buffer = player.draw();
    let is_chosen = |x: u16| Some(buffer[(ruler.x + x, ruler.y)].bg) == chosen;
    assert!(is_chosen(40) && is_chosen(70) && is_chosen(100));
    assert!(!is_chosen(38) && !is_chosen(102));
    player.mouse(UP, ruler.x + 40, ruler.y);
    assert_eq!(
        player.app.camera.viewport,
        Viewport::new(time(40), time(100))
    );
    assert!(!player.picture().contains("release to zoom"));
    player.play("u");
    assert_eq!(player.app.camera.viewport, before);
}

#[test]
fn a_drag_in_the_ruler_is_given_up_by_a_key_or_where_it_began() {
    let mut player = player();
    let (ruler, before) = (player.app.layout().ruler, player.app.camera.viewport);
    drag(&mut player, (ruler.x + 100, ruler.y), ruler.x + 40);
    player.play("esc").mouse(UP, ruler.x + 40, ruler.y);
    assert_eq!(player.app.camera.viewport, before);
    wait(&mut player, 1_000);
    drag(&mut player, (ruler.x + 100, ruler.y), ruler.x + 90);
    player.mouse(DRAG, ruler.x + 100, ruler.y);
    player.mouse(UP, ruler.x + 100, ruler.y);
    assert_eq!(player.app.camera.viewport, before);
    // A button that was released outside the terminal is noticed when the mouse returns.
    wait(&mut player, 1_000);
    drag(&mut player, (ruler.x + 100, ruler.y), ruler.x + 40);
    player.mouse(MOVED, ruler.x + 20, ruler.y + 5);
    player.mouse(UP, ruler.x + 20, ruler.y);
    assert_eq!(player.app.camera.viewport, before);
}

#[test]
fn a_drag_that_ends_over_a_list_ends() {
    let mut player = player();
    player.play("i");
    let layout = player.app.layout();
    drag(
        &mut player,
        (layout.lanes.x + 100, layout.lanes.y + 2),
        layout.lanes.x + 90,
    );
    player.mouse(UP, layout.lanes.x + 90, layout.detail.y + 4);
    assert_eq!(player.app.pointer.drag, None);
}

#[test]
fn a_drag_in_the_second_line_moves_the_visible_range() {
    let mut player = player();
    let everything = player.app.camera.viewport;
    player.play("W");
    let (minimap, before) = (player.app.layout().minimap, player.app.camera.viewport);
    let whole = Viewport::fitting(player.app.document.span.expect("a span"));
    // Held where it is, not at its middle.
    let held = whole.cell(before.begin(), minimap.width) as u16 + 3;
    drag(
        &mut player,
        (minimap.x + held, minimap.y),
        minimap.x + held + 20,
    );
    let moved = player.app.camera.viewport.begin() - before.begin();
    let column = whole.length() / i64::from(minimap.width);
    assert!(
        (moved - 20 * column).abs() <= 20,
        "{moved} of {}",
        20 * column
    );
    assert_eq!(player.app.camera.viewport.length(), before.length());
    player.mouse(UP, minimap.x + held + 20, minimap.y);
    player.play("u");
    assert_eq!(
        player.app.camera.viewport, everything,
        "a row of moves is one step"
    );
}

#[test]
fn a_click_in_the_second_line_goes_there() {
    let mut player = player();
    player.play("W W");
    let minimap = player.app.layout().minimap;
    let whole = Viewport::fitting(player.app.document.span.expect("a span"));
    for cell in [20, 120] {
        wait(&mut player, 1_000);
        click(&mut player, (minimap.x + cell, minimap.y));
        let middle = whole.time(i64::from(cell), minimap.width);
        assert!(
            (player.app.camera.viewport.middle() - middle).abs() < 2,
            "{cell}"
        );
    }
}

#[test]
fn a_slice_that_is_pointed_at_says_its_name_and_length() {
    let mut player = player();
    let (x, y) = player.place_of("Softmax 399 µs");
    assert_eq!(tip(&player), None);
    player.mouse(MOVED, x + 4, y);
    let shown = tip(&player).expect("a tip");
    assert!(shown.contains(" Softmax 399 µs "), "{shown}");
    // The tip is above its subject and does not hide it.
    assert!(player.line_with("stream 3").contains("Softmax 399 µs"));
    player.play("d");
    assert!(player.app.pointer.hover.is_none(), "a key takes it away");
    player.mouse(MOVED, x + 4, y);
    player.mouse(DOWN, x + 4, y);
    assert!(player.app.pointer.hover.is_none(), "a button takes it away");
}

#[test]
fn short_slices_stalls_and_labels_have_tooltips() {
    let mut player = Player::of(scene(), SMALL);
    let seen = |player: &mut Player, (x, y): (u16, u16)| {
        player.mouse(MOVED, x, y);
        tip(player).unwrap_or_else(|| panic!("nothing at {x},{y}\n{}", player.picture()))
    };
    let (_, y) = player.place_of("stream 2");
    let text = seen(&mut player, (3, y));
    assert!(text.contains("device 0 stream 2"), "{text}");
    let (x, y) = player.place_of("░ 480 µs");
    let text = seen(&mut player, (x, y));
    assert!(text.contains("StreamWaitEvent 480 µs"), "{text}");
    let ruler = player.app.layout().ruler;
    let text = seen(&mut player, (ruler.x + 20, ruler.y));
    assert!(text.contains(" ms") || text.contains(" µs"), "{text}");
}

#[test]
fn an_idle_stretch_says_its_cause() {
    let mut player = Player::new("s1: A[0us..400us] B[900us..1000us]", LARGE);
    let (x, y) = player.place_of("╌");
    player.mouse(MOVED, x + 3, y);
    let text = tip(&player).expect("a tip");
    assert!(text.contains("idle: ") && text.contains("500 µs"), "{text}");
}

#[test]
fn many_slices_in_one_cell_name_the_longest() {
    let tasks = (0..2_000).map(|n| format!("s1: A[{}ns..{}ns]\n", n * 1_000, n * 1_000 + 400));
    let mut player = Player::new(&tasks.collect::<String>().replace("ns", ""), LARGE);
    let (x, y) = player.place_of("⣄");
    player.mouse(MOVED, x + 3, y);
    let text = tip(&player).unwrap_or_else(|| panic!("{}", player.picture()));
    assert!(text.contains("A 400 ns, the longest of 1"), "{text}");
}

#[test]
fn a_tip_stays_on_the_screen_and_in_its_letters() {
    let mut player = player();
    player.app.theme = Theme::new(ColorMode::None).with_ascii(true);
    for at in [
        (0, 0),
        (199, 3),
        (199, 49),
        (199, 20),
        (27, 49),
        (150, 1),
        (150, 2),
    ] {
        player.mouse(MOVED, at.0, at.1);
        let picture = player.picture();
        assert!(picture.is_ascii(), "{picture}");
        assert!(picture.lines().all(|line| line.len() <= 200));
    }
    player.play("?");
    player.mouse(MOVED, 60, 20);
    player.picture();
}
