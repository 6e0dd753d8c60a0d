//! `attach` and `detach`: record a part of a program that runs.

use anyhow::bail;

use super::args::{AttachArgs, DetachArgs};
use super::record::{is_file, kept_files, named_target, one_watchdog, refuse_exit};
use crate::control::client;
use crate::control::protocol::Order;
use crate::error::{Failure, TOOL_FAILED};
use crate::recorder::attach::{AttachOptions, attach};
use ascend_trace_format::session::Timing;

pub(crate) fn run(args: AttachArgs) -> Result<u8, Failure> {
    if matches!(
        args.recorder.capture.timing,
        Timing::Hardware | Timing::Both
    ) {
        let text = "--timing: the hardware log is read from the begin of a program on: use `ascend-trace record`, or \
                    attach with auto, events, chained, sample=N or off";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    let (ring, roll) = kept_files(
        args.recorder.ring,
        &args.recorder.roll,
        &args.recorder.metrics,
        args.output.force,
    )?;
    refuse_exit(ring.as_ref())?;
    let target = named_target(&args.output);
    let metrics = args.recorder.metrics.wanted();
    let kept = ring.as_ref().and_then(|it| it.watchdog);
    let watchdog = one_watchdog(args.recorder.watchdog.watchdog, kept)?;
    let needs_file = ring.is_some() || roll.is_some() || metrics.is_some() || watchdog.is_some();
    if needs_file && target.as_ref().is_some_and(|it| !is_file(it)) {
        let text = "--ring, --roll, --watchdog and --metrics need a trace file, and cannot read from a pipe or a device";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    attach(&AttachOptions {
        pid: args.pid,
        target,
        duration: args.duration,
        window: args.window.into_options(),
        timing: args.recorder.capture.timing,
        budget: args.recorder.capture.budget.0,
        stacks: args.recorder.capture.stacks.unwrap_or(0),
        buffer: args.recorder.capture.buffer_bytes(),
        filters: args.recorder.filters.wanted()?,
        watchdog,
        metrics,
        ring,
        roll,
        inject: args.inject,
    })?;
    Ok(0)
}

pub(crate) fn detach(args: &DetachArgs) -> anyhow::Result<u8> {
    let session = crate::running_recording::session_of(args.pid)?;
    let status = client::send_order(&session, Order::Status)?;
    if status.recorder == status.program {
        bail!(
            "process {} is recorded by a server: `ascend-trace ctl {} stop` ends the recording of all its programs",
            args.pid,
            status.recorder
        );
    }
    if !status.attached {
        bail!(
            "the recording of process {} began with the program: end it with `ascend-trace ctl {} stop`",
            args.pid,
            args.pid
        );
    }
    client::send_order(&session, Order::Stop)?;
    Ok(0)
}
