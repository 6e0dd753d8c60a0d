//! Maps for `perf`: symbols of code that a program generates at run time. A line has the begin and the size of a
//! function in hexadecimal, and its name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Bytes of a map that are read.
const MOST: u64 = 256 << 20;

/// The functions of a map: size and name by begin address.
#[derive(Debug, Default)]
pub(crate) struct PerfMap {
    functions: BTreeMap<u64, (u64, String)>,
}

impl PerfMap {
    /// Reads the file at a path; empty if it does not exist.
    pub(crate) fn read(path: &Path) -> Self {
        let mut bytes = Vec::new();
        // Others may have put anything at that path.
        let file = File::open(path).ok();
        let file = file.filter(|file| file.metadata().is_ok_and(|it| it.is_file()));
        if let Some(file) = file {
            // Lines before a read error are valid.
            let _ = file.take(MOST).read_to_end(&mut bytes);
        }
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    pub(crate) fn parse(text: &str) -> Self {
        let functions = text.lines().filter_map(function);
        Self {
            // Memory that is used again has the function that came last.
            functions: functions.collect(),
        }
    }

    /// The name of the function at an address.
    pub(crate) fn name(&self, address: u64) -> Option<&str> {
        let (begin, (size, name)) = self.functions.range(..=address).next_back()?;
        (address - begin < *size).then_some(name)
    }
}

fn function(line: &str) -> Option<(u64, (u64, String))> {
    let mut words = line.splitn(3, ' ');
    let mut number = || {
        let word = words.next()?;
        u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
    };
    let (begin, size) = (number()?, number()?);
    Some((begin, (size, words.next()?.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_their_extent() {
        let map = PerfMap::parse(
            "7f00 10 py::step:/srv/train.py\n0x8000 20 other name\nnonsense\n7f00 20 py::again:a.py\n",
        );
        assert_eq!(
            map.name(0x7f0f),
            Some("py::again:a.py"),
            "the last one counts"
        );
        assert_eq!(map.name(0x7f20), None);
        assert_eq!(map.name(0x8010), Some("other name"));
        assert_eq!(map.name(0x10), None);
    }
}
