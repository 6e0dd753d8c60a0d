//! Activity of a host thread, summed up by nesting: calls in calls and in the ranges that the program
//! named.

use std::collections::HashMap;

use ascend_trace_recording::{FunctionId, ThreadId, TimeRange, Trace};

use crate::duplicate_ranges::Repeated;
use crate::nesting::counted;

/// Identity of calls and ranges.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Frame {
    /// The thread itself.
    Thread,
    /// Ranges of this name, or of names that differ only in a number that counts them.
    Range(String),
    Call(FunctionId),
}

/// One call or range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    pub begin: i64,
    pub end: i64,
    /// How deep a call is nested in other calls.
    pub depth: u8,
}

impl Instance {
    fn length(&self) -> i64 {
        self.end.saturating_sub(self.begin)
    }
}

/// All calls or ranges of one name that were made inside the same.
#[derive(Clone, Debug, PartialEq)]
pub struct CallNode {
    pub frame: Frame,
    /// Its place, and that of its children, in [`CallTree::nodes`]: the longest first.
    pub parent: usize,
    pub children: Vec<usize>,
    /// Those that have a part in the window, and their whole durations, as in [`super::stats::ApiStats`].
    pub count: u64,
    pub total_ns: i64,
    /// Their time inside the window.
    pub inside_ns: i64,
    pub longest: Option<Instance>,
}

/// The calls and ranges of a thread in a window of time, by nesting. The first node is the thread.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    places: HashMap<(usize, Frame), usize>,
}

impl Default for CallTree {
    fn default() -> Self {
        let thread = CallNode::new(Frame::Thread, 0);
        Self {
            nodes: vec![thread],
            places: HashMap::new(),
        }
    }
}

impl CallNode {
    fn new(frame: Frame, parent: usize) -> Self {
        Self {
            frame,
            parent,
            children: Vec::new(),
            count: 0,
            total_ns: 0,
            inside_ns: 0,
            longest: None,
        }
    }
}

/// Something that lasts, in the order of its begin.
struct Span {
    instance: Instance,
    frame: Frame,
}

impl Span {
    /// Of intervals with the same begin, longer ones and named ranges are outside.
    fn key(&self) -> (i64, i64, bool, u8) {
        let is_call = matches!(self.frame, Frame::Call(_));
        let Instance { begin, end, depth } = self.instance;
        (begin, -end, is_call, depth)
    }

    /// Whether a later one may still be inside.
    fn is_around(&self, later: &Self) -> bool {
        let (own, its) = (self.instance, later.instance);
        let is_nested = matches!(
            (&self.frame, &later.frame),
            (Frame::Call(_), Frame::Call(_))
        ) && its.depth > own.depth;
        own.end > its.begin || (own.end == its.begin && is_nested)
    }
}

impl CallTree {
    /// The tree of a thread in a trace that holds the whole window.
    pub fn of(trace: &Trace, thread: ThreadId, window: impl Into<TimeRange>) -> Self {
        let mut tree = Self::default();
        tree.add(trace, thread, window, TimeRange::EVERYTHING);
        tree.close();
        tree
    }

    /// Adds the calls that begin in a part of the window. The trace contains everything that overlaps
    /// it.
    pub fn add(
        &mut self,
        trace: &Trace,
        thread: ThreadId,
        window: impl Into<TimeRange>,
        own: impl Into<TimeRange>,
    ) {
        let (window, own) = (window.into(), own.into());
        let mut spans = spans(trace, thread, window.intersection(own));
        spans.sort_by_key(Span::key);
        let mut open: Vec<(Span, usize)> = Vec::new();
        for span in spans {
            open.retain(|(around, _)| around.is_around(&span));
            let around = open.iter().rev();
            let mut around = around.filter(|(it, _)| it.instance.end >= span.instance.end);
            let parent = around.next().map_or(0, |(_, place)| *place);
            let place = self.place(parent, &span.frame);
            let begin = span.instance.begin;
            if own.contains(begin) {
                self.count(place, span.instance, window);
            }
            open.push((span, place));
        }
    }

    fn place(&mut self, parent: usize, frame: &Frame) -> usize {
        let key = (parent, frame.clone());
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let place = self.nodes.len();
        self.nodes.push(CallNode::new(frame.clone(), parent));
        self.nodes[parent].children.push(place);
        self.places.insert(key, place);
        place
    }

    fn count(&mut self, place: usize, instance: Instance, window: TimeRange) {
        let node = &mut self.nodes[place];
        let inside = TimeRange::new(instance.begin, instance.end)
            .intersection(window)
            .duration();
        node.count += 1;
        node.total_ns += instance.length();
        node.inside_ns += inside.max(0);
        let longest = node.longest.map_or(-1, |it| it.length());
        if instance.length() > longest {
            node.longest = Some(instance);
        }
    }

    /// Sums up the content of the thread, and puts the longest first, once everything was added.
    pub fn close(&mut self) {
        let inside: Vec<i64> = self.nodes.iter().map(|node| node.inside_ns).collect();
        for node in &mut self.nodes {
            node.children.sort_by_key(|child| (-inside[*child], *child));
        }
        let first = &self.nodes[0].children;
        self.nodes[0].inside_ns = first.iter().map(|child| inside[*child]).sum();
    }

    pub fn nodes(&self) -> &[CallNode] {
        &self.nodes
    }

    /// Time inside the window in which a node was in none of its children.
    pub fn own_ns(&self, place: usize) -> i64 {
        let Some(node) = self.nodes.get(place) else {
            return 0;
        };
        let children = node.children.iter();
        let inside: i64 = children.map(|child| self.nodes[*child].inside_ns).sum();
        (node.inside_ns - inside).max(0)
    }

    /// From the thread to a node, both included.
    pub fn path(&self, place: usize) -> Vec<usize> {
        let mut path = vec![place];
        let mut here = place;
        while here != 0 {
            here = self.nodes[here].parent;
            path.push(here);
        }
        path.reverse();
        path
    }

    /// The node of this path, or the last one of it that there is.
    pub fn find(&self, frames: &[Frame]) -> usize {
        let mut here = 0;
        for frame in frames {
            match self.places.get(&(here, frame.clone())) {
                Some(place) => here = *place,
                None => break,
            }
        }
        here
    }
}

/// The calls and ranges of a thread that have a part in a window.
fn spans(trace: &Trace, thread: ThreadId, window: TimeRange) -> Vec<Span> {
    let calls = trace.thread_calls(thread);
    let upto = calls.partition_point(|id| trace.call(*id).begin <= window.end);
    let calls = calls[..upto].iter().map(|id| trace.call(*id));
    let calls = calls.filter(|call| call.range().overlaps(window));
    let calls = calls.map(|call| Span {
        instance: Instance {
            begin: call.begin,
            end: call.end,
            depth: call.depth,
        },
        frame: Frame::Call(call.function),
    });
    let repeated = Repeated::of(trace);
    let ranges = trace.ranges().iter();
    let ranges = ranges.filter(|it| !repeated.has(trace, it));
    let ranges = ranges.filter(|it| it.thread == thread && !it.time().is_empty());
    let ranges = ranges.filter(|it| it.time().overlaps(window));
    let ranges = ranges.map(|range| Span {
        instance: Instance {
            begin: range.begin,
            end: range.end,
            depth: 0,
        },
        frame: Frame::Range(counted(&range.name).into_owned()),
    });
    calls.chain(ranges).collect()
}
