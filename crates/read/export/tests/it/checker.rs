//! Imports Chrome trace JSON by the rules of Perfetto's importer, and fails where it would drop
//! something or count an error.
//!
//! - `ts` and `dur` are numbers, written without an exponent, exact to the nanosecond;
//! - events are handled in the order of `ts`; at equal times longer slices come first, then
//!   everything else in the order of the file;
//! - a slice that begins on a track closes those that have ended; it must not outlast what is open;
//! - a flow's end binds to the slice that was opened last on its track and is not closed, and (as
//!   other importers look it up by time) that slice must be the only innermost one at that time;
//! - every flow has one start and one finish, in this order, with the same name and category;
//! - an arrow points from the slice that begins first, and at equal times from the flow's start;
//! - every track that is used has a name and an order.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ImportedSlice {
    pub(crate) process: String,
    pub(crate) track: String,
    pub(crate) name: String,
    pub(crate) category: String,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) args: Value,
}

#[derive(Debug, Default)]
pub(crate) struct ImportedTrace {
    pub(crate) slices: Vec<ImportedSlice>,
    /// Category, and the slices at both ends: where the arrow leaves, and where it points.
    pub(crate) flows: Vec<(String, usize, usize)>,
    /// Process and name of a counter to its values over time.
    pub(crate) counters: BTreeMap<(String, String), Vec<(i64, i64)>>,
    pub(crate) other: Value,
    /// Where the recording as a whole is described: process, track, name, time, arguments.
    pub(crate) recording: Option<ImportedSlice>,
}

type TrackId = (u64, u64);

/// The slices of a track by begin, and the latest end up to each of them.
#[derive(Default)]
struct TrackSlices {
    slices: Vec<usize>,
    reach: Vec<i64>,
}

#[derive(Default)]
struct ChromeImporter {
    processes: HashMap<u64, String>,
    threads: HashMap<TrackId, String>,
    sorted_processes: HashMap<u64, i64>,
    sorted_threads: HashMap<TrackId, i64>,
    open: HashMap<TrackId, Vec<usize>>,
    /// Begin and end of every slice, and which of them are on a track.
    laid: Vec<(i64, i64)>,
    of_track: HashMap<TrackId, TrackSlices>,
    /// Begin and end of the outermost slices of a track, added up in floating point.
    sums: HashMap<TrackId, Vec<(f64, f64)>>,
    starts: HashMap<u64, (String, String, usize)>,
    finished: HashMap<u64, ()>,
    imported: ImportedTrace,
}

