//! Faults are visible: failed calls, damaged files, lanes off screen.

use ratatui::style::Color;

use crate::event::InputEvent;
use crate::source::{RecordingState, SourceProgress};

use super::harness::{LARGE, PIPELINE, Player, SMALL};
use super::scene::running_scene;

/// A thread with a hundred calls in a row, two of which fail, and a failed launch.
fn failing() -> String {
    let calls = (0..100).map(|n| {
        let (begin, end) = (10 * n, 10 * n + 1);
        let code = if n == 30 || n == 70 { "=107000" } else { "" };
        format!("aclrtMalloc(64)[{begin}us..{end}us]{code} ")
    });
    format!("t1: {}\ns1: Add[2000us..2001us]", calls.collect::<String>())
}

#[test]
fn failed_calls_are_counted_and_found_one_after_the_other() {
    let mut player = Player::new(&failing(), LARGE);
    assert!(player.line_with("lost 0").contains("failed 2"));
    assert!(player.line_with("2 calls failed").contains('!'));
    player.play("!");
    assert!(
        player.selected().ends_with("at 300000"),
        "{}",
        player.selected()
    );
    player.play("!");
    assert!(player.selected().ends_with("at 700000"));
    player.play("!");
    assert!(player.selected().ends_with("at 300000"));
    assert!(player.line_with("from the beginning").contains("1 of 2"));
    player.play("<");
    assert!(player.selected().ends_with("at 700000"));
    let mut fine = Player::new("s1: Add[1us..2us]", SMALL);
    assert!(!fine.picture().contains("failed 0"));
    fine.play("!");
    fine.line_with("no call has failed");
}

#[test]
fn a_failed_call_is_seen_among_many_and_by_itself() {
    let mut player = Player::new(&failing(), SMALL);
    let lane = player.line_with("thread 1001");
    assert_eq!(lane.matches('!').count(), 2, "{lane}");
    let cell = player.cell_of("!");
    assert!(matches!(cell.bg, Color::Rgb(..)));
    // At any zoom.
    player.play("! F esc");
    let lane = player.line_with("thread 1001");
    assert_eq!(lane.matches('!').count(), 1, "{lane}");
}

#[test]
fn a_truncated_file_is_reported() {
    let mut player = Player::of(running_scene(), SMALL);
    let message = |player: &mut Player, recording| {
        player.event(InputEvent::Data(SourceProgress {
            recording,
            ..SourceProgress::default()
        }));
        player.picture()
    };
    let live = message(&mut player, RecordingState::Running);
    assert!(live.contains("● live") && !live.contains("breaks off"));
    let broken = message(&mut player, RecordingState::Stopped);
    let first = broken.lines().next().unwrap_or_default();
    let last = broken.lines().last().unwrap_or_default();
    assert!(first.ends_with("the file breaks off"), "{first}");
    assert!(last.ends_with("breaks off"), "{last}");
}

#[test]
fn lanes_that_are_off_screen_are_counted() {
    let streams = (1..=40).map(|n| format!("s{n}: Add[{n}us..{}us]\n", n + 1));
    let text: String = streams.collect();
    let mut player = Player::new(&text, SMALL);
    let count = |player: &Player, arrow: &str| {
        let picture = player.picture();
        let rule = picture.lines().find(|line| line.starts_with('─'));
        let words: Vec<_> = rule.unwrap_or_default().split_whitespace().collect();
        let place = words.iter().position(|word| *word == arrow);
        place.map_or(0, |place| {
            words[place - 3].parse::<usize>().expect("a number")
        })
    };
    let shown = |player: &Player| {
        let picture = player.picture();
        let is_lane = |line: &&str| line.contains("stream ") || line.contains("thread ");
        let lanes = picture.lines().take_while(|line| !line.starts_with('─'));
        lanes.filter(is_lane).count()
    };
    let all = 41;
    let below = count(&player, "↓");
    assert_eq!(below + shown(&player), all);
    player.play("pgdn");
    let above = count(&player, "↑");
    assert!(above > 0);
    assert_eq!(above + shown(&player) + count(&player, "↓"), all);
    player.play("pgdn pgdn pgdn pgdn pgdn pgdn pgdn pgdn");
    assert!(!player.picture().contains("lanes ↓"));
}

#[test]
fn the_legend_has_only_visible_items() {
    let player = Player::new(PIPELINE, LARGE);
    let picture = player.picture();
    for there in [
        "█ kernel",
        "█ copy",
        "█ memset",
        "◆ event record",
        "! failed",
    ] {
        assert!(picture.contains(there), "{there}");
    }
    for absent in [
        "collective",
        "█ graph",
        "host function",
        "capture",
        "not read",
    ] {
        assert!(!picture.contains(absent), "{absent}");
    }
    let plain = Player::new("s1: Add[1us..9us]", LARGE).picture();
    assert!(plain.contains("█ kernel") && !plain.contains("memset"));
}
