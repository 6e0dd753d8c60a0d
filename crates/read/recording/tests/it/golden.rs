//! Every released version's file reads as it was written. The files in `tests/golden` never change: a
//! new version gets a new file, made once by `cargo test -p ascend-trace-recording --test it --
//! --ignored make_the_golden_file`.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use ascend_trace_format::version::FILE_VERSION;
use ascend_trace_recording::Recording;
use ascend_trace_recording::file::{self, Writer};
use ascend_trace_recording::rows::*;
use ascend_trace_testkit::whole::opened;

use crate::round_trip::by_kind;
use crate::windows::chunks;

fn path(version: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/v{version}.atrace"))
}

fn session() -> SessionRow {
    SessionRow {
        tool_version: "0.1.0".to_owned(),
        command: vec!["./app".to_owned(), "--size".to_owned(), "8".to_owned()],
        host: "node7".to_owned(),
        architecture: "aarch64".to_owned(),
        timing: "events".to_owned(),
        runtime: "installed".to_owned(),
        start_time: "2026-11-21T04:30:00+00:00".to_owned(),
        start_ns: 1_000_000_000,
        start_realtime_ns: 1_795_235_400_000_000_000,
        start_boottime_ns: 7_000_000_000,
        budget: None,
        queue_depth: None,
        ..SessionRow::default()
    }
}

fn tables() -> TablesRow {
    let arg = |name: &str, kind: &str| ArgRow {
        name: name.to_owned(),
        kind: kind.to_owned(),
        ..ArgRow::default()
    };
    let function = |name: &str, role: &str, task: &str, stream, args| FunctionRow {
        name: name.to_owned(),
        category: "stream".to_owned(),
        role: role.to_owned(),
        task: task.to_owned(),
        blocks: "no".to_owned(),
        ret: "error".to_owned(),
        stream,
        event: None,
        args,
        ..FunctionRow::default()
    };
    let launch = vec![arg("stream", "handle"), arg("name", "string")];
    let codes = [(0, "ACL_SUCCESS"), (107_002, "ACL_ERROR_RT_CONTEXT_NULL")];
    let codes = codes.map(|(code, name)| (code, name.to_owned()));
    TablesRow {
        first: 0,
        functions: vec![
            function("aclrtLaunchKernel", "launch", "kernel", Some(0), launch),
            function(
                "aclrtRecordEvent",
                "record_event",
                "record",
                Some(1),
                vec![],
            ),
            function("aclrtMalloc", "plain", "", None, vec![arg("size", "uint")]),
        ],
        enumerations: [("aclError".to_owned(), codes.into())].into(),
    }
}

/// Two processes, two threads, one row or more of each kind.
fn entities() -> Vec<Row> {
    let process = |process: u32, name: &str, rank: &str| {
        Row::Process(ProcessRow {
            process,
            pid: 4_000 + process,
            parent_pid: 4_000,
            begin_ns: 1_000_000_500,
            name: name.to_owned(),
            rank: rank.to_owned(),
            command: format!("./{name}\0--size\08"),
            outer_pid: 0,
        })
    };
    let thread = |thread, process, tid, name: &str| {
        Row::Thread(ThreadRow {
            thread,
            process,
            tid,
            handle: 0,
            name: name.to_owned(),
        })
    };
    vec![
        process(1, "app", "0"),
        process(2, "工作", ""),
        thread(3, 1, 4_001, "main"),
        thread(4, 2, 4_002, ""),
        Row::Context(ContextRow {
            process: 1,
            serial: 1,
            device: 0,
            handle: 0xffff_8000_1234_5678,
            is_default: true,
        }),
        Row::Stream(StreamRow {
            process: 1,
            serial: 1,
            context: 1,
            device: 0,
            handle: 0xffff_8000_0000_0010,
            acl_id: Some(-3),
            flags: 1,
            priority: 7,
            is_default: false,
            manner: 2,
        }),
        Row::Event(EventRow {
            process: 1,
            serial: 9,
            context: 1,
            handle: u64::MAX,
            flags: 8,
            creation: 2,
        }),
        Row::Anchor(AnchorRow {
            process: 1,
            device: 0,
            before_ns: 1_000_000_900,
            after_ns: 1_000_001_100,
            device_ns: 500_001_000,
            source: 0,
        }),
        Row::Anchor(AnchorRow {
            process: 1,
            device: 0,
            before_ns: 1_000_001_200,
            after_ns: 1_000_001_250,
            device_ns: 500_001_225,
            source: 1,
        }),
    ]
}