/// Imports a whole file.
#[track_caller]
pub(crate) fn import(text: &str) -> ImportedTrace {
    let document: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(document["displayTimeUnit"], "ns");
    check_notation(text);
    let mut events: Vec<&Value> = document["traceEvents"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    let mut importer = ChromeImporter::default();
    for event in events.iter().filter(|event| event["ph"] == "M") {
        importer.metadata(event);
    }
    events.retain(|event| event["ph"] != "M");
    events.sort_by_key(|event| {
        let length = if event["ph"] == "X" {
            nanoseconds(event, "dur")
        } else {
            0
        };
        (nanoseconds(event, "ts"), std::cmp::Reverse(length))
    });
    // Durations of 0 sort with flows and counters, as in the importer.
    for event in &events {
        if event["ph"] == "X" && event["cat"] != "recording" {
            importer.lay(event);
        }
    }
    for event in events {
        importer.event(event);
    }
    for id in importer.starts.keys() {
        assert!(
            importer.finished.contains_key(id),
            "flow {id} has no finish"
        );
    }
    let slices = importer.imported.slices.iter_mut();
    slices.filter(|it| is_wait(it)).for_each(|it| it.end -= 1);
    // Perfetto imports the one, Chrome's viewer shows the other.
    assert_eq!(document["metadata"], document["otherData"]);
    importer.imported.other = document["otherData"].clone();
    if let Some(recording) = &importer.imported.recording {
        assert_eq!(recording.args, importer.imported.other);
    }
    importer.imported
}

/// Whether a slice is a task that waits: in JSON it is a nanosecond longer, so that it holds a mark at its end.
fn is_wait(slice: &ImportedSlice) -> bool {
    let waits = match slice.category.as_str() {
        "wait" => true,
        "notify" | "value" => slice.name.contains("Wait"),
        _ => false,
    };
    waits && !slice.args["err_ns"].is_null() && slice.begin < slice.end
}

/// No time may need a reader to know exponents, nor come as text.
fn check_notation(text: &str) {
    for key in ["\"ts\":", "\"dur\":"] {
        for (at, _) in text.match_indices(key) {
            let number: String = text[at + key.len()..]
                .chars()
                .take_while(|it| !matches!(it, ',' | '}'))
                .collect();
            let plain = |it: char| it.is_ascii_digit() || it == '.';
            assert!(number.chars().all(plain), "{key}{number}");
        }
    }
}

fn nanoseconds(event: &Value, key: &str) -> i64 {
    let number = event[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} is no number: {event}"));
    let ns = (number * 1000.0).round();
    assert!(
        (number * 1000.0 - ns).abs() < 1e-2,
        "{key} is inexact: {event}"
    );
    ns as i64
}

fn track(event: &Value) -> TrackId {
    let id = |key: &str| {
        let id = event[key]
            .as_u64()
            .unwrap_or_else(|| panic!("no {key}: {event}"));
        assert!(id <= u64::from(u32::MAX));
        id
    };
    (id("pid"), id("tid"))
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}

impl ChromeImporter {
    fn metadata(&mut self, event: &Value) {
        let track = track(event);
        let args = &event["args"];
        // The process's main thread, as importers take it: a host's.
        let is_pid = self.processes.contains_key(&track.1);
        let is_thread = event["name"] == "thread_name";
        assert!(
            !is_thread || !is_pid || track.0 == track.1,
            "a pid as a tid: {event}"
        );
        assert!(!is_thread || track.1 > 0, "the idle thread: {event}");
        match text(&event["name"]).as_str() {
            "process_name" => drop(self.processes.insert(track.0, text(&args["name"]))),
            "thread_name" => drop(self.threads.insert(track, text(&args["name"]))),
            "process_sort_index" => {
                self.sorted_processes
                    .insert(track.0, args["sort_index"].as_i64().expect("order"));
            }
            "thread_sort_index" => {
                self.sorted_threads
                    .insert(track, args["sort_index"].as_i64().expect("order"));
            }
            other => panic!("unknown metadata {other}"),
        }
    }

    /// Remembers a slice so that flows can be looked up by time.
    fn lay(&mut self, event: &Value) {
        let slice = self.slice(event);
        let number = |key: &str| event[key].as_f64().expect("a number");
        // Some readers count in milliseconds.
        let (begin, length) = (number("ts") / 1000.0, number("dur") / 1000.0);
        let end = begin + length;
        let sums = self.sums.entry(track(event)).or_default();
        // Readers take a slice for a child that ends with its parent, give or take a little.
        if sums.last().is_none_or(|outer| end > outer.1 + 1e-7) {
            sums.push((begin, end));
        }
        let index = self.laid.len();
        self.laid.push((slice.begin, slice.end));
        let laid = self.of_track.entry(track(event)).or_default();
        laid.slices.push(index);
        let reach = laid.reach.last().copied().unwrap_or(i64::MIN);
        laid.reach.push(reach.max(slice.end));
    }

    fn slice(&self, event: &Value) -> ImportedSlice {
        let id = track(event);
        assert!(
            self.sorted_processes.contains_key(&id.0),
            "no order: {event}"
        );
        assert!(self.sorted_threads.contains_key(&id), "no order: {event}");
        let begin = nanoseconds(event, "ts");
        let length = nanoseconds(event, "dur");
        assert!(begin >= 0 && length >= 0, "{event}");
        assert_ne!(event["name"], "", "{event}");
        ImportedSlice {
            process: self.processes[&id.0].clone(),
            track: self.threads[&id].clone(),
            name: text(&event["name"]),
            category: text(&event["cat"]),
            begin,
            end: begin + length,
            args: event["args"].clone(),
        }
    }

    fn event(&mut self, event: &Value) {
        match text(&event["ph"]).as_str() {
            "X" if event["cat"] == "recording" => {
                let slice = self.slice(event);
                assert_eq!(self.imported.recording, None);
                self.imported.recording = Some(slice);
            }
            "X" => self.begin_slice(event),
            "s" => self.start_flow(event),
            "f" => self.finish_flow(event),
            "C" => self.counter(event),
            other => panic!("unknown phase {other}"),
        }
    }

    fn begin_slice(&mut self, event: &Value) {
        let slice = self.slice(event);
        let slices = &mut self.imported.slices;
        let open = self.open.entry(track(event)).or_default();
        while let Some(outer) = open.last().map(|index| &slices[*index]) {
            let instants = outer.begin == outer.end && slice.begin == slice.end;
            if outer.end < slice.begin || (outer.end == slice.begin && !instants) {
                open.pop();
                continue;
            }
            assert!(slice.end <= outer.end, "{slice:?} outlasts {outer:?}");
            break;
        }
        let is_orphan = slice.category == "released" && open.is_empty();
        assert!(!is_orphan, "{slice:?} is in no slice");
        open.push(slices.len());
        slices.push(slice);
    }

    /// The slice that an end of a flow binds to.
    fn bound(&self, event: &Value) -> usize {
        let id = track(event);
        let time = nanoseconds(event, "ts");
        let slices = &self.imported.slices;
        let open = self.open.get(&id).and_then(|open| open.last());
        let bound = *open.unwrap_or_else(|| panic!("no slice for {event}"));
        let slice = &slices[bound];
        assert!(
            slice.begin <= time && time <= slice.end,
            "{event} is outside {slice:?}"
        );
        self.check_lookup(id, time, bound, event);
        self.check_sums(id, slice, event);
        bound
    }

    /// Whoever looks for the shortest slice at this time must come to the same one. A slice holds
    /// its begin, and its end if no other slice holds that.
    fn check_lookup(&self, id: TrackId, time: i64, bound: usize, event: &Value) {
        let length = |index: &usize| self.laid[*index].1 - self.laid[*index].0;
        let holding = |within: fn(i64, i64, i64) -> bool| -> Vec<usize> {
            let track = &self.of_track[&id];
            let begun = track.slices.partition_point(|it| self.laid[*it].0 <= time);
            let places = (0..begun).rev().take_while(|at| track.reach[*at] >= time);
            let here = places.map(|at| track.slices[at]);
            here.filter(|index| within(self.laid[*index].0, time, self.laid[*index].1))
                .collect()
        };
        let mut found = holding(|begin, at, end| begin == at || (begin < at && at < end));
        if found.is_empty() {
            found = holding(|begin, at, end| begin <= at && at <= end);
        }
        let shortest = found.iter().map(length).min();
        let mut innermost: Vec<_> = found
            .iter()
            .filter(|index| Some(length(index)) == shortest)
            .collect();
        // An operator is around the call that submits its work, and has its times: either is right.
        if innermost.len() > 1 {
            innermost.retain(|index| self.imported.slices[**index].category != "cpu_op");
        }
        assert_eq!(innermost.len(), 1, "{event} is ambiguous");
        let slice = &self.imported.slices[bound];
        assert_eq!(
            self.laid[*innermost[0]],
            (slice.begin, slice.end),
            "{event} binds to {slice:?}"
        );
    }

    /// Whoever adds begin and duration in floating point must find the time inside the outermost
    /// slice that holds it.
    fn check_sums(&self, id: TrackId, slice: &ImportedSlice, event: &Value) {
        let time = event["ts"].as_f64().expect("a number") / 1000.0;
        let held = self.sums.get(&id).and_then(|track| {
            let place = track.partition_point(|(begin, _)| *begin <= time);
            track[..place].iter().rev().find(|(_, end)| time <= *end)
        });
        assert!(held.is_some(), "{event} is in no slice, meant {slice:?}");
    }

    fn start_flow(&mut self, event: &Value) {
        let id = flow_id(event);
        let start = (text(&event["cat"]), text(&event["name"]), self.bound(event));
        assert!(
            self.starts.insert(id, start).is_none(),
            "flow {id} starts twice"
        );
    }

    fn finish_flow(&mut self, event: &Value) {
        let id = flow_id(event);
        assert_eq!(event["bp"], "e", "{event}");
        let to = self.bound(event);
        let start = self
            .starts
            .get(&id)
            .unwrap_or_else(|| panic!("no start before {event}"));
        let (category, name, from) = start.clone();
        assert_eq!(
            (text(&event["cat"]), text(&event["name"])),
            (category.clone(), name)
        );
        assert!(
            self.finished.insert(id, ()).is_none(),
            "flow {id} finishes twice"
        );
        let slices = &self.imported.slices;
        let is_turned = slices[from].begin > slices[to].begin;
        let (from, to) = if is_turned { (to, from) } else { (from, to) };
        self.imported.flows.push((category, from, to));
    }

    fn counter(&mut self, event: &Value) {
        let args = event["args"].as_object().expect("values");
        let process = self.processes[&track(event).0].clone();
        for (unit, value) in args {
            let value = value.as_i64().expect("a number");
            assert!(value >= 0, "{event}");
            // The importer's name.
            let name = format!("{} {unit}", text(&event["name"]));
            let key = (process.clone(), name);
            let values = self.imported.counters.entry(key).or_default();
            values.push((nanoseconds(event, "ts"), value));
        }
    }
}

fn flow_id(event: &Value) -> u64 {
    let id = event["id"]
        .as_u64()
        .unwrap_or_else(|| panic!("no id: {event}"));
    assert!(id < 1 << 53);
    id
}
