use std::collections::BTreeMap;

use ascend_trace_recording::rows::*;
use ascend_trace_recording::{Call, Trace};
use ascend_trace_testkit::whole::from_rows;

const CREATE: u16 = 0;
const DESTROY: u16 = 1;
const PLAN: u16 = 2;
const RUN: u16 = 3;
const OTHER_RUN: u16 = 4;

fn arg(name: &str, kind: &str) -> ArgRow {
    ArgRow {
        name: name.to_owned(),
        kind: kind.to_owned(),
        ..ArgRow::default()
    }
}

fn function(name: &str, category: &str, ret: &str, args: Vec<ArgRow>) -> FunctionRow {
    let stream = args.iter().position(|arg| arg.kind == "stream");
    FunctionRow {
        name: name.to_owned(),
        category: category.to_owned(),
        role: "plain".to_owned(),
        task: String::new(),
        blocks: "no".to_owned(),
        ret: ret.to_owned(),
        stream: stream.map(|at| at as u8),
        event: None,
        bytes: None,
        label: None,
        parts: parts(&args),
        facts: facts(name),
        args,
    }
}

/// What arguments of these names are, as the hook table says.
fn parts(args: &[ArgRow]) -> BTreeMap<String, u8> {
    let known = [
        ("executor", "executor"),
        ("dataType", "data-type"),
        ("size", "size"),
        ("tensor", "operand"),
    ];
    let part = |(at, arg): (u8, &ArgRow)| {
        let (_, part) = known.iter().find(|(name, _)| *name == arg.name)?;
        Some(((*part).to_owned(), at))
    };
    (0..).zip(args).filter_map(part).collect()
}

fn facts(name: &str) -> Vec<String> {
    let known = [
        ("aclCreate", "makes-operand"),
        ("aclDestroy", "ends-operand"),
    ];
    let facts = known.iter().filter(|(begin, _)| name.starts_with(begin));
    facts.map(|(_, fact)| (*fact).to_owned()).collect()
}

fn tables() -> TablesRow {
    let data_type = ArgRow {
        enumeration: "aclDataType".to_owned(),
        ..arg("dataType", "enum")
    };
    let executor = ArgRow {
        out: true,
        ..arg("executor", "handle")
    };
    let submits = || vec![arg("executor", "handle"), arg("stream", "stream")];
    let out = ArgRow {
        is_written: true,
        ..arg("out", "handle")
    };
    let planned = vec![arg("self", "handle"), out, executor];
    let framework = |name, ret, args| function(name, "aclnn_framework", ret, args);
    let operator = |name, args| function(name, "aclnn_operator", "error", args);
    let types = [(0, "ACL_FLOAT"), (1, "ACL_FLOAT16")];
    let types = types.map(|(value, name)| (value, name.to_owned()));
    TablesRow {
        first: 0,
        functions: vec![
            framework(
                "aclCreateTensor",
                "pointer",
                vec![arg("viewDims", "integers"), data_type],
            ),
            framework("aclDestroyTensor", "error", vec![arg("tensor", "handle")]),
            operator("aclnnReluGetWorkspaceSize", planned),
            operator("aclnnRelu", submits()),
            operator("aclnnExp", submits()),
        ],
        enumerations: BTreeMap::from([("aclDataType".to_owned(), types.into())]),
    }
}

fn call(function: u16, at: i64, args: &[u64]) -> CallRow {
    CallRow {
        thread: 1,
        function,
        begin_ns: at,
        end_ns: at + 5,
        args: args.to_vec(),
        ..CallRow::default()
    }
}

fn create(at: i64, handle: i64, data_type: u64, dims: &str) -> CallRow {
    CallRow {
        ret: handle,
        strings: vec![Some(dims.into())],
        ..call(CREATE, at, &[0, data_type])
    }
}

fn load(rows: impl IntoIterator<Item = CallRow>) -> Trace {
    let rows = rows.into_iter().map(Row::Call);
    from_rows(SessionRow::default(), tables(), rows)
}

/// The operands of the call that began at this time.
fn shapes(trace: &Trace, at: i64) -> Option<String> {
    let is_it = |call: &&Call| call.begin == at;
    trace.shapes(trace.calls().iter().find(is_it).unwrap())
}

#[test]
fn a_handle_means_the_tensor_at_the_time_of_planning() {
    let trace = load([
        create(0, 0xa, 0, "[4, 2]"),
        create(10, 0xb, 1, "[8]"),
        call(PLAN, 20, &[0xa, 0xb, 0xe]),
        call(DESTROY, 30, &[0xa]),
        create(40, 0xa, 1, "[]"),
        call(PLAN, 50, &[0xa, 0xb, 0xf]),
        call(RUN, 60, &[0xf, 0]),
        call(RUN, 70, &[0xe, 0]),
    ]);
    let first = "self float32 [4, 2]; out float16 [8]";
    let second = "self float16 []; out float16 [8]";
    assert_eq!(shapes(&trace, 20).as_deref(), Some(first));
    assert_eq!(shapes(&trace, 60).as_deref(), Some(second));
    assert_eq!(shapes(&trace, 70).as_deref(), Some(first));
    assert_eq!(shapes(&trace, 40), None, "no operator");
}

#[test]
fn rows_of_threads_that_come_late_change_nothing() {
    let mut rows = vec![
        create(0, 0xa, 0, "[1]"),
        call(DESTROY, 10, &[0xa]),
        create(20, 0xa, 0, "[2]"),
        call(PLAN, 30, &[0xa, 0xa, 0xe]),
        call(RUN, 40, &[0xe, 0]),
    ];
    rows.reverse();
    let trace = load(rows);
    let expected = "self float32 [2]; out float32 [2]";
    assert_eq!(shapes(&trace, 40).as_deref(), Some(expected));
}

#[test]
fn an_unknown_operand_has_no_name() {
    let trace = load([
        create(0, 0, 0, "[7]"),
        create(10, 0xa, 0, "[1]"),
        call(DESTROY, 20, &[0xa]),
        call(PLAN, 30, &[0xa, 0, 0xe]),
        create(40, 0xb, 5, "[3]"),
        CallRow {
            ret: 161_002,
            ..call(PLAN, 50, &[0xb, 0xb, 0xc])
        },
        call(RUN, 60, &[0xc, 0]),
        call(PLAN, 70, &[0xb, 0xc, 0xd]),
        call(OTHER_RUN, 80, &[0xd, 0]),
        call(RUN, 90, &[0xd, 0]),
    ]);
    assert_eq!(shapes(&trace, 30), None, "destroyed, and NULL");
    assert_eq!(shapes(&trace, 60), None, "the planning failed");
    assert_eq!(shapes(&trace, 80), None, "planned for another operator");
    assert_eq!(shapes(&trace, 90).as_deref(), Some("self [3]"));
}

#[test]
fn operands_that_the_operator_writes_are_known_by_its_arguments() {
    let trace = load([
        create(0, 0xa, 0, "[4, 2]"),
        create(10, 0xb, 1, "[8]"),
        call(PLAN, 20, &[0xa, 0xb, 0xe]),
        call(RUN, 60, &[0xe, 0]),
    ]);
    let run = trace.calls().iter().find(|it| it.begin == 60).unwrap();
    let operands = trace.operands(run);
    let written: Vec<_> = operands
        .iter()
        .map(|it| (&*it.name, it.is_written))
        .collect();
    assert_eq!(written, [("self", false), ("out", true)]);
}
