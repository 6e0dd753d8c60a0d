//! Streams that are idle for longer than any part of a long recording is.

use std::ops::Range;

use ascend_trace_analysis::Lane;
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{Recording, StreamId};
use ascend_trace_testkit::workload::{self, Workload};

use super::background_queries::{message, notable, pursue, whole};
use super::harness::{LARGE, Player};
use super::parts::{load, overview};
use crate::stable_id::StableId;
use crate::viewport::Viewport;

/// The stream of the first thread that communicates: its serial, and its place among all.
const RESTING: u32 = 4;
const RESTING_ID: StreamId = StreamId(2);

/// A recording of `steps` steps of about 70 rows; during some of its calls one stream is idle.
fn recording(steps: u32, rest: &Range<u32>) -> Recording {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(Vec::new(), &session, &tables).expect("a file in memory");
    let workload = Workload {
        steps,
        rest_ns: 20_000,
        everything: true,
        ..Workload::default()
    };
    let (mut rows, mut missing) = (0, 0);
    workload::run(workload, |mut row| {
        let is_resting = rest.contains(&rows);
        match &mut row {
            Row::Call(call) if call.stream == Some(RESTING) => {
                if is_resting {
                    return;
                }
                if let Some(task) = &mut call.task {
                    task.sequence -= missing;
                }
            }
            Row::TaskTime(time) if time.stream == RESTING => {
                // It comes right behind its call, which decides.
                if is_resting {
                    missing += 1;
                    return;
                }
                time.sequence -= missing;
            }
            _ => {}
        }
        if matches!(row, Row::Call(_)) {
            rows += 1;
        }
        writer.push(row).expect("it takes rows");
    });
    let bytes = writer.finish(Default::default()).expect("it ends");
    Recording::from_bytes(bytes).expect("it reads back")
}

/// A view of the time before the stream becomes idle, and the range of the idle time.
fn before_the_rest(recording: &mut Recording) -> (Player, (i64, i64)) {
    let overview = overview(recording, 2_000);
    let lane = overview.whole.stream(RESTING_ID).expect("it has worked");
    let pairs = lane.entries().windows(2);
    let rests = pairs.map(|pair| (pair[0].end, pair[1].begin));
    let rest = rests.max_by_key(|rest| rest.1 - rest.0).expect("it rests");
    let mut player = Player::of_parts(recording.entities().clone(), overview, LARGE);
    player.app.camera.viewport = Viewport::new(rest.0 - 400_000, rest.0 + 400_000);
    load(&mut player, recording);
    (player, rest)
}

/// Goes to the next stall. Answers where it begins and who has it.
fn next(player: &mut Player, recording: &mut Recording) -> (i64, Option<Lane>) {
    player.play("n");
    if player.is_looking() {
        pursue(player, recording);
    }
    match (
        player.app.selected_stall(&player.trace),
        player.app.camera.away,
    ) {
        (Some(stall), _) => (stall.begin, Some(stall.lane)),
        (None, Some(StableId::Stall { lane, begin, .. })) => (begin, Some(lane)),
        _ => panic!("no stall: {}", message(player)),
    }
}

#[test]
fn an_idle_stretch_of_several_parts_is_the_next_stall_where_it_begins() {
    let mut recording = recording(4_200, &(20_000..100_000));
    let (mut player, (begin, end)) = before_the_rest(&mut recording);
    let length = recording.rows_in((begin, end));
    assert!(length > 120_000, "{length} rows are no more than a part");
    let mut seen = vec![next(&mut player, &mut recording)];
    while seen.last().is_some_and(|last| last.0 <= begin + 1_000) {
        seen.push(next(&mut player, &mut recording));
        assert!(seen.len() < 200, "{seen:?}");
    }
    let is_it = |it: &&(i64, Option<Lane>)| {
        (it.0 - begin).abs() < 1_000 && it.1 == Some(Lane::Stream(RESTING_ID))
    };
    assert_eq!(seen.iter().filter(is_it).count(), 1, "{begin}: {seen:?}");
    // Nothing else was passed over for it.
    let (_, _, stalls) = whole(&mut recording);
    let all = notable(&stalls);
    let first = all.iter().position(|it| (it.begin - seen[0].0).abs() < 100);
    for (stall, seen) in all[first.expect("a stall")..].iter().zip(&seen) {
        assert!((stall.begin - seen.0).abs() < 1_000, "{stall:?} {seen:?}");
    }
}

#[test]
fn an_idle_stretch_too_long_to_read_is_found_by_its_end_and_then_skipped() {
    let mut recording = recording(9_000, &(10_000..290_000));
    let (mut player, (begin, end)) = before_the_rest(&mut recording);
    let length = recording.rows_in((begin, end));
    assert!(length > 400_000, "{length} rows can be read at once");
    let mut seen = Vec::new();
    while !message(&player).contains("host late ← thread 4000 worker0") {
        seen.push(next(&mut player, &mut recording).0);
        assert!(seen.len() < 200, "{seen:?}");
    }
    let last = seen.last().copied().unwrap_or_default();
    assert!((last - begin).abs() < 1_000, "{begin}: {seen:?}");
    assert!(seen.is_sorted(), "{seen:?}");
    let (after, lane) = next(&mut player, &mut recording);
    assert!((after, lane) > (last, Some(Lane::Stream(RESTING_ID))));
}
