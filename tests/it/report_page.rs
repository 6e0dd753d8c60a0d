//! The page of `report` has the numbers of other commands, and a browser shows it without an error.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::readers::skip;
use crate::support::{Outcome, Recording, Run, program, run, tool};
use crate::ways::tool_in_path;
use browser::Browser;

mod browser;

/// The page of a recording, in a new file.
#[track_caller]
fn report(recording: &Recording, words: &[&str]) -> String {
    let output = recording.beside("report.html");
    let mut command = tool();
    command.arg("report").arg(recording.trace()).args(words);
    run(command.arg("-o").arg(&output)).expect(0);
    std::fs::read_to_string(output).unwrap()
}

/// The data in a page.
#[track_caller]
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"id="data">"#).unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[track_caller]
fn document(command: &str, trace: &Path) -> Value {
    let outcome = run(tool().args([command, "--json"]).arg(trace)).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

/// Asserts that a part of a document is in the document: lists may be shorter, texts as well.
#[track_caller]
fn is_part(part: &Value, whole: &Value, name: &str) {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            for (key, value) in part {
                let there = whole.get(key);
                let there = there.unwrap_or_else(|| panic!("{name}.{key} is in the page only"));
                is_part(value, there, &format!("{name}.{key}"));
            }
        }
        (Value::Array(part), Value::Array(whole)) => {
            assert!(part.len() <= whole.len(), "{name}");
            let pairs = part.iter().zip(whole).enumerate();
            pairs.for_each(|(at, (part, whole))| is_part(part, whole, &format!("{name}[{at}]")));
        }
        (Value::String(part), Value::String(whole)) if part.ends_with('…') => {
            assert!(whole.starts_with(part.trim_end_matches('…')), "{name}");
        }
        _ => assert_eq!(part, whole, "{name}"),
    }
}

fn training() -> Recording {
    Run::new(&program("training"))
        .words(&["40", "65536", "20"])
        .traced()
}

#[test]
fn the_numbers_are_those_of_the_other_commands() {
    let recording = training();
    let data = data(&report(&recording, &[]));
    let trace = recording.trace();
    for (command, key) in [
        ("stats", "streams"),
        ("check", "findings"),
        ("critical", "names"),
        ("what-if", "predictions"),
        ("info", "processes"),
    ] {
        let (part, whole) = (
            data["documents"][command].clone(),
            document(command, &trace),
        );
        if command == "stats" {
            // The document `steps` has them.
            assert_eq!(part["steps"].as_array().map(Vec::len), Some(0));
        }
        // There may be nothing to find, and nothing to suggest.
        let may_be_empty = ["check", "what-if"].contains(&command);
        let rows = part[key].as_array().map_or(0, Vec::len);
        assert!(rows > 0 || may_be_empty, "{command}");
        is_part(&part, &whole, command);
    }
    let (steps, whole) = (&data["documents"]["steps"], document("steps", &trace));
    assert_eq!(steps["processes"], whole["processes"]);
    is_part(&steps["comparisons"], &whole["comparisons"], "comparisons");
    let all = whole["steps"].as_array().unwrap();
    let kept = steps["steps"].as_array().unwrap();
    assert!(!kept.is_empty() && kept.iter().all(|it| all.contains(it)));
    let timeline = &data["documents"]["timeline"];
    assert_eq!(timeline["begin_ns"], data["documents"]["stats"]["begin_ns"]);
    let lanes = timeline["lanes"].as_array().unwrap().iter();
    let streams = lanes.filter(|it| it["is"] == "stream");
    let tasks: u64 = streams.map(|it| it["count"].as_u64().unwrap()).sum();
    assert_eq!(tasks, data["documents"]["info"]["tasks"]["timed"]);
    // Each step is a point of the plot.
    let points = data["documents"]["step_series"]["series"][0]["points"].as_array();
    let lengths = points.unwrap().iter().map(|it| &it["max_ns"]);
    assert!(lengths.eq(all.iter().map(|it| &it["length_ns"])));
}

