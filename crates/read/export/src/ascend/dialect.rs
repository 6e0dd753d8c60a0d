//! What readers of `trace_view.json` look for.

use ascend_trace_analysis::EdgeKind;
use ascend_trace_recording::{CallId, Range, Trace};

use super::statistics::LEVEL;
use crate::ExportSource;
use crate::timeline::{Dialect, EventLabel};
use crate::tracks::{ProcessNumbering, ProcessTrack, TrackLayout};

pub(super) struct AscendDialect {
    /// Offset that is subtracted from times.
    base: i64,
    /// By function: the name of its calls.
    calls: Vec<String>,
}

impl AscendDialect {
    pub(super) fn new(base: i64) -> Self {
        let calls = Vec::new();
        Self { base, calls }
    }
}

/// What arrows from a call to its task are called.
const LAUNCH: &str = "HostToDevice";

impl Dialect for AscendDialect {
    const NUMBERING: ProcessNumbering = ProcessNumbering::MadeUp;
    const HAS_EXTRAS: bool = false;
    const HAS_COUNTERS: bool = true;
    /// They are in a process that readers do not add up.
    const HAS_PLACED: bool = false;

    fn base(&self, _: i64) -> i64 {
        self.base
    }

    fn advance(&mut self, source: &ExportSource<'_>, _: &TrackLayout) {
        let functions = source.trace.functions().iter();
        let new = functions.skip(self.calls.len());
        self.calls
            .extend(new.map(|it| format!("{LEVEL}@{}", it.name)));
    }

    /// Readers find the layers by these names.
    fn process_name(&self, _: &Trace, track: &ProcessTrack) -> String {
        match track.device {
            Some(_) => "Ascend Hardware".to_owned(),
            None => "CANN".to_owned(),
        }
    }

    fn call<'s>(&'s self, source: &'s ExportSource<'_>, id: CallId) -> EventLabel<'s> {
        let function = source.trace.call(id).function;
        let name = self.calls.get(function.index());
        (name.map_or("", String::as_str).into(), "acl")
    }

    fn range<'s>(&self, _: &'s ExportSource<'_>, range: &'s Range) -> EventLabel<'s> {
        (range.name.as_str().into(), "mstx")
    }

    fn arrow(&self, kind: EdgeKind) -> &'static str {
        match kind {
            EdgeKind::LaunchToTask => LAUNCH,
            kind => kind.name(),
        }
    }
}
