//! A trace that grows while it is looked at.

use std::time::Duration;

use ascend_trace_recording::TimeRange;
use ascend_trace_recording::rows::{CallRow, Row};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::whole::GrowingRecording;

use crate::app::{FOLLOWED_NS, FollowMode};
use crate::event::InputEvent;
use crate::source::{RecorderCounts, RecordingState, SourceProgress};
use crate::viewport::Viewport;

use super::harness::{OutputLines, PIPELINE, Player, SMALL};

/// A recording of which only the first rows are known.
pub(super) struct PartlyKnownRecording {
    pub(super) player: Player,
    builder: GrowingRecording,
    pub(super) rows: std::vec::IntoIter<ascend_trace_recording::rows::Row>,
}

impl PartlyKnownRecording {
    /// All but the last `missing` rows.
    fn new(missing: usize) -> Self {
        Self::of(PIPELINE, missing, SMALL)
    }

    pub(super) fn of(text: &str, missing: usize, size: (u16, u16)) -> Self {
        let timeline = Timeline::of(text);
        let rows = timeline.rows.len() - missing.min(timeline.rows.len());
        let builder = GrowingRecording::new(timeline.session, timeline.tables);
        let mut growing = Self {
            player: Player::of(builder.trace().clone(), size),
            builder,
            rows: timeline.rows.into_iter(),
        };
        growing.grow(rows);
        growing
    }

    pub(super) fn grow(&mut self, rows: usize) {
        for row in self.rows.by_ref().take(rows) {
            self.builder.apply(row);
        }
        self.builder.settle();
        // A paused view keeps its content.
        if !self.player.app.camera.paused {
            self.player.trace = self.builder.trace().clone();
        }
        self.player.data();
    }
}

#[test]
fn the_end_of_a_growing_trace_looks_like_the_whole_one() {
    let mut growing = PartlyKnownRecording::new(usize::MAX);
    while growing.rows.len() > 0 {
        growing.grow(1);
    }
    let whole = Player::new(PIPELINE, SMALL);
    assert_eq!(growing.player.picture(), whole.picture());
}

/// Rows of calls at these milliseconds.
fn calls(at_ms: std::ops::Range<i64>) -> Vec<Row> {
    let call = |ms| CallRow {
        begin_ns: ms * 1_000_000,
        end_ns: ms * 1_000_000 + 400_000,
        ..CallRow::default()
    };
    at_ms.map(call).map(Row::Call).collect()
}

#[test]
fn a_live_view_scrolls_from_the_start_and_keeps_its_scale() {
    let mut growing = PartlyKnownRecording::new(usize::MAX);
    let mut length = None;
    for second in 1..25 {
        growing.rows = calls((second - 1) * 1_000..second * 1_000).into_iter();
        growing.grow(usize::MAX);
        let app = &growing.player.app;
        let (viewport, end) = (app.camera.viewport, app.document.span.expect("a span").end);
        assert_eq!(app.camera.follow, FollowMode::Head);
        // The room before the start has no times.
        let picture = growing.player.picture();
        assert!(
            picture.contains('╷') && !picture.contains("╷-"),
            "{picture}"
        );
        assert_eq!(*length.get_or_insert(viewport.length()), viewport.length());
        // The newest timestamp has the same place up to a column, and the columns have the same edges.
        let columns = app.layout().lanes.width;
        let place = viewport.cell(end, columns);
        let right = i64::from(columns) - place;
        assert!(
            (1..=i64::from(columns) / 50 + 2).contains(&right),
            "{right}"
        );
        assert_eq!(viewport.by_columns(columns), viewport);
        // All of it is in the line above.
        let whole = growing.player.line_with("all ");
        let label = format!("all {}", crate::text::duration(end));
        assert!(whole.contains(&label), "{whole}");
    }
    assert_eq!(length, Some(FOLLOWED_NS));
}

#[test]
fn a_short_recording_fills_the_screen_when_it_has_ended() {
    let mut growing = PartlyKnownRecording::new(1);
    let running = growing.player.app.camera.viewport;
    assert_eq!(running.length(), FOLLOWED_NS);
    growing.grow(1);
    let app = &growing.player.app;
    assert_eq!(app.camera.follow, FollowMode::Off);
    assert_eq!(
        app.camera.viewport,
        Viewport::fitting(app.document.span.expect("a span"))
    );
}

#[test]
fn a_followed_range_keeps_its_length() {
    let mut growing = PartlyKnownRecording::new(25);
    growing.player.play("w");
    let length = growing.player.app.camera.viewport.length();
    assert_eq!(length, FOLLOWED_NS * 2 / 3);
    growing.grow(10);
    assert_eq!(growing.player.app.camera.viewport.length(), length);
    growing.player.play("s s s s");
    assert_eq!(growing.player.app.camera.viewport.length(), FOLLOWED_NS);
    growing.player.play("0");
    assert_eq!(growing.player.app.camera.follow, FollowMode::Everything);
    growing.grow(10);
    let app = &growing.player.app;
    assert_eq!(
        app.camera.viewport,
        Viewport::fitting(app.document.span.expect("a span"))
    );
}

