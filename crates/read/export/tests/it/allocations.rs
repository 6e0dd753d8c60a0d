//! A program that allocates memory in several ways.

use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{
    CallRow, EndRow, FunctionRow, ProcessRow, Row, SessionRow, TablesRow, ThreadRow,
};
use ascend_trace_testkit::whole::from_rows;
use serde_json::json;

fn function(name: &str, pointer: &str, allocates: bool) -> FunctionRow {
    let argument = |name: &str, kind: &str, out: bool| json!({"name": name, "kind": kind, "out": out, "enumeration": ""});
    let mut args = vec![argument(pointer, "pointer", allocates)];
    args.extend(allocates.then(|| argument("size", "size", false)));
    let is_host = pointer == "hostPtr";
    let parts = match (allocates, is_host) {
        (true, false) => json!({"allocated": 0, "size": 1}),
        (true, true) => json!({"host-allocated": 0, "size": 1}),
        (false, false) => json!({"freed": 0}),
        (false, true) => json!({"host-freed": 0}),
    };
    serde_json::from_value(json!({
        "parts": parts, "name": name, "category": "memory", "role": "plain", "task": "", "blocks": "no",
        "ret": "error", "stream": null, "event": null, "bytes": null, "args": args,
    }))
    .expect("a function")
}

pub(crate) fn trace() -> Trace {
    let tables = TablesRow {
        functions: vec![
            function("aclrtMalloc", "devPtr", true),
            function("aclrtFree", "devPtr", false),
            function("aclrtMallocHost", "hostPtr", true),
        ],
        ..TablesRow::default()
    };
    let mut rows = vec![
        Row::Process(ProcessRow {
            process: 0,
            pid: 10,
            parent_pid: 1,
            begin_ns: 0,
            name: "app".to_owned(),
            ..ProcessRow::default()
        }),
        Row::Thread(ThreadRow {
            thread: 0,
            process: 0,
            tid: 10,
            handle: 0,
            name: "main".to_owned(),
        }),
    ];
    let call = |function: u16, (begin_ns, end_ns): (i64, i64), ret: i64, args: &[u64]| {
        Row::Call(CallRow {
            function,
            begin_ns,
            end_ns,
            ret,
            device: Some(0),
            args: args.to_vec(),
            ..CallRow::default()
        })
    };
    rows.extend([
        call(0, (0, 10), 0, &[0x1000, 100]),
        // The runtime allocated it inside the program's call: it counts once.
        call(0, (22, 28), 0, &[0x2000, 250]),
        call(0, (20, 30), 0, &[0x2000, 250]),
        call(0, (31, 32), 207_001, &[0x3000, 1 << 40]),
        call(1, (40, 41), 0, &[0x1000]),
        call(2, (45, 50), 0, &[0x4000, 8]),
        call(1, (60, 61), 0, &[0x2000]),
        call(1, (70, 71), 0, &[0x9999]),
        Row::End(EndRow {
            end_ns: 80,
            exit_status: 0,
            ..EndRow::default()
        }),
    ]);
    from_rows(SessionRow::default(), tables, rows)
}
