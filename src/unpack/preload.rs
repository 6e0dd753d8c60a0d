//! The name of the interposer in `LD_PRELOAD`, which all programs that APP starts receive: also those
//! that it cannot be loaded into, and those that refuse foreign preloaded libraries.
//!
//! The name is `FOLDER/$LIB/before-libasan.so/FILE`, and all of it but the file are links to the folder:
//!
//! * `$LIB` is expanded by glibc's loader alone. Others, such as musl's, look for a folder of that
//!   name, find none, and skip the library in silence. If they found it, its symbols would be missing, and
//!   the program would not start. Where a shell has expanded the variable to nothing, the name holds too.
//! * AddressSanitizer refuses to start when the first library is not its own, which it tells by a part
//!   of the name that the loader was given. Ours replaces nothing that the sanitizer stands in for, so
//!   it does no harm there. A runtime that is linked into the program looks for the same part in the
//!   names of mapped files, where links do not show, and finds nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::folder;
use crate::launch::elf::{self, ProgramFile};

/// What glibc puts for `$LIB`, by how a distribution has built it: `lib64` or `lib`, or with the triplet
/// behind it.
const LIBRARY_FOLDERS: [&str; 2] = ["lib64", "lib"];
/// Holds the part that AddressSanitizer looks for.
const BEFORE_SANITIZERS: &str = "before-libasan.so";

/// The library that goes into programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InterposerFile {
    /// The file.
    pub(crate) file: PathBuf,
    /// Its name for the loader.
    pub(crate) preload: OsString,
}

impl InterposerFile {
    /// A file that the user named: it is loaded by that name.
    pub(super) fn plain(file: PathBuf) -> Self {
        Self {
            preload: file.clone().into(),
            file,
        }
    }

    /// The file of this name in a folder of the tool.
    pub(super) fn in_folder(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let here = Path::new(".");
        let last = folder.join(BEFORE_SANITIZERS);
        if !last.exists() {
            let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
            let known = LIBRARY_FOLDERS
                .map(str::to_owned)
                .into_iter()
                .chain([triplet]);
            for link in known.chain(asked_of_loader()) {
                folder::link(&folder.join(link), here)?;
            }
        }
        folder::link(&last, here)?;
        Ok(Self {
            file: folder.join(name),
            preload: folder
                .join("$LIB")
                .join(BEFORE_SANITIZERS)
                .join(name)
                .into(),
        })
    }
}

/// The value of the token in this host's loader, in parts: a distribution may have changed it.
fn asked_of_loader() -> Vec<String> {
    let Ok(ProgramFile::Dynamic(own)) = elf::inspect(Path::new("/proc/self/exe")) else {
        return Vec::new();
    };
    let output = Command::new(own.interpreter)
        .arg("--list-diagnostics")
        .output();
    let output = output.map(|output| output.stdout).unwrap_or_default();
    parts(&String::from_utf8_lossy(&output))
}

/// The parts of the path in `dl_dst_lib="lib/x86_64-linux-gnu"`.
fn parts(output: &str) -> Vec<String> {
    let value = output
        .lines()
        .find_map(|line| line.strip_prefix("dl_dst_lib=\""));
    let value = value
        .and_then(|value| value.strip_suffix('"'))
        .unwrap_or_default();
    let parts = value
        .split('/')
        .filter(|part| !["", ".", ".."].contains(part));
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_is_understood() {
        let output = "dl_discover_osversion=0x0\ndl_dst_lib=\"lib/x86_64-linux-gnu\"\nx=\"y\"\n";
        assert_eq!(parts(output), ["lib", "x86_64-linux-gnu"]);
        assert!(parts("").is_empty() && parts("dl_dst_lib=\"../..\"").is_empty());
        assert!(asked_of_loader().iter().any(|part| part.starts_with("lib")));
    }

    #[test]
    fn every_expansion_of_the_loaders_token_leads_to_the_file() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("lib.so"), "content").unwrap();
        let interposer = InterposerFile::in_folder(root.path(), "lib.so").unwrap();
        let name = interposer.preload.to_str().unwrap();
        let triplet = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
        for folder in ["lib", "lib64", &triplet, ""] {
            let path = PathBuf::from(name.replace("$LIB", folder));
            assert_eq!(std::fs::read(&path).unwrap(), b"content", "{folder}");
            let real = path.canonicalize().unwrap();
            assert!(!real.to_str().unwrap().contains("libasan"), "{real:?}");
        }
        assert!(!Path::new(name).exists());
    }
}
