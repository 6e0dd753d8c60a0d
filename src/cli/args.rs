//! The words of the command line, and nothing of what they do.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use ascend_trace_format::session::Timing;

use super::range::{self, TimeRange};

/// Trace a program that uses AscendCL, and see what every stream of every NPU did.
///
/// `ascend-trace ./app` is short for `ascend-trace record ./app`. A first word that is one of the
/// commands below is taken as that; `ascend-trace -- view` traces a program called view.
#[derive(Debug, Parser)]
#[command(
    name = "ascend-trace",
    version,
    arg_required_else_help = true,
    override_usage = "ascend-trace [OPTIONS] [--] APP [ARGS]...\n       ascend-trace COMMAND ..."
)]
pub(crate) struct Words {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program and record it (the default command)
    Record(RecordArgs),
    /// Show a trace as a timeline, also while it is being recorded
    View(ViewArgs),
    /// Write a trace in another format
    Export(ExportArgs),
    /// Tables per operation, stream and API function: how often, how long
    Stats(StatsArgs),
    /// What a trace holds: processes, devices, streams, counts, losses, clocks
    Info(ReportArgs),
    /// Every function that is caught, and what is decoded of it
    Hooks(HooksArgs),
    /// Look at what tracing would meet here, or with a given program
    Doctor(DoctorArgs),
    /// Record and show a bundled multi-stream program on the software runtime
    Demo(DemoArgs),
    /// Where the software runtime's headers and libraries are
    Soft(SoftArgs),
}

/// The names that stand for commands when they come first.
pub(crate) const COMMANDS: [&str; 10] = [
    "record", "view", "export", "stats", "info", "hooks", "doctor", "demo", "soft", "help",
];

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace [record] [OPTIONS] [--] APP [ARGS]...")]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// How tasks are timed: `events` puts a pair of events around each, `chained` saves one where a
    /// task begins as the one before it ends, `sample=N` times every N-th task of a stream, `auto` finds
    /// out for each stream by the lengths of its tasks, `off` makes no AscendCL call of the tracer's own
    #[arg(long, value_name = "HOW", value_parser = timing, default_value = "events")]
    pub(crate) timing: Timing,

    /// Run APP on the bundled software runtime instead of an installed CANN; options as
    /// KEY=VALUE, separated by commas
    #[arg(
        long,
        value_name = "KEY=VALUE,..",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) soft: Option<String>,

    /// Memory for what is not written yet, as a number of MiB: bursts beyond it are lost and counted
    #[arg(long, value_name = "MIB", default_value_t = 24, value_parser = clap::value_parser!(u32).range(4..=65536))]
    pub(crate) buffer: u32,

    /// Record until every process that APP started has ended, not only APP itself
    #[arg(long)]
    pub(crate) wait: bool,

    /// How calls are caught; `frida` needs a build with that feature, see docs/ENGINES.md
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t = EngineWord::Preload)]
    pub(crate) engine: EngineWord,

    /// The program to trace and its arguments, which are left alone
    #[arg(required = true, trailing_var_arg = true, value_name = "APP [ARGS]")]
    pub(crate) app: Vec<OsString>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// The trace file [default: ./APP-PID.atrace; - is standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace the trace file if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,

    /// Show the live timeline [default: when stdin and stdout are terminals]
    #[arg(long, overrides_with = "no_tui")]
    pub(crate) tui: bool,

    /// Show no live timeline, only a summary at the end
    #[arg(long, overrides_with = "tui")]
    pub(crate) no_tui: bool,
}

/// The value of `--timing`.
fn timing(text: &str) -> Result<Timing, String> {
    match text {
        "events" => Ok(Timing::Events),
        "chained" => Ok(Timing::Chained),
        "off" => Ok(Timing::Off),
        "auto" => Ok(Timing::Auto),
        _ => text
            .strip_prefix("sample=")
            .and_then(|number| number.parse().ok())
            .filter(|step| (1..=MOST_SAMPLED).contains(step))
            .map(Timing::Sample)
            .ok_or_else(|| {
                format!(
                    "it is events, chained, auto, off or sample=N with N from 1 to {MOST_SAMPLED}"
                )
            }),
    }
}

