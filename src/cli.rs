//! The command line: words become a plan, a plan becomes an action. One file per command.

mod args;
mod arm;
mod attach;
mod check;
mod clocks;
mod critical;
mod ctl;
mod dataset;
mod demo;
mod diff;
#[cfg(test)]
mod docs;
mod doctor;
pub(crate) mod document_head;
mod env;
mod export;
mod handovers;
mod hooks;
mod info;
mod install;
mod mcp;
mod meant_command;
mod merge;
mod open;
pub(crate) mod open_error;
pub(crate) mod open_trace;
pub(crate) mod output_file;
mod query;
mod range;
mod record;
mod report;
mod report_page;
mod requests;
mod schema;
mod serve;
mod soft;
mod stats;
pub(crate) mod step_choice;
mod steps;
mod topics;
pub(crate) mod trace_files;
mod usage_error;
mod version;
mod view;
mod what_if;
mod why;

use std::ffi::OsString;

use ascend_trace_viewer::TerminalBackground;
use clap::{ColorChoice, FromArgMatches};

use crate::error::{Failure, TOOL_FAILED, TROUBLE};
use crate::launch::terminal_keeper;
use crate::output::{ConfigArg, Verbosity, print, print_message, set_verbosity};
use args::{ColorArg, Command, CommandLine, ThemeArg};

/// Commands with the exit statuses of a recording.
const RECORDING: [&str; 6] = ["record", "arm", "attach", "serve", "env", "demo"];

/// Runs the command line and returns the exit status.
pub fn run(words: impl Iterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.collect();
    if words
        .get(1)
        .is_some_and(|word| word == terminal_keeper::WORD)
    {
        return terminal_keeper::run(words.into_iter().skip(2));
    }
    if let Some(text) = topics::topic_of(&words) {
        return print(text).map_or(TROUBLE, |()| 0);
    }
    if let Some(text) = version::version_of(&words) {
        return print(&text).map_or(TROUBLE, |()| 0);
    }
    if let Some(question) = meant_command::question(&words) {
        print_message(question);
        return TOOL_FAILED;
    }
    let words = args::with_default_command(words);
    // A recording takes the place of the program, so its own trouble must not look like that.
    let command = words.get(args::first_word(&words));
    let is_record = command.is_some_and(|word| RECORDING.iter().any(|it| word == *it));
    let parsed = match parse(&words) {
        Ok(parsed) => parsed,
        Err(error) => return refuse(&error, &words, is_record),
    };
    set_verbosity(Verbosity {
        quiet: parsed.manner.quiet,
        verbose: parsed.manner.verbose,
        color: match parsed.manner.color {
            ColorArg::Auto => None,
            ColorArg::Always => Some(true),
            ColorArg::Never => Some(false),
        },
        ground: match parsed.manner.theme {
            ThemeArg::Auto => None,
            ThemeArg::Dark => Some(TerminalBackground::Dark),
            ThemeArg::Light => Some(TerminalBackground::Light),
        },
        config: match (parsed.manner.no_config, parsed.manner.config) {
            (true, _) => ConfigArg::None,
            (false, Some(path)) => ConfigArg::File(path),
            (false, None) => ConfigArg::Usual,
        },
    });
    match act(parsed.command) {
        Ok(status) => status,
        Err(failure) => {
            print_message(failure.to_string());
            failure.status
        }
    }
}

/// The words of each command, such as `dataset add`, for tests of the help. The first one is empty.
pub fn commands() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), args::command())];
    while let Some((words, command)) = open.pop() {
        for inner in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let words = format!("{words} {}", inner.get_name());
            open.push((words.trim_start().to_owned(), inner.clone()));
        }
        found.push(words);
    }
    found.sort();
    found
}

fn parse(words: &[OsString]) -> Result<CommandLine, clap::Error> {
    let has = |option: &str| words.iter().any(|word| word == option);
    // Before anything is parsed, since it may be help that is asked for.
    let color = match () {
        () if has("--color=never") => ColorChoice::Never,
        () if has("--color=always") => ColorChoice::Always,
        () => ColorChoice::Auto,
    };
    let matches = args::command().color(color).try_get_matches_from(words)?;
    CommandLine::from_arg_matches(&matches)
}

fn act(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Record(args) => record::run(args),
        Command::Arm(args) => arm::run(args),
        Command::Attach(args) => attach::run(args),
        Command::Detach(args) => attach::detach(&args).map_err(Failure::from),
        Command::Serve(args) => serve::run(args),
        Command::Env(args) => env::run(args),
        Command::View(args) => view::run(&args).map_err(Failure::from),
        Command::Export(args) => export::run(&args).map_err(Failure::from),
        Command::Report(args) => report_page::run(&args).map_err(Failure::from),
        Command::Open(args) => open::run(&args).map_err(Failure::from),
        Command::Merge(args) => merge::run(&args).map_err(Failure::from),
        Command::Dataset(args) => dataset::run(&args).map_err(Failure::from),
        Command::Query(args) => query::run(&args).map_err(Failure::from),
        Command::Mcp(args) => mcp::run(&args).map_err(Failure::from),
        Command::Stats(args) => stats::run(&args).map_err(Failure::from),
        Command::Steps(args) => steps::run(&args).map_err(Failure::from),
        Command::Requests(args) => requests::run(&args).map_err(Failure::from),
        Command::Critical(args) => critical::run(&args).map_err(Failure::from),
        Command::WhatIf(args) => what_if::run(&args).map_err(Failure::from),
        Command::Ctl(args) => ctl::run(&args).map_err(Failure::from),
        Command::Diff(args) => diff::run(&args).map_err(Failure::from),
        Command::Why(args) => why::run(&args).map_err(Failure::from),
        Command::Check(args) => check::run(&args).map_err(Failure::from),
        Command::Info(args) => info::run(&args).map_err(Failure::from),
        Command::Hooks(args) => done(hooks::run(&args)),
        Command::Schema(args) => done(schema::run(&args)),
        Command::Doctor(args) => done(doctor::run(&args)),
        Command::Demo(args) => demo::run(&args),
        Command::Soft(args) => done(soft::run(&args)),
        Command::Completions(args) => done(install::completions(&args)),
        Command::Man(args) => done(install::man(&args)),
    }
}

fn done(result: anyhow::Result<()>) -> Result<u8, Failure> {
    result.map(|()| 0).map_err(Failure::from)
}

/// Help and version go to stdout; wrong words are explained in one line on stderr.
fn refuse(error: &clap::Error, words: &[OsString], is_record: bool) -> u8 {
    if !error.use_stderr() {
        // If the reader has closed the pipe, nothing can be done.
        let _ = error.print();
        return 0;
    }
    print_message(usage_error::text(error, words));
    if is_record { TOOL_FAILED } else { TROUBLE }
}
