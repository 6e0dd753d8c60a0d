//! The databases in the folders of `--format ascend`: the tables that readers query, and their values.

use std::collections::BTreeMap;

use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::Row;
use ascend_trace_sqlite::ASCEND;
use ascend_trace_testkit::Timeline;

use super::database::{Exported, files};

/// Two ranks that make a communicator, compute, reduce, copy and send. A step of the program surrounds it.
const JOB: &str = "
    p1.t1: HcclCommInitRootInfo(2,0,7)[0..10us] aclrtMalloc(4096,1000)[11us..12us]
    p1.s1@0: HcclAllGather(7,1000000,4)[20us..250us] by t1[15us..16us] HcclSend(7,1000000,4,1)[300us..410us] by t1[280us..281us]
    p1.s2@0: MatMul[30us..60us] by t1[17us..18us] memcpy(64)[70us..80us] by t1[19us..20us]
    p2.t1: HcclCommInitRootInfo(2,1,7)[0..10us]
    p2.s1@1: HcclAllGather(7,1000000,4)[50us..250us] by t1[45us..46us] HcclRecv(7,1000000,4,0)[310us..410us] by t1[280us..281us]";

/// The time of day at the begin of the recording.
const REALTIME_NS: i64 = 1_795_985_558_000_000_123;

fn job() -> Trace {
    let mut timeline = Timeline::of(JOB);
    timeline.session.start_realtime_ns = REALTIME_NS;
    timeline.session.host = "node".to_owned();
    let mut ranks = ["0", "1"].into_iter();
    for row in &mut timeline.rows {
        if let Row::Process(process) = row {
            process.rank = ranks.next().expect("a rank").to_owned();
        }
    }
    timeline.with_ranges(&[(0, 5, 500, "step 4")]).trace()
}

/// The databases of the ranks, by the ends of their paths.
fn databases(trace: &Trace) -> BTreeMap<String, Exported> {
    let files = files(&ASCEND, trace).into_iter();
    let databases = files.filter(|(name, _)| name.ends_with(".db"));
    let named = databases.map(|(name, bytes)| {
        let (folder, file) = name.split_once("_ascend_pt/").expect("a folder");
        let rank = folder.chars().last().expect("a rank");
        let file = file.trim_start_matches("ASCEND_PROFILER_OUTPUT/");
        (format!("{rank} {file}"), Exported::in_bytes(&bytes))
    });
    named.collect()
}

fn profiler(trace: &Trace, rank: u64) -> Exported {
    let mut all = databases(trace);
    let name = format!("{rank} ascend_pytorch_profiler_{rank}.db");
    all.remove(&name).expect("a database of the rank")
}

/// A join of texts.
const NAMED: &str = "JOIN STRING_IDS AS s ON s.id =";

#[test]
fn each_rank_has_both_databases() {
    let names: Vec<String> = databases(&job()).into_keys().collect();
    assert_eq!(
        names,
        [
            "0 analysis.db",
            "0 ascend_pytorch_profiler_0.db",
            "1 analysis.db",
            "1 ascend_pytorch_profiler_1.db"
        ]
    );
}

