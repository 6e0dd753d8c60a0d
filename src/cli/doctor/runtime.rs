//! Which AscendCL a program would get, and how much of it would be caught.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{DoctorFinding, finding, note};
use crate::launch::elf::{self, ProgramFile};
use ascend_trace_collector::exports::{self, ExportedFunction};
use ascend_trace_tables as tables;

/// The names under which programs ask for the runtime, old and new.
const NAMES: [&str; 2] = ["libascendcl.so", "libacl_rt.so"];

/// Default folders of the loader, after all configured ones.
const DEFAULT: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// The runtime that a program would load by name, as far as the environment decides it.
pub(super) fn found() -> Vec<DoctorFinding> {
    let Some((path, how)) = NAMES.iter().find_map(|name| search(name)) else {
        let text = "no libascendcl.so or libacl_rt.so is found by name: source CANN's set_env.sh, or \
                    use --soft; a program may still find one by its own path";
        return vec![note("runtime", text)];
    };
    let mut findings = vec![finding("runtime", library(&path, &how))];
    findings.extend(version(&path));
    findings
}

/// The software runtime that a program would load from this folder.
pub(super) fn soft(folder: &Path) -> Vec<DoctorFinding> {
    let found = NAMES
        .iter()
        .map(|name| library(&folder.join(name), "by --soft"));
    found.map(|found| finding("runtime", found)).collect()
}

/// Contents of one library, in words; its fault as the error.
pub(super) fn library(path: &Path, how: &str) -> Result<String, String> {
    let shown = path.display();
    match elf::inspect(path) {
        Ok(ProgramFile::Foreign { machine }) => {
            let own = std::env::consts::ARCH;
            return Err(format!(
                "{shown} ({how}) is built for {machine}, this machine is {own}: install CANN for {own}"
            ));
        }
        Ok(ProgramFile::Other) => return Err(format!("{shown} ({how}) is not a library")),
        Ok(_) => {}
        Err(error) => return Err(format!("{error:#}")),
    }
    Ok(format!("{shown} ({how}): {}", summary(&exports::of(path))))
}

fn summary(exports: &[ExportedFunction]) -> String {
    let is_known = |export: &&ExportedFunction| {
        let known = tables::FUNCTIONS.binary_search_by(|it| it.name.cmp(&export.name));
        known.is_ok()
    };
    let acl: Vec<&ExportedFunction> = exports
        .iter()
        .filter(|export| exports::is_acl(&export.name) || is_known(export))
        .collect();
    let hooked = acl.iter().filter(|export| is_known(export)).count();
    let forwards = acl.iter().filter(|export| export.forwards).count();
    let unknown = acl.len() - hooked;
    let mut text = format!("{} functions, {hooked} intercepted", acl.len());
    if unknown > 0 {
        text.push_str(&format!(", {unknown} more without their arguments"));
    }
    if forwards > 0 {
        text.push_str(&format!("; {forwards} only call another library"));
    }
    text
}

/// The first library of this name, and by which way it is found.
fn search(name: &str) -> Option<(PathBuf, String)> {
    let given = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let given = std::env::split_paths(&given).map(|folder| (folder, "LD_LIBRARY_PATH"));
    let first = given
        .filter(|(folder, _)| !folder.as_os_str().is_empty())
        .map(|(folder, how)| (folder.join(name), how))
        .find(|(path, _)| path.exists());
    if let Some((path, how)) = first {
        return Some((path, format!("by {how}")));
    }
    if let Some(path) = cached(name) {
        return Some((path, "by the loader's cache".to_owned()));
    }
    let default = DEFAULT.iter().map(|folder| Path::new(folder).join(name));
    let found = default.into_iter().find(|path| path.exists());
    found.map(|path| (path, "in the system's folder".to_owned()))
}

/// The path of a library in the loader's cache.
fn cached(name: &str) -> Option<PathBuf> {
    let output = ["ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"]
        .iter()
        .find_map(|program| Command::new(program).arg("-p").output().ok())?;
    in_cache(&String::from_utf8_lossy(&output.stdout), name)
}

fn in_cache(listing: &str, name: &str) -> Option<PathBuf> {
    let lines = listing.lines().map(str::trim);
    let mut own = lines.filter(|line| line.split(' ').next() == Some(name));
    own.find_map(|line| Some(PathBuf::from(line.split_once(" => ")?.1)))
}

