//! Colours and their replacements.

use ratatui::style::{Color, Modifier};

use crate::item::Category;
use crate::theme::{ColorMode, TerminalBackground, Theme};

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
    assert_eq!(Some(shade.fg), player.app.theme.stall().fg);
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
fn without_colour_slices_stalls_and_selection_differ() {
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
        "every symbol has a separate form:\n{plain}"
    );
    player.app.theme = Theme::new(ColorMode::None).with_ascii(true);
    player.play("?");
    assert!(player.picture().is_ascii());
}

#[test]
fn copies_show_their_direction_and_have_a_colour_for_each() {
    let mut timeline = ascend_trace_testkit::Timeline::of(
        "s1: memcpy(64)[0..100us] memcpy(64)[200us..300us] memcpy(64)[400us..500us]",
    );
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
        if let ascend_trace_recording::rows::Row::Call(call) = row
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

/// Kinds of slices in two places that may lie side by side.
fn kinds(theme: Theme) -> Vec<(&'static str, Color)> {
    let kinds = [
        ("kernel", Category::Kernel, ""),
        ("collective", Category::Kernel, "HcclAllReduce"),
        ("H→D", Category::Copy, "H→D"),
        ("D→H", Category::Copy, "D→H"),
        ("copy", Category::Copy, ""),
        ("memset", Category::Fill, ""),
        ("host function", Category::HostFunc, ""),
        ("graph", Category::Graph, ""),
        ("stall", Category::Wait, ""),
    ];
    let color = |(name, category, look)| (name, theme.shape(category, look).fg.unwrap_or_default());
    kinds.into_iter().map(color).collect()
}

/// Red, green and blue of a colour of the 6×6×6 cube or the grey ramp.
fn parts(color: Color) -> [i32; 3] {
    const LEVELS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    match color {
        Color::Indexed(grey @ 232..) => [8 + 10 * (i32::from(grey) - 232); 3],
        Color::Indexed(cube @ 16..) => {
            let place = usize::from(cube - 16);
            [place / 36, place / 6 % 6, place % 6].map(|level| LEVELS[level])
        }
        other => panic!("{other:?} is not in the palette"),
    }
}

#[test]
fn in_256_colours_kinds_are_more_than_one_step_apart() {
    let kinds = kinds(Theme::new(ColorMode::Indexed));
    for (place, (name, color)) in kinds.iter().enumerate() {
        for (other_name, other) in &kinds[..place] {
            let pairs = parts(*color).into_iter().zip(parts(*other));
            let apart: i32 = pairs.map(|(one, other)| (one - other).abs()).sum();
            assert!(
                apart >= 80,
                "{name} {color:?} and {other_name} {other:?}: {apart}"
            );
        }
    }
}

#[test]
fn without_colours_kinds_differ_in_what_fills_them() {
    let theme = Theme::new(ColorMode::None);
    // A record takes no time.
    let is_filled = |it: &Category| it.is_work() && *it != Category::Record;
    let filled = Category::ALL.into_iter().filter(is_filled);
    let patterns: Vec<_> = filled.map(|it| theme.pattern(it)).collect();
    let different: std::collections::BTreeSet<_> = patterns.iter().collect();
    assert_eq!(different.len(), patterns.len(), "{patterns:?}");
}

/// How much brighter one of two colours is than the other, as the eye sees it: 1 to 21.
fn contrast(one: Color, other: Color) -> f64 {
    let luminance = |color| {
        let Color::Rgb(r, g, b) = color else {
            panic!("{color:?} has no parts");
        };
        let linear = [r, g, b].map(|part| (f64::from(part) / 255.0).powf(2.2));
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn on_either_ground_text_and_selection_can_be_read() {
    let grounds = [
        (TerminalBackground::Dark, Color::Rgb(0, 0, 0)),
        (TerminalBackground::Light, Color::Rgb(255, 255, 255)),
    ];
    for (ground, paper) in grounds {
        let theme = Theme::new(ColorMode::Truecolor).on(ground);
        let texts = [
            theme.dim(),
            theme.accent(),
            theme.good(),
            theme.bad(),
            theme.stall(),
            theme.chosen_shape(),
            theme.arrow(false),
            theme.shape(Category::Record, ""),
            theme.shape(Category::Call, ""),
        ];
        for style in texts {
            let ink = style.fg.expect("a colour");
            assert!(contrast(ink, paper) >= 3.0, "{ground:?}: {style:?}");
        }
        let chosen = theme.chosen();
        let (ink, own) = (chosen.fg.expect("ink"), chosen.bg.expect("a ground"));
        assert!(contrast(ink, own) >= 7.0, "{ground:?}");
        assert!(contrast(own, paper) >= 7.0, "{ground:?}");
        let bar = theme.bar();
        assert!(contrast(bar.fg.expect("ink"), bar.bg.expect("a ground")) >= 7.0);
    }
}

/// Keys that look like the arrows' stand-ins do something else.
#[test]
fn in_ascii_the_arrow_keys_are_named_in_words() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.app.theme = Theme::new(ColorMode::None).with_ascii(true);
    assert!(player.line_with("quit").contains("arrows select"));
    player.play("?");
    player.line_with("left right");
    player.play("q :");
    player.line_with("up down tab: choose");
}
