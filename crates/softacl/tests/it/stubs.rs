//! The generated lists of functions without behaviour, and the table of all functions.
//!
//! `SOFTACL_UPDATE=1 cargo test -p softacl --test it` writes them anew; without it the tests fail
//! when they are not current.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{compile, crate_dir, library_dir, programs_dir, scratch};

struct Function {
    name: String,
    header: String,
    returns: String,
}

/// Every function of the tables, by name.
fn functions() -> Vec<Function> {
    let data = crate_dir().join("../hookgen/data");
    let mut all = BTreeMap::new();
    for table in ["api.tsv", "api_aclnn.tsv", "api_extra.tsv"] {
        let text = std::fs::read_to_string(data.join(table)).unwrap();
        for line in text.lines().skip(1) {
            let mut columns = line.split('\t');
            let name = columns.next().unwrap().to_owned();
            let header = columns.next().unwrap().to_owned();
            let returns = columns.nth(2).unwrap().to_owned();
            all.insert(
                name.clone(),
                Function {
                    name,
                    header,
                    returns,
                },
            );
        }
    }
    assert!(
        all.len() > 1100,
        "the tables hold only {} functions",
        all.len()
    );
    all.into_values().collect()
}

/// The name of every function of the tables.
pub(crate) fn function_names() -> Vec<String> {
    functions()
        .into_iter()
        .map(|function| function.name)
        .collect()
}

/// Names of the functions that have behaviour: what `src/exports` and `src/aclnn` define.
fn implemented() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let folders = ["src/exports", "src/aclnn"].map(|folder| crate_dir().join(folder));
    let entries = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = entries.map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(file).unwrap();
        for line in text.lines() {
            let name = line
                .trim()
                .trim_start_matches("pub(crate) extern \"C\" fn ");
            let name = name.strip_prefix("fn ").unwrap_or(name);
            let end = name
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(name.len());
            names.insert(name[..end].to_owned());
            // A row of a table of operators: both phases.
            if name[end..].starts_with(" |call") {
                names.insert(format!("{}GetWorkspaceSize", &name[..end]));
            }
        }
    }
    names
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Real,
    Accepted,
    Unsupported,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Accepted => "accepted",
            Self::Unsupported => "unsupported",
        }
    }
}

/// Profiling, dump and annotation calls and settings are accepted, except those that would have to give data.
fn is_accepted(name: &str) -> bool {
    let gives_data = ["aclprofGet", "aclprofModel", "acldumpGet"];
    if name == "aclprofGetStepTimestamp" {
        return true;
    }
    let starts = ["aclprof", "acldump", "mstx"];
    let others = [
        "aclAppLog",
        "aclmdlInitDump",
        "aclmdlFinalizeDump",
        "aclmdlSetDump",
        "aclopStartDumpArgs",
        "aclopStopDumpArgs",
        "aclDumpOpTensors",
        "aclrtSetTsDevice",
        "aclrtDeviceL2CacheFlush",
        "aclrtCacheLastTaskOpInfo",
        "aclrtCacheLastTaskExtendInfo",
        "HcclSetConfig",
    ];
    others.contains(&name)
        || (starts.iter().any(|start| name.starts_with(start))
            && !gives_data.iter().any(|start| name.starts_with(start)))
}

fn state(function: &Function, implemented: &BTreeSet<String>) -> State {
    if implemented.contains(&function.name) {
        State::Real
    } else if is_accepted(&function.name) {
        State::Accepted
    } else {
        State::Unsupported
    }
}

/// The file of `src/stubs` for a header.
fn module(header: &str) -> &'static str {
    match header {
        h if h.starts_with("acl/dvpp/") => "media",
        "acl/ops/acl_dvpp.h" => "dvpp",
        "acl/acl_mdl.h" | "acl/acl_base_mdl.h" => "model",
        h if h.starts_with("acl/acl_op") || h.starts_with("acl/ops/") => "op",
        h if h.starts_with("acl/acl_tdt") => "tdt",
        h if h.starts_with("aclnn") => "aclnn",
        h if h.starts_with("hccl/") || h.starts_with("lc") => "hccl",
        h if h.contains("prof")
            || h.contains("dump")
            || h.contains("mst")
            || h.contains("mspti") =>
        {
            "tools"
        }
        h if h.starts_with("acl/") => "runtime_group",
        _ => "hccl",
    }
}

