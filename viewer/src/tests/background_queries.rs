//! Looking for something in all of a long recording, of which a part is loaded.

use std::sync::OnceLock;

use ascend_trace_analysis::{Dependencies, Stall, Stalls};
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{Recording, TimeRange, Trace};
use ascend_trace_testkit::workload::{self, Workload};

use super::harness::{LARGE, Player};
use super::parts::{load, overview};
use crate::background_query::BackgroundQuery;
use crate::job::{JobNews, JobRequest};
use crate::panels::{PanelKind, StallPanel};
use crate::update::background_query::known_longest;

/// Calls that fail.
const FAILED: [usize; 3] = [9_000, 150_000, 280_000];

/// About 600 000 rows: six parts, of which one is read at a time.
fn recording() -> Recording {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    Recording::from_bytes(BYTES.get_or_init(bytes).clone()).expect("it reads back")
}

fn bytes() -> Vec<u8> {
    written(Workload {
        steps: 9_000,
        rest_ns: 20_000,
        ..Workload::default()
    })
}

/// With ranges that the program named, among others.
fn recording_of_everything() -> Recording {
    let everything = Workload {
        steps: 6_000,
        everything: true,
        ..Workload::default()
    };
    Recording::from_bytes(written(everything)).expect("it reads back")
}

fn written(workload: Workload) -> Vec<u8> {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(Vec::new(), &session, &tables).expect("a file in memory");
    let mut calls = 0;
    workload::run(workload, |mut row| {
        if let Row::Call(call) = &mut row {
            calls += 1;
            if FAILED.contains(&calls) {
                call.ret = 107_000;
            }
        }
        writer.push(row).expect("it takes rows");
    });
    writer.finish(Default::default()).expect("it ends")
}

/// A view of the begin of it, zoomed in, with a part loaded.
pub(super) fn player() -> (Player, Recording) {
    player_of(recording())
}

fn player_of(mut recording: Recording) -> (Player, Recording) {
    let overview = overview(&mut recording, 2_000);
    let entities = recording.entities().clone();
    let mut player = Player::of_parts(entities, overview, LARGE);
    player.play("W W W home");
    load(&mut player, &mut recording);
    (player, recording)
}

/// The requested search.
fn requested_query(player: &mut Player) -> Box<BackgroundQuery> {
    let asked = player.requested_query();
    asked.unwrap_or_else(|| panic!("nothing is looked for: {:?}", player.app.message))
}

/// Runs the requested search, with a pause after every part, and loads the range on screen then.
pub(super) fn pursue(player: &mut Player, recording: &mut Recording) -> usize {
    let mut query = requested_query(player);
    let number = query.number;
    let mut pauses = 0;
    loop {
        let mut news = Vec::new();
        let done = query.advance(recording, &mut |it| {
            news.push(JobNews::Reached(number, it));
            news.len() < 2
        });
        let done = done.expect("it is in memory");
        news.into_iter().for_each(|news| player.on_job_news(news));
        if done {
            break;
        }
        pauses += 1;
        assert!(pauses < 100, "it does not come to an end");
    }
    player.on_job_news(JobNews::Found(query));
    load(player, recording);
    pauses
}

/// The same for sums, which start over when they have to wait.
pub(super) fn pursue_sums(player: &mut Player, recording: &mut Recording) {
    let mut query = requested_query(player);
    let done = query.advance(recording, &mut |_| true);
    assert!(done.expect("it is in memory"));
    player.on_job_news(JobNews::Found(query));
}

/// Runs the requested search with a pause after every part.
pub(super) fn pursue_in_parts(player: &mut Player, recording: &mut Recording) {
    let mut query = requested_query(player);
    let mut pauses = 0;
    while !query
        .advance(recording, &mut |_| {
            pauses += 1;
            pauses % 2 == 0
        })
        .expect("it is in memory")
    {
        assert!(pauses < 100, "it does not come to an end");
    }
    assert!(pauses > 2, "it can be stopped after each part");
    player.on_job_news(JobNews::Found(query));
}

