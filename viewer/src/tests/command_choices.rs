//! The command line: choices for the typed text, and their effects.

use crate::app::Selection;
use crate::list::ListState;

use super::harness::{LARGE, PIPELINE, Player, SMALL};
use super::lists::entries;

fn list(player: &Player) -> &ListState {
    player.app.panels.list.as_ref().expect("the command line")
}

/// Opens the command line and types a text.
fn typed(player: &mut Player, text: &str) {
    player.play(":");
    for letter in text.chars() {
        match letter {
            ' ' => player.play("space"),
            letter => player.play(&letter.to_string()),
        };
    }
}

#[test]
fn letters_in_their_order_find_an_action_and_the_best_one_comes_first() {
    let mut player = Player::new(PIPELINE, LARGE);
    typed(&mut player, "uf");
    let found = entries(&player);
    assert!(found[0].starts_with("C unfold all lanes"), "{found:?}");
    player.play("enter");
    assert_eq!(player.app.message.as_deref(), Some("nothing is folded"));
    typed(&mut player, "zoom in");
    assert!(
        entries(&player)[0].contains("zoom in action"),
        "{:?}",
        entries(&player)
    );
    assert!(entries(&player)[1].contains("zoom in fast"));
}

#[test]
fn names_lead_to_lanes_operations_functions_and_bookmarks() {
    let mut player = Player::new(PIPELINE, LARGE);
    typed(&mut player, "gelu");
    assert_eq!(entries(&player)[0], " Gelu operation");
    player.play("enter");
    assert_eq!(player.selected(), "task Gelu at 1101000");
    typed(&mut player, "d1 s4");
    assert_eq!(entries(&player)[0], " device 1 stream 4 lane");
    player.play("enter");
    assert!(player.line_with("stream 4").starts_with('▶'));
    typed(&mut player, "free");
    assert!(
        entries(&player).contains(&" aclrtFree function".to_owned()),
        "{:?}",
        entries(&player)
    );
    player.play("esc W b backspace x y enter 0");
    typed(&mut player, "xy");
    let place = entries(&player)
        .iter()
        .position(|it| it.ends_with("bookmark"));
    for _ in 0..place.expect("the bookmark") {
        player.play("down");
    }
    let all = player.app.camera.viewport.length();
    player.play("enter");
    assert!(player.app.camera.viewport.length() < all);
}

#[test]
fn a_range_leads_to_the_longest_of_its_name() {
    let mut player = Player::of(super::scene::scene(), LARGE);
    typed(&mut player, "backw");
    assert_eq!(entries(&player)[0], " backward range");
    player.play("enter");
    let Some(Selection::Range(id, level)) = player.app.camera.selected else {
        panic!("{}", player.selected());
    };
    assert_eq!(player.trace.ranges()[id.index()].name, "backward");
    assert_eq!(level, 1);
}

#[test]
fn tab_and_arrows_choose() {
    let mut player = Player::new(PIPELINE, SMALL);
    typed(&mut player, "zoom");
    player.play("tab tab");
    assert_eq!(list(&player).cursor, 2);
    player.play("backtab down up up");
    assert_eq!(list(&player).cursor, 0);
    player.play("tab o");
    assert_eq!(
        (list(&player).cursor, list(&player).filter.as_str()),
        (0, "zoomo")
    );
}

#[test]
fn commands_take_a_text() {
    let mut player = Player::new(PIPELINE, LARGE);
    typed(&mut player, "least 50us");
    assert_eq!(
        entries(&player)[0],
        " least 50us: least duration of stalls command"
    );
    player.play("enter");
    assert_eq!(player.app.camera.least, 50_000);
    assert!(player.app.panels.list.is_none());
    // Without one it is typed as far as it goes.
    typed(&mut player, "least dur");
    player.play("esc");
    typed(&mut player, "leas");
    let place = entries(&player)
        .iter()
        .position(|it| it.contains("least DURATION"));
    for _ in 0..place.expect("the command") {
        player.play("tab");
    }
    player.play("enter");
    assert_eq!(list(&player).filter, "least ");
    player.play("0 enter");
    assert_eq!(player.app.camera.least, 0);
    typed(&mut player, "find softmax");
    player.play("enter");
    assert_eq!(player.selected(), "task Softmax at 1101000");
    let start = player.app.document.span.expect("a span").begin;
    typed(&mut player, "goto 1ms");
    player.play("enter");
    assert!(
        player
            .app
            .camera
            .marks
            .all()
            .last()
            .is_some_and(|mark| mark.begin == start + 1_000_000)
    );
    typed(&mut player, "lanes thread");
    player.play("enter");
    assert!(!player.picture().contains("stream 1 "));
}

#[test]
fn an_unknown_command_is_guessed_and_enter_types_the_guess() {
    let mut player = Player::new(PIPELINE, LARGE);
    typed(&mut player, "laest 50us");
    player.line_with("did you mean");
    assert!(
        entries(&player)[0].contains("least 50us"),
        "{:?}",
        entries(&player)
    );
    player.play("enter");
    assert_eq!(list(&player).filter, "least 50us");
    assert_eq!(player.app.camera.least, 0, "nothing is done yet");
    player.play("enter");
    assert_eq!(player.app.camera.least, 50_000);
    typed(&mut player, "zomm inn");
    player.line_with("did you mean");
    assert!(
        entries(&player)[0].contains("zoom in"),
        "{:?}",
        entries(&player)
    );
    player.play("enter enter");
    assert!(player.app.panels.list.is_none());
    typed(&mut player, "qqqqqqqq");
    player.line_with("no command or name is like this");
    player.play("enter");
    player.line_with("no command or name is like “qqqqqqqq”");
}

#[test]
fn before_anything_is_typed_actions_are_listed_and_names_are_counted() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play(":");
    let names = player.app.panels.choices.len() - list(&player).len();
    assert!(names > 10);
    player.line_with(&format!("and {names} names"));
    assert_eq!(
        list(&player).len(),
        crate::action::COMMANDS.len() + crate::command_choices::VERBS.len()
    );
}
