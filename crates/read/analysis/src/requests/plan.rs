//! The requests of a recording and the host times of their work, from all of its ranges and marks.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_recording::{ProcessId, Range, ThreadId, TimeRange, Trace};

use super::name_template::NameTemplate;
use super::service_messages;
use super::signs::{NamedRequest, Phase, Sign, SignKind};

/// Requests that are kept: the first ones.
const MOST: usize = 10_000;

/// A range in which the host worked for requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Execution {
    pub(super) thread: ThreadId,
    pub(super) time: TimeRange,
    /// Whether it prefills one of its requests.
    pub(super) is_prefill: bool,
}

/// One request, by its ranges and marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedRequest {
    pub(super) id: String,
    pub(super) process: ProcessId,
    pub(super) arrival: Option<i64>,
    pub(super) done: Option<i64>,
    pub(super) tokens: Option<u64>,
    /// Places in [`RequestPlan::executions`], with the phase where it is known.
    executions: Vec<(usize, Option<Phase>)>,
}

/// The requests of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestPlan {
    /// By their first sign.
    pub(super) requests: Vec<PlannedRequest>,
    /// By begin.
    pub(super) executions: Vec<Execution>,
    pub(super) left_out: u64,
}

/// A sign with its place.
struct PlacedSign {
    thread: ThreadId,
    time: TimeRange,
    sign: Sign,
}

impl RequestPlan {
    pub(super) fn of(trace: &Trace, template: Option<&NameTemplate>) -> Self {
        let mut signs = named(trace, template);
        if template.is_none() {
            signs.extend(spans(trace));
        }
        signs.sort_by_key(|it| (it.time.begin, std::cmp::Reverse(it.time.end)));
        let mut building = Building::default();
        for placed in signs {
            building.add(trace, placed);
        }
        building.finish()
    }

    /// The work for a request in one phase, with ranges inside of others.
    pub(super) fn work(&self, request: &PlannedRequest, phase: Phase) -> Vec<usize> {
        let known = request.executions.iter();
        let own = known.filter(|(place, stated)| self.phase(request, *place, *stated) == phase);
        own.map(|(place, _)| *place).collect()
    }

    /// The phase of work. Without a stated one it is that of work at the same time; else the first work makes the first token.
    fn phase(&self, request: &PlannedRequest, place: usize, stated: Option<Phase>) -> Phase {
        if let Some(stated) = stated {
            return stated;
        }
        let begin = self.time(place).begin;
        let is_around = |place: usize| self.time(place).overlaps(TimeRange::new(begin, begin + 1));
        let mut around = request.executions.iter().filter(|(it, _)| is_around(*it));
        if let Some(stated) = around.find_map(|(_, stated)| *stated) {
            return stated;
        }
        match request.executions.first() {
            Some((first, _)) if is_around(*first) => Phase::Prefill,
            _ => Phase::Decode,
        }
    }

    fn time(&self, place: usize) -> TimeRange {
        let execution = self.executions.get(place);
        execution.map_or(TimeRange::new(0, 0), |it| it.time)
    }

    /// Work that is in no other work of these: on each thread, ranges inside of others are left out.
    pub(super) fn outermost(&self, work: &[usize]) -> Vec<usize> {
        let mut ends: BTreeMap<ThreadId, i64> = BTreeMap::new();
        let mut found = Vec::new();
        for place in work {
            let Some(execution) = self.executions.get(*place) else {
                continue;
            };
            let end = ends.entry(execution.thread).or_insert(i64::MIN);
            if execution.time.begin >= *end {
                *end = execution.time.end;
                found.push(*place);
            }
        }
        found
    }

    /// How often a request was worked for in some of its executions: those of the thread that began first, without ranges
    /// inside others.
    pub(super) fn iterations(&self, work: &[usize]) -> u64 {
        let thread = |place: &usize| self.executions.get(*place).map(|it| it.thread);
        let outer = self.outermost(work);
        let first = outer.first().and_then(thread);
        outer.iter().filter(|it| thread(it) == first).count() as u64
    }
}

/// Ranges and marks with names of requests.
fn named(trace: &Trace, template: Option<&NameTemplate>) -> Vec<PlacedSign> {
    let own = trace.ranges().iter().filter(|it| it.kind().is_none());
    let signs = own.filter_map(|range| {
        let name = whole_name(trace, range);
        Some(PlacedSign {
            thread: range.thread,
            time: range.time(),
            sign: Sign::of_name(name, range.begin == range.end, template)?,
        })
    });
    signs.collect()
}

/// The name of a range as the program gave it.
fn whole_name<'t>(trace: &'t Trace, range: &'t Range) -> &'t str {
    let name = range.message.as_deref().unwrap_or(&range.name);
    trace.whole_text(name).unwrap_or(name)
}

/// Spans and long events of the MS Service Profiler: their messages are in marks of the same thread.
fn spans(trace: &Trace) -> Vec<PlacedSign> {
    let mut threads: BTreeMap<ThreadId, Vec<&Range>> = BTreeMap::new();
    for range in trace.ranges().iter().filter(|it| it.kind().is_none()) {
        threads.entry(range.thread).or_default().push(range);
    }
    let found = threads.into_values().flat_map(|ranges| {
        let joined = messages(trace, &ranges);
        let placed = joined.into_iter().filter_map(|(at, message)| {
            let time = match service_messages::span_name(&message) {
                Some(name) => span_of(&ranges, at, &name)?,
                None => TimeRange::new(at, at),
            };
            Some(PlacedSign {
                thread: ranges.first()?.thread,
                time,
                sign: service_messages::sign(&message)?,
            })
        });
        placed.collect::<Vec<_>>()
    });
    found.collect()
}

