//! Checks the documents against the program: they contain all options and all fields of the output.

use ascend_trace_analysis::checks::Findings;
use ascend_trace_analysis::critical::Critical;
use ascend_trace_analysis::diff::Diff;
use ascend_trace_analysis::hang::{Hangs, Recorded, late};
use ascend_trace_analysis::steps::{Report, StepDefinition};
use ascend_trace_analysis::whatif::{Verdicts, WhatIf};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{Ending, Trace};
use clap::CommandFactory;
use serde_json::Value;

use super::args::CommandLine;
use super::document_head::DocumentHead;

const CLI: &str = include_str!("../../docs/CLI.md");
const JSON: &str = include_str!("../../docs/JSON.md");

/// The part of a document under a heading.
fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let start = document
        .find(heading)
        .unwrap_or_else(|| panic!("no heading {heading}"));
    let rest = &document[start + heading.len()..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

/// Asserts that every field of `value`, however deep, is named in the text.
fn assert_named(value: &Value, text: &str, is_map: &dyn Fn(&str) -> bool) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let named = text.contains(&format!("`{name}`"))
                    || text.contains(&format!("`{name}[]`"))
                    || text.contains(&format!(".{name}`"))
                    || text.contains(&format!(".{name}[]`"))
                    || text.contains(&format!("`{name}."));
                assert!(named, "{name} is not described");
                if !is_map(name) {
                    assert_named(value, text, is_map);
                }
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| assert_named(item, text, is_map)),
        _ => {}
    }
}

#[test]
fn every_command_and_option_is_described() {
    let all = CommandLine::command();
    for option in all
        .get_arguments()
        .filter_map(|argument| argument.get_long())
    {
        assert!(
            CLI.contains(&format!("--{option}")),
            "--{option} is not described"
        );
    }
    for command in CommandLine::command().get_subcommands() {
        let name = command.get_name();
        assert!(
            CLI.contains(&format!("| `{name}")),
            "{name} is not described"
        );
        for option in command
            .get_arguments()
            .filter_map(|argument| argument.get_long())
        {
            assert!(
                CLI.contains(&format!("--{option}")),
                "{name} --{option} is not described"
            );
        }
    }
}

#[test]
fn readme_links_every_document_and_names_the_version_of_rust() {
    let root = env!("CARGO_MANIFEST_DIR");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).unwrap();
    for entry in std::fs::read_dir(format!("{root}/docs")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let link = format!("(docs/{name})");
        assert!(!name.ends_with(".md") || readme.contains(&link), "{name}");
    }
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(
        readme.contains(&format!("({version} or later)")),
        "{version}"
    );
}

fn head(trace: &Trace) -> DocumentHead {
    DocumentHead::of([&super::open_trace::Completeness::of(trace, &[])])
}

#[test]
fn every_field_of_info_and_stats_is_described() {
    let trace = ascend_trace_testkit::timeline(
        "s1: MatMul[0..10] rec(E1) Add[captured]
         s2: wait(E1) Add[12..20]
         t1: sync(s2)[13..21]",
    );
    let info = serde_json::to_value(super::info::document_of(&trace)).unwrap();
    let is_map = |name: &str| ["functions", "kinds", "untimed"].contains(&name);
    assert_named(&info, section(JSON, "## ascend-trace/info"), &is_map);
    let stats = super::stats::document_of(&trace).unwrap();
    assert_named(&stats, section(JSON, "## ascend-trace/stats"), &|_| false);
}

#[test]
fn every_field_of_check_is_described() {
    let trace = ascend_trace_testkit::timeline("t1: aclrtMalloc(64)[0..1us]=207001");
    let found = Findings::default().of(&Window::whole(&trace));
    assert_eq!(found.len(), 1);
    let head = head(&trace);
    let document = super::check::CheckDocument::of(&found, 0, head);
    let document = serde_json::to_value(document).unwrap();
    assert_named(&document, section(JSON, "## ascend-trace/check"), &|_| {
        false
    });
}

#[test]
fn every_field_of_steps_is_described() {
    let mut text = String::new();
    for begin in (0..5).map(|step| step * 100) {
        let (end, slow) = (begin + 50 + begin / 10, begin + 5);
        text += &format!("s1: MatMul[{slow}us..{end}us]\nt1: sync(s1)[{slow}us..{end}us]\n");
    }
    let trace = ascend_trace_testkit::timeline(&text);
    let report = Report::of(&Window::whole(&trace), StepDefinition::Any);
    assert!(!report.comparisons[0].more.is_empty());
    let head = head(&trace);
    let document = super::document_head::ReportDocument::of(&report, head);
    let document = serde_json::to_value(document).unwrap();
    assert_named(&document, section(JSON, "## ascend-trace/steps"), &|_| {
        false
    });
}

