//! Imports Perfetto traces by the rules of its trace processor, and fails where that would count an
//! error or drop something. The result is in the terms of the Chrome import.
//!
//! - names, categories, keys and constants are introduced before they are used, by the same sequence;
//! - a sequence has a clock of its own, which counts from packet to packet, and a track that events need not name;
//! - tracks are described before they are used, each once, below parents that exist;
//! - events are handled in the order of their time; at equal times in the order of the file;
//! - a slice ends the one that was opened last on its track and has not ended;
//! - events that name the same flow are joined in the order in which they are handled; an arrow
//!   points from the slice that begins first, and at equal times from the one that came first;
//! - a flow that is ended has begun.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::checker::{ImportedSlice, ImportedTrace};
use super::protobuf::FieldList;

#[derive(Clone, Debug, Default)]
struct ImportedTrack {
    name: String,
    parent: Option<u64>,
    is_counter: bool,
    /// Pid and name, for a process.
    process: Option<(u64, String)>,
    /// Pid of the process that a thread belongs to.
    thread_of: Option<u64>,
}

/// What holds for the packets of a sequence.
#[derive(Default)]
struct SequenceState {
    names: InternedNames,
    /// The track of events that name none.
    track: Option<u64>,
    /// The clock of packets that name none.
    clock: u64,
    /// The time of the last packet on the sequence's own clock.
    last: u64,
}

/// What packets introduce.
#[derive(Default)]
struct InternedNames {
    categories: HashMap<u64, String>,
    events: HashMap<u64, String>,
    keys: HashMap<u64, String>,
    strings: HashMap<u64, String>,
}

#[derive(Default)]
struct PacketImporter {
    sequences: HashMap<u64, SequenceState>,
    tracks: HashMap<u64, ImportedTrack>,
    has_root: bool,
    open: HashMap<u64, Vec<usize>>,
    /// The slice that each active flow touched last.
    active: HashMap<u64, usize>,
    imported: ImportedTrace,
}

/// A track event with everything that its sequence's state adds.
struct TrackEvent<'a> {
    time: i64,
    track: u64,
    body: FieldList<'a>,
    name: String,
    category: String,
    args: Value,
}

/// Imports a whole file. Times count from the begin of the recording, as in Chrome's JSON.
#[track_caller]
pub(crate) fn import(bytes: &[u8]) -> ImportedTrace {
    let file = FieldList::parse(bytes);
    file.only(&[1]);
    let mut importer = PacketImporter::default();
    let mut events = Vec::new();
    for (index, packet) in file.messages(1).iter().enumerate() {
        events.extend(importer.tokenize(packet, index == 0));
    }
    events.sort_by_key(|event| event.time);
    for event in &events {
        importer.parse(event);
    }
    assert!(importer.open.values().all(Vec::is_empty), "an open slice");
    importer.finish()
}