pub(super) fn whole(recording: &mut Recording) -> (Trace, Dependencies, Stalls) {
    let trace = recording
        .window((i64::MIN, i64::MAX), u64::MAX)
        .expect("all");
    let dependencies = Dependencies::of(&trace);
    let stalls = Stalls::of_part(&trace, &dependencies, true);
    (trace, dependencies, stalls)
}

pub(super) fn message(player: &Player) -> String {
    player.app.message.clone().unwrap_or_default()
}

#[test]
fn a_match_far_after_the_loaded_part_is_found_and_selected() {
    let (mut player, mut recording) = player();
    let (trace, ..) = whole(&mut recording);
    let mut failed: Vec<i64> = trace
        .calls()
        .iter()
        .filter(|call| call.ret != 0)
        .map(
            |call| match call.task.and_then(|task| trace.task(task).time) {
                Some(time) => time.begin,
                None => call.begin,
            },
        )
        .collect();
    failed.sort_unstable();
    assert_eq!(failed.len(), FAILED.len());
    player.play("/ ! enter");
    assert!(player.line_with("looking for “!”").contains("esc: stop"));
    let mut pauses = 0;
    for begin in &failed {
        pauses += pursue(&mut player, &mut recording);
        assert!(!player.is_looking());
        let selected = player
            .app
            .camera
            .selected
            .expect("it is loaded and selected");
        assert_eq!(
            selected.span(&player.trace).begin,
            *begin,
            "{}",
            player.selected()
        );
        assert!(
            message(&player).contains("“!” found"),
            "{}",
            message(&player)
        );
        player.play(">");
    }
    assert!(pauses > 2, "it can be stopped after each part");
    // Past the last one it starts over, and says so.
    pursue(&mut player, &mut recording);
    let selected = player.app.camera.selected.expect("the first one again");
    assert_eq!(selected.span(&player.trace).begin, failed[0]);
    assert!(
        message(&player).contains("went on from the beginning"),
        "{}",
        message(&player)
    );
    player.play("<");
    pursue(&mut player, &mut recording);
    let selected = player.app.camera.selected.expect("the last one");
    assert_eq!(selected.span(&player.trace).begin, failed[2]);
    assert!(
        message(&player).contains("went on from the end"),
        "{}",
        message(&player)
    );
    player.play("<");
    pursue(&mut player, &mut recording);
    let selected = player.app.camera.selected.expect("the one before");
    assert_eq!(selected.span(&player.trace).begin, failed[1]);
}

#[test]
fn a_range_far_after_the_loaded_part_is_found_by_its_name() {
    let (mut player, mut recording) = player_of(recording_of_everything());
    let (trace, ..) = whole(&mut recording);
    let named = trace.ranges().iter().filter(|it| it.name == "step 5000");
    let mut begins: Vec<i64> = named.map(|it| it.begin).collect();
    begins.sort_unstable();
    assert!(!begins.is_empty());
    player.play("/ /^step");
    player.play("space 5000$/ enter");
    let mut pauses = 0;
    for begin in &begins {
        // The threads go through a step at about the same time.
        if player.is_looking() {
            pauses += pursue(&mut player, &mut recording);
        }
        assert_eq!(player.selected(), format!("range step 5000 at {begin}"));
        player.play(">");
    }
    assert!(pauses > 0, "it is in another part");
    pursue(&mut player, &mut recording);
    assert_eq!(
        player.selected(),
        format!("range step 5000 at {}", begins[0])
    );
    assert!(message(&player).contains("went on from the beginning"));
}

#[test]
fn a_search_without_a_match_ends_and_says_so() {
    let (mut player, mut recording) = player();
    let before = player.app.camera.viewport;
    player.play("/ >100s enter");
    pursue(&mut player, &mut recording);
    assert!(
        message(&player).contains("nothing in all of the recording"),
        "{}",
        message(&player)
    );
    assert_eq!(player.app.camera.viewport, before);
}

