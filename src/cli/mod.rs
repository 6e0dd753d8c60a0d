//! The command line: words become a plan, a plan becomes an action. One file per command.

mod args;
mod demo;
#[cfg(test)]
mod docs;
mod doctor;
mod export;
mod hooks;
mod info;
mod range;
mod record;
mod soft;
mod stats;
pub(crate) mod trace;
mod view;

use std::ffi::OsString;

use clap::Parser;

use crate::error::{Failure, TOOL_FAILED, TROUBLE};
use crate::output::say;
use args::{Command, Words};

/// Does what the words ask for and answers the status to exit with.
pub fn run(words: impl Iterator<Item = OsString>) -> u8 {
    let words = args::with_default_command(words.collect());
    // A recording takes the place of the program, so its own trouble must not look like that.
    let is_record = words.get(1).is_some_and(|word| word == "record");
    let parsed = match Words::try_parse_from(words) {
        Ok(parsed) => parsed,
        Err(error) => return refuse(&error, is_record),
    };
    match act(parsed.command) {
        Ok(status) => status,
        Err(failure) => {
            say(failure.to_string());
            failure.status
        }
    }
}

fn act(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Record(args) => record::run(args),
        Command::View(args) => view::run(&args).map_err(Failure::from),
        Command::Export(args) => export::run(&args).map_err(Failure::from),
        Command::Stats(args) => stats::run(&args).map_err(Failure::from),
        Command::Info(args) => info::run(&args).map_err(Failure::from),
        Command::Hooks(args) => done(hooks::run(&args)),
        Command::Doctor(args) => done(doctor::run(&args)),
        Command::Demo(args) => demo::run(&args),
        Command::Soft(args) => done(soft::run(&args)),
    }
}

fn done(result: anyhow::Result<()>) -> Result<u8, Failure> {
    result.map(|()| 0).map_err(Failure::from)
}

/// Help and version go to stdout; wrong words are explained in one line on stderr.
fn refuse(error: &clap::Error, is_record: bool) -> u8 {
    if !error.use_stderr() {
        // Nothing can be done for a reader that has gone.
        let _ = error.print();
        return 0;
    }
    let text = error.render().to_string();
    let text = text.trim_start_matches("error: ");
    let mut paragraphs = text
        .split("\n\n")
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    say(paragraphs.next().unwrap_or_default());
    for tip in paragraphs.filter(|part| part.starts_with("tip:") || part.starts_with('[')) {
        say(tip);
    }
    say("ascend-trace --help tells what can be asked for");
    if is_record { TOOL_FAILED } else { TROUBLE }
}
