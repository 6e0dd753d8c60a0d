//! Functions of the tables that have no behaviour in the software runtime: which they are, and their source.
//! The build script writes it, and the tests hold the manual against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// What `softacl` knows the names of functions from, beside its own sources.
pub(crate) const TABLES: [&str; 3] = ["api.tsv", "api_aclnn.tsv", "api_extra.tsv"];
/// Where the tables are, from the crate.
pub(crate) const DATA: &str = "../../inject/hookgen/data";
/// Where the functions are that have behaviour.
pub(crate) const SOURCES: [&str; 2] = ["src/exports", "src/aclnn"];

pub(crate) struct Function {
    pub(crate) name: String,
    #[allow(dead_code, reason = "for the manual")]
    pub(crate) header: String,
    returns: String,
}

/// Every function of the tables, by name.
pub(crate) fn functions(root: &Path) -> io::Result<Vec<Function>> {
    let mut all = BTreeMap::new();
    for table in TABLES {
        let text = fs::read_to_string(root.join(DATA).join(table))?;
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let &[name, header, _, _, returns, ..] = columns.as_slice() else {
                return Err(io::Error::other(format!("{table}: {line}")));
            };
            let [name, header, returns] = [name, header, returns].map(str::to_owned);
            let function = Function {
                name: name.clone(),
                header,
                returns,
            };
            all.insert(name, function);
        }
    }
    Ok(all.into_values().collect())
}

/// Names of the functions that have behaviour: what `src/exports` and `src/aclnn` define.
pub(crate) fn implemented(root: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for folder in SOURCES {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            if path.is_file() {
                let text = fs::read_to_string(path)?;
                names.extend(text.lines().flat_map(defined));
            }
        }
    }
    Ok(names)
}

/// The names that a line of source defines, if it defines any: several that share a body stand in brackets, and a
/// row of a table of operators defines both phases.
fn defined(line: &str) -> Vec<String> {
    let line = line
        .trim()
        .trim_start_matches("pub(crate) extern \"C\" fn ");
    let line = line.strip_prefix("fn ").unwrap_or(line);
    let line = line.trim_start_matches('[');
    let end = line
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, ',' | ' '))
        .unwrap_or(line.len());
    let (names, rest) = line.split_at(end);
    let names = names.split(',').map(|name| name.trim().to_owned());
    match rest.starts_with("|call") {
        true => names
            .flat_map(|name| [format!("{name}GetWorkspaceSize"), name])
            .collect(),
        false => names.collect(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FunctionState {
    Real,
    Accepted,
    Unsupported,
}

impl FunctionState {
    #[allow(dead_code, reason = "the manual's word")]
    pub(crate) const fn word(self) -> &'static str {
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
    let starts = ["aclgrphProf", "aclprof", "acldump", "mstx"];
    let others = [
        "aclAppLog",
        "aclmdlInitDump",
        "aclmdlFinalizeDump",
        "aclmdlSetDump",
        "aclopStartDumpArgs",
        "aclopStopDumpArgs",
        "aclDumpOpTensors",
        "aclrtDeviceL2CacheFlush",
        "aclrtCacheLastTaskOpInfo",
        "aclrtCacheLastTaskExtendInfo",
        "HcclSetConfig",
    ];
    others.contains(&name)
        || (starts.iter().any(|start| name.starts_with(start))
            && !gives_data.iter().any(|start| name.starts_with(start)))
}

pub(crate) fn state(function: &Function, implemented: &BTreeSet<String>) -> FunctionState {
    if implemented.contains(&function.name) {
        FunctionState::Real
    } else if is_accepted(&function.name) {
        FunctionState::Accepted
    } else {
        FunctionState::Unsupported
    }
}

/// The list of a macro that a result type belongs to.
fn shape(state: FunctionState, returns: &str) -> &'static str {
    let codes = ["aclError", "aclnnStatus", "hi_s32", "msptiResult", "int"];
    match returns {
        "void" => "nothing",
        "double" | "float" => "double",
        "HcclResult" if state == FunctionState::Unsupported => "hccl",
        _ if codes.contains(&returns) => "code",
        _ if state == FunctionState::Accepted && returns.ends_with('*') => "pointer",
        _ => "zero",
    }
}

/// The stubs as calls of the macros of `src/stubs`: what a function does by the list that it is in.
pub(crate) fn source(root: &Path) -> io::Result<String> {
    let (functions, implemented) = (functions(root)?, implemented(root)?);
    let mut text = String::new();
    for (wanted, shapes, makro) in [
        (
            FunctionState::Accepted,
            ["code", "pointer", "zero", "nothing", ""],
            "accepted",
        ),
        (
            FunctionState::Unsupported,
            ["code", "hccl", "zero", "nothing", "double"],
            "unsupported",
        ),
    ] {
        let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let own = functions
            .iter()
            .filter(|it| state(it, &implemented) == wanted);
        for function in own {
            let list = lists.entry(shape(wanted, &function.returns)).or_default();
            list.push(&function.name);
        }
        text.push_str(makro);
        text.push_str("! {\n");
        for shape in shapes {
            if let Some(names) = lists.get(shape) {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{shape}: {};", names.join(" "));
            }
        }
        text.push_str("}\n");
    }
    Ok(text)
}
