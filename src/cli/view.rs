//! `view`: the timeline of a trace.

use super::args::ViewArgs;
use crate::viewing;

pub(crate) fn run(args: &ViewArgs) -> anyhow::Result<u8> {
    let (signal, condition) = viewing::view(&args.file, args.strict)?;
    Ok(signal.map_or(condition.status(args.strict), |number| (128 + number) as u8))
}
