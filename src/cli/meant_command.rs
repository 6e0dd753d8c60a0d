//! First words that are hardly meant as they stand: asked back, instead of recorded as a program.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use rustix::fs::{Access, access};

use super::args::{COMMANDS, first_word};
use crate::quote::{quoted, quoted_path};

/// What traces are called.
pub(super) const EXTENSION: &str = "atrace";

/// Where systems keep the programs that come with them. None of these uses AscendCL.
const SYSTEM: [&str; 4] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

/// The question, if the first word is neither a command nor a program that looks like one.
pub(super) fn question(words: &[OsString]) -> Option<String> {
    let at = first_word(words);
    let word = words.get(at)?;
    if Path::new(word).extension() == Some(OsStr::new(EXTENSION)) && !is_program(word) {
        let shown = quoted_path(word);
        return Some(format!(
            "{shown} is a trace, not a program: did you mean `ascend-trace view {shown}`?"
        ));
    }
    let text = word.to_str()?;
    if text.contains('/') || text.starts_with('-') || COMMANDS.contains(&text) || is_program(word) {
        return None;
    }
    let rest = words.iter().skip(at + 1).map(quoted);
    let rest: String = rest.map(|word| format!(" {word}")).collect();
    let nearest_command = match FOREIGN.iter().find(|(words, _)| words.contains(&text)) {
        Some((_, wish)) => wish.question(&rest),
        None => format!(
            "did you mean `ascend-trace {}{rest}`?",
            nearest_command(text)?
        ),
    };
    let program = quoted(word);
    let here = match Path::new(word).exists() {
        true => format!(", and `ascend-trace ./{program}{rest}` the file in this folder"),
        false => String::new(),
    };
    Some(format!(
        "{program} is not a command: {nearest_command} \
         `ascend-trace -- {program}{rest}` records a program of that name{here}"
    ))
}

/// The wish behind a word of another tool.
enum MeantCommand {
    /// This command, with the words after it.
    Command(&'static str),
    /// What this says.
    Advice(&'static str),
}

impl MeantCommand {
    fn question(&self, rest: &str) -> String {
        match self {
            Self::Command(command) => format!("did you mean `ascend-trace {command}{rest}`?"),
            Self::Advice(text) => (*text).to_owned(),
        }
    }
}

/// Words of nsys, msprof, perf, rocprofv3, py-spy and other tools.
const FOREIGN: &[(&[&str], MeantCommand)] = &[
    (
        &[
            "profile", "launch", "run", "exec", "start", "trace", "collect", "capture", "prof",
        ],
        MeantCommand::Command("record"),
    ),
    (
        &[
            "analyze",
            "analyse",
            "analysis",
            "summary",
            "summarize",
            "top-down",
            "stat",
        ],
        MeantCommand::Command("stats"),
    ),
    (
        &["show", "gui", "tui", "timeline"],
        MeantCommand::Command("view"),
    ),
    (&["ui", "browse", "web"], MeantCommand::Command("open")),
    (&["compare"], MeantCommand::Command("diff")),
    (&["sql", "sqlite"], MeantCommand::Command("query")),
    (
        &["advise", "advisor", "advice", "lint"],
        MeantCommand::Command("check"),
    ),
    (&["status", "env"], MeantCommand::Command("doctor")),
    (
        &["ls", "list", "header", "metadata"],
        MeantCommand::Command("info"),
    ),
    (&["combine", "join"], MeantCommand::Command("merge")),
    (&["version"], MeantCommand::Command("--version")),
    (
        &["convert", "script", "dump", "flamegraph", "speedscope"],
        MeantCommand::Advice(
            "did you mean `ascend-trace export FILE --format FORMAT`, or `ascend-trace stats FILE`?",
        ),
    ),
    (
        &["stop", "shutdown", "cancel"],
        MeantCommand::Advice(
            "a recording ends with its program. Ctrl-C, or `kill -INT PID` with the number of the recorder, \
             reaches the program.",
        ),
    ),
    (
        &["top", "monitor", "live", "watch"],
        MeantCommand::Advice(
            "did you mean `ascend-trace view FILE`, which follows a recording, or `ascend-trace record --metrics PORT APP`?",
        ),
    ),
];

/// Whether the word is a program that the user has put there, and not one that comes with the system.
fn is_program(word: &OsStr) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_own = |folder: &Path| !SYSTEM.iter().any(|system| folder == Path::new(system));
    let mut folders = std::env::split_paths(&folders).filter(|it| is_own(it));
    let can_run = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    match Path::new(word).components().count() {
        1 => folders.any(|folder| can_run(&folder.join(word))),
        _ => can_run(Path::new(word)),
    }
}

/// The command that the word is nearly the name of, or the beginning.
fn nearest_command(word: &str) -> Option<&'static str> {
    // `main` and many more are near to `man`.
    near(
        word,
        COMMANDS.into_iter().filter(|command| command.len() > 3),
    )
}

