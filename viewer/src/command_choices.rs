//! Choices of the command line: actions, commands that take a text, and names to go to.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ascend_trace_recording::{FunctionId, Trace};

use crate::fuzzy;
use crate::list::{JumpTarget, RowId};

/// Names of one kind that are offered.
pub(crate) const NAMES: usize = 5_000;
/// Entries that are shown.
const SHOWN: usize = 200;
/// Number of guesses where nothing matches the typed text.
const GUESSES: usize = 5;

/// A command that takes a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextCommand {
    Least,
    GoTo,
    Find,
    Lanes,
}

/// Their words, arguments and effects.
pub(crate) const VERBS: [(TextCommand, &str, &str, &str); 4] = [
    (
        TextCommand::Least,
        "least",
        "DURATION",
        "least duration of stalls",
    ),
    (
        TextCommand::GoTo,
        "goto",
        "TIME",
        "go to a time and mark it",
    ),
    (
        TextCommand::Find,
        "find",
        "WORDS",
        "find by name, argument, duration, failure",
    ),
    (
        TextCommand::Lanes,
        "lanes",
        "TEXT",
        "show only lanes whose name contains a text",
    ),
];

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CommandChoice {
    pub(crate) id: RowId,
    pub(crate) keys: String,
    pub(crate) name: String,
    /// Kind of the choice.
    pub(crate) what: &'static str,
    pub(crate) target: JumpTarget,
}

pub(crate) const COMMAND: &str = "command";

pub(crate) fn choice(name: String, what: &'static str, target: JumpTarget) -> CommandChoice {
    CommandChoice {
        id: RowId::Name(what, name.clone()),
        keys: String::new(),
        name,
        what,
        target,
    }
}

/// Operations and functions of the trace. A choice leads to the slowest one on screen.
pub(crate) fn called(trace: &Trace) -> Vec<CommandChoice> {
    let tasks = trace.tasks().iter().map(|task| trace.task_name(task));
    let operations: BTreeSet<&str> = tasks.collect();
    let functions: BTreeSet<FunctionId> = trace.calls().iter().map(|it| it.function).collect();
    let functions = functions.iter().map(|id| trace.function(*id).name.as_str());
    let slowest = |name: &str, task: bool| JumpTarget::Slowest {
        name: name.to_owned(),
        task,
    };
    let operations = operations.into_iter().take(NAMES);
    let operations =
        operations.map(|name| choice(name.to_owned(), "operation", slowest(name, true)));
    let functions = functions.map(|name| choice(name.to_owned(), "function", slowest(name, false)));
    operations.chain(functions).collect()
}

pub(crate) fn ranges(trace: &Trace) -> Vec<CommandChoice> {
    let names: BTreeSet<&str> = trace.ranges().iter().map(|it| it.name.as_str()).collect();
    let names = names.into_iter().take(NAMES);
    let range = |name: &str| choice(name.to_owned(), "range", JumpTarget::Range(name.to_owned()));
    names.map(range).collect()
}

/// Choices for the typed text, best first; and whether they are only guesses.
pub(crate) fn like<'c>(
    all: &'c [CommandChoice],
    typed: &str,
) -> (Vec<Cow<'c, CommandChoice>>, bool) {
    if typed.trim().is_empty() {
        let commands = all
            .iter()
            .take_while(|it| it.what == "action" || it.what == COMMAND);
        return (commands.map(Cow::Borrowed).collect(), false);
    }
    let found = all
        .iter()
        .filter_map(|it| Some((fuzzy::score(typed, &it.name)?, it)));
    let mut found: Vec<(i32, &CommandChoice)> = found.collect();
    found.sort_by_key(|(score, _)| -score);
    found.truncate(SHOWN);
    let found = found.into_iter().map(|(_, it)| Cow::Borrowed(it));
    let command = command(typed).map(Cow::Owned).into_iter();
    let found: Vec<_> = command.chain(found).collect();
    if !found.is_empty() {
        return (found, false);
    }
    (
        guesses(all, typed).into_iter().map(Cow::Owned).collect(),
        true,
    )
}

/// A command with the text that it takes.
fn command(typed: &str) -> Option<CommandChoice> {
    let (word, rest) = typed.trim_start().split_once(' ')?;
    let rest = rest.trim();
    let (verb, _, _, does) = VERBS.iter().find(|it| it.1 == word && !rest.is_empty())?;
    let target = JumpTarget::Verb(*verb, rest.to_owned());
    Some(choice(format!("{word} {rest}: {does}"), COMMAND, target))
}

/// Likely meanings of the typed text. Choosing one types it.
fn guesses(all: &[CommandChoice], typed: &str) -> Vec<CommandChoice> {
    let mut near: Vec<(usize, CommandChoice)> = Vec::new();
    let first = typed.split_whitespace().next().unwrap_or_default();
    for (_, word, ..) in VERBS {
        if let Some(distance) = fuzzy::near(first, word) {
            let rest = typed.trim_start().strip_prefix(first).unwrap_or_default();
            let meant = format!("{word} {}", rest.trim_start());
            near.push((
                distance,
                choice(meant.clone(), COMMAND, JumpTarget::Fill(meant)),
            ));
        }
    }
    for it in all {
        if let Some(distance) = fuzzy::near(typed, &it.name) {
            let target = JumpTarget::Fill(it.name.clone());
            let guess = CommandChoice {
                target,
                ..it.clone()
            };
            near.push((distance, guess));
        }
    }
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(GUESSES);
    near.into_iter().map(|(_, choice)| choice).collect()
}
