//! Lines of the tracer overhead and of losses.

use ascend_trace_recording::rows::{CostRow, LossRow, Row};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::whole::GrowingRecording;

use super::harness::{LARGE, Player, SMALL};

/// Two threads; one costs 1 % of the first half and 5 % of the second one, the other loses calls in the
/// middle.
fn player(size: (u16, u16), losses: bool) -> Player {
    let text = "t1: aclrtMalloc(64)[0..1us] aclrtFree(64)[499us..500us]
                t2: aclrtMalloc(64)[2us..3us] aclrtFree(64)[998us..1000us]
                s1: A[100us..800us] by t1[10us..11us]";
    let timeline = Timeline::of(text);
    let mut builder = GrowingRecording::new(timeline.session, timeline.tables);
    let mut calls = 0;
    let mut threads = Vec::new();
    for row in timeline.rows {
        if let Row::Thread(thread) = &row {
            threads.push(thread.thread);
        }
        calls += usize::from(matches!(row, Row::Call(_)));
        let is_last_call = matches!(row, Row::Call(_)) && calls == 5;
        if is_last_call && losses {
            for (thread, calls) in [(Some(threads[1]), 1_200), (None, 3)] {
                builder.apply(Row::Loss(LossRow {
                    thread,
                    calls,
                    others: 7,
                    times: 4,
                }));
            }
        }
        builder.apply(row);
    }
    for (at_us, calls, own_ns) in [(0, 0, 0), (500, 10, 5_000), (1_000, 60, 30_000)] {
        builder.apply(Row::Cost(CostRow {
            thread: threads[0],
            at_ns: at_us * 1_000,
            calls,
            recording_ns: own_ns,
            ..CostRow::default()
        }));
    }
    Player::of(builder.finish(), size)
}

#[test]
fn own_cost_is_drawn_over_time_on_a_fixed_scale() {
    let player = player(LARGE, false);
    let line = player.line_with("overhead");
    assert!(line.contains("3.00%"), "{line}");
    let bars: Vec<char> = line.chars().filter(|it| "▁▂▃▄▅▆▇█".contains(*it)).collect();
    assert!(bars.len() > 150, "{line}");
    assert_eq!((bars[10], bars[bars.len() - 10]), ('▁', '▄'), "{line}");
    assert!(!player.picture().contains("losses"));
}

#[test]
fn the_cursor_on_own_cost_shows_its_parts() {
    for size in [SMALL, LARGE] {
        let mut player = player(size, false);
        player.play("down down down down");
        assert!(player.line_with("overhead  ").starts_with('▶'));
        let line = player.line_with("recording 60 calls");
        assert!(
            line.contains("30.0 µs") && line.contains("500 ns each"),
            "{line}"
        );
        // The line has nothing to select, and the selection elsewhere stays.
        player.play("right");
        assert_eq!(player.selected(), "nothing");
        player.play("c v x X esc");
    }
}

#[test]
fn losses_are_listed_by_thread_and_kind() {
    let mut player = player(LARGE, true);
    let line = player.line_with("losses");
    assert!(line.contains("1217"), "{line}");
    player.play("down down down down down");
    let details = player.picture();
    assert!(
        details.contains("t2: 1200 calls, 4 times of tasks, 3 other records"),
        "{details}"
    );
    assert!(
        details.contains("threads without a channel: 3 calls"),
        "{details}"
    );
    assert!(player.line_with("lost 12").contains("lost 1217"));
    // Where nothing was lost it says so.
    player.play("W W home");
    assert!(player.picture().contains("nothing was lost here"));
}
