//! Streams, kernels, ranks and cards have the same identity in every format.

use std::collections::BTreeSet;

use ascend_trace_recording::units::duration;
use serde_json::Value;

use crate::support::compile::built;
use crate::support::{CsvRow, Recording, Run, Tables, program, run, tool};

fn json(recording: &Recording, words: &[&str]) -> Value {
    let mut command = tool();
    command.arg(words[0]).arg(recording.trace());
    command.args(&words[1..]);
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

/// The events of a trace in Chrome's format.
fn chrome(recording: &Recording) -> Vec<Value> {
    let file = recording.beside("t.json");
    let mut export = tool();
    export.arg("export").arg(recording.trace());
    export
        .args(["--format", "chrome", "--force", "-o"])
        .arg(&file);
    run(&mut export).expect(0);
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    document["traceEvents"].as_array().unwrap().clone()
}

/// The names of tracks that begin so.
fn tracks(recording: &Recording, begin: &str) -> Vec<String> {
    let events = chrome(recording).into_iter();
    let names = events.filter(|event| event["name"] == "thread_name");
    let names = names.filter_map(|event| Some(event["args"]["name"].as_str()?.to_owned()));
    names.filter(|name| name.starts_with(begin)).collect()
}

fn numbers(rows: &[CsvRow], column: &str) -> BTreeSet<i64> {
    rows.iter().map(|row| row.number(column)).collect()
}

#[test]
fn streams_that_live_one_after_another_share_a_lane() {
    let recording = Run::new(&program("short_streams")).words(&["40"]).traced();
    let tables = Tables::of(&recording);
    let ids = numbers(&tables.tasks, "stream_id");
    let lives = numbers(&tables.tasks, "life");
    assert_eq!((ids.len(), lives), (1, (1..=40).collect()));
    let name = format!("stream {}", ids.first().unwrap());
    let expected = [name.clone(), format!("{name} idle")];
    assert_eq!(tracks(&recording, &name), expected);
    let stats = json(&recording, &["stats", "--json"]);
    let rows = stats["streams"].as_array().unwrap();
    let used: Vec<_> = rows.iter().filter(|row| row["tasks"] != 0).collect();
    let [row] = &used[..] else {
        panic!("one row for the lane: {used:?}");
    };
    assert_eq!((&row["lives"], &row["tasks"]), (&40.into(), &40.into()));
    let number = |name: &str| row[name].as_i64().unwrap();
    let causes = row["causes"].as_array().unwrap().iter();
    let causes: i64 = causes.map(|it| it["total_ns"].as_i64().unwrap()).sum();
    assert_eq!(number("busy_ns") + causes, number("lived_ns"));
    assert!(number("lived_ns") < number("end_ns") - number("begin_ns"));
}

#[test]
fn streams_that_live_together_have_different_numbers() {
    let joined = program("joined_stream");
    let numbered = Run::new(&joined).words(&["numbers"]).bare().out();
    let expected: BTreeSet<i64> = numbered
        .split_whitespace()
        .map(|it| it.parse().unwrap())
        .collect();
    assert_eq!(expected.len(), 2, "{numbered}");
    let recording = Run::new(&joined).traced();
    let tables = Tables::of(&recording);
    assert_eq!(numbers(&tables.tasks, "stream_id"), expected);
    let info = json(&recording, &["info", "--json"]);
    let made = info["streams"].as_array().unwrap().iter();
    let made = made.filter(|row| row["is_default"] == false);
    let made: Vec<i64> = made.map(|row| row["stream_id"].as_i64().unwrap()).collect();
    assert_eq!(made.iter().copied().collect::<BTreeSet<_>>(), expected);
    assert_eq!(made.len(), 2);
}

/// Times of processes count from the first call, as those of calls and tasks do.
#[test]
fn times_of_processes_count_from_the_first_call() {
    let recording = Run::new(&program("short_streams")).words(&["4"]).traced();
    let mut info = tool();
    let text = run(info.arg("info").arg(recording.trace())).expect(0).out();
    let mut lines = text.lines().skip_while(|line| *line != "Processes");
    let row = lines.nth(2).unwrap();
    let json = json(&recording, &["info", "--json"]);
    let first = json["begin_ns"].as_i64().unwrap();
    let process = &json["processes"][0];
    let since = ["begin_ns", "end_ns"].map(|key| process[key].as_i64().unwrap() - first);
    assert!(since[0] < 0, "it joined before its first call: {text}");
    for time in since {
        let shown = format!("  {}  ", duration(time));
        assert!(row.contains(&shown), "{shown}: {text}");
    }
}

/// The begin that the names of the kernels of `long_names` share.
fn long_name(last: char) -> String {
    format!("{}{last}", "kernel_of_".repeat(15))
}

/// Rank 2 of a distributed run launches kernels with long names.
fn ranked() -> Recording {
    let kernels = built(
        "long_names_kernels.so",
        "long_names_kernels.c",
        &["-std=gnu11", "-O1", "-shared", "-fPIC"],
    );
    let program = Run::new(&program("long_names")).variable("RANK", "2");
    program.words(&[kernels.to_str().unwrap()]).traced()
}

#[test]
fn a_kernel_and_a_rank_are_the_same_in_every_format() {
    let recording = ranked();
    let wanted = long_name('c');
    let tables = Tables::of(&recording);
    let mut tasks = tables.tasks.iter();
    let task = tasks.find(|task| task.text("whole_name") == wanted);
    let task = task.expect("the kernel");
    let short = task.text("name");
    assert_eq!(task.number("rank"), 2);
    let stalls = tables.stalls.iter();
    assert!(
        stalls
            .map(|stall| stall.number("rank"))
            .all(|rank| rank == 2)
    );

    let events = chrome(&recording);
    let named = events.iter().filter(|event| event["name"] == short);
    let mut wholes = named.map(|event| event["args"]["whole_name"].as_str());
    assert!(wholes.all(|whole| whole == Some(&wanted)));
    let processes = events
        .iter()
        .filter(|event| event["name"] == "process_name");
    let mut processes = processes.map(|event| event["args"]["name"].to_string());
    assert!(processes.all(|name| name.contains("rank 2")));

    let file = recording.beside("t.perfetto");
    let mut export = tool();
    export.arg("export").arg(recording.trace());
    export.args(["--format", "perfetto", "-o"]).arg(&file);
    run(&mut export).expect(0);
    let perfetto = std::fs::read(file).unwrap();
    let has = |text: &str| perfetto.windows(text.len()).any(|it| it == text.as_bytes());
    assert!(has(&wanted) && has(short) && has("rank 2"));

    let stats = json(&recording, &["stats", "--json"]);
    let operations = stats["operations"].as_array().unwrap();
    let rows = operations.iter().filter(|row| row["name"] == short);
    assert_eq!(rows.map(|row| &row["count"]).collect::<Vec<_>>(), [2]);
    for table in ["streams", "devices", "threads"] {
        let rows = stats[table].as_array().unwrap();
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row["rank"] == 2),
            "{table}"
        );
    }
    let info = json(&recording, &["info", "--json"]);
    assert_eq!(info["processes"][0]["rank"], 2);
}