#[test]
fn requests_are_those_of_the_command() {
    let run = Run::new(&program("server")).words(&["plain", "sync"]);
    let recording = run.options(&["--timing", "events"]).traced();
    let data = data(&report(&recording, &[]));
    let (part, whole) = (
        &data["documents"]["requests"],
        document("requests", &recording.trace()),
    );
    is_part(&part["measures"], &whole["measures"], "measures");
    let all = whole["requests"].as_array().unwrap();
    let kept = part["requests"].as_array().unwrap();
    assert_eq!(kept.len(), all.len());
    assert!(kept.iter().all(|it| all.contains(it)));
    // The longest time to the first token comes first.
    let first = kept.iter().map(|it| it["first_token_ns"].as_i64());
    assert!(first.is_sorted_by(|one, other| one >= other));
    let Some(browser) = Browser::find() else {
        return;
    };
    let shown = browser.open(&recording.beside("report.html"));
    shown.is_fine();
    assert!(shown.dom.contains(r#"<section id="requests">"#));
    assert!(shown.dom.contains("time to the first token"));
}

#[test]
fn memory_and_communication_are_those_of_stats() {
    let recording = Run::new(&program("training"))
        .words(&["8", "65536", "4"])
        .traced();
    let data = data(&report(&recording, &[]));
    for (option, part) in [
        ("--memory", "memory_usage"),
        ("--communication", "communication"),
    ] {
        let mut command = tool();
        command
            .args(["stats", "--json", option])
            .arg(recording.trace());
        let mut whole: Value = serde_json::from_str(&run(&mut command).expect(0).out()).unwrap();
        // The page has memory without the steps.
        whole["steps"] = Value::Array(Vec::new());
        for place in whole["places"].as_array_mut().into_iter().flatten() {
            place["peak_step"] = Value::Null;
        }
        is_part(&data["documents"][part], &whole, part);
    }
    let places = data["documents"]["memory_usage"]["places"]
        .as_array()
        .unwrap();
    assert!(!places.is_empty(), "the program allocates memory");
}

/// The page of a script in Python is called by the script, not by the interpreter.
#[test]
fn the_page_of_a_script_has_its_name() {
    let Some(python) = tool_in_path("python3") else {
        skip("there is no python3");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/way_ctypes.py");
    let run = Run::new(&python).words(&["-u", script.to_str().unwrap()]);
    let page = report(&run.traced(), &[]);
    assert!(page.contains("<title>way_ctypes.py ("), "it is a script");
}

#[test]
fn names_with_markup_are_inert() {
    let markup = "</script><img src=x onerror=document.title='bad'>";
    let recording = Run::new(&program("training"))
        .words(&["8", "65536", "4", markup])
        .traced();
    let page = report(&recording, &[]);
    assert!(!page.contains("<img"), "the name is markup");
    assert!(data(&page).to_string().contains("<img src=x"));
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn the_page_names_no_other_place() {
    let page = report(&training(), &[]);
    let (own, rest) = page.split_once(r#"id="data">"#).unwrap();
    let (_, script) = rest.split_once("</script>").unwrap();
    for text in [own, script] {
        let text = text.replace("http://www.w3.org/2000/svg", "");
        for word in [
            "http:",
            "https:",
            "url(",
            "@import",
            " src=",
            "fetch(",
            "XMLHttpRequest",
        ] {
            assert!(!text.contains(word), "{word}");
        }
    }
    assert!(own.contains("default-src 'none'; base-uri 'none'"));
}

#[test]
fn a_browser_shows_it_without_an_error_and_without_a_request() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let markup = "<img src=x onerror=document.title='bad'>";
    let recording = Run::new(&program("training"))
        .words(&["40", "65536", "20", markup])
        .traced();
    report(&recording, &[]);
    let shown = browser.open(&recording.beside("report.html"));
    shown.is_fine();
    for part in [
        "timeline",
        "memory",
        "what-if",
        "findings",
        "steps",
        "operations",
        "idle",
        "critical",
    ] {
        assert!(
            shown.dom.contains(&format!(r#"<section id="{part}">"#)),
            "{part}"
        );
    }
    assert!(shown.dom.contains("&lt;img src=x"), "{}", shown.dom);
    assert!(!shown.dom.contains("<title>bad"), "{}", shown.dom);
}

#[test]
fn a_report_on_a_recording_without_tasks_is_shown_as_well() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let recording = Run::new(&program("burst")).words(&["1", "10"]).traced();
    report(&recording, &[]);
    browser.open(&recording.beside("report.html")).is_fine();
}

#[test]
fn processes_have_their_ranks_on_the_page() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root").display().to_string();
    let run = Run::new(&program("ranks")).words(&["all", &root, "5", "1", "2"]);
    let recording = run.traced();
    report(&recording, &[]);
    let shown = browser.open(&recording.beside("report.html"));
    for words in [
        "device 0 busy, rank 0",
        "device 0 busy, rank 1",
        "of rank 0: ",
        "of rank 1: ",
    ] {
        assert!(shown.dom.contains(words), "{words}: {}", shown.dom);
    }
}

/// Uses the page, and writes the results into attributes of its document.
const SESSION: &str = r#"
const lanes = document.getElementById("lanes");
const noted = document.documentElement.dataset;
const shown = () => Number(lanes.dataset.until) - Number(lanes.dataset.from);
const press = (key) => dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const point = (kind, x, y) => {
  const box = lanes.getBoundingClientRect();
  lanes.dispatchEvent(new PointerEvent(kind, { clientX: box.left + x, clientY: box.top + y, pointerId: 1, bubbles: true }));
};
press("0");
const all = shown();
press("w");
noted.zoomed = shown() < 0.6 * all;
const from = Number(lanes.dataset.from);
press("d");
noted.later = Number(lanes.dataset.from) > from;
press("a");
press("s");
noted.back = Math.abs(shown() - all) < 2;
lanes.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, ctrlKey: true, bubbles: true, cancelable: true }));
noted.wheel = shown() < all;
press("0");
press("w");
const before = Number(lanes.dataset.from);
point("pointerdown", 600, 50);
point("pointermove", 700, 50);
point("pointerup", 700, 50);
noted.dragged = Number(lanes.dataset.from) < before;
point("pointermove", 20, 50);
noted.tip = document.getElementById("tip").textContent;
press("?");
noted.help = !document.querySelector(".help").hidden;
const search = document.querySelector("input[type=search]");
search.value = "MemcpyAsync";
search.dispatchEvent(new Event("input"));
search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
noted.details = document.querySelector(".details").textContent;
noted.matches = document.querySelector(".bar .dim").textContent;
press("0");
"#;

#[test]
fn keys_wheel_and_search_work_in_the_timeline() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let recording = training();
    report(&recording, &[]);
    let shown = browser.use_page(&recording.beside("report.html"), SESSION);
    shown.is_fine();
    for what in ["zoomed", "later", "back", "wheel", "dragged", "help"] {
        assert_eq!(shown.attribute(&format!("data-{what}")), "true", "{what}");
    }
    let tip = shown.attribute("data-tip");
    assert!(tip.contains("stream") && tip.contains(" slices"), "{tip}");
    let details = shown.attribute("data-details");
    assert!(details.starts_with("aclrtMemcpyAsync"), "{details}");
    let matches = shown.attribute("data-matches");
    assert!(matches.ends_with("matches in this file"), "{matches}");
}

