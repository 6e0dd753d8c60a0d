//! The capture of a graph failed or was never ended. The runtime returns a code and little else. The finding names
//! the broken rule and the call that broke it.
//!
//! GRAPHS.md has the rules of a capture.

use ascend_trace_recording::{CallId, Trace};

use super::super::{Check, Finding};
use crate::{Graph, Window};

#[derive(Debug, Default)]
pub(super) struct FailedCapture {
    found: Vec<Finding>,
}

impl Check for FailedCapture {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        // The calls of graphs are kept to the end, when all of a capture is known.
        if window.part.is_last {
            let all = window.graphs.all().iter();
            self.found = all
                .filter_map(|graph| finding(window, graph, wanted))
                .collect();
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }
}

fn finding(
    window: &Window<'_>,
    graph: &Graph,
    wanted: &dyn Fn(CallId) -> bool,
) -> Option<Finding> {
    let trace: &Trace = window.trace;
    let why = window.graphs.failure(trace, graph)?;
    let call = why.call.or(graph.end).or(graph.begin)?;
    wanted(call).then(|| Finding {
        what: format!("graph {} was not made: {}", graph.serial, why.text),
        advice: "see `ascend-trace help graphs` for the rules of a capture".to_owned(),
        ..Finding::of_call(trace, call)
    })
}