#[test]
fn the_result_of_a_cancelled_search_is_ignored() {
    let (mut player, mut recording) = player();
    player.play("/ ! enter");
    let mut query = requested_query(&mut player);
    let before = (player.app.camera.viewport, player.app.camera.away);
    player.play("esc");
    let orders = player.app.jobs.take_orders();
    assert!(
        matches!(orders[..], [JobRequest::Stop(number)] if number == query.number),
        "{orders:?}"
    );
    assert!(message(&player).contains("stopped looking for “!”"));
    let done = query.advance(&mut recording, &mut |_| true);
    assert!(done.expect("it is in memory"));
    player.on_job_news(JobNews::Found(query));
    assert_eq!((player.app.camera.viewport, player.app.camera.away), before);
    // Another one after it is not mistaken for it.
    player.play("/ ! enter");
    let query = requested_query(&mut player);
    player.play("/ >100s enter");
    player.on_job_news(JobNews::Found(query));
    assert!(player.is_looking());
}

pub(super) fn notable(stalls: &Stalls) -> Vec<Stall> {
    let all = stalls.sorted().into_iter().copied();
    all.filter(|stall| stall.is_notable()).collect()
}

#[test]
fn the_longest_stalls_are_those_of_the_whole_recording() {
    let (mut player, mut recording) = player();
    player.play("i");
    let list = player
        .app
        .panels
        .list
        .as_ref()
        .expect("the loaded part is listed at once");
    assert_eq!(list.kind, PanelKind::Stalls(StallPanel::All));
    assert!(
        list.note.contains("of the part that is loaded"),
        "{}",
        list.note
    );
    pursue(&mut player, &mut recording);
    let list = player
        .app
        .panels
        .list
        .as_ref()
        .expect("the list is still open");
    assert!(
        list.note.contains("of all of the recording"),
        "{}",
        list.note
    );
    let (_, _, stalls) = whole(&mut recording);
    let worst = stalls.worst_where(50, Stall::is_notable);
    let longest = known_longest(&player.app, StallPanel::All).expect("they are kept");
    for (listed, stall) in longest.iter().zip(worst) {
        // Of one more or less well known clock.
        let far = (listed.length() - stall.length()).abs();
        assert!(far < 1_000, "{listed:?} {stall:?}");
    }
    assert!(longest.iter().all(|it| !it.words.is_empty()));
    // The first one is on screen, and selected once it is loaded.
    let first = longest[0].clone();
    assert!(
        player
            .app
            .camera
            .viewport
            .overlaps(TimeRange::new(first.begin, first.end))
    );
    let selected = player.app.camera.selected.expect("it is selected");
    assert!((selected.span(&player.trace).begin - first.begin).abs() < 1_000);
    // A second look costs nothing.
    player.play("enter i");
    assert!(player.requested_query().is_none() && !player.is_looking());
    assert_eq!(
        player.app.panels.list.as_ref().map(|it| it.entries.len()),
        Some(200)
    );
}

#[test]
fn the_next_stall_is_searched_after_the_loaded_part() {
    let (mut player, mut recording) = player();
    let (_, _, stalls) = whole(&mut recording);
    let all = notable(&stalls);
    player.play("n");
    let mut asked = 0;
    let mut seen = Vec::new();
    while asked < 3 {
        if player.is_looking() {
            asked += 1;
            pursue(&mut player, &mut recording);
        }
        let stall = player.app.selected_stall(&player.trace).expect("a stall");
        seen.push(stall.begin);
        player.play("n");
    }
    assert!(seen.is_sorted(), "{seen:?}");
    // None of them was passed over.
    let first = all.iter().position(|it| (it.begin - seen[0]).abs() < 100);
    let first = first.expect("it is a stall of the whole recording");
    for (stall, seen) in all[first..].iter().zip(&seen) {
        assert!((stall.begin - seen).abs() < 1_000, "{} {seen}", stall.begin);
    }
}

