//! Asks the loader which libraries of a program it finds, without running the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Environment;
use super::elf::DynamicProgram;

/// A library that a program needs, and where the loader found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NeededLibrary {
    pub(crate) name: String,
    /// `None` when the loader does not find it.
    pub(crate) path: Option<PathBuf>,
}

/// The libraries that the program's loader finds; empty when it cannot be asked.
pub(crate) fn list(
    program: &Path,
    dynamic: &DynamicProgram,
    environment: &Environment,
) -> Vec<NeededLibrary> {
    if dynamic.interpreter.is_empty() {
        return Vec::new();
    }
    let mut command = Command::new(&dynamic.interpreter);
    // glibc's loader gives up at the first missing library when it is asked by option; musl's
    // knows only the option, and would run the program.
    if dynamic.interpreter.contains("musl") {
        command.arg("--list");
    } else {
        command.env("LD_TRACE_LOADED_OBJECTS", "1");
    }
    command
        .arg(program)
        .stdin(Stdio::null())
        .env_remove("LD_PRELOAD");
    environment.apply_untraced(&mut command);
    match command.output() {
        Ok(output) => parse(&output.stdout),
        Err(_) => Vec::new(),
    }
}

/// Whether a library belongs to AscendCL.
pub(crate) fn is_acl(name: &str) -> bool {
    [
        "libascendcl",
        "libacl_",
        "libopapi",
        "libnnopbase",
        "libhccl",
        "libascend",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}

/// Lines of the form `name => path (address)` or `name => not found`.
fn parse(output: &[u8]) -> Vec<NeededLibrary> {
    let text = String::from_utf8_lossy(output);
    let lines = text
        .lines()
        .filter_map(|line| line.trim().split_once(" => "));
    let libraries = lines.map(|(name, found)| NeededLibrary {
        name: name.to_owned(),
        path: (found != "not found").then(|| {
            found
                .rsplit_once(" (")
                .map_or(found, |(path, _)| path)
                .into()
        }),
    });
    libraries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::elf::{ProgramFile, inspect};

    #[test]
    fn found_and_missing_libraries_are_read() {
        let text = b"\tlinux-vdso.so.1 (0x00007ffd)\n\
            \tlibascendcl.so => not found\n\
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f00)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f01)\n";
        let expected = [
            ("libascendcl.so", None),
            ("libc.so.6", Some("/lib/x86_64-linux-gnu/libc.so.6")),
        ]
        .map(|(name, path)| NeededLibrary {
            name: name.into(),
            path: path.map(PathBuf::from),
        });
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn a_missing_library_is_reported_without_running_the_program() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name).display().to_string();
        std::fs::write(path("lib.c"), "void needed(void) {}\n").unwrap();
        let text = "void needed(void); int main(void) { needed(); return 0; }\n";
        std::fs::write(path("main.c"), text).unwrap();
        let compile = |arguments: &[&str]| {
            assert!(
                Command::new("cc")
                    .args(arguments)
                    .status()
                    .unwrap()
                    .success()
            );
        };
        let (library, program) = (path("libacl_gone.so"), path("main"));
        compile(&[
            "-shared",
            "-fPIC",
            "-Wl,-soname,libacl_gone.so",
            "-o",
            &library,
            &path("lib.c"),
        ]);
        compile(&["-o", &program, &path("main.c"), &library]);
        std::fs::remove_file(&library).unwrap();
        let Ok(ProgramFile::Dynamic(dynamic)) = inspect(Path::new(&program)) else {
            panic!("not dynamically linked");
        };
        let found = list(Path::new(&program), &dynamic, &Environment::default());
        let missing: Vec<_> = found
            .iter()
            .filter(|library| library.path.is_none())
            .collect();
        assert_eq!(missing.len(), 1, "{found:?}");
        assert!(missing[0].name == "libacl_gone.so" && is_acl(&missing[0].name));
    }

    #[test]
    fn the_libraries_of_a_real_program_are_found() {
        let shell = Path::new("/bin/sh");
        let Ok(ProgramFile::Dynamic(dynamic)) = inspect(shell) else {
            panic!("the shell is not dynamically linked");
        };
        let libraries = list(shell, &dynamic, &Environment::default());
        let libc = libraries
            .iter()
            .find(|library| library.name.contains("libc."))
            .unwrap();
        assert!(libc.path.as_ref().unwrap().exists());
    }
}
