//! Pages of long recordings.

use ascend_trace_analysis::stats::Tables;
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::Row;
use ascend_trace_report::{
    MOST_BYTES, MemoryCurves, MemoryFold, Page, PeerWait, PeerWaits, Timeline, TimelineFold,
};
use ascend_trace_testkit::workload::{self, Workload};

/// A made-up recording, as a file in memory.
fn recording(steps: u32) -> Recording {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
    let workload = Workload {
        steps,
        rest_ns: 30_000,
        everything: true,
        ..Workload::default()
    };
    let mut end = None;
    let mut rows = 0;
    workload::run(workload, |row| {
        rows += 1;
        if rows % 3_000 == 0 {
            writer.flush().unwrap();
        }
        match row {
            Row::End(row) => end = Some(row),
            row => writer.push(row).unwrap(),
        }
    });
    Recording::from_bytes(writer.finish(end.unwrap()).unwrap()).unwrap()
}

type Results = (Timeline, (Vec<PeerWait>, MemoryCurves));

fn results(recording: &mut Recording, step: WindowSize, bytes: usize) -> Results {
    let span = recording.span().unwrap();
    let timeline = TimelineFold::of_range(span, recording.entities(), bytes);
    let others = (PeerWaits::default(), MemoryFold::of_range(span));
    let found = (timeline, others).of_recording(recording, step, |_| true);
    found.unwrap().unwrap()
}

#[test]
fn a_result_does_not_depend_on_where_a_recording_is_cut() {
    let mut recording = recording(300);
    let whole = results(&mut recording, WindowSize::WHOLE, 40_000);
    assert!(whole.0.complete_from_ns > 0, "it has room for everything");
    for (rows, margin) in [(17, 3), (120, 40), (1_000, 1)] {
        let cut = results(&mut recording, WindowSize { rows, margin }, 40_000);
        assert_eq!(cut, whole, "{rows} rows, margin {margin}");
    }
}

#[test]
fn a_long_recording_has_a_small_page_with_its_longest_slices() {
    const BYTES: usize = 1_500_000;
    let mut recording = recording(15_000);
    let (timeline, _) = results(&mut recording, WindowSize::default(), BYTES);
    let all: u64 = timeline.lanes.iter().map(|it| it.count).sum();
    let kept: usize = timeline.lanes.iter().map(|it| it.kept).sum();
    assert!(all > 500_000, "{all} slices");
    assert!(kept > 20_000 && (kept as u64) < all, "{kept} of {all}");
    assert!(timeline.complete_from_ns > 0);
    let mut page = Page::new("a long recording");
    page.add_whole("timeline", &timeline).unwrap();
    let size = page.html().len();
    assert!(size > BYTES / 2 && size < BYTES + 150_000, "{size} bytes");
    assert!(size < MOST_BYTES);
}

#[test]
fn the_columns_of_a_stream_have_its_busy_time() {
    let mut recording = recording(300);
    let (timeline, _) = results(&mut recording, WindowSize::default(), 1_000_000);
    assert_eq!(timeline.complete_from_ns, 0);
    let span = recording.span();
    let stats = Tables::within(span).of_recording(&mut recording, WindowSize::default(), |_| true);
    let stats = stats.unwrap().unwrap();
    let width = (timeline.end_ns - timeline.begin_ns) as f64 / timeline.columns as f64;
    let lanes = timeline.lanes.iter().filter(|it| it.is == "stream");
    let lanes: Vec<_> = lanes.collect();
    let rows = stats.streams.iter().filter(|it| it.tasks > 0);
    let rows: Vec<_> = rows.collect();
    assert_eq!(lanes.len(), rows.len());
    for (lane, row) in lanes.iter().zip(rows) {
        let busy = super::made::shares(&lane.merged).sum::<f64>() * width;
        let known = row.busy_ns as f64;
        assert!(
            (busy - known).abs() < 0.03 * known,
            "{} {busy} {known}",
            lane.label
        );
    }
}
