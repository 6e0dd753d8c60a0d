//! Which functions a library offers to others.

use std::path::Path;

use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader, Sym};

/// A function that a library exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFunction {
    pub name: String,
    /// It does nothing but jump to another one.
    pub forwards: bool,
}

/// The functions that the library at `path` exports, in name order; none when it cannot be read.
pub fn of(path: &Path) -> Vec<ExportedFunction> {
    let data = std::fs::read(path).unwrap_or_default();
    let mut found = read(&data).unwrap_or_default();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found.dedup_by(|a, b| a.name == b.name);
    found
}

/// Whether a name is one of AscendCL's; POSIX access control lists have `acl_`.
pub fn is_acl(name: &str) -> bool {
    let after = |prefix: &str| name.strip_prefix(prefix);
    after("acl").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        || ["Acl", "Hccl", "Lccl", "mstx"]
            .iter()
            .any(|prefix| after(prefix).is_some_and(|rest| !rest.is_empty()))
}

fn read(data: &[u8]) -> object::Result<Vec<ExportedFunction>> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let segments = header.program_headers(endian, data)?;
    let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM)?;
    let mut found = Vec::new();
    for symbol in symbols.iter() {
        if symbol.is_undefined(endian) || symbol.st_type() != elf::STT_FUNC {
            continue;
        }
        let name = String::from_utf8_lossy(symbol.name(endian, symbols.strings())?).into_owned();
        let address = symbol.st_value(endian);
        let code = segments.iter().find_map(|segment| {
            use object::read::elf::ProgramHeader;
            segment.data_range(endian, data, address, 8).ok().flatten()
        });
        found.push(ExportedFunction {
            name,
            forwards: code.is_some_and(is_jump),
        });
    }
    Ok(found)
}

/// Whether code begins with a jump to somewhere else: a function with another name, found by the
/// dynamic linker. An instruction that only marks where jumps may arrive can come before it.
fn is_jump(code: &[u8]) -> bool {
    if cfg!(target_arch = "aarch64") {
        is_aarch64_jump(code)
    } else {
        is_x86_64_jump(code)
    }
}

fn is_aarch64_jump(code: &[u8]) -> bool {
    let code = code.strip_prefix(&[0x5f, 0x24, 0x03, 0xd5]).unwrap_or(code);
    let word = code
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes));
    word >> 26 == 0b00_0101
}

fn is_x86_64_jump(code: &[u8]) -> bool {
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    matches!(code, [0xe9, ..] | [0xff, 0x25, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_interface_are_recognised() {
        assert!(is_acl("aclrtMalloc") && is_acl("aclnnAdd") && is_acl("HcclSend"));
        assert!(!is_acl("acl_get_file") && !is_acl("acl") && !is_acl("malloc"));
    }

    #[test]
    fn a_jump_is_known_by_its_first_instruction() {
        assert!(is_x86_64_jump(&[0xe9, 0, 0, 0, 0]));
        assert!(is_x86_64_jump(&[0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0]));
        assert!(!is_x86_64_jump(&[0x55, 0x48]));
        let (mark, jump, call) = (0xd503_245f_u32, 0x1400_0004_u32, 0x9400_0004_u32);
        let code = |words: &[u32]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        assert!(is_aarch64_jump(&code(&[jump, 0])));
        assert!(is_aarch64_jump(&code(&[mark, jump])));
        assert!(!is_aarch64_jump(&code(&[mark, call])));
    }

    #[test]
    fn exported_functions_of_a_library_are_found_and_forwarders_known() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let source = "int aclOther(int);\nint aclFirst(int a) { return aclOther(a); }\n\
                      int aclSecond(int a) { return a * 2 + 1; }\nstatic int hidden(void) { return 1; }\n\
                      int aclThird(void) { return hidden(); }\n";
        std::fs::write(path("a.c"), source).unwrap();
        let status = std::process::Command::new("cc")
            .args(["-shared", "-fPIC", "-O2", "-o"])
            .arg(path("liba.so"))
            .arg(path("a.c"))
            .status()
            .unwrap();
        assert!(status.success());
        let found = of(&path("liba.so"));
        let acl: Vec<_> = found
            .iter()
            .filter(|export| is_acl(&export.name))
            .map(|export| (export.name.as_str(), export.forwards))
            .collect();
        assert_eq!(
            acl,
            [
                ("aclFirst", true),
                ("aclSecond", false),
                ("aclThird", false)
            ]
        );
    }
}
