//! The reader understands files that were written by hand from `docs/FORMAT.md`.

use ascend_trace_recording::file::{self, FileContents, LostContent, OpenError, Warning};
use ascend_trace_recording::rows::*;
use ascend_trace_testkit::bytes::{Column, TraceBytes};

mod calls;
mod forms;
mod index;
mod tables;

const SESSION: &str = r#"{"tool_version":"1.2.3","command":["./app","-x"],"start_ns":5,"new":[1]}"#;
const TABLES: &str = r#"{
    "functions": [{
        "name": "aclrtMemcpyAsync", "category": "memory", "role": "task", "task": "memcpy",
        "blocks": "sometimes", "ret": "error", "stream": 1, "event": null, "bytes": 0,
        "args": [{"name": "count", "kind": "size", "out": false, "enumeration": ""}],
        "later": {"a": 1}
    }],
    "enumerations": {"aclError": {"507000": "ACL_ERROR_RT_INTERNAL_ERROR", "-1": "X"}}
}"#;

fn numbers(values: &[u64]) -> Column {
    Column::numbers(values)
}

fn read(bytes: Vec<u8>) -> (FileContents, Vec<Warning>) {
    file::read(bytes.as_slice()).unwrap()
}

/// The rows of a file with one table, which must be sound.
#[track_caller]
fn rows(kind: &[u8; 4], count: u32, columns: &[Column]) -> Vec<Row> {
    let file = TraceBytes::with_leading_chunks(SESSION, TABLES).table(kind, count, columns);
    let (contents, warnings) = read(file.into_bytes());
    let unexpected: Vec<_> = warnings
        .iter()
        .filter(|warning| warning.lost != LostContent::End)
        .collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    contents.rows
}

#[test]
fn leading_chunks() {
    let file = TraceBytes::with_leading_chunks(SESSION, TABLES);
    let (contents, warnings) = read(file.into_bytes());
    assert_eq!(contents.session.command, ["./app", "-x"]);
    assert_eq!(contents.session.start_ns, 5);
    assert_eq!(contents.session.host, "");
    let function = &contents.tables.functions[0];
    assert_eq!(
        (function.name.as_str(), function.stream),
        ("aclrtMemcpyAsync", Some(1))
    );
    assert_eq!(contents.tables.enumerations["aclError"][&-1], "X");
    assert_eq!(
        warnings
            .iter()
            .map(|warning| &warning.lost)
            .collect::<Vec<_>>(),
        [&LostContent::End]
    );
}

#[test]
fn entities() {
    let columns = [
        numbers(&[1]),
        numbers(&[4242]),
        numbers(&[4241]),
        Column::signed(&[-9]),
        Column::texts(&["app"]),
        Column::texts(&["7"]),
        Column::texts(&["./app\0-x"]),
        numbers(&[77]),
    ];
    let process = ProcessRow {
        process: 1,
        pid: 4242,
        parent_pid: 4241,
        begin_ns: -9,
        name: "app".into(),
        rank: "7".into(),
        command: "./app\0-x".into(),
        outer_pid: 77,
    };
    assert_eq!(rows(b"PROC", 1, &columns), [Row::Process(process)]);

    let columns = [
        numbers(&[3, 4]),
        numbers(&[1, 1]),
        numbers(&[77, 78]),
        Column::texts(&["worker", "é"]),
    ];
    let thread = |thread, tid, name: &str| {
        Row::Thread(ThreadRow {
            thread,
            process: 1,
            tid,
            handle: 0,
            name: name.into(),
        })
    };
    assert_eq!(
        rows(b"THRD", 2, &columns),
        [thread(3, 77, "worker"), thread(4, 78, "é")]
    );

    let columns = [
        numbers(&[1]),
        numbers(&[2]),
        numbers(&[3]),
        numbers(&[u64::MAX]),
        numbers(&[1]),
    ];
    let context = ContextRow {
        process: 1,
        serial: 2,
        device: 3,
        handle: u64::MAX,
        is_default: true,
    };
    assert_eq!(rows(b"CTXT", 1, &columns), [Row::Context(context)]);

    let columns = [
        numbers(&[1, 1]),
        numbers(&[5, 6]),
        numbers(&[2, 2]),
        numbers(&[0, 0]),
        numbers(&[0xabcd, 0xabce]),
        Column::optional(&[None, Some(u32::MAX)]),
        numbers(&[3, 3]),
        numbers(&[7, 7]),
        numbers(&[0, 1]),
        numbers(&[0, 3]),
    ];
    let stream = StreamRow {
        process: 1,
        serial: 5,
        context: 2,
        device: 0,
        handle: 0xabcd,
        acl_id: None,
        flags: 3,
        priority: 7,
        is_default: false,
        manner: 0,
    };
    let second = StreamRow {
        serial: 6,
        handle: 0xabce,
        acl_id: Some(-1),
        is_default: true,
        manner: 3,
        ..stream.clone()
    };
    assert_eq!(
        rows(b"STRM", 2, &columns),
        [Row::Stream(stream), Row::Stream(second)]
    );

    let columns = [
        numbers(&[1]),
        numbers(&[9]),
        numbers(&[2]),
        numbers(&[0xee]),
        numbers(&[14]),
        numbers(&[2]),
    ];
    let event = EventRow {
        process: 1,
        serial: 9,
        context: 2,
        handle: 0xee,
        flags: 14,
        creation: 2,
    };
    assert_eq!(rows(b"EVNT", 1, &columns), [Row::Event(event)]);
}

