//! PyTorch, where `ASCEND_TRACE_TORCH_PYTHON` names an interpreter that has torch and `torch_npu`
//! (docs/HOOKING.md says how to get one).

mod formats;
mod kinds;
mod memory;
mod models;
mod ranges;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::support::compile::{built, built_from};
use crate::support::process::{clean, scratch};
use crate::support::{Run, Tables, run};

/// Starts the program with a library preloaded before ours and a folder of libraries before softacl's.
const START: &str = r#"LD_PRELOAD="$1${LD_PRELOAD:+:$LD_PRELOAD}" \
LD_LIBRARY_PATH="$2:$LD_LIBRARY_PATH" exec "$3" "$4""#;

#[test]
fn torch_sees_the_same_and_no_call_of_a_fetched_function_is_missed() {
    let Some(python) = interpreter() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (bare_file, traced_file) = (folder.path().join("bare"), folder.path().join("traced"));
    let run_it = small_program(&python);
    let observed = |file: &Path| run_it.clone().variable("OBSERVED", text(file));
    let bare = observed(&bare_file).bare().expect(0);
    let recording = observed(&traced_file).traced();
    let traced = recording.outcome.clone().expect(0);
    assert_eq!(traced.out(), bare.out(), "{traced}");
    let plain = |text: &str| without_timestamps(text);
    assert_eq!(plain(&traced.program_err()), plain(&bare.err()), "{traced}");
    assert!(!traced.err().contains("LOST"), "{traced}");

    let (bare, traced) = (observations(&bare_file), observations(&traced_file));
    assert_eq!(answers(&traced), answers(&bare));
    let tables = Tables::of(&recording);
    let fetched = traced.iter().filter(|(name, _)| is_acl(name));
    let mut functions = 0;
    let mut calls = 0;
    for (name, observed) in fetched {
        let recorded = tables.count_calls(name);
        assert_eq!(recorded, observed.calls, "calls of {name}");
        functions += usize::from(observed.answer == "found");
        calls += recorded;
    }
    // Newer releases ask for most names without a handle, which the observer does not see.
    assert!(functions > 10 && calls > 30, "{functions} {calls}");
    tables.all_timed();
    let is_task = |name: &str| tables.tasks.iter().any(|task| task.text("name") == name);
    assert!(["aclnnAdd", "aclnnMuls"].into_iter().all(is_task));
}

/// The interpreter, or a message that it is missing, or that this build has no operators for it.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
pub(crate) fn interpreter() -> Option<std::ffi::OsString> {
    let python = std::env::var_os("ASCEND_TRACE_TORCH_PYTHON");
    if python.is_none() {
        eprintln!("skipped: ASCEND_TRACE_TORCH_PYTHON names no interpreter");
    } else if !cfg!(feature = "operators") {
        eprintln!("skipped: this build has no feature operators");
        return None;
    }
    python
}

/// A test program in Python, with its requirements in addition to softacl.
fn program(python: &OsStr, words: &[&str]) -> Run {
    let beside = scratch().join("programs/torch");
    std::fs::create_dir_all(&beside).unwrap();
    cuda(python);
    let start = r#"LD_LIBRARY_PATH="$1:$LD_LIBRARY_PATH" exec "$2" -W ignore "${@:3}""#;
    let fixed = ["-c", start, "bash", text(&beside), text(Path::new(python))];
    Run::new(Path::new("/bin/bash")).words(&[&fixed[..], words].concat())
}

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    text(&path).to_owned()
}

#[test]
fn operators_compute_what_pytorch_does_on_the_processor() {
    let Some(python) = interpreter() else { return };
    let outcome = program(&python, &[&source("tests/programs/torch_operators.py")])
        .bare()
        .expect(0);
    let alike = outcome.out().lines().last().and_then(|line| {
        let (alike, _) = line.strip_prefix("alike: ")?.split_once(',')?;
        alike.parse::<usize>().ok()
    });
    assert!(alike > Some(4000), "{outcome}");
}

