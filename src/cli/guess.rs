//! First words that are hardly meant as they stand: asked back, instead of recorded as a program.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::args::{COMMANDS, first_word};
use crate::quote::quoted;

/// What traces are called.
const EXTENSION: &str = "atrace";

/// The question, if the first word is neither a command nor a program that looks like one.
pub(super) fn question(words: &[OsString]) -> Option<String> {
    let word = words.get(first_word(words))?;
    let text = word.to_str()?;
    if Path::new(word).extension() == Some(OsStr::new(EXTENSION)) {
        let shown = quoted(word);
        return Some(format!(
            "{shown} is a trace, not a program: did you mean `ascend-trace view {shown}`?"
        ));
    }
    let command = meant(text)?;
    let rest: Vec<String> = words
        .iter()
        .skip(first_word(words) + 1)
        .map(quoted)
        .collect();
    let rest = rest
        .iter()
        .map(|word| format!(" {word}"))
        .collect::<String>();
    Some(format!(
        "{text} is not a command: did you mean `ascend-trace {command}{rest}`? \
         `ascend-trace -- {text}{rest}` records a program of that name"
    ))
}

/// The command that the word is nearly the name of, or the beginning.
fn meant(word: &str) -> Option<&'static str> {
    if COMMANDS.contains(&word) || word.contains('/') || word.starts_with('-') {
        return None;
    }
    let allowed = match word.chars().count() {
        0..3 => return None,
        3..5 => 1,
        _ => 2,
    };
    // `main` and many more are near to `man`.
    let is_near = |command: &&&str| {
        command.len() > 3 && (command.starts_with(word) || distance(word, command) <= allowed)
    };
    let near = COMMANDS.iter().filter(is_near);
    near.min_by_key(|command| distance(word, command)).copied()
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

    fn asked(words: &str) -> Option<String> {
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
        let text = asked("stat run.atrace").unwrap();
        assert!(text.contains("`ascend-trace stats run.atrace`"), "{text}");
        assert!(text.contains("`ascend-trace -- stat run.atrace`"), "{text}");
        for (word, command) in [
            ("veiw", "view"),
            ("exprot", "export"),
            ("rec", "record"),
            ("doc", "doctor"),
        ] {
            let text = asked(word).unwrap();
            assert!(
                text.contains(&format!("`ascend-trace {command}`")),
                "{text}"
            );
        }
        assert!(asked("-q stat x").unwrap().contains("ascend-trace stats x"));
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
            assert_eq!(asked(words), None, "{words}");
        }
    }

    #[test]
    fn a_trace_is_no_program() {
        assert!(
            asked("run.atrace")
                .unwrap()
                .contains("`ascend-trace view run.atrace`")
        );
    }
}
