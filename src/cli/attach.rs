//! `attach` and `detach`: record a part of a program that runs.

use anyhow::bail;

use super::args::{AttachArgs, DetachArgs};
use super::record::named_target;
use crate::control::client;
use crate::control::protocol::Order;
use crate::error::{Failure, TOOL_FAILED};
use crate::recorder::attach::{AttachOptions, attach};
use ascend_trace_format::session::Timing;

pub(crate) fn run(args: AttachArgs) -> Result<u8, Failure> {
    if matches!(args.timing, Timing::Hardware | Timing::Both) {
        let text = "--timing: the hardware log is read from the begin of a program on: use `ascend-trace record`, or \
                    attach with auto, events, chained, sample=N or off";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    attach(&AttachOptions {
        pid: args.pid,
        target: named_target(&args.output),
        duration: args.duration,
        timing: args.timing,
        budget: args.budget.0,
        stacks: args.stacks.unwrap_or(0),
        buffer: args.buffer as usize * (1 << 20),
        filters: args.filters.wanted()?,
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
