//! What streams, devices and threads did: the rows. Times of things that overlap are united, never summed.

use ascend_trace_recording::units::{duration, duration_with_error, thousands};
use schemars::JsonSchema;
use serde::Serialize;

use super::stalls_by_cause::{CauseTime, main_causes};
use crate::columns::declare::*;

table_row! {
/// Activity of the streams that had one number, one after another. Most often that is one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamStats {
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").text("process");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "its process id").text("pid");
    pub rank: Option<u64> => column("rank", Unsigned, |it: &Self| it.rank.into(), "its rank in a distributed run, or `null`; the rows are in the order of ranks");
    pub device: u32 => column("device", Id, |it: &Self| it.device.into(), "number of the device").text("device");
    pub card: Option<u32> => column("card", Id, |it: &Self| it.card.into(), "physical number of its card on the host, or `null`");
    pub stream_id: i64 => column("stream_id", Id, |it: &Self| it.stream_id.into(), "number of the stream. The runtime gives the number of a stream that has ended to a new one: a row is of all of them");
    pub is_default: bool => column("is_default", Flag, |it: &Self| it.is_default.into(), "whether it is the default stream");
    pub lives: u64 => column("lives", Count, |it: &Self| it.lives.into(), "how many streams had this number, one after another");
    => column("", Figures, |it: &Self| it.stream().into(), "the number; `default`, or the number of lives if there are several").text("stream");
    => column("", Text, |it: &Self| it.stream().into(), "the stream, as the view names it").view("stream", 0);
    pub tasks: u64 => column("tasks", Count, |it: &Self| it.tasks.into(), "all tasks").shown("tasks", 0);
    pub untimed: u64 => column("untimed", Count, |it: &Self| it.untimed.into(), "tasks without a time").text("untimed");
    pub begin_ns: Option<i64> => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "the creation of the first stream, or its first task if that is not in the trace. `null` for a stream without tasks, which counts nowhere else");
    pub end_ns: Option<i64> => column("end_ns", Moment, |it: &Self| it.end_ns.into(), "the end of the last stream");
    pub lived_ns: i64 => column("lived_ns", Duration, |it: &Self| it.lived_ns.into(), "the time between them in which there was a stream");
    pub busy_ns: i64 => column("busy_ns", Duration, |it: &Self| it.busy_ns.into(), "time in which it worked, by the measured bars of tasks");
    => column("", Duration, |it: &Self| Value::estimate((it.estimated_busy_ns, it.busy_error_ns), it.unestimated), "the estimate and its error").shown("busy", 0);
    pub estimated_busy_ns: i64 => column("estimated_busy_ns", Duration, |it: &Self| it.estimated_busy_ns.into(), "how long it worked, tasks without a time included");
    pub busy_error_ns: i64 => column("busy_error_ns", Duration, |it: &Self| it.busy_error_ns.into(), "how far this estimate may be off");
    pub unestimated: u64 => column("unestimated", Count, |it: &Self| it.unestimated.into(), "tasks that are not in the estimate, because nothing is known of them: the stream may have worked longer");
    pub waiting_ns: i64 => column("waiting_ns", Duration, |it: &Self| it.waiting_ns.into(), "time in which it waited for an event, a notify or value, a host function, or a peer of a collective").shown("waiting", 0);
    pub idle_ns: i64 => column("idle_ns", Duration, |it: &Self| it.idle_ns.into(), "the rest of `lived_ns`, by the measured bars of tasks");
    => column("", Duration, |it: &Self| it.estimated_idle_ns().into(), "the same by the estimate").shown("idle", 0);
    pub busy_share: f64 => column("busy_share", Share, |it: &Self| it.busy_share.into(), "`estimated_busy_ns` as a part of `lived_ns`, 0 to 1").shown("busy %", 0);
    pub timing: String => column("timing", Word, |it: &Self| (&it.timing).into(), "how its tasks were timed, at least for a while: `events`, `chained` or `sampled` with `auto`, else what you asked for").text("timing");
    pub causes: Vec<CauseTime> => column("causes", Nested, |it: &Self| Value::list(&it.causes, Value::row), "why it was idle, longest first: `cause` (a word of [STALLS.md](STALLS.md)), `count`, `total_ns`. Together with `busy_ns` they are exactly `lived_ns`");
    => column("", Text, |it: &Self| main_causes(&it.causes).into(), "the main causes").shown("mostly because of", 70);
}
}

impl StreamStats {
    /// Its number, and whether other streams had it.
    fn stream(&self) -> String {
        match (self.is_default, self.lives) {
            (true, _) => format!("{} (default)", self.stream_id),
            (false, 1) => self.stream_id.to_string(),
            (false, lives) => format!("{} ({} lives)", self.stream_id, thousands(lives)),
        }
    }

