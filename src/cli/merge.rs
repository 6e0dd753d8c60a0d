//! `merge`: the recordings of the ranks of a job as one, on one clock (docs/FLEET.md).

mod inputs;
mod output;
mod session;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Error};

use ascend_trace_analysis::align::{Alignment, Recorded, align};
use ascend_trace_recording::Warning;
use ascend_trace_recording::file::{LostContent, MergeError, MergeInput, merge};

use super::args::MergeArgs;
use super::clocks;
use super::open_trace::{self, Completeness};
use crate::output::{print_message, print_status};
use inputs::MergedRecording;
use output::MergeOutput;

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<u8> {
    // Before the work, not after it.
    output::check(args)?;
    let mut inputs = inputs::open(&args.files)?;
    let recorded = inputs::collect(&mut inputs)?;
    let alignment = align(&recorded);
    let notes = clocks::notes(&alignment, &recorded, |it| inputs[it].name());
    notes.iter().for_each(|(_, note)| print_message(note));
    let warnings = write(args, (&inputs, &recorded, &alignment), &notes)?;
    let mut status = 0;
    for (input, warnings) in inputs.iter().zip(&warnings) {
        let condition = condition(input, warnings);
        open_trace::say_condition(&input.path, &condition);
        if condition.growing {
            let rest = Warning {
                offset: 0,
                lost: LostContent::Rest,
            };
            print_message(format!("{}: {rest}", input.path.display()));
        }
        status = status.max(condition.status(args.strict));
    }
    for placed in &alignment.hosts {
        print_status(clocks::line(placed, &alignment));
    }
    let (count, to) = (inputs.len(), args.output.display());
    print_status(format!("merged {count} recordings into {to}"));
    Ok(status)
}

/// Writes the merged file. Returns the unreadable parts of each input.
fn write(
    args: &MergeArgs,
    (inputs, recorded, alignment): (&[MergedRecording], &[Recorded], &Alignment),
    notes: &[(usize, String)],
) -> anyhow::Result<Vec<Vec<Warning>>> {
    let mut output = MergeOutput::create(&args.output)?;
    let processes = processes(inputs);
    let session = session::of((inputs, recorded, alignment), notes, &processes);
    let times: Vec<_> = (0..inputs.len())
        .map(|number| move |ns| alignment.mapping(number).map(ns).ns)
        .collect();
    let sources = inputs.iter().zip(processes).zip(&times);
    let sources = sources.map(|((input, processes), time)| {
        Ok(MergeInput {
            file: inputs::file(&input.path)?,
            processes,
            time,
        })
    });
    let sources = sources.collect::<anyhow::Result<Vec<_>>>()?;
    let merged = merge(sources, &session, output.file());
    let (_, warnings) = merged.map_err(|error| explained(error, inputs, &args.output))?;
    output.finish(args.force)?;
    Ok(warnings)
}

/// The numbers that the processes of each input get: by rank, as the inputs are in their order.
fn processes(inputs: &[MergedRecording]) -> Vec<BTreeMap<u32, u32>> {
    let mut numbers = 1..;
    let of = |input: &MergedRecording| input.processes.iter().copied().zip(&mut numbers).collect();
    inputs.iter().map(of).collect()
}

fn explained(error: MergeError, inputs: &[MergedRecording], output: &Path) -> Error {
    match error {
        MergeError::Input(number, error) => {
            let path = inputs[number].path.display();
            Error::new(error).context(format!("cannot read {path}"))
        }
        MergeError::Output(error) => Error::new(error).context(output::cannot_write(output)),
        MergeError::Functions => Error::new(error).context("cannot merge"),
    }
}

fn condition(input: &MergedRecording, warnings: &[Warning]) -> Completeness {
    let is_open = |it: &&Warning| !input.growing || !it.is_of_end();
    let damage = warnings.iter().filter(is_open);
    let inside = warnings.iter().filter(|it| !it.is_of_end());
    Completeness {
        damage: damage.map(Warning::to_string).collect(),
        damaged_inside: inside.count(),
        ended: input.ended,
        growing: input.growing,
        lost: input.lost,
    }
}

/// Message for a file that cannot be read.
fn reading<T>(result: Result<T, impl Into<Error>>, path: &Path) -> anyhow::Result<T> {
    let result = result.map_err(Into::into);
    result.with_context(|| format!("cannot read {}", path.display()))
}
