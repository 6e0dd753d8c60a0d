//! What keys and the mouse do.

use ascend_trace_recording::TimeRange;
use crossterm::event::{MouseButton, MouseEventKind};

use crate::action::ViewRequest;
use crate::app::InputMode;
use crate::event::InputEvent;

use super::harness::{LARGE, PIPELINE, Player, SMALL};

fn pipeline() -> Player {
    Player::new(PIPELINE, SMALL)
}

#[test]
fn slices_of_a_lane_are_walked_in_time_order() {
    let mut player = pipeline();
    player.app.camera.lane = player
        .app
        .camera
        .rows
        .iter()
        .filter_map(|row| row.track())
        .nth(1);
    player.play("left");
    let mut names = vec![player.selected()];
    player.play("left left left left left");
    for _ in 0..4 {
        names.push(player.selected());
        player.play("right");
    }
    assert_eq!(names[1], "task MemcpyAsync at 100000");
    assert_eq!(names[2], "task RecordEvent at 480000");
    assert_eq!(names[3], "task MemcpyAsync at 500000");
    assert_eq!(names[4], "task RecordEvent at 890000");
    player.play("right");
    assert_eq!(
        player.app.message.as_deref(),
        Some("there is nothing more in this lane")
    );
}

#[test]
fn changing_the_lane_takes_the_selection_along_in_time() {
    let mut player = pipeline();
    player.play("/ Gelu enter");
    assert_eq!(player.selected(), "task Gelu at 1101000");
    player.play("down");
    assert_eq!(player.selected(), "task Softmax at 1101000");
    player.play("up up");
    assert_eq!(player.selected(), "task RecordEvent at 890000");
}

#[test]
fn the_lane_keys_stop_at_the_first_and_last_lane() {
    let mut player = pipeline();
    player.play("up up up");
    assert_eq!(
        player.app.camera.lane,
        player.app.camera.rows.iter().find_map(|row| row.track())
    );
    player.play("down down down down down down down down down down down down");
    assert_eq!(
        player.app.camera.lane,
        player.app.camera.rows.last().and_then(|row| row.track())
    );
}

#[test]
fn stalls_are_visited_in_time_order_and_back() {
    let mut player = pipeline();
    let mut seen = Vec::new();
    while player.app.message.is_none() {
        seen.push(player.selected());
        player.play("n");
    }
    seen.remove(0);
    assert_eq!(player.app.message.as_deref(), Some("no stall after this"));
    let mut back = vec![player.selected()];
    while back.len() < seen.len() {
        player.play("N");
        back.push(player.selected());
    }
    back.reverse();
    assert_eq!(seen, back);
    assert!(
        seen.iter().any(|it| it.starts_with("gap before")),
        "{seen:?}"
    );
    assert!(
        seen.contains(&"call SynchronizeStream at 700000".to_owned()),
        "{seen:?}"
    );
    player.play("N");
    assert_eq!(player.app.message.as_deref(), Some("no stall before this"));
}

#[test]
fn brackets_walk_from_a_wait_to_its_record_and_back() {
    let mut player = pipeline();
    player.play("/ LayerNorm enter [");
    assert_eq!(player.selected(), "task StreamWaitEvent at 0");
    let wait = player.app.camera.viewport;
    player.play("[");
    assert_eq!(player.selected(), "task RecordEvent at 1700000");
    player.play("[");
    assert_eq!(player.selected(), "task MatMul at 1281000");
    player.play("]");
    assert_eq!(player.selected(), "task RecordEvent at 1700000");
    player.play("]");
    assert_eq!(player.selected(), "task StreamWaitEvent at 0");
    player.play("backspace backspace backspace backspace");
    assert_eq!(player.selected(), "task StreamWaitEvent at 0");
    assert_eq!(player.app.camera.viewport, wait);
}

#[test]
fn tab_goes_to_the_other_ends_of_a_step() {
    let mut player = pipeline();
    player.play("/ Softmax enter [");
    assert_eq!(
        player.app.message.as_deref(),
        Some("1 of 2: tab goes to the next one")
    );
    assert_eq!(player.selected(), "task StreamWaitEvent at 0");
    player.play("tab");
    assert!(
        player.selected().starts_with("call Softmax"),
        "{}",
        player.selected()
    );
    player.play("tab");
    assert_eq!(player.selected(), "task StreamWaitEvent at 0");
}

#[test]
fn a_sync_leads_to_the_task_it_waited_for() {
    let mut player = pipeline();
    player.play("/ SynchronizeStream enter [");
    assert_eq!(player.selected(), "task Add at 1502000");
    player.play("]");
    assert_eq!(player.selected(), "call SynchronizeStream at 700000");
}

#[test]
fn a_search_goes_on_and_starts_over() {
    let mut player = pipeline();
    player.play("/ matmul enter");
    let first = player.selected();
    player.play(">");
    assert_ne!(player.selected(), first);
    player.play("<");
    assert_eq!(player.selected(), first);
    player.play("> >");
    assert_eq!(player.selected(), first, "there are two of that name");
    assert_eq!(
        player.app.message.as_deref(),
        Some("1 of 2, went on from the beginning")
    );
}

