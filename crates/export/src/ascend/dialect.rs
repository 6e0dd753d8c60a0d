//! What readers of `trace_view.json` look for.

use ascend_trace_analysis::EdgeKind;
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_recording::{CallId, Range, TaskId, Trace};

use crate::Source;
use crate::chrome::{Dialect, Label};
use crate::fields::{write_call, write_task};
use crate::json::Json;
use crate::tracks::{Numbering, ProcessTrack};

pub(super) struct Ascend {
    /// Offset that is subtracted from times.
    pub(super) base: i64,
}

/// What arrows from a call to its task are called.
const LAUNCH: &str = "HostToDevice";

impl Dialect for Ascend {
    const NUMBERING: Numbering = Numbering::MadeUp;
    const HAS_EXTRAS: bool = false;
    const IS_LIST: bool = true;

    fn base(&self, _: i64) -> i64 {
        self.base
    }

    /// Readers find the layers by these names.
    fn process_name(&self, _: &Trace, track: &ProcessTrack) -> String {
        match track.device {
            Some(_) => "Ascend Hardware".to_owned(),
            None => "CANN".to_owned(),
        }
    }

    fn call<'s>(&self, source: &'s Source<'_>, id: CallId) -> Label<'s> {
        let call = source.trace.call(id);
        let function = source.trace.function(call.function);
        (function.name.as_str().into(), "acl")
    }

    fn write_call<'t>(&self, json: &mut Json, source: &Source<'t>, id: CallId) {
        write_call(json, source, id, "stream");
    }

    fn task<'s>(&self, source: &'s Source<'_>, id: TaskId) -> Label<'s> {
        let task = source.trace.task(id);
        (task_label(source.trace, task), task.kind.name())
    }

    fn write_task<'t>(&self, json: &mut Json, source: &Source<'t>, id: TaskId) {
        write_task(json, source, id, "stream");
    }

    fn range<'s>(&self, _: &'s Source<'_>, range: &'s Range) -> Label<'s> {
        (range.name.as_str().into(), "mstx")
    }

    fn arrow(&self, kind: EdgeKind) -> &'static str {
        match kind {
            EdgeKind::LaunchToTask => LAUNCH,
            kind => kind.name(),
        }
    }
}
