//! One object file.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use object::read::elf::ElfFile64;
use object::{Object, ReadCache};

use crate::lines::Lines;
use crate::table::SymbolTable;
use crate::{ObjectProblem, SourceFunction};

/// Where distributions put debug information, by build ids.
const DEBUG_FOLDER: &str = "/usr/lib/debug/.build-id";

pub(crate) type Elf<'c> = ElfFile64<'c, object::Endianness, &'c ReadCache<File>>;

#[derive(Debug)]
pub(crate) struct ObjectFile {
    lines: Option<Lines>,
    symbols: SymbolTable,
}

impl ObjectFile {
    /// The file at a path, if it has the build id. An empty one fits any file.
    pub(crate) fn open(path: &Path, build_id: &str) -> Result<Self, ObjectProblem> {
        let cache = cache(path)?;
        let elf = parsed(&cache)?;
        if id_of(&elf) != build_id {
            return Err(ObjectProblem::Other);
        }
        let mut file = Self {
            lines: Lines::read(&elf),
            symbols: SymbolTable::read(&elf),
        };
        if file.lines.is_none() {
            file.complete(build_id);
        }
        Ok(file)
    }

    /// Adds the contents of a file of debug information.
    fn complete(&mut self, build_id: &str) {
        let Some(cache) = debug_file(build_id).and_then(|path| cache(&path).ok()) else {
            return;
        };
        let Ok(elf) = parsed(&cache) else { return };
        if id_of(&elf) == build_id {
            self.lines = Lines::read(&elf);
            self.symbols.add(&elf);
        }
    }

    /// The functions at an address, the innermost first.
    pub(crate) fn at(&self, address: u64) -> Vec<SourceFunction> {
        let mut found = match &self.lines {
            Some(lines) => lines.at(address),
            None => Vec::new(),
        };
        let symbol = || self.symbols.name(address);
        match found.last_mut() {
            // Debug information of assembly has lines alone.
            Some(outermost) if outermost.function.is_none() => outermost.function = symbol(),
            Some(_) => {}
            None => found.extend(symbol().map(|function| SourceFunction {
                function: Some(function),
                ..SourceFunction::default()
            })),
        }
        found
    }
}

fn cache(path: &Path) -> Result<ReadCache<File>, ObjectProblem> {
    match File::open(path) {
        Ok(file) if file.metadata().is_ok_and(|it| it.is_file()) => Ok(ReadCache::new(file)),
        Ok(_) => Err(ObjectProblem::Unreadable("it is no file".to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ObjectProblem::Absent),
        Err(error) => Err(ObjectProblem::Unreadable(error.to_string())),
    }
}

fn parsed(cache: &ReadCache<File>) -> Result<Elf<'_>, ObjectProblem> {
    Elf::parse(cache).map_err(|error| ObjectProblem::Unreadable(error.to_string()))
}

fn id_of(elf: &Elf<'_>) -> String {
    let mut text = String::new();
    for byte in elf.build_id().ok().flatten().unwrap_or(&[]) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn debug_file(build_id: &str) -> Option<PathBuf> {
    let (folder, rest) = build_id.split_at_checked(2)?;
    Some(
        Path::new(DEBUG_FOLDER)
            .join(folder)
            .join(format!("{rest}.debug")),
    )
}