    /// Adds a later stream with the same number, except for its causes.
    pub(super) fn join(&mut self, next: &Self) {
        if self.tasks == 0 {
            self.timing.clone_from(&next.timing);
        }
        self.lives += next.lives;
        self.tasks += next.tasks;
        self.untimed += next.untimed;
        let begins = [self.begin_ns, next.begin_ns].into_iter().flatten();
        self.begin_ns = begins.min();
        self.end_ns = self.end_ns.max(next.end_ns);
        self.lived_ns += next.lived_ns;
        self.busy_ns += next.busy_ns;
        self.estimated_busy_ns += next.estimated_busy_ns;
        self.busy_error_ns += next.busy_error_ns;
        self.unestimated += next.unestimated;
        self.waiting_ns += next.waiting_ns;
        self.idle_ns += next.idle_ns;
        self.busy_share = match self.lived_ns {
            0 => 0.0,
            lived => self.estimated_busy_ns as f64 / lived as f64,
        };
    }

    /// `idle_ns` as it is by `estimated_busy_ns`.
    pub fn estimated_idle_ns(&self) -> i64 {
        (self.idle_ns + self.busy_ns - self.estimated_busy_ns).max(0)
    }

    /// Whether it was only made: no task of it is in the range, nor any time in which it could have had one.
    pub fn is_unused(&self) -> bool {
        self.tasks == 0 && self.begin_ns.is_none()
    }
}

table_row! {
/// Activity of all streams that a process had on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceStats {
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").text("process");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "its process id").shown("pid", 100);
    pub rank: Option<u64> => column("rank", Unsigned, |it: &Self| it.rank.into(), "its rank in a distributed run, or `null`");
    pub device: u32 => column("device", Id, |it: &Self| it.device.into(), "number of the device").shown("device", 0);
    pub card: Option<u32> => column("card", Id, |it: &Self| it.card.into(), "physical number of its card on the host, or `null`").text("card");
    pub pci_address: Option<String> => column("pci_address", Word, |it: &Self| it.pci_address.as_deref().into(), "place of the card on the PCI bus, or `null`");
    pub streams: u64 => column("streams", Count, |it: &Self| it.streams.into(), "streams of the process on the device").shown("streams", 0);
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "the begin of its first stream, within the range");
    pub end_ns: i64 => column("end_ns", Moment, |it: &Self| it.end_ns.into(), "the end of its last stream");
    pub busy_ns: i64 => column("busy_ns", Duration, |it: &Self| it.busy_ns.into(), "time in which at least one stream worked, by the measured bars of tasks");
    => column("", Duration, |it: &Self| Value::estimate((it.estimated_busy_ns, it.busy_error_ns), it.unestimated), "the estimate and its error").shown("busy", 0);
    pub estimated_busy_ns: i64 => column("estimated_busy_ns", Duration, |it: &Self| it.estimated_busy_ns.into(), "how long at least one stream worked, tasks without a time included");
    pub busy_error_ns: i64 => column("busy_error_ns", Duration, |it: &Self| it.busy_error_ns.into(), "how far this estimate may be off");
    pub idle_ns: i64 => column("idle_ns", Duration, |it: &Self| it.idle_ns.into(), "time in which no stream worked, by the measured bars");
    => column("", Duration, |it: &Self| it.estimated_idle_ns().into(), "the same by the estimate").shown("idle", 0);
    => column("", Share, |it: &Self| Value::share(it.estimated_busy_ns, it.end_ns - it.begin_ns), "the estimate as a part of the time from `begin_ns` to `end_ns`").shown("busy %", 0);
    pub copy_ns: i64 => column("copy_ns", Duration, |it: &Self| it.copy_ns.into(), "time in which something was copied or set, by the measured bars");
    => column("", Duration, |it: &Self| Value::estimate((it.estimated_copy_ns, it.copy_error_ns), 0), "the estimate and its error").shown("copy", 70);
    pub estimated_copy_ns: i64 => column("estimated_copy_ns", Duration, |it: &Self| it.estimated_copy_ns.into(), "the same as an estimate");
    pub copy_error_ns: i64 => column("copy_error_ns", Duration, |it: &Self| it.copy_error_ns.into(), "how far this estimate may be off");
    pub compute_ns: i64 => column("compute_ns", Duration, |it: &Self| it.compute_ns.into(), "time in which something else ran, by the measured bars");
    => column("", Duration, |it: &Self| Value::estimate((it.estimated_compute_ns, it.compute_error_ns), 0), "the estimate and its error").shown("compute", 70);
    pub estimated_compute_ns: i64 => column("estimated_compute_ns", Duration, |it: &Self| it.estimated_compute_ns.into(), "the same as an estimate");
    pub compute_error_ns: i64 => column("compute_error_ns", Duration, |it: &Self| it.compute_error_ns.into(), "how far this estimate may be off");
    pub unestimated: u64 => column("unestimated", Count, |it: &Self| it.unestimated.into(), "tasks that are not in the estimates, because nothing is known of them");
    pub copy_compute_ns: i64 => column("copy_compute_ns", Duration, |it: &Self| it.copy_compute_ns.into(), "time in which both happened").shown("both", 60);
    pub shared_ns: i64 => column("shared_ns", Duration, |it: &Self| it.shared_ns.into(), "time in which at least two streams worked").shown("2+ streams", 130);
    pub stream_ns: i64 => column("stream_ns", Duration, |it: &Self| it.stream_ns.into(), "sum of the times of its streams: `work_ns` and all `causes`");
    pub work_ns: i64 => column("work_ns", Duration, |it: &Self| it.work_ns.into(), "sum of `busy_ns` of its streams");
    pub causes: Vec<CauseTime> => column("causes", Nested, |it: &Self| Value::list(&it.causes, Value::row), "why its streams were idle, as for streams");
    => column("", Text, |it: &Self| main_causes(&it.causes).into(), "the main causes").view("streams mostly", 100);
}
}

