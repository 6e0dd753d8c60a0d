//! The tables of a recording that is read part by part are those of the whole trace.

#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers may panic like the test"
)]

use ascend_trace_analysis::stats::{Durations, Spent};
use ascend_trace_analysis::{Dependencies, Stalls, Stats};
use ascend_trace_model::file::Writer;
use ascend_trace_model::rows::Row;
use ascend_trace_model::{Archive, Trace};
use ascend_trace_testkit::workload::{self, Workload};

/// Enough for several parts.
const STEPS: u32 = 6_000;

/// A recording with waits, syncs that block, gaps, and its bytes.
pub(super) fn recording() -> (Vec<u8>, Trace) {
    let (session, tables) = workload::leading();
    let tables = with_roles(tables);
    let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
    let workload = Workload {
        steps: STEPS,
        rest_ns: 30_000,
        ..Workload::default()
    };
    let mut rows = 0;
    let mut end = None;
    let mut all = Vec::new();
    workload::run(workload, |row| {
        rows += 1;
        if rows % 3_000 == 0 {
            writer.flush().unwrap();
        }
        all.push(row.clone());
        match row {
            Row::End(row) => end = Some(row),
            row => writer.push(row).unwrap(),
        }
    });
    let bytes = writer.finish(end.unwrap()).unwrap();
    let whole = Trace::from_rows(session, tables, all);
    (bytes, whole)
}

/// The workload's functions as the tables of a recording describe them.
fn with_roles(
    mut tables: ascend_trace_model::rows::TablesRow,
) -> ascend_trace_model::rows::TablesRow {
    for function in &mut tables.functions {
        let (role, blocks) = match function.name.as_str() {
            "aclrtRecordEvent" => ("record-event", "no"),
            "aclrtStreamWaitEvent" => ("wait-event", "no"),
            "aclrtSynchronizeStream" => ("sync-stream", "stream"),
            _ => continue,
        };
        function.role = role.to_owned();
        function.blocks = blocks.to_owned();
    }
    tables
}

fn whole_stats(trace: &Trace, range: Option<(i64, i64)>) -> Stats {
    let dependencies = Dependencies::of(trace);
    let stalls = Stalls::with(trace, &dependencies);
    Stats::within(trace, &dependencies, &stalls, range)
}

/// Times come from clocks that were fitted to fewer bounds, and percentiles from steps.
#[track_caller]
fn near(one: i64, other: i64, slack: i64) {
    let most = slack.max(other.abs() / 60);
    assert!((one - other).abs() <= most, "{one} is not near {other}");
}

#[track_caller]
fn same_durations(one: &Durations, other: &Durations) {
    assert_eq!(one.count, other.count);
    near(one.total_ns, other.total_ns, 1_000);
    near(one.mean_ns, other.mean_ns, 30);
    near(one.p50_ns, other.p50_ns, 100);
    near(one.p90_ns, other.p90_ns, 100);
    near(one.p99_ns, other.p99_ns, 300);
    near(one.max_ns, other.max_ns, 2_000);
}

/// What the same cause took.
#[track_caller]
fn same_causes(one: &[Spent], other: &[Spent]) {
    for expected in other.iter().filter(|it| it.total_ns > 100_000) {
        let found = one.iter().find(|it| it.cause == expected.cause);
        let found = found.unwrap_or_else(|| panic!("no {}", expected.cause));
        near(found.total_ns, expected.total_ns, 100_000);
        near(found.count as i64, expected.count as i64, 20);
    }
}

