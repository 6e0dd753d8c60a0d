//! Lines of the memory in use on a device.

use std::sync::Arc;

use ascend_trace_analysis::memory::MemoryCurvesFold;
use ascend_trace_recording::TimeRange;
use ascend_trace_testkit::timeline;
use crossterm::event::MouseEventKind;

use super::harness::{LARGE, Player, SMALL};

/// 64 KiB from 100 µs on, 192 KiB from 500 to 700 µs, and a little of the host.
const PROGRAM: &str = "
s1: A[1us..1000us]
t1: aclrtMalloc(65536,4096)[90us..100us] aclrtMallocHost(512,8192)[200us..210us]
t1: aclrtMalloc(131072,1048576)[490us..500us] aclrtFree(1048576)[700us..710us]
t1: sync(s1)[990us..1000us]
";

/// The bars of the line, one for each column.
fn bars(player: &Player) -> String {
    let line = player.line_with("memory ");
    line.split_once('│').expect("lanes").1.to_owned()
}

#[test]
fn a_line_shows_the_memory_of_a_device_and_marks_the_peak() {
    let player = Player::new(PROGRAM, LARGE);
    let line = player.line_with("memory ");
    assert!(line.contains("192 KiB"), "{line}");
    let bars: Vec<char> = bars(&player).chars().collect();
    let share = |share: usize| bars[bars.len() * share / 100];
    assert_eq!(share(5), ' ', "{line}");
    assert_eq!((share(30), share(60), share(85)), ('▂', '█', '▂'), "{line}");
    assert_eq!(bars.iter().filter(|it| **it == '▲').count(), 1, "{line}");
    let peak = bars.iter().position(|it| *it == '▲').unwrap();
    assert!(peak.abs_diff(bars.len() / 2) < bars.len() / 10, "{line}");
}

#[test]
fn the_cursor_on_the_line_shows_values() {
    for size in [SMALL, LARGE] {
        let mut player = Player::new(PROGRAM, size);
        player.play("down");
        assert!(player.line_with("memory  ").starts_with('▶'));
        let line = player.line_with("192 KiB at most");
        assert!(line.contains("0 B at least"), "{line}");
        let details = player.picture();
        assert!(
            details.contains("peak of the recording 192 KiB at 499"),
            "{details}"
        );
        // There is nothing to select, and the selection elsewhere stays.
        player.play("right");
        assert_eq!(player.selected(), "nothing");
        player.play("c C v x X esc");
    }
}

#[test]
fn values_at_marks_and_at_the_selection_are_shown() {
    let mut player = Player::new(PROGRAM, LARGE);
    player.play("down g 6 0 0 u s enter");
    assert!(
        player.picture().contains("192 KiB at the mark 600"),
        "{}",
        player.picture()
    );
    player.play("g 8 0 0 u s enter");
    assert!(
        player.picture().contains("64 KiB at the mark 800"),
        "{}",
        player.picture()
    );
}

#[test]
fn pointing_at_the_line_shows_the_memory_there() {
    let mut player = Player::new(PROGRAM, LARGE);
    let (_, y) = player.place_of("memory ");
    let x = player.app.layout().lanes.x + player.app.layout().lanes.width * 60 / 100;
    player.mouse(MouseEventKind::Moved, x, y);
    let picture = player.picture();
    assert!(picture.contains("memory of device 0 192 KiB"), "{picture}");
}

#[test]
fn a_part_of_a_recording_has_the_memory_of_all_of_it() {
    let trace = timeline(PROGRAM);
    let mut player = Player::of(trace.clone(), LARGE);
    player.overview.memory = None;
    player.overview.loaded = Some(TimeRange::new(600_000, 900_000));
    player.data();
    assert!(!player.picture().contains("memory "));
    let curves = MemoryCurvesFold::of_trace(&trace);
    player.overview.memory = Some(Arc::new(curves));
    player.data();
    assert!(player.line_with("memory ").contains("192 KiB"));
}

#[test]
fn unread_time_is_not_taken_for_time_without_memory() {
    let trace = timeline(PROGRAM);
    let mut player = Player::of(trace.clone(), LARGE);
    let mut curves = MemoryCurvesFold::of_trace(&trace);
    curves.until = 400_000;
    player.overview.memory = Some(Arc::new(curves));
    player.overview.loaded = Some(TimeRange::new(0, 900_000));
    player.data();
    let bars: Vec<char> = bars(&player).chars().collect();
    let share = |share: usize| bars[bars.len() * share / 100];
    assert_eq!((share(30), share(60)), ('▂', '·'));
}
