//! Ranges that the program named.

use ascend_trace_recording::rows::{RangeRow, Row};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::whole::GrowingRecording;

use crossterm::event::{MouseButton, MouseEventKind};

use super::harness::{LARGE, Player};

fn range(begin_us: i64, end_us: i64, name: &str) -> RangeRow {
    RangeRow {
        process: 0,
        thread: 0,
        begin_ns: begin_us * 1_000,
        end_ns: end_us * 1_000,
        domain: 0,
        name: name.to_owned(),
    }
}

/// The ranges are those of the thread.
fn player(ranges: Vec<RangeRow>) -> Player {
    let text = "t1: aclrtMalloc(64)[0..900us]\ns1: A[100us..800us] by t1[10us..11us]";
    let timeline = Timeline::of(text);
    let mut builder = GrowingRecording::new(timeline.session, timeline.tables);
    let thread = timeline.rows.iter().find_map(|row| match row {
        Row::Thread(thread) => Some((thread.process, thread.thread)),
        _ => None,
    });
    let (process, thread) = thread.expect("a thread");
    timeline.rows.into_iter().for_each(|row| builder.apply(row));
    for range in ranges {
        let range = RangeRow {
            process,
            thread,
            ..range
        };
        builder.apply(Row::Range(range));
    }
    Player::of(builder.finish(), LARGE)
}

#[test]
fn ranges_lie_above_their_thread_from_the_outside_in() {
    let player = player(vec![
        range(200, 300, "forward"),
        range(100, 800, "epoch 1"),
        range(310, 700, "后向"),
    ]);
    let (_, outer) = player.place_of("epoch 1 700 µs");
    let (_, inner) = player.place_of("forward 100 µs");
    let (_, thread) = player.place_of("thread 1001");
    assert!(outer < inner && inner < thread);
    assert!(player.picture().contains("后向 390 µs"));
    assert!(player.line_with("epoch 1").contains("ranges"));
    let (first, second) = (player.cell_of("forward"), player.cell_of("epoch 1"));
    assert_ne!(first.bg, ratatui::style::Color::Reset);
    assert_ne!(first.bg, second.bg, "names of these have different colours");
}

#[test]
fn marks_and_ranges_that_overlap_are_seen_too() {
    let player = player(vec![
        range(100, 500, "one"),
        range(300, 700, "other"),
        range(850, 850, "mark"),
    ]);
    assert!(player.picture().contains("one 400 µs"));
    assert!(player.picture().contains("other 400 µs"));
    assert!(player.picture().contains('▪'));
}

#[test]
fn a_range_is_selected_by_key_and_click_and_shows_its_content() {
    let mut player = player(vec![
        range(5, 50, "forward"),
        range(0, 880, "epoch 1"),
        range(310, 700, "backward"),
    ]);
    player.play("down right");
    assert_eq!(player.selected(), "range epoch 1 at 0");
    assert!(player.line_with("ranges").starts_with('▶'));
    player.play("down left");
    assert_eq!(player.selected(), "range forward at 5000");
    let details = player.picture();
    assert!(details.contains("range of thread 1001"), "{details}");
    assert!(details.contains("default domain"), "{details}");
    assert!(
        details.contains("tasks submitted inside 1, busy 700 µs"),
        "{details}"
    );
    assert!(details.contains("mostly  A ×1 700 µs"), "{details}");
    player.play("right");
    assert_eq!(player.selected(), "range backward at 310000");
    assert!(
        player
            .picture()
            .contains("at work during it 1, busy 390 µs in sum")
    );
    player.play("right");
    let message = player.app.message.clone().unwrap_or_default();
    assert!(message.contains("nothing more"), "{message}");
    let (x, y) = player.place_of("epoch 1 880");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x + 3, y);
    assert_eq!(player.selected(), "range epoch 1 at 0");
    // It can be zoomed to, marked and left like anything else.
    player.play("F m [ esc");
    assert_eq!(player.app.camera.marks.all().len(), 1);
    assert_eq!(player.selected(), "nothing");
}

#[test]
fn ranges_are_found_by_their_names_among_calls_and_tasks() {
    let mut player = player(vec![
        range(0, 300, "step 1"),
        range(100, 200, "malloc in step 1"),
        range(400, 880, "step 2"),
    ]);
    let message = |player: &Player| player.app.message.clone().unwrap_or_default();
    player.play("/ s t e p enter");
    assert_eq!(player.selected(), "range step 1 at 0");
    assert_eq!(message(&player), "1 of 3");
    player.play(">");
    assert_eq!(player.selected(), "range malloc in step 1 at 100000");
    player.play("> >");
    assert_eq!(player.selected(), "range step 1 at 0");
    assert!(message(&player).contains("went on from the beginning"));
    player.play("<");
    assert_eq!(player.selected(), "range step 2 at 400000");
    // With what else has such a name, in the order of time.
    player.play("/ m a l l o c enter");
    assert_eq!(player.selected(), "call Malloc at 0");
    player.play(">");
    assert_eq!(player.selected(), "range malloc in step 1 at 100000");
    player.play("<");
    assert_eq!(player.selected(), "call Malloc at 0");
    // Lengths hold for them too; they have no arguments and do not fail.
    player.play("/ s t e p space > 4 0 0 u s enter");
    assert_eq!(player.selected(), "range step 2 at 400000");
    player.play("/ s t e p space ! enter");
    assert!(message(&player).contains("nothing here is"));
}
