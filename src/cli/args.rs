//! The words of the command line, without their effects.

mod attach;
mod export;
mod filters;
mod program;
mod record;
mod reports;
mod ring;
mod roll;
mod serve;
mod setup;
mod window;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use super::dataset::DatasetArgs;
use super::install::{CompletionsArgs, ManArgs};
use super::query::QueryArgs;
use super::topics::TOPICS;

pub(crate) use attach::{ArmArgs, AttachArgs, DetachArgs};
pub(crate) use export::{ArgDetailArg, ExportArgs, FormatArg, OpenArgs};
pub(crate) use record::{DemoArgs, EngineArg, MetricsArgs, OutputArgs, OutputFileArgs, RecordArgs};
pub(crate) use reports::{
    CheckArgs, CriticalArgs, CtlArgs, DiffArgs, FileReportArgs, MergeArgs, ReportArgs,
    ReportPageArgs, RequestsArgs, StatsArgs, StepsArgs, ViewArgs, WhatIfArgs, WhyArgs,
};
pub(crate) use ring::RingArgs;
pub(crate) use roll::RollArgs;
pub(crate) use serve::{EnvArgs, ServeArgs};
pub(crate) use setup::{DoctorArgs, HooksArgs, McpArgs, SchemaArgs, SoftArgs};

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
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) manner: VerbosityArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How much is said, and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct VerbosityArgs {
    /// Print only what went wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print more details of the work
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// Colours of the view and of help
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorArg::Auto)]
    pub(crate) color: ColorArg,

    /// Colours for a dark or light terminal; auto asks the terminal
    #[arg(long, global = true, value_name = "GROUND", value_enum, default_value_t = ThemeArg::Auto)]
    pub(crate) theme: ThemeArg,

    /// The view's configuration [default: ascend-trace/config.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Use no configuration of the view
    #[arg(long, global = true, conflicts_with = "config")]
    pub(crate) no_config: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeArg {
    /// What the terminal reports, else COLORFGBG, else dark
    Auto,
    /// Light text on a dark ground
    Dark,
    /// Dark text on a light ground
    Light,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// By the terminal and NO_COLOR
    Auto,
    /// Even where NO_COLOR is set
    Always,
    /// None
    Never,
}

/// The definition of the command line. Its help has the options of a recording, which need no command.
pub(crate) fn command() -> clap::Command {
    let command = CommandLine::command();
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
    let command = RecordArgs::augment_args(CommandLine::command());
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

/// Meaning of `-` in place of a trace file.
pub(crate) const STDIN: &str = "/dev/stdin";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program and record it (the default command)
    Record(RecordArgs),
    /// Start a program that `attach` can record later
    Arm(ArmArgs),
    /// Record a program that `arm` has started, from now on
    Attach(AttachArgs),
    /// End the recording of `attach`; the program runs on
    Detach(DetachArgs),
    /// Record all programs of this host that `env` starts, until the recording is ended
    Serve(ServeArgs),
    /// Start a program that a server records, or print the environment of such programs
    Env(EnvArgs),
    /// Show a trace as a timeline, also during the recording, or two of them aligned
    View(ViewArgs),
    /// Write a trace in another format
    Export(ExportArgs),
    /// Write a report on a trace as one HTML file, which needs no network
    Report(ReportPageArgs),
    /// Show a trace in Perfetto's UI, in a browser
    Open(OpenArgs),
    /// Collect recordings as Parquet tables in one folder, for queries over all of them
    Dataset(DatasetArgs),
    /// Ask a dataset or a trace file by SQL, or one of the questions that come with the tool
    Query(QueryArgs),
    /// Serve the recordings of a folder to an assistant, by the Model Context Protocol
    Mcp(McpArgs),
    /// Put the recordings of the ranks of a job into one trace, on one clock
    Merge(MergeArgs),
    /// Print tables per operation, stream and API function: counts and durations
    Stats(StatsArgs),
    /// Print the steps of a training loop, and why the slowest was slow
    Steps(StepsArgs),
    /// Print the requests of a server: time to the first token, its parts, and tokens in a second
    Requests(RequestsArgs),
    /// Print the critical path: what the end of the recording waited for
    Critical(CriticalArgs),
    /// Predict how long the program would take with a change, or try changes
    WhatIf(WhatIfArgs),
    /// Print what changed from one recording to another, and whether that is more than the spread of steps
    Diff(DiffArgs),
    /// Print why a program hangs: what its threads and streams wait for, and what never came
    Why(WhyArgs),
    /// Control recordings that are running: pause, resume, stop, mark
    Ctl(CtlArgs),
    /// Report mistakes of the program, and what costs it time
    Check(CheckArgs),
    /// Print what a trace contains: processes, devices, streams, counts, losses, clocks
    Info(ReportArgs),
    /// List every intercepted function, and what is decoded of its calls
    Hooks(HooksArgs),
    /// Print the JSON Schema of a document of `--json`, or the names of all documents
    Schema(SchemaArgs),
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

/// The names of commands as the first word.
pub(crate) const COMMANDS: [&str; 32] = [
    "record",
    "arm",
    "attach",
    "detach",
    "serve",
    "env",
    "view",
    "export",
    "report",
    "open",
    "dataset",
    "query",
    "mcp",
    "merge",
    "stats",
    "steps",
    "requests",
    "critical",
    "what-if",
    "diff",
    "why",
    "ctl",
    "check",
    "info",
    "hooks",
    "schema",
    "doctor",
    "demo",
    "soft",
    "completions",
    "man",
    "help",
];

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
    use ascend_trace_format::session::Timing;

    use super::*;

    fn parse(words: &str) -> Result<Command, clap::Error> {
        let words = std::iter::once("ascend-trace").chain(words.split_whitespace());
        let words = with_default_command(words.map(OsString::from).collect());
        CommandLine::try_parse_from(words).map(|words| words.command)
    }

    fn record(words: &str) -> RecordArgs {
        match parse(words) {
            Ok(Command::Record(args)) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definition_is_consistent_and_names_every_command() {
        let command = CommandLine::command();
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
        assert_eq!(args.recorder.capture.timing, Timing::Off);
        let sampled = record("--timing sample=8 ./app").recorder.capture.timing;
        assert_eq!(sampled, Timing::Sample(8));
        assert_eq!(
            args.app,
            ["./app", "--timing", "events", "-o", "x", "--", "--tui"]
        );
        assert!(args.output.file.output.is_none() && !args.output.tui);
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
            let words = CommandLine::try_parse_from(words).unwrap();
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
        assert_eq!(record("--soft ./app").program.soft.as_deref(), Some(""));
        assert_eq!(
            record("--soft=devices=4,strict ./app")
                .program
                .soft
                .as_deref(),
            Some("devices=4,strict")
        );
        assert_eq!(record("./app --soft").program.soft, None);
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
