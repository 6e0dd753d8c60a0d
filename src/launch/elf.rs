//! What kind of file a program is: whether the loader would put our library into it at all.

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};

/// A program file, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProgramFile {
    /// A dynamically linked ELF file for this machine.
    Dynamic(DynamicProgram),
    /// An ELF file without a loader: nothing can be preloaded into it.
    Static,
    /// An ELF file for another machine.
    Foreign { machine: String },
    /// A script, or something that only the kernel knows how to start.
    Other,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DynamicProgram {
    /// The loader that the file names; empty for a loader itself.
    pub(crate) interpreter: String,
    /// The libraries that it is linked against.
    pub(crate) needed: Vec<String>,
}

impl DynamicProgram {
    /// The C library of a program that is not glibc's, by the name of its loader.
    pub(crate) fn other_library(&self) -> Option<&'static str> {
        let name = self.interpreter.rsplit('/').next().unwrap_or_default();
        let others = [
            ("ld-musl", "musl"),
            ("ld-uClibc", "uClibc"),
            ("ld64-uClibc", "uClibc"),
            ("linker", "Android's C library"),
        ];
        let known = others.iter().find(|(loader, _)| name.starts_with(loader));
        known.map(|(_, library)| *library)
    }
}

/// Reads the headers of the file.
pub(crate) fn inspect(path: &Path) -> anyhow::Result<ProgramFile> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let data = ReadCache::new(file);
    let read = match FileKind::parse(&data) {
        Ok(FileKind::Elf64) => program::<FileHeader64<Endianness>, _>(&data),
        Ok(FileKind::Elf32) => program::<FileHeader32<Endianness>, _>(&data),
        _ => return Ok(ProgramFile::Other),
    };
    read.with_context(|| format!("{shown} has damaged ELF headers"))
}

fn program<'data, H, R>(data: R) -> object::Result<ProgramFile>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let machine = header.e_machine(endian);
    let fits = header.is_type_64() && header.is_little_endian() && is_this_machine(machine);
    if !fits {
        let machine = machine_name(machine, header.is_type_64());
        return Ok(ProgramFile::Foreign { machine });
    }
    let mut dynamic = DynamicProgram::default();
    for segment in header.program_headers(endian, data)? {
        if let Some(name) = segment.interpreter(endian, data)? {
            dynamic.interpreter = String::from_utf8_lossy(name).into_owned();
        }
    }
    if dynamic.interpreter.is_empty() && !is_loader(header, endian, data) {
        return Ok(ProgramFile::Static);
    }
    // Without section headers the names are out of reach; they only serve for advice.
    dynamic.needed = needed(header, endian, data).unwrap_or_default();
    Ok(ProgramFile::Dynamic(dynamic))
}

fn needed<'data, H, R>(header: &H, endian: Endianness, data: R) -> object::Result<Vec<String>>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    names(header, endian, data, elf::DT_NEEDED)
}

/// `ld.so ./app` is a way to start programs, and preloading works with it.
fn is_loader<'data, H, R>(header: &H, endian: Endianness, data: R) -> bool
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    names(header, endian, data, elf::DT_SONAME)
        .is_ok_and(|names| names.iter().any(|name| name.starts_with("ld-")))
}

/// The strings of the dynamic section with this tag.
fn names<'data, H, R>(
    header: &H,
    endian: Endianness,
    data: R,
    tag: elf::DynamicTag,
) -> object::Result<Vec<String>>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let sections = header.sections(endian, data)?;
    let Some((entries, link)) = sections.dynamic(endian, data)? else {
        return Ok(Vec::new());
    };
    let strings = sections.strings(endian, data, link)?;
    let matching = entries.iter().filter(|entry| entry.d_tag(endian) == tag);
    matching
        .map(|entry| {
            let name = entry.string(endian, strings)?;
            Ok(String::from_utf8_lossy(name).into_owned())
        })
        .collect()
}

fn is_this_machine(machine: elf::Machine) -> bool {
    match std::env::consts::ARCH {
        "x86_64" => machine == elf::EM_X86_64,
        "aarch64" => machine == elf::EM_AARCH64,
        _ => true,
    }
}

fn machine_name(machine: elf::Machine, is_64: bool) -> String {
    match machine {
        elf::EM_X86_64 if is_64 => "x86_64".to_owned(),
        elf::EM_X86_64 => "x32".to_owned(),
        elf::EM_386 => "i386".to_owned(),
        elf::EM_AARCH64 => "aarch64".to_owned(),
        elf::EM_ARM => "arm".to_owned(),
        elf::EM_RISCV => "riscv".to_owned(),
        other => format!("ELF machine {}", other.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(directory: &Path, flags: &[&str]) -> Option<std::path::PathBuf> {
        let source = directory.join("main.c");
        std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let output = directory.join("main");
        let status = std::process::Command::new("cc")
            .arg(&source)
            .arg("-o")
            .arg(&output)
            .args(flags)
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        status.success().then_some(output)
    }

    #[test]
    fn a_linked_program_names_its_loader_and_libraries() {
        let directory = tempfile::tempdir().unwrap();
        let path = compile(directory.path(), &[]).unwrap();
        let ProgramFile::Dynamic(dynamic) = inspect(&path).unwrap() else {
            panic!("not dynamic");
        };
        assert!(dynamic.interpreter.contains("ld-"), "{dynamic:?}");
        assert!(dynamic.needed.iter().any(|name| name.starts_with("libc.")));
    }

    #[test]
    fn the_loader_shows_the_c_library() {
        let library = |interpreter: &str| {
            let interpreter = interpreter.to_owned();
            DynamicProgram {
                interpreter,
                needed: Vec::new(),
            }
            .other_library()
        };
        assert_eq!(library("/lib/ld-musl-x86_64.so.1"), Some("musl"));
        assert_eq!(library("/system/bin/linker64"), Some("Android's C library"));
        assert_eq!(library("/lib64/ld-linux-x86-64.so.2"), None);
        assert_eq!(library("/nix/store/musl/ld-linux-aarch64.so.1"), None);
        assert_eq!(library(""), None);
    }

    #[test]
    fn a_program_without_a_loader_is_static() {
        let directory = tempfile::tempdir().unwrap();
        let flags = ["-static", "-nostdlib", "-Wl,-e,main"];
        let path = compile(directory.path(), &flags).unwrap();
        assert_eq!(inspect(&path).unwrap(), ProgramFile::Static);
    }

    #[test]
    fn a_file_for_another_machine_is_recognised() {
        let directory = tempfile::tempdir().unwrap();
        let path = compile(directory.path(), &[]).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[18..20].copy_from_slice(&elf::EM_RISCV.0.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
        let machine = "riscv".to_owned();
        assert_eq!(inspect(&path).unwrap(), ProgramFile::Foreign { machine });
    }

    #[test]
    fn scripts_and_damaged_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("script");
        std::fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
        assert_eq!(inspect(&path).unwrap(), ProgramFile::Other);
        std::fs::write(&path, b"\x7fELF\x02\x01\x01 and no more").unwrap();
        let message = format!("{:#}", inspect(&path).unwrap_err());
        assert!(message.contains("damaged ELF headers"), "{message}");
    }
}