/// The number of a device depends on the cards that the program sees; that of a card does not.
#[test]
fn a_device_has_the_number_of_its_card_in_every_format() {
    for (visible, card, address) in [("0,1,2", 0, "0000:01:00.0"), ("2", 2, "0000:03:00.0")] {
        // A second of work: the tool's own thread asks for the card meanwhile.
        let recording = Run::new(&program("windows"))
            .words(&["9", "100"])
            .soft("devices=3")
            .variable("ASCEND_RT_VISIBLE_DEVICES", visible)
            .traced();
        assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
        let stats = json(&recording, &["stats", "--json"]);
        let info = json(&recording, &["info", "--json"]);
        for row in [&stats["devices"][0], &info["devices"][0]] {
            assert_eq!(row["device"], 0, "{row}");
            assert_eq!(
                (&row["card"], &row["pci_address"]),
                (&card.into(), &address.into())
            );
        }
        for row in stats["streams"].as_array().unwrap() {
            assert_eq!(row["card"], card, "{row}");
        }
        let names = chrome(&recording).into_iter();
        let mut names = names.filter(|event| event["name"] == "process_name");
        let expected = format!("device 0 (card {card}, pid ");
        assert!(names.any(|it| it["args"]["name"].as_str().unwrap().contains(&expected)));
    }
}

