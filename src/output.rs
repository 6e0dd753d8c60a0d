//! The two outputs: results go to stdout, all messages about the work to stderr.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::Context;
use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_recording::text::plain;
use ascend_trace_viewer::TerminalBackground;

use ascend_trace_format::version::JSON_SCHEMA_VERSION;

use crate::error::advised;

/// Messages from the time of the view.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// The latest of it that the view is to show.
static NOTICE: Mutex<Option<String>> = Mutex::new(None);

/// Says something to the user; every line carries the tool's name.
pub(crate) fn print_message(text: impl AsRef<str>) {
    let text = &*advised(text.as_ref());
    match &mut *HELD.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(held) => held.push(text.to_owned()),
        None => write_message(text),
    }
}

/// Amount of messages, in addition to failures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verbosity {
    /// Nothing.
    pub(crate) quiet: bool,
    /// Also how it is done.
    pub(crate) verbose: bool,
    /// Colours on or off, regardless of the environment.
    pub(crate) color: Option<bool>,
    /// Background of the terminal; without it the terminal is asked.
    pub(crate) ground: Option<TerminalBackground>,
    pub(crate) config: ConfigArg,
}

/// The file with the user's settings for every view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ConfigArg {
    /// The one in the folder for such files.
    #[default]
    Usual,
    File(PathBuf),
    None,
}

static MANNER: OnceLock<Verbosity> = OnceLock::new();

/// Sets it once, before anything is said.
pub(crate) fn set_verbosity(manner: Verbosity) {
    // A second command line in one process does not come.
    let _ = MANNER.set(manner);
}

pub(crate) fn verbosity() -> Verbosity {
    MANNER.get().cloned().unwrap_or_default()
}

/// Prints a message about a success.
pub(crate) fn print_status(text: impl AsRef<str>) {
    if !verbosity().quiet {
        print_message(text);
    }
}

/// Says how something is done, to those who asked.
pub(crate) fn print_detail(text: impl AsRef<str>) {
    if verbosity().verbose {
        print_message(text);
    }
}

/// Says something that the view is to show at once, where it has the screen.
pub(crate) fn announce(text: String) {
    print_message(&text);
    *NOTICE.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

/// The message for the view.
pub(crate) fn take_notice() -> Option<String> {
    NOTICE.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Whether the screen belongs to the view.
pub(crate) fn is_held() -> bool {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.is_some()
}

/// Holds messages back while it lives.
pub(crate) struct MessageHold;

impl MessageHold {
    pub(crate) fn new() -> Self {
        HELD.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_default();
        Self
    }
}

impl Drop for MessageHold {
    fn drop(&mut self) {
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
        held.into_iter()
            .flatten()
            .for_each(|text| write_message(&text));
    }
}

fn write_message(text: &str) {
    let mut stderr = io::stderr().lock();
    for line in text.lines() {
        // If stderr is closed, no report is possible.
        let _ = writeln!(stderr, "ascend-trace: {}", plain(line));
    }
}

/// Prints a result. A reader that closes the pipe early, such as `head`, is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// The same of text in any encoding.
pub(crate) fn print_bytes(text: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// The frame around every `--json` result; docs/JSON.md describes the contents.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JsonDocument<'a, T> {
    /// Name of the document.
    schema: String,
    /// Version of the documents of this tool.
    version: u32,
    #[serde(flatten)]
    content: &'a T,
}

/// The text of the field `schema` in the document of this name.
pub(crate) fn schema_name(name: &str) -> String {
    format!("ascend-trace/{name}")
}

/// Prints `content` as the JSON document of this name.
pub(crate) fn print_json<T: Serialize + JsonSchema>(name: &str, content: &T) -> anyhow::Result<()> {
    let document = JsonDocument {
        schema: schema_name(name),
        version: JSON_SCHEMA_VERSION,
        content,
    };
    let mut text = serde_json::to_string_pretty(&document).context("cannot write JSON")?;
    text.push('\n');
    print(&text)
}
