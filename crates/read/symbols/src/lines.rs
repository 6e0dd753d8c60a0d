//! Debug information: source lines, and functions that were put into others.

use std::sync::Mutex;
use std::sync::PoisonError;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian, SectionId};

use crate::file::Elf;
use crate::{SourceFunction, sections, table};

type DwarfReader = EndianArcSlice<LittleEndian>;

pub(crate) struct Lines(Mutex<Context<DwarfReader>>);

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lines")
    }
}

/// Functions at one address: inlining is not deeper than this.
const MOST: usize = 64;

impl Lines {
    /// Reads the line tables of a file, if it has any.
    pub(crate) fn read(elf: &Elf<'_>) -> Option<Self> {
        use object::Object as _;
        elf.section_by_name(".debug_info")?;
        let load = |id: SectionId| {
            let content = sections::content(elf, id.name());
            Ok::<_, gimli::Error>(DwarfReader::new(content, LittleEndian))
        };
        let dwarf = Dwarf::load(load).ok()?;
        Some(Self(Mutex::new(Context::from_dwarf(dwarf).ok()?)))
    }

    /// The functions at an address, the innermost first.
    pub(crate) fn at(&self, address: u64) -> Vec<SourceFunction> {
        let context = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        while let Ok(Some(frame)) = frames.next()
            && found.len() < MOST
        {
            let location = frame.location;
            let name = frame.function.as_ref().and_then(|it| it.raw_name().ok());
            found.push(SourceFunction {
                function: name.map(|it| table::readable(&it)),
                file: location
                    .as_ref()
                    .and_then(|it| it.file)
                    .map(ToOwned::to_owned),
                line: location.and_then(|it| it.line),
            });
        }
        found
    }
}
