//! `view`: the timeline of a trace, or of two.

use std::path::PathBuf;

use anyhow::bail;

use super::args::ViewArgs;
use super::open_trace;
use super::trace_files::TraceFiles;
use crate::view_source;

pub(crate) fn run(args: &ViewArgs) -> anyhow::Result<u8> {
    let files = [&args.file].into_iter().chain(&args.other);
    let files: Vec<PathBuf> = files.chain(&args.more).cloned().collect();
    let all = TraceFiles::new(&files);
    // Two patterns are two recordings.
    let is_one = args.other.is_none() || (all.as_slice() == files && all.are_parts());
    let (signal, status) = match &args.other {
        _ if is_one => {
            let (signal, condition) = view_source::view(&all, args.strict)?;
            open_trace::say_condition(&all.name(), &condition);
            (signal, condition.status(args.strict))
        }
        _ if !args.more.is_empty() => {
            bail!("the view shows one recording or two: only files of `record --roll` may be more")
        }
        None => (None, 0),
        Some(other) => {
            let files = [&args.file, other].map(|it| TraceFiles::one(it));
            let (signal, conditions) = view_source::view_two(&files, args.by.clone(), args.strict)?;
            for (file, condition) in files.iter().zip(&conditions) {
                open_trace::say_condition(&file.name(), condition);
            }
            let status = conditions.iter().map(|it| it.status(args.strict));
            (signal, status.max().unwrap_or(0))
        }
    };
    Ok(signal.map_or(status, |number| (128 + number) as u8))
}
