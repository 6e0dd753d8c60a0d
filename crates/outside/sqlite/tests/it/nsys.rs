use ascend_trace_recording::Trace;
use ascend_trace_sqlite::{NSYS, SQLITE};
use ascend_trace_testkit::timeline;

use super::database::{Exported, by_python, example};

/// Rows of a query of the tables of Nsight Systems, and of one of the tables of the trace.
#[track_caller]
fn agree(trace: &Trace, theirs: &str, ours: &str) -> usize {
    let (nsys, own) = (Exported::of(&NSYS, trace), Exported::of(&SQLITE, trace));
    let (found, expected) = (nsys.rows(theirs), own.rows(ours));
    assert_eq!(found, expected, "{theirs}");
    found.len()
}

const PROCESS: &str = "globalPid >> 48, globalPid / 0x1000000 % 0x1000000";

#[test]
fn kernels_have_the_times_names_and_places_of_tasks() {
    let theirs = format!(
        "SELECT k.start, k.end, k.deviceId, k.streamId, k.correlationId, s.value, d.value, {PROCESS}
         FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS s ON s.id = k.shortName
         JOIN StringIds AS d ON d.id = k.demangledName ORDER BY 1, 4, 5, 8"
    );
    let ours = "SELECT begin_ns, end_ns, device, stream_id, call, name, coalesce(whole_name, name), process, pid
         FROM tasks WHERE kind IN ('kernel', 'graph') AND begin_ns IS NOT NULL ORDER BY 1, 4, 5, 8";
    assert_eq!(agree(&example(), &theirs, ours), 6);
}

#[test]
fn copies_have_sizes_and_calls_have_results() {
    let trace = example();
    let theirs = "SELECT start, end, deviceId, streamId, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY";
    let ours = "SELECT begin_ns, end_ns, device, stream_id, bytes FROM tasks
         WHERE kind = 'memcpy' AND begin_ns IS NOT NULL";
    assert_eq!(agree(&trace, theirs, ours), 1);
    let theirs = "SELECT start, end, correlationId, value, returnValue, globalTid >> 48,
         globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000
         FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId ORDER BY correlationId";
    let ours =
        "SELECT begin_ns, end_ns, call, name, ret, process, pid, tid FROM calls ORDER BY call";
    assert!(agree(&trace, theirs, ours) > 10);
}

#[test]
fn waits_of_the_host_and_of_streams_are_synchronisations() {
    let trace = example();
    let theirs =
        "SELECT syncType, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
         GROUP BY syncType";
    let ours = "SELECT 1, count(*), sum(end_ns - begin_ns) FROM calls WHERE name = 'aclrtSynchronizeEvent'
         UNION ALL SELECT 2, count(*), sum(end_ns - begin_ns) FROM tasks WHERE kind = 'wait' AND begin_ns IS NOT NULL
         UNION ALL SELECT 3, count(*), sum(end_ns - begin_ns) FROM calls WHERE name = 'aclrtSynchronizeStream'
         UNION ALL SELECT 4, count(*), sum(end_ns - begin_ns) FROM calls WHERE name = 'aclrtSynchronizeDevice'";
    assert_eq!(agree(&trace, theirs, ours), 4);
}

#[test]
fn devices_are_listed_once() {
    let nsys = Exported::of(&NSYS, &example());
    let devices = "SELECT g.id, c.cudaId, count(*) FROM TARGET_INFO_GPU AS g
         JOIN TARGET_INFO_CUDA_DEVICE AS c ON c.gpuId = g.id GROUP BY 1, 2";
    assert_eq!(nsys.rows(devices), [["0", "0", "2"], ["1", "1", "1"]]);
    let tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('tasks', 'calls')";
    assert_eq!(
        nsys.rows(tables),
        [["0"]],
        "the tables of the trace are not in the file"
    );
}

#[test]
fn an_empty_recording_has_all_tables() {
    let nsys = Exported::of(&NSYS, &Trace::default());
    for table in [
        "StringIds",
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "NVTX_EVENTS",
        "TARGET_INFO_GPU",
    ] {
        assert!(
            nsys.rows(&format!("SELECT * FROM {table}")).is_empty(),
            "{table}"
        );
    }
}

/// Python's reader finds the same kernels.
#[test]
fn python_reads_the_kernels() {
    let trace = timeline("s1: A[1us..10us] B[10us..30us]");
    let exported = Exported::of(&NSYS, &trace);
    let script = "
import json, sys
try:
    import sqlite3
except ImportError:
    sys.exit(77)
database = sqlite3.connect(sys.argv[1])
kernels = '''SELECT value, [end] - start FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName
ORDER BY start'''
print(json.dumps(database.execute(kernels).fetchall()))";
    let Some(found) = by_python(script, &exported.path()) else {
        return;
    };
    assert_eq!(found, serde_json::json!([["A", 9000], ["B", 20000]]));
}