/// The release of CANN that a library belongs to, by the files that lie around it.
fn version(library: &Path) -> Option<DoctorFinding> {
    let real = library.canonicalize().ok()?;
    let files = ["version.info", "version.cfg", "ascend_toolkit_install.info"];
    for folder in real.ancestors().skip(1).take(4) {
        for file in files {
            let path = folder.join(file);
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if let Some(version) = version_in(&text) {
                let text = format!("{version}, by {}", path.display());
                return Some(finding("CANN version", Ok(text)));
            }
        }
    }
    Some(note("CANN version", "no file near the library names it"))
}

/// `Version=8.3.RC1` or `version=…`; later formats write `runtime_running_version=[1.2:8.3.RC1]`.
fn version_in(text: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let mut versions = lines.filter(|(name, _)| {
        name.trim().eq_ignore_ascii_case("version") || name.trim().ends_with("_version")
    });
    let (_, value) = versions.find(|(_, value)| !value.trim().is_empty())?;
    let value = value.trim().trim_matches(|c| matches!(c, '[' | ']' | '"'));
    Some(value.rsplit(':').next().unwrap_or(value).to_owned())
}

/// Libraries that the user preloads as well.
pub(super) fn preloads(value: Option<&OsStr>) -> Vec<DoctorFinding> {
    let value = value.unwrap_or_default().to_string_lossy().into_owned();
    let separators = |c: char| c == ':' || c.is_whitespace();
    let paths = value.split(separators).filter(|path| !path.is_empty());
    paths.map(preload).collect()
}

fn preload(path: &str) -> DoctorFinding {
    let file = path.rsplit('/').next().unwrap_or(path);
    let what = "LD_PRELOAD";
    if file.starts_with("libmspti") {
        return note(
            what,
            format!(
                "{path} is the vendor's profiler, which calls the runtime directly. The tracer's library \
                 comes before it, so both see the calls. A wrapper script that puts it first hides them"
            ),
        );
    }
    // A name with a token is the loader's to expand.
    if path.contains('/') && !path.contains('$') && !Path::new(path).exists() {
        return note(
            what,
            format!("{path} does not exist; the loader will report it"),
        );
    }
    note(
        what,
        format!("{path} is loaded too, after the tracer's library"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_read_by_whole_names() {
        let listing = "2 libs found\n\tlibascendcl.so.1 (libc6) => /a/libascendcl.so.1\n\
                       \tlibascendcl.so (libc6,x86-64) => /b/libascendcl.so\n";
        let found = in_cache(listing, "libascendcl.so");
        assert_eq!(found, Some(PathBuf::from("/b/libascendcl.so")));
        assert_eq!(in_cache(listing, "libacl_rt.so"), None);
    }

    #[test]
    fn versions_are_read_in_all_their_forms() {
        assert_eq!(version_in("Version=8.3.RC1\n").as_deref(), Some("8.3.RC1"));
        let later = "# generated\nruntime_running_version=[7.8.0.1:8.3.RC1]\n";
        assert_eq!(version_in(later).as_deref(), Some("8.3.RC1"));
        assert_eq!(version_in("arch=aarch64\n"), None);
    }

    #[test]
    fn a_library_for_another_machine_differs_from_a_missing_library() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("libascendcl.so");
        std::fs::write(&path, "text").unwrap();
        assert!(
            library(&path, "here")
                .unwrap_err()
                .contains("is not a library")
        );
        let mut bytes = std::fs::read("/proc/self/exe").unwrap();
        bytes[18..20].copy_from_slice(&243u16.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
        let error = library(&path, "here").unwrap_err();
        assert!(error.contains("is built for riscv"), "{error}");
    }

    #[test]
    fn other_preloads_are_named() {
        let all = preloads(Some(OsStr::new("/x/libmspti.so:/nowhere/a.so libplain.so")));
        let texts: Vec<_> = all.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts.len(), 3);
        assert!(texts[0].contains("vendor's profiler"));
        assert!(texts[1].contains("does not exist"));
        assert_eq!(
            texts[2],
            "libplain.so is loaded too, after the tracer's library"
        );
        assert!(preloads(None).is_empty());
    }
}
