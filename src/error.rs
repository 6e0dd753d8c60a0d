//! How a command fails: with a status and one clear line.

use std::fmt;

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

/// Why a command could not do what was asked, and the status it ends with.
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
        // The alternate form puts the whole chain of causes on one line.
        write!(f, "{:#}", self.reason)
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