const MODULES: [&str; 9] = [
    "aclnn",
    "dvpp",
    "hccl",
    "media",
    "model",
    "op",
    "runtime_group",
    "tdt",
    "tools",
];

/// The list of a macro that a result type belongs to.
fn shape(state: State, returns: &str) -> &'static str {
    let codes = ["aclError", "aclnnStatus", "hi_s32", "msptiResult", "int"];
    match returns {
        "void" => "nothing",
        "double" | "float" => "double",
        "HcclResult" if state == State::Unsupported => "hccl",
        _ if codes.contains(&returns) => "code",
        _ if state == State::Accepted && returns.ends_with('*') => "pointer",
        _ => "zero",
    }
}

fn render(name: &str, functions: &[Function], implemented: &BTreeSet<String>) -> String {
    let text = format!("//! Generated from the tables by `tests/it/stubs.rs`: {name}.\n");
    let mut body = String::new();
    for (wanted, shapes, makro) in [
        (
            State::Accepted,
            ["code", "pointer", "zero", "nothing", ""],
            "accepted",
        ),
        (
            State::Unsupported,
            ["code", "hccl", "zero", "nothing", "double"],
            "unsupported",
        ),
    ] {
        let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for function in functions {
            if module(&function.header) == name && state(function, implemented) == wanted {
                let list = lists.entry(shape(wanted, &function.returns)).or_default();
                list.push(&function.name);
            }
        }
        if lists.is_empty() {
            continue;
        }
        writeln!(body, "\n{makro}! {{").unwrap();
        for shape in shapes.iter().filter(|shape| lists.contains_key(*shape)) {
            writeln!(
                body,
                "    {shape}:\n        {}\n    ;",
                lists[shape].join("\n        ")
            )
            .unwrap();
        }
        writeln!(body, "}}").unwrap();
    }
    text + &body
}

/// Compares a file with what it should hold, or writes it when asked to.
#[track_caller]
fn current(path: &Path, wanted: &str) {
    if std::env::var_os("SOFTACL_UPDATE").is_some() {
        std::fs::write(path, wanted).unwrap();
        return;
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let update = "SOFTACL_UPDATE=1 cargo test -p softacl --test it";
    assert!(
        found == wanted,
        "{} is not current; run: {update}",
        path.display()
    );
}

#[test]
fn the_generated_stub_lists_are_current() {
    let (functions, implemented) = (functions(), implemented());
    for name in MODULES {
        let path = crate_dir().join(format!("src/stubs/{name}.rs"));
        current(&path, &render(name, &functions, &implemented));
    }
}

const TABLE_BEGIN: &str = "<!-- functions: generated -->\n";
const TABLE_END: &str = "<!-- end -->\n";

#[test]
fn the_function_table_in_the_manual_is_current() {
    let (functions, implemented) = (functions(), implemented());
    let mut counts: BTreeMap<State, usize> = BTreeMap::new();
    let mut rows = String::new();
    for function in &functions {
        let state = state(function, &implemented);
        *counts.entry(state).or_default() += 1;
        writeln!(
            rows,
            "| {} | {} | {} |",
            function.name,
            state.word(),
            function.header
        )
        .unwrap();
    }
    let count = |state| counts.get(&state).copied().unwrap_or(0);
    let table = format!(
        "{TABLE_BEGIN}{} functions: {} real, {} accepted, {} unsupported.\n\n\
         | function | state | header |\n|---|---|---|\n{rows}{TABLE_END}",
        functions.len(),
        count(State::Real),
        count(State::Accepted),
        count(State::Unsupported),
    );
    let path = manual();
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(TABLE_BEGIN).unwrap();
    let (_, after) = rest.split_once(TABLE_END).unwrap();
    current(&path, &format!("{before}{table}{after}"));
}

pub(crate) fn manual() -> PathBuf {
    crate_dir().join("../../docs/SOFTACL.md")
}

#[test]
fn the_library_exports_every_function_of_the_tables() {
    let names: Vec<String> = functions()
        .into_iter()
        .map(|function| function.name)
        .collect();
    let list = scratch("symbols").join("names");
    std::fs::write(&list, names.join("\n")).unwrap();
    let finder = compile(&programs_dir().join("tools/find_symbols.c"));
    let output = Command::new(&finder)
        .arg(library_dir().join("libascendcl.so"))
        .arg(&list)
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "missing:\n{report}");
    assert!(
        report.contains(&format!("{} found", names.len())),
        "{report}"
    );
}