fn happenings() -> Vec<Row> {
    let launch = CallRow {
        thread: 3,
        function: 0,
        begin_ns: 1_000_002_000,
        end_ns: 1_000_002_700,
        device: Some(0),
        stream: Some(1),
        context: Some(1),
        task: Some(TaskRow {
            sequence: 1,
            kind: 3,
            untimed: 0,
        }),
        args: vec![0xffff_8000_0000_0010, 0],
        strings: vec![Some("MatMul".into())],
        ..CallRow::default()
    };
    let again = CallRow {
        begin_ns: 1_000_003_000,
        end_ns: 1_000_003_500,
        task: Some(TaskRow {
            sequence: 2,
            kind: 3,
            untimed: 2,
        }),
        ..launch.clone()
    };
    let record = CallRow {
        thread: 3,
        function: 1,
        begin_ns: 1_000_004_000,
        end_ns: 1_000_004_100,
        depth: 1,
        stream: Some(1),
        event: Some((9, 1)),
        task: Some(TaskRow {
            sequence: 3,
            kind: 5,
            untimed: 0,
        }),
        strings: vec![None],
        ..CallRow::default()
    };
    let failed = CallRow {
        thread: 4,
        function: 2,
        begin_ns: 1_000_004_050,
        end_ns: 1_000_004_060,
        ret: 107_002,
        args: vec![u64::MAX],
        ..CallRow::default()
    };
    let time = |sequence, begin: i64| {
        Row::TaskTime(TaskTimeRow {
            process: 1,
            stream: 1,
            sequence,
            untimed: 0,
            begin_device_ns: begin,
            end_device_ns: begin + 1_500,
            seen_ns: 1_000_009_000,
            arming_ns: 64,
            submitting_ns: 320,
            record_ns: 700,
            record_open_ns: 30,
            run_tasks: 0,
        })
    };
    vec![
        Row::Call(launch),
        Row::Call(again),
        Row::Call(record),
        Row::Call(failed),
        time(1, 500_002_800),
        Row::TaskTime(TaskTimeRow {
            process: 1,
            stream: 1,
            sequence: 2,
            untimed: 8,
            begin_device_ns: 0,
            end_device_ns: 0,
            seen_ns: 0,
            arming_ns: 0,
            submitting_ns: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        }),
        time(3, 500_004_400),
        Row::Loss(LossRow {
            thread: Some(4),
            calls: 12,
            others: 3,
            times: 0,
        }),
        Row::Loss(LossRow {
            thread: None,
            calls: 1,
            others: 0,
            times: 0,
        }),
        Row::Counter(CounterRow {
            process: 1,
            what: 1,
            value: 6,
        }),
    ]
}

fn end() -> EndRow {
    EndRow {
        end_ns: 1_000_010_000,
        exit_status: -1,
        ..EndRow::default()
    }
}

/// Graphs, names and ranges.
fn named() -> Vec<Row> {
    let captured = CallRow {
        thread: 3,
        function: 0,
        begin_ns: 1_000_005_000,
        end_ns: 1_000_005_200,
        stream: Some(1),
        task: Some(TaskRow {
            sequence: 4,
            kind: 3,
            untimed: 2,
        }),
        graph: Some(GraphRef {
            serial: 6,
            index: 2,
        }),
        args: vec![0xffff_8000_0000_0010, 0],
        strings: vec![Some("MatMul".into())],
        ..CallRow::default()
    };
    vec![
        Row::Call(captured.clone()),
        Row::Call(CallRow {
            begin_ns: 1_000_006_000,
            end_ns: 1_000_006_100,
            ending: Ending::Left,
            ..captured
        }),
        Row::Loss(LossRow {
            thread: Some(3),
            calls: 0,
            others: 9,
            times: 7,
        }),
        Row::Name(NameRow {
            process: 1,
            since_ns: 1_000_000_700,
            key: 0xffff_8000_0000_0010,
            name: "前向".to_owned(),
        }),
        Row::Range(RangeRow {
            process: 1,
            thread: 3,
            begin_ns: 1_000_001_500,
            end_ns: 1_000_008_000,
            domain: 0,
            name: "step 1".to_owned(),
        }),
        Row::Coverage(CoverageRow {
            library: "/usr/lib/libascendcl.so".to_owned(),
            function: "aclrtMalloc".to_owned(),
            ways: ways::LINKED,
            calls: 1,
            functions: 1,
            refused: "too small to be patched".to_owned(),
        }),
    ]
}

