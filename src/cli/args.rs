//! The words of the command line, and nothing of what they do.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use ascend_trace_format::session::Timing;

use super::check::Deny;
use super::dataset::DatasetArgs;
use super::diff::{self, FailIf};
use super::install::{CompletionsArgs, ManArgs};
use super::range::{self, RelativeRange};
use super::topics::TOPICS;
use super::what_if::{self, Word};

/// Trace a program that uses AscendCL, and see what every stream of every NPU did.
///
/// `ascend-trace ./app` is short for `ascend-trace record ./app`. If the first word is one of the
/// commands below, it is that command. `ascend-trace -- view` traces a program called view.
#[derive(Debug, Parser)]
#[command(
    name = "ascend-trace",
    version,
    arg_required_else_help = true,
    override_usage = "ascend-trace [OPTIONS] [--] APP [ARGS]...\n       ascend-trace COMMAND ..."
)]
pub(crate) struct Words {
    #[command(flatten)]
    pub(crate) manner: MannerArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How much is said, and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct MannerArgs {
    /// Print only what went wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print more details of the work
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// Colours of the view and of help
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorWord::Auto)]
    pub(crate) color: ColorWord,

    /// Colours for a dark or light terminal; auto asks the terminal
    #[arg(long, global = true, value_name = "GROUND", value_enum, default_value_t = ThemeWord::Auto)]
    pub(crate) theme: ThemeWord,

    /// The view's configuration [default: ascend-trace/config.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Use no configuration of the view
    #[arg(long, global = true, conflicts_with = "config")]
    pub(crate) no_config: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeWord {
    /// What the terminal reports, else COLORFGBG, else dark
    Auto,
    /// Light text on a dark ground
    Dark,
    /// Dark text on a light ground
    Light,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWord {
    /// By the terminal and NO_COLOR
    Auto,
    /// Even where NO_COLOR is set
    Always,
    /// None
    Never,
}

/// The definition of the command line. Its help has the options of a recording, which need no command.
pub(crate) fn command() -> clap::Command {
    let command = Words::command();
    let mut record = RecordArgs::augment_args(clap::Command::new("record").disable_help_flag(true));
    let help = record.render_help().to_string();
    let options = help
        .split_once("Options:\n")
        .map_or("", |(_, options)| options);
    let topics: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
    let topics = topics.join(", ");
    command.after_help(format!(
        "Options of a recording:\n{options}\nDocuments, with `ascend-trace help TOPIC`: {topics}"
    ))
}

/// The same with the options of a recording, which need no command, for shells.
pub(super) fn recording() -> clap::Command {
    let command = RecordArgs::augment_args(Words::command());
    command.mut_arg("app", |app| {
        app.required(false)
            .value_hint(clap::ValueHint::CommandWithArguments)
    })
}

/// The trace that a command reads; `-` is standard input.
fn trace_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true if io::stdin().is_terminal() => {
            Err("standard input is a terminal: send a trace to it, with < or |")
        }
        true => Ok(PathBuf::from(STDIN)),
        false => Ok(path),
    })
}

/// A severity, or the name of a check.
fn deny() -> impl TypedValueParser<Value = Deny> {
    let words = PossibleValuesParser::new(Deny::words());
    words.try_map(|word| Deny::named(&word).ok_or("it is no severity and no check"))
}

/// What `-` stands for where a trace is read.
pub(crate) const STDIN: &str = "/dev/stdin";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program and record it (the default command)
    Record(RecordArgs),
    /// Show a trace as a timeline, also during the recording, or two of them aligned
    View(ViewArgs),
    /// Write a trace in another format
    Export(ExportArgs),
    /// Show a trace in Perfetto's UI, in a browser
    Open(OpenArgs),
    /// Collect recordings as Parquet tables in one folder, for queries over all of them
    Dataset(DatasetArgs),
    /// Print tables per operation, stream and API function: counts and durations
    Stats(StatsArgs),
    /// Print the steps of a training loop, and why the slowest was slow
    Steps(StepsArgs),
    /// Print the critical path: what the end of the recording waited for
    Critical(CriticalArgs),
    /// Predict how long the program would take with a change, or try changes
    WhatIf(WhatIfArgs),
    /// Print what changed from one recording to another, and whether that is more than the spread of steps
    Diff(DiffArgs),
    /// Print why a program hangs: what its threads and streams wait for, and what never came
    Why(ReportArgs),
    /// Report mistakes of the program, and what costs it time
    Check(CheckArgs),
    /// Print what a trace contains: processes, devices, streams, counts, losses, clocks
    Info(ReportArgs),
    /// List every intercepted function, and what is decoded of its calls
    Hooks(HooksArgs),
    /// Check whether tracing works here, or with a given program
    Doctor(DoctorArgs),
    /// Record and show a bundled multi-stream program on the software runtime
    Demo(DemoArgs),
    /// Print where the software runtime's headers and libraries are
    Soft(SoftArgs),
    /// Print the script with which a shell completes commands and options
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

