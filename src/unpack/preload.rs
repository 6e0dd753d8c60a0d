//! How the interposer is named in `LD_PRELOAD`, which every program that APP starts gets to see: also
//! those that it cannot be loaded into, and those that mind what is loaded before their own libraries.
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

use super::folder;

/// What glibc puts for `$LIB`, by how a distribution has built it: `lib64` or `lib`, or with the triplet
/// behind it.
const LIBRARY_FOLDERS: [&str; 2] = ["lib64", "lib"];
/// Holds the part that AddressSanitizer looks for.
const BEFORE_SANITIZERS: &str = "before-libasan.so";

/// The library that goes into programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interposer {
    /// The file.
    pub(crate) file: PathBuf,
    /// Its name for the loader.
    pub(crate) preload: OsString,
}

impl Interposer {
    /// A file that the user named: it is loaded by that name.
    pub(super) fn plain(file: PathBuf) -> Self {
        Self {
            preload: file.clone().into(),
            file,
        }
    }

    /// The file of this name in a folder of ours.
    pub(super) fn in_folder(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let here = Path::new(".");
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        for link in LIBRARY_FOLDERS
            .into_iter()
            .chain([&*triplet, BEFORE_SANITIZERS])
        {
            folder::link(&folder.join(link), here)?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_loader_puts_for_its_token_leads_to_the_file() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("lib.so"), "content").unwrap();
        let interposer = Interposer::in_folder(root.path(), "lib.so").unwrap();
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