#[test]
fn device_times() {
    let columns = [
        numbers(&[1, 1, 2]),
        numbers(&[3, 3, 259]),        // 3 and 259 share a slot
        Column::signed(&[5, 1, 0]),   // sequence: 5, 6, 6
        numbers(&[1, 8 << 1, 1]),     // timed, lost, timed
        Column::signed(&[9000, 100]), // begin: 9000, 9150
        Column::signed(&[50, 25]),    // end: 9050, 9175
        Column::signed(&[500, 20]),   // seen: 500, 520
        numbers(&[2, 0]),             // arming: 64, not known
        numbers(&[3, 0]),             // submitting: 96, not known
        numbers(&[700, 0]),           // the event took
        numbers(&[40, 0]),            // and may have taken more or less
        numbers(&[0, 12]),            // the third row is of a run of twelve tasks
    ];
    let first = TaskTimeRow {
        process: 1,
        stream: 3,
        sequence: 5,
        untimed: 0,
        begin_device_ns: 9000,
        end_device_ns: 9050,
        seen_ns: 500,
        arming_ns: 64,
        submitting_ns: 96,
        record_ns: 700,
        record_open_ns: 40,
        run_tasks: 0,
    };
    let second = TaskTimeRow {
        sequence: 6,
        untimed: 8,
        begin_device_ns: 0,
        end_device_ns: 0,
        seen_ns: 0,
        arming_ns: 0,
        submitting_ns: 0,
        record_ns: 0,
        record_open_ns: 0,
        run_tasks: 0,
        ..first
    };
    let third = TaskTimeRow {
        process: 2,
        stream: 259,
        sequence: 6,
        begin_device_ns: 9150,
        end_device_ns: 9175,
        seen_ns: 520,
        arming_ns: 0,
        submitting_ns: 0,
        record_ns: 0,
        record_open_ns: 0,
        run_tasks: 12,
        ..first
    };
    let expected = [first, second, third].map(Row::TaskTime);
    assert_eq!(rows(b"TIME", 3, &columns), expected);

    let columns = [
        numbers(&[1, 1]),
        numbers(&[0, 0]),
        Column::signed(&[100, 1000]),  // before: 100, 1100
        Column::signed(&[8, 6]),       // after: 108, 1106
        Column::signed(&[70_000, -1]), // device: 70100, 71099
        numbers(&[0, 1]),
    ];
    let anchor = |before_ns, after_ns, device_ns, source| {
        Row::Anchor(AnchorRow {
            process: 1,
            device: 0,
            before_ns,
            after_ns,
            device_ns,
            source,
        })
    };
    let expected = [anchor(100, 108, 70_100, 0), anchor(1100, 1106, 71_099, 1)];
    assert_eq!(rows(b"ANCH", 2, &columns), expected);
}

