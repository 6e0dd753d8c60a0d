//! The critical path of the range on screen.

use ascend_trace_analysis::Window;
use ascend_trace_analysis::critical::Critical;
use ascend_trace_recording::{Recording, TimeRange};
use ascend_trace_testkit::Timeline;

use super::harness::{LARGE, PIPELINE, Player, SMALL};
use super::lists::entries;
use super::{background_queries, scene};
use crate::app::Selection;
use crate::background_query::{BackgroundQuery, QueryKind};
use crate::critical::PathLines;
use crate::item::TrackKey;
use crate::job::JobNews;
use crate::panels::{PanelKind, PathListing};

/// The requested search, with its path.
fn solved(player: &mut Player) -> Box<BackgroundQuery> {
    let asked = player.requested_query();
    let mut query = asked.unwrap_or_else(|| panic!("nothing is asked: {:?}", player.app.message));
    let QueryKind::Critical(own) = &mut query.kind else {
        panic!("{query:?}");
    };
    let found = Critical::of(&Window::whole(&player.trace), own.range);
    own.path = Some(PathLines::new(found, &player.trace));
    query
}

/// Lets the source find the path that is asked for.
fn solve(player: &mut Player) {
    let query = solved(player);
    player.on_job_news(JobNews::Found(query));
}

fn known(player: &Player) -> &PathLines {
    let path = player.app.panels.path.as_ref().expect("it is shown");
    path.known.as_ref().expect("it is known")
}

fn kind(player: &Player) -> Option<PanelKind> {
    player.app.panels.list.as_ref().map(|list| list.kind)
}

/// Lines of the screen that have the sign of the path in a lane.
fn marked(player: &Player) -> usize {
    let layout = player.app.layout();
    let picture = player.picture();
    let lanes = picture.lines().skip(usize::from(layout.lanes.y));
    let lanes = lanes.take(usize::from(layout.lanes.height));
    lanes
        .filter(|line| line.contains('═') || line.contains('≈'))
        .count()
}

#[test]
fn a_key_lists_the_path_and_marks_it_in_the_lanes() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("R");
    assert_eq!(
        kind(&player),
        Some(PanelKind::Critical(PathListing::Pieces))
    );
    assert_eq!(marked(&player), 0);
    player.line_with("looking for the critical path");
    solve(&mut player);
    assert!(!player.is_looking());
    let found = known(&player).clone();
    assert_eq!(Some(found.range), player.app.document.span);
    let total: i64 = found.names.iter().map(|it| it.share.total_ns).sum();
    assert_eq!(total, found.range.duration(), "it has no gaps");
    let rows = entries(&player);
    assert_eq!(rows.len() as u64, found.pieces);
    assert!(rows[0].contains("MatMul"), "{rows:?}");
    assert!(rows[0].starts_with(&format!(
        "{:.1}%",
        found.longest[0].length() as f64 * 100.0 / total as f64
    )));
    assert!(marked(&player) >= 3, "{}", player.picture());
    assert!(
        player
            .line_with("critical path: longest")
            .contains("pieces")
    );
    insta::assert_snapshot!("critical_200x50", player.picture());
    player.play("R");
    assert!(player.app.panels.list.is_none() && player.app.panels.path.is_none());
    assert_eq!(marked(&player), 0);
}

#[test]
fn the_line_of_folded_lanes_is_marked_where_one_of_them_is() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("R");
    solve(&mut player);
    let spread = marked(&player);
    player.play("enter c");
    let line = player.line_with("▸device 0");
    assert!(line.contains('═') || line.contains('≈'), "{line}");
    assert!(marked(&player) < spread, "the lanes of the device are one");
    player.play("c R esc");
    assert_eq!(marked(&player), 0);
}

#[test]
fn it_looks_like_this_on_a_small_screen() {
    let mut player = Player::of(scene::scene(), SMALL);
    player.play("R");
    solve(&mut player);
    insta::assert_snapshot!("critical_80x24", player.picture());
    player.play("tab");
    assert_eq!(kind(&player), Some(PanelKind::Critical(PathListing::Names)));
    insta::assert_snapshot!("critical_names_80x24", player.picture());
}

#[test]
fn enter_goes_to_the_piece_and_the_path_stays_until_it_is_put_away() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("R");
    solve(&mut player);
    player.play("enter");
    assert!(player.app.panels.list.is_none());
    assert!(
        player.selected().contains("MatMul"),
        "{}",
        player.selected()
    );
    assert!(marked(&player) > 0);
    // The range is the same one: nothing is looked for again.
    assert!(player.requested_query().is_none());
    player.play("R");
    assert_eq!(
        kind(&player),
        Some(PanelKind::Critical(PathListing::Pieces))
    );
    player.play("esc");
    assert!(player.app.panels.path.is_none());
    player.play("R");
    solve(&mut player);
    player.play("enter esc");
    assert!(player.app.panels.path.is_some());
    player.play("esc");
    assert!(
        player.app.panels.path.is_none(),
        "esc where nothing is selected"
    );
}

