//! Which version of glibc a library needs: the oldest host that it runs on.

use std::path::Path;

use object::Endianness;
use object::elf::{FileHeader64, VER_FLG_WEAK};
use object::read::elf::FileHeader;

/// The newest version of glibc that the file's symbols ask for, such as (2, 34).
pub(crate) fn needed(library: &Path) -> Option<(u32, u32)> {
    let data = std::fs::read(library).ok()?;
    newest(&data).ok().flatten()
}

fn newest(data: &[u8]) -> object::Result<Option<(u32, u32)>> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let Some((mut libraries, link)) = sections.gnu_verneed(endian, data)? else {
        return Ok(None);
    };
    let strings = sections.strings(endian, data, link)?;
    let mut newest = None;
    while let Some((_, mut versions)) = libraries.next()? {
        while let Some(version) = versions.next()? {
            // All symbols of such a version may be missing.
            let flags = version.vna_flags.get(endian);
            if flags.0 & VER_FLG_WEAK.0 == 0 {
                newest = newest.max(parse(version.name(endian, strings)?));
            }
        }
    }
    Ok(newest)
}

/// The numbers of `GLIBC_2.34`. Other version names, of this library or another, do not count.
fn parse(name: &[u8]) -> Option<(u32, u32)> {
    let name = std::str::from_utf8(name).ok()?;
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_names_are_read() {
        assert_eq!(parse(b"GLIBC_2.34"), Some((2, 34)));
        assert_eq!(parse(b"GLIBC_2.2.5"), Some((2, 2)));
        assert_eq!(parse(b"GLIBC_PRIVATE"), None);
        assert_eq!(parse(b"GCC_3.0"), None);
    }

    #[test]
    fn a_program_that_calls_libc_needs_some_version_of_it() {
        let root = tempfile::tempdir().unwrap();
        let (source, program) = (root.path().join("main.c"), root.path().join("main"));
        std::fs::write(
            &source,
            "#include <stdio.h>\nint main(void) { return puts(\"x\"); }\n",
        )
        .unwrap();
        let mut compiler = std::process::Command::new("cc");
        assert!(
            compiler
                .arg(&source)
                .arg("-o")
                .arg(&program)
                .status()
                .unwrap()
                .success()
        );
        assert!(needed(&program).is_some_and(|version| version >= (2, 2)));
    }
}