#[test]
fn losses_counters_and_the_end() {
    let columns = [
        Column::optional(&[None, Some(0)]),
        numbers(&[10, 1]),
        numbers(&[2, 0]),
        numbers(&[1, 0]),
    ];
    let loss = |thread, calls, others, times| {
        Row::Loss(LossRow {
            thread,
            calls,
            others,
            times,
        })
    };
    assert_eq!(
        rows(b"LOSS", 2, &columns),
        [loss(None, 10, 2, 1), loss(Some(0), 1, 0, 0)]
    );

    let counter = CounterRow {
        process: 1,
        what: 2,
        value: 99,
    };
    let columns = [numbers(&[1]), numbers(&[2]), numbers(&[99])];
    assert_eq!(rows(b"CNTR", 1, &columns), [Row::Counter(counter)]);

    let cost = CostRow {
        thread: 3,
        at_ns: 77,
        calls: 9,
        recording_ns: 300,
        tasks: 4,
        events: 8,
        timing_ns: 1600,
        reading_ns: 20,
    };
    let columns = [
        numbers(&[3]),
        Column::signed(&[77]),
        numbers(&[9]),
        numbers(&[300]),
        numbers(&[4]),
        numbers(&[8]),
        numbers(&[1600]),
        numbers(&[20]),
    ];
    assert_eq!(rows(b"COST", 1, &columns), [Row::Cost(cost)]);

    let other = OtherThreadRow {
        process: 1,
        pid: 40,
        tid: 44,
        name: "loader".to_owned(),
        first_ns: 1_000,
        at_ns: 1_900,
        cpu_ns: 700,
        runs: 12,
    };
    let columns = [
        numbers(&[1]),
        numbers(&[40]),
        numbers(&[44]),
        Column::texts(&["loader"]),
        Column::signed(&[1_000]),
        Column::signed(&[900]),
        numbers(&[700]),
        numbers(&[12]),
    ];
    assert_eq!(rows(b"OTHR", 1, &columns), [Row::OtherThread(other)]);

    let end = EndRow {
        end_ns: 123,
        exit_status: -2,
        reason: String::new(),
    };
    let columns = [Column::signed(&[123]), Column::signed(&[-2])];
    assert_eq!(rows(b"END ", 1, &columns), [Row::End(end.clone())]);
    let columns = [
        Column::signed(&[123]),
        Column::signed(&[-2]),
        Column::texts(&["stopped"]),
    ];
    let reason = "stopped".to_owned();
    assert_eq!(
        rows(b"END ", 1, &columns),
        [Row::End(EndRow { reason, ..end })]
    );
}

#[test]
fn unknown_chunks_and_columns_are_skipped_in_silence() {
    let end = [
        Column::signed(&[1]),
        Column::signed(&[0]),
        Column::texts(&[""]),
        Column::texts(&["of a newer version"]),
    ];
    let file = TraceBytes::with_leading_chunks(SESSION, TABLES)
        .chunk(b"NEWS", b"from the future")
        .table(b"END ", 1, &end);
    let (contents, warnings) = read(file.into_bytes());
    assert_eq!(contents.rows.len(), 1);
    assert_eq!(warnings, []);
}

#[test]
fn files_that_are_no_trace_are_refused_in_clear_words() {
    let refused = |bytes: &[u8]| file::read(bytes).unwrap_err();
    assert!(matches!(refused(b""), OpenError::Empty));
    assert!(matches!(refused(b"ASCTR"), OpenError::Short(5)));
    assert!(matches!(refused(b"\x7fELF\x02\x01"), OpenError::NotATrace));
    assert!(matches!(
        refused(&TraceBytes::new(0).into_bytes()),
        OpenError::NotATrace
    ));
    let newer = refused(&TraceBytes::new(2).into_bytes());
    assert!(matches!(newer, OpenError::TooNew { found: 2, known: 1 }));
    assert!(newer.to_string().contains("version 2"));
}

/// The bytes in the document's example.
fn example() -> Vec<u8> {
    let document = include_str!("../../../../../docs/FORMAT.md");
    let block = document
        .split("```hex\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let bytes = block.lines().flat_map(|line| {
        let digits = line.split("    ").next().unwrap();
        digits
            .split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
    });
    bytes.collect()
}

#[test]
fn the_example_in_the_document_is_the_file_it_describes() {
    let thread = [
        numbers(&[3]),
        numbers(&[1]),
        numbers(&[77]),
        Column::texts(&["worker"]),
    ];
    let by_hand = TraceBytes::with_leading_chunks("{}", "{}").table(b"THRD", 1, &thread);
    assert_eq!(example(), by_hand.into_bytes());
    let (contents, _) = read(example());
    let row = ThreadRow {
        thread: 3,
        process: 1,
        tid: 77,
        handle: 0,
        name: "worker".into(),
    };
    assert_eq!(contents.rows, [Row::Thread(row)]);
}
