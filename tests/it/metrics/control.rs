//! Requests by HTTP that control a recording.

use serde_json::Value;

use super::{Exposition, Served, wait_for};
use crate::support::process::run;
use crate::support::tool;

const WORD: &str = "\r\nAuthorization: Bearer open-sesame";

fn served(options: &[&str]) -> (Served, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "open-sesame\n").unwrap();
    let mut all = vec!["--metrics-token", token.to_str().unwrap()];
    all.extend(options);
    let served = Served::start(&all);
    served.until("out", "works");
    (served, folder)
}

/// The status line of the response, and its document.
fn ask(served: &Served, method: &str, target: &str) -> (String, Value) {
    let (head, body) = served.ask(&format!("{method} {target} HTTP/1.1{WORD}"));
    let status = head.lines().next().unwrap().to_owned();
    let document = serde_json::from_str(&body).unwrap_or(Value::Null);
    (status, document)
}

#[test]
fn a_client_with_the_token_takes_snapshots_and_pauses() {
    let (served, _folder) = served(&["--ring", "10s", "--after", "0s"]);
    let target = "/control/snapshot?reason=slow%20since+noon";
    let (status, reply) = ask(&served, "POST", target);
    assert_eq!(status, "HTTP/1.1 200 OK", "{reply}");
    let files = reply["status"]["snapshots"].as_array().unwrap();
    let [file] = files.as_slice() else {
        panic!("{reply}");
    };
    let info = run(tool().args(["info", "--json"]).arg(file.as_str().unwrap())).expect(0);
    let info: Value = serde_json::from_str(&info.out()).unwrap();
    let reason = &info["session"]["kept"]["snapshot"]["reason"];
    assert_eq!(reason, "slow since noon");
    for (target, is_paused) in [("/control/pause", true), ("/control/resume", false)] {
        let (status, reply) = ask(&served, "POST", target);
        assert_eq!(status, "HTTP/1.1 200 OK", "{reply}");
        assert_eq!(reply["status"]["paused"], is_paused);
        let (_, reply) = ask(&served, "GET", "/control/status");
        assert_eq!(reply["status"]["paused"], is_paused);
    }
    let (status, _) = ask(&served, "POST", "/control/mark?text=by+http");
    assert_eq!(status, "HTTP/1.1 200 OK");
    let (outcome, folder) = served.end();
    assert_eq!(outcome.status, 7);
    let mut export = tool();
    export.args(["export", "--format", "chrome", "-o", "-"]);
    let events = run(export.arg(folder.path().join("t.atrace"))).expect(0);
    assert!(events.out().contains("\"ctl: by http\""));
}

#[test]
fn a_recording_is_stopped_and_the_metrics_stay() {
    let (served, _folder) = served(&[]);
    let (status, reply) = ask(&served, "POST", "/control/stop");
    assert_eq!(status, "HTTP/1.1 200 OK", "{reply}");
    assert_eq!(reply["status"]["stopped"], true);
    let (status, reply) = ask(&served, "POST", "/control/resume");
    assert!(status.starts_with("HTTP/1.1 409 "), "{reply}");
    wait_for("the calls before the stop are counted", || {
        let (_, body) = served.ask(&format!("GET /metrics HTTP/1.1{WORD}"));
        Exposition::parse(&body).sum("ascend_calls_total", &[]) > 0.0
    });
    let (outcome, folder) = served.end();
    assert_eq!(outcome.status, 7);
    let said = std::fs::read_to_string(folder.path().join("err")).unwrap();
    assert!(said.contains("was stopped by ctl"), "{said}");
    let info = run(tool()
        .args(["info", "--json"])
        .arg(folder.path().join("t.atrace")))
    .expect(0);
    let info: Value = serde_json::from_str(&info.out()).unwrap();
    assert_eq!(info["end_reason"], "stopped by ctl");
}

#[test]
fn metrics_of_a_ring_are_what_the_collector_counts() {
    let (served, _folder) = served(&["--ring", "10s"]);
    let scrape = || {
        let (_, body) = served.ask(&format!("GET /metrics HTTP/1.1{WORD}"));
        Exposition::parse(&body)
    };
    let mut last = scrape();
    wait_for("calls are counted", || {
        let next = scrape();
        last.assert_followed_by(&next);
        last = next;
        last.sum("ascend_calls_total", &[]) > 0.0
    });
    assert!(last.sum("ascend_recording_bytes", &[]) > 0.0);
    assert!(!last.text.contains("ascend_metrics_behind_seconds "));
    assert!(!last.text.contains("ascend_device_busy_seconds_total "));
    assert_eq!(served.end().0.status, 7);
}

#[test]
fn other_requests_are_refused_and_change_nothing() {
    let (served, _folder) = served(&[]);
    for (method, target, code) in [
        ("GET", "/control/pause", 405),
        ("POST", "/control/status", 405),
        ("POST", "/control/explode", 404),
        ("POST", "/control/mark", 400),
        ("POST", "/control/snapshot", 409),
        ("POST", "/metrics", 405),
    ] {
        let (status, reply) = ask(&served, method, target);
        assert!(status.starts_with(&format!("HTTP/1.1 {code} ")), "{status}");
        assert_eq!(reply.is_null(), code > 400 && code < 409, "{reply}");
    }
    let (head, _) = served.ask("POST /control/pause HTTP/1.1");
    assert!(head.starts_with("HTTP/1.1 401 "), "{head}");
    let (_, reply) = ask(&served, "GET", "/control/status");
    assert_eq!(reply["status"]["paused"], false);
    assert_eq!(served.end().0.status, 7);
}

#[test]
fn control_without_a_token_is_refused() {
    let served = Served::start(&[]);
    served.until("out", "works");
    for request in ["POST /control/pause", "GET /control/status"] {
        let (head, body) = served.ask(&format!("{request} HTTP/1.1"));
        assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
        assert!(body.contains("--metrics-token FILE"), "{body}");
    }
    assert_eq!(served.end().0.status, 7);
}