#[test]
fn the_stall_before_is_looked_for_too() {
    let (mut player, mut recording) = player();
    let (_, _, stalls) = whole(&mut recording);
    player.play("end");
    load(&mut player, &mut recording);
    player.play("N");
    let mut seen: Vec<i64> = Vec::new();
    let mut asked = 0;
    while asked < 2 {
        if player.is_looking() {
            asked += 1;
            pursue(&mut player, &mut recording);
        }
        let stall = player.app.selected_stall(&player.trace).expect("a stall");
        seen.push(stall.begin);
        player.play("N");
    }
    let mut all = notable(&stalls);
    all.reverse();
    let first = all.iter().position(|it| (it.begin - seen[0]).abs() < 100);
    let first = first.expect("it is a stall of the whole recording");
    for (stall, seen) in all[first..].iter().zip(&seen) {
        assert!((stall.begin - seen).abs() < 1_000, "{} {seen}", stall.begin);
    }
}

#[test]
fn from_afar_a_search_begins_at_the_visible_range() {
    let mut recording = recording();
    let overview = overview(&mut recording, 2_000);
    let entities = recording.entities().clone();
    let mut player = Player::of_parts(entities, overview, LARGE);
    player.play("n");
    pursue(&mut player, &mut recording);
    assert!(
        player.app.selected_stall(&player.trace).is_some(),
        "{}",
        message(&player)
    );
    let length = player.app.camera.viewport.length();
    let span = player.app.document.span.expect("a span");
    assert!(
        length < span.duration() / 5,
        "single calls can be distinguished"
    );
    player.play("u");
    assert_eq!(
        player.app.camera.viewport,
        crate::viewport::Viewport::fitting(span)
    );
}

#[test]
fn statistics_of_unloaded_parts_are_summed_up_from_the_file() {
    let mut recording = recording();
    let overview = overview(&mut recording, 2_000);
    let entities = recording.entities().clone();
    let mut player = Player::of_parts(entities, overview, LARGE);
    player.play("t");
    let list = player
        .app
        .panels
        .list
        .as_ref()
        .expect("the table is open at once");
    assert!(
        list.note.contains("only of the loaded part"),
        "{}",
        list.note
    );
    // It can be stopped between parts, and is made in one go.
    let mut query = requested_query(&mut player);
    let mut left = 2;
    let done = query.advance(&mut recording, &mut |_| {
        left -= 1;
        left > 0
    });
    assert!(!done.expect("it is in memory"));
    let done = query.advance(&mut recording, &mut |_| true);
    assert!(done.expect("it is in memory"));
    player.on_job_news(JobNews::Found(query));
    let stats = ascend_trace_analysis::Stats::of(&whole(&mut recording).0);
    // The whole recording was summed up: the panel has it from now on.
    let overall = player.app.document.overall.as_ref().expect("it is known");
    let expected = crate::recording_totals::RecordingTotals::of(&stats, None);
    assert_eq!(overall.operation, expected.operation);
    assert_eq!(overall.devices.len(), expected.devices.len());
    let first = &stats.operations[0];
    let list = player
        .app
        .panels
        .list
        .as_ref()
        .expect("the table is still open");
    let count = crate::text::count(first.count);
    let name = &first.name;
    assert!(
        list.entries
            .iter()
            .any(|it| it.cells[0].text == *name && it.cells[2].text == count),
        "{name} {count}: {:?}",
        list.entries
    );
    // From there to the slowest one, in any part.
    let longest = first.time.max_ns.expect("all tasks were timed");
    let place = list.entries.iter().position(|it| it.cells[0].text == *name);
    for _ in 0..place.expect("it is listed") {
        player.play("down");
    }
    player.play("enter");
    assert!(player.line_with("looking for the slowest").contains(name));
    pursue(&mut player, &mut recording);
    let selected = player
        .app
        .camera
        .selected
        .expect("it is loaded and selected");
    let TimeRange { begin, end } = selected.span(&player.trace);
    assert!(
        (end - begin - longest).abs() < 1_000,
        "{} {longest}",
        end - begin
    );
    let shortened = crate::text::short_name(name);
    assert!(
        player.selected().contains(shortened),
        "{}",
        player.selected()
    );
}