#[test]
fn tables_have_the_columns_that_queries_name() {
    let database = profiler(&job(), 0);
    let expected = [
        ("STRING_IDS", "id, value"),
        (
            "TASK",
            "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId, modelId",
        ),
        (
            "COMPUTE_TASK_INFO",
            "name, globalTaskId, blockDim, mixBlockDim, taskType, opType, inputFormats, inputDataTypes, inputShapes, outputFormats, outputDataTypes, outputShapes",
        ),
        (
            "COMMUNICATION_OP",
            "opName, startNs, endNs, connectionId, groupName, opId, relay, retry, dataType, algType, count, opType, deviceId",
        ),
        (
            "COMMUNICATION_TASK_INFO",
            "name, globalTaskId, taskType, planeId, groupName, srcRank, dstRank, transportType, size, dataType, linkType, opId",
        ),
        (
            "CANN_API",
            "startNs, endNs, type, globalTid, connectionId, name",
        ),
        (
            "PYTORCH_API",
            "startNs, endNs, globalTid, connectionId, name, inputShapes, callchainId, type",
        ),
        ("CONNECTION_IDS", "id, connectionId"),
        (
            "MSTX_EVENTS",
            "startNs, endNs, eventType, message, globalTid, domainId, connectionId",
        ),
        (
            "OP_MEMORY",
            "name, size, allocationTime, releaseTime, duration",
        ),
        ("MEMORY_RECORD", "component, timestamp, totalReserved"),
        ("STEP_TIME", "id, startNs, endNs"),
        ("RANK_DEVICE_MAP", "rankId, deviceId"),
        ("HOST_INFO", "hostUid, hostName"),
        ("META_DATA", "name, value"),
        ("ENUM_API_TYPE", "id, name"),
        ("ENUM_HCCL_DATA_TYPE", "id, name"),
        ("ENUM_HCCL_LINK_TYPE", "id, name"),
        ("ENUM_HCCL_TRANSPORT_TYPE", "id, name"),
        ("SESSION_TIME_INFO", "startTimeNs, endTimeNs"),
        ("NPU_INFO", "id, name"),
    ];
    for (table, columns) in expected {
        let found = database.columns(&format!("SELECT {columns} FROM {table}"));
        assert_eq!(found.join(", "), columns, "{table}");
    }
    // Readers would take a state that is not known for a dynamic shape.
    let all = database.columns("SELECT * FROM COMPUTE_TASK_INFO");
    assert!(!all.contains(&"opState".to_owned()));
}

#[test]
fn kernels_and_copies_have_times_calls_and_names() {
    let database = profiler(&job(), 0);
    let kernels = database.rows(&format!(
        "SELECT s.value, o.value, t.endNs - t.startNs, t.startNs - (SELECT startTimeNs FROM SESSION_TIME_INFO),
                t.deviceId, t.streamId, c.startNs < t.startNs, n.value, a.name
         FROM COMPUTE_TASK_INFO AS i {NAMED} i.name JOIN STRING_IDS AS o ON o.id = i.opType
         JOIN TASK AS t ON t.globalTaskId = i.globalTaskId JOIN CANN_API AS c ON c.connectionId = t.connectionId
         JOIN STRING_IDS AS n ON n.id = c.name JOIN ENUM_API_TYPE AS a ON a.id = c.type"
    ));
    assert_eq!(kernels.len(), 1);
    let row: Vec<&str> = kernels[0].iter().map(String::as_str).collect();
    assert_eq!(row[..2], ["MatMul", "MatMul"]);
    let length: i64 = row[2].parse().unwrap();
    // The clocks of timelines run a little fast.
    assert!((length - 30_000).abs() < 100, "{length}");
    assert_eq!((row[4], row[6], row[8]), ("0", "1", "acl"));
    let copies = database.rows(&format!(
        "SELECT s.value, m.size FROM TASK AS t {NAMED} t.taskType JOIN MEMCPY_INFO AS m ON m.globalTaskId = t.globalTaskId"
    ));
    assert_eq!(copies, [["MEMCPY_ASYNC", "64"]]);
}

#[test]
fn times_are_those_of_the_wall_clock() {
    let trace = job();
    let database = profiler(&trace, 0);
    let begin = database.rows("SELECT startTimeNs FROM SESSION_TIME_INFO");
    let start = trace.session().start_ns;
    let first = trace.span().expect("a span").begin.min(start);
    let expected = (REALTIME_NS + first - start).to_string();
    assert_eq!(begin, [[expected]]);
}

