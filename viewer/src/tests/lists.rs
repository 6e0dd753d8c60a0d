//! Lists: their content and their targets.

use crossterm::event::{MouseButton, MouseEventKind};

use crate::action::{SourceRequest, ViewRequest};
use crate::app::FollowMode;

use super::harness::{LARGE, PIPELINE, Player, SMALL};

fn pipeline() -> Player {
    Player::new(PIPELINE, LARGE)
}

/// The entries of the list on screen, cells joined by spaces.
pub(super) fn entries(player: &Player) -> Vec<String> {
    let list = player.app.panels.list.as_ref().expect("a list");
    list.shown().map(words).collect()
}

pub(super) fn words(entry: &crate::list::ListEntry) -> String {
    let cells = entry.cells.iter().map(|cell| cell.text.as_str());
    cells.collect::<Vec<_>>().join(" ")
}

#[test]
fn stalls_are_listed_longest_first_with_cause_and_culprit() {
    let mut player = pipeline();
    player.play("i");
    let entries = entries(&player);
    assert!(
        entries[0].starts_with("1.70 ms device 1 stream 4 waits E5 ← device 0 stream 2 'MatMul'"),
        "{entries:?}"
    );
    let lengths: Vec<_> = player
        .app
        .document
        .stalls
        .worst_where(200, |it| it.is_notable());
    assert_eq!(entries.len(), lengths.len());
    assert_eq!(player.selected(), "task StreamWaitEvent at 0");
}

#[test]
fn the_timeline_shows_the_stall_that_the_cursor_is_on_and_goes_back_on_esc() {
    let mut player = pipeline();
    let before = player.app.camera.viewport;
    player.play("W i end");
    let last = player.selected();
    let span = player
        .app
        .camera
        .selected
        .expect("a stall")
        .span(&player.trace);
    assert!(player.app.camera.viewport.overlaps(span));
    player.play("enter");
    assert!(player.app.panels.list.is_none());
    assert_eq!(player.selected(), last);
    player.play("u u");
    assert_eq!(player.app.camera.viewport, before);
    assert_eq!(player.selected(), "nothing");
    player.play("i down down esc");
    assert_eq!(player.selected(), "nothing");
    assert_eq!(player.app.camera.viewport, before);
}

#[test]
fn the_key_that_opens_a_list_closes_it_and_q_does_not_quit_from_it() {
    let mut player = pipeline();
    player.play("i i");
    assert!(player.app.panels.list.is_none());
    player.play("t q");
    assert!(player.app.panels.list.is_none());
    assert!(player.effects.is_empty());
}

#[test]
fn a_trace_without_stalls_has_no_list_of_them() {
    let mut player = Player::new("s1: A[5us..9us] by t1[4us..5us]", SMALL);
    player.play("i");
    let stalls = player
        .app
        .document
        .stalls
        .worst_where(9, |it| it.is_notable());
    match stalls.is_empty() {
        true => assert!(player.picture().contains("there is no stall")),
        false => assert!(player.app.panels.list.is_some()),
    }
    player.play("esc B");
    assert!(player.picture().contains("there is no bookmark yet"));
}

#[test]
fn statistics_lead_to_the_slowest_of_an_operation() {
    let mut player = pipeline();
    player.play("t");
    let all = entries(&player);
    let place = all.iter().position(|it| it.starts_with("MatMul"));
    assert!(all[place.expect("MatMul")].contains("kernel 2"), "{all:?}");
    for _ in 0..place.unwrap_or(0) {
        player.play("down");
    }
    player.play("enter");
    assert_eq!(player.selected(), "task MatMul at 481000");
    assert_eq!(
        player.app.message.as_deref(),
        Some("the slowest MatMul in view")
    );
}

#[test]
fn statistics_follow_the_visible_range() {
    let mut player = pipeline();
    player.play("/ Softmax enter F t");
    let near = entries(&player);
    assert!(near.iter().any(|it| it.starts_with("Softmax")), "{near:?}");
    assert!(
        !near.iter().any(|it| it.starts_with("LayerNorm")),
        "{near:?}"
    );
    player.play("0");
    let all = entries(&player);
    assert!(all.iter().any(|it| it.starts_with("LayerNorm")), "{all:?}");
}

