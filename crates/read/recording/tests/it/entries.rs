//! What ran inside of tasks, by the hardware's log: the same however much of a recording is in memory.

use std::collections::BTreeMap;

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{ActivityRow, EndRow, Row, TaskTimeRow};
use ascend_trace_recording::{Recording, TaskId, TimeRange, Trace};
use ascend_trace_testkit::whole::from_rows;
use ascend_trace_testkit::workload::{self, Workload};

/// Two parts of a task.
fn parts(time: &TaskTimeRow) -> [Row; 2] {
    let middle = i64::midpoint(time.begin_device_ns, time.end_device_ns);
    let spans = [(time.begin_device_ns, middle), (middle, time.end_device_ns)];
    [0, 1].map(|part| {
        let (begin_ns, end_ns) = spans[part as usize];
        Row::Activity(ActivityRow {
            process: time.process,
            stream: Some(time.stream),
            sequence: Some(time.sequence),
            part,
            kind: 2,
            correlation: u64::from(time.sequence),
            begin_ns,
            end_ns,
            ..ActivityRow::default()
        })
    })
}

/// A recording with entries that are `late` tasks after their tasks.
fn file(steps: u32, late: usize, index: u64) -> Vec<u8> {
    let (session, tables) = workload::leading();
    let writer = Writer::create(Vec::new(), &session, &tables).unwrap();
    let mut writer = writer.with_index_every(index);
    let mut waiting = Vec::new();
    let workload = Workload {
        steps,
        ..Workload::default()
    };
    workload::run(workload, |row| {
        writer.push(&row).unwrap();
        if let Row::TaskTime(time) = &row {
            waiting.push(parts(time));
        }
        if waiting.len() > late {
            for row in waiting.drain(..).flatten() {
                writer.push(&row).unwrap();
            }
        }
    });
    for row in waiting.drain(..).flatten() {
        writer.push(&row).unwrap();
    }
    writer.finish(EndRow::default()).unwrap()
}

/// Parts by an identity of their task that holds in any window: its stream and sequence.
type PartsByTask = BTreeMap<(u32, u32), Vec<(i64, i64)>>;

fn parts_by_task(trace: &Trace) -> PartsByTask {
    let tasks = (0..trace.tasks().len() as u32).map(TaskId);
    let parts_by_task = tasks.filter_map(|id| {
        let task = trace.task(id);
        let time = task.time?;
        let parts = trace.parts(id);
        // Clocks that are known as a whole and in part differ a little.
        let spans = parts
            .iter()
            .map(|part| (part.begin - time.begin, part.end - part.begin));
        Some(((task.stream.0, task.sequence), spans.collect()))
    });
    parts_by_task.collect()
}

#[test]
fn windows_have_the_entries_of_their_tasks_and_no_others() {
    for late in [0, 700] {
        let bytes = file(1_500, late, 4_000);
        let whole = {
            let (contents, warnings) = ascend_trace_recording::file::read(&bytes[..]).unwrap();
            assert_eq!(warnings, []);
            from_rows(contents.session, contents.tables, contents.rows)
        };
        let expected = parts_by_task(&whole);
        assert!(expected.values().all(|parts| parts.len() == 2));
        let mut recording = Recording::from_bytes(bytes).unwrap();
        assert_eq!(recording.entities().entries(0).len(), 0, "none are kept");
        let TimeRange { begin, end } = recording.span().unwrap();
        let mut seen = 0;
        for part in 0..7 {
            let at = |part: i64| begin + (end - begin) * part / 7;
            let window = recording
                .window((at(part), at(part + 1)), u64::MAX)
                .unwrap();
            let own = parts_by_task(&window);
            assert!(own.len() < expected.len());
            for (key, parts) in &own {
                assert_eq!(parts.len(), expected[key].len());
                for (part, other) in parts.iter().zip(&expected[key]) {
                    assert!((part.1 - other.1).abs() <= 2, "{part:?} {other:?}");
                }
            }
            seen += own.len();
            let entries = window.entries(0).len();
            assert!(entries < 3 * own.len() + 2_000, "{entries} {}", own.len());
        }
        assert!(seen >= expected.len());
    }
}

#[test]
fn a_pass_over_a_file_meets_each_entry_once_and_forgets_it() {
    for late in [0, 700] {
        let mut recording = Recording::from_bytes(file(1_500, late, 4_000)).unwrap();
        let mut replay = recording.replay();
        let (mut next, mut most, mut whole) = (0, 0, 0);
        while replay.advance(4_000).unwrap() {
            let entries = replay.trace().entries(next);
            next = entries.last().map_or(next, |(number, _)| number + 1);
            whole += entries.len();
            most = most.max(replay.trace().entries(0).len());
            let keep = vec![false; replay.trace().calls().len()];
            replay.forget(&keep);
        }
        assert_eq!(whole as u64, next);
        let tasks = whole / 2;
        assert!(most < whole / 2, "{most} of {whole}");
        assert!(tasks > 1_000, "{tasks}");
    }
}
