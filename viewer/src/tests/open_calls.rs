//! Calls that are under way.

use ascend_trace_recording::CallId;
use ascend_trace_recording::rows::{CallRow, Ending, Row};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::whole::GrowingRecording;

use crate::app::Selection;
use crate::item::CallOrTask;

use super::harness::{Player, SMALL};

/// A thread that has made a call, and has another one under way from 2 ms on.
struct HangingThread {
    builder: GrowingRecording,
    player: Player,
    call: CallRow,
}

impl HangingThread {
    fn new() -> Self {
        let timeline = Timeline::of("t1: aclrtMalloc(64)[0..1ms]");
        let calls = timeline.rows.iter();
        let mut calls = calls.filter_map(|row| match row {
            Row::Call(call) => Some(call.clone()),
            _ => None,
        });
        let first = calls.next().expect("a call");
        let mut builder = GrowingRecording::new(timeline.session, timeline.tables);
        let rows = timeline.rows.into_iter();
        let rows = rows.filter(|row| !matches!(row, Row::End(_)));
        rows.for_each(|row| builder.apply(row));
        builder.settle();
        let call = CallRow {
            begin_ns: first.begin_ns + 2_000_000,
            end_ns: first.begin_ns + 2_000_000,
            ret: 0,
            ending: Ending::Open,
            ..first
        };
        let mut player = Player::of(builder.trace().clone(), SMALL);
        player.play("0");
        Self {
            builder,
            player,
            call,
        }
    }

    fn show(&mut self) {
        self.builder.settle();
        self.player.trace = self.builder.trace().clone();
        self.player.data();
    }

    /// It is still running this number of milliseconds after its begin.
    fn lasts(&mut self, milliseconds: i64) {
        let call = CallRow {
            end_ns: self.call.begin_ns + milliseconds * 1_000_000,
            ..self.call.clone()
        };
        self.builder.set_open(vec![call]);
        self.show();
    }

    fn returns(&mut self, milliseconds: i64) {
        self.builder.set_open(Vec::new());
        self.builder.apply(Row::Call(CallRow {
            end_ns: self.call.begin_ns + milliseconds * 1_000_000,
            ending: Ending::Returned,
            ..self.call.clone()
        }));
        self.show();
    }
}

#[test]
fn a_running_call_grows_in_its_line_until_it_returns() {
    let mut hanging = HangingThread::new();
    assert!(!hanging.player.picture().contains("under way"));
    hanging.lasts(6);
    let line = hanging.player.line_with("▒");
    assert!(line.contains("Malloc 6.00 ms, under way"), "{line}");
    let span = hanging.player.app.document.span.expect("a span");
    assert_eq!(span.duration(), 8_000_000, "the view follows it");
    hanging.lasts(10);
    let grown = hanging.player.line_with("▒");
    assert!(grown.contains("Malloc 10.0 ms, under way"), "{grown}");
    hanging.returns(11);
    assert!(!hanging.player.picture().contains("under way"));
    assert!(!hanging.player.picture().contains('▒'));
}

#[test]
fn a_running_call_can_be_selected_and_stays_selected_when_it_returns() {
    let mut hanging = HangingThread::new();
    hanging.lasts(6);
    hanging.player.play("right right");
    let open = hanging.player.app.camera.selected;
    assert!(matches!(open, Some(Selection::Open(_))), "{open:?}");
    let picture = hanging.player.picture();
    assert!(picture.contains("has not returned"), "{picture}");
    assert!(picture.contains("6.00 ms so far"), "{picture}");
    assert!(picture.contains("since 2.000000 ms"), "{picture}");
    // The target of its wait is not known.
    hanging.player.play("[");
    assert!(hanging.player.picture().contains("dependencies are known"));
    hanging.player.play("left");
    assert_eq!(
        hanging.player.app.camera.selected,
        Some(Selection::Item(CallOrTask::Call(CallId(0))))
    );
    hanging.player.play("right");
    hanging.returns(7);
    assert_eq!(
        hanging.player.app.camera.selected,
        Some(Selection::Item(CallOrTask::Call(CallId(1))))
    );
}

#[test]
fn a_thread_in_its_first_call_has_a_line() {
    let mut hanging = HangingThread::new();
    hanging.call.thread += 1;
    hanging.lasts(6);
    assert!(hanging.player.line_with("▒").contains("under way"));
}
