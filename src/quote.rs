//! Words as a shell takes them, for commands that are proposed to the user.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ascend_trace_recording::text::plain;

/// The word, in quotes if a shell would make something else of it. Every shell reads `'…'`. A word that cannot be shown
/// as it is, such as one with a line end or with bytes that are no UTF-8, is written as `$'…'`: bash, zsh, ksh and
/// BusyBox read that.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let Some(text) = word.to_str().filter(|text| plain(text) == *text) else {
        return escaped(word.as_bytes());
    };
    let is_plain = |char: char| char.is_alphanumeric() || "-_./,:=@%+".contains(char);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The path, as [`quoted`]. A command would take one that begins with a dash for an option, or for a standard stream.
pub(crate) fn quoted_path(path: impl AsRef<Path>) -> String {
    quoted(undashed(path.as_ref()))
}

/// The same file by a name that does not begin with a dash.
fn undashed(path: &Path) -> OsString {
    match path.as_os_str().as_bytes().starts_with(b"-") {
        true => Path::new(".").join(path).into_os_string(),
        false => path.as_os_str().to_owned(),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let escape = |byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b' '..=b'~' => char::from(*byte).to_string(),
        // Three digits, so that a digit may follow.
        byte => format!("\\{byte:03o}"),
    };
    format!("$'{}'", bytes.iter().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The word as a shell reads it; `None` without this shell.
    fn read_by(shell: &str, word: &str) -> Option<Vec<u8>> {
        let script = format!("printf %s {word}");
        let output = Command::new(shell).args(["-c", &script]).output().ok()?;
        Some(output.stdout)
    }

    #[test]
    fn every_shell_reads_a_word_that_can_be_shown() {
        for word in [
            "a b",
            "it's",
            "",
            "$HOME",
            "\"`id`\"",
            "~x",
            "a\\nb",
            "*",
            "!1",
            "plain/path-1.atrace",
            "ü",
        ] {
            let read = read_by("sh", &quoted(word)).unwrap();
            assert_eq!(String::from_utf8_lossy(&read), word);
        }
        assert_eq!(quoted("./app"), "./app");
        assert_eq!(quoted("a b"), "'a b'");
    }

    #[test]
    fn words_that_cannot_be_shown_are_one_line_that_bash_reads() {
        for word in [
            &b"a\nb"[..],
            b"\xff",
            b"it's\t\\1\xff7",
            b"\x1b[2J",
            "\u{202e}x".as_bytes(),
        ] {
            let text = quoted(OsStr::from_bytes(word));
            assert_eq!(plain(&text), text, "it is shown as it is");
            match read_by("bash", &text) {
                Some(read) => assert_eq!(read, word, "{text}"),
                None => eprintln!("skipped: bash is not installed"),
            }
        }
        assert_eq!(quoted(OsStr::from_bytes(b"\xff")), "$'\\377'");
    }

    #[test]
    fn a_path_is_no_option() {
        assert_eq!(quoted_path("-x y"), "'./-x y'");
        assert_eq!(quoted_path("-"), "./-");
        assert_eq!(quoted_path("x"), "x");
    }
}
