//! The table of steps.

use ascend_trace_testkit::Timeline;

use super::harness::{LARGE, Player};
use super::lists::entries;

/// Two steps: one computes, one does nothing for most of its time.
fn player() -> Player {
    let text = "t1: aclrtMalloc(64)[0..1us]
                s1: A[10us..90us] by t1[5us..6us] B[180us..195us] by t1[170us..171us]";
    let timeline = Timeline::of(text);
    let ranges = [
        (0, 0, 100, "step 0"),
        (0, 5, 60, "forward"),
        (0, 100, 200, "step 1"),
    ];
    Player::of(timeline.with_ranges(&ranges).trace(), LARGE)
}

#[test]
fn steps_say_what_bounds_them_and_enter_goes_there() {
    let mut player = player();
    player.play("t backtab");
    player.line_with("steps");
    let found = entries(&player);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("step 0 ") && found[0].contains(" 80.0% device-bound"),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("step 1 ") && found[1].contains("% host-bound"),
        "{found:?}"
    );
    player.play("down enter");
    assert!(player.app.panels.list.is_none());
    let selected = player.selected();
    assert!(selected.contains("step 1"), "{selected}");
}

#[test]
fn without_steps_the_table_is_empty_and_the_next_one_works() {
    let mut player = Player::new("s1: A[5us..9us] by t1[0..1us]", LARGE);
    player.play("t backtab");
    assert!(entries(&player).is_empty());
    player.play("tab");
    assert!(!entries(&player).is_empty());
}
