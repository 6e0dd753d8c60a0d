//! `communication.json` and `communication_matrix.json`: each collective with its times, by step, and the messages from one
//! rank to another.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::collectives::{Moved, NamedCollective, NamedCollectives};
use super::timing::{mb, ms};

/// The transport of ranks on one host.
pub(super) const ON_HOST: &str = "SDMA";

/// The row of sums.
const TOTAL: &str = "Total Op Info";

/// How readers name a step: by its number, or without one.
pub(super) fn step_name(step: Option<u64>) -> String {
    step.map_or_else(|| "step".to_owned(), |it| format!("step{it}"))
}

/// The readers' word for collectives, and for messages.
pub(super) fn kind(collective: &NamedCollective) -> &'static str {
    match collective.ran.is_message() {
        true => "p2p",
        false => "collective",
    }
}

/// Gigabytes in a second.
pub(super) fn bandwidth(moved: Moved) -> f64 {
    moved.bytes / moved.ns as f64
}

/// Times of several collectives.
#[derive(Clone, Debug, Default)]
struct TimeSum {
    elapsed: i64,
    wait: i64,
    transfer: i64,
    /// Some of the waits are not known.
    is_partial: bool,
    moved: Option<Moved>,
}

impl TimeSum {
    fn add(&mut self, collective: &NamedCollective) {
        self.elapsed += collective.ran.duration();
        match collective.split {
            Some((wait, transfer)) => {
                self.wait += wait.ns;
                self.transfer += transfer.ns;
            }
            None => self.is_partial = true,
        }
        if let Some(more) = collective.moved {
            let known = self.moved.unwrap_or(Moved { bytes: 0.0, ns: 0 });
            self.moved = Some(Moved {
                bytes: known.bytes + more.bytes,
                ns: known.ns + more.ns,
            });
        }
    }

    /// The members of a document.
    fn value(&self, begin_us: f64) -> Value {
        let mut times = json!({
            "Start Timestamp(us)": begin_us,
            "Elapse Time(ms)": ms(self.elapsed),
        });
        if let (false, Some(times)) = (self.is_partial, times.as_object_mut()) {
            let ratio = |part: i64, rest: i64| match part + rest {
                0 => 0.0,
                all => part as f64 / all as f64,
            };
            let share = ratio(self.wait, self.transfer);
            let more = [
                ("Transit Time(ms)", ms(self.transfer)),
                ("Wait Time(ms)", ms(self.wait)),
                ("Synchronization Time(ms)", ms(self.wait)),
                ("Idle Time(ms)", 0.0),
                ("Wait Time Ratio", share),
                ("Synchronization Time Ratio", share),
            ];
            times.extend(more.map(|(name, value)| (name.to_owned(), value.into())));
        }
        let links: Map<String, Value> = self
            .moved
            .map(|moved| {
                let members = json!({
                    "Transit Size(MB)": mb(moved.bytes),
                    "Transit Time(ms)": ms(moved.ns),
                    "Bandwidth(GB/s)": bandwidth(moved),
                });
                (ON_HOST.to_owned(), members)
            })
            .into_iter()
            .collect();
        json!({"Communication Time Info": times, "Communication Bandwidth Info": links})
    }
}

/// Writes the members of an object one by one: a document of many collectives does not fit into memory as a tree.
struct ObjectWriter<'t> {
    to: &'t mut dyn Write,
    is_first: bool,
}

impl<'t> ObjectWriter<'t> {
    fn begin(to: &'t mut dyn Write) -> io::Result<Self> {
        to.write_all(b"{")?;
        Ok(Self { to, is_first: true })
    }

    fn name(&mut self, name: &str) -> io::Result<&mut dyn Write> {
        if !self.is_first {
            self.to.write_all(b",")?;
        }
        self.is_first = false;
        serde_json::to_writer(&mut *self.to, name)?;
        self.to.write_all(b":")?;
        Ok(&mut *self.to)
    }

    fn member(&mut self, name: &str, value: &Value) -> io::Result<()> {
        let to = self.name(name)?;
        Ok(serde_json::to_writer(to, value)?)
    }

    fn end(self) -> io::Result<()> {
        self.to.write_all(b"}")
    }
}

