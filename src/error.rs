//! How a command fails: with a status and one clear line.

use std::borrow::Cow;
use std::fmt;

use rustix::io::Errno;

/// The tool's own failure before the program was launched.
pub(crate) const TOOL_FAILED: u8 = 125;
/// The program exists but cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// The program does not exist.
pub(crate) const NOT_FOUND: u8 = 127;
/// It was done, but the trace is damaged; see `--strict`.
pub(crate) const INCOMPLETE: u8 = 3;
/// Something was found that was not to be.
pub(crate) const DENIED: u8 = 1;
/// Failure of a command that launches nothing; also wrong words on its command line.
pub(crate) const TROUBLE: u8 = 2;

/// Why a command failed, and its exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: u8,
    reason: anyhow::Error,
}

impl Failure {
    pub(crate) fn new(status: u8, reason: impl fmt::Display) -> Self {
        Self {
            status,
            reason: anyhow::anyhow!("{reason}"),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(reason: anyhow::Error) -> Self {
        Self {
            status: TROUBLE,
            reason,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&whole(&self.reason))
    }
}

/// The whole chain of causes on one line. Many errors have the text of their cause in their own: it is not repeated.
pub(crate) fn whole(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// The text with what to do in place of the system's error number.
pub(crate) fn advised(text: &str) -> Cow<'_, str> {
    const MARK: &str = " (os error ";
    let Some((before, rest)) = text.split_once(MARK) else {
        return Cow::Borrowed(text);
    };
    let Some((number, after)) = rest.split_once(')') else {
        return Cow::Borrowed(text);
    };
    let Some(advice) = number.parse().ok().map(advice) else {
        return Cow::Borrowed(text);
    };
    // The text has the advice already, if it goes on.
    match after.is_empty() {
        true => Cow::Owned(format!("{before}: {advice}")),
        false => Cow::Owned(format!("{before}{}", advised(after))),
    }
}

/// What to do about an error of the system.
fn advice(number: i32) -> &'static str {
    match Errno::from_raw_os_error(number) {
        Errno::PERM | Errno::ACCESS => "check the permissions of the file and of its folders",
        Errno::NOENT => "check the name and its folder",
        Errno::ISDIR => "name a file, not a folder",
        Errno::NOTDIR => "check that each part of the path before the name is a folder",
        Errno::EXIST => "choose another name",
        Errno::NOSPC | Errno::DQUOT => "make room on this disk, or use another one",
        Errno::FBIG => "raise the limit of file sizes (ulimit -f)",
        Errno::NOMEM => "raise the limit of memory (ulimit -v), or end other programs",
        Errno::MFILE | Errno::NFILE => "raise the limit of open files (ulimit -n)",
        Errno::AGAIN => "raise the limit of processes (ulimit -u)",
        Errno::ROFS => "use a folder that can be written",
        Errno::NAMETOOLONG => "use a shorter name",
        Errno::LOOP => "check the symbolic links of the path",
        Errno::ADDRINUSE => "use another port",
        Errno::IO => "check the disk; `dmesg` shows its errors",
        Errno::TXTBSY | Errno::BUSY => "try again when it is not in use",
        _ => "`ascend-trace help errors` has what to do",
    }
}

/// Gives the errors of a step the status they end the command with.
pub(crate) trait OrStatus<T> {
    fn or_status(self, status: u8) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrStatus<T> for Result<T, E> {
    fn or_status(self, status: u8) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            status,
            reason: error.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot map it: {source}")]
    struct CauseTwice {
        source: io::Error,
    }

    #[test]
    fn a_cause_is_said_once() {
        let source = io::Error::from_raw_os_error(12);
        let error = anyhow::Error::new(CauseTwice { source }).context("no room");
        let text = whole(&error);
        assert_eq!(text.matches("os error").count(), 1, "{text}");
        assert!(text.starts_with("no room: cannot map it: "), "{text}");
    }

    #[test]
    fn an_error_of_the_system_has_an_advice() {
        for number in 1..134 {
            let error = io::Error::from_raw_os_error(number);
            let reason = error
                .to_string()
                .replace(&format!(" (os error {number})"), "");
            let error = Err::<(), _>(error).context("cannot open x").unwrap_err();
            let text = advised(&whole(&error)).to_string();
            let advice = text.strip_prefix(&format!("cannot open x: {reason}: "));
            assert!(advice.is_some_and(|it| it.len() > 10), "{text}");
        }
        assert_eq!(
            advised("cannot open x: Is a directory (os error 21)"),
            "cannot open x: Is a directory: name a file, not a folder"
        );
        assert_eq!(
            advised("cannot open x: No such file (os error 2); give another name"),
            "cannot open x: No such file; give another name"
        );
        assert_eq!(advised("x (os error y)"), "x (os error y)");
    }
}