/// The names that stand for commands when they come first.
pub(crate) const COMMANDS: [&str; 20] = [
    "record",
    "view",
    "export",
    "open",
    "dataset",
    "stats",
    "steps",
    "critical",
    "what-if",
    "diff",
    "why",
    "check",
    "info",
    "hooks",
    "doctor",
    "demo",
    "soft",
    "completions",
    "man",
    "help",
];

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace [record] [OPTIONS] [--] APP [ARGS]...")]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// How tasks are timed. `auto` selects for each stream by the durations of its tasks. `events` puts a
    /// pair of events around each task. `chained` leaves one out where a task begins when the one before
    /// it ends. `sample=N` times every N-th task of a stream. `hardware` reads the hardware log with msPTI
    /// and records no event. `both` does this as well as `events`. `off` makes no AscendCL call
    #[arg(long, value_name = "HOW", value_parser = timing, default_value = "auto")]
    pub(crate) timing: Timing,

    /// Run APP on the bundled software runtime instead of an installed CANN. Options are
    /// KEY=VALUE, separated by commas
    #[arg(
        long,
        value_name = "KEY=VALUE,..",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) soft: Option<String>,

    /// Memory for data that is not written yet, in MiB. Bursts beyond it are lost and counted
    #[arg(long, value_name = "MIB", default_value_t = 24, value_parser = clap::value_parser!(u32).range(4..=65536))]
    pub(crate) buffer: u32,

    /// Record until every process that APP started has ended, not only APP itself
    #[arg(long)]
    pub(crate) wait: bool,

    /// Load no `libmspti.so`: torch_npu then reports no ranges (steps, data loading)
    #[arg(long)]
    pub(crate) no_mstx: bool,

    /// Record what PyTorch does in Python programs: steps, phases, modules, the loading of data and
    /// `record_function`. This puts a hook into the program's own interpreter (`ascend-trace help pytorch`)
    #[arg(long)]
    pub(crate) python: bool,

    /// How calls are intercepted. `frida` needs a build with that feature, see `ascend-trace help engines`
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t = EngineWord::Preload)]
    pub(crate) engine: EngineWord,

    /// The program to trace, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "APP [ARGS]")]
    pub(crate) app: Vec<OsString>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// The trace file [default: ./APP-PID.atrace; - is standard output]. In its name, %p is APP's
    /// pid, %r its rank, %h the host, %q{NAME} a variable of the environment, %% a percent sign
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
        "hardware" => Ok(Timing::Hardware),
        "both" => Ok(Timing::Both),
        _ => text
            .strip_prefix("sample=")
            .and_then(|number| number.parse().ok())
            .filter(|step| (1..=MOST_SAMPLED).contains(step))
            .map(Timing::Sample)
            .ok_or_else(|| {
                format!(
                    "it is events, chained, auto, hardware, both, off or sample=N with N from 1 to {MOST_SAMPLED}"
                )
            }),
    }
}

