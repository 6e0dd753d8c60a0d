//! `view`: the timeline of a trace, or of two.

use super::args::ViewArgs;
use super::open_trace;
use crate::view_source;

pub(crate) fn run(args: &ViewArgs) -> anyhow::Result<u8> {
    let (signal, status) = match &args.other {
        None => {
            let (signal, condition) = view_source::view(&args.file, args.strict)?;
            open_trace::say_condition(&args.file, &condition);
            (signal, condition.status(args.strict))
        }
        Some(other) => {
            let files = [args.file.as_path(), other.as_path()];
            let (signal, conditions) = view_source::view_two(files, args.by.clone(), args.strict)?;
            for (file, condition) in files.iter().zip(&conditions) {
                open_trace::say_condition(file, condition);
            }
            let status = conditions.iter().map(|it| it.status(args.strict));
            (signal, status.max().unwrap_or(0))
        }
    };
    Ok(signal.map_or(status, |number| (128 + number) as u8))
}
