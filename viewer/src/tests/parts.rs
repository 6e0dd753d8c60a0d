//! Long recordings: sums from far away, details in the visible range.

use std::sync::Arc;

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::recording::WindowError;
use ascend_trace_recording::{Recording, TimeRange, Trace};
use ascend_trace_testkit::workload::{self, Workload};

use super::harness::{LARGE, Player};
use crate::app::Selection;
use crate::overview::RecordingOverview;

fn recording() -> Recording {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(Vec::new(), &session, &tables).expect("a file in memory");
    let workload = Workload {
        steps: 3_000,
        rest_ns: 20_000,
        ..Workload::default()
    };
    workload::run(workload, |row| writer.push(row).expect("it takes rows"));
    let bytes = writer.finish(Default::default()).expect("it ends");
    Recording::from_bytes(bytes).expect("it reads back")
}

/// The sums of a recording with this number of entries.
pub(super) fn overview(recording: &mut Recording, entries: usize) -> RecordingOverview {
    let counts = recording.counts();
    let whole = recording.summary((i64::MIN, i64::MAX), entries);
    let whole = Arc::new(whole.expect("the recording reads"));
    RecordingOverview {
        span: recording.span(),
        calls: counts.calls,
        tasks: counts.tasks,
        failed: counts.errors,
        used: counts.streams.keys().copied().collect(),
        near: Arc::clone(&whole),
        whole,
        loaded: None,
        ranges_until: recording.ranges_until(),
        memory: None,
        opening: None,
    }
}

/// A view without a part, and its recording.
fn player() -> (Player, Recording) {
    let mut recording = recording();
    let overview = overview(&mut recording, 2_000);
    let entities = recording.entities().clone();
    (Player::of_parts(entities, overview, LARGE), recording)
}

fn shown(player: &Player) -> TimeRange {
    player.app.camera.viewport.range()
}

pub(super) fn load(player: &mut Player, recording: &mut Recording) {
    let range = shown(player);
    match recording.window(range, 400_000) {
        Ok(trace) => player.take_part(trace, Some(range)),
        Err(WindowError::TooMany(_)) => player.take_part(recording.entities().clone(), None),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn parts_not_loaded_are_shown_as_sums() {
    let (player, _) = player();
    let compute = player.line_with("stream 1");
    assert!(
        compute.contains("⣿⣿⣿") || compute.contains("⣷"),
        "{compute}"
    );
    assert!(player.line_with("worker0").contains(['⣶', '⣷', '⣿']));
    assert!(player.line_with("worker1").contains(['⣶', '⣷', '⣿']));
    let status = player.line_with("lost ");
    assert!(status.contains("summed up"), "{status}");
    assert!(status.contains("tasks 72.0k"), "{status}");
}

#[test]
fn sums_and_slices_give_the_same_picture_from_afar() {
    let (mut player, mut recording) = player();
    let summed_up = player.picture();
    load(&mut player, &mut recording);
    let exact = player.picture();
    let status = player.line_with("tasks ");
    assert!(!status.contains("summed up"), "{status}");
    let lanes = |picture: &str| -> Vec<String> {
        let lines = picture.lines().filter(|line| line.contains("stream "));
        lines.map(str::to_owned).collect()
    };
    let (one, other) = (lanes(&summed_up), lanes(&exact));
    assert_eq!(one.len(), 4);
    let shade = |cell: char| " ⡀⣀⣄⣤⣦⣶⣷⣿".chars().position(|it| it == cell);
    for (one, other) in one.iter().zip(&other) {
        let cells = one.chars().zip(other.chars());
        let far = cells.filter(|(sum, exact)| match (shade(*sum), shade(*exact)) {
            // One way of adding up may come out a shade fuller than the other.
            (Some(sum), Some(exact)) => sum.abs_diff(exact) > 1,
            _ => sum != exact,
        });
        // The cell at the end holds so few slices that they are drawn as such.
        assert!(far.count() <= 1, "{one}\n{other}");
    }
}

#[test]
fn a_selection_survives_the_next_part_and_comes_back() {
    let (mut player, mut recording) = player();
    player.play("W W");
    load(&mut player, &mut recording);
    player.play("right");
    let selected = player.selected();
    assert!(selected.starts_with("task"), "{selected}");
    // The next part holds it under another id.
    player.play("d");
    load(&mut player, &mut recording);
    assert_eq!(player.selected(), selected);
    // Far away it is not there, and then it is again.
    let here = player.app.camera.viewport;
    player.play("end");
    load(&mut player, &mut recording);
    assert_eq!(player.selected(), "nothing");
    player.app.camera.viewport = here;
    load(&mut player, &mut recording);
    assert_eq!(player.selected(), selected);
    // Unless something else has been selected meanwhile.
    player.play("esc");
    load(&mut player, &mut recording);
    assert_eq!(player.selected(), "nothing");
    assert_eq!(player.app.camera.selected.and_then(Selection::item), None);
}

#[test]
fn without_slices_there_is_nothing_to_select_and_it_says_why() {
    let (mut player, _) = player();
    player.play("right");
    let message = player.app.message.clone().unwrap_or_default();
    assert!(
        message.is_empty() || message.contains("zoom in"),
        "{message}"
    );
    // Stalls are looked for in the file.
    player.play("n");
    assert!(player.picture().contains("looking for the next stall"));
}

#[test]
fn opening_says_how_far_it_is() {
    let overview = RecordingOverview {
        opening: Some(37),
        ..RecordingOverview::default()
    };
    let player = Player::of_parts(Trace::default(), overview, LARGE);
    assert!(player.picture().contains("reading the file: 37 %"));
}
