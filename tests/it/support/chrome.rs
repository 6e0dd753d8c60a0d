//! Reads Chrome trace JSON by the rules of importers, and fails where one of them would complain, drop
//! something or draw it elsewhere. Knows the format, not its writer.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

/// Process and thread id of a track.
type TrackId = (u64, u64);

#[derive(Clone, Debug)]
pub(crate) struct Slice {
    /// Name of the process that the track belongs to.
    pub(crate) process: String,
    pub(crate) category: String,
    pub(crate) name: String,
    /// Nanoseconds since the time that the file calls 0.
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) args: Value,
    track: TrackId,
}

impl Slice {
    /// Whether it only marks where arrows arrive at the end of a waiter.
    pub(crate) fn is_mark(&self) -> bool {
        self.category == "released"
    }
}

/// An arrow between two slices, by their places. One that arrives at a mark leads to the waiter.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) name: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) slices: Vec<Slice>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) other: Value,
}

/// Reads and checks a file.
#[track_caller]
pub(crate) fn read(text: &str) -> Document {
    let document: Value = serde_json::from_str(text).expect("valid JSON");
    let events = document["traceEvents"]
        .as_array()
        .expect("a list of events");
    let names = Names::of(events);
    let mut slices: Vec<Slice> = of_phase(events, "X").map(|it| slice(it, &names)).collect();
    slices.sort_by_key(|slice| (slice.begin, std::cmp::Reverse(slice.end)));
    let tracks = Tracks::of(&slices);
    let flows = flows(events, &slices, &tracks);
    for event in of_phase(events, "C") {
        let values = event["args"].as_object().expect("a counter has values");
        assert!(values.values().all(Value::is_number), "{event}");
        nanoseconds(event, "ts");
    }
    for event in events {
        let phase = event["ph"].as_str().expect("a phase");
        assert!(["X", "M", "C", "s", "f"].contains(&phase), "{event}");
    }
    let other = document["otherData"].clone();
    Document {
        slices,
        flows,
        other,
    }
}

fn of_phase<'a>(events: &'a [Value], phase: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["ph"] == phase)
}

/// A time as whole nanoseconds: a JSON number of microseconds, never text.
#[track_caller]
fn nanoseconds(event: &Value, name: &str) -> i64 {
    let micros = event[name].as_f64();
    let micros = micros.unwrap_or_else(|| panic!("{name} is no number: {event}"));
    let ns = (micros * 1000.0).round();
    assert!(
        (micros * 1000.0 - ns).abs() < 0.01 && ns >= 0.0,
        "{name} of {event}"
    );
    ns as i64
}

#[track_caller]
fn track(event: &Value) -> TrackId {
    let id = |name: &str| {
        event[name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name}: {event}"))
    };
    (id("pid"), id("tid"))
}

/// Names of processes and threads in the metadata.
struct Names {
    processes: HashMap<u64, String>,
    threads: HashMap<TrackId, String>,
}

impl Names {
    #[track_caller]
    fn of(events: &[Value]) -> Self {
        let mut names = Self {
            processes: HashMap::new(),
            threads: HashMap::new(),
        };
        for event in of_phase(events, "M") {
            let (place, args) = (track(event), &event["args"]);
            let name = || args["name"].as_str().expect("a name is text").to_owned();
            let before = match event["name"].as_str() {
                Some("process_name") => names.processes.insert(place.0, name()),
                Some("thread_name") => names.threads.insert(place, name()),
                Some("process_sort_index" | "thread_sort_index") => {
                    assert!(
                        args["sort_index"].is_i64() || args["sort_index"].is_u64(),
                        "{event}"
                    );
                    None
                }
                other => panic!("metadata {other:?} means nothing"),
            };
            assert_eq!(before, None, "{event} is named twice");
        }
        names
    }
}

#[track_caller]
fn slice(event: &Value, names: &Names) -> Slice {
    let place = track(event);
    assert!(
        names.threads.contains_key(&place),
        "a track without a name: {event}"
    );
    let begin = nanoseconds(event, "ts");
    let mut length = nanoseconds(event, "dur");
    // So that it holds a mark at its end.
    let is_wait = event["cat"] == "wait" && !event["args"]["err_ns"].is_null();
    length -= i64::from(is_wait && length > 0);
    Slice {
        process: names.processes[&place.0].clone(),
        category: event["cat"].as_str().unwrap_or("").to_owned(),
        name: event["name"]
            .as_str()
            .expect("a slice has a name")
            .to_owned(),
        begin,
        end: begin + length,
        args: event["args"].clone(),
        track: place,
    }
}

