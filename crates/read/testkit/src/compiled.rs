//! Compiled test programs that are kept until something that they were made of changes.
//!
//! Uses the standard library alone: tests of crates without dependencies include this file.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Makes sure that `program` is the result of `compiler` with its arguments, `-o` and the file. Returns
/// the compiler's output, or `None` if the program of an earlier run is still valid: then its arguments
/// were the same, and no file that the compiler read has changed since.
///
/// Other processes may do the same at the same time, or run the program.
pub fn compiled(compiler: &Command, program: &Path) -> io::Result<Option<Output>> {
    let recipe = format!("{compiler:?}");
    let given = compiler.get_args().map(PathBuf::from);
    let given: Vec<PathBuf> = given.filter(|it| it.is_file()).collect();
    if is_current(program, &recipe, given) {
        return Ok(None);
    }
    let fresh = beside(program, &format!("new{}", std::process::id()));
    let files = beside(&fresh, "d");
    let mut command = again(compiler);
    command
        .arg("-o")
        .arg(&fresh)
        .arg("-MMD")
        .arg("-MF")
        .arg(&files);
    let output = command.output()?;
    if output.status.success() {
        let _ = std::fs::remove_file(beside(program, "recipe"));
        std::fs::rename(&fresh, program)?;
        std::fs::rename(&files, beside(program, "d"))?;
        let written = beside(&fresh, "recipe");
        std::fs::write(&written, recipe)?;
        // Last: without it the program counts as out of date.
        std::fs::rename(&written, beside(program, "recipe"))?;
    }
    Ok(Some(output))
}

/// Whether a program was made by this recipe from files that are as they were: those `given` to the compiler, and
/// those that it read.
fn is_current(program: &Path, recipe: &str, given: Vec<PathBuf>) -> bool {
    let kept = std::fs::read_to_string(beside(program, "recipe"));
    let files = std::fs::read_to_string(beside(program, "d"));
    let (Ok(kept), Ok(files)) = (kept, files) else {
        return false;
    };
    let made = |file: &Path| file.metadata()?.modified();
    let Ok(built) = made(program) else {
        return false;
    };
    let mut read = given.into_iter().chain(sources(&files));
    kept == recipe && read.all(|file| made(&file).is_ok_and(|changed| changed < built))
}

/// The files that a rule of `make` names behind its colon.
fn sources(rule: &str) -> Vec<PathBuf> {
    let named = rule.split_once(": ").map_or("", |(_, named)| named);
    let words = named.split_whitespace().filter(|word| *word != "\\");
    words.map(PathBuf::from).collect()
}

/// A file next to another, with a longer name.
fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".");
    name.push(end);
    PathBuf::from(name)
}

/// A command with the program, the arguments and the variables of another.
fn again(command: &Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => same.env(name, value),
            None => same.env_remove(name),
        };
    }
    same
}
