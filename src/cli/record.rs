//! `record`: run a program and record it.

use std::io::{self, IsTerminal};
use std::time::Duration;

use super::args::{
    EngineArg, MetricsArgs, OutputArgs, OutputFileArgs, RecordArgs, RingArgs, RollArgs,
};
use super::dataset;
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::output::print_message;
use crate::recorder::ring::RingPlan;
use crate::recorder::window::WindowOptions;
use crate::recorder::{self, RecordOptions, respawn};
use crate::unpack;
use ascend_trace_collector::roll::RollOptions;
use ascend_trace_collector::target::TraceTarget;

pub(crate) fn run(mut args: RecordArgs) -> Result<u8, Failure> {
    let (dataset, run) = (args.dataset.take(), args.dataset_run.take());
    let respawns = args.respawn;
    let plan = plan(args)?;
    // A fault of the dataset is reported before the program runs for hours.
    if let Some(root) = &dataset {
        if plan.target == TraceTarget::Standard {
            let text = "--dataset needs a trace file, and -o - writes none";
            return Err(Failure::new(TOOL_FAILED, text));
        }
        dataset::prepare(root).or_status(TOOL_FAILED)?;
    }
    if plan.watchdog.is_some() && plan.target == TraceTarget::Standard {
        let text = "--watchdog needs a trace file, and -o - writes none";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    if plan.metrics.is_some() && !is_file(&plan.target) {
        let text = "--metrics needs a trace file, and cannot read from a pipe or a device";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    if plan.roll.is_some() && !is_file(&plan.target) {
        let text = "--roll needs a trace file: a pipe or a device cannot be followed by another";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    if plan.roll.is_some() && dataset.is_some() {
        let text = "--dataset adds one file, and --roll makes several: add them with `ascend-trace dataset add` later";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    if plan.ring.is_some() && !is_file(&plan.target) {
        let text = "--ring needs a trace file: a pipe or a device cannot be shortened";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    if respawns {
        check_respawn(&plan, dataset.is_some())?;
        return respawn::record(plan).map(exit_code);
    }
    let recorded = recorder::record(&plan)?;
    if let Some((root, file)) = dataset.as_ref().zip(recorded.file.as_ref()) {
        dataset::add_recorded(file, root, run.as_deref());
    }
    Ok(exit_code(recorded.status))
}

/// Refuses options that a further recorder could not follow.
fn check_respawn(plan: &RecordOptions, has_dataset: bool) -> Result<(), Failure> {
    let reason = if !is_file(&plan.target) {
        "--respawn needs a trace file: a pipe or a device cannot be followed by another"
    } else if plan.window != WindowOptions::default() {
        "--respawn records the whole run: leave out the options of windows (--delay, --duration, --start-at, --stop-at, --paused)"
    } else if plan.engine.is_some() {
        "--engine patches functions for one recorder only: leave out --engine or --respawn"
    } else if has_dataset {
        "--dataset adds one file, and --respawn may make several: add them with `ascend-trace dataset add` later"
    } else {
        return Ok(());
    };
    Err(Failure::new(TOOL_FAILED, reason))
}

/// Whether the recording can be read again.
pub(super) fn is_file(target: &TraceTarget) -> bool {
    match target {
        TraceTarget::Standard => false,
        TraceTarget::Default { .. } => true,
        // That a folder has the name is said later.
        TraceTarget::Named { path, .. } => path
            .metadata()
            .map_or(true, |it| it.is_file() || it.is_dir()),
    }
}

fn plan(args: RecordArgs) -> Result<RecordOptions, Failure> {
    args.program.soft.as_deref().map_or(Ok(()), check_soft)?;
    let (ring, roll) = kept_files(
        args.recorder.ring,
        &args.recorder.roll,
        &args.recorder.metrics,
        args.output.file.force,
    )?;
    let target = target(&args.output, args.app.first());
    Ok(RecordOptions {
        target: match roll {
            Some(_) => target.first_part(),
            None => target,
        },
        live: match (&ring, roll) {
            _ if args.respawn && args.output.tui => {
                let text = "--tui shows one file: open those of --respawn with `ascend-trace view`";
                return Err(Failure::new(TOOL_FAILED, text));
            }
            _ if args.respawn => false,
            (None, None) => is_live(&args.output)?,
            // The view would look at a file that another one replaces or follows.
            (Some(_), _) if args.output.tui => {
                let text = "--tui shows no ring: open the trace file or a snapshot with `ascend-trace view`";
                return Err(Failure::new(TOOL_FAILED, text));
            }
            (_, Some(_)) if args.output.tui => {
                let text = "--tui shows one file: open those of --roll with `ascend-trace view`";
                return Err(Failure::new(TOOL_FAILED, text));
            }
            _ => false,
        },
        roll,
        continues: None,
        timing: args.recorder.capture.timing,
        budget: args.recorder.capture.budget.0,
        reports: args.program.reports(),
        soft: args.program.soft,
        buffer: args.recorder.capture.buffer_bytes(),
        wait: args.wait,
        engine: match args.engine {
            EngineArg::Preload => None,
            EngineArg::Frida => Some(unpack::engine().or_status(TOOL_FAILED)?),
        },
        python: args.program.python,
        stacks: args.recorder.capture.stacks.unwrap_or(0),
        watchdog: one_watchdog(
            args.recorder.watchdog.watchdog,
            ring.as_ref().and_then(|it| it.watchdog),
        )?,
        ring,
        metrics: args.recorder.metrics.wanted(),
        window: args.window.into_options(),
        filters: args.recorder.filters.wanted()?,
        words: args.app,
    })
}

/// The ring of a recording, or the files that follow each other.
pub(super) fn kept_files(
    ring: RingArgs,
    roll: &RollArgs,
    metrics: &MetricsArgs,
    force: bool,
) -> Result<(Option<RingPlan>, Option<RollOptions>), Failure> {
    let keep = ring.keep();
    let roll = roll.wanted(keep, force);
    if keep.is_some() && roll.is_none() && !ring.is_wanted() {
        let text = "--keep needs --ring or --roll: a recording has one file, which stays";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    if ring.lacks_ring() {
        let text = "--on, --after and --together are about snapshots of a --ring: the files of --roll have everything";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    if ring.needs_http() && !metrics.takes_requests() {
        let text = "--on http: requests need an address and a token: give --metrics ADDR and --metrics-token FILE";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    Ok((ring.wanted(), roll))
}

/// Refuses the event that needs the status of the program.
pub(super) fn refuse_exit(ring: Option<&RingPlan>) -> Result<(), Failure> {
    match ring {
        Some(ring) if ring.options.rules.failed_exit => Err(Failure::new(
            TOOL_FAILED,
            "--on 'exit!=0': only the parent of a program gets its status, and this recorder does not start one",
        )),
        _ => Ok(()),
    }
}

/// The time of the only watchdog.
pub(super) fn one_watchdog(
    reported: Option<Duration>,
    kept: Option<Duration>,
) -> Result<Option<Duration>, Failure> {
    if reported.is_some() && kept.is_some() && reported != kept {
        let text = "--watchdog and --on 'watchdog TIME' have different times: give one of them";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    Ok(reported.or(kept))
}

/// Refuses options of the software runtime that it does not know, before anything is started.
#[cfg(feature = "softacl")]
pub(super) fn check_soft(options: &str) -> Result<(), Failure> {
    softacl_options::Options::parse(options)
        .map(drop)
        .map_err(|error| Failure::new(TOOL_FAILED, format!("--soft: {error}")))
}

#[cfg(not(feature = "softacl"))]
pub(super) fn check_soft(_options: &str) -> Result<(), Failure> {
    let text = "--soft: this build has no software runtime; build it with the feature `softacl`";
    Err(Failure::new(TOOL_FAILED, text))
}

fn target(args: &OutputArgs, program: Option<&std::ffi::OsString>) -> TraceTarget {
    named_target(&args.file)
        .unwrap_or_else(|| RecordOptions::default_target(&program.cloned().unwrap_or_default()))
}

/// The target that the user asked for.
pub(crate) fn named_target(args: &OutputFileArgs) -> Option<TraceTarget> {
    let path = args.output.as_ref()?;
    if path.as_os_str() == "-" {
        return Some(TraceTarget::Standard);
    }
    Some(TraceTarget::Named {
        path: path.clone(),
        force: args.force,
    })
}

/// Whether the live view is shown: as asked, else when there is a person to see it.
pub(crate) fn is_live(args: &OutputArgs) -> Result<bool, Failure> {
    let terminal = io::stdout().is_terminal();
    if args.tui && !terminal {
        let text = "--tui needs a terminal on standard output";
        return Err(Failure::new(TOOL_FAILED, text));
    }
    let live = args.tui || (!args.no_tui && terminal && io::stdin().is_terminal());
    match ascend_trace_viewer::check_terminal() {
        // Asked for, it is an error; else the program is worth more than the view.
        Err(error) if args.tui => Err(Failure::new(TOOL_FAILED, error)),
        Err(error) if live => {
            print_message(format!("no live view: {error}"));
            Ok(false)
        }
        _ => Ok(live),
    }
}

/// The program's status as an exit code. Statuses are 8 bits wide everywhere.
pub(crate) fn exit_code(status: i32) -> u8 {
    (status & 0xff) as u8
}
