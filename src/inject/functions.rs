//! The functions of the C library that load a library, at their addresses in another process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use object::elf::{FileHeader64, SHT_DYNSYM, STT_FUNC};
use object::read::elf::{FileHeader, ProgramHeader, Sym};
use object::{Endianness, elf};

use super::{checks, file_name};
use crate::processes::{maps, place};

/// `mov $15, %rax; syscall`: where a handler of a signal returns to.
const RETURN_FROM_HANDLER: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
/// The names of files of glibc that have it, and in which threads wait.
const PARTS: [&str; 4] = ["libc.so.6", "libc-2.", "libpthread.so.0", "libpthread-2."];

/// A part of a file that a process has mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    begin: u64,
    end: u64,
    is_code: bool,
    offset: u64,
    inode: u64,
    path: String,
}

impl Mapping {
    /// A line of `/proc/PID/maps`.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (begin, end) = words.next()?.split_once('-')?;
        let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
        let is_code = words.next()?.contains('x');
        let offset = hexadecimal(words.next()?)?;
        let inode = words.nth(1)?.parse().ok()?;
        let path = line.find(['/', '[']).map_or("", |at| &line[at..]);
        Some(Self {
            begin: hexadecimal(begin)?,
            end: hexadecimal(end)?,
            is_code,
            offset,
            inode,
            path: path.to_owned(),
        })
    }
}

/// Addresses in one process.
#[derive(Debug)]
pub(super) struct LoaderFunctions {
    pub(super) map: u64,
    pub(super) unmap: u64,
    pub(super) open: u64,
    pub(super) error: u64,
    /// Code of the C library, begin and end.
    code: Vec<(u64, u64)>,
    /// Where handlers of signals return to, begin and end.
    handler_returns: Vec<(u64, u64)>,
}

impl LoaderFunctions {
    /// # Errors
    /// The C library of the process cannot be read, or has no such functions.
    pub(super) fn of(pid: u32) -> anyhow::Result<Self> {
        let all: Vec<Mapping> = maps(pid)?.lines().filter_map(Mapping::read).collect();
        let library = |is_it: &dyn Fn(&str) -> bool| {
            let mapping = all.iter().find(|it| is_it(file_name(&it.path)))?;
            Some(LoadedFile::of(pid, &all, mapping))
        };
        let c_library = library(&checks::is_c_library)
            .with_context(|| format!("process {pid} has no C library: check the number"))??;
        let before =
            library(&|name| name.starts_with("libdl.so.2") || name.starts_with("libdl-2."));
        let before = before.transpose()?;
        let find = |name: &str| {
            let elsewhere = || before.as_ref().and_then(|it| it.function(name));
            c_library.function(name).or_else(elsewhere)
        };
        let (Some(map), Some(unmap), Some(open), Some(error)) = (
            find("mmap"),
            find("munmap"),
            find("dlopen"),
            find("dlerror"),
        ) else {
            bail!(
                "the C library of process {pid} has no dlopen: start the program with `ascend-trace arm APP`"
            );
        };
        let mut found = Self {
            map,
            unmap,
            open,
            error,
            code: Vec::new(),
            handler_returns: Vec::new(),
        };
        for mapping in all.iter().filter(|it| it.is_code) {
            if mapping.path == "[vdso]" && !cfg!(target_arch = "x86_64") {
                found.handler_returns.push((mapping.begin, mapping.end));
            }
            if PARTS
                .iter()
                .any(|part| file_name(&mapping.path).starts_with(part))
            {
                found.code.push((mapping.begin, mapping.end));
                let file = LoadedFile::of(pid, &all, mapping)?;
                found.handler_returns.extend(file.handler_returns(mapping));
            }
        }
        Ok(found)
    }

    /// Whether an instruction is the C library's.
    pub(super) fn are_at(&self, instruction: u64) -> bool {
        self.code
            .iter()
            .any(|(begin, end)| (*begin..*end).contains(&instruction))
    }

    /// Whether one of these words of a stack is where a handler of a signal returns to.
    pub(super) fn is_in_handler(&self, stack: &[u64]) -> bool {
        let returns = |word: &u64| {
            self.handler_returns
                .iter()
                .any(|(begin, end)| (*begin..*end).contains(word))
        };
        stack.iter().any(returns)
    }
}

/// A function of a library that a process is about to load.
#[derive(Debug)]
pub(super) struct LibraryFunction {
    path: String,
    /// From the begin of the library in memory.
    distance: u64,
}

impl LibraryFunction {
    /// # Errors
    /// The file cannot be read, or has no such function.
    pub(super) fn of(library: &Path, name: &str) -> anyhow::Result<Self> {
        let path = library.to_string_lossy().into_owned();
        let data = fs::read(library).with_context(|| format!("cannot read {path}"))?;
        let bias = 0u64.wrapping_sub(first_address(&data).unwrap_or(0));
        let found = LoadedFile { bias, data }.function(name);
        let distance = found.with_context(|| format!("{path} has no function {name}"))?;
        Ok(Self { path, distance })
    }

