//! The end of `ctl`: finds recordings of this user, and sends them requests.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use super::place::{self, socket_of};
use super::protocol::{
    Order, PATIENCE, RecordingStatus, Reply, Request, VERSION, receive_within, send,
};

/// The sessions of this user with a recorder that takes requests.
pub(crate) fn sessions() -> Vec<PathBuf> {
    let mut found = place::sessions();
    found.retain(|session| UnixStream::connect(socket_of(session)).is_ok());
    found
}

/// Sends a request to the recorder of a session, and returns the state after it.
pub(crate) fn send_order(session: &Path, order: Order) -> anyhow::Result<RecordingStatus> {
    let reply = exchange(session, order).map_err(|error| refusal(session, &error))?;
    match (reply.status, reply.error) {
        (Some(status), _) => Ok(status),
        (None, Some(error)) => bail!("the recorder refuses: {error}"),
        (None, None) => bail!("the recorder has another version of requests than {VERSION}"),
    }
}

fn exchange(session: &Path, order: Order) -> io::Result<Reply> {
    exchange_within(session, order, PATIENCE)
}

fn exchange_within(session: &Path, order: Order, patience: Duration) -> io::Result<Reply> {
    let stream = UnixStream::connect(socket_of(session))?;
    send(&stream, &Request::new(order))?;
    receive_within(&stream, patience)
}

/// The state of a recording, if its recorder sends it within this time.
pub(crate) fn ask_status(session: &Path, patience: Duration) -> io::Result<RecordingStatus> {
    let reply = exchange_within(session, Order::Status, patience)?;
    reply
        .status
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn refusal(session: &Path, error: &io::Error) -> anyhow::Error {
    let session = session.display();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => anyhow::anyhow!(
            "{session}: its recorder takes no requests: it has ended, or is of an earlier version"
        ),
        io::ErrorKind::PermissionDenied => anyhow::anyhow!(
            "{session}: only the user of the recorder may control it: run this as its user"
        ),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            anyhow::anyhow!("{session}: its recorder ended before it replied")
        }
        _ => anyhow::anyhow!("{session}: {error}"),
    }
}

/// The session that the user means: a path, or the pid of a recorder or of a process in a recording.
pub(crate) fn session_of(target: &str) -> anyhow::Result<PathBuf> {
    match target.parse::<u32>() {
        Ok(pid) => crate::running_recording::session_of(pid)
            .with_context(|| format!("cannot control the recording of process {pid}")),
        Err(_) => Ok(target.into()),
    }
}