#[test]
fn recorded_calls_not_on_screen_and_lost_calls_are_reported() {
    let mut growing = PartlyKnownRecording::new(5);
    let shown = growing.player.app.document.counts.1;
    let mut tell = |calls, lag, recording| {
        growing.player.event(InputEvent::Data(SourceProgress {
            recording,
            lag: Some(Duration::from_millis(lag)),
            counted: Some(RecorderCounts { calls, lost: 7 }),
            ..SourceProgress::default()
        }));
        growing.player.line_with("  calls ")
    };
    let line = tell(shown + 300_000, 900, RecordingState::Running);
    assert!(line.contains("behind 300.0k calls"), "{line}");
    assert!(line.contains("lost 7"), "{line}");
    let line = tell(shown + 3_000, 90, RecordingState::Running);
    assert!(!line.contains("behind"), "{line}");
    let line = tell(shown, 900, RecordingState::Running);
    assert!(!line.contains("behind"), "{line}");
    // Data of another recorder is reported in bytes.
    growing.player.event(InputEvent::Data(SourceProgress {
        unread: 5 << 20,
        ..SourceProgress::default()
    }));
    let line = growing.player.line_with("  calls ");
    assert!(line.contains("behind 5"), "{line}");
}

#[test]
fn a_live_view_follows_until_it_is_moved() {
    let mut growing = PartlyKnownRecording::new(25);
    assert_eq!(growing.player.app.camera.follow, FollowMode::Head);
    assert!(
        growing
            .player
            .line_with("ascend-trace")
            .contains("● live, following")
    );
    growing.player.play("w a");
    assert_eq!(growing.player.app.camera.follow, FollowMode::Off);
    let moved = growing.player.app.camera.viewport;
    growing.grow(10);
    assert_eq!(growing.player.app.camera.viewport, moved);
    growing.player.play("f");
    assert_eq!(growing.player.app.camera.follow, FollowMode::Head);
    growing.grow(10);
    let end = growing.player.app.document.span.expect("a span").end;
    assert!(
        growing
            .player
            .app
            .camera
            .viewport
            .overlaps(TimeRange::at(end))
    );
}

#[test]
fn a_paused_view_stands_still_and_catches_up() {
    let mut growing = PartlyKnownRecording::new(25);
    growing.player.play("p");
    let before = growing.player.app.document.counts;
    let still = growing.player.app.camera.viewport;
    growing.grow(10);
    assert_eq!(growing.player.app.document.counts, before);
    assert_eq!(growing.player.app.camera.viewport, still);
    assert!(
        growing
            .player
            .line_with("ascend-trace")
            .contains("view paused, still recording")
    );
    growing.player.play("p");
    growing.grow(0);
    assert_ne!(growing.player.app.document.counts, before);
}

#[test]
fn the_status_of_the_program_is_shown_when_it_has_ended() {
    let mut growing = PartlyKnownRecording::new(0);
    assert!(
        growing
            .player
            .line_with("ascend-trace")
            .contains("■ program ended, status 0")
    );
    growing.player.play("p");
    assert!(growing.player.picture().contains("nothing to pause"));
}

#[test]
fn a_view_of_an_ended_recording_follows_nothing() {
    let mut growing = PartlyKnownRecording::new(usize::MAX);
    growing.grow(usize::MAX);
    assert_eq!(growing.player.app.camera.follow, FollowMode::Off);
    // Where it stood when the program ended: all of it.
    let player = &mut growing.player;
    let span = player.app.document.span.expect("a span");
    assert!(player.app.camera.viewport.range().covers(span));
    player.play("/ m e m c p y enter n");
    let selected = player.app.camera.selected;
    assert!(selected.is_some());
    player.play("w w w");
    assert_eq!(player.app.camera.selected, selected);
    let span = selected.expect("a selection").span(&player.trace);
    assert!(player.app.camera.viewport.overlaps(span), "{span:?}");
}

#[test]
fn tasks_without_times_yet_are_drawn_at_their_launch() {
    let player = Player::new("s1: B[?] | t1: aclInit[0..1us]", SMALL);
    assert!(player.line_with("stream 1").contains('▹'));
    assert!(player.picture().contains("unread 1"));
}

#[test]
fn a_source_that_fails_is_reported_and_the_view_stays() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.event(InputEvent::SourceFailed("chunk 7 is damaged".to_owned()));
    assert!(player.picture().contains("chunk 7 is damaged"));
    assert!(
        player
            .line_with("ascend-trace")
            .contains("unreadable from here on")
    );
}

#[test]
fn the_output_follows_its_end_until_it_is_scrolled() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("o");
    assert!(
        player
            .picture()
            .contains("the program's output is not shown here")
    );
    player.log = Some(OutputLines((1..=40).map(|n| format!("line {n}")).collect()));
    player.play("o");
    assert!(player.picture().contains("line 40"));
    player.play("K K");
    assert!(player.picture().contains("10 lines from the end"));
    assert!(!player.picture().contains("line 40"));
    player.play("J J J");
    assert!(player.picture().contains("line 40"));
    player.play("o");
    assert!(!player.picture().contains("line 40"));
}

#[test]
fn a_growing_trace_has_a_rate() {
    let mut growing = PartlyKnownRecording::new(30);
    assert!(!growing.player.picture().contains("calls/s"));
    for second in 1..4 {
        growing
            .player
            .event(InputEvent::Clock(std::time::Duration::from_secs(second)));
        growing.grow(5);
    }
    assert!(growing.player.line_with("  lost 0").contains(" calls/s"));
}

#[test]
fn opening_a_long_file_shows_how_far_it_is_and_how_long_it_takes() {
    let trace = ascend_trace_recording::Trace::default();
    let mut player = Player::of(trace, SMALL);
    let seconds = std::time::Duration::from_secs;
    for (second, percent) in [(10, 0), (14, 40)] {
        player.overview = crate::overview::RecordingOverview {
            opening: Some(percent),
            ..Default::default()
        };
        player.event(InputEvent::Clock(seconds(second)));
        player.data();
    }
    let line = player.line_with("reading the file:");
    assert!(
        line.contains("40 %, 6.00 s left  ██████··········"),
        "{line}"
    );
}
