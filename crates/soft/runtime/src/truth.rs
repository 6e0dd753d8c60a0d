//! The truth log: when every task really began and ended, one JSON line each.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;

use crate::sync::{Mutex, lock};

/// Written out at this size even when the engine does not come to rest.
const FLUSH_BYTES: usize = 64 << 10;

pub(crate) struct Truth {
    file: File,
    pid: u32,
    pending: Mutex<String>,
}

/// One finished task, times on the host's monotonic clock or in virtual time.
pub(crate) struct FinishedTask<'a> {
    pub(crate) device: u32,
    pub(crate) stream_id: i32,
    pub(crate) seq: u64,
    pub(crate) kind: &'static str,
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    /// Identity and flags of the event that was recorded or waited for.
    pub(crate) event: Option<(usize, u32)>,
    /// The name of a kernel.
    pub(crate) name: Option<&'a str>,
    /// The time of the device from the task before it to this one, at least.
    pub(crate) transition: Transition,
}

/// From one task of a stream to the next, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transition {
    None,
    /// From one task to the next.
    Switch(u64),
    /// From a record to a task, or from a task to a record.
    Turn(u64),
}

impl Transition {
    pub(crate) const fn ns(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Switch(ns) | Self::Turn(ns) => ns,
        }
    }
}

/// One call in virtual time.
pub(crate) struct CallEntry {
    pub(crate) function: &'static str,
    pub(crate) thread: i32,
    /// How many calls the thread had made before.
    pub(crate) number: u64,
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
}

impl Truth {
    /// Lines are appended, so that the processes of one run can share a file.
    pub(crate) fn open(path: &str) -> std::io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self {
            file,
            pid: std::process::id(),
            pending: Mutex::new(String::new()),
        })
    }

    pub(crate) fn add(&self, entry: &FinishedTask<'_>) {
        let mut text = lock(&self.pending);
        self.format(&mut text, entry);
        if text.len() >= FLUSH_BYTES {
            self.write_out(&mut text);
        }
    }

    /// The driver read a device's counter at this time.
    pub(crate) fn add_reading(&self, device: u32, host_ns: u64, count: i64) {
        self.add_clock("clock", device, host_ns, count);
    }

    /// msPTI's clock of a device had this reading at this time.
    pub(crate) fn add_log_clock(&self, device: u32, host_ns: u64, log_ns: i64) {
        self.add_clock("log clock", device, host_ns, log_ns);
    }

    fn add_clock(&self, kind: &str, device: u32, host_ns: u64, count: i64) {
        let mut text = lock(&self.pending);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{{\"device\":{device},\"stream_id\":-1,\"seq\":0,\"kind\":\"{kind}\",\
             \"begin_ns\":{host_ns},\"end_ns\":{host_ns},\"pid\":{},\"count\":{count}}}",
            self.pid
        );
        if text.len() >= FLUSH_BYTES {
            self.write_out(&mut text);
        }
    }

    /// A call, in virtual time: its times are on the clock of its thread.
    pub(crate) fn add_call(&self, call: &CallEntry) {
        let CallEntry {
            function,
            thread,
            number,
            begin_ns,
            end_ns,
        } = call;
        let mut text = lock(&self.pending);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{{\"device\":-1,\"stream_id\":-1,\"seq\":{number},\"kind\":\"call\",\
             \"begin_ns\":{begin_ns},\"end_ns\":{end_ns},\"pid\":{},\"tid\":{thread},\
             \"name\":\"{function}\"}}",
            self.pid
        );
        if text.len() >= FLUSH_BYTES {
            self.write_out(&mut text);
        }
    }

    fn format(&self, text: &mut String, entry: &FinishedTask<'_>) {
        let FinishedTask {
            device,
            stream_id,
            seq,
            kind,
            begin_ns,
            end_ns,
            event,
            name,
            transition,
        } = entry;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{{\"device\":{device},\"stream_id\":{stream_id},\"seq\":{seq},\"kind\":\"{kind}\",\
             \"begin_ns\":{begin_ns},\"end_ns\":{end_ns},\"pid\":{}",
            self.pid
        );
        if let Some((event, flags)) = event {
            let _ = write!(text, ",\"event\":{event},\"flags\":{flags}");
        }
        // Names are C symbols, which need no escaping.
        if let Some(name) = name {
            let _ = write!(text, ",\"name\":\"{name}\"");
        }
        let _ = match transition {
            Transition::Switch(ns @ 1..) => write!(text, ",\"switch_ns\":{ns}"),
            Transition::Turn(ns @ 1..) => write!(text, ",\"turn_ns\":{ns}"),
            _ => Ok(()),
        };
        text.push_str("}\n");
    }

    pub(crate) fn flush(&self) {
        self.write_out(&mut lock(&self.pending));
    }

    fn write_out(&self, text: &mut String) {
        if !text.is_empty() {
            // One write per batch keeps lines of several processes whole. A full disk must not
            // stop the program.
            let _ = (&self.file).write_all(text.as_bytes());
            text.clear();
        }
    }
}