/// The messages of a thread, of marks that come one after another: no range begins or ends between them.
fn messages(trace: &Trace, ranges: &[&Range]) -> Vec<(i64, String)> {
    let mut events: Vec<(i64, Option<(&str, &str)>)> = Vec::new();
    for range in ranges {
        match service_messages::part(whole_name(trace, range)) {
            Some(part) if range.begin == range.end => events.push((range.begin, Some(part))),
            Some(_) => {}
            None => events.extend([(range.begin, None), (range.end, None)]),
        }
    }
    events.sort_by_key(|it| it.0);
    let mut found: Vec<(i64, String)> = Vec::new();
    let mut open: Option<&str> = None;
    for (at, part) in events {
        match (part, found.last_mut()) {
            (Some((handle, text)), Some((_, message))) if open == Some(handle) => {
                message.push_str(text);
            }
            (Some((handle, text)), _) => {
                found.push((at, text.to_owned()));
                open = Some(handle);
            }
            (None, _) => open = None,
        }
    }
    found
}

/// The range of a span: of those of this name, the one that ends next after its message.
fn span_of(ranges: &[&Range], at: i64, name: &str) -> Option<TimeRange> {
    let own = ranges.iter().filter(|it| {
        let is_around = it.begin <= at && it.end >= at && it.begin < it.end;
        is_around && (it.name == name || it.name.is_empty())
    });
    own.map(|it| it.time()).min_by_key(|it| (it.end, -it.begin))
}

#[derive(Default)]
struct Building {
    plan: RequestPlan,
    /// The latest request with an id. Ids of programs may be the same in each process.
    latest: HashMap<(Option<ProcessId>, String), usize>,
}

impl Building {
    fn finish(self) -> RequestPlan {
        let mut plan = self.plan;
        let requests = plan.requests.iter();
        let prefills: Vec<usize> = requests
            .flat_map(|it| plan.work(it, Phase::Prefill))
            .collect();
        for place in prefills {
            plan.executions[place].is_prefill = true;
        }
        plan
    }

    fn add(&mut self, trace: &Trace, placed: PlacedSign) {
        let PlacedSign { thread, time, sign } = placed;
        let process = trace.thread(thread).process;
        let execution = match sign.kind {
            SignKind::Execution(_) if time.is_empty() => return,
            SignKind::Execution(_) => {
                self.plan.executions.push(Execution {
                    thread,
                    time,
                    is_prefill: false,
                });
                self.plan.executions.len().checked_sub(1)
            }
            _ => None,
        };
        let scope = (!sign.is_of_framework).then_some(process);
        for NamedRequest { id, phase } in sign.requests {
            let is_arrival = sign.kind == SignKind::Arrival;
            let is_mark = sign.kind == SignKind::Mark;
            let Some(place) = self.place((scope, id), process, (is_arrival, is_mark)) else {
                continue;
            };
            let request = &mut self.plan.requests[place];
            request.tokens = sign.tokens.or(request.tokens);
            match (sign.kind, execution) {
                (SignKind::Arrival, _) => {
                    request.arrival = Some(time.begin);
                    if !time.is_empty() {
                        request.done = Some(time.end);
                    }
                }
                (SignKind::Queued, _) if request.executions.is_empty() => {
                    request.arrival = request.arrival.or(Some(time.begin));
                }
                (SignKind::Execution(stated), Some(execution)) => {
                    request.executions.push((execution, stated.or(phase)));
                }
                (SignKind::Mark, _) if request.executions.is_empty() => {
                    request.arrival = request.arrival.or(Some(time.begin));
                }
                (SignKind::Done | SignKind::Mark, _) => request.done = Some(time.end),
                _ => {}
            }
        }
    }

    /// The request of an id, or a new one: an arrival after work or after the end, and a mark after the end, are of another
    /// request.
    fn place(
        &mut self,
        key: (Option<ProcessId>, String),
        process: ProcessId,
        (is_arrival, is_mark): (bool, bool),
    ) -> Option<usize> {
        let known = self.latest.get(&key).copied();
        let is_over = |place: usize| {
            let request = self.plan.requests.get(place);
            request.is_some_and(|it| {
                let is_done = it.done.is_some() && (is_arrival || is_mark);
                is_done || (is_arrival && !it.executions.is_empty())
            })
        };
        if let Some(place) = known.filter(|place| !is_over(*place)) {
            return Some(place);
        }
        if self.plan.requests.len() >= MOST {
            self.latest.remove(&key);
            self.plan.left_out += u64::from(is_arrival || (is_mark && known.is_none()));
            return None;
        }
        let place = self.plan.requests.len();
        self.plan.requests.push(PlannedRequest {
            id: key.1.clone(),
            process,
            arrival: None,
            done: None,
            tokens: None,
            executions: Vec::new(),
        });
        self.latest.insert(key, place);
        Some(place)
    }
}
