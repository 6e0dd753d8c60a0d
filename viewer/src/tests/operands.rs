//! What operators work on, and how copies were made.

use std::collections::BTreeMap;

use ascend_trace_recording::rows::{ArgRow, CallRow, FunctionRow, Row};
use ascend_trace_testkit::Timeline;

use super::harness::{LARGE, Player};

fn arg(name: &str, kind: &str, out: bool) -> ArgRow {
    ArgRow {
        name: name.to_owned(),
        kind: kind.to_owned(),
        out,
        ..ArgRow::default()
    }
}

fn function(name: &str, category: &str, ret: &str, args: Vec<ArgRow>) -> FunctionRow {
    FunctionRow {
        name: name.to_owned(),
        category: category.to_owned(),
        role: "plain".to_owned(),
        task: String::new(),
        blocks: "no".to_owned(),
        ret: ret.to_owned(),
        stream: None,
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

/// `Relu` on a tensor that was made before.
fn player() -> Player {
    let text = "s1: Relu[100us..800us] by t1[50us..51us]";
    let mut timeline = Timeline::of(text);
    let functions = &mut timeline.tables.functions;
    let create = functions.len() as u16;
    let dims = vec![arg("viewDims", "integers", false)];
    functions.push(function(
        "aclCreateTensor",
        "aclnn_framework",
        "pointer",
        dims,
    ));
    let planned = vec![
        arg("self", "handle", false),
        arg("executor", "handle", true),
    ];
    functions.push(function("ReluGetWorkspaceSize", "op", "error", planned));
    let mut thread = 0;
    for row in &mut timeline.rows {
        if let Row::Call(call) = row
            && call.args.len() == 4
        {
            thread = call.thread;
            call.args[2] = 0xe;
        }
    }
    let call = |function, begin_ns, args: &[u64]| CallRow {
        thread,
        function,
        begin_ns,
        end_ns: begin_ns + 1_000,
        args: args.to_vec(),
        ..CallRow::default()
    };
    let made = CallRow {
        ret: 0xa,
        strings: vec![Some("[4, 2]".into())],
        ..call(create, 10_000, &[0])
    };
    let plan = call(create + 1, 20_000, &[0xa, 0xe]);
    timeline.rows.extend([Row::Call(made), Row::Call(plan)]);
    Player::of(timeline.trace(), LARGE)
}

#[test]
fn an_operator_shows_the_dimensions_of_its_tensors() {
    let mut player = player();
    player.play("/ relu enter");
    let picture = player.picture();
    let lines: Vec<_> = picture.lines().map(str::trim).collect();
    assert!(lines.contains(&"self [4, 2]"), "{picture}");
    player.play("/ CreateTensor enter");
    assert!(player.picture().contains("viewDims=[4, 2]"), "{picture}");
}

#[test]
fn a_copy_that_the_host_made_says_so() {
    let text = "s1: memcpy(64)[host-copy] by t1[1us..91us]";
    let mut player = Player::new(text, LARGE);
    player.play("/ memcpy enter");
    let text = player.picture();
    assert!(text.contains("memcpy pageable task 0 of"), "{text}");
}