/// The bytes of an export: of a file, or of all files of a folder.
fn exported(recording: &Recording, format: &str) -> Vec<u8> {
    let output = recording.beside(&format!("all.{format}"));
    let mut export = tool();
    export.arg("export").arg(recording.trace());
    run(export.args(["--format", format, "-o"]).arg(&output)).expect(0);
    if output.is_file() {
        return std::fs::read(output).unwrap();
    }
    let files = crate::support::files::files_below(&output);
    let parts = files.into_iter();
    // Names of files say which rank it is.
    parts
        .flat_map(|(name, bytes)| [name.into_bytes(), bytes])
        .flatten()
        .collect()
}

/// One kernel, one rank and one card, by what names them in each format.
#[test]
fn every_format_has_the_whole_kernel_its_rank_and_its_card() {
    let kernels = built(
        "long_names_kernels.so",
        "long_names_kernels.c",
        &["-std=gnu11", "-O1", "-shared", "-fPIC"],
    );
    // For a while: the tool's own thread asks for the card meanwhile.
    let recording = Run::new(&program("long_names"))
        .variable("RANK", "2")
        .variable("ASCEND_RT_VISIBLE_DEVICES", "2")
        .soft("devices=3")
        .words(&[kernels.to_str().unwrap(), "3000"])
        .traced();
    let kernel = long_name('c');
    let tables = Tables::of(&recording);
    let mut tasks = tables.tasks.iter();
    let task = tasks.find(|task| task.text("whole_name") == kernel);
    let short = task.expect("the kernel").text("name").to_owned();
    let address = "0000:03:00.0";
    // Texts of the kernel, the rank and the card. A text is empty where a format has no place for it, or a number in a column.
    let formats: [(&str, [&str; 3]); 9] = [
        ("chrome", [&kernel, "long_names rank 2", "card 2"]),
        ("perfetto", [&kernel, "long_names rank 2", "NPU 0 (card 2)"]),
        (
            "kineto",
            [&kernel, "rank-2.pt.trace.json", "NPU 0 (card 2)"],
        ),
        ("ascend", [&kernel, "ascend_pytorch_profiler_2.db", ""]),
        ("csv", [&kernel, "", address]),
        ("parquet", [&kernel, "", address]),
        ("nsys-sqlite", [&kernel, "long_names rank 2", address]),
        ("sqlite", [&kernel, "", address]),
        ("svg", ["", "rank 2", "card 2"]),
    ];
    for (format, names) in formats {
        if format.ends_with("sqlite") && !cfg!(feature = "sqlite") {
            continue;
        }
        let bytes = exported(&recording, format);
        let text = String::from_utf8_lossy(&bytes);
        for name in names {
            assert!(text.contains(name), "{format} has no {name}");
        }
    }
    let page = recording.beside("page.html");
    run(tool()
        .arg("report")
        .arg(recording.trace())
        .arg("-o")
        .arg(&page))
    .expect(0);
    let page = std::fs::read_to_string(page).unwrap();
    for name in [short.as_str(), "rank 2", address] {
        assert!(page.contains(name), "the page has no {name}");
    }
    let devices = json(&recording, &["stats", "--json"]);
    let device = &devices["devices"][0];
    assert_eq!((&device["rank"], &device["card"]), (&2.into(), &2.into()));
    for row in &tables.tasks {
        assert_eq!((row.number("rank"), row.number("device")), (2, 0));
    }
}
