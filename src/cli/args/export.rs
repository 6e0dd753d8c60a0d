//! The words of the commands that write a recording in another format.

use std::path::PathBuf;

use ascend_trace_viewer::PictureFormat;
use clap::{Args, ValueEnum};

use crate::cli::range::{self, RelativeRange};

use super::trace_file;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The trace file; - is standard input. Several files of `record --roll` are read as one recording
    #[arg(required = true, value_name = "FILE", value_parser = trace_file())]
    pub(crate) files: Vec<PathBuf>,

    /// The format to write
    #[arg(long, value_enum)]
    pub(crate) format: FormatArg,

    /// The file or folder to write [default: named after the trace; - is standard output; a name
    /// that ends in .gz is compressed]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,

    /// Only this part of the recording, counted from its begin, such as 1.5ms..20ms. You may
    /// leave either end out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse, allow_hyphen_values = true)]
    pub(crate) range: Option<RelativeRange>,

    /// Only calls and tasks that match. Of several values any one must match, of several --only all.
    /// Keys: device, stream, kind and name (of tasks), call, tid, process, pid, rank. Names may
    /// contain *
    #[arg(long, value_name = "KEY=VALUE[,VALUE]...")]
    pub(crate) only: Vec<String>,

    /// How many details the slices of chrome, perfetto and kineto have
    #[arg(long, value_enum, default_value_t, value_name = "AMOUNT")]
    pub(crate) args: ArgDetailArg,

    /// With --format kineto: use CUDA's names, such as cudaLaunchKernel and Memcpy HtoD. Some of its
    /// readers look for them
    #[arg(long)]
    pub(crate) cuda_names: bool,

    /// With --format chrome or perfetto: add a track with the critical path. With csv, parquet or
    /// sqlite: fill the table critical
    #[arg(long)]
    pub(crate) critical: bool,

    /// With --format csv, parquet, sqlite or ascend: fill the table of steps as `ascend-trace steps` finds
    /// them, also where work only repeats
    #[arg(long)]
    pub(crate) steps: bool,

    /// The same with the ranges or marks that are steps, as --by of `ascend-trace steps`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) steps_by: Option<String>,

    /// With --format svg or png: only lanes that have this text in their names
    #[arg(long, value_name = "TEXT")]
    pub(crate) lanes: Option<String>,

    /// With --format svg or png: the size in letters [default: 160 columns, and rows for all lanes]
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size)]
    pub(crate) size: Option<(u16, u16)>,

    /// Replace an existing file or folder
    #[arg(long)]
    pub(crate) force: bool,

    /// End with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// The trace file; - is standard input
    #[arg(value_parser = trace_file())]
    pub(crate) file: PathBuf,

    /// Only this part of the recording, counted from its begin, such as 1.5ms..20ms. You may
    /// leave either end out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse, allow_hyphen_values = true)]
    pub(crate) range: Option<RelativeRange>,

    /// Only calls and tasks that match, as for `export`
    #[arg(long, value_name = "KEY=VALUE[,VALUE]...")]
    pub(crate) only: Vec<String>,

    /// Add a track with the critical path
    #[arg(long)]
    pub(crate) critical: bool,

    /// Start a browser: the program in BROWSER, else xdg-open
    #[arg(long)]
    pub(crate) browser: bool,

    /// The page that shows the trace, if you host one yourself
    #[arg(long, value_name = "URL", default_value = "https://ui.perfetto.dev")]
    pub(crate) ui: String,

    /// The port of 127.0.0.1 to serve at. The page at ui.perfetto.dev uses no other one than 9001
    #[arg(long, value_name = "PORT", default_value_t = 9001)]
    pub(crate) port: u16,
}

impl OpenArgs {
    /// The export that it shows.
    pub(crate) fn export(&self) -> ExportArgs {
        ExportArgs {
            files: vec![self.file.clone()],
            format: FormatArg::Perfetto,
            output: None,
            range: self.range,
            only: self.only.clone(),
            args: ArgDetailArg::Full,
            cuda_names: false,
            critical: self.critical,
            steps: false,
            steps_by: None,
            lanes: None,
            size: None,
            force: false,
            strict: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArgDetailArg {
    /// All details
    #[default]
    Full,
    /// Devices, streams and bytes of tasks, errors, and the link from a call to its task
    Minimal,
    /// Nothing
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// Chrome's JSON, for Perfetto and chrome://tracing
    Chrome,
    /// Perfetto's own format, smaller and with types
    Perfetto,
    /// A folder of JSON as PyTorch's profiler writes it, for the tools that read that
    Kineto,
    /// Folders as torch_npu's profiler writes them, for MindStudio Insight and msprof-analyze
    Ascend,
    /// A folder of Apache Parquet tables, for DuckDB, pandas and polars
    Parquet,
    /// The same tables as a SQLite database, with indices and views
    Sqlite,
    /// A SQLite database as Nsight Systems exports it, for tools that read that
    NsysSqlite,
    /// A folder of CSV tables
    Csv,
    /// A picture of the timeline as `view` draws it, of lines and text
    Svg,
    /// The same picture, of pixels
    Png,
}

impl FormatArg {
    /// The format of a picture; `None` for other formats.
    pub(crate) fn picture(self) -> Option<PictureFormat> {
        match self {
            Self::Svg => Some(PictureFormat::Svg),
            Self::Png => Some(PictureFormat::Png),
            _ => None,
        }
    }
}

/// Columns and rows of a picture.
fn size(text: &str) -> Result<(u16, u16), String> {
    const LEAST: (u16, u16) = (40, 10);
    const MOST: u16 = 1_000;
    let parsed = text
        .split_once('x')
        .and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    match parsed {
        Some((columns, rows))
            if (LEAST.0..=MOST).contains(&columns) && (LEAST.1..=MOST).contains(&rows) =>
        {
            Ok((columns, rows))
        }
        _ => Err(format!(
            "columns and rows are wanted, such as 160x50, from {}x{} to {MOST}x{MOST}",
            LEAST.0, LEAST.1
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_pictures_have_limits() {
        assert_eq!(size("160x50"), Ok((160, 50)));
        assert_eq!(size("40x10"), Ok((40, 10)));
        for wrong in ["", "160", "39x10", "40x9", "1001x50", "axb", "160x50x2"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
