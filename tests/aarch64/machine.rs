//! A place in which the kernel starts aarch64 programs, in an emulator.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Where Debian's packages of libraries for aarch64 put them.
pub(crate) const SYSROOT: &str = "/usr/aarch64-linux-gnu";
pub(crate) const COMPILER: &str = "aarch64-linux-gnu-gcc";
const CXX_COMPILER: &str = "aarch64-linux-gnu-g++";
pub(crate) const EMULATOR: &str = "qemu-aarch64";

pub(crate) struct Machine {
    /// The emulator's starter, and compilers under the names that the tests know them by.
    folder: PathBuf,
}

/// The path of the emulator; or the missing part for building programs and running them in it.
pub(crate) fn can_build() -> Result<PathBuf, String> {
    if cfg!(target_arch = "aarch64") {
        return Err("this machine is aarch64 itself".to_owned());
    }
    let emulator = in_path(EMULATOR).ok_or(format!("no {EMULATOR}"))?;
    in_path(COMPILER).ok_or(format!("no {COMPILER}"))?;
    if !has_target() {
        return Err(format!("no Rust target {TARGET}"));
    }
    Ok(emulator)
}

impl Machine {
    /// Prepares one, or names the missing part.
    pub(crate) fn prepare() -> Result<Self, String> {
        let emulator = can_build()?;
        let machine = Self {
            folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("aarch64"),
        };
        fs::create_dir_all(&machine.folder).map_err(|error| error.to_string())?;
        machine.compile_starter(&emulator)?;
        machine.name_compiler("cc", COMPILER)?;
        if in_path(CXX_COMPILER).is_some() {
            machine.name_compiler("c++", CXX_COMPILER)?;
        }
        machine.check()?;
        Ok(machine)
    }

    fn compile_starter(&self, emulator: &Path) -> Result<(), String> {
        let mut compiler = Command::new("cc");
        compiler.args(["-static", "-O1", "-Wall", "-Werror", "-o"]);
        compiler.arg(self.folder.join("emulator"));
        compiler.arg(format!("-DQEMU=\"{}\"", emulator.display()));
        compiler.arg(format!("-DSYSROOT=\"{SYSROOT}\""));
        compiler.arg(here("emulator.c"));
        output(&mut compiler).map(drop)
    }

    /// The tests' compiler here is the one for aarch64.
    fn name_compiler(&self, name: &str, compiler: &str) -> Result<(), String> {
        let path = self.folder.join(name);
        let text = format!("#!/bin/sh\nexec {compiler} \"$@\"\n");
        fs::write(&path, text)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// Whether a program that starts itself again runs.
    fn check(&self) -> Result<(), String> {
        let program = self.folder.join("again");
        let mut compiler = Command::new(COMPILER);
        compiler
            .arg("-o")
            .arg(&program)
            .arg("-x")
            .arg("c")
            .arg(here("again.c"));
        output(&mut compiler)?;
        let said = output(self.command(&program).arg("once"))
            .map_err(|error| format!("no emulation of programs that start programs: {error}"))?;
        match said.as_str() {
            "once\nagain\n" => Ok(()),
            said => Err(format!("programs for aarch64 do not run: {said}")),
        }
    }

    /// A command in this place, with the tests' compilers.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh"]);
        command
            .arg(here("within.sh"))
            .arg(&self.folder)
            .arg(program);
        command
    }
}

/// A command of cargo that builds for aarch64, in a subfolder of the usual target folder.
pub(crate) fn cargo(words: &[&str]) -> Command {
    let mut command = cargo_here(words);
    command
        .args(["--target", TARGET])
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", COMPILER)
        .env("CC_aarch64_unknown_linux_gnu", COMPILER);
    command
}

/// A command of cargo that builds for this machine, as these tests were built.
pub(crate) fn cargo_here(words: &[&str]) -> Command {
    // Run without cargo, these tests ask for the one in the path: it says to compilers which toolchain is meant, which
    // the one that built these tests leaves to its caller.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(words).arg("--locked");
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TARGET_DIR", target_folder());
    command
}

/// The target folder that these tests were built in: tests' own folder is `TARGET_DIR/tmp`.
pub(crate) fn target_folder() -> &'static Path {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    folder.parent().unwrap_or(folder)
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/aarch64")
        .join(name)
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

fn has_target() -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", TARGET]);
    output(&mut rustc).is_ok_and(|folder| Path::new(folder.trim_end()).is_dir())
}

/// Output of a command; its messages if it fails.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    text_of(command, &output)
}

fn text_of(command: &Command, output: &Output) -> Result<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        let (mut out, err) = (text(&output.stdout), text(&output.stderr));
        // Messages of cargo for programs: errors are on the other stream.
        if out.starts_with('{') {
            out.clear();
        }
        return Err(format!("{command:?}: {}\n{out}{err}", output.status));
    }
    Ok(text(&output.stdout))
}
