//! A recording inside a recording: the outer one names the trace that has the calls of its processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ascend_trace_testkit::whole::opened;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::screen::Screen;
use crate::support::{Outcome, feed, program, tool};

const TOOK: &str =
    "a recording inside this one took the processes that it started: look for their calls in ";

/// A folder in which a recording of a shell script is made.
struct Outer {
    _root: TempDir,
    folder: PathBuf,
}

impl Outer {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().canonicalize().unwrap();
        fs::create_dir(folder.join("memory")).unwrap();
        Self {
            _root: root,
            folder,
        }
    }

    /// The script has the tool as `$1` and a program with calls as `$2`.
    fn command(&self, options: &[&str], script: &str) -> Command {
        let mut command = tool();
        command.current_dir(&self.folder);
        command.env("ASCEND_TRACE_MEMORY", self.folder.join("memory"));
        command.arg("record").args(options);
        command.args(["--soft", "-o", "outer.atrace", "--"]);
        command.args(["sh", "-c", script, "sh"]);
        command.arg(tool().get_program()).arg(program("ends"));
        command
    }

    #[track_caller]
    fn record(&self, script: &str) -> Outcome {
        let outcome = feed(&mut self.command(&["--no-tui"], script), b"");
        let left = fs::read_dir(self.folder.join("memory")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?} is left\n{outcome}");
        outcome
    }

    fn named(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    #[track_caller]
    fn calls(&self, name: &str) -> usize {
        let (trace, _) = opened(self.folder.join(name)).unwrap();
        trace.calls().len()
    }
}

/// Lines of outer recorders about inner ones.
fn took(outcome: &Outcome) -> Vec<String> {
    let lines = outcome.said().into_iter();
    lines
        .filter(|line| line.contains("inside this one"))
        .collect()
}

#[test]
fn a_recording_without_calls_names_the_trace_of_the_one_inside_it() {
    let outer = Outer::new();
    let outcome = outer
        .record("\"$1\" record --no-tui -o inner.atrace \"$2\"")
        .expect(0);
    assert_eq!(
        took(&outcome),
        [format!("{TOOK}{}", outer.named("inner.atrace"))]
    );
    let said = outcome.said();
    assert!(
        said.iter().any(|it| it == "no AscendCL call was seen"),
        "{outcome}"
    );
    assert!(!outcome.err().contains("static copy"), "{outcome}");
    assert!(outer.calls("inner.atrace") > 0);
    assert_eq!(outer.calls("outer.atrace"), 0);
}

/// What `info` says of the recordings inside the outer one.
fn informed(outer: &Outer) -> (String, Value) {
    let info = |option: &[&str]| {
        let mut command = tool();
        command.current_dir(&outer.folder);
        command.args(["info", "outer.atrace"]).args(option);
        feed(&mut command, b"").expect(0).out()
    };
    let document: Value = serde_json::from_str(&info(&["--json"])).unwrap();
    (info(&[]), document["inner"].clone())
}

#[test]
fn info_of_the_file_names_the_traces_inside_later() {
    let outer = Outer::new();
    let script = "\"$2\"; \"$1\" record --no-tui -q -o 'a b.atrace' \"$2\"; \
                  \"$1\" record --no-tui -q -o b.atrace \"$2\"; rm b.atrace; \
                  \"$1\" record --no-tui -q -o - \"$2\" > c.atrace";
    outer.record(script).expect(0);
    let (text, inner) = informed(&outer);
    let traces: Vec<_> = inner.as_array().unwrap().iter().collect();
    assert!(traces.iter().all(|it| it["pid"].as_u64().unwrap() > 0));
    let traces: Vec<_> = traces.iter().map(|it| it["trace"].as_str()).collect();
    let [a, b] = ["a b.atrace", "b.atrace"].map(|name| outer.named(name));
    assert_eq!(traces, [Some(&*a), Some(&*b), None]);
    assert!(text.contains("Recordings inside this one"), "{text}");
    let removed = format!("{b} (no such file here)");
    for place in [&format!("'{a}'"), &removed, "its standard output"] {
        assert!(text.contains(place), "{place}: {text}");
    }
    let (text, inner) = {
        let outer = Outer::new();
        outer.record("\"$2\"").expect(0);
        informed(&outer)
    };
    assert_eq!(inner, serde_json::json!([]));
    assert!(!text.contains("inside"), "{text}");
}

#[test]
fn a_recording_with_other_calls_names_it_as_well() {
    let outer = Outer::new();
    let script = "\"$2\"; \"$1\" record --no-tui -q -o inner.atrace \"$2\"";
    let outcome = outer.record(script).expect(0);
    assert_eq!(
        took(&outcome),
        [format!("{TOOK}{}", outer.named("inner.atrace"))]
    );
    assert!(
        !outcome.err().contains("no AscendCL call was seen"),
        "{outcome}"
    );
    assert!(outcome.err().contains("look at it with"), "{outcome}");
    assert_eq!(outer.calls("inner.atrace"), outer.calls("outer.atrace"));
}