    /// Its address, once the process has loaded the library.
    ///
    /// # Errors
    /// The process has not loaded it.
    pub(super) fn address(&self, pid: u32) -> anyhow::Result<u64> {
        let (maps, path) = (maps(pid)?, &self.path);
        let all = maps.lines().filter_map(Mapping::read);
        let begin = all
            .filter(|it| it.path == *path)
            .map(|it| it.begin - it.offset);
        let begin = begin.min();
        let begin = begin.with_context(|| format!("process {pid} has not mapped {path}"))?;
        Ok(begin.wrapping_add(self.distance))
    }
}

/// A library as a process has loaded it.
struct LoadedFile {
    /// The distance from an address in the file to the one in the process.
    bias: u64,
    data: Vec<u8>,
}

impl LoadedFile {
    fn of(pid: u32, all: &[Mapping], one: &Mapping) -> anyhow::Result<Self> {
        let shown = &one.path;
        let path: PathBuf = place(pid, "root").join(shown.trim_start_matches('/'));
        let is_same = fs::metadata(&path).is_ok_and(|it| it.ino() == one.inode);
        if !is_same {
            bail!(
                "process {pid} runs with {shown}, which was replaced since: start the program again"
            );
        }
        let data = fs::read(&path).with_context(|| format!("cannot read {shown}"))?;
        let parts = all.iter().filter(|it| it.path == *shown);
        let begin = parts.map(|it| it.begin - it.offset).min().unwrap_or(0);
        let first = first_address(&data).with_context(|| format!("cannot read {shown}"))?;
        Ok(Self {
            bias: begin.wrapping_sub(first),
            data,
        })
    }

    fn function(&self, name: &str) -> Option<u64> {
        let header = FileHeader64::<Endianness>::parse(&*self.data).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, &*self.data).ok()?;
        let symbols = sections.symbols(endian, &*self.data, SHT_DYNSYM).ok()?;
        let found = symbols.iter().find(|symbol| {
            let has_name = symbol.name(endian, symbols.strings()) == Ok(name.as_bytes());
            has_name && symbol.st_type() == STT_FUNC && symbol.st_value(endian) != 0
        })?;
        Some(self.bias.wrapping_add(found.st_value(endian)))
    }

    /// The places in a mapping of code to which handlers of signals return.
    fn handler_returns(&self, mapping: &Mapping) -> Vec<(u64, u64)> {
        if !cfg!(target_arch = "x86_64") {
            return Vec::new();
        }
        let length = (mapping.end - mapping.begin) as usize;
        let begin = mapping.offset as usize;
        let code = self.data.get(begin..).unwrap_or_default();
        let code = &code[..length.min(code.len())];
        let windows = code.windows(RETURN_FROM_HANDLER.len()).enumerate();
        let found = windows.filter(|(_, bytes)| **bytes == RETURN_FROM_HANDLER);
        found
            .map(|(at, _)| (mapping.begin + at as u64, mapping.begin + at as u64 + 1))
            .collect()
    }
}

/// The first address of a file, which is mapped at its begin.
fn first_address(data: &[u8]) -> object::Result<u64> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    let loaded = segments
        .iter()
        .filter(|it| it.p_type(endian) == elf::PT_LOAD);
    let first = loaded
        .map(|it| it.p_vaddr(endian) - it.p_offset(endian))
        .min();
    Ok(first.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read() {
        let line = "7f00-7f10 r-xp 00001000 08:01 42                 /lib/a b.so";
        let mapping = Mapping::read(line).unwrap();
        assert_eq!((mapping.begin, mapping.end), (0x7f00, 0x7f10));
        assert_eq!((mapping.offset, mapping.inode), (0x1000, 42));
        assert_eq!(mapping.path, "/lib/a b.so");
        assert!(mapping.is_code);
        let heap = Mapping::read("7f00-7f10 rw-p 00000000 00:00 0 [heap]").unwrap();
        assert_eq!((heap.path.as_str(), heap.is_code), ("[heap]", false));
        assert_eq!(Mapping::read("7f00 rw"), None);
    }

    #[test]
    fn functions_are_where_this_process_has_them() {
        let functions = LoaderFunctions::of(std::process::id()).unwrap();
        assert!(functions.are_at(functions.map));
        assert!(!functions.are_at(8));
        assert!(!functions.is_in_handler(&[functions.map, 8]));
        assert!(!functions.handler_returns.is_empty());
        let handler = functions.handler_returns[0].0;
        assert!(functions.is_in_handler(&[8, handler]));
    }
}