/// The name that the word is nearly, or the beginning of.
pub(super) fn near<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let allowed = match word.chars().count() {
        0..2 => return None,
        2..5 => 1,
        _ => 2,
    };
    let is_begin = |name: &str| word.chars().count() > 2 && name.starts_with(word);
    let is_near = |name: &&str| is_begin(name) || distance(word, name) <= allowed;
    let near = names.into_iter().filter(is_near);
    near.min_by_key(|name| distance(word, name))
}

/// How many letters have to be put in, left out, replaced or exchanged with their neighbours.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(a != b);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion_for(words: &str) -> Option<String> {
        let words = std::iter::once("ascend-trace").chain(words.split_whitespace());
        question(&words.map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn letters_that_differ_are_counted() {
        assert_eq!(distance("stats", "stats"), 0);
        assert_eq!(distance("stat", "stats"), 1);
        assert_eq!(distance("veiw", "view"), 1);
        assert_eq!(distance("", "soft"), 4);
        assert_eq!(distance("export", "record"), 4);
    }

    #[test]
    fn a_word_that_is_nearly_a_command_is_asked_back() {
        let text = suggestion_for("stat run.atrace").unwrap();
        assert!(text.contains("`ascend-trace stats run.atrace`"), "{text}");
        assert!(text.contains("`ascend-trace -- stat run.atrace`"), "{text}");
        for (word, command) in [
            ("veiw", "view"),
            ("exprot", "export"),
            ("rec", "record"),
            ("doc", "doctor"),
        ] {
            let text = suggestion_for(word).unwrap();
            assert!(
                text.contains(&format!("`ascend-trace {command}`")),
                "{text}"
            );
        }
        assert!(
            suggestion_for("-q stat x")
                .unwrap()
                .contains("ascend-trace stats x")
        );
    }

    #[test]
    fn commands_of_other_tools_are_refused_with_the_nearest_command() {
        for (words, nearest_command) in [
            ("summary t.atrace", "`ascend-trace stats t.atrace`"),
            ("profile ./app -n 3", "`ascend-trace record ./app -n 3`"),
            ("launch python3 x.py", "`ascend-trace record python3 x.py`"),
            ("stop", "Ctrl-C"),
            ("top", "`ascend-trace view FILE`"),
            ("dump x", "`ascend-trace export FILE --format FORMAT`"),
            ("version", "`ascend-trace --version`"),
        ] {
            let text = suggestion_for(words).unwrap();
            assert!(text.contains(nearest_command), "{text}");
            assert!(
                text.contains(&format!("`ascend-trace -- {words}`")),
                "{text}"
            );
        }
    }

    #[test]
    fn a_word_is_near_only_to_a_name_that_differs_by_little() {
        assert_eq!(near("jsno", ["json", "strict"]), Some("json"));
        assert_eq!(near("wrong", ["config", "strict", "color"]), None);
        assert_eq!(near("nope", ["json", "theme"]), None);
        assert_eq!(near("str", ["json", "strict"]), Some("strict"));
        assert_eq!(near("x", ["a"]), None);
    }

    #[test]
    fn programs_and_commands_are_not() {
        for words in [
            "",
            "stats x",
            "./stat x",
            "python3 x.py",
            "-- stat x",
            "--soft stat",
            "a",
            "id",
            "make",
            "help",
        ] {
            assert_eq!(suggestion_for(words), None, "{words}");
        }
    }

    #[test]
    fn a_trace_is_no_program() {
        assert!(
            suggestion_for("run.atrace")
                .unwrap()
                .contains("`ascend-trace view run.atrace`")
        );
    }
}
