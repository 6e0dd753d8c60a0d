//! The numbers by which streams are shown, and the streams that have one of them after another.

use std::collections::HashMap;

use crate::entities::{ProcessId, StreamId};

use super::TraceBuilder;

/// Place of a number: its process and device.
type NumberKey = (ProcessId, u32, i32);

/// By the runtime's ids.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamNumbers {
    /// The first stream with an id, and the number of streams that had it.
    lanes: HashMap<NumberKey, (StreamId, u32)>,
    /// Streams without an id, by their serials.
    unnumbered: HashMap<NumberKey, StreamId>,
}

impl TraceBuilder {
    /// Gives a stream its lane, once its id is known. The runtime gives the id of a stream that has ended to a new one.
    pub(super) fn number_stream(&mut self, id: StreamId) {
        let numbers = &mut self.numbers;
        let stream = &mut self.trace.streams[id.index()];
        let key = |number| (stream.process, stream.device, number);
        let serial = i32::try_from(stream.serial).ok().map(key);
        let Some(acl_id) = stream.acl_id else {
            if let Some(serial) = serial {
                numbers.unnumbered.insert(serial, id);
                stream.has_ambiguous_serial = numbers.lanes.contains_key(&serial);
            }
            return;
        };
        let key = key(acl_id);
        if let Some(serial) = serial.filter(|it| numbers.unnumbered.get(it) == Some(&id)) {
            numbers.unnumbered.remove(&serial);
        }
        if let Some(lane) = numbers.lanes.get(&key)
            && self.trace.stream_lanes[id.index()].0 == lane.0
        {
            return;
        }
        let lane = numbers.lanes.entry(key).or_insert((id, 0));
        lane.1 += 1;
        self.trace.stream_lanes[id.index()] = *lane;
        // Its number may have been that of a stream without an id until now.
        if let Some(other) = numbers.unnumbered.get(&key) {
            self.trace.streams[other.index()].has_ambiguous_serial = true;
        }
    }
}
