//! The parts of slices in which tasks may not have run.

use ascend_trace_recording::Trace;
use ascend_trace_testkit::Timeline;
use ratatui::style::{Color, Modifier};

use crate::theme::{ColorMode, TerminalBackground, Theme};

use super::harness::{LARGE, Player, SMALL};

const UNCERTAIN: &str = "▚";

/// Of MatMul, the begin is open: its call ended at 800 µs. Add waited in a queue. Of Gelu, the end is open.
const TEXT: &str = "
s1: MatMul[100us..1000us] by t1[50us..800us] Add[1100us..1900us] by t1[1010us..1020us]
s1: Gelu[2000us..2900us] by t1[1950us..1951us]
";

/// The begin of each task, and from its call to the submission of the event after it.
const CLOSED: [(i64, u32); 3] = [(100, 760), (1100, 15), (2000, 1000)];

fn trace() -> Trace {
    of(TEXT)
}

fn of(text: &str) -> Trace {
    let timeline = Timeline::of(text);
    let timeline = timeline.with_times(|row| {
        let known = CLOSED.iter().find(|it| it.0 * 1_000 == row.begin_device_ns);
        row.submitting_ns = known.map_or(0, |it| it.1 * 1_000);
    });
    timeline.trace()
}

/// The columns of the stream's line that are drawn as uncertain.
fn uncertain(player: &Player) -> Vec<usize> {
    let line = player.line_with("stream 1 ");
    let cells = line.chars().enumerate();
    let cells = cells.filter(|it| it.1.to_string() == UNCERTAIN);
    cells.map(|it| it.0).collect()
}

#[test]
fn the_open_part_of_a_slice_is_drawn_apart() {
    for size in [SMALL, LARGE] {
        let player = Player::of(trace(), size);
        let line = player.line_with("stream 1 ");
        let at = |name: &str| line[..line.find(name).expect(name)].chars().count();
        let cells = uncertain(&player);
        // Before the name of MatMul, after that of Add, and nothing of Add itself.
        assert!(cells.iter().any(|it| *it < at("MatMul")), "{line}");
        assert!(cells.iter().any(|it| *it > at("Add")), "{line}");
        let add = at("Add")..at("Add") + 12;
        assert!(!cells.iter().any(|it| add.contains(it)), "{line}");
    }
    let player = Player::of(trace(), LARGE);
    assert!(player.picture().contains("may not have run"));
    let player = Player::new("s1: Add[0..100us] Add[100us..200us]", LARGE);
    assert!(!player.picture().contains(UNCERTAIN));
    assert!(!player.picture().contains("may not have run"));
}

/// As wide as it is long, to the nearest cell, and absent where it is less than half of a cell.
#[test]
fn an_open_part_is_right_at_every_zoom() {
    let mut player = Player::of(trace(), LARGE);
    player.play("/ MatMul enter");
    let mut widths = Vec::new();
    for script in [
        "", "w", "w", "w", "s", "s", "s", "s", "s", "s", "s", "s", "s",
    ] {
        player.play(script);
        let line = player.line_with("stream 1 ");
        let left = line.find('│').map_or(0, |it| line[..it].chars().count()) + 1;
        let lanes = usize::from(LARGE.0) - left;
        let viewport = player.app.camera.viewport;
        let cell = viewport.length() as f64 / lanes as f64;
        // Of MatMul from 100 to 800 µs, and all of Gelu.
        let begin = player.app.document.span.expect("a span").begin;
        let visible = |from: i64, until: i64| {
            let (from, until) = (begin + (from - 50) * 1_000, begin + (until - 50) * 1_000);
            (until.min(viewport.end()) - from.max(viewport.begin())).max(0) as f64
        };
        let expected = (visible(100, 800) + visible(2000, 2900)) / cell;
        let texts = 14.0;
        let found = uncertain(&player).len() as f64;
        assert!(found <= expected + 2.5, "{found} {expected}\n{line}");
        assert!(
            found >= expected - 2.5 - texts,
            "{found} {expected}\n{line}"
        );
        widths.push(found as usize);
    }
    assert!(widths.iter().any(|it| *it != widths[0]), "{widths:?}");
    // In a second, all three tasks are less than a cell.
    let text = format!("{TEXT}s1: Sub[1000ms..1001ms] by t1[999ms..999001us]");
    let player = Player::of(of(&text), LARGE);
    assert!(!player.picture().contains(UNCERTAIN));
}

#[test]
fn the_open_part_has_the_colour_of_its_slice_on_every_ground() {
    for ground in [TerminalBackground::Dark, TerminalBackground::Light] {
        for mode in [ColorMode::Truecolor, ColorMode::Indexed, ColorMode::Ansi] {
            let mut player = Player::of(trace(), LARGE);
            player.app.theme = Theme::new(mode).on(ground);
            let open = player.cell_of(UNCERTAIN);
            let certain = player.cell_of("MatMul");
            assert_eq!((open.fg, open.bg), (certain.bg, Color::Reset), "{mode:?}");
        }
    }
}

#[test]
fn without_colours_and_without_utf_8_it_has_a_sign() {
    let mut player = Player::of(trace(), LARGE);
    player.app.theme = Theme::new(ColorMode::None);
    let open = player.cell_of(UNCERTAIN);
    assert!(!open.modifier.contains(Modifier::REVERSED));
    assert!(
        player
            .cell_of("MatMul")
            .modifier
            .contains(Modifier::REVERSED)
    );
    let wide = uncertain(&player).len();
    player.app.theme = Theme::new(ColorMode::None).with_ascii(true);
    let line = player.line_with("stream 1 ");
    assert_eq!(line.matches('/').count(), wide, "{line}");
}

#[test]
fn a_slice_and_its_details_say_the_estimate() {
    let mut player = Player::of(trace(), LARGE);
    let line = player.line_with("stream 1 ");
    assert!(
        line.contains("Gelu ≈450 µs") && line.contains("Add 800 µs"),
        "{line}"
    );
    player.play("/ Gelu enter");
    assert!(
        player.picture().contains("450 µs ± 450"),
        "{}",
        player.picture()
    );
    let mut player = Player::of(trace(), LARGE);
    player.play("/ Add enter");
    assert!(
        player.picture().contains(" 800 µs  "),
        "{}",
        player.picture()
    );
}

/// The tasks without a time worked as well: for their usual time, or for an unknown one.
#[test]
fn the_busy_share_of_a_sampled_stream_is_an_estimate_or_a_lower_limit() {
    let line = |timing: &str, operation: &str| {
        let text = &format!("s1: Add[0..50us] {operation}[not-sampled] Add[90us..100us]");
        let mut timeline = Timeline::of(text);
        timing.clone_into(&mut timeline.session.timing);
        Player::of(timeline.trace(), LARGE).line_with("stream 1 ")
    };
    let (usual, unknown) = (line("sample=2", "Add"), line("sample=2", "Mul"));
    assert!(
        usual.contains("≈90%") && usual.contains("Add ≈30.0 µs▚"),
        "{usual}"
    );
    assert!(unknown.contains("≥60%"), "{unknown}");
    let events = line("events", "Mul");
    assert!(!events.contains(['≥', '≈']), "{events}");
}