#[test]
fn tab_turns_through_the_tables_and_enter_goes_to_lanes_and_causes() {
    let mut player = pipeline();
    player.play("t tab");
    let streams = entries(&player);
    assert_eq!(streams.len(), 5);
    assert!(streams[0].contains("stream 0 default"), "{streams:?}");
    player.play("down down enter");
    assert!(player.line_with("stream 2").starts_with('▶'));
    player.play("t tab tab");
    let devices = entries(&player);
    assert_eq!(devices.len(), 2);
    assert!(devices[1].starts_with("1000 1 1 "), "{devices:?}");
    player.play("down enter");
    assert!(player.line_with("stream 4").starts_with('▶'));
    player.play("t tab tab tab");
    let threads = entries(&player);
    let waits = |name: &str| threads.iter().find(|it| it.contains(name)).cloned();
    let blocked = waits("t2").expect("the second thread");
    assert!(blocked.contains("host-sync 5"), "{threads:?}");
    player.play("down enter");
    assert!(player.line_with("thread 1002").starts_with('▶'));
    player.play("t tab tab tab tab");
    let functions = entries(&player);
    let free = functions.iter().find(|it| it.starts_with("aclrtFree"));
    assert!(
        free.is_some_and(|it| it.starts_with("aclrtFree 1 1")),
        "{functions:?}"
    );
    player.play("tab");
    assert!(entries(&player).iter().any(|it| it.contains("event-wait")));
    player.play("tab backtab");
    assert!(entries(&player).iter().any(|it| it.contains("event-wait")));
    player.play("enter");
    let title = player
        .app
        .panels
        .list
        .as_ref()
        .expect("a list of stalls")
        .title();
    assert!(title.starts_with("longest stalls: "), "{title}");
}

#[test]
fn the_palette_finds_an_action_by_words_and_does_it() {
    let mut player = pipeline();
    player.play(": f o l d space a l l");
    assert_eq!(entries(&player)[0], "C unfold all lanes action");
    player.play("enter");
    assert_eq!(player.app.message.as_deref(), Some("nothing is folded"));
    player.play(": backspace q u i t enter");
    assert_eq!(player.effects, [ViewRequest::Quit]);
}

#[test]
fn a_click_chooses_an_entry_and_the_wheel_walks() {
    let mut player = pipeline();
    player.play("i");
    let detail = player.app.layout().detail;
    player.mouse(MouseEventKind::Down(MouseButton::Left), 5, detail.y + 4);
    assert_eq!(player.app.panels.list.as_ref().map(|it| it.cursor), Some(2));
    player.mouse(MouseEventKind::ScrollDown, 5, detail.y + 4);
    assert_eq!(player.app.panels.list.as_ref().map(|it| it.cursor), Some(3));
}

#[test]
fn the_cursor_of_a_long_list_stays_on_screen() {
    let tasks: Vec<_> = (0..60)
        .map(|n| format!("A[{0}us..{1}us] by t1[{0}us..{0}us]", n * 100, n * 100 + 10))
        .collect();
    let mut player = Player::new(&format!("s1: {}", tasks.join(" ")), SMALL);
    player.play("i");
    for _ in 0..70 {
        let cursor = player.app.panels.list.as_ref().expect("a list").cursor;
        let marked = player
            .picture()
            .lines()
            .skip(14)
            .any(|it| it.starts_with('▶'));
        assert!(marked, "entry {cursor} is off screen");
        player.play("down");
    }
    player.play("home pgdn pgup");
    assert_eq!(player.app.panels.list.as_ref().map(|it| it.cursor), Some(0));
}

#[test]
fn bookmarks_are_made_gone_to_and_forgotten() {
    let mut player = pipeline();
    player.play("/ Gelu enter F b");
    assert!(
        player
            .line_with("bookmark: Gelu")
            .contains("bookmark: Gelu")
    );
    player.play("enter");
    let save = ViewRequest::Source(SourceRequest::SaveBookmarks);
    assert_eq!(player.effects, std::slice::from_ref(&save));
    player.effects.clear();
    let here = player.app.camera.viewport;
    player.play("0 B");
    assert_eq!(entries(&player).len(), 1);
    player.play("enter");
    assert_eq!(player.app.camera.viewport, here);
    assert_eq!(player.app.camera.follow, FollowMode::Off);
    player.play("B delete");
    assert!(player.app.document.bookmarks.is_empty());
    assert_eq!(player.effects, [save]);
    assert!(player.app.panels.list.is_none());
}
