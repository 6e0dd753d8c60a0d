//! `serve`: record all programs of a host that `env` starts.

use std::ffi::OsString;

use super::args::ServeArgs;
use super::record::{is_file, kept_files, named_target, one_watchdog, refuse_exit};
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::recorder::RecordOptions;
use crate::recorder::serve::serve;
use crate::server_place::ServerPlace;
use crate::unpack::ClientReports;
use ascend_trace_collector::target::TraceTarget;

/// The name of the command, and of a trace that has no other name.
const NAME: &str = "serve";

pub(crate) fn run(args: ServeArgs) -> Result<u8, Failure> {
    let name = args.name.clone();
    let plan = plan(args)?;
    let place = ServerPlace::new(&name).or_status(TOOL_FAILED)?;
    serve(&plan, &place)?;
    Ok(0)
}

fn plan(args: ServeArgs) -> Result<RecordOptions, Failure> {
    let output = args.output();
    let (ring, roll) = kept_files(
        args.recorder.ring,
        &args.recorder.roll,
        &args.recorder.metrics,
        output.force,
    )?;
    refuse_exit(ring.as_ref())?;
    let target = named_target(&output).unwrap_or_else(|| TraceTarget::Default {
        name: NAME.to_owned(),
    });
    if !is_file(&target) {
        let text = "a server needs a trace file, and cannot write to a pipe or a device";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    Ok(RecordOptions {
        words: words(&args.name),
        target: match roll {
            Some(_) => target.first_part(),
            None => target,
        },
        live: false,
        timing: args.recorder.capture.timing,
        budget: args.recorder.capture.budget.0,
        soft: None,
        buffer: args.recorder.capture.buffer_bytes(),
        wait: false,
        engine: None,
        reports: ClientReports::default(),
        python: false,
        stacks: args.recorder.capture.stacks.unwrap_or(0),
        watchdog: one_watchdog(
            args.recorder.watchdog.watchdog,
            ring.as_ref().and_then(|it| it.watchdog),
        )?,
        metrics: args.recorder.metrics.wanted(),
        window: args.window.into_options(),
        filters: args.recorder.filters.wanted()?,
        ring,
        roll,
        continues: None,
    })
}

/// The command line that a trace shows, as no program has started the recording.
fn words(name: &str) -> Vec<OsString> {
    ["ascend-trace", NAME, "--name", name]
        .map(OsString::from)
        .to_vec()
}
