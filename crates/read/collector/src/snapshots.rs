//! When snapshots of a ring are taken.

use ascend_trace_recording::rows::RangeRow;

use crate::decode::RecordOrigin;
use crate::file::Recorder;
use crate::ring::{SnapshotOrigin, SnapshotRequest};
use crate::switchboard::Switchboard;

/// A snapshot that waits for the time after its event.
#[derive(Debug, Default)]
pub(crate) struct SnapshotSchedule {
    waiting: Option<(SnapshotRequest, i64)>,
    /// The last snapshot has everything until then.
    taken_ns: i64,
    /// Until then, events of rules take no further snapshot.
    rests_until: i64,
    /// An event of that rest. No snapshot has it, so it gets one after the rest. The ring keeps it until then.
    resting: Option<SnapshotRequest>,
}

impl SnapshotSchedule {
    /// Takes the snapshots that are due.
    pub(crate) fn turn(
        &mut self,
        board: &Switchboard,
        file: &mut Recorder,
        first: Option<RecordOrigin>,
        now: i64,
    ) {
        let Some(options) = file.ring() else { return };
        if self.waiting.is_none()
            && let Some(mut request) = self.next(board.take_wanted(), file, now)
        {
            // A snapshot for another reason has the event of the rest as well.
            if let Some(resting) = self.resting.take() {
                request.reason = format!("{}; {}", request.reason, resting.reason);
            }
            let after = i64::try_from(options.after.as_nanos()).unwrap_or(i64::MAX);
            file.hold(request.at_ns);
            if request.origin.is_local() {
                board.announce(&request.reason);
            }
            let due = request.at_ns.saturating_add(after);
            self.waiting = Some((request, due));
        }
        if let Some((request, _)) = self.waiting.take_if(|(_, due)| *due <= now) {
            self.taken_ns = now;
            self.rests_until = now.saturating_add(options.pause_ns());
            let is_marked = request.origin == SnapshotOrigin::Program;
            let mark = first.filter(|_| !is_marked);
            let mark = mark.map(|origin| event_mark(&request, origin));
            file.snapshot(request, mark);
        }
    }

    /// The snapshot to begin with now.
    fn next(
        &mut self,
        wanted: Option<SnapshotRequest>,
        file: &Recorder,
        now: i64,
    ) -> Option<SnapshotRequest> {
        let Some(request) = wanted else {
            return self.resting.take_if(|_| now >= self.rests_until);
        };
        if request.origin.is_always_taken() || request.at_ns >= self.rests_until {
            return Some(request);
        }
        // The last snapshot has an event that came before it.
        if request.at_ns > self.taken_ns && self.resting.is_none() {
            file.hold(request.at_ns);
            self.resting = Some(request);
        }
        None
    }

    /// Takes the last one: nothing follows any more.
    pub(crate) fn finish(
        &mut self,
        board: &Switchboard,
        file: &mut Recorder,
        first: Option<RecordOrigin>,
        status: i32,
    ) {
        let is_wanted = file.ring().is_some_and(|it| it.rules.failed_exit);
        if is_wanted && status != 0 {
            let reason = format!("the program ended with status {status}");
            match &mut self.waiting {
                // It has the end as well.
                Some((request, _)) => request.reason = format!("{}; {reason}", request.reason),
                None => board.want_snapshot(&reason, SnapshotOrigin::Recording),
            }
        }
        self.turn(board, file, first, i64::MAX);
        // An event that came with the last records may have begun to rest.
        self.turn(board, file, first, i64::MAX);
    }
}

/// The event in the recording.
fn event_mark(request: &SnapshotRequest, origin: RecordOrigin) -> RangeRow {
    RangeRow {
        process: origin.process,
        thread: origin.thread,
        begin_ns: request.at_ns,
        end_ns: request.at_ns,
        domain: 0,
        name: format!("snapshot: {}", request.reason),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use ascend_trace_recording::rows::{EndRow, SessionRow, TablesRow};

    use super::*;
    use crate::file::TraceFile;
    use crate::ring::{Retention, RingOptions, TriggerRules};
    use crate::target::TraceTarget;

    #[test]
    fn an_event_of_the_last_records_has_a_snapshot_shortly_after_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let board = Arc::<Switchboard>::default();
        let options = RingOptions {
            retention: Retention::Time(Duration::from_secs(600)),
            keep: 4,
            after: Duration::ZERO,
            rules: TriggerRules::default(),
        };
        let target = TraceTarget::Named { path, force: false };
        let (session, tables) = (SessionRow::default(), TablesRow::default());
        let file = TraceFile::create(&target, &session, &tables, |_| {}).unwrap();
        let mut file = file.with_ring(options, Arc::clone(&board)).start().unwrap();
        let mut schedule = SnapshotSchedule::default();
        let want = |at_ns, origin| {
            board.want(SnapshotRequest {
                at_ns,
                reason: format!("event {at_ns}"),
                origin,
            });
        };
        want(10, SnapshotOrigin::Recording);
        schedule.turn(&board, &mut file, None, 20);
        want(30, SnapshotOrigin::Rule);
        schedule.finish(&board, &mut file, None, 0);
        file.finish(EndRow::default()).unwrap();
        assert_eq!(board.snapshots().ended, 2);
    }
}