const MOST_SAMPLED: u32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineWord {
    /// Wrappers in a library that the loader loads first
    Preload,
    /// Patches of functions in memory as well
    Frida,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// The trace file
    pub(crate) file: PathBuf,

    /// A second trace file: both are shown, one above the other, aligned at a step. `}` and `{` go to the
    /// next and the previous step of both, `G` lists what changed
    #[arg(value_name = "OTHER")]
    pub(crate) other: Option<PathBuf>,

    /// With two files: the ranges or marks that are steps, as for `steps`
    #[arg(long, value_name = "PATTERN", requires = "other")]
    pub(crate) by: Option<String>,

    /// End with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
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
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Only this part of the recording, counted from its begin, such as 1.5ms..20ms. You may
    /// leave either end out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse)]
    pub(crate) range: Option<RelativeRange>,
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
pub(crate) struct CriticalArgs {
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Only this part of the recording, counted from its begin, such as 1.5ms..20ms; either
    /// end may be left out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse)]
    pub(crate) range: Option<RelativeRange>,

    /// Only this step; `ascend-trace steps` lists the names
    #[arg(long, value_name = "NAME", conflicts_with = "range")]
    pub(crate) step: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// What is changed, all together: 'op=MatMul x0.5', 'stream=3 wait=none', 'sync=DeviceSync->event',
    /// 'copy x0' or 'launch x0' [default: several changes are tried, each alone]
    #[arg(value_name = "CHANGE", value_parser = what_if::change)]
    pub(crate) changes: Vec<Word>,

    /// List blocking calls instead: what they waited for, and which narrower call would do
    #[arg(long, conflicts_with = "changes")]
    pub(crate) syncs: bool,
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
    /// The trace file; - is standard input
    #[arg(value_parser = trace_file(), required_unless_present = "list")]
    pub(crate) file: Option<PathBuf>,

    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// End with status 1 for findings of at least this severity, or of this check; may be given several times
    #[arg(long, value_name = "SEVERITY|CHECK", value_parser = deny(), hide_possible_values = true)]
    pub(crate) deny: Vec<Deny>,

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

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The trace file; - is standard input
    #[arg(value_parser = trace_file())]
    pub(crate) file: PathBuf,

    /// The format to write
    #[arg(long, value_enum)]
    pub(crate) format: FormatWord,

    /// The file or folder to write [default: named after the trace; - is standard output; a name
    /// that ends in .gz is compressed]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,

    /// Only this part of the recording, counted from its begin, such as 1.5ms..20ms. You may
    /// leave either end out
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse)]
    pub(crate) range: Option<RelativeRange>,

    /// Only calls and tasks that match. Of several values any one must match, of several --only all.
    /// Keys: device, stream, kind and name (of tasks), call, tid, process, pid, rank. Names may
    /// contain *
    #[arg(long, value_name = "KEY=VALUE[,VALUE]...")]
    pub(crate) only: Vec<String>,

    /// How many details the slices of chrome, perfetto and kineto have
    #[arg(long, value_enum, default_value_t, value_name = "AMOUNT")]
    pub(crate) args: ArgsWord,

    /// With --format kineto: use CUDA's names, such as cudaLaunchKernel and Memcpy HtoD. Some of its
    /// readers look for them
    #[arg(long)]
    pub(crate) cuda_names: bool,

    /// With --format chrome or perfetto: add a track with the critical path. With csv or parquet: fill
    /// the table critical
    #[arg(long)]
    pub(crate) critical: bool,

    /// With --format csv or parquet: fill the table steps as `ascend-trace steps` finds them, also where
    /// work only repeats
    #[arg(long)]
    pub(crate) steps: bool,

    /// The same with the ranges or marks that are steps, as --by of `ascend-trace steps`
    #[arg(long, value_name = "PATTERN")]
    pub(crate) steps_by: Option<String>,

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
    #[arg(long, value_name = "BEGIN..END", value_parser = range::parse)]
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
            file: self.file.clone(),
            format: FormatWord::Perfetto,
            output: None,
            range: self.range,
            only: self.only.clone(),
            args: ArgsWord::Full,
            cuda_names: false,
            critical: self.critical,
            steps: false,
            steps_by: None,
            force: false,
            strict: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArgsWord {
    /// All details
    #[default]
    Full,
    /// Devices, streams and bytes of tasks, errors, and the link from a call to its task
    Minimal,
    /// Nothing
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatWord {
    /// Chrome's JSON, for Perfetto and chrome://tracing
    Chrome,
    /// Perfetto's own format, smaller and with types
    Perfetto,
    /// A folder of JSON as PyTorch's profiler writes it, for the tools that read that
    Kineto,
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
    /// Check the bundled software runtime instead of an installed CANN, as `record --soft` would use it
    #[arg(
        long,
        value_name = "KEY=VALUE,..",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) soft: Option<String>,

    /// Run a program on a device. It measures how timing affects submitting and synchronising, and the
    /// duration of an event record [default device: 0]
    #[arg(
        long,
        value_name = "DEVICE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0"
    )]
    pub(crate) measure: Option<u32>,

    /// A program to check, after --
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

    /// Print the operators that the recorded program looked up and did not find
    #[arg(long, value_name = "FILE")]
    pub(crate) missing: Option<PathBuf>,
}

/// Puts the default command in: unless the first word is a command or asks for help, it is the
/// beginning of a recording.
pub(crate) fn with_default_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_command = words.get(first_word(&words)).is_none_or(|first| {
        let known = ["-h", "--help", "-V", "--version"].iter().chain(&COMMANDS);
        known.into_iter().any(|word| first == word)
    });
    if !is_command {
        words.insert(1, "record".into());
    }
    words
}

/// Where the first word is that is no option of all commands.
pub(crate) fn first_word(words: &[OsString]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        at += match word {
            "-q" | "--quiet" | "-v" | "--verbose" | "--no-config" => 1,
            "--color" | "--theme" | "--config" => 2,
            word if ["--color=", "--theme=", "--config="]
                .iter()
                .any(|it| word.starts_with(it)) =>
            {
                1
            }
            _ => return at,
        };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for options in [
            "--config c.toml",
            "--config=c.toml",
            "--no-config",
            "--theme dark -q",
        ] {
            let words = format!("{options} view x.atrace");
            assert!(matches!(parse(&words), Ok(Command::View(_))), "{words}");
        }
        assert!(parse("--no-config --config x view x.atrace").is_err());
    }

    #[test]
    fn options_of_all_commands_may_stand_anywhere() {
        for words in [
            "-q view x",
            "view -q x",
            "view x --quiet",
            "--color never -q view x",
        ] {
            let words = std::iter::once("ascend-trace").chain(words.split_whitespace());
            let words = with_default_command(words.map(OsString::from).collect());
            let words = Words::try_parse_from(words).unwrap();
            assert!(words.manner.quiet && matches!(words.command, Command::View(_)));
        }
        assert_eq!(record("-v ./app -q").app, ["./app", "-q"]);
    }

    #[test]
    fn the_help_of_the_command_has_the_options_of_a_recording() {
        let help = command().render_help().to_string();
        for option in [
            "--output", "--timing", "--soft", "--buffer", "--wait", "--no-tui",
        ] {
            assert!(help.contains(option), "{option} is not in {help}");
        }
        assert!(help.contains("help TOPIC"), "{help}");
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
