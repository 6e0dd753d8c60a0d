//! The detail pane of the selection.

use ascend_trace_format::record::CpuTime;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use crate::app::ViewData;

use super::harness::{LARGE, PIPELINE, Player, SMALL};

fn detail(text: &str, script: &str) -> String {
    let mut player = Player::new(text, LARGE);
    player.play(script);
    let top = usize::from(player.app.layout().detail.y);
    let picture = player.picture();
    picture.lines().skip(top).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_task_has_its_times_its_queue_wait_and_its_rank() {
    let text = detail(PIPELINE, "/ matmul enter");
    for expected in [
        "MatMul  kernel task",
        "619 µs",
        "±21 ns",
        "queued",
        "longest of 2",
        "launched",
        "which took",
        "[ after",
        "] before",
    ] {
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
    }
}

#[test]
fn the_command_of_the_process_is_shown_last() {
    let mut timeline = Timeline::of(PIPELINE);
    for row in &mut timeline.rows {
        if let Row::Process(process) = row {
            process.command = "python\0train.py\0--clear=\u{1b}[2J".to_owned();
        }
    }
    let mut player = Player::of(timeline.trace(), LARGE);
    player.play("/ matmul enter enter");
    let text = player.picture();
    let expected = "process 1 (pid 1000): python train.py --clear=\\u{1b}[2J";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_failed_call_has_the_name_of_its_error_and_its_arguments() {
    let text = detail(PIPELINE, "/ ! enter");
    assert!(text.contains("call by thread 1001"), "{text}");
    assert!(
        text.contains("ACL_ERROR") || text.contains("107000"),
        "{text}"
    );
    assert!(text.contains("the only one of its kind"), "{text}");
}

#[test]
fn an_idle_interval_names_the_late_thread_and_its_activity() {
    let late = "s1: A[10us..20us] B[90us..99us] by t1[60us..62us]
                t1: aclrtMalloc(64)[22us..58us]";
    let text = detail(late, "n n n");
    assert!(text.contains("stream 1 was idle"), "{text}");
    assert!(text.contains("host late ← thread 1001"), "{text}");
    assert!(
        text.contains("meanwhile  aclrtMalloc ×1 36.0 µs  on its way to the device 28.0 µs  outside of AscendCL 4.00 µs"),
        "{text}"
    );
}

#[test]
fn a_wait_has_the_chain_down_to_its_root() {
    let text = detail(PIPELINE, "i");
    assert!(text.contains("longest stalls"), "{text}");
    let text = detail(PIPELINE, "i enter");
    assert!(text.contains("because"), "{text}");
    assert!(text.contains("← device 0 stream 2 until MatMul"), "{text}");
    assert!(text.contains("root"), "{text}");
}

#[test]
fn a_walk_shows_where_it_came_from_and_gets_shorter_on_the_way_back() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("/ LayerNorm enter [ [");
    let trail = "LayerNorm·s4 ← aclrtStreamWaitEvent·s4 ← aclrtRecordEvent·s2";
    assert!(player.picture().contains(trail), "{}", player.picture());
    player.play("u");
    assert!(
        player
            .picture()
            .contains("LayerNorm·s4 ← aclrtStreamWaitEvent·s4 ─")
    );
    player.play("right");
    assert!(!player.picture().contains("LayerNorm·s4 ←"));
}

#[test]
fn details_are_copied_whole() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("n y");
    assert_eq!(
        player.effects.last(),
        Some(&crate::action::ViewRequest::Copy)
    );
    let world = ViewData {
        trace: &player.trace,
        log: None,
        overview: &player.overview,
        export_name: None,
    };
    let text = crate::view::details(&player.app, world);
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains("StreamWaitEvent"), "{text}");
    // Also the lines that have no room in the panel.
    assert!(
        text.contains("[ after ") && text.contains("stream="),
        "{text}"
    );
}

#[test]
fn a_call_after_a_pause_has_its_length_and_the_processor_time() {
    let mut timeline =
        Timeline::parse("t1: aclrtMalloc[0..10us] | t1: aclrtFree[1010us..1020us]").unwrap();
    for row in &mut timeline.rows {
        if let Row::Call(call) = row
            && call.begin_ns > 0
        {
            call.cpu = CpuTime::new(300_000, 1_000_000, 2);
        }
    }
    let mut player = Player::of(timeline.trace(), LARGE);
    player.play("/ aclrtfree enter");
    let world = ViewData {
        trace: &player.trace,
        log: None,
        overview: &player.overview,
        export_name: None,
    };
    let text = crate::view::details(&player.app, world);
    let expected = "1.00 ms outside AscendCL before it, on a processor 300 µs";
    assert!(text.contains(expected), "{text}");
}