impl DeviceStats {
    /// `idle_ns` as it is by `estimated_busy_ns`.
    pub fn estimated_idle_ns(&self) -> i64 {
        (self.idle_ns + self.busy_ns - self.estimated_busy_ns).max(0)
    }
}

/// Order of processes in tables: by rank, and those without one at the end, by pid and number.
pub(crate) fn process_order(rank: Option<u64>, pid: u32, process: u32) -> (u64, u32, u32) {
    (rank.unwrap_or(u64::MAX), pid, process)
}

table_row! {
/// Activity of a host thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadStats {
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").text("process");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "its process id").text("pid");
    pub rank: Option<u64> => column("rank", Unsigned, |it: &Self| it.rank.into(), "its rank in a distributed run, or `null`");
    pub tid: u32 => column("tid", Id, |it: &Self| it.tid.into(), "number of the thread").text("tid");
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the thread").text("name");
    => column("", Text, |it: &Self| (&it.name).into(), "the thread, as the view names it").view("thread", 0);
    pub calls: u64 => column("calls", Count, |it: &Self| it.calls.into(), "calls of the program itself").shown("calls", 0);
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "its first call, within the range");
    pub end_ns: i64 => column("end_ns", Moment, |it: &Self| it.end_ns.into(), "the end of its last call");
    pub in_calls_ns: i64 => column("in_calls_ns", Duration, |it: &Self| it.in_calls_ns.into(), "time in calls").shown("in calls", 0);
    pub outside_ns: i64 => column("outside_ns", Duration, |it: &Self| it.outside_ns.into(), "time between its calls").shown("outside", 75);
    pub outside_known_ns: i64 => column("outside_known_ns", Duration, |it: &Self| it.outside_known_ns.into(), "the part of it in pauses with a known processor time of the thread: most of those of 0.15 ms and more");
    pub outside_work_ns: i64 => column("outside_work_ns", Duration, |it: &Self| it.outside_work_ns.into(), "how long the thread used a processor in these pauses; the rest of them it slept, waited, or another program had the processor");
    pub outside_work_error_ns: i64 => column("outside_work_error_ns", Duration, |it: &Self| it.outside_work_error_ns.into(), "how far this may be off");
    => column("", Text, |it: &Self| it.outside_work().into(), "how long it used a processor in these pauses, and how long they were").shown("on a processor", 110);
    pub blocked_ns: i64 => column("blocked_ns", Duration, |it: &Self| it.blocked_ns.into(), "time in calls that waited for the device or for room in a queue: all `causes`").shown("blocked", 0);
    pub causes: Vec<CauseTime> => column("causes", Nested, |it: &Self| Value::list(&it.causes, Value::row), "the causes of this time, as for streams");
    => column("", Text, |it: &Self| main_causes(&it.causes).into(), "the main causes").shown("mostly in", 70);
    pub streams_late: Vec<CauseTime> => column("streams_late", Nested, |it: &Self| Value::list(&it.streams_late, Value::row), "time in which streams were idle because this thread had not submitted their next task, by cause");
    => column("", Text, |it: &Self| main_causes(&it.streams_late).into(), "the main causes of that time").shown("streams waited for it", 90);
}
}

impl ThreadStats {
    fn outside_work(&self) -> String {
        match self.outside_known_ns {
            0 => String::new(),
            known => {
                let work = duration_with_error(self.outside_work_ns, self.outside_work_error_ns);
                format!("{work} of {}", duration(known))
            }
        }
    }
}

/// Simultaneous activity of the devices of all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Overlap {
    /// Time in which at least one device worked.
    pub busy_ns: i64,
    /// Time in which at least two did.
    pub shared_ns: i64,
}
