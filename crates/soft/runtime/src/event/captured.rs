//! What captures and graphs know of an event.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::Event;
use super::kind::EventClass;
use super::record::Record;
use crate::code::{Outcome, RT_EVENT_CAPTURED, check, fault};
use crate::stream::line::StreamLine;
use crate::sync::lock;

/// How an event is recorded and waited for: inside of graphs and streams, or across their borders.
/// Once used in one way, it keeps to it.
#[derive(Default)]
pub(super) struct EventUses {
    record: AtomicU8,
    wait: AtomicU8,
}

const PLAIN: u8 = 1;
const EXTERNAL: u8 = 2;

fn use_as(used: &AtomicU8, way: u8) -> Outcome {
    if used.load(Ordering::Acquire) == way {
        return Ok(());
    }
    let before = used.compare_exchange(0, way, Ordering::AcqRel, Ordering::Acquire);
    check(
        before.is_ok() || before == Err(way),
        "the event is used with another flag already",
    )
}

impl EventUses {
    pub(super) fn record_plainly(&self, class: EventClass) -> Outcome {
        if class == EventClass::ExSync {
            use_as(&self.record, PLAIN)?;
        }
        Ok(())
    }

    pub(super) fn record_externally(&self) -> Outcome {
        use_as(&self.record, EXTERNAL)
    }

    pub(super) fn wait_externally(&self) -> Outcome {
        use_as(&self.wait, EXTERNAL)
    }

    pub(super) fn wait_plainly(&self, class: EventClass) -> Outcome {
        if class == EventClass::ExSync {
            use_as(&self.wait, PLAIN)?;
        }
        Ok(())
    }
}

impl Event {
    /// The handle of the graph and the node of its latest record, while that graph is being captured.
    pub(crate) fn capture(&self) -> Option<(usize, usize)> {
        if !self.is_captured.load(Ordering::Acquire) {
            return None;
        }
        lock(&self.state).capture
    }

    pub(crate) fn enter_capture(&self, graph: usize, node: usize) {
        lock(&self.state).capture = Some((graph, node));
        self.is_captured.store(true, Ordering::Release);
    }

    /// The capture of this graph is over.
    pub(crate) fn leave_capture(&self, graph: usize) {
        let mut state = lock(&self.state);
        if state.capture.is_some_and(|(own, _)| own == graph) {
            state.capture = None;
            self.is_captured.store(false, Ordering::Release);
        }
    }

    pub(super) fn refuse_while_captured(&self) -> Outcome {
        if self.is_captured.load(Ordering::Acquire) {
            return fault(RT_EVENT_CAPTURED, "the event is part of a capture");
        }
        Ok(())
    }

    pub(crate) fn was_recorded(&self) -> bool {
        self.latest().is_some()
    }

    /// The record that a graph will make: the latest from now on.
    pub(crate) fn expect_record(&self) -> Arc<Record> {
        let mut state = lock(&self.state);
        let record = state
            .expected
            .take()
            .unwrap_or_else(|| Record::new(self.name()));
        state.latest = Some(Arc::clone(&record));
        state.waits.clear();
        record
    }

    /// The record that a wait of the device gets at its turn. Called by the engine only.
    pub(crate) fn flag_to_await(&self) -> Arc<Record> {
        let mut state = lock(&self.state);
        match &state.latest {
            Some(record) => Arc::clone(record),
            None => Arc::clone(
                state
                    .expected
                    .get_or_insert_with(|| Record::new(self.name())),
            ),
        }
    }

    /// The device sets the event's flag. Called by the engine only.
    pub(crate) fn raise_flag(&self, line: &Arc<StreamLine>, seq: u64, end_ns: u64) -> Vec<usize> {
        let record = self.expect_record();
        record.settle_place(line, seq);
        record.complete(end_ns)
    }

    /// The device takes the flag back. Called by the engine only.
    pub(crate) fn lower_flag(&self) {
        lock(&self.state).latest = None;
    }
}
