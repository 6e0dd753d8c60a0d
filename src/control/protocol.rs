//! Lines of JSON between `ctl` and a recorder: one request, one reply. docs/PRODUCTION.md describes them.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of requests and replies.
pub(crate) const VERSION: u32 = 1;
/// The longest line.
const MOST_BYTES: usize = 64 << 10;
/// Time limit of one side for a whole line of the other.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// An order to a recorder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Says how the recording is.
    Status,
    /// Nothing is recorded from now on, except data that later calls depend on.
    Pause,
    /// All calls are recorded again, for any cause of the pause.
    Resume,
    /// The recording ends now: its file is complete, and the program runs on without it.
    Stop,
    /// Times tasks in this way from now on: a value of `--timing`.
    Timing { mode: String },
    /// Limits the events of the timing `auto`: a value of `--budget`.
    Budget { percent: String },
    /// Puts a mark with this text into the recording.
    Mark { text: String },
    /// Takes a snapshot of a ring, for this reason; only in recordings of this group, if one is named.
    Snapshot {
        reason: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        group: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) version: u32,
    #[serde(flatten)]
    pub(crate) order: Order,
}

impl Request {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            version: VERSION,
            order,
        }
    }
}

/// State of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RecordingStatus {
    /// The version of the tool.
    pub(crate) tool: String,
    /// The pids of the recorder and of the program, as the recorder knows them.
    pub(crate) recorder: u32,
    pub(crate) program: u32,
    pub(crate) command: Vec<String>,
    /// The trace; null for standard output.
    pub(crate) trace: Option<PathBuf>,
    /// Bytes of the trace until now.
    pub(crate) bytes: Option<u64>,
    /// Whether the recorder has paused. Programs and windows pause processes as well.
    pub(crate) paused: bool,
    /// Whether the recording has ended before the program.
    #[serde(default)]
    pub(crate) stopped: bool,
    /// Whether the recorder has attached to a program that was running.
    #[serde(default)]
    pub(crate) attached: bool,
    pub(crate) calls: u64,
    /// Calls and other records that could not be recorded.
    pub(crate) lost: u64,
    /// The trace file cannot be written any more, such as on a full disk. The counts above include its missing records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unwritten: Option<UnwrittenRecords>,
    /// Records that wait in memory until the trace file can be written again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waiting: Option<WaitingBytes>,
    /// The runtime that processes have loaded: `softacl` or `installed`. Null as long as that is not known.
    #[serde(default)]
    pub(crate) runtime: Option<String>,
    /// How tasks are timed now; an earlier recorder does not say it.
    #[serde(default)]
    pub(crate) timing: Option<String>,
    /// The limit of `auto` in percent.
    #[serde(default)]
    pub(crate) budget_percent: Option<f64>,
    /// Since the begin of the recording.
    pub(crate) running_ns: u64,
    /// The snapshots of a ring that stay, the oldest first.
    #[serde(default)]
    pub(crate) snapshots: Vec<PathBuf>,
}

/// Records that a trace file does not have since it cannot be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UnwrittenRecords {
    /// The reason of the system.
    pub(crate) error: String,
    pub(crate) calls: u64,
    /// Other records, such as times of tasks.
    pub(crate) others: u64,
}

/// Records that wait in memory, such as on a full disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WaitingBytes {
    /// The reason of the system.
    pub(crate) error: String,
    /// Their size, as it will be in the file.
    pub(crate) bytes: u64,
}

/// A reply has either a status or an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) version: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) status: Option<RecordingStatus>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) error: Option<String>,
}

impl Reply {
    pub(super) fn done(status: RecordingStatus) -> Self {
        Self {
            version: VERSION,
            status: Some(status),
            error: None,
        }
    }

    pub(crate) fn refused(error: impl Into<String>) -> Self {
        Self {
            version: VERSION,
            status: None,
            error: Some(error.into()),
        }
    }
}

/// Reads one line of JSON.
pub(super) fn receive<T: DeserializeOwned>(stream: &UnixStream) -> io::Result<T> {
    receive_within(stream, PATIENCE)
}

/// The same, within this time.
pub(super) fn receive_within<T: DeserializeOwned>(
    stream: &UnixStream,
    patience: Duration,
) -> io::Result<T> {
    let line = receive_line(stream, Instant::now() + patience)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&line).map_err(Into::into)
}

/// Reads up to the end of a line, or of the longest one. A peer that sends single bytes has no more time than another.
fn receive_line(mut stream: &UnixStream, until: Instant) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut bytes = [0; 4096];
    while !line.contains(&b'\n') && line.len() < MOST_BYTES {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut bytes)? {
            0 => break,
            read => line.extend(bytes.iter().take(read)),
        }
    }
    Ok(line)
}

/// Writes one line of JSON.
pub(super) fn send(mut stream: &UnixStream, message: &impl Serialize) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_lines_that_a_shell_can_write() {
        for (line, order) in [
            (r#"{"version":1,"command":"pause"}"#, Order::Pause),
            (
                r#"{"version":1,"command":"status","more":2}"#,
                Order::Status,
            ),
            (
                r#"{"version":1,"command":"mark","text":"a\"b"}"#,
                Order::Mark {
                    text: "a\"b".to_owned(),
                },
            ),
        ] {
            let request: Request = serde_json::from_str(line).unwrap();
            assert_eq!(request, Request::new(order), "{line}");
        }
        assert!(serde_json::from_str::<Request>(r#"{"version":1,"command":"explode"}"#).is_err());
        let line = serde_json::to_string(&Request::new(Order::Resume)).unwrap();
        assert_eq!(line, r#"{"version":1,"command":"resume"}"#);
    }

    #[test]
    fn a_reply_of_an_earlier_recorder_is_read() {
        let line = r#"{"version":1,"status":{"tool":"0.1.0","recorder":1,"program":2,"command":[],"trace":null,"bytes":null,"paused":false,"calls":3,"lost":0,"running_ns":4}}"#;
        let reply: Reply = serde_json::from_str(line).unwrap();
        let status = reply.status.unwrap();
        assert_eq!(
            (status.calls, status.timing, status.snapshots),
            (3, None, Vec::new())
        );
    }

    #[test]
    fn a_line_without_an_end_and_a_silent_client_are_errors() {
        let (one, other) = UnixStream::pair().unwrap();
        drop(other);
        assert!(receive::<Request>(&one).is_err());
        let (one, mut other) = UnixStream::pair().unwrap();
        let line = "x".repeat(MOST_BYTES + 10);
        let writer = std::thread::spawn(move || other.write_all(line.as_bytes()));
        assert!(receive::<Request>(&one).is_err());
        drop(one);
        drop(writer.join());
    }

    #[test]
    fn a_client_that_sends_single_bytes_has_a_time_limit() {
        let (one, mut other) = UnixStream::pair().unwrap();
        other.write_all(b"{").unwrap();
        let error = receive_line(&one, Instant::now()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        other.write_all(b"}\n").unwrap();
        let later = Instant::now() + Duration::from_secs(600);
        assert_eq!(receive_line(&one, later).unwrap(), b"{}\n");
    }
}
