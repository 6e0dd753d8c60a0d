//! Puts the embedded files where programs and the loader can reach them: a folder of the user that no
//! other user can write to, with one subfolder per content.

mod embedded;
mod empty_library;
mod folder;
mod old_folders;
mod place;
mod preload;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use embedded::CONTENT_HASH;
pub(crate) use preload::InterposerFile;

/// Names another interposer to use.
pub(crate) const INTERPOSER_VARIABLE: &str = "ASCEND_TRACE_INTERPOSER";

/// Names a library that patches functions, in place of the embedded one.
pub(crate) const ENGINE_VARIABLE: &str = "ASCEND_TRACE_ENGINE_LIBRARY";

const INTERPOSER_FILE: &str = "libascend_trace_interposer.so";
const ENGINE_FILE: &str = "libascend_trace_frida.so";
const DEMO_FILE: &str = "ascend-trace-demo";
/// The name that clients look for in `LD_PRELOAD` before they say their ranges (torch_npu).
const MARKS_FILE: &str = "libmspti.so";
/// The name that clients look for there before they report the blocks of their allocators (torch_npu).
const BLOCKS_FILE: &str = "libascend_kernel_hook.so";
/// Files that report ranges of PyTorch and MindSpore from inside an interpreter.
const PYTHON_FILES: [(&str, &str); 4] = [
    ("sitecustomize.py", include_str!("python/sitecustomize.py")),
    (
        "ascend_trace_ranges.py",
        include_str!("python/ascend_trace_ranges.py"),
    ),
    (
        "ascend_trace_mindspore.py",
        include_str!("python/ascend_trace_mindspore.py"),
    ),
    (
        "ascend_trace_torch.py",
        include_str!("python/ascend_trace_torch.py"),
    ),
];
const SOFT_LIBRARY: &str = "libascendcl.so";

/// Names under which programs know the runtime, one a line. All of them are one file: two copies
/// in a process would be two runtimes.
const SOFT_ALIASES: &str = include_str!("../crates/soft/runtime/library_names.txt");

const OPERATORS_LIBRARY: &str = "libopapi.so";

/// Those of these names that lead to the operators, in a build that has them.
const OPERATORS_ALIASES: &str = include_str!("../crates/soft/operators/library_names.txt");

/// Where an installed CANN has its operators.
pub(crate) const OPERATORS: &str = "opp";

/// Folders of an installed CANN that clients look for (torch_npu). They are empty here.
const SOFT_FOLDERS: [&str; 3] = ["runtime", "compiler", OPERATORS];

/// The software runtime on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SoftRuntime {
    pub(crate) include: PathBuf,
    pub(crate) lib: PathBuf,
}

/// A number that is another one for any other content.
pub(crate) const fn content_hash() -> &'static str {
    CONTENT_HASH
}

/// Fails when nothing can be written to the folder.
pub(crate) fn check_writable(path: &Path) -> std::io::Result<()> {
    folder::probe(path)
}

/// The interposer: the one that the user names, else the embedded one.
pub(crate) fn interposer() -> anyhow::Result<InterposerFile> {
    if let Some(path) = std::env::var_os(INTERPOSER_VARIABLE).filter(|path| !path.is_empty()) {
        return named_interposer(path).map(InterposerFile::plain);
    }
    if embedded::INTERPOSER.is_empty() {
        bail!(
            "this build has no interposer in it: build with `cargo build`, or set {INTERPOSER_VARIABLE}"
        );
    }
    let folder = place::find(CONTENT_HASH)?;
    folder::put(&folder.join(INTERPOSER_FILE), embedded::INTERPOSER, 0o755)?;
    InterposerFile::in_folder(&folder, INTERPOSER_FILE)
}

fn named_interposer(path: OsString) -> anyhow::Result<PathBuf> {
    let shown = path.display();
    let full = std::fs::canonicalize(&path)
        .with_context(|| format!("{INTERPOSER_VARIABLE} names {shown}, which cannot be used"))?;
    if !place::loader_can_name(&full) {
        bail!(
            "{INTERPOSER_VARIABLE} names {shown}: LD_PRELOAD cannot hold a path with spaces or colons"
        );
    }
    Ok(full)
}

/// What clients report only if they find a library of a certain name in `LD_PRELOAD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientReports {
    /// Their ranges.
    pub(crate) marks: bool,
    /// The blocks of their allocators.
    pub(crate) blocks: bool,
}

/// A library that makes clients report something. It is empty.
fn named_library(name: &str) -> anyhow::Result<PathBuf> {
    let path = place::find(CONTENT_HASH)?.join("marks").join(name);
    folder::put(&path, &empty_library::library(), 0o755)?;
    Ok(path)
}