#[test]
fn a_search_that_finds_nothing_says_so_and_keeps_the_selection() {
    let mut player = pipeline();
    player.play("n");
    let before = player.selected();
    player.play("/ nosuchthing enter");
    assert_eq!(player.selected(), before);
    assert!(player.line_with("nothing here is").contains("nosuchthing"));
}

#[test]
fn escape_leaves_the_prompt_and_keeps_the_last_search() {
    let mut player = pipeline();
    player.play("/ gelu enter / other backspace esc >");
    assert_eq!(player.app.mode, InputMode::Timeline);
    assert!(player.selected().contains("Gelu"), "{}", player.selected());
}

#[test]
fn zoom_keeps_the_selection_in_place_and_fit_shows_everything() {
    let mut player = pipeline();
    let whole = player.app.camera.viewport;
    player.play("/ Gelu enter W");
    let close = player.app.camera.viewport;
    assert_eq!(close.length(), whole.length() / 5);
    assert!(close.overlaps(TimeRange::new(1_101_000, 1_180_000)));
    player.play("d");
    assert!(player.app.camera.viewport.begin() > close.begin());
    player.play("a");
    assert_eq!(player.app.camera.viewport, close);
    player.play("F");
    assert!(player.app.camera.viewport.length() < 200_000);
    player.play("0");
    assert_eq!(player.app.camera.viewport, whole);
    player.play("S S S");
    assert_eq!(
        player.app.camera.viewport, whole,
        "there is nothing beyond the trace"
    );
}

#[test]
fn the_deepest_zoom_still_draws() {
    let mut player = pipeline();
    player.play("/ Gelu enter W W W W W W W W W W");
    assert_eq!(
        player.app.camera.viewport.length(),
        crate::viewport::MIN_LENGTH
    );
    assert!(player.picture().contains("Gelu"));
}

#[test]
fn home_and_end_show_both_ends() {
    let mut player = pipeline();
    player.play("W W end");
    assert!(
        player
            .app
            .camera
            .viewport
            .overlaps(TimeRange::at(2_101_000))
    );
    player.play("home");
    assert!(player.app.camera.viewport.overlaps(TimeRange::at(0)));
    assert!(
        !player
            .app
            .camera
            .viewport
            .overlaps(TimeRange::at(2_101_000))
    );
}

#[test]
fn a_click_selects_the_item_under_it() {
    let mut player = Player::new(PIPELINE, LARGE);
    let (x, y) = player.place_of("Softmax 399");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x + 2, y);
    assert_eq!(player.selected(), "task Softmax at 1101000");
    let (x, y) = player.place_of("░");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x + 1, y);
    assert_eq!(player.selected(), "task StreamWaitEvent at 0");
    let (x, y) = player.place_of("stream 1");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
    assert!(player.line_with("stream 1").starts_with('▶'));
}

#[test]
fn a_click_on_an_idle_stretch_shows_its_cause() {
    let mut player = Player::new("s1: A[10us..20us] B[90us..99us] by t1[60us..62us]", LARGE);
    let (x, y) = player.place_of("host late");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
    assert_eq!(player.selected(), "gap before 90000");
    assert!(
        player
            .line_with("was idle")
            .contains("the host submitted its next task only then")
    );
}

#[test]
fn dragging_moves_the_range_by_the_cells_of_the_mouse() {
    let mut player = pipeline();
    player.play("W");
    let before = player.app.camera.viewport;
    let lanes = player.app.layout().lanes;
    player.mouse(
        MouseEventKind::Down(MouseButton::Left),
        lanes.x + 30,
        lanes.y + 1,
    );
    player.mouse(
        MouseEventKind::Drag(MouseButton::Left),
        lanes.x + 20,
        lanes.y + 1,
    );
    let cells = before.time(10, lanes.width);
    assert_eq!(player.app.camera.viewport.begin(), cells);
    player.mouse(
        MouseEventKind::Drag(MouseButton::Left),
        lanes.x + 30,
        lanes.y + 1,
    );
    assert_eq!(player.app.camera.viewport, before);
}

#[test]
fn the_wheel_zooms_at_the_pointer_and_scrolls_on_labels() {
    let mut player = pipeline();
    let lanes = player.app.layout().lanes;
    let pointed = player.app.camera.viewport.time(40, lanes.width);
    player.mouse(MouseEventKind::ScrollUp, lanes.x + 40, lanes.y);
    assert!((39..=41).contains(&player.app.camera.viewport.cell(pointed, lanes.width)));
    player.event(InputEvent::Resize(80, 11));
    player.mouse(MouseEventKind::ScrollDown, 1, 4);
    assert_eq!(player.app.camera.scroll, 2);
    player.mouse(MouseEventKind::ScrollUp, 1, 4);
    assert_eq!(player.app.camera.scroll, 0);
}

#[test]
fn a_click_on_the_minimap_goes_there() {
    let mut player = pipeline();
    player.play("W");
    let minimap = player.app.layout().minimap;
    player.mouse(
        MouseEventKind::Down(MouseButton::Left),
        minimap.x + minimap.width / 4,
        minimap.y,
    );
    let middle = player.app.camera.viewport.middle();
    assert!((400_000..600_000).contains(&middle), "{middle}");
}

