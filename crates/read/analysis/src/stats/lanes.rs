//! What streams, devices and threads did: the rows. Times of things that overlap are united, never summed.

use serde::Serialize;

use super::idle::Spent;

/// Activity of one stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamStats {
    /// Number of the process in the recording: several processes may have the same pid.
    pub process: u32,
    pub pid: u32,
    pub device: u32,
    pub stream_id: i64,
    pub is_default: bool,
    /// How its tasks were timed, at least for a while: `events`, `chained`, `sampled`, or as asked for.
    pub timing: String,
    pub tasks: u64,
    /// Tasks among them that have no device time.
    pub untimed: u64,
    /// From its creation, or the first task where that was not seen, to its end, within the range;
    /// nothing for a stream that never had a task.
    pub begin_ns: Option<i64>,
    pub end_ns: Option<i64>,
    /// Time in which the device worked for it. With the times of all `causes` it makes up the
    /// time between `begin_ns` and `end_ns`, to the nanosecond.
    pub busy_ns: i64,
    /// How long it worked: `busy_ns` has bars of tasks, which may be too long, and nothing of tasks without a time. By how
    /// much this may be off, and how many tasks nothing is known of, so that it may have worked longer.
    pub estimated_busy_ns: i64,
    pub busy_error_ns: i64,
    pub unestimated: u64,
    /// Time in which it waited for an event, a notify or a value, a host function or a peer.
    pub waiting_ns: i64,
    /// The rest of the time between `begin_ns` and `end_ns`.
    pub idle_ns: i64,
    /// `estimated_busy_ns` as a part of the time between `begin_ns` and `end_ns`, 0 to 1.
    pub busy_share: f64,
    /// Why it did not work, longest first.
    pub causes: Vec<Spent>,
}

impl StreamStats {
    /// `idle_ns` as it is by `estimated_busy_ns`.
    pub fn estimated_idle_ns(&self) -> i64 {
        (self.idle_ns + self.busy_ns - self.estimated_busy_ns).max(0)
    }

    /// Whether it was only made: no task of it is in the range, nor any time in which it could have had one.
    pub fn is_unused(&self) -> bool {
        self.tasks == 0 && self.begin_ns.is_none()
    }
}

/// Activity of all streams that a process had on one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceStats {
    /// Number of the process in the recording: several processes may have the same pid.
    pub process: u32,
    pub pid: u32,
    pub device: u32,
    pub streams: u64,
    /// From the begin of its first stream to the end of its last one, within the range.
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Time in which at least one stream worked.
    pub busy_ns: i64,
    /// How long at least one stream worked, copied or computed, as for streams.
    pub estimated_busy_ns: i64,
    pub busy_error_ns: i64,
    pub estimated_copy_ns: i64,
    pub copy_error_ns: i64,
    pub estimated_compute_ns: i64,
    pub compute_error_ns: i64,
    pub unestimated: u64,
    /// Time in which no stream did, as `busy_ns`.
    pub idle_ns: i64,
    /// Time in which something was copied or set, and time in which something else ran.
    pub copy_ns: i64,
    pub compute_ns: i64,
    /// Time in which both happened.
    pub copy_compute_ns: i64,
    /// Time in which at least two streams worked.
    pub shared_ns: i64,
    /// The lengths of its streams' times, summed. With `work_ns` the `causes` make it up.
    pub stream_ns: i64,
    /// The streams' `busy_ns`, summed.
    pub work_ns: i64,
    pub causes: Vec<Spent>,
}

impl DeviceStats {
    /// `idle_ns` as it is by `estimated_busy_ns`.
    pub fn estimated_idle_ns(&self) -> i64 {
        (self.idle_ns + self.busy_ns - self.estimated_busy_ns).max(0)
    }
}

/// Activity of a host thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadStats {
    /// Number of the process in the recording: several processes may have the same pid.
    pub process: u32,
    pub pid: u32,
    pub tid: u32,
    pub name: String,
    /// The program's own calls.
    pub calls: u64,
    /// From its first call to the end of its last one, within the range.
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Time inside calls.
    pub in_calls_ns: i64,
    /// Time inside calls that waited for the device or for room in a queue: the `causes` together.
    pub blocked_ns: i64,
    pub causes: Vec<Spent>,
    /// Idle time of streams because this thread had not submitted their next task, summed over the
    /// streams.
    pub streams_late: Vec<Spent>,
}

/// Simultaneous activity of the devices of all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// Time in which at least one device worked.
    pub busy_ns: i64,
    /// Time in which at least two did.
    pub shared_ns: i64,
}
