//! Colours and what takes their place.

use ratatui::style::{Color, Modifier};

use crate::theme::{ColorMode, Theme};

use super::harness::{LARGE, PIPELINE, Player};

fn with(mode: ColorMode) -> Player {
    let mut player = Player::new(PIPELINE, LARGE);
    player.app.theme = Theme::new(mode);
    player
}

#[test]
fn tasks_of_one_name_have_one_colour_and_other_kinds_another() {
    let player = with(ColorMode::Truecolor);
    let kernel = player.cell_of("MatMul 619 µs").bg;
    assert_eq!(player.cell_of("MatMul 419 µs").bg, kernel);
    assert_ne!(player.cell_of("MemcpyAsync").bg, kernel);
    assert!(matches!(kernel, Color::Rgb(..)));
}

#[test]
fn a_stall_is_shaded_in_its_own_colour() {
    let player = with(ColorMode::Truecolor);
    let shade = player.cell_of("░");
    assert_eq!(shade.fg, player.cell_of("waits E").fg);
    assert_ne!(shade.fg, player.cell_of("MatMul 619 µs").bg);
    assert_eq!(shade.bg, Color::Reset);
}

#[test]
fn the_selection_stands_out_from_its_kind() {
    let mut player = with(ColorMode::Truecolor);
    let before = player.cell_of("Softmax 399 µs");
    player.play("/ Softmax enter");
    let after = player.cell_of("Softmax 399 µs");
    assert_ne!(after.bg, before.bg);
    assert!(after.modifier.contains(Modifier::BOLD));
}

#[test]
fn the_number_of_colours_is_respected() {
    let all = |mode| {
        let mut player = with(mode);
        player.play("n n");
        let buffer = player.draw();
        buffer
            .content
            .iter()
            .flat_map(|cell| [cell.fg, cell.bg])
            .collect::<Vec<_>>()
    };
    let is_named = |color: &Color| !matches!(color, Color::Rgb(..) | Color::Indexed(_));
    assert!(
        all(ColorMode::None)
            .iter()
            .all(|color| *color == Color::Reset)
    );
    assert!(all(ColorMode::Ansi).iter().all(is_named));
    assert!(
        all(ColorMode::Indexed)
            .iter()
            .all(|color| !matches!(color, Color::Rgb(..)))
    );
    assert!(
        all(ColorMode::Truecolor)
            .iter()
            .any(|color| matches!(color, Color::Rgb(..)))
    );
}

#[test]
fn without_colour_slices_stalls_and_selection_can_be_told_apart() {
    let mut player = with(ColorMode::None);
    let slice = player.cell_of("MatMul 619 µs");
    assert!(slice.modifier.contains(Modifier::REVERSED));
    let stall = player.cell_of("waits E");
    assert!(!stall.modifier.contains(Modifier::REVERSED));
    player.play("/ MatMul enter >");
    let chosen = ["MatMul 619 µs", "MatMul 419 µs"].map(|text| player.cell_of(text).modifier);
    assert_ne!(chosen[0], chosen[1]);
}

#[test]
fn the_text_is_the_same_in_all_colours() {
    let picture = with(ColorMode::Truecolor).picture();
    for mode in [ColorMode::Indexed, ColorMode::Ansi] {
        assert_eq!(with(mode).picture(), picture);
    }
}

#[test]
fn without_utf_8_the_picture_is_plain_ascii_of_the_same_form() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("n i down enter");
    let rich = player.picture();
    player.app.theme = Theme::new(ColorMode::None).with_ascii(true);
    let plain = player.picture();
    assert!(plain.is_ascii(), "{plain}");
    for (rich, plain) in rich.lines().zip(plain.lines()) {
        let letters =
            |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
        let kept = letters(rich);
        let mut shown = plain.chars();
        assert!(
            kept.chars().all(|it| shown.any(|other| other == it)),
            "{rich}\n{plain}"
        );
    }
    let unknown = |text: &str| text.matches('?').count();
    assert_eq!(
        unknown(&plain),
        unknown(&rich),
        "every symbol has a form of its own:\n{plain}"
    );
    player.app.theme = Theme::new(ColorMode::None).with_ascii(true);
    player.play("?");
    assert!(player.picture().is_ascii());
}

#[test]
fn copies_show_their_direction_and_have_a_colour_for_each() {
    let mut timeline = ascend_trace_testkit::Timeline::parse(
        "s1: memcpy(64)[0..100us] memcpy(64)[200us..300us] memcpy(64)[400us..500us]",
    )
    .expect("a timeline");
    let kinds = [
        "HOST_TO_HOST",
        "HOST_TO_DEVICE",
        "DEVICE_TO_HOST",
        "DEVICE_TO_DEVICE",
    ];
    let names = (0..).zip(kinds.map(|kind| format!("ACL_MEMCPY_{kind}")));
    let enumerations = &mut timeline.tables.enumerations;
    enumerations.insert("acl_kind".to_owned(), names.collect());
    let mut kind = 0;
    for row in &mut timeline.rows {
        if let ascend_trace_model::rows::Row::Call(call) = row
            && call.args.len() == 6
        {
            kind += 1;
            call.args[4] = kind;
        }
    }
    let player = Player::of(timeline.trace(), LARGE);
    let colours = ["H→D 100 µs", "D→H 100 µs", "D→D 100 µs"].map(|it| player.cell_of(it).bg);
    assert_ne!(colours[0], colours[1]);
    assert_ne!(colours[1], colours[2]);
    assert_ne!(colours[0], colours[2]);
}