#[test]
fn lanes_that_do_not_fit_are_scrolled_to() {
    let mut player = Player::new(PIPELINE, (80, 12));
    assert!(!player.picture().contains("thread 1002"));
    player.play("down down down down down down");
    assert!(player.line_with("thread 1002").starts_with('▶'));
    player.play("pgup pgup pgup");
    assert!(player.picture().contains("stream 0"));
}

#[test]
fn keys_ask_the_world_to_quit_suspend_and_redraw() {
    let mut player = pipeline();
    player.play("ctrl-z ctrl-l q ? ctrl-c / x ctrl-c");
    let expected = [
        ViewRequest::Suspend,
        ViewRequest::Redraw,
        ViewRequest::Quit,
        ViewRequest::Quit,
        ViewRequest::Quit,
    ];
    assert_eq!(player.effects, expected);
}

#[test]
fn the_arrows_of_the_window_can_be_put_away() {
    let mut player = pipeline();
    assert!(player.picture().contains('▼'));
    player.play("r");
    assert!(!player.picture().contains('▼'));
}

#[test]
fn help_names_every_key_and_any_key_leaves_it() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("?");
    for entry in crate::keymap::KEYS.iter().flat_map(|group| group.entries) {
        assert!(
            player.line_with(entry.help).contains(entry.shown),
            "{}",
            entry.help
        );
    }
    player.play("x");
    assert_eq!(player.app.mode, InputMode::Timeline);
}

/// A view in which every action has something to do: a selection in the middle of the lanes and of
/// time, an open output, a mark, something to undo and to redo, a folded and a hidden lane.
fn busy(size: (u16, u16)) -> Player {
    let mut player = Player::new(PIPELINE, size);
    let lines = (1..=40).map(|n| format!("line {n}")).collect();
    player.log = Some(super::harness::OutputLines(lines));
    player.play("o K / matmul enter W m down x / gelu enter w u");
    player
}

#[test]
fn every_action_has_a_reaction_at_every_size() {
    for size in [SMALL, LARGE] {
        for (action, name) in crate::action::COMMANDS {
            let mut player = busy(size);
            let before = (player.picture(), player.effects.clone());
            let key = crate::keymap::keys_of(*action)[0];
            player.play(key);
            let after = (player.picture(), player.effects.clone());
            let scrolls = matches!(
                action,
                crate::action::Action::PageDown | crate::action::Action::PageUp
            );
            // All lanes have room here, so there is nothing to scroll: another test does that.
            assert!(before != after || scrolls, "{name} ({key}) at {size:?}");
            // Whatever it did, one gets back.
            player.play("esc esc esc");
            assert!(
                player.app.panels.list.is_none() && player.app.mode == InputMode::Timeline,
                "{name}"
            );
        }
    }
}

#[test]
fn every_action_of_the_palette_does_what_its_key_does() {
    for (action, name) in crate::action::COMMANDS {
        let mut by_key = busy(SMALL);
        by_key.play(crate::keymap::keys_of(*action)[0]);
        let mut by_name = busy(SMALL);
        by_name.play(":");
        for letter in name.chars() {
            let word = if letter == ' ' {
                "space".to_owned()
            } else {
                letter.to_string()
            };
            by_name.play(&word);
        }
        let list = by_name.app.panels.list.as_ref().expect("the palette");
        let place = list
            .entries
            .iter()
            .position(|entry| entry.cells[1].text == *name);
        for _ in 0..place.unwrap_or_else(|| panic!("{name} is not found")) {
            by_name.play("down");
        }
        by_name.play("enter");
        assert_eq!(by_name.effects, by_key.effects, "{name}");
        assert_eq!(by_name.selected(), by_key.selected(), "{name}");
        assert_eq!(
            by_name.app.camera.viewport, by_key.app.camera.viewport,
            "{name}"
        );
    }
}

#[test]
fn a_number_says_how_often() {
    let mut once = Player::new(PIPELINE, SMALL);
    let mut counted = Player::new(PIPELINE, SMALL);
    once.play("n n n");
    counted.play("3 n");
    assert_eq!(counted.selected(), once.selected());
    // It is used up, and may have zeros.
    once.play("n");
    counted.play("n");
    assert_eq!(counted.selected(), once.selected());
    let mut last = Player::new(PIPELINE, SMALL);
    last.play("down down right right");
    let mut far = Player::new(PIPELINE, SMALL);
    far.play("down down 1 0 0 right");
    assert_ne!(far.selected(), last.selected());
    // Actions without effect run once, and a single 0 shows everything.
    far.play("3 r 3 esc W 0");
    let all = far.app.camera.viewport.length();
    assert!(all > 2_000_000, "{all}");
    assert!(far.app.times.is_none());
}

#[test]
fn two_visited_timestamps_are_measured() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("g 500us enter");
    assert!(player.line_with("device 0").contains('┊'));
    player.play("g 1500us enter");
    player.line_with("1.00 ms");
}
