//! The numbers that processes and tracks have in an export: their own, or made up.

use std::collections::{BTreeMap, HashSet};

use ascend_trace_model::{ProcessId, Trace};

use super::ProcessTrack;

/// Ids that are made up begin here: above the largest pid of Linux.
const MADE_UP: u32 = 10_000_000;

/// Numbers that must not occur twice.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    used: HashSet<u32>,
    made: u32,
}

impl Numbers {
    /// The number itself, or a made-up one when it is taken.
    pub(super) fn take(&mut self, wanted: u32) -> u32 {
        match wanted < MADE_UP && self.used.insert(wanted) {
            true => wanted,
            false => self.make(),
        }
    }

    pub(super) fn make(&mut self) -> u32 {
        self.made += 1;
        MADE_UP + self.made
    }
}

#[derive(Debug, Default)]
pub(super) struct Ids {
    pids: Numbers,
    pub(super) tids: Numbers,
    /// By process.
    hosts: Vec<u32>,
    devices: BTreeMap<(ProcessId, u32), u32>,
}

impl Ids {
    /// Numbers the processes, and their devices, that are new.
    pub(super) fn add_processes(&mut self, trace: &Trace) {
        for process in trace.processes().iter().skip(self.hosts.len()) {
            self.hosts.push(self.pids.take(process.pid));
        }
        for stream in trace.streams() {
            let key = (stream.process, stream.device);
            self.devices.entry(key).or_default();
        }
        for pid in self.devices.values_mut().filter(|pid| **pid == 0) {
            *pid = self.pids.make();
        }
    }

    pub(super) fn host(&self, process: ProcessId) -> u32 {
        self.hosts.get(process.index()).copied().unwrap_or_default()
    }

    pub(super) fn device(&self, process: ProcessId, device: u32) -> u32 {
        let pid = self.devices.get(&(process, device));
        pid.copied().unwrap_or_default()
    }

    /// Every process: the host's threads of one, then its devices, then the next one.
    pub(super) fn processes(&self) -> Vec<ProcessTrack> {
        let mut all = Vec::new();
        for (index, pid) in self.hosts.iter().enumerate() {
            let process = ProcessId(index as u32);
            all.push(ProcessTrack {
                pid: *pid,
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