/// Writes the document of times. `base` is the offset of its times.
pub(super) fn write_times(
    named: &NamedCollectives,
    base: i64,
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut steps: BTreeMap<Option<u64>, Vec<&NamedCollective>> = BTreeMap::new();
    for collective in &named.all {
        steps
            .entry(collective.ran.step)
            .or_default()
            .push(collective);
    }
    let mut document = ObjectWriter::begin(to)?;
    for (step, collectives) in steps {
        let mut kinds = ObjectWriter::begin(document.name(&step_name(step))?)?;
        for word in ["collective", "p2p"] {
            let own = || collectives.iter().filter(|it| kind(it) == word);
            let mut entries = ObjectWriter::begin(kinds.name(word)?)?;
            let mut total = TimeSum::default();
            for collective in own() {
                total.add(collective);
                let (name, entry) = entry(named, collective, base);
                entries.member(&name, &entry)?;
            }
            // Readers want these sums even where they are zero.
            if own().next().is_some() || word == "collective" {
                entries.member(TOTAL, &total.value(0.0))?;
            }
            entries.end()?;
        }
        kinds.end()?;
    }
    document.end()
}

/// The name and the members of a collective.
fn entry(named: &NamedCollectives, collective: &NamedCollective, base: i64) -> (String, Value) {
    let mut sum = TimeSum::default();
    sum.add(collective);
    let mut value = sum.value((collective.ran.time.begin - base) as f64 / 1e3);
    if let (Some((wait, transfer)), Some(members)) = (collective.split, value.as_object_mut()) {
        let errors = json!({
            "wait_error_ns": wait.error_ns(),
            "transfer_error_ns": transfer.error_ns(),
        });
        members.insert("ascend_trace".to_owned(), errors);
    }
    let group = named.groups.get(collective.group);
    let number = group.map_or(0, |it| it.name.number);
    (format!("{}@{number}", collective.name), value)
}

/// Messages of a step from one rank of a group to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinkKey<'n> {
    pub(super) step: Option<u64>,
    pub(super) operation: &'n str,
    pub(super) group: usize,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// What moved over each link by messages. How collectives use links is not known.
pub(super) fn links(named: &NamedCollectives) -> BTreeMap<LinkKey<'_>, Moved> {
    let mut links: BTreeMap<LinkKey<'_>, Moved> = BTreeMap::new();
    for collective in &named.all {
        let (Some((from, to)), Some(moved)) = (collective.link, collective.moved) else {
            continue;
        };
        let key = LinkKey {
            step: collective.ran.step,
            operation: collective.ran.operation(),
            group: collective.group,
            from,
            to,
        };
        let sum = links.entry(key).or_insert(Moved { bytes: 0.0, ns: 0 });
        sum.bytes += moved.bytes;
        sum.ns += moved.ns;
    }
    links
}

/// The name of the row of a matrix that has the sums of an operation.
pub(super) fn matrix_name(operation: &str) -> String {
    format!("{}-total", operation.trim_end_matches('_'))
}

/// The document of links.
pub(super) fn matrix(named: &NamedCollectives) -> Value {
    let mut steps: BTreeMap<Option<u64>, BTreeMap<String, Map<String, Value>>> = BTreeMap::new();
    for collective in &named.all {
        steps.entry(collective.ran.step).or_default();
    }
    for (link, moved) in links(named) {
        let group = named.groups.get(link.group);
        let number = group.map_or(0, |it| it.name.number);
        let name = format!("{}@{number}", matrix_name(link.operation));
        let members = json!({
            "Transport Type": ON_HOST,
            "Transit Size(MB)": mb(moved.bytes),
            "Transit Time(ms)": ms(moved.ns),
            "Bandwidth(GB/s)": bandwidth(moved),
        });
        let step = steps.entry(link.step).or_default();
        let rows = step.entry(name).or_default();
        rows.insert(format!("{}-{}", link.from, link.to), members);
    }
    let steps = steps.into_iter().map(|(step, rows)| {
        let p2p: Map<String, Value> = rows
            .into_iter()
            .map(|(name, links)| (name, Value::Object(links)))
            .collect();
        (step_name(step), json!({"collective": {}, "p2p": p2p}))
    });
    Value::Object(steps.collect())
}

/// Groups of ranks, as readers look for them in `profiler_metadata.json`.
pub(super) fn parallel_groups(named: &NamedCollectives) -> Value {
    let groups = named.groups.iter().filter_map(|group| {
        let name = match group.program_name.as_str() {
            "" => &group.name.name,
            name => name,
        };
        let members = json!({
            "group_name": name,
            "group_rank": group.own_rank?,
            "global_ranks": group.ranks.as_ref()?,
        });
        Some((group.name.name.clone(), members))
    });
    Value::Object(groups.collect())
}