impl PacketImporter {
    /// What happens in the order of the file.
    fn tokenize<'a>(&mut self, packet: &FieldList<'a>, is_first: bool) -> Option<TrackEvent<'a>> {
        packet.only(&[6, 8, 10, 11, 12, 13, 58, 59, 60, 87]);
        let id = packet.number(10).expect("a sequence");
        let flags = packet.number(13).unwrap_or(0);
        let is_new = !self.sequences.contains_key(&id);
        assert_eq!(flags & 1 == 1, is_new, "the state is cleared once");
        assert_eq!(
            packet.number(87),
            is_new.then_some(1),
            "the first of its sequence"
        );
        let sequence = self.sequences.entry(id).or_default();
        if is_first {
            sequence.clock = check_start(packet);
        } else if is_new {
            sequence.start(packet);
        } else {
            assert!(packet.message(6).is_none(), "a clock is not set again");
        }
        if let Some(interned) = packet.message(12) {
            sequence.names.take(&interned);
        }
        if let Some(track) = packet.message(60) {
            self.describe(&track);
        }
        let body = packet.message(11)?;
        let uses_names = [3, 4, 10].iter().any(|field| body.has(*field));
        assert!(flags & 2 == 2 || !uses_names, "an event needs the state");
        let sequence = self.sequences.get_mut(&id).expect("a sequence");
        let time = sequence.time(packet);
        Some(self.event(time as i64, id, body))
    }

    fn describe(&mut self, track: &FieldList<'_>) {
        if track.number(1) == Some(0) {
            track.only(&[1, 19, 20]);
            assert!(self.tracks.is_empty(), "the root comes first");
            assert_eq!((track.number(19), track.number(20)), (Some(1), Some(1)));
            self.has_root = true;
            return;
        }
        assert!(self.has_root, "processes and threads have no order");
        assert!(track.number(12).is_some(), "no order");
        track.only(&[1, 2, 3, 4, 5, 8, 11, 12]);
        let process = track.message(3).map(|process| {
            let pid = process.number(1).expect("a pid");
            (pid, process.text(6).expect("a name"))
        });
        let thread = track.message(4);
        let named = thread.as_ref().and_then(|thread| thread.text(5));
        let described = ImportedTrack {
            name: track.text(2).or(named).unwrap_or_default(),
            parent: track.number(5),
            is_counter: track.message(8).is_some(),
            thread_of: thread.and_then(|thread| thread.number(1)),
            process,
        };
        assert!(!described.name.is_empty() || described.process.is_some());
        if let Some(pid) = described.thread_of {
            assert!(self.process(pid).is_some(), "a thread of no process");
        }
        if let Some(parent) = described.parent {
            assert!(self.tracks.contains_key(&parent), "no parent {parent}");
        }
        let uuid = track.number(1).expect("an id");
        let before = self.tracks.insert(uuid, described);
        assert!(before.is_none(), "track {uuid} is described twice");
    }

    fn event<'a>(&self, time: i64, sequence: u64, body: FieldList<'a>) -> TrackEvent<'a> {
        body.only(&[3, 4, 9, 10, 11, 30, 47, 48]);
        let sequence = &self.sequences[&sequence];
        let names = &sequence.names;
        let track = body.number(11).or(sequence.track).expect("a track");
        assert!(self.tracks.contains_key(&track), "no track {track}");
        let name = body.number(10).map(|iid| names.events[&iid].clone());
        let category = body.number(3).map(|iid| &names.categories[&iid]);
        let mut args = Map::new();
        for annotation in body.messages(4) {
            let (key, value) = names.annotation(&annotation);
            assert!(args.insert(key, value).is_none(), "a key occurs twice");
        }
        TrackEvent {
            time,
            track,
            name: name.unwrap_or_default(),
            category: category.cloned().unwrap_or_default(),
            args: Value::Object(args),
            body,
        }
    }

    /// What happens in the order of time.
    fn parse(&mut self, event: &TrackEvent<'_>) {
        match event.body.number(9) {
            Some(1) => {
                let index = self.begin(event, event.time);
                self.open.entry(event.track).or_default().push(index);
                self.flow(event, index);
            }
            Some(2) => {
                assert!(event.name.is_empty() && event.args == json!({}));
                let open = self.open.get_mut(&event.track).and_then(Vec::pop);
                let index = open.expect("an end has a begin");
                self.imported.slices[index].end = event.time;
                self.flow(event, index);
            }
            Some(3) if self.tracks[&event.track].name == "recording" => {
                self.imported.other = event.args.clone();
                let is_placed = self.tracks[&event.track].parent.is_some();
                self.imported.recording = is_placed.then(|| self.slice(event, event.time));
            }
            Some(3) => {
                let index = self.begin(event, event.time);
                self.flow(event, index);
            }
            Some(4) => self.counter(event),
            other => panic!("type {other:?}"),
        }
    }

    fn begin(&mut self, event: &TrackEvent<'_>, end: i64) -> usize {
        assert!(!self.tracks[&event.track].is_counter);
        assert!(!event.name.is_empty());
        let slice = self.slice(event, end);
        self.imported.slices.push(slice);
        self.imported.slices.len() - 1
    }

    fn slice(&self, event: &TrackEvent<'_>, end: i64) -> ImportedSlice {
        let (process, track) = self.place(event.track);
        ImportedSlice {
            process,
            track,
            name: event.name.clone(),
            category: event.category.clone(),
            begin: event.time,
            end,
            args: event.args.clone(),
        }
    }

    fn flow(&mut self, event: &TrackEvent<'_>, index: usize) {
        for flow in event.body.numbers(47) {
            if let Some(last) = self.active.insert(flow, index) {
                self.join(last, index);
            }
        }
        for flow in event.body.numbers(48) {
            let last = self.active.remove(&flow);
            let slice = &self.imported.slices[index];
            let last = last.unwrap_or_else(|| panic!("no begin of flow {flow} into {slice:?}"));
            self.join(last, index);
        }
    }

    fn join(&mut self, from: usize, to: usize) {
        let begin = |index: usize| self.imported.slices[index].begin;
        let is_turned = begin(from) > begin(to);
        let (from, to) = if is_turned { (to, from) } else { (from, to) };
        self.imported.flows.push((String::new(), from, to));
    }

    fn counter(&mut self, event: &TrackEvent<'_>) {
        assert!(self.tracks[&event.track].is_counter);
        let (process, name) = self.place(event.track);
        let value = event.body.number(30).expect("a value") as i64;
        assert!(value >= 0);
        let values = self.imported.counters.entry((process, name));
        values.or_default().push((event.time, value));
    }

    /// What Chrome's JSON calls the process and the track.
    fn place(&self, track: u64) -> (String, String) {
        let own = &self.tracks[&track];
        let mut device = None;
        let mut at = own;
        let process = loop {
            if let Some((pid, name)) = &at.process {
                break match device {
                    None => name.clone(),
                    Some(device) => format!("{name} device {device} (pid {pid})"),
                };
            }
            if let Some(number) = at.name.strip_prefix("NPU ") {
                device = Some(number.to_owned());
            }
            let parent = at.parent.map(|parent| &self.tracks[&parent]);
            let process = at.thread_of.and_then(|pid| self.process(pid));
            at = parent.or(process).expect("below a process");
        };
        (process, own.name.clone())
    }

    fn process(&self, pid: u64) -> Option<&ImportedTrack> {
        let is_it = |track: &&ImportedTrack| track.process.as_ref().is_some_and(|it| it.0 == pid);
        self.tracks.values().find(is_it)
    }

    fn finish(mut self) -> ImportedTrace {
        let zero = self.imported.other["begin_ns"].as_i64().unwrap_or(0).max(0);
        let slices = self.imported.slices.iter_mut();
        for slice in slices.chain(&mut self.imported.recording) {
            slice.begin -= zero;
            slice.end -= zero;
        }
        for values in self.imported.counters.values_mut() {
            values.iter_mut().for_each(|value| value.0 -= zero);
        }
        self.imported
    }
}