/// Tables of a function at its first call.
fn further_tables() -> TablesRow {
    let code = (100_000, "ACL_ERROR_INVALID_PARAM".to_owned());
    TablesRow {
        first: 3,
        functions: vec![FunctionRow {
            name: "aclrtSetDevice".to_owned(),
            ret: "error".to_owned(),
            ..FunctionRow::default()
        }],
        enumerations: [("aclError".to_owned(), [code].into())].into(),
    }
}

/// A call of that function, and the tool's counters and overhead.
fn appended_rows() -> Vec<Row> {
    vec![
        Row::Call(CallRow {
            thread: 4,
            function: 3,
            begin_ns: 1_000_007_000,
            end_ns: 1_000_007_050,
            ret: 100_000,
            ..CallRow::default()
        }),
        Row::Coverage(CoverageRow {
            library: "/usr/lib/libascendcl.so".to_owned(),
            ways: ways::LINKED,
            functions: 1_124,
            ..CoverageRow::default()
        }),
        Row::Cost(CostRow {
            thread: 3,
            at_ns: 1_000_009_500,
            calls: 6,
            recording_ns: 320,
            tasks: 4,
            events: 7,
            timing_ns: 9_000,
            reading_ns: 1_500,
        }),
    ]
}

fn check(version: u32) {
    let bytes = fs::read(path(version)).unwrap();
    let (contents, warnings) = file::read(bytes.as_slice()).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(contents.session, session());
    let mut known = tables();
    known.extend(further_tables());
    assert_eq!(contents.tables, known);
    let mut expected = entities();
    expected.extend(happenings());
    expected.extend(named());
    expected.extend(appended_rows());
    expected.push(Row::End(end()));
    assert_eq!(by_kind(&contents.rows), by_kind(&expected));

    let (trace, warnings) = opened(path(version)).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(trace.calls().len(), 7);
    assert_eq!(trace.end(), Some((1_000_010_000, -1)));
    let timed = trace.tasks().iter().filter(|task| task.time.is_some());
    assert_eq!(timed.count(), 2);
    assert_eq!(trace.functions()[3].name, "aclrtSetDevice");

    let mut recording = Recording::open(path(version), |_, _| true).unwrap();
    assert_eq!(recording.final_warnings(), []);
    assert_eq!(recording.counts().calls, trace.calls().len() as u64);
    let window = recording.window(recording.span().unwrap(), 100).unwrap();
    assert_eq!(window.calls().len(), trace.calls().len());
    assert_eq!(window.losses(), trace.losses());
}

#[test]
fn a_file_of_version_1_reads_as_written() {
    check(1);
    let bytes = fs::read(path(1)).unwrap();
    let kinds: Vec<_> = chunks(&bytes).into_iter().map(|chunk| chunk.2).collect();
    for kind in [b"SUMM", b"INDX", b"ROOT"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
}

#[test]
#[ignore = "makes a file that must never change; run it once per version"]
fn make_the_golden_file() {
    let writer = Writer::create(Vec::new(), &session(), &tables()).unwrap();
    let mut writer = writer.with_index_every(5);
    // In parts, as a recording is flushed now and then.
    for rows in [entities(), happenings(), named()] {
        rows.iter().for_each(|row| writer.push(row).unwrap());
        writer.flush().unwrap();
    }
    writer.push_tables(further_tables());
    let rows = appended_rows();
    rows.iter().for_each(|row| writer.push(row).unwrap());
    let bytes = writer.finish(end()).unwrap();
    let mut file = File::create_new(path(FILE_VERSION)).unwrap();
    file.write_all(&bytes).unwrap();
}
