//! The tutorials, copied and pasted: files are written, blocks of a shell run, and each prints the text
//! of the page.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::place::command;
use crate::support::process::{cache, clean, has_cxx, scratch, write_executable};
use crate::support::run;
use crate::torch;

/// A block of a page.
pub(crate) struct Block<'t> {
    pub(crate) language: &'t str,
    pub(crate) content: &'t str,
}

pub(crate) fn blocks(page: &str) -> Vec<Block<'_>> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    let blocks = fenced.filter_map(|block| block.split_once('\n'));
    blocks
        .map(|(language, content)| Block { language, content })
        .collect()
}

/// The name in the first line of a file: `// NAME: description`.
fn file_name(content: &str) -> &str {
    let first = content.lines().next().unwrap_or_default();
    let words = first.trim_start_matches(['/', '#', ' ']);
    words
        .split_once(':')
        .expect("a file begins with its name")
        .0
}

/// A shell that goes on where the block before ended.
pub(crate) fn shell(folder: &Path, script: &str) -> Command {
    let kept = folder.join("environment");
    let script = format!(
        "set -e; if [ -f '{0}' ]; then . '{0}'; fi\n{script}\nexport -p > '{0}'\n",
        kept.display()
    );
    let mut shell = clean("bash");
    let own = command().parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = vec![folder.join("bin"), own];
    folders.extend(std::env::split_paths(&path));
    shell
        .args(["-c", &script])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(folders).expect("a path"))
        .env("XDG_CACHE_HOME", cache());
    shell
}

/// Follows a page; `change` prepares each shell.
fn follow(folder: &Path, name: &str, change: &dyn Fn(&mut Command)) {
    let path = format!("{}/docs/tutorials/{name}.md", env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(path).expect("the page");
    let (mut printed, mut ran) = (String::new(), 0);
    for block in blocks(&page) {
        match block.language {
            "sh" => {
                let mut shell = shell(folder, block.content);
                change(&mut shell);
                let outcome = run(&mut shell).expect(0);
                printed = outcome.out() + &outcome.err();
                ran += 1;
            }
            "text" => {
                for piece in block.content.lines().flat_map(|line| line.split('…')) {
                    let piece = piece.trim();
                    assert!(printed.contains(piece), "no “{piece}” in\n{printed}");
                }
            }
            // What needs a terminal.
            "console" => {}
            _ => fs::write(folder.join(file_name(block.content)), block.content).expect("a file"),
        }
    }
    assert!(ran > 3, "only {ran} blocks were run");
}

#[test]
fn the_one_for_cpp_can_be_followed() {
    if !has_cxx() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    follow(folder.path(), "cpp", &|_| {});
}

#[test]
fn the_one_for_operators_of_servers_can_be_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    follow(folder.path(), "sre", &|_| {});
}

#[test]
fn the_one_for_pytorch_can_be_followed() {
    let Some(python) = torch::interpreter() else {
        return;
    };
    torch::cuda(&python);
    let folder = tempfile::tempdir().expect("a folder");
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    let start = format!("#!/bin/sh\nexec '{}' -W ignore \"$@\"\n", python.display());
    write_executable(&bin.join("python3"), start.as_bytes());
    let libraries = scratch().join("programs/torch");
    follow(folder.path(), "pytorch", &|shell| {
        shell.env("LD_LIBRARY_PATH", &libraries);
    });
}

/// The pages show real files: a block that is neither a shell nor its output has a name.
#[test]
fn blocks_are_found_with_their_language() {
    let page = "Text\n\n```sh\nls\n```\n\nMore\n\n```cpp\n// a.cpp: it\nint x;\n```\n";
    let found = blocks(page);
    let languages: Vec<&str> = found.iter().map(|it| it.language).collect();
    assert_eq!(languages, ["sh", "cpp"]);
    assert_eq!(found[0].content, "ls");
    assert_eq!(file_name(found[1].content), "a.cpp");
}
