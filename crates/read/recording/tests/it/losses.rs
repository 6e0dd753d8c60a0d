//! Times of losses: the same from a whole file and from its index.

use std::collections::BTreeMap;

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{EndRow, LossRow, Row};
use ascend_trace_recording::{Loss, Recording, ThreadId, TimeRange, Trace};
use ascend_trace_testkit::whole::opened;
use ascend_trace_testkit::workload::{self, Workload};

/// A file of several groups with a loss after every `EVERY` rows.
fn bytes() -> Vec<u8> {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
    let workload = Workload {
        steps: 18_000,
        ..Workload::default()
    };
    let mut rows = 0_u32;
    workload::run(workload, |row| {
        rows += 1;
        if matches!(row, Row::End(_)) {
            return;
        }
        writer.push(row).unwrap();
        if rows.is_multiple_of(50_000) {
            let loss = LossRow {
                thread: rows.is_multiple_of(100_000).then_some(rows / 100_000 % 2),
                calls: u64::from(rows / 50_000),
                others: 5,
                times: 2,
            };
            writer.push(Row::Loss(loss)).unwrap();
        }
    });
    let end = EndRow {
        end_ns: 1,
        exit_status: 0,
        ..EndRow::default()
    };
    writer.finish(end).unwrap()
}

fn sums(lost: &[Loss]) -> BTreeMap<Option<ThreadId>, (u64, u64, u64)> {
    let mut sums = BTreeMap::new();
    for loss in lost {
        let sum: &mut (u64, u64, u64) = sums.entry(loss.thread).or_default();
        *sum = (sum.0 + loss.calls, sum.1 + loss.times, sum.2 + loss.others);
    }
    sums
}

fn is_ordered(trace: &Trace) -> bool {
    let TimeRange { begin, end } = trace.span().unwrap();
    let lost = trace.lost();
    lost.is_sorted_by_key(|loss| loss.at)
        && lost.iter().all(|loss| begin <= loss.at && loss.at <= end)
        && lost.first().map(|loss| loss.at) < lost.last().map(|loss| loss.at)
}

#[test]
fn losses_have_a_thread_and_a_time_whole_or_by_index() {
    let bytes = bytes();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("losses.atrace");
    std::fs::write(&path, &bytes).unwrap();
    let (whole, warnings) = opened(&path).unwrap();
    assert_eq!(warnings, []);
    let recording = Recording::from_bytes(bytes).unwrap();
    let entities = recording.entities();
    assert!(whole.lost().len() > 20);
    let total = |trace: &Trace| trace.lost().iter().map(|loss| loss.calls).sum::<u64>();
    assert_eq!(total(&whole), whole.losses().calls);
    assert_eq!(total(entities), whole.losses().calls);
    assert_eq!(sums(whole.lost()), sums(entities.lost()));
    assert_eq!(sums(entities.lost()).len(), 3, "two threads, and none");
    assert!(is_ordered(&whole));
    // An index has the precision of a segment.
    let far = whole.lost().iter().zip(entities.lost());
    let far = far.map(|(one, other)| (one.at - other.at).abs()).max();
    let TimeRange { begin, end } = whole.span().unwrap();
    assert!(far.unwrap() < (end - begin) / 10, "{far:?}");
}