#[track_caller]
fn same(one: &Stats, other: &Stats) {
    assert_eq!(one.operations.len(), other.operations.len());
    for expected in &other.operations {
        let mut rows = one.operations.iter();
        let found = rows
            .find(|it| (&it.name, it.kind) == (&expected.name, expected.kind))
            .unwrap();
        assert_eq!(found.count, expected.count, "{}", found.name);
        same_durations(&found.time, &expected.time);
    }
    assert_eq!(one.apis.len(), other.apis.len());
    for (found, expected) in one.apis.iter().zip(&other.apis) {
        assert_eq!(
            (&found.name, found.errors, found.nested),
            (&expected.name, expected.errors, expected.nested)
        );
        let (found, expected) = (&found.time, &expected.time);
        assert_eq!(
            (found.count, found.total_ns, found.mean_ns, found.max_ns),
            (
                expected.count,
                expected.total_ns,
                expected.mean_ns,
                expected.max_ns
            )
        );
        same_durations(found, expected);
    }
    assert_eq!(one.streams.len(), other.streams.len());
    for (found, expected) in one.streams.iter().zip(&other.streams) {
        assert_eq!(
            (
                found.stream_id,
                found.tasks,
                found.untimed,
                found.is_default
            ),
            (
                expected.stream_id,
                expected.tasks,
                expected.untimed,
                expected.is_default
            )
        );
        near(found.begin_ns.unwrap(), expected.begin_ns.unwrap(), 2_000);
        near(found.end_ns.unwrap(), expected.end_ns.unwrap(), 2_000);
        near(found.busy_ns, expected.busy_ns, 2_000);
        near(found.waiting_ns, expected.waiting_ns, 100_000);
        near(found.idle_ns, expected.idle_ns, 100_000);
        same_causes(&found.causes, &expected.causes);
        // Work and stalls still make up the stream's life.
        let stalled: i64 = found.causes.iter().map(|it| it.total_ns).sum();
        let life = found.end_ns.unwrap() - found.begin_ns.unwrap();
        near(found.busy_ns + stalled, life, 0);
    }
    assert_eq!(one.devices.len(), other.devices.len());
    for (found, expected) in one.devices.iter().zip(&other.devices) {
        assert_eq!(
            (found.device, found.streams),
            (expected.device, expected.streams)
        );
        near(found.busy_ns, expected.busy_ns, 2_000);
        near(found.idle_ns, expected.idle_ns, 10_000);
        near(found.copy_ns, expected.copy_ns, 2_000);
        near(found.compute_ns, expected.compute_ns, 2_000);
        near(found.copy_compute_ns, expected.copy_compute_ns, 100_000);
        near(found.shared_ns, expected.shared_ns, 100_000);
        same_causes(&found.causes, &expected.causes);
    }
    assert_eq!(one.threads.len(), other.threads.len());
    for (found, expected) in one.threads.iter().zip(&other.threads) {
        assert_eq!(
            (
                found.tid,
                found.calls,
                found.begin_ns,
                found.end_ns,
                found.in_calls_ns
            ),
            (
                expected.tid,
                expected.calls,
                expected.begin_ns,
                expected.end_ns,
                expected.in_calls_ns
            )
        );
        assert_eq!(found.blocked_ns, expected.blocked_ns);
        same_causes(&found.causes, &expected.causes);
        same_causes(&found.streams_late, &expected.streams_late);
    }
    near(one.overlap.busy_ns, other.overlap.busy_ns, 2_000);
    near(one.overlap.shared_ns, other.overlap.shared_ns, 10_000);
    for expected in &other.stall_causes {
        let mut rows = one.stall_causes.iter();
        let found = rows.find(|it| (it.cause, it.lane) == (expected.cause, expected.lane));
        if expected.count > 100 {
            let found = found.unwrap_or_else(|| panic!("no {}", expected.cause));
            near(found.count as i64, expected.count as i64, 20);
            near(found.total_ns, expected.total_ns, 100_000);
        }
    }
    assert_eq!(one.worst_stalls.len(), other.worst_stalls.len());
    for (found, expected) in one.worst_stalls.iter().zip(&other.worst_stalls) {
        near(found.length_ns, expected.length_ns, 2_000);
    }
    // The call of a stall has its number in the whole recording.
    let begins = |stats: &Stats| {
        let all = stats.worst_stalls.iter();
        let mut sites: Vec<_> = all
            .map(|it| (it.site.call, it.site.begin_ns, it.site.name.clone()))
            .collect();
        sites.sort();
        sites
    };
    let expected = begins(other);
    let known = begins(one);
    let both = known.iter().filter(|it| expected.contains(it)).count();
    assert!(both * 10 >= known.len() * 9, "{known:?} {expected:?}");
}

#[test]
fn a_recording_read_part_by_part_has_the_tables_of_the_whole() {
    let (bytes, whole) = recording();
    assert!(whole.calls().len() > 200_000);
    let mut archive = Archive::from_bytes(bytes).unwrap();
    let mut moments = Vec::new();
    let streamed = Stats::of_archive(&mut archive, whole.span(), |moment| {
        moments.push(moment);
        true
    });
    let streamed = streamed.unwrap().unwrap();
    assert!(moments.len() > 3, "{moments:?}");
    let expected = whole_stats(&whole, whole.span());
    assert!(
        expected.stall_causes.len() > 3,
        "{:?}",
        expected.stall_causes
    );
    same(&streamed, &expected);
}

#[test]
fn a_part_of_a_recording_has_its_own_tables() {
    let (bytes, whole) = recording();
    let mut archive = Archive::from_bytes(bytes).unwrap();
    let (begin, end) = whole.span().unwrap();
    let length = end - begin;
    let range = Some((begin + length / 3, begin + length / 2));
    let streamed = Stats::of_archive(&mut archive, range, |_| true);
    let streamed = streamed.unwrap().unwrap();
    let expected = whole_stats(&whole, range);
    assert_eq!(
        (streamed.begin_ns, streamed.end_ns),
        (expected.begin_ns, expected.end_ns)
    );
    for (found, expected) in streamed.apis.iter().zip(&expected.apis) {
        assert_eq!(
            (&found.name, found.time.count),
            (&expected.name, expected.time.count)
        );
    }
    for (found, expected) in streamed.streams.iter().zip(&expected.streams) {
        near(found.tasks as i64, expected.tasks as i64, 3);
        near(found.busy_ns, expected.busy_ns, 2_000);
        near(found.idle_ns, expected.idle_ns, 100_000);
    }
}

#[test]
fn reading_for_tables_can_be_stopped() {
    let (bytes, whole) = recording();
    let mut archive = Archive::from_bytes(bytes).unwrap();
    let mut parts = 0;
    let stopped = Stats::of_archive(&mut archive, whole.span(), |_| {
        parts += 1;
        parts < 3
    });
    assert_eq!(stopped.unwrap(), None);
    assert_eq!(parts, 3);
}