#[test]
fn it_follows_the_window() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("R");
    solve(&mut player);
    let all = known(&player).range;
    player.play("W");
    let shown = player.app.camera.viewport.range();
    solve(&mut player);
    let part = known(&player).range;
    assert_eq!(part, shown.intersection(all));
    assert!(part.duration() < all.duration());
    let total: i64 = known(&player)
        .names
        .iter()
        .map(|it| it.share.total_ns)
        .sum();
    assert_eq!(total, part.duration());
    // A step on before the path is known: only the last range counts.
    player.play("d");
    let late = solved(&mut player);
    player.play("d");
    let shown = player.app.camera.viewport.range();
    player.on_job_news(JobNews::Found(late));
    assert_eq!(known(&player).range, part, "it was given up");
    solve(&mut player);
    assert_eq!(known(&player).range, shown.intersection(all));
    player.play("R d");
    assert!(
        player.requested_query().is_none(),
        "it is not wanted any more"
    );
}

#[test]
fn of_a_selected_range_it_is_the_path_in_that_until_nothing_is_selected() {
    let timeline = Timeline::of(PIPELINE);
    let ranges = [(0, 700, 1_615, "backward")];
    let mut player = Player::of(timeline.with_ranges(&ranges).trace(), LARGE);
    player.play("/ backward enter R");
    assert!(matches!(
        player.app.camera.selected,
        Some(Selection::Range(..))
    ));
    solve(&mut player);
    let range = TimeRange::new(700_000, 1_615_000);
    let start = player.trace.ranges()[0].begin;
    let range = TimeRange::new(start, start + range.duration());
    assert_eq!(known(&player).range, range);
    // Neither a move nor another selection changes that.
    player.play("d enter");
    assert!(player.requested_query().is_none());
    assert!(matches!(
        player.app.camera.selected,
        Some(Selection::Item(_))
    ));
    player.play("esc");
    solve(&mut player);
    assert_ne!(known(&player).range, range);
}

#[test]
fn equal_alternatives_are_shown_as_a_tie() {
    // Two waits end with events of the same time.
    let text = "
s1: A[10us..100us] by t1[1us..2us] rec(a)[100us..100us] by t1[2us..3us]
s2: B[10us..100us] by t1[3us..4us] rec(b)[100us..100us] by t1[4us..5us]
s3: wait(a)[8us..100us] by t1[5us..6us] wait(b)[100us..100us] by t1[6us..7us]
s3: C[101us..150us] by t1[7us..8us]
";
    let mut player = Player::new(text, LARGE);
    player.play("R");
    solve(&mut player);
    let found = known(&player).clone();
    assert!(found.ties > 0, "{found:?}");
    let words = match found.ties {
        1 => "1 tie within the error bars".to_owned(),
        ties => format!("{ties} ties within the error bars"),
    };
    player.line_with(&words);
    let tied = entries(&player);
    let tied = tied.iter().filter(|it| it.contains("or another way"));
    assert_eq!(tied.count() as u64, found.ties);
    assert!(player.picture().contains('≈'), "{}", player.picture());
    // The signs are on the lines of the pieces.
    let lane = crate::critical::line(&found.longest[0]);
    assert!(matches!(lane, TrackKey::Stream(_)));
    assert!(found.along(&[lane]).on(found.longest[0].range()).is_some());
    assert_eq!(found.along(&[lane]).on(TimeRange::new(-20, -10)), None);
}

#[test]
fn a_search_comes_first_and_esc_gives_the_path_of_a_range_up() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("R");
    let first = player.requested_query().expect("it is looked for");
    player.play("esc");
    assert!(!player.is_looking());
    player.on_job_news(JobNews::Found(first));
    let path = player
        .app
        .panels
        .path
        .as_ref()
        .expect("the list is still open");
    assert!(path.known.is_none());
    // Not again for the same range, but for another one.
    player.play("down");
    assert!(player.requested_query().is_none());
    player.play("W");
    solve(&mut player);
    assert!(known(&player).pieces > 0);
}

#[test]
fn nothing_recorded_has_no_path() {
    let mut player = Player::new("t1: aclrtMalloc(64)[0..1us]", SMALL);
    player.app.document.span = None;
    player.app.camera.paused = true;
    player.play("R");
    assert!(player.app.panels.path.is_none() && player.app.panels.list.is_none());
}

/// The path that the source finds in a recording is the one of the command.
#[test]
fn the_path_of_a_part_of_a_long_recording_is_that_of_the_command() {
    let (mut player, mut recording): (Player, Recording) = background_queries::player();
    player.play("R");
    background_queries::pursue_sums(&mut player, &mut recording);
    let range = known(&player).range;
    let path = Critical::of_recording(&mut recording, Default::default(), range);
    let path = path.expect("it is in memory");
    assert_eq!(known(&player).pieces, path.segments.len() as u64);
    assert!(path.segments.len() > 10);
    let shares: Vec<_> = known(&player).names.iter().map(|it| &it.share).collect();
    let expected: Vec<_> = path.names.iter().take(shares.len()).collect();
    assert_eq!(shares, expected);
    assert!(marked(&player) > 0, "{}", player.picture());
    player.play("enter");
    assert!(player.app.camera.selected.is_some(), "it is loaded");
}
