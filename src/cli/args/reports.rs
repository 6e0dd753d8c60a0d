//! The words of the commands that show the content of a recording.

use std::path::PathBuf;

use ascend_trace_analysis::requests::NameTemplate;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cli::check::DeniedFindings;
use crate::cli::diff::{self, FailIf};
use crate::cli::range::{self, RelativeRange};
use crate::cli::requests;
use crate::cli::what_if::{self, ChangeSpec};

use super::trace_file;

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// The trace file
    pub(crate) file: PathBuf,

    /// A second trace file: both are shown, one above the other, aligned at a step. `}` and `{` go to the
    /// next and the previous step of both, `G` lists what changed
    #[arg(value_name = "OTHER")]
    pub(crate) other: Option<PathBuf>,

    /// More files of `record --roll`: all files are shown as one recording
    #[arg(value_name = "MORE")]
    pub(crate) more: Vec<PathBuf>,

    /// With two files: the ranges or marks that are steps, as for `steps`
    #[arg(long, value_name = "PATTERN", requires = "other")]
    pub(crate) by: Option<String>,

    /// End with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The trace file; - is standard input. Several files of `record --roll` are read as one recording
    #[arg(required = true, value_name = "FILE", value_parser = trace_file())]
    pub(crate) files: Vec<PathBuf>,

    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// End with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

/// As [`ReportArgs`], where other words follow the file.
#[derive(Debug, Args)]
pub(crate) struct FileReportArgs {
    /// The trace file; - is standard input
    #[arg(value_parser = trace_file())]
    pub(crate) file: PathBuf,

    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// End with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportPageArgs {
    /// The trace file; - is standard input. With two files, the report is on the second one, and has what changed from
    /// the first one to it. Several files of `record --roll` are read as one recording
    #[arg(required = true, value_name = "FILE", value_parser = trace_file())]
    pub(crate) files: Vec<PathBuf>,

    /// The HTML file [default: the name of the trace, with .html]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// The ranges or marks that are steps, as for `steps`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) by: Option<String>,

    /// Replace the HTML file if it exists
    #[arg(long)]
    pub(crate) force: bool,