/// The slices of each track, by begin, longer ones first.
struct Tracks(BTreeMap<TrackId, Vec<usize>>);

impl Tracks {
    /// Fails when slices of one track overlap without one holding the other.
    #[track_caller]
    fn of(slices: &[Slice]) -> Self {
        let mut tracks: BTreeMap<TrackId, Vec<usize>> = BTreeMap::new();
        for (place, slice) in slices.iter().enumerate() {
            tracks.entry(slice.track).or_default().push(place);
        }
        for places in tracks.values() {
            let mut open: Vec<&Slice> = Vec::new();
            for slice in places.iter().map(|place| &slices[*place]) {
                open.retain(|outer| outer.end > slice.begin);
                if let Some(outer) = open.last() {
                    assert!(slice.end <= outer.end, "{slice:?} outlasts {outer:?}");
                }
                open.push(slice);
            }
        }
        Self(tracks)
    }

    /// The innermost slice of a track at a time: the last that began and has not ended; a slice
    /// that ends just then counts when no other is open.
    fn at(&self, slices: &[Slice], id: TrackId, time: i64) -> Option<usize> {
        let places = self.0.get(&id)?;
        let holding = |within: fn(&Slice, i64) -> bool| {
            let mut found = places
                .iter()
                .rev()
                .filter(|place| within(&slices[**place], time));
            found.next().copied()
        };
        let open =
            holding(|slice, time| slice.begin <= time && (time < slice.end || slice.begin == time));
        open.or_else(|| holding(|slice, time| slice.begin <= time && time <= slice.end))
    }

    /// The waiter that a mark belongs to: the shortest slice that began before it and holds it.
    fn waiter(&self, slices: &[Slice], mark: &Slice) -> Option<usize> {
        let holds = |place: &&usize| {
            let slice = &slices[**place];
            slice.begin < mark.begin && mark.begin <= slice.end
        };
        let waiters = self.0.get(&mark.track)?.iter().filter(holds);
        let shortest = waiters.min_by_key(|place| slices[**place].end - slices[**place].begin);
        shortest.copied()
    }
}

/// Pairs the ends of the flows and finds the slice that each of them binds to.
#[track_caller]
fn flows(events: &[Value], slices: &[Slice], tracks: &Tracks) -> Vec<Flow> {
    let end = |event: &Value| {
        let id = event["id"]
            .as_u64()
            .unwrap_or_else(|| panic!("an id is a number: {event}"));
        assert!(id < 1 << 53, "{event}: a double does not hold the id");
        let time = nanoseconds(event, "ts");
        let slice = tracks.at(slices, track(event), time);
        let slice = slice.unwrap_or_else(|| panic!("no slice for {event}"));
        (
            id,
            (event["cat"].clone(), event["name"].clone()),
            time,
            slice,
        )
    };
    let mut starts = HashMap::new();
    for event in of_phase(events, "s") {
        let (id, name, time, slice) = end(event);
        assert!(
            starts.insert(id, (name, time, slice)).is_none(),
            "flow {id} starts twice"
        );
    }
    let mut flows = Vec::new();
    for event in of_phase(events, "f") {
        // Without this an importer takes the next slice that begins.
        assert_eq!(event["bp"], "e", "{event}");
        let (id, name, time, to) = end(event);
        let start = starts.remove(&id);
        let (start_name, start_time, from) = start.unwrap_or_else(|| panic!("no start: {event}"));
        assert_eq!(start_name, name, "importers pair by category and name too");
        assert!(start_time <= time, "{event} ends before it starts");
        // Perfetto lets an arrow point from the slice that begins first.
        let (cause, effect) = (&slices[from], &slices[to]);
        assert!(
            cause.begin <= effect.begin,
            "{event} would be turned around"
        );
        let waiter = || tracks.waiter(slices, effect).expect("a mark has a waiter");
        let to = if effect.is_mark() { waiter() } else { to };
        let name = name.1.as_str().expect("a flow has a name").to_owned();
        flows.push(Flow { name, from, to });
    }
    assert!(
        starts.is_empty(),
        "flows without a finish: {:?}",
        starts.keys()
    );
    flows
}
