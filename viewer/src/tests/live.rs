//! A trace that grows while it is looked at.

use ascend_trace_model::TraceBuilder;
use ascend_trace_testkit::Timeline;

use crate::app::Follow;
use crate::event::Event;

use super::harness::{Lines, PIPELINE, Player, SMALL};

/// A recording of which only the first rows are known.
struct Growing {
    player: Player,
    builder: TraceBuilder,
    rows: std::vec::IntoIter<ascend_trace_model::rows::Row>,
}

impl Growing {
    /// All but the last `missing` rows.
    fn new(missing: usize) -> Self {
        let timeline = Timeline::parse(PIPELINE).expect("a timeline");
        let rows = timeline.rows.len() - missing.min(timeline.rows.len());
        let builder = TraceBuilder::new(timeline.session, timeline.tables);
        let mut growing = Self {
            player: Player::of(builder.trace().clone(), SMALL),
            builder,
            rows: timeline.rows.into_iter(),
        };
        growing.grow(rows);
        growing
    }

    fn grow(&mut self, rows: usize) {
        for row in self.rows.by_ref().take(rows) {
            self.builder.apply(row);
        }
        self.builder.settle();
        self.player.trace = self.builder.trace().clone();
        self.player.data();
    }
}

#[test]
fn the_end_of_a_growing_trace_looks_like_the_whole_one() {
    let mut growing = Growing::new(usize::MAX);
    while growing.rows.len() > 0 {
        growing.grow(1);
    }
    let whole = Player::new(PIPELINE, SMALL);
    assert_eq!(growing.player.picture(), whole.picture());
}

#[test]
fn a_live_view_shows_everything_until_it_is_moved() {
    let mut growing = Growing::new(25);
    assert_eq!(growing.player.app.follow, Follow::Everything);
    assert!(
        growing
            .player
            .line_with("ascend-trace")
            .contains("● live, following")
    );
    growing.player.play("w a");
    assert_eq!(growing.player.app.follow, Follow::Off);
    let moved = growing.player.app.viewport;
    growing.grow(10);
    assert_eq!(growing.player.app.viewport, moved);
    growing.player.play("f");
    assert_eq!(growing.player.app.follow, Follow::Head);
    growing.grow(10);
    let end = growing.player.app.span.expect("a span").1;
    assert!(growing.player.app.viewport.overlaps((end, end)));
}

#[test]
fn a_paused_view_stands_still_and_catches_up() {
    let mut growing = Growing::new(25);
    growing.player.play("p");
    let before = growing.player.app.counts;
    let still = growing.player.app.viewport;
    growing.grow(10);
    assert_eq!(growing.player.app.counts, before);
    assert_eq!(growing.player.app.viewport, still);
    assert!(
        growing
            .player
            .line_with("ascend-trace")
            .contains("view paused, still recording")
    );
    growing.player.play("p");
    assert_ne!(growing.player.app.counts, before);
}

#[test]
fn the_status_of_the_program_is_shown_when_it_has_ended() {
    let mut growing = Growing::new(0);
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
fn a_view_of_what_has_ended_follows_nothing() {
    let mut growing = Growing::new(usize::MAX);
    growing.grow(usize::MAX);
    assert_eq!(growing.player.app.follow, Follow::Off);
    // Where it stood when the program ended: all of it.
    let player = &mut growing.player;
    let (begin, end) = player.app.span.expect("a span");
    assert!(player.app.viewport.begin() <= begin && end <= player.app.viewport.end());
    player.play("/ m e m c p y enter n");
    let selected = player.app.selected;
    assert!(selected.is_some());
    player.play("w w w");
    assert_eq!(player.app.selected, selected);
    let span = selected.expect("a selection").span(&player.trace);
    assert!(player.app.viewport.overlaps(span), "{span:?}");
}

#[test]
fn tasks_whose_times_are_still_to_come_are_drawn_at_their_launch() {
    let player = Player::new("s1: B[?] | t1: aclInit[0..1us]", SMALL);
    assert!(player.line_with("stream 1").contains('▹'));
    assert!(player.picture().contains("unread 1"));
}

#[test]
fn a_source_that_fails_is_reported_and_the_view_stays() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.event(Event::SourceFailed("chunk 7 is damaged".to_owned()));
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
    player.log = Some(Lines((1..=40).map(|n| format!("line {n}")).collect()));
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
    let mut growing = Growing::new(30);
    assert!(!growing.player.picture().contains("calls/s"));
    for second in 1..4 {
        growing
            .player
            .event(Event::Clock(std::time::Duration::from_secs(second)));
        growing.grow(5);
    }
    assert!(growing.player.line_with("lost 0").contains(" calls/s"));
}

#[test]
fn opening_a_long_file_shows_how_far_it_is_and_how_long_it_takes() {
    let trace = ascend_trace_model::Trace::default();
    let mut player = Player::of(trace, SMALL);
    let seconds = std::time::Duration::from_secs;
    for (second, percent) in [(10, 0), (14, 40)] {
        player.overview = Some(crate::part::Overview {
            opening: Some(percent),
            ..Default::default()
        });
        player.event(Event::Clock(seconds(second)));
        player.data();
    }
    let line = player.line_with("reading the file:");
    assert!(
        line.contains("40 %, 6.00 s left  ██████··········"),
        "{line}"
    );
}
