//! Pictures of the timeline.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};

use ascend_trace_viewer::{self as viewer, Picture, PictureFormat, StillError, StillOptions};

use super::destination::{STDOUT, packed};
use crate::cli::args::{ArgDetailArg, ExportArgs, STDIN};
use crate::cli::open_trace::{self, Completeness};
use crate::cli::output_file;
use crate::cli::trace_files::TraceFiles;
use crate::output::verbosity;
use crate::view_source::FileSource;

pub(super) fn run(args: &ExportArgs, format: PictureFormat) -> anyhow::Result<u8> {
    check(args)?;
    let ending = match format {
        PictureFormat::Svg => "svg",
        PictureFormat::Png => "png",
    };
    let files = TraceFiles::new(&args.files);
    let output = match &args.output {
        Some(path) => path.clone(),
        None => files.first().with_extension(ending),
    };
    let is_stdout = output == Path::new(STDOUT);
    if !is_stdout {
        let mut inputs = files.as_slice().iter();
        if inputs.any(|it| output_file::is_same(it, &output)) {
            bail!(
                "{} is the trace itself: name another file",
                output.display()
            );
        }
        output_file::check(&output, args.force)?;
    }
    let mut recording = files.open()?;
    let range = match args.range {
        Some(range) => range.of(&mut recording)?,
        None => None,
    };
    let bytes = drawn(args, &files, range)?
        .encode(format)
        .context("the picture cannot be made")?;
    match is_stdout {
        true => match io::stdout().lock().write_all(&bytes) {
            // A reader that has seen enough is no error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written.context("cannot write to standard output")?,
        },
        false => {
            let is_packed = output.extension().is_some_and(|it| it == "gz");
            output_file::write(&output, |file: File| {
                packed(file, is_packed, |out| Ok(out.write_all(&bytes)?))
            })?;
        }
    }
    open_trace::check(&mut recording, args.strict)?;
    open_trace::say_warnings(&files.name(), &recording);
    Ok(Completeness::of_recording(&recording).status(args.strict))
}

fn drawn(
    args: &ExportArgs,
    files: &TraceFiles,
    range: Option<ascend_trace_recording::TimeRange>,
) -> anyhow::Result<Picture> {
    let mut source = FileSource::open(files)?;
    let name = files.name();
    let options = StillOptions {
        title: name.display().to_string(),
        range,
        lanes: args.lanes.clone().unwrap_or_default(),
        size: args.size,
        // A picture is mostly looked at on paper or on a page.
        ground: verbosity()
            .ground
            .unwrap_or(viewer::TerminalBackground::Light),
    };
    viewer::still(&mut source, options).map_err(|error| match error {
        StillError::NoLane(text) => anyhow::anyhow!(
            "no lane has {text:?} in its name: `ascend-trace stats` lists streams and threads"
        ),
        other => anyhow::anyhow!("{}: {other}", name.display()),
    })
}

/// Refuses options that have no effect on a picture.
fn check(args: &ExportArgs) -> anyhow::Result<()> {
    if args.files.iter().any(|it| it == Path::new(STDIN)) {
        bail!("a picture needs a trace file, not standard input: save it first");
    }
    let unused = [
        (!args.only.is_empty(), "--only"),
        (args.args != ArgDetailArg::Full, "--args"),
        (args.critical, "--critical"),
        (args.steps, "--steps"),
        (args.steps_by.is_some(), "--steps-by"),
    ];
    match unused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => bail!("{option} is not for --format svg and png: leave it out"),
        None => Ok(()),
    }
}
