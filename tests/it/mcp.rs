//! Sessions of the Model Context Protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::process::run;
use crate::support::{Recording, Run, program, tool};

/// A client that writes lines of JSON.
struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn start(folder: &Path) -> Self {
        let mut command = tool();
        command.arg("mcp").arg(folder).stderr(Stdio::null());
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut client = Self {
            input: server.stdin.take(),
            output: BufReader::new(server.stdout.take().unwrap()),
            server,
            last: 0,
        };
        let known = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(known["serverInfo"]["name"], "ascend-trace");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    }

    /// The text of a tool's result, and whether it is an error.
    fn ask(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.request("tools/call", params);
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{tool}: {result}"));
        (text.to_owned(), result["isError"] == true)
    }

    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.ask(tool, arguments);
        assert!(!is_error, "{tool}: {text}");
        text
    }

    /// The server ends with its input.
    fn end(mut self) {
        self.input = None;
        assert!(self.server.wait().unwrap().success());
    }
}

/// A recording of 20 steps of which the seventh is slow.
fn recording() -> Recording {
    Run::new(&program("flight"))
        .words(&["20", "2", "7"])
        .compared()
}

#[test]
fn a_session_finds_the_slow_step() {
    let recording = recording();
    let folder = recording.trace().parent().unwrap().to_owned();
    std::fs::write(folder.join("broken.atrace"), "no recording").unwrap();
    let mut client = Client::start(&folder);
    let tools = client.request("tools/list", json!({}));
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let documented = include_str!("../../docs/MCP.md");
    for name in &names {
        assert!(documented.contains(&format!("| `{name}` |")), "{name}");
    }
    assert_eq!(
        names.len(),
        documented.matches("\n| `").count(),
        "{names:?}"
    );
    let listed = client.text("recordings", json!({}));
    assert!(listed.contains("t.atrace  "), "{listed}");
    let file = json!({ "file": "t.atrace" });
    for (tool, words) in [
        ("overview", "calls"),
        ("steps", "step 7"),
        ("slowest", "memset"),
        ("why_idle", "\"worst_stalls\""),
        ("memory", "in use at the peak"),
        ("communication", "no collective ran"),
        ("critical", "memset"),
        ("check", "call"),
        ("why_hangs", "ended"),
        ("requests", "no requests"),
        ("what_if", "ms"),
    ] {
        let text = client.text(tool, file.clone());
        assert!(text.to_lowercase().contains(words), "{tool}: {text}");
    }
    let same = json!({ "before": "t.atrace", "after": "t.atrace" });
    client.text("diff", same);
    let part = json!({ "file": "t.atrace", "range": "step 7", "limit": 1 });
    let timeline = client.text("timeline", part);
    assert!(timeline.contains("ask again with skip = 1"), "{timeline}");
    let whole = client.text("timeline", file);
    assert!(whole.contains("memset"), "{whole}");
    client.end();
}

#[test]
fn requests_that_cannot_be_are_refused_with_a_reason() {
    let recording = recording();
    let folder = recording.trace().parent().unwrap().to_owned();
    std::fs::write(folder.join("broken.atrace"), "no recording").unwrap();
    let mut client = Client::start(&folder);
    for (tool, arguments, words) in [
        ("check", json!({ "file": "/etc/passwd" }), "outside"),
        ("check", json!({ "file": "missing.atrace" }), "no file"),
        ("check", json!({ "file": "broken.atrace" }), "broken.atrace"),
        (
            "slowest",
            json!({ "file": "t.atrace", "range": "soon" }),
            "BEGIN..END",
        ),
        (
            "timeline",
            json!({ "file": "t.atrace", "range": "--only=x" }),
            "BEGIN..END",
        ),
        (
            "what_if",
            json!({ "file": "t.atrace", "changes": ["magic"] }),
            "magic",
        ),
        (
            "source",
            json!({ "file": "t.atrace", "site": "/etc/passwd:1" }),
            "no call site",
        ),
    ] {
        let (text, is_error) = client.ask(tool, arguments);
        assert!(is_error && text.contains(words), "{tool}: {text}");
    }
    client.end();
    let outcome = run(tool().args(["mcp", "/nonexistent"]));
    assert_eq!(outcome.status, 2, "{outcome}");
}

#[test]
fn the_client_of_the_protocols_authors_finds_the_slow_step() {
    let python = std::env::var_os("ASCEND_TRACE_MCP_PYTHON").map(PathBuf::from);
    let python = python.unwrap_or_else(|| "python3".into());
    let has_client = Command::new(&python)
        .args(["-c", "import mcp"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|it| it.success());
    if !has_client {
        eprintln!("skipped: python3 has no mcp; ASCEND_TRACE_MCP_PYTHON can name one that has");
        return;
    }
    let recording = recording();
    let mut client = Command::new(python);
    client.arg("-B");
    client.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/mcp_client.py"));
    client.arg(tool().get_program());
    client.arg(recording.trace().parent().unwrap());
    let outcome = run(&mut client).expect(0);
    let said = outcome.out();
    for line in [
        "file: t.atrace",
        "overview: True",
        "slow step: True",
        "timeline: True",
        "outside: True",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}
