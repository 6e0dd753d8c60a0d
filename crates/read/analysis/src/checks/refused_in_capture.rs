//! The runtime refused a call because of a capture, and the capture of the graph succeeded. The effect of the call
//! is missing: the graph does not have it, and it did not happen. Examples are a wait on the default stream, a
//! synchronisation of a stream that is being captured, and a copy that blocks.
//!
//! The finding has the rule in words. Make the call before the capture or after it. GRAPHS.md has the rules of a
//! capture. The check `failed-capture` reports captures that failed.

use std::collections::HashMap;

use ascend_trace_recording::{CallId, FunctionId, ThreadId, is_capture_code};

use super::super::{Check, Finding};
use crate::Window;
use crate::graphs::Outcome;

#[derive(Debug, Default)]
pub(super) struct RefusedInCapture {
    found: Vec<Finding>,
}

impl Check for RefusedInCapture {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        // The calls of graphs are kept to the end, when all of a capture is known.
        if !window.part.is_last {
            return;
        }
        let trace = window.trace;
        let mut found: HashMap<(ThreadId, FunctionId, i64), Finding> = HashMap::new();
        let ready = window.graphs.all().iter();
        for graph in ready.filter(|graph| graph.outcome == Outcome::Ready) {
            for refusal in window.graphs.refusals(trace, graph) {
                let call = trace.call(refusal.call);
                if !is_capture_code(call.ret) || !wanted(refusal.call) {
                    continue;
                }
                let name = &trace.function(call.function).name;
                let this = Finding {
                    what: format!(
                        "{name} was refused during the capture of graph {}: {}",
                        graph.serial, refusal.text
                    ),
                    advice: "make the call before the capture or after it".to_owned(),
                    ..Finding::of_call(trace, refusal.call)
                };
                found
                    .entry((call.thread, call.function, call.ret))
                    .and_modify(|known| known.join(&this))
                    .or_insert(this);
            }
        }
        self.found = found.into_values().collect();
    }

    fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }
}