#[test]
fn the_inner_recording_names_the_outer_one() {
    let outer = Outer::new();
    let script = "\"$1\" record --no-tui -q -o inner.atrace \"$2\"";
    outer.record(script).expect(0);
    let info = |name: &str, option: &[&str]| {
        let mut command = tool();
        command.current_dir(&outer.folder);
        command.args(["info", name]).args(option);
        feed(&mut command, b"").expect(0).out()
    };
    let known: Value = serde_json::from_str(&info("inner.atrace", &["--json"])).unwrap();
    let around = &known["session"]["outer"];
    assert_eq!(around["trace"], outer.named("outer.atrace"), "{around}");
    assert!(around["pid"].as_u64() > Some(0), "{around}");
    let text = info("inner.atrace", &[]);
    let expected = format!("the recording of process {}: ", around["pid"]);
    assert!(text.contains(&expected), "{text}");
    let known: Value = serde_json::from_str(&info("outer.atrace", &["--json"])).unwrap();
    assert!(known["session"]["outer"].is_null());
}

#[test]
fn a_trace_that_replaces_a_file_has_its_last_name() {
    let outer = Outer::new();
    fs::write(outer.folder.join("inner.atrace"), "old").unwrap();
    let script = "\"$1\" record --no-tui --force -o inner.atrace \"$2\"";
    let outcome = outer.record(script).expect(0);
    assert_eq!(
        took(&outcome),
        [format!("{TOOK}{}", outer.named("inner.atrace"))]
    );
    // The name has the number of the program, which is known late.
    let outer = Outer::new();
    let outcome = outer
        .record("\"$1\" record --no-tui -o %p-x.atrace \"$2\"")
        .expect(0);
    let [line] = &*took(&outcome) else {
        panic!("{outcome}");
    };
    let name = line.strip_prefix(TOOK).unwrap();
    assert!(
        Path::new(name).exists() && name.ends_with("-x.atrace"),
        "{line}"
    );
    assert!(!name.contains(".new"), "{line}");
}

#[test]
fn a_recorder_that_starts_no_program_takes_nothing() {
    let outer = Outer::new();
    fs::write(outer.folder.join("inner.atrace"), "old").unwrap();
    let refused = "\"$1\" record --no-tui -o inner.atrace \"$2\"";
    let missing = "\"$1\" record --no-tui -o other.atrace ./missing";
    let full = "\"$1\" record --no-tui -o /dev/full \"$2\"";
    let outcome = outer.record(&format!("{refused}; {missing}; {full}; \"$2\""));
    assert_eq!(took(&outcome), [""; 0], "{outcome}");
    assert!(outer.calls("outer.atrace") > 0);
}

#[test]
fn a_recorder_that_fails_later_is_named() {
    let outer = Outer::new();
    // It is killed, but not before it has started the program.
    let killed = "OUTER=$ASCEND_TRACE_SESSION \"$1\" record --no-tui -o inner.atrace \
                  sh -c 'until test -s \"$OUTER.inner\"; do sleep 0.02; done; kill -9 $PPID' 2>/dev/null";
    // Its session file stays for the next recorder to remove.
    let mut command = outer.command(&["--no-tui"], &format!("{killed}; true"));
    let outcome = feed(&mut command, b"").expect(0);
    assert_eq!(
        took(&outcome),
        [format!("{TOOK}{}", outer.named("inner.atrace"))]
    );
    let outer = Outer::new();
    let outcome = outer
        .record("\"$1\" record --no-tui -o a.atrace \"$2\"; rm a.atrace")
        .expect(0);
    let removed = format!("{TOOK}{} (not there any more)", outer.named("a.atrace"));
    assert_eq!(took(&outcome), [removed]);
}

#[test]
fn any_name_of_a_trace_is_one_line() {
    let outer = Outer::new();
    let outcome = outer
        .record("\"$1\" record --no-tui -o 'a\nb.atrace' \"$2\"")
        .expect(0);
    let named = outer.named("a\\nb.atrace");
    assert_eq!(took(&outcome), [format!("{TOOK}$'{named}'")]);
    let outer = Outer::new();
    let outcome = outer
        .record("\"$1\" record --no-tui -o - \"$2\" > inner.atrace")
        .expect(0);
    assert_eq!(took(&outcome), [format!("{TOOK}its standard output")]);
    assert!(outer.calls("inner.atrace") > 0);
}

#[test]
fn of_several_three_are_named() {
    let outer = Outer::new();
    let script = "for name in a b c d; do \"$1\" record --no-tui -o $name.atrace \"$2\"; done; \
                  \"$1\" record --no-tui -o - \"$2\" > e";
    let outcome = outer.record(script).expect(0);
    let [a, b, c] = ["a.atrace", "b.atrace", "c.atrace"].map(|name| outer.named(name));
    let all = format!(
        "5 recordings inside this one took the processes that they started: look for their calls in {a}, {b}, {c} \
         and 2 more"
    );
    assert_eq!(took(&outcome), [all]);
}

#[test]
fn each_recording_names_only_those_that_took_its_own_processes() {
    let outer = Outer::new();
    let script =
        "\"$1\" record --no-tui -o middle.atrace \"$1\" record --no-tui -o inner.atrace \"$2\"";
    let outcome = outer.record(script).expect(0);
    let lines =
        ["inner.atrace", "middle.atrace"].map(|name| format!("{TOOK}{}", outer.named(name)));
    assert_eq!(took(&outcome), lines);
}

#[test]
fn the_live_view_says_it_at_its_end() {
    let outer = Outer::new();
    let script = "\"$1\" record --no-tui -q -o inner.atrace \"$2\"";
    let screen = Screen::start(outer.command(&["--tui"], script), 30, 200);
    screen.until("sh");
    screen.press("q");
    let outcome = screen.finish().expect(0);
    let wanted = format!("{TOOK}{}", outer.named("inner.atrace"));
    assert!(outcome.out().contains(&wanted), "{outcome}");
}