#[test]
fn collectives_have_one_name_at_all_ranks_and_the_wait_for_the_last() {
    let trace = job();
    let query = format!(
        "SELECT s.value, o.value, g.value, c.count, e.name FROM COMMUNICATION_OP AS c {NAMED} c.opName
         JOIN STRING_IDS AS o ON o.id = c.opType JOIN STRING_IDS AS g ON g.id = c.groupName
         JOIN ENUM_HCCL_DATA_TYPE AS e ON e.id = c.dataType WHERE o.value = 'hcom_allGather_'"
    );
    let [first, second] = [0, 1].map(|rank| profiler(&trace, rank).rows(&query));
    assert_eq!(first, second);
    assert_eq!(
        (first.len(), &first[0][3], &first[0][4]),
        (1, &"1000000".to_owned(), &"FP32".to_owned())
    );
    let waits = "SELECT t.endNs - t.startNs FROM COMMUNICATION_TASK_INFO AS c JOIN TASK AS t USING (globalTaskId)
         JOIN STRING_IDS AS s ON s.id = c.taskType WHERE s.value = 'Notify_Wait' ORDER BY c.opId";
    let wait = |rank| -> i64 { profiler(&trace, rank).rows(waits)[0][0].parse().unwrap() };
    assert!((wait(0) - 30_000).abs() < 100, "{}", wait(0));
    assert_eq!(wait(1), 0);
    let messages = format!(
        "SELECT o.value, c.srcRank, c.dstRank FROM COMMUNICATION_TASK_INFO AS c JOIN COMMUNICATION_OP AS p USING (opId)
         JOIN STRING_IDS AS o ON o.id = p.opType {NAMED} c.name WHERE s.value LIKE 'hcom_%e%__%' AND o.value <> 'hcom_allGather_'"
    );
    assert_eq!(
        profiler(&trace, 0).rows(&messages),
        [["hcom_send_", "0", "1"]]
    );
    assert_eq!(
        profiler(&trace, 1).rows(&messages),
        [["hcom_receive_", "1", "0"]]
    );
}

#[test]
fn the_analysis_has_waits_bandwidth_and_links() {
    let databases = databases(&job());
    let analysis = &databases["0 analysis.db"];
    let times = analysis.rows(
        "SELECT type, step, CAST(round(elapse_time * 1000) AS INTEGER), CAST(round(wait_time * 1000) AS INTEGER),
                CAST(round(transit_time * 1000) AS INTEGER), CAST(idle_time AS INTEGER)
         FROM CommAnalyzerTime ORDER BY start_timestamp",
    );
    assert_eq!(
        times,
        [
            ["collective", "step", "230", "30", "200", "0"],
            ["p2p", "step", "110", "10", "100", "0"]
        ]
    );
    let links = analysis.rows(
        "SELECT transport_type, CAST(transit_size * 1000 AS INTEGER), CAST(round(bandwidth) AS INTEGER)
         FROM CommAnalyzerBandwidth ORDER BY bandwidth",
    );
    assert_eq!(links, [["SDMA", "4000", "20"], ["SDMA", "4000", "40"]]);
    let matrix = analysis.rows("SELECT hccl_op_name, src_rank, dst_rank FROM CommAnalyzerMatrix");
    assert_eq!(matrix, [["hcom_send-total", "0", "1"]]);
    let groups = analysis.rows("SELECT count(DISTINCT group_name) FROM CommAnalyzerTime");
    assert_eq!(groups, [["1"]]);
}

#[test]
fn ranges_and_memory_are_rows() {
    let database = profiler(&job(), 0);
    let ranges = database.rows(&format!(
        "SELECT s.value, eventType, endNs - startNs FROM MSTX_EVENTS {NAMED} message"
    ));
    assert_eq!(ranges, [["step 4", "2", "495000"]]);
    let memory = database.rows(&format!(
        "SELECT s.value, size, releaseTime, allocationTotalReserved, deviceId FROM OP_MEMORY {NAMED} name"
    ));
    assert_eq!(memory, [["aclrtMalloc", "4096", "", "4096", "0"]]);
    let devices = database.rows("SELECT rankId, deviceId FROM RANK_DEVICE_MAP");
    assert_eq!(devices, [["0", "0"]]);
    let host = database.rows("SELECT hostName FROM HOST_INFO");
    assert_eq!(host, [["node"]]);
}

#[test]
fn an_empty_recording_has_both_databases() {
    let databases = databases(&Trace::default());
    assert_eq!(databases.len(), 2);
    let profiler = &databases["0 ascend_pytorch_profiler_0.db"];
    assert_eq!(profiler.rows("SELECT count(*) FROM TASK"), [["0"]]);
    assert!(!profiler.rows("SELECT name FROM ENUM_API_TYPE").is_empty());
}