    /// End with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The trace file, or the number of a process that is recorded, or of its recorder. A file of that name
    /// comes first; - is standard input. You may give several
    #[arg(required = true, value_name = "FILE|PID", value_parser = trace_file())]
    pub(crate) targets: Vec<PathBuf>,

    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// End with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

impl WhyArgs {
    /// For these targets.
    pub(crate) fn of(targets: Vec<PathBuf>, json: bool) -> Self {
        Self {
            targets,
            json,
            strict: false,
        }
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace ctl [OPTIONS] [PID|SESSION] COMMAND")]
pub(crate) struct CtlArgs {
    /// All recordings of this user
    #[arg(long)]
    pub(crate) all: bool,

    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// The number of a recorded process or of a recorder, or a session file; then status, pause, resume, stop,
    /// timing HOW, budget PERCENT, mark TEXT, snapshot or why. Without the first, the only recording that is running
    #[arg(required = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Only this part of the recording, counted from its begin, such as 1.5ms..20ms. You may
    /// leave either end out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse, allow_hyphen_values = true)]
    pub(crate) range: Option<RelativeRange>,

    /// Tables of communication between ranks instead: the bytes, the wait for the last rank, the transfer, bandwidth, and
    /// computing at the same time. By group, collective, rank and pair of ranks
    #[arg(long)]
    pub(crate) communication: bool,

    /// Tables of memory instead: the peak of each device and process, its composition and the memory at the end by call site,
    /// steps, and failed allocations
    #[arg(long, conflicts_with_all = ["communication", "range"])]
    pub(crate) memory: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StepsArgs {
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// The ranges or marks that are steps: * matches any text, ? matches one character. With marks, a
    /// step lasts from one to the next [default: ranges with names of steps, else work that repeats]
    #[arg(long, value_name = "PATTERN")]
    pub(crate) by: Option<String>,

    /// Find work that repeats, also if the program names its steps
    #[arg(long, conflicts_with = "by")]
    pub(crate) repeated: bool,

    /// List all steps, not only the first 40 of each process
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RequestsArgs {
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// The names of ranges and marks of requests, such as 'generate {id}' or '{phase}: {id} n={tokens}'; * matches
    /// any text [default: the names of docs/ANALYSIS.md]
    #[arg(long, value_name = "TEMPLATE", value_parser = requests::template)]
    pub(crate) names: Option<NameTemplate>,

    /// List all requests, not only the first 40
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CriticalArgs {
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Only this part of the recording, counted from its begin, such as 1.5ms..20ms; either
    /// end may be left out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse, allow_hyphen_values = true)]
    pub(crate) range: Option<RelativeRange>,

    /// Only this step; `ascend-trace steps` lists the names
    #[arg(long, value_name = "NAME", conflicts_with = "range")]
    pub(crate) step: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub(crate) report: FileReportArgs,

    /// What is changed, all together: 'op=MatMul x0.5', 'stream=3 wait=none', 'sync=DeviceSync->event',
    /// 'copy x0' or 'launch x0' [default: several changes are tried, each alone]
    #[arg(value_name = "CHANGE", value_parser = what_if::change)]
    pub(crate) changes: Vec<ChangeSpec>,

    /// List blocking calls instead: what they waited for, and which narrower call would do
    #[arg(long, conflicts_with = "changes")]
    pub(crate) syncs: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The trace files of the ranks
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The merged trace
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Replace the output if it exists
    #[arg(long)]
    pub(crate) force: bool,

    /// End with status 3 unless all recordings are complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The trace file to compare with; - is standard input
    #[arg(value_parser = trace_file())]
    pub(crate) a: PathBuf,

    /// The trace file whose changes are printed
    #[arg(value_parser = trace_file())]
    pub(crate) b: PathBuf,

    /// The ranges or marks that are steps, as for `steps`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) by: Option<String>,

    /// Find work that repeats, also if the programs name their steps
    #[arg(long, conflicts_with = "by")]
    pub(crate) repeated: bool,

    /// End with status 1 if this changed beyond the limit, such as 'step>+3%' or 'MatMul>+5%'.
    /// All of the range in which the change lies must be beyond it
    #[arg(long, value_name = "CONDITION", value_parser = diff::condition)]
    pub(crate) fail_if: Vec<FailIf>,

    /// List all rows, not only changes
    #[arg(long)]
    pub(crate) all: bool,

    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// End with status 3 unless both recordings are complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The trace file; - is standard input. Several files of `record --roll` are read as one recording
    #[arg(value_name = "FILE", value_parser = trace_file(), required_unless_present = "list")]
    pub(crate) files: Vec<PathBuf>,

    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// End with status 1 for findings of at least this severity, or of this check; may be given several times
    #[arg(long, value_name = "SEVERITY|CHECK", value_parser = deny(), hide_possible_values = true)]
    pub(crate) deny: Vec<DeniedFindings>,

    /// Leave out the findings that this file names, a line each: CHECK FUNCTION REASON or CHECK stream:N REASON
    #[arg(long, value_name = "FILE")]
    pub(crate) suppress: Option<PathBuf>,

    /// Write all findings to this file as SARIF 2.1.0, for services that show them with the code
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,

    /// End with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,

    /// List the checks
    #[arg(long, conflicts_with_all = ["json", "deny", "suppress", "sarif", "strict"])]
    pub(crate) list: bool,
}

/// A severity, or the name of a check.
fn deny() -> impl TypedValueParser<Value = DeniedFindings> {
    let words = PossibleValuesParser::new(DeniedFindings::words());
    words.try_map(|word| DeniedFindings::named(&word).ok_or("it is no severity and no check"))
}
