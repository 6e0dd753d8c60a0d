//! `arm`: start a program that `attach` can record later.

use anyhow::{Context, bail};

use super::args::ArmArgs;
use super::record::check_soft;
use crate::armed_process;
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::launch::elf::{self, ProgramFile};
use crate::launch::{Environment, LaunchPlan, find_program, preflight};
use crate::unpack;

pub(crate) fn run(args: ArmArgs) -> Result<u8, Failure> {
    args.program.soft.as_deref().map_or(Ok(()), check_soft)?;
    let name = args.app.first().cloned().unwrap_or_default();
    let program = find_program::find(&name, std::env::var_os("PATH").as_deref())?;
    preflight::check(&program)?;
    let environment = environment(&args).or_status(TOOL_FAILED)?;
    let plan = LaunchPlan {
        words: args.app,
        program,
        environment,
        output_aside: false,
    };
    Err(plan.become_program())
}

fn environment(args: &ArmArgs) -> anyhow::Result<Environment> {
    let interposer = unpack::interposer()?;
    if matches!(
        elf::inspect(&interposer.file),
        Ok(ProgramFile::Foreign { .. })
    ) {
        bail!("a program in an emulator cannot be attached to: record it from its begin");
    }
    let mut environment = Environment::default();
    if let Some(options) = &args.program.soft {
        environment.soften(&unpack::soft()?.lib, options);
    }
    let preload = unpack::preloads(&interposer, args.program.reports())?;
    let folder = armed_process::shared_folder();
    let folder = folder.context("no place for the program's page: give /dev/shm or /tmp room")?;
    armed_process::remove_stale(&folder);
    environment.arm(&preload, &folder);
    environment.patch(None);
    if args.program.python {
        environment.set_range_hook(&unpack::python()?);
    }
    Ok(environment)
}
