//! Changes of the recording that the view shows, while it is being made.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use anyhow::Context;

use ascend_trace_viewer::RecordingOrder;

use crate::cli::output_file;
use crate::control::ControlledRecording;
use crate::control::client::{self, send_order};
use crate::control::protocol::{Order, RecordingStatus};

/// The recorder that gets the orders.
#[derive(Clone)]
pub(super) enum OrderTarget {
    /// This process is the recorder.
    Own(Box<ControlledRecording>),
    /// The recorder that writes this file.
    File(PathBuf),
}

impl OrderTarget {
    /// Sends an order, and returns the state of the recording after it.
    fn obey(&self, order: Order) -> anyhow::Result<RecordingStatus> {
        match self {
            Self::Own(recording) => {
                let reply = recording.obey(order);
                let error = reply.error.unwrap_or_default();
                reply.status.with_context(|| error)
            }
            Self::File(file) => send_order(&session_of(file)?, order),
        }
    }
}

/// The session of the recorder that writes a file.
fn session_of(file: &Path) -> anyhow::Result<PathBuf> {
    let writes = |session: &PathBuf| {
        let trace = send_order(session, Order::Status).ok()?.trace?;
        output_file::is_same(&trace, file).then_some(())
    };
    let mut sessions = client::sessions().into_iter();
    let found = sessions.find(|session| writes(session).is_some());
    found.with_context(|| format!("no recorder that takes requests writes {}", file.display()))
}

/// Orders that are sent by another thread: a recorder takes its time.
pub(super) struct SentOrders {
    target: OrderTarget,
    sender: Sender<String>,
    news: Receiver<String>,
    thread: Option<JoinHandle<()>>,
}

impl SentOrders {
    pub(super) fn new(target: OrderTarget) -> Self {
        let (sender, news) = channel();
        Self {
            target,
            sender,
            news,
            thread: None,
        }
    }

    /// Begins to send an order. The outcome is among the news.
    pub(super) fn send(&mut self, order: RecordingOrder) -> io::Result<()> {
        if self.thread.as_ref().is_some_and(|it| !it.is_finished()) {
            return Err(io::Error::other(
                "another change of the recording is under way",
            ));
        }
        let (target, sender) = (self.target.clone(), self.sender.clone());
        let thread = std::thread::Builder::new().name("order".into());
        self.thread = Some(thread.spawn(move || {
            let text = carry_out(&target, order)
                .unwrap_or_else(|error| format!("the recording was not changed: {error:#}"));
            // The view may have ended.
            let _ = sender.send(text);
        })?);
        Ok(())
    }

    pub(super) fn news(&self) -> Option<String> {
        self.news.try_recv().ok()
    }

    /// Whether the recording is paused, if this process makes it.
    pub(super) fn is_paused(&self) -> bool {
        match &self.target {
            OrderTarget::Own(recording) => recording.board.is_paused(),
            OrderTarget::File(_) => false,
        }
    }
}

/// Carries an order out, and returns the message about it.
fn carry_out(target: &OrderTarget, order: RecordingOrder) -> anyhow::Result<String> {
    Ok(match order {
        RecordingOrder::PauseOrResume if target.obey(Order::Status)?.paused => {
            target.obey(Order::Resume)?;
            "the recording continues".to_owned()
        }
        RecordingOrder::PauseOrResume => {
            target.obey(Order::Pause)?;
            "the recording is paused".to_owned()
        }
        RecordingOrder::Mark(text) => {
            target.obey(Order::Mark { text: text.clone() })?;
            format!("marked “{text}” in the recording")
        }
        RecordingOrder::Snapshot => {
            let reason = Some("view".to_owned());
            let group = None;
            let status = target.obey(Order::Snapshot { reason, group })?;
            match status.snapshots.last() {
                Some(file) => format!("snapshot {}", file.display()),
                None => "a snapshot is being taken".to_owned(),
            }
        }
    })
}
