//! Words that are no command line: one line has the error, the nearest option, and the usage of the command.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::{self, first_word};
use super::meant_command::near;

/// The line.
pub(super) fn text(error: &clap::Error, words: &[OsString]) -> String {
    let mut root = args::command();
    root.build();
    let (command, name) = command_of(&root, words);
    let mut parts = vec![wrong(error, &name)];
    if let Some(suggestion) = suggestion(error, command) {
        parts.push(format!("did you mean {suggestion}?"));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines();
    let usage: Vec<String> = usage.map(joined).collect();
    parts.push(format!("usage: {}", usage.join(" or ")));
    parts.push(format!("see `{name} --help`"));
    parts.join("; ")
}

/// The command that the words name, and its name with those of the commands that it belongs to.
fn command_of<'c>(root: &'c clap::Command, words: &[OsString]) -> (&'c clap::Command, String) {
    let mut found = (root, root.get_name().to_owned());
    for word in words.iter().skip(first_word(words)) {
        let inner = word.to_str().and_then(|it| found.0.find_subcommand(it));
        let Some(inner) = inner else { break };
        found = (inner, format!("{} {}", found.1, inner.get_name()));
    }
    found
}

/// The error, in clap's words, without its tips and its usage.
fn wrong(error: &clap::Error, name: &str) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return match name.contains(' ') {
            true => format!("{name} needs a command or an option"),
            false => "there is no command and no program to record".to_owned(),
        };
    }
    let text = error.render().to_string();
    let text = text.trim_start_matches("error: ");
    let mut paragraphs = text.split("\n\n").map(joined);
    let first = paragraphs.next().unwrap_or_default();
    let values = paragraphs.filter(|part| part.starts_with('['));
    std::iter::once(first)
        .chain(values)
        .collect::<Vec<_>>()
        .join(" ")
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The option, value or command that is near to the wrong one.
fn suggestion(error: &clap::Error, command: &clap::Command) -> Option<String> {
    let given = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let wrong = given(ContextKind::InvalidArg)?;
            let wrong = wrong.strip_prefix("--")?;
            let options = command.get_arguments().filter(|it| !it.is_hide_set());
            let names: Vec<&str> = options.filter_map(clap::Arg::get_long).collect();
            near(wrong, names).map(|name| format!("--{name}"))
        }
        ErrorKind::InvalidSubcommand => {
            let wrong = given(ContextKind::InvalidSubcommand)?;
            let names: Vec<&str> = command.get_subcommands().map(|it| it.get_name()).collect();
            near(&wrong, names).map(ToOwned::to_owned)
        }
        ErrorKind::InvalidValue => {
            let wrong = given(ContextKind::InvalidValue)?;
            let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) else {
                return None;
            };
            near(&wrong, values.iter().map(String::as_str)).map(ToOwned::to_owned)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &str) -> String {
        let words = std::iter::once("ascend-trace").chain(words.split_whitespace());
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let error = args::command().try_get_matches_from(&words).unwrap_err();
        text(&error, &words)
    }

    #[test]
    fn a_near_option_is_named_and_a_far_one_is_not() {
        let text = refused("stats --jsno x");
        assert!(text.contains("did you mean --json?"), "{text}");
        assert!(
            text.contains("usage: ascend-trace stats [OPTIONS]"),
            "{text}"
        );
        for words in ["info --wrong x", "stats --nope x", "view --xyz y"] {
            let text = refused(words);
            assert!(!text.contains("did you mean"), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn values_and_commands_inside_of_commands_are_named() {
        let text = refused("export x --format chrom");
        assert!(text.contains("did you mean chrome?"), "{text}");
        let text = refused("dataset ad x");
        assert!(text.contains("did you mean add?"), "{text}");
        assert!(
            text.ends_with("see `ascend-trace dataset --help`"),
            "{text}"
        );
        let text = refused("dataset add x --tp y");
        assert!(text.contains("did you mean --to?"), "{text}");
        assert!(
            text.ends_with("see `ascend-trace dataset add --help`"),
            "{text}"
        );
    }
}