/// A language model, a convolutional net, every optimizer: compared with the same on the processor.
#[test]
fn training_goes_as_on_the_processor_and_tracing_changes_nothing() {
    let Some(python) = interpreter() else { return };
    let run_it = program(&python, &[&source("tests/programs/torch_training.py")]);
    let bare = run_it.clone().bare().expect(0);
    let recording = run_it.traced();
    let traced = recording.outcome.clone().expect(0);
    assert_eq!(traced.out(), bare.out(), "{traced}");
    assert!(bare.out().ends_with("all good\n"), "{bare}");
    assert!(!traced.err().contains("LOST"), "{traced}");
}

#[test]
fn ranks_share_gradients_and_every_collective_computes() {
    let Some(python) = interpreter() else { return };
    for ranks in ["2", "4"] {
        let file = source("tests/programs/torch_distributed.py");
        let words = [
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            ranks,
            &file,
        ];
        let run_it = program(&python, &words).soft("devices=4");
        let bare = run_it.clone().bare().expect(0);
        let recording = run_it.traced();
        let traced = recording.outcome.clone().expect(0);
        let said = |text: &str| without_warnings(text);
        assert_eq!(said(&traced.out()), said(&bare.out()), "{traced}");
        assert!(bare.out().ends_with("all good\n"), "{bare}");
        assert!(!traced.err().contains("LOST"), "{traced}");
    }
}

