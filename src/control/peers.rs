//! Recordings of a group, which take snapshots together (`--together`).

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use ascend_trace_collector::switchboard::Switchboard;

use super::client;
use super::protocol::Order;

/// The other recordings of a group, seen from one.
#[derive(Clone)]
pub(crate) struct Peers {
    pub(super) group: String,
    /// The session of this one.
    pub(super) own: PathBuf,
    pub(super) board: Arc<Switchboard>,
    /// The pid of its program, for the reasons in other recordings.
    pub(super) program: u32,
}

impl Peers {
    /// Tells of a snapshot at the end of this recording.
    pub(crate) fn tell_end(&self) {
        let asking = self.tell().unwrap_or_default();
        asking.into_iter().for_each(|it| drop(it.join()));
    }

    /// Asks the other recordings for a snapshot, if this one takes one that they do not know of. Each is asked by a thread:
    /// a recorder that is busy holds up no other. Returns these threads.
    pub(super) fn tell(&self) -> Option<Vec<JoinHandle<()>>> {
        let reason = format!("{} (process {})", self.board.take_news()?, self.program);
        let mut others = client::sessions();
        others.retain(|it| *it != self.own);
        let asked = others.into_iter().filter_map(|session| {
            let order = Order::Snapshot {
                reason: Some(reason.clone()),
                group: Some(self.group.clone()),
            };
            std::thread::Builder::new()
                .name("peer".into())
                // A recording of another group refuses, and one that has just ended is no peer any more.
                .spawn(move || drop(client::send_order(&session, order)))
                .ok()
        });
        Some(asked.collect())
    }
}