/// The list of libraries for `LD_PRELOAD`: the interposer, and those for the wanted reports of clients.
pub(crate) fn preloads(
    interposer: &InterposerFile,
    wanted: ClientReports,
) -> anyhow::Result<OsString> {
    let mut names = interposer.preload.clone();
    for (name, is_wanted) in [(MARKS_FILE, wanted.marks), (BLOCKS_FILE, wanted.blocks)] {
        if is_wanted {
            names.push(":");
            names.push(named_library(name)?);
        }
    }
    Ok(names)
}

/// The folder of the hook for interpreters of Python.
pub(crate) fn python() -> anyhow::Result<PathBuf> {
    let folder = place::find(CONTENT_HASH)?.join("python");
    for (name, content) in PYTHON_FILES {
        folder::put(&folder.join(name), content.as_bytes(), 0o644)?;
    }
    Ok(folder)
}

/// The library that patches functions: the one that the user names, else the embedded one.
pub(crate) fn engine() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os(ENGINE_VARIABLE).filter(|path| !path.is_empty()) {
        let shown = path.display();
        return std::fs::canonicalize(&path)
            .with_context(|| format!("{ENGINE_VARIABLE} names {shown}, which cannot be used"));
    }
    if embedded::ENGINE.is_empty() {
        bail!(
            "--engine frida: this build has no such engine; build it with \
             `cargo build --features frida` (`ascend-trace help engines` says what that needs), or use \
             --engine preload"
        );
    }
    let path = place::find(CONTENT_HASH)?.join(ENGINE_FILE);
    folder::put(&path, embedded::ENGINE, 0o755)?;
    Ok(path)
}

/// The software runtime: its libraries and headers.
pub(crate) fn soft() -> anyhow::Result<SoftRuntime> {
    if embedded::SOFTACL.is_empty() {
        bail!("this build has no software runtime in it: build with the feature `softacl`");
    }
    // MindSpore takes the folder that has CANN from this name.
    let root = place::find(CONTENT_HASH)?.join("softacl/cann");
    let soft = SoftRuntime {
        include: root.join("include"),
        lib: root.join("lib64"),
    };
    folder::put(&soft.lib.join(SOFT_LIBRARY), embedded::SOFTACL, 0o755)?;
    if !embedded::OPERATORS.is_empty() {
        let path = soft.lib.join(OPERATORS_LIBRARY);
        folder::put(&path, embedded::OPERATORS, 0o755)?;
    }
    for (alias, library) in links(!embedded::OPERATORS.is_empty()) {
        folder::link(&soft.lib.join(alias), Path::new(library))?;
    }
    for name in SOFT_FOLDERS {
        let folder = root.join(name);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    for (name, content) in embedded::HEADERS {
        folder::put(&soft.include.join(name), content, 0o644)?;
    }
    Ok(soft)
}

/// The other names of the libraries, each with the library that it leads to.
fn links(has_operators: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_operators = |name: &str| OPERATORS_ALIASES.lines().any(|it| it == name);
    SOFT_ALIASES
        .lines()
        .map(move |name| match has_operators && of_operators(name) {
            true => (name, OPERATORS_LIBRARY),
            false => (name, SOFT_LIBRARY),
        })
        .filter(|(name, library)| name != library)
}

/// The program of `ascend-trace demo`.
pub(crate) fn demo() -> anyhow::Result<PathBuf> {
    if embedded::DEMO.is_empty() {
        bail!("this build has no demo in it: build with the feature `softacl`");
    }
    let path = place::find(CONTENT_HASH)?.join(DEMO_FILE);
    folder::put(&path, embedded::DEMO, 0o755)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_that_the_tables_name_is_an_alias() {
        let named = ascend_trace_tables::FUNCTIONS
            .iter()
            .map(|function| function.library);
        for library in named.filter(|library| library.ends_with(".so")) {
            let known =
                library == SOFT_LIBRARY || SOFT_ALIASES.lines().any(|alias| alias == library);
            assert!(known, "{library} has no link to the software runtime");
        }
    }

    #[test]
    fn names_of_operators_lead_to_their_library_where_there_is_one() {
        let aliases: Vec<&str> = SOFT_ALIASES.lines().collect();
        assert!(OPERATORS_ALIASES.lines().all(|it| aliases.contains(&it)));
        assert!(links(false).all(|(_, library)| library == SOFT_LIBRARY));
        assert_eq!(links(false).count(), aliases.len());
        // The library itself has one of the names, and is no link.
        assert_eq!(links(true).count(), aliases.len() - 1);
        let of_operators = links(true).filter(|(_, library)| *library == OPERATORS_LIBRARY);
        assert_eq!(of_operators.count(), OPERATORS_ALIASES.lines().count() - 1);
    }
}
