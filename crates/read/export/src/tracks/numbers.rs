//! The numbers that processes and tracks have in an export: their own, or made up.

use std::collections::{BTreeMap, HashSet};

use ascend_trace_recording::{ProcessId, Trace};

use super::{ProcessTrack, SliceTrack};

/// Pids that are made up begin here: above the largest pid of Linux.
const PIDS: u32 = 10_000_000;

/// So do tids that are made up, so that no track is taken for the main thread of a process.
const TIDS: u32 = 20_000_000;

/// Numbering of the processes of devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProcessNumbering {
    /// Numbers above all pids.
    #[default]
    MadeUp,
    /// The devices' own, which no host process has then. Processes that use the same device share one.
    Devices,
}

/// Devices with numbers from here on get made-up ones. Readers that want pids to be devices know only
/// this many.
const DEVICES: u32 = 64;

impl ProcessNumbering {
    /// Numbers below this do not belong to the host.
    fn reserved(self) -> u32 {
        match self {
            Self::MadeUp => 0,
            Self::Devices => DEVICES,
        }
    }
}

/// Numbers that must not occur twice.
#[derive(Debug)]
pub(super) struct UniqueNumbers {
    used: HashSet<u32>,
    made: u32,
    reserved: u32,
}

impl UniqueNumbers {
    fn above(made: u32, numbering: ProcessNumbering) -> Self {
        Self {
            used: HashSet::new(),
            made,
            reserved: numbering.reserved(),
        }
    }

    /// The number itself, or a made-up one when it is taken.
    pub(super) fn take(&mut self, wanted: u32) -> u32 {
        let is_free = (self.reserved..PIDS).contains(&wanted) && self.used.insert(wanted);
        match is_free {
            true => wanted,
            false => self.make(),
        }
    }

    pub(super) fn make(&mut self) -> u32 {
        self.made += 1;
        self.made
    }
}

#[derive(Debug)]
pub(super) struct TrackIds {
    numbering: ProcessNumbering,
    pids: UniqueNumbers,
    pub(super) tids: UniqueNumbers,
    /// Streams that have their own numbers, below the pids of their devices.
    streams: HashSet<(u32, u32)>,
    /// By process.
    hosts: Vec<u32>,
    /// Processes in the order in which they are shown: by rank.
    order: Vec<ProcessId>,
    devices: BTreeMap<(ProcessId, u32), u32>,
    tracks: u32,
    lanes: u32,
}

impl Default for TrackIds {
    fn default() -> Self {
        Self::new(ProcessNumbering::default())
    }
}

impl TrackIds {
    pub(super) fn new(numbering: ProcessNumbering) -> Self {
        Self {
            numbering,
            pids: UniqueNumbers::above(PIDS, numbering),
            tids: UniqueNumbers::above(TIDS, numbering),
            streams: HashSet::new(),
            hosts: Vec::new(),
            order: Vec::new(),
            devices: BTreeMap::new(),
            tracks: 0,
            lanes: 0,
        }
    }

    /// Numbers the processes, and their devices, that are new.
    pub(super) fn add_processes(&mut self, trace: &Trace) {
        for process in trace.processes().iter().skip(self.hosts.len()) {
            self.hosts.push(self.pids.take(process.pid));
        }
        self.order = trace.processes_by_rank();
        for stream in trace.streams() {
            let key = (stream.process, stream.device);
            if !self.devices.contains_key(&key) {
                let pid = self.new_device(stream.device);
                self.devices.insert(key, pid);
            }
        }
    }

    fn new_device(&mut self, device: u32) -> u32 {
        match self.numbering {
            ProcessNumbering::Devices if device < DEVICES => {
                self.pids.used.insert(device);
                device
            }
            _ => self.pids.make(),
        }
    }

    pub(super) fn host(&self, process: ProcessId) -> u32 {
        self.hosts.get(process.index()).copied().unwrap_or_default()
    }

    pub(super) fn device(&self, process: ProcessId, device: u32) -> u32 {
        let pid = self.devices.get(&(process, device));
        pid.copied().unwrap_or_default()
    }

    /// The tid of a stream: its number, unless that has another meaning. Readers take 0 for idle, and a
    /// tid that equals a pid for the main thread of that process.
    pub(super) fn stream(&mut self, pid: u32, number: i64) -> u32 {
        let number = u32::try_from(number).unwrap_or(0);
        let is_free = (1..PIDS).contains(&number)
            && !self.pids.used.contains(&number)
            && !self.tids.used.contains(&number)
            && self.streams.insert((pid, number));
        match is_free {
            true => number,
            false => self.tids.make(),
        }
    }

    pub(super) fn track(&mut self, pid: u32, tid: u32, lane: u32) -> SliceTrack {
        self.tracks += 1;
        let number = self.tracks;
        SliceTrack {
            pid,
            tid,
            number,
            lane,
        }
    }

    pub(super) fn lane(&mut self) -> u32 {
        self.lanes += 1;
        self.lanes
    }

    /// Every process: the host's threads of one, then its devices, then the next one.
    pub(super) fn processes(&self) -> Vec<ProcessTrack> {
        let mut all = Vec::new();
        for process in self.order.iter().copied() {
            all.push(ProcessTrack {
                pid: self.host(process),
                process,
                device: None,
            });
            let own = self.devices.range((process, 0)..=(process, u32::MAX));
            all.extend(own.map(|((_, device), pid)| ProcessTrack {
                pid: *pid,
                process,
                device: Some(*device),
            }));
        }
        all
    }
}
