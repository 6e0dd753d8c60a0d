//! Cards that several processes use: their devices are next to each other.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_recording::{ProcessId, Trace};

/// A device of a process.
pub(super) type ProcessDevice = (ProcessId, u32);

/// The devices of the processes on one card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SharedCard {
    /// Physical number on the host.
    pub(super) number: u32,
    /// In the order of the processes.
    pub(super) devices: Vec<ProcessDevice>,
}

/// The cards with devices of two processes or more.
pub(super) fn shared_cards(trace: &Trace, processes: &[ProcessId]) -> Vec<SharedCard> {
    let streams = trace.streams().iter();
    let all: BTreeSet<ProcessDevice> = streams.map(|it| (it.process, it.device)).collect();
    let mut cards: BTreeMap<(&str, u32), SharedCard> = BTreeMap::new();
    for process in processes {
        let own = all.iter().filter(|(its, _)| its == process);
        for (process, device) in own {
            let Some(number) = trace.card(*process, *device).number else {
                continue;
            };
            let host = trace.process(*process).host.as_str();
            let card = cards.entry((host, number)).or_default();
            card.number = number;
            card.devices.push((*process, *device));
        }
    }
    let is_shared = |it: &SharedCard| it.devices.iter().any(|(its, _)| *its != it.devices[0].0);
    cards.into_values().filter(is_shared).collect()
}
