//! `completions` and `man`: what packages put where shells and `man` look for it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;

use super::args;
use crate::output::{print, print_bytes};

/// The name of the command, for any name of its file.
const NAME: &str = "ascend-trace";

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the script
    #[arg(value_enum)]
    pub(crate) shell: ShellArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellArg {
    /// For ~/.local/share/bash-completion/completions/ascend-trace
    Bash,
    /// For a file _ascend-trace in a folder of $fpath
    Zsh,
    /// For ~/.config/fish/completions/ascend-trace.fish
    Fish,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder to write all pages to, such as ~/.local/share/man/man1 [default: print the first page]
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

/// Prints the script for a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    print(&script(args.shell))
}

fn script(shell: ShellArg) -> String {
    match shell {
        ShellArg::Bash => bash(),
        ShellArg::Zsh => generated(Shell::Zsh, NAME),
        ShellArg::Fish => generated(Shell::Fish, NAME),
    }
}

/// The generator mixes up names of functions where the command's name has a hyphen, so it gets one without.
fn bash() -> String {
    let plain = NAME.replace('-', "_");
    let script = generated(Shell::Bash, &plain);
    let lines = script.lines().map(|line| match line.strip_suffix(&plain) {
        Some(begin) if line.trim_start().starts_with("complete ") => format!("{begin}{NAME}\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

fn generated(shell: Shell, name: &str) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut args::recording(), name, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a page for the command and one for each of its commands, or prints the first.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<()> {
    let pages = pages()?;
    match &args.to {
        Some(folder) => write(&pages, folder),
        None => {
            let first = pages.first().map_or(&[][..], |(_, page)| page);
            print_bytes(first)
        }
    }
}

fn write(pages: &[(String, Vec<u8>)], folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot write to {shown}"))?;
    for (name, page) in pages {
        let path = folder.join(name);
        let shown = path.display();
        std::fs::write(&path, page).with_context(|| format!("cannot write {shown}"))?;
    }
    Ok(())
}

/// The pages, each with the name of its file. The same build makes the same pages: they have no date.
fn pages() -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut all = args::command();
    all.build();
    let mut pages = vec![page(NAME.to_owned(), all.clone())?];
    add_pages(NAME, &all, &mut pages)?;
    Ok(pages)
}

/// Adds a page for each command below one, and for those below it.
fn add_pages(
    above: &str,
    command: &clap::Command,
    pages: &mut Vec<(String, Vec<u8>)>,
) -> anyhow::Result<()> {
    let shown = command.get_subcommands();
    for command in shown.filter(|it| it.get_name() != "help") {
        let name = format!("{above}-{}", command.get_name());
        pages.push(page(name.clone(), command.clone())?);
        add_pages(&name, command, pages)?;
    }
    Ok(())
}

fn page(name: String, command: clap::Command) -> anyhow::Result<(String, Vec<u8>)> {
    let version = env!("CARGO_PKG_VERSION");
    let command = command.name(name.clone()).version(version);
    let man = Man::new(command)
        .manual("ascend-trace")
        .source(format!("ascend-trace {version}"));
    let mut text = Vec::new();
    man.render(&mut text).context("cannot make a manual page")?;
    Ok((format!("{name}.1"), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::COMMANDS;

    #[test]
    fn shells_complete_every_command_and_the_options_of_a_recording() {
        for shell in [ShellArg::Bash, ShellArg::Zsh, ShellArg::Fish] {
            let script = script(shell);
            for command in COMMANDS {
                assert!(script.contains(command), "{shell:?} knows no {command}");
            }
            for word in ["timing", "no-tui", "strict", "perfetto"] {
                assert!(script.contains(word), "{shell:?} knows no {word}");
            }
        }
    }

    /// What bash offers after these words, where there is a bash.
    fn offered(words: &[&str]) -> Option<String> {
        let (last, before) = words.split_last().unwrap();
        let previous = before.last().unwrap();
        let list: String = words.iter().map(|word| format!("'{word}' ")).collect();
        let program = format!(
            "{}\nCOMP_WORDS=({list})\nCOMP_CWORD={}\n_ascend_trace ascend-trace '{last}' '{previous}'\n\
             echo \"${{COMPREPLY[@]}}\"\ncomplete -p ascend-trace",
            script(ShellArg::Bash),
            before.len(),
        );
        let mut bash = std::process::Command::new("bash");
        let output = bash.args(["--norc", "-c", &program]).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    fn bash_offers_commands_options_and_values() {
        for (words, expected) in [
            (&["ascend-trace", "st"][..], "stats steps"),
            (
                &["ascend-trace", "export", "--format", "p"],
                "perfetto parquet png",
            ),
            (
                &["ascend-trace", "check", "--deny", "d"],
                "data-race destroyed-while-waited destroyed-with-work device-sync",
            ),
            (&["ascend-trace", "export", "--str"], "--strict"),
            (&["ascend-trace", "--engine", "p"], "preload"),
        ] {
            let Some(text) = offered(words) else { return };
            let mut lines = text.lines();
            assert_eq!(lines.next(), Some(expected), "{words:?}: {text}");
            let completed = lines.next().unwrap_or_default();
            assert!(completed.ends_with(" ascend-trace"), "{text}");
        }
    }

    #[test]
    fn there_is_a_page_for_every_command() {
        let pages = pages().unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        let mut expected = vec!["ascend-trace.1".to_owned()];
        let commands = COMMANDS.iter().filter(|name| **name != "help");
        for name in commands {
            expected.push(format!("ascend-trace-{name}.1"));
            if *name == "dataset" {
                expected.push("ascend-trace-dataset-add.1".to_owned());
                expected.push("ascend-trace-dataset-align.1".to_owned());
            }
        }
        assert_eq!(names, expected);
        for (name, page) in &pages {
            let page = String::from_utf8_lossy(page);
            assert!(
                page.contains(".TH") && page.contains(".SH SYNOPSIS"),
                "{name}"
            );
        }
        let record = pages
            .iter()
            .find(|(name, _)| name == "ascend-trace-record.1");
        let (_, record) = record.unwrap();
        assert!(String::from_utf8_lossy(record).contains("\\-\\-timing"));
    }
}
