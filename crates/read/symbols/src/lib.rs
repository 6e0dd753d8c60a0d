//! Functions and source lines at addresses of object files, from their debug information (DWARF) and
//! their symbol tables. A file is read once, at its first address.

mod file;
mod lines;
mod perf;
mod sections;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use file::ObjectFile;
use perf::PerfMap;

/// A function at an address, or one that the compiler has put into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFunction {
    /// With `+0x12` behind it where only a symbol is known.
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// Why nothing is known of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectProblem {
    /// There is no such file.
    Absent,
    /// The file is another build of the object.
    Other,
    /// It cannot be read.
    Unreadable(String),
}

/// Reads object files, and remembers them.
#[derive(Debug, Default)]
pub struct Symbolizer {
    files: Mutex<HashMap<ObjectKey, Result<ObjectFile, ObjectProblem>>>,
    maps: Mutex<HashMap<PathBuf, PerfMap>>,
}

/// An object: its path, and its build id in hexadecimal or nothing.
type ObjectKey = (PathBuf, String);

impl Symbolizer {
    /// The functions at an address of an object's file, the innermost first.
    pub fn of_object(&self, path: &Path, build_id: &str, address: u64) -> Vec<SourceFunction> {
        self.with(path, build_id, |file| match file {
            Ok(file) => file.at(address),
            Err(_) => Vec::new(),
        })
    }

    /// Why more is not known about an object.
    pub fn trouble(&self, path: &Path, build_id: &str) -> Option<ObjectProblem> {
        self.with(path, build_id, |file| file.as_ref().err().cloned())
    }

    fn with<R>(
        &self,
        path: &Path,
        build_id: &str,
        action: impl FnOnce(&Result<ObjectFile, ObjectProblem>) -> R,
    ) -> R {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (path.to_owned(), build_id.to_owned());
        let file = files
            .entry(key)
            .or_insert_with(|| ObjectFile::open(path, build_id));
        action(file)
    }

    /// The name of code that a process has made at run time, by the map that it has written for `perf`.
    pub fn of_map(&self, path: &Path, address: u64) -> Option<String> {
        let mut maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        let map = maps
            .entry(path.to_owned())
            .or_insert_with(|| PerfMap::read(path));
        map.name(address).map(ToOwned::to_owned)
    }
}