const MONOTONIC: u64 = 3;
const OWN: u64 = 64;

/// The first packet says which clock the times are of, and ties it to the one that importers relate everything
/// to and to the time of day.
fn check_start(packet: &FieldList<'_>) -> u64 {
    const REALTIME: u64 = 1;
    const BOOTTIME: u64 = 6;
    let defaults = packet.message(59).expect("defaults");
    assert_eq!(defaults.number(58), Some(MONOTONIC));
    let snapshot = packet.message(6).expect("a snapshot");
    assert_eq!(snapshot.number(2), Some(MONOTONIC));
    let clocks: Vec<_> = snapshot.messages(1).iter().map(|it| it.number(1)).collect();
    assert_eq!(clocks, [Some(MONOTONIC), Some(BOOTTIME), Some(REALTIME)]);
    MONOTONIC
}

impl SequenceState {
    /// The first packet sets a clock that counts from packet to packet, and ties it to the host's.
    fn start(&mut self, packet: &FieldList<'_>) {
        packet.only(&[6, 10, 13, 59, 87]);
        let defaults = packet.message(59).expect("defaults");
        defaults.only(&[11, 58]);
        self.clock = defaults.number(58).expect("a clock");
        let events = defaults.message(11).expect("defaults of events");
        self.track = events.number(11);
        let snapshot = packet.message(6).expect("a snapshot");
        let clocks = snapshot.messages(1);
        let clock = |it: &FieldList<'_>| (it.number(1), it.number(2), it.number(3));
        let clocks: Vec<_> = clocks.iter().map(clock).collect();
        self.last = clocks[0].1.expect("a time");
        let expected = [
            (Some(OWN), Some(self.last), Some(1)),
            (Some(MONOTONIC), Some(self.last), None),
        ];
        assert_eq!(clocks, expected);
    }

    fn time(&mut self, packet: &FieldList<'_>) -> u64 {
        let time = packet.number(8).expect("a time");
        match packet.number(58).unwrap_or(self.clock) {
            MONOTONIC => time,
            OWN => {
                self.last += time;
                self.last
            }
            other => panic!("clock {other}"),
        }
    }
}

impl InternedNames {
    fn take(&mut self, interned: &FieldList<'_>) {
        interned.only(&[1, 2, 3, 29]);
        for (table, field) in [
            (&mut self.categories, 1),
            (&mut self.events, 2),
            (&mut self.keys, 3),
            (&mut self.strings, 29),
        ] {
            for entry in interned.messages(field) {
                let iid = entry.number(1).expect("a number");
                assert!(iid > 0, "0 means nothing");
                let text = entry.text(2).expect("a text");
                let before = table.insert(iid, text);
                assert!(before.is_none(), "{iid} means two texts");
            }
        }
    }

    /// A named value as Chrome's JSON has it.
    fn annotation(&self, annotation: &FieldList<'_>) -> (String, Value) {
        const EXACT: u64 = 1 << 53;
        annotation.only(&[1, 2, 3, 4, 5, 6, 7, 17]);
        let key = self.keys[&annotation.number(1).expect("a key")].clone();
        let number = |field| annotation.number(field);
        let value = match (number(2), number(3), number(4), number(5), number(7)) {
            (Some(it), None, None, None, None) => json!(it != 0),
            (None, Some(it), None, None, None) if it > EXACT => json!(it.to_string()),
            (None, Some(it), None, None, None) => json!(it),
            (None, None, Some(it), None, None) => match it as i64 {
                it if it.unsigned_abs() > EXACT => json!(it.to_string()),
                it => json!(it),
            },
            (None, None, None, Some(it), None) => match f64::from_bits(it) {
                it if it.is_finite() => json!(it),
                it => json!(it.to_string()),
            },
            (None, None, None, None, Some(it)) => json!(format!("{it:#x}")),
            (None, None, None, None, None) => match number(17) {
                Some(iid) => json!(self.strings[&iid]),
                None => json!(annotation.text(6).expect("a value")),
            },
            other => panic!("several values: {other:?}"),
        };
        (key, value)
    }
}
