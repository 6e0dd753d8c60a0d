//! Words as a shell takes them, for commands that are proposed to the user.

use std::ffi::OsStr;

/// The word, in quotes if a shell would make something else of it.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    let is_plain = |char: char| char.is_alphanumeric() || "-_./,:=@%+".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_gets_the_word_back() {
        for word in [
            "a b",
            "it's",
            "",
            "$HOME",
            "a\nb",
            "~x",
            "plain/path-1.atrace",
            "ü",
        ] {
            let script = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh")
                .args(["-c", &script])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
        assert_eq!(quoted("./app"), "./app");
        assert_eq!(quoted("a b"), "'a b'");
    }
}
