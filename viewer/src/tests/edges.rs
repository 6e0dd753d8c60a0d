//! Small terminals, odd traces.

use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::whole::{GrowingRecording, from_rows};
use ascend_trace_testkit::workload::{self, Workload};
use proptest::prelude::*;

use crate::event::InputEvent;

use super::harness::{LARGE, PIPELINE, Player, SMALL};

#[test]
fn a_terminal_that_is_too_small_says_so() {
    let mut player = Player::new(PIPELINE, (39, 24));
    assert_eq!(
        player.picture().lines().next(),
        Some("terminal too small: 39x24, needs at")
    );
    player.event(InputEvent::Resize(40, 9));
    assert!(
        player
            .picture()
            .starts_with("terminal too small: 40x9, needs at least")
    );
    player.event(InputEvent::Resize(1, 1));
    assert_eq!(player.picture(), "t");
    player.event(InputEvent::Resize(40, 10));
    assert!(player.picture().contains("stream 1"));
}

#[test]
fn an_empty_trace_says_that_it_is_empty() {
    let trace = from_rows(Default::default(), Default::default(), []);
    let mut player = Player::of(trace, SMALL);
    assert!(
        player
            .picture()
            .contains("waiting for the first AscendCL call…")
    );
    player.play("n N / x enter [ ] tab 0 F f w s a d left right up down home end enter r p");
    player.play("esc backspace pgup pgdn > <");
    assert!(player.picture().contains("lost 0"));

    let mut ended = GrowingRecording::new(Default::default(), Default::default());
    ended.apply(ascend_trace_recording::rows::Row::End(Default::default()));
    let player = Player::of(ended.finish(), SMALL);
    assert!(
        player
            .picture()
            .contains("there is no AscendCL call in this trace")
    );
}

#[test]
fn one_task_fills_its_lane() {
    let player = Player::new("s1: MatMul[5us..9us] by t1[4us..5us]", SMALL);
    assert!(player.line_with("stream 1").contains("MatMul 4.00 µs"));
}

#[test]
fn a_trace_with_one_timestamp_can_be_shown() {
    let mut player = Player::new("t1: aclInit[7..7]", SMALL);
    player.play("right F W");
    assert!(player.picture().contains("aclInit"));
}

#[test]
fn times_of_years_do_not_overflow() {
    let text = "s1: A[1s..2s] B[200000000s..9000000000s] by t1[2s..3s]";
    let mut player = Player::new(text, SMALL);
    player.play("n F right F 0 W W W end home S S S");
    assert!(player.line_with("all ").contains("min"));
}

#[test]
fn long_and_foreign_names_are_cut_by_cells() {
    let mut timeline = Timeline::of("s1: MatMul[1us..9us] Add[10us..90us]");
    for function in &mut timeline.tables.functions {
        if function.name.ends_with("MatMul") || function.name.ends_with("Add") {
            function.name = "矩阵乘法与加法融合算子".repeat(20);
        }
    }
    let mut player = Player::of(timeline.trace(), SMALL);
    assert!(player.line_with("stream 1").contains("矩阵"));
    player.play("right right enter");
    let picture = player.picture();
    let widest = picture.lines().map(crate::text::width).max();
    assert_eq!(widest, Some(80), "{picture}");
}

#[test]
fn control_characters_of_a_program_cannot_reach_the_terminal() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.log = Some(super::harness::OutputLines(vec![
        "red \x1b[31m\x07alert\tx".to_owned(),
    ]));
    player.play("o");
    assert!(player.picture().contains("red \\u{1b}[31m\\u{7}alert    x"));
}

#[test]
fn many_slices_in_one_cell_look_like_many() {
    let tasks: Vec<_> = (0..4_000)
        .map(|n| format!("A[{}..{}]", n * 100 + 10, n * 100 + 60))
        .collect();
    let player = Player::new(&format!("s1: {}", tasks.join(" ")), SMALL);
    let line = player.line_with("stream 1");
    let cells = line.split_once('│').expect("a border").1.trim();
    assert!(cells.chars().all(|it| matches!(it, '⣤' | '⣦')), "{line}");
    assert!(line.contains("50%"), "{line}");
}

#[test]
fn losses_are_on_screen_at_every_size() {
    let (session, tables) = workload::leading();
    let mut builder = GrowingRecording::new(session, tables);
    workload::run(
        Workload {
            steps: 2,
            ..Workload::default()
        },
        |row| builder.apply(row),
    );
    let loss = ascend_trace_recording::rows::LossRow {
        thread: None,
        calls: 17,
        others: 3,
        times: 0,
    };
    builder.apply(ascend_trace_recording::rows::Row::Loss(loss));
    let mut player = Player::of(builder.finish(), SMALL);
    for size in [(40, 10), SMALL, LARGE] {
        player.event(InputEvent::Resize(size.0, size.1));
        assert!(player.picture().contains("lost 20"), "{size:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_keys_at_any_size_leave_a_picture(
        keys in proptest::collection::vec(0..60_usize, 0..60),
        width in 1..220_u16, height in 1..60_u16,
    ) {
        let names: Vec<_> = crate::keymap::KEYS
            .iter()
            .flat_map(|group| group.entries)
            .flat_map(|entry| entry.keys.iter().map(|(name, _)| *name))
            .collect();
        let mut player = Player::new(PIPELINE, (width, height));
        for key in keys {
            player.play(names[key % names.len()]);
        }
        let lines = player.picture().lines().count();
        prop_assert!(lines <= usize::from(height));
    }
}
