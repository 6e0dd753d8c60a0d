//! The command works as a single file, in any folder and with any home.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::process::{clean, write_executable};
use crate::support::{Tables, place, run};

/// A folder with nothing but the command in it, and one for a home.
struct Machine {
    root: TempDir,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        let copy = root.path().join("bin/ascend-trace");
        let content = fs::read(place::command()).unwrap();
        write_executable(&copy, &content);
        Self { root }
    }

    fn home(&self, name: &str) -> PathBuf {
        let home = self.root.path().join(name);
        fs::create_dir_all(&home).unwrap();
        home
    }

    /// The copy of the command, without a word about where it may unpack.
    fn command(&self) -> Command {
        let mut command = clean(self.root.path().join("bin/ascend-trace"));
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
        command.current_dir(self.root.path());
        command
    }

    /// Compiles an example as README says and traces it; everything by the copied command.
    #[track_caller]
    fn compiles_and_traces(&self, prepare: impl Fn(&mut Command)) {
        let ask = |what: &str| {
            let mut command = self.command();
            prepare(command.args(["soft", what]));
            run(&mut command).expect(0).out().trim_end().to_owned()
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cross_stream.c");
        let mut compiler = clean("cc");
        compiler
            .arg(source)
            .current_dir(self.root.path())
            .args(["-o", "app"]);
        compiler.arg(format!("-I{}", ask("--include-dir")));
        compiler
            .arg(format!("-L{}", ask("--lib-dir")))
            .arg("-lascendcl");
        run(&mut compiler).expect(0);
        let mut command = self.command();
        command.args([
            "record", "--soft", "--force", "-o", "t.atrace", "--", "./app",
        ]);
        prepare(&mut command);
        let outcome = run(&mut command).expect(0);
        assert!(outcome.said()[0].contains("32 tasks"), "{outcome}");
        let tables = Tables::of_file(
            &self.root.path().join("t.atrace"),
            &self.root.path().join("csv"),
        );
        assert_eq!(tables.tasks.len(), 32);
        tables.all_timed();
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match fs::symlink_metadata(&path).unwrap() {
            it if it.is_dir() => found.extend(files(&path)),
            it if it.is_file() => found.push(path),
            _ => {}
        }
    }
    found
}

#[test]
fn the_binary_alone_compiles_and_traces_a_program() {
    let machine = Machine::new();
    let home = machine.home("home");
    machine.compiles_and_traces(|command| {
        command.env("HOME", &home);
    });
    let cache = home.join(".cache/ascend-trace");
    let mode = fs::metadata(&cache).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "others must not put anything in");
    assert!(
        files(&cache)
            .iter()
            .any(|it| it.ends_with("libascendcl.so"))
    );
}

#[test]
fn a_cache_of_ones_own_is_used() {
    let machine = Machine::new();
    let (home, cache) = (machine.home("home"), machine.home("cache"));
    machine.compiles_and_traces(|command| {
        command.env("HOME", &home).env("XDG_CACHE_HOME", &cache);
    });
    assert!(files(&home).is_empty() && !files(&cache).is_empty());
}

#[test]
fn a_home_that_the_loader_cannot_name_is_avoided() {
    let machine = Machine::new();
    for name in ["with space", "with:colon"] {
        let home = machine.home(name);
        machine.compiles_and_traces(|command| {
            command.env("HOME", &home);
        });
        assert!(files(&home).is_empty());
    }
}

#[test]
fn without_a_home_there_is_still_a_place() {
    Machine::new().compiles_and_traces(|_| {});
    Machine::new().compiles_and_traces(|command| {
        command.env("HOME", "/dev/null/home");
    });
}

#[test]
fn a_cache_that_cannot_be_written_is_avoided() {
    let machine = Machine::new();
    let home = machine.home("home");
    // A file in the folder's place cannot be written to by anybody, not even by root.
    fs::write(home.join(".cache"), "").unwrap();
    machine.compiles_and_traces(|command| {
        command.env("HOME", &home);
    });
}

#[test]
fn files_that_were_tampered_with_are_replaced() {
    let machine = Machine::new();
    let home = machine.home("home");
    let with_home = |command: &mut Command| {
        command.env("HOME", &home);
    };
    machine.compiles_and_traces(with_home);
    let cache = home.join(".cache");
    // All but the file that says when the folder was last used.
    let before: Vec<_> = files(&cache)
        .into_iter()
        .filter(|it| !it.ends_with(".used"))
        .map(|it| (fs::read(&it).unwrap(), it))
        .collect();
    assert!(before.len() > 3);
    for (content, path) in &before {
        let mut content = content.clone();
        let middle = content.len() / 2;
        content[middle] ^= 1;
        fs::write(path, content).unwrap();
    }
    machine.compiles_and_traces(with_home);
    for (content, path) in &before {
        assert!(fs::read(path).unwrap() == *content, "{}", path.display());
    }
}

/// The tables of the interposer are megabytes that are zero at first. One byte in them that is not, and each build,
/// each package and each start of a recording carries the whole table.
#[test]
fn empty_tables_take_no_room_in_the_interposer() {
    use object::{Object, ObjectSection};

    let machine = Machine::new();
    let cache = machine.home("cache");
    machine.compiles_and_traces(|command| {
        command.env("XDG_CACHE_HOME", &cache);
    });
    let library = files(&cache)
        .into_iter()
        .find(|it| it.ends_with("libascend_trace_interposer.so"))
        .unwrap();
    let content = fs::read(library).unwrap();
    let file = object::File::parse(content.as_slice()).unwrap();
    let size = |name| file.section_by_name(name).unwrap().size();
    assert!(size(".bss") > 1 << 20, "the tables are not here");
    assert!(size(".data") < 256 << 10, "{} bytes", size(".data"));
}

/// The end of the script that makes packages, on a host that has neither `dpkg-deb` nor `rpmbuild`.
#[test]
fn a_package_that_a_missing_tool_prevented_is_named_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let script = fs::read_to_string("scripts/package.sh").unwrap();
    let (_, end) = script.split_once("\ndeb() {\n").unwrap();
    let text = format!(
        "set -euo pipefail\nout=$PWD/out stage=$PWD arch=x86_64 version=0\n\
         tar_gz() {{ echo x >out/x.tar.gz; }}\ndeb() {{\n{end}"
    );
    let tools = folder.path().join("bin");
    fs::create_dir(&tools).unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    for tool in ["sha256sum", "ls", "cat"] {
        let found = Command::new("sh")
            .args(["-c", "command -v $0", tool])
            .output();
        let found = String::from_utf8(found.unwrap().stdout).unwrap();
        std::os::unix::fs::symlink(found.trim(), tools.join(tool)).unwrap();
    }
    let mut bash = Command::new("/bin/bash");
    bash.args(["-c", &text])
        .current_dir(folder.path())
        .env("PATH", &tools);
    let outcome = run(&mut bash).expect(0);
    let said = outcome.err();
    let mut last = said.lines().rev();
    assert!(
        last.next()
            .is_some_and(|it| it.contains(".rpm: rpmbuild is not installed")),
        "{said}"
    );
    assert!(
        last.next()
            .is_some_and(|it| it.contains(".deb: dpkg-deb is not installed")),
        "{said}"
    );
}