#[test]
fn every_field_of_critical_is_described() {
    let trace = ascend_trace_testkit::timeline("s1: MatMul[2us..9us]\nt1: sync(s1)[3us..10us]");
    let path = Critical::of(&Window::whole(&trace), (0, 10_000));
    let head = head(&trace);
    let document = super::critical::CriticalDocument::of(&path, head);
    let document = serde_json::to_value(document).unwrap();
    assert!(document["segments"][0].is_object());
    let described = section(JSON, "## ascend-trace/critical");
    assert_named(&document, described, &|_| false);
}

#[test]
fn every_field_of_what_if_is_described() {
    let trace = ascend_trace_testkit::timeline("s1: MatMul[2us..9us]\nt1: sync(s1)[3us..10us]");
    let whatif = WhatIf::of(&Window::whole(&trace));
    let mut report = whatif.suggest(&Verdicts::default());
    report.syncs = whatif.syncs(&Verdicts::default()).syncs;
    assert!(!report.predictions[0].streams.is_empty() && !report.syncs.is_empty());
    let head = head(&trace);
    let document = super::document_head::ReportDocument::of(&report, head);
    let document = serde_json::to_value(document).unwrap();
    let described = section(JSON, "## ascend-trace/what-if");
    assert_named(&document, described, &|_| false);
}

#[test]
fn every_field_of_diff_is_described() {
    let steps = |operations: &str| {
        let mut text = String::new();
        for begin in (0..6).map(|step| step * 100) {
            let end = begin + 50;
            for (place, name) in (0..).zip(operations.split(' ')) {
                let (from, until) = (begin + place * 10, begin + place * 10 + 5);
                text += &format!("s1: {name}[{from}us..{until}us]\n");
            }
            text += &format!("t1: sync(s1)[{}us..{end}us]\n", begin + 40);
        }
        ascend_trace_testkit::timeline(&text)
    };
    let (a, b) = (steps("MatMul Add Norm"), steps("MatMul Cast Add"));
    let found = Diff::of(&Window::whole(&a), &Window::whole(&b), StepDefinition::Any);
    assert!(found.by_steps && !found.pairs[0].edits.is_empty());
    let head = head(&a);
    let failed = [super::diff::FailedCondition::default()];
    let document = super::diff::DiffDocument::of(&found, head, &failed);
    let document = serde_json::to_value(document).unwrap();
    let described = section(JSON, "## ascend-trace/diff");
    assert_named(&document, described, &|_| false);
}

#[test]
fn every_field_of_why_is_described() {
    let text = "s1: wait(E#0)[?] by t1[10us..11us] | t1: sync(s1)[13us..20s]
                t2: HcclCommInitRootInfo(2,0)[5us..20s]";
    let mut timeline = ascend_trace_testkit::Timeline::of(text);
    for row in &mut timeline.rows {
        match row {
            Row::Call(row) if row.end_ns > 1_000_000_000 => row.ending = Ending::Open,
            Row::Event(row) => row.creation = 1,
            _ => {}
        }
    }
    let trace = timeline.trace();
    let report = Hangs::default().of(&Window::whole(&trace));
    assert!(!report.threads[0].open_calls.is_empty() && !report.streams.is_empty());
    assert!(!report.culprits.is_empty() && !report.threads[0].chain.is_empty());
    let head = head(&trace);
    let document = super::document_head::ReportDocument::of(&report, head);
    let document = serde_json::to_value(document).unwrap();
    assert_named(&document, section(JSON, "## ascend-trace/why"), &|_| false);
    let recorded = Recorded {
        report: &report,
        host: "host",
        since_1970_ns: 0,
    };
    let late = serde_json::json!({ "late": late(&[recorded]) });
    assert_eq!(late["late"][0]["rank"], 1, "{report:#?}");
    assert_named(&late, section(JSON, "## ascend-trace/why"), &|_| false);
}

#[test]
fn every_field_of_hooks_is_described() {
    let hooks = serde_json::to_value(super::hooks::document()).unwrap();
    assert_named(&hooks, section(JSON, "## ascend-trace/hooks"), &|_| false);
}
