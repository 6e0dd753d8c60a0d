//! Opens the trace that a command is about.

use std::path::Path;

use anyhow::Context;

use ascend_trace_model::Trace;

use crate::output::say;

/// The trace; what is damaged or missing in it is said.
pub(crate) fn open(path: &Path) -> anyhow::Result<Trace> {
    let (trace, warnings) =
        Trace::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    for warning in warnings {
        say(format!("{}: {warning}", path.display()));
    }
    Ok(trace)
}
