//! The critical path on screen: its range, and the lines of its pieces.

use std::collections::HashMap;
use std::sync::Arc;

use ascend_trace_analysis::critical::{Critical, Owner, PathShare, Segment, SegmentKind};
use ascend_trace_recording::{TimeRange, Trace};

use crate::background_query::FoundElsewhere;
use crate::item::TrackKey;
use crate::stable_id::StableId;

/// Pieces and names that are listed.
const LISTED: usize = 200;

/// The critical path, while it is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct CriticalPath {
    /// The selected range, which replaces the range on screen.
    pub(crate) pinned: Option<TimeRange>,
    /// The last one that was asked for.
    pub(crate) asked: Option<PathRequest>,
    /// The last one that was found.
    pub(crate) known: Option<PathLines>,
    /// Tasks and calls when that was looked for.
    pub(crate) counts: (u64, u64),
    /// A path that the user cancelled, or that could not be read.
    pub(crate) given_up: Option<TimeRange>,
}

/// A job that looks for a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathRequest {
    pub(crate) number: u64,
    pub(crate) range: TimeRange,
    /// Tasks and calls when it began.
    pub(crate) counts: (u64, u64),
    /// The second of the view's clock in which it began.
    pub(crate) second: u64,
}

/// A path for the view. The reading thread makes it from its result.
#[derive(Clone, Debug)]
pub(crate) struct PathLines {
    pub(crate) range: TimeRange,
    pub(crate) pieces: u64,
    /// Pieces before which another way may be as long, by the error bars.
    pub(crate) ties: u64,
    /// The longest pieces.
    pub(crate) longest: Vec<Segment>,
    /// The time by kind and name, longest first.
    pub(crate) names: Vec<NamedPieces>,
    /// Its pieces on each line, by begin. They do not overlap.
    lines: HashMap<TrackKey, Vec<PathPiece>>,
}

/// Pieces of one kind and name.
#[derive(Clone, Debug)]
pub(crate) struct NamedPieces {
    pub(crate) share: PathShare,
    pub(crate) ties: u64,
    pub(crate) longest: Segment,
}

/// A piece on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathPiece {
    span: TimeRange,
    tie: bool,
}

impl PathLines {
    pub(crate) fn new(path: Critical, trace: &Trace) -> Self {
        let mut lines: HashMap<TrackKey, Vec<PathPiece>> = HashMap::new();
        for segment in path.segments.iter() {
            let piece = PathPiece {
                span: segment.range(),
                tie: segment.tie,
            };
            let line = line(&segment).shown(trace);
            lines.entry(line).or_default().push(piece);
        }
        Self {
            range: TimeRange::new(path.begin_ns, path.end_ns),
            pieces: path.segments.len() as u64,
            ties: path.ties,
            names: named(&path),
            longest: path.segments.longest(LISTED),
            lines,
        }
    }

    /// Its pieces on some lines.
    pub(crate) fn along(&self, keys: &[TrackKey]) -> PathOnLine<'_> {
        let lines = keys.iter().filter_map(|key| self.lines.get(key));
        PathOnLine(lines.map(Vec::as_slice).collect())
    }
}

/// The pieces of a path on lines that are shown as one, each line by begin.
pub(crate) struct PathOnLine<'a>(Vec<&'a [PathPiece]>);

impl PathOnLine<'_> {
    /// Whether the path runs along one of the lines at some time of a range, and whether all of it there may lie
    /// elsewhere.
    pub(crate) fn on(&self, range: TimeRange) -> Option<bool> {
        let pieces = self.0.iter().flat_map(|line| {
            let first = line.partition_point(|it| it.span.end <= range.begin);
            let here = line[first..].iter();
            here.take_while(move |it| it.span.begin < range.end)
        });
        pieces.map(|it| it.tie).reduce(|one, other| one && other)
    }
}

/// Sums by name, each with its longest piece.
fn named(path: &Critical) -> Vec<NamedPieces> {
    let mut longest: HashMap<(SegmentKind, Arc<str>), (u64, Segment)> = HashMap::new();
    for segment in path.segments.iter() {
        let key = (segment.kind, Arc::clone(&segment.name));
        let (ties, known) = longest.entry(key).or_insert((0, segment.clone()));
        *ties += u64::from(segment.tie);
        if segment.length() > known.length() {
            *known = segment;
        }
    }
    let named = path.names.iter().take(LISTED).filter_map(|share| {
        let key = (share.kind, Arc::from(share.name.as_deref()?));
        let (ties, segment) = longest.remove(&key)?;
        Some(NamedPieces {
            share: share.clone(),
            ties,
            longest: segment,
        })
    });
    named.collect()
}

/// The line that shows a piece.
pub(crate) fn line(segment: &Segment) -> TrackKey {
    match segment.owner {
        Owner::Call { thread, .. } => TrackKey::Thread(thread, 0),
        Owner::Task { stream, .. } => TrackKey::Stream(stream),
    }
}

/// Where the call or task of a piece is. It need not be loaded.
pub(crate) fn found(segment: &Segment) -> FoundElsewhere {
    let identity = match segment.owner {
        Owner::Call {
            thread,
            depth,
            begin,
        } => StableId::Call {
            thread,
            begin,
            depth,
        },
        Owner::Task {
            stream,
            sequence,
            launched,
            begin,
        } => StableId::Task {
            stream,
            sequence,
            launched,
            begin,
        },
    };
    FoundElsewhere {
        span: segment.range(),
        lane: line(segment),
        identity,
    }
}