#[test]
fn a_report_on_two_recordings_has_their_differences() {
    let (one, other) = (training(), training());
    let output = other.beside("report.html");
    let mut command = tool();
    command.arg("report").arg(one.trace()).arg(other.trace());
    run(command.arg("-o").arg(&output)).expect(0);
    let page = std::fs::read_to_string(&output).unwrap();
    let mut part = data(&page)["documents"]["diff"].clone();
    let fields = part.as_object_mut().unwrap();
    assert!(fields.remove("a_name").is_some() && fields.remove("b_name").is_some());
    let mut command = tool();
    command.args(["diff", "--json"]).arg(one.trace());
    let outcome = run(command.arg(other.trace())).expect(0);
    let whole: Value = serde_json::from_str(&outcome.out()).unwrap();
    is_part(&part, &whole, "diff");
    assert!(!part["pairs"][0]["rows"].as_array().unwrap().is_empty());
    if let Some(browser) = Browser::find() {
        let shown = browser.open(&output);
        shown.is_fine();
        assert!(shown.dom.contains(r#"<section id="differences">"#));
    }
}

#[track_caller]
fn refused(words: &[&str], expected: &str) -> Outcome {
    let outcome = run(tool().arg("report").args(words)).expect(2);
    let said = outcome.said();
    assert_eq!(said.len(), 1, "{outcome}");
    assert!(said[0].contains(expected), "{outcome}");
    outcome
}

fn words(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_cannot_be_written_is_refused_with_one_message() {
    let recording = training();
    let (trace, folder) = (words(&recording.trace()), tempfile::tempdir().unwrap());
    let there: PathBuf = folder.path().join("r.html");
    std::fs::write(&there, "mine").unwrap();
    let there = words(&there);
    refused(&[&trace, "-o", &there], "exists: --force replaces it");
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "mine");
    refused(&[&trace, "-o", &trace, "--force"], "is the trace itself");
    refused(&[&trace, "-o", "/dev/full"], "No space left on device");
    refused(&[&trace, "-o", &words(folder.path())], "is a folder");
    refused(&["nothing.atrace", "-o", "x.html"], "cannot open");
    run(tool().args(["report", &trace, "-o", &there, "--force"])).expect(0);
    assert!(std::fs::read_to_string(&there).unwrap().contains("<html"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_cut_recording_has_a_report_that_says_so() {
    let recording = training();
    let bytes = std::fs::read(recording.trace()).unwrap();
    let cut = recording.beside("cut.atrace");
    std::fs::write(&cut, &bytes[..bytes.len() * 2 / 3]).unwrap();
    let mut command = tool();
    command
        .arg("report")
        .arg(&cut)
        .arg("-o")
        .arg(recording.beside("cut.html"));
    run(&mut command).expect(3);
    let page = std::fs::read_to_string(recording.beside("cut.html")).unwrap();
    let info = &data(&page)["documents"]["info"];
    assert_eq!(info["complete"], false);
    assert!(!info["damage"].as_array().unwrap().is_empty(), "{info}");
}
