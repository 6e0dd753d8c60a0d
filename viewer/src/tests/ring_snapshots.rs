//! Snapshots of a ring.

use ascend_trace_recording::TimeRange;
use ascend_trace_recording::rows::{KeptRow, SnapshotRow};
use ascend_trace_testkit::Timeline;

use super::harness::{LARGE, Player};

const TEXT: &str = "s1: A[0us..100us] B[200us..500us] C[900us..1000us]\n";

fn view(at_ns: impl Fn(TimeRange) -> i64) -> Player {
    let mut timeline = Timeline::of(TEXT);
    let span = timeline.trace().span().unwrap();
    timeline.session.kept = Some(KeptRow {
        since_ns: span.begin,
        snapshot: Some(SnapshotRow {
            at_ns: at_ns(span),
            reason: "step 7 took 3 s".to_owned(),
        }),
    });
    Player::of(timeline.trace(), LARGE)
}

#[test]
fn a_snapshot_begins_at_its_event() {
    let mut view = view(|span| span.begin + span.duration() / 2);
    let span = view.app.document.span.unwrap();
    let shown = view.app.camera.viewport;
    assert_eq!(shown.middle(), span.begin + span.duration() / 2);
    assert!(shown.length() <= span.duration() / 4);
    assert!(view.picture().contains("snapshot: step 7 took 3 s"));
    view.play("0");
    assert!(view.app.camera.viewport.range().contains(span.begin));
}

#[test]
fn an_event_outside_of_the_time_is_at_its_border() {
    let view = view(|span| span.end + 1_000_000_000_000);
    let span = view.app.document.span.unwrap();
    assert!(view.app.camera.viewport.range().contains(span.end));
}
