//! The kernel reports the ends of processes.

use std::collections::HashMap;
use std::hash::Hash;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Resource, getrlimit, pidfd_open};

/// Number of ends in one report.
const EVENTS: usize = 256;

/// Descriptors of processes, each under a key.
pub(super) struct PidWatch<K> {
    /// None where the kernel has no such thing.
    events: Option<OwnedFd>,
    watched: HashMap<K, (u64, OwnedFd)>,
    keys: HashMap<u64, K>,
    next: u64,
    most: usize,
}

impl<K: Copy + Eq + Hash> PidWatch<K> {
    pub(super) fn new() -> Self {
        // The other half of the descriptors is for all else.
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self {
            events: epoll::create(epoll::CreateFlags::CLOEXEC).ok(),
            most: usize::try_from(files / 2).unwrap_or(usize::MAX),
            ..Self::none()
        }
    }

    /// One that can watch nothing.
    pub(super) fn none() -> Self {
        Self {
            events: None,
            watched: HashMap::new(),
            keys: HashMap::new(),
            next: 0,
            most: 0,
        }
    }

    /// Watches the process that has this pid now. `SRCH`: no such process.
    pub(super) fn add(&mut self, key: K, pid: u32) -> Result<(), Errno> {
        let events = self.events.as_ref().ok_or(Errno::NOSYS)?;
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let process = pidfd_open(pid.ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
        if self.watched.len() >= self.most {
            return Err(Errno::MFILE);
        }
        let token = self.next;
        let data = epoll::EventData::new_u64(token);
        epoll::add(events, &process, data, epoll::EventFlags::IN)?;
        self.next += 1;
        self.keys.insert(token, key);
        self.watched.insert(key, (token, process));
        Ok(())
    }

    pub(super) fn forget(&mut self, key: &K) {
        if let Some((token, process)) = self.watched.remove(key) {
            self.keys.remove(&token);
            // The kernel drops it with its only descriptor; an error would mean that it has.
            if let Some(events) = &self.events {
                let _ = epoll::delete(events, &process);
            }
        }
    }

    /// Those that have ended since they were last asked about, with all their threads.
    pub(super) fn ended(&mut self) -> Vec<K> {
        let mut ended = Vec::new();
        let Some(events) = self.events.as_ref().filter(|_| !self.watched.is_empty()) else {
            return ended;
        };
        let mut events_read = Vec::with_capacity(EVENTS);
        let at_once = Timespec::default();
        // An interruption is made up for by the next time.
        if epoll::wait(events, spare_capacity(&mut events_read), Some(&at_once)).is_ok() {
            let tokens = events_read.iter().map(|event| event.data.u64());
            ended.extend(tokens.filter_map(|token| self.keys.get(&token).copied()));
        }
        for key in &ended {
            self.forget(key);
        }
        ended
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.watched.len()
    }
}