/// What ranks print that is their own. Each prints the warnings of `torch_npu` as it is imported, which may come in the
/// middle of each other's lines.
fn without_warnings(text: &str) -> Vec<String> {
    // Releases write the colon in two ways.
    let warning = "ASCEND_HOME_PATH environment variable is not set.";
    let text = ["Warning: ", "Warning : "]
        .into_iter()
        .fold(text.to_owned(), |text, head| {
            text.replace(&format!("{head}{warning}"), "")
        });
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Also launches that another thread makes, which runs no Python.
#[test]
fn calls_and_launches_are_shown_with_the_lines_of_the_program() {
    let Some(python) = interpreter() else { return };
    let file = source("examples/train.py");
    let run_it = program(&python, &[&file, "--steps", "3", "--workers", "0"]);
    let recording = run_it.options(&["--stacks"]).traced();
    recording.outcome.clone().expect(0);
    let tables = Tables::of(&recording);
    let in_forward = "(Layer.forward)";
    for name in ["aclnnAddmmGetWorkspaceSize", "aclnnAddmm"] {
        let calls = tables.calls.iter().filter(|it| it.text("name") == name);
        let sites: Vec<&str> = calls.map(|it| it.text("call_site")).collect();
        let is_line = |it: &&&str| it.starts_with("examples/train.py:");
        let lines = sites.iter().filter(is_line);
        let forward = lines.filter(|it| it.ends_with(in_forward)).count();
        // Six in each of three steps.
        assert!(forward >= 12, "{name}: {sites:#?}");
    }
}

#[test]
fn the_example_learns() {
    let Some(python) = interpreter() else { return };
    let outcome = program(&python, &[&source("examples/train.py"), "--steps", "30"])
        .bare()
        .expect(0);
    let output = outcome.out();
    let losses = output
        .lines()
        .filter_map(|line| line.split_once("loss ")?.1.parse::<f64>().ok());
    let losses: Vec<f64> = losses.collect();
    assert!(
        losses.len() == 3 && losses[2] < 0.8 * losses[0],
        "{outcome}"
    );
}

/// Output on standard error, without the times of torch's warnings: `[W1123 15:46:36.7 F.cpp:1]`.
fn without_timestamps(text: &str) -> String {
    let line = |line: &str| match line
        .strip_prefix("[W")
        .and_then(|it| it.splitn(3, ' ').nth(2))
    {
        Some(rest) => format!("[W {rest}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The small program, with an observer of its lookups and with its requirements in addition to softacl.
fn small_program(python: &OsStr) -> Run {
    let beside = scratch().join("programs/torch");
    std::fs::create_dir_all(&beside).unwrap();
    cuda(python);
    let observer = built(
        "torch_observer.so",
        "torch_observer.c",
        &["-shared", "-fPIC", "-pthread"],
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/torch_small.py");
    let words = [&observer, &beside, Path::new(python), &script].map(text);
    Run::new(Path::new("/bin/sh")).words(&[&["-c", START, "sh"][..], &words].concat())
}

/// The usual wheel of torch does not load without the libraries of CUDA. Where they are missing,
/// libraries take their place in which every function says that there is no such device.
pub(crate) fn cuda(python: &OsStr) {
    std::fs::create_dir_all(scratch().join("programs/torch")).unwrap();
    let needs = run(clean("ldd")
        .arg("-r")
        .arg(torch_folder(python).join("lib/libtorch_python.so")));
    let (missing, functions) = unresolved(&(needs.out() + &needs.err()));
    for library in &missing {
        let names = functions.get(library.as_str()).into_iter().flatten();
        let source: String = names
            .map(|name| format!("int {name}(void);\nint {name}(void) {{ return 100; }}\n"))
            .collect();
        let versions = scratch()
            .join("programs/torch")
            .join(format!("{library}.map"));
        // These libraries use their names as the version of their symbols.
        std::fs::write(&versions, format!("{library} {{ global: *; }};\n")).unwrap();
        let versions = format!("-Wl,--version-script={}", text(&versions));
        let soname = format!("-Wl,-soname,{library}");
        let options = ["-shared", "-fPIC", "-fno-builtin", &soname, &versions];
        built_from(&format!("torch/{library}"), &source, &options);
    }
}

fn torch_folder(python: &OsStr) -> PathBuf {
    let ask =
        "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])";
    let output = run(clean(python).args(["-c", ask])).expect(0);
    PathBuf::from(output.out().trim_end())
}

type Functions = BTreeMap<String, BTreeSet<String>>;

/// Libraries that `ldd -r` does not find, and the functions that are wanted of each. The functions
/// without a version are taken for those of the last one.
fn unresolved(output: &str) -> (BTreeSet<String>, Functions) {
    let lines = output.lines().map(str::trim);
    let missing: BTreeSet<String> = lines
        .clone()
        .filter_map(|line| line.strip_suffix(" => not found"))
        .map(str::to_owned)
        .collect();
    let mut functions = Functions::new();
    let last = missing.last().cloned().unwrap_or_default();
    for wanted in lines.filter_map(|line| line.strip_prefix("undefined symbol: ")) {
        let wanted = wanted
            .split(['\t', '('])
            .next()
            .unwrap_or_default()
            .trim_end();
        let (name, library) = match wanted.split_once(", version ") {
            Some((name, library)) => (name, library.to_owned()),
            None => (wanted, last.clone()),
        };
        // The interpreter has these.
        if !name.trim_start_matches('_').starts_with("Py") {
            functions
                .entry(library)
                .or_default()
                .insert(name.to_owned());
        }
    }
    (missing, functions)
}

/// The observer's facts about one name.
struct Observed {
    answer: String,
    calls: usize,
}

fn observations(file: &Path) -> BTreeMap<String, Observed> {
    let content = std::fs::read_to_string(file).unwrap();
    let entry = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let [name, answer, calls] = words[..] else {
            panic!("{line:?}");
        };
        let observed = Observed {
            answer: answer.to_owned(),
            calls: calls.parse().unwrap(),
        };
        (name.to_owned(), observed)
    };
    content.lines().map(entry).collect()
}

/// Every name that was looked up, AscendCL's or not, and whether it was found.
fn answers(observed: &BTreeMap<String, Observed>) -> Vec<(&str, &str)> {
    let each = observed.iter();
    each.map(|(name, it)| (name.as_str(), it.answer.as_str()))
        .collect()
}

/// Those with calls that the observer counts.
fn is_acl(name: &str) -> bool {
    ["acl", "Hccl"].iter().any(|start| name.starts_with(start))
}

#[track_caller]
fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