const MOST_SAMPLED: u32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineWord {
    /// A library that the loader puts first
    Preload,
    /// Functions patched in memory
    Frida,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// The trace file
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The trace file
    pub(crate) file: PathBuf,

    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Only this part of the recording, counted from its first moment, such as 1.5ms..20ms; either
    /// end may be left out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse)]
    pub(crate) range: Option<TimeRange>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The trace file
    pub(crate) file: PathBuf,

    /// The format to write
    #[arg(long, value_enum)]
    pub(crate) format: FormatWord,

    /// The file or folder to write [default: named after the trace; - is standard output; what ends
    /// in .gz is compressed]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,

    /// Only this part of the recording, counted from its first moment, such as 1.5ms..20ms; either
    /// end may be left out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse)]
    pub(crate) range: Option<TimeRange>,

    /// Only calls and tasks that are so; of several values any will do, of several --only all must
    /// hold. Keys: device, stream, kind and name (of tasks), call, tid, pid, rank; names may hold *
    #[arg(long, value_name = "KEY=VALUE[,VALUE]...")]
    pub(crate) only: Vec<String>,

    /// Replace what is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatWord {
    /// Chrome's JSON, for Perfetto and chrome://tracing
    Chrome,
    /// Perfetto's own format, smaller and with types
    Perfetto,
    /// A folder of Apache Parquet tables, for DuckDB, pandas and polars
    Parquet,
    /// A folder of CSV tables
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct HooksArgs {
    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// A program to look at, after --
    #[arg(last = true, value_name = "APP")]
    pub(crate) app: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Which demo [default: overlap]
    pub(crate) name: Option<String>,

    /// List the demos
    #[arg(long)]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct SoftArgs {
    /// Print the folder for the compiler's -I
    #[arg(long)]
    pub(crate) include_dir: bool,

    /// Print the folder for the compiler's -L and for LD_LIBRARY_PATH
    #[arg(long)]
    pub(crate) lib_dir: bool,

    /// Print shell commands that make programs of this shell use the software runtime
    #[arg(long)]
    pub(crate) env: bool,
}

/// Puts the default command in: unless the first word is a command or asks for help, it is the
/// beginning of a recording.
pub(crate) fn with_default_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_command = words.get(1).is_none_or(|first| {
        let known = ["-h", "--help", "-V", "--version"].iter().chain(&COMMANDS);
        known.into_iter().any(|word| first == word)
    });
    if !is_command {
        words.insert(1, "record".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(words: &str) -> Result<Command, clap::Error> {
        let words = std::iter::once("ascend-trace").chain(words.split_whitespace());
        let words = with_default_command(words.map(OsString::from).collect());
        Words::try_parse_from(words).map(|words| words.command)
    }

    fn record(words: &str) -> RecordArgs {
        match parse(words) {
            Ok(Command::Record(args)) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definition_is_consistent_and_names_every_command() {
        let command = Words::command();
        command.clone().debug_assert();
        let names: Vec<_> = command
            .get_subcommands()
            .map(|command| command.get_name())
            .collect();
        assert_eq!(names, COMMANDS[..names.len()]);
    }

    #[test]
    fn a_program_is_recorded_by_default_and_keeps_its_options() {
        let args = record("--timing off ./app --timing events -o x -- --tui");
        assert_eq!(args.timing, Timing::Off);
        let sampled = record("--timing sample=8 ./app").timing;
        assert_eq!(sampled, Timing::Sample(8));
        assert_eq!(
            args.app,
            ["./app", "--timing", "events", "-o", "x", "--", "--tui"]
        );
        assert!(args.output.output.is_none() && !args.output.tui);
    }

    #[test]
    fn a_first_word_that_is_a_command_is_one_and_two_dashes_make_it_a_program() {
        assert!(matches!(parse("view x.atrace"), Ok(Command::View(_))));
        assert_eq!(record("-- view x").app, ["view", "x"]);
        assert_eq!(record("record view").app, ["view"]);
        assert_eq!(record("--soft view").app, ["view"]);
        assert_eq!(record("./view").app, ["./view"]);
    }

    #[test]
    fn software_options_need_an_equals_sign() {
        assert_eq!(record("--soft ./app").soft.as_deref(), Some(""));
        assert_eq!(
            record("--soft=devices=4,strict ./app").soft.as_deref(),
            Some("devices=4,strict")
        );
        assert_eq!(record("./app --soft").soft, None);
    }

    #[test]
    fn unknown_options_and_missing_programs_are_refused() {
        for words in [
            "--unknown ./app",
            "--timing sometimes ./app",
            "--timing sample=0 ./app",
            "--soft",
            "record",
            "export x",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    fn the_last_of_the_view_options_wins() {
        let args = record("--tui --no-tui ./app");
        assert!(args.output.no_tui && !args.output.tui);
    }
}
