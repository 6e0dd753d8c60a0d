//! `--sarif FILE`: findings as SARIF 2.1.0, the format that services for code review read.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use ascend_trace_analysis::checks::{Finding, ListedCheck, Severity, all};
use ascend_trace_analysis::stats::CallSite;

use super::suppress::Suppressions;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log of one run of `check`.
pub(super) fn log(file: &Path, found: &[Finding], suppressions: &Suppressions) -> Value {
    let checks = all();
    let uri = uri(file);
    let results = found
        .iter()
        .map(|it| result(it, &checks, &uri, suppressions));
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "ascend-trace",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": checks.iter().map(rule).collect::<Vec<_>>(),
                },
            },
            "artifacts": [{ "location": { "uri": uri } }],
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

/// SARIF's word for a severity.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(entry: &ListedCheck) -> Value {
    json!({
        "id": entry.id,
        "shortDescription": { "text": entry.summary },
        "fullDescription": { "text": entry.manual },
        "defaultConfiguration": { "level": level(entry.severity) },
    })
}

fn result(
    finding: &Finding,
    checks: &[ListedCheck],
    uri: &str,
    suppressions: &Suppressions,
) -> Value {
    let rule = checks.iter().position(|entry| entry.id == finding.check);
    let site = &finding.site;
    let place = format!(
        "process {} / thread {} / call {}",
        finding.pid, site.tid, site.call
    );
    let mut result = json!({
        "ruleId": finding.check,
        "ruleIndex": rule,
        "level": level(finding.severity),
        "message": { "text": format!("{}. To do: {}.", finding.what, finding.advice) },
        "occurrenceCount": finding.count,
        "locations": [{
            "physicalLocation": { "artifactLocation": { "uri": uri, "index": 0 } },
            "logicalLocations": [{
                "name": site.name,
                "fullyQualifiedName": format!("{place} / {}", site.name),
                "kind": "function",
            }],
        }],
        "properties": {
            "begin_ns": finding.begin_ns,
            "end_ns": finding.end_ns,
            "total_ns": finding.total_ns,
        },
    });
    if let Some(at) = &site.at {
        locate(&mut result, at);
    }
    if let Some(known) = suppressions.of(finding) {
        result["suppressions"] = json!([{ "kind": "external", "justification": known.reason }]);
    }
    result
}

/// Adds where in the program the first of the calls was made: the place is the source line then, and no
/// longer the recording.
fn locate(result: &mut Value, at: &CallSite) {
    if let (Some(file), Some(line)) = (&at.file, at.line) {
        result["locations"][0]["physicalLocation"] = json!({
            "artifactLocation": { "uri": uri(Path::new(file)) },
            "region": { "startLine": line.max(1) },
        });
    }
    let frames = at
        .stack
        .iter()
        .map(|frame| json!({ "location": { "message": { "text": frame } } }));
    result["stacks"] = json!([{
        "message": { "text": "the first of the calls" },
        "frames": frames.collect::<Vec<_>>(),
    }]);
}

/// A path as a relative or absolute reference of a URI.
fn uri(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(*byte));
            }
            other => {
                let _ = write!(text, "%{other:02X}");
            }
        }
    }
    match path.is_absolute() {
        true => format!("file://{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_analysis::checks::Findings;
    use ascend_trace_analysis::{Fold, Window};

    fn text(value: &Value, pointer: &str) -> String {
        let found = value.pointer(pointer).and_then(Value::as_str);
        found
            .unwrap_or_else(|| panic!("{pointer} is missing in {value}"))
            .to_owned()
    }

    /// Requirements of the standard for a log: its version and runs, the name of the tool, the text of
    /// every message, and a result that names a rule of the list by name and by place.
    #[test]
    fn a_log_has_all_fields_that_the_standard_requires() {
        let trace = ascend_trace_testkit::timeline(
            "s1: memcpy(64,1000,5000)[10..20] by t1[0..1] | s2: memcpy(64,9000,1000)[10..20] by t1[2..3]
             t1: aclrtMalloc(64)[7us..8us]=207001",
        );
        let found = Findings::default().of(&Window::whole(&trace));
        assert_eq!(found.len(), 2);
        let log = log(
            Path::new("a folder/run.atrace"),
            &found,
            &Suppressions::default(),
        );
        assert_eq!(text(&log, "/version"), "2.1.0");
        assert_eq!(text(&log, "/$schema"), SCHEMA);
        assert_eq!(log["runs"].as_array().map(Vec::len), Some(1));
        let run = &log["runs"][0];
        assert_eq!(text(run, "/tool/driver/name"), "ascend-trace");
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), all().len());
        for rule in rules {
            assert!(!text(rule, "/shortDescription/text").is_empty());
            let level = text(rule, "/defaultConfiguration/level");
            assert!(["error", "warning", "note"].contains(&level.as_str()));
        }
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), found.len());
        for result in results {
            let place = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(text(result, "/ruleId"), text(&rules[place], "/id"));
            assert!(!text(result, "/message/text").is_empty());
            assert!(result["occurrenceCount"].as_u64().unwrap() >= 1);
            let artifact = "/locations/0/physicalLocation/artifactLocation";
            assert_eq!(
                text(result, &format!("{artifact}/uri")),
                "a%20folder/run.atrace"
            );
            assert_eq!(
                text(result, &format!("{artifact}/uri")),
                text(run, "/artifacts/0/location/uri")
            );
            assert!(result.get("suppressions").is_none());
        }
        assert_eq!(text(&results[0], "/ruleId"), "data-race");
        assert_eq!(text(&results[0], "/level"), "error");
    }
}
