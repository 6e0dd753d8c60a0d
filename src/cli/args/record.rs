//! Options of `record`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use ascend_trace_format::session::Timing;
use ascend_trace_recording::units::parse_duration;

use super::filters::FilterArgs;
use super::program::ProgramArgs;
use super::ring::RingArgs;
use super::roll::RollArgs;
use super::window::WindowArgs;
use crate::cli::dataset::run_name;
use crate::metrics::{ListenAddress, MetricsOptions};
use crate::recorder::timing::{budget_of, timing_of};

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace [record] [OPTIONS] [--] APP [ARGS]...")]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) recorder: RecorderArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    /// Record until every process that APP started has ended, not only APP itself
    #[arg(long)]
    pub(crate) wait: bool,

    /// If the recorder is killed, start another one, which records into a further file (`app-2.atrace`). The whole run is
    /// recorded, without a live view
    #[arg(long)]
    pub(crate) respawn: bool,

    /// How calls are intercepted. `frida` needs a build with that feature, see `ascend-trace help engines`
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t = EngineArg::Preload)]
    pub(crate) engine: EngineArg,

    /// When the recording is complete, add it to the dataset in this folder or at this URL, as `ascend-trace
    /// dataset add` does
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) dataset: Option<PathBuf>,

    /// With --dataset: the value of the column run. Give the ranks of one job the same name
    #[arg(long, value_name = "NAME", requires = "dataset", value_parser = run_name)]
    pub(crate) dataset_run: Option<String>,

    #[command(flatten)]
    pub(crate) window: WindowArgs,

    /// The program to trace, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "APP [ARGS]")]
    pub(crate) app: Vec<OsString>,
}

/// Options of every command that records.
#[derive(Debug, Args)]
pub(crate) struct RecorderArgs {
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,

    #[command(flatten)]
    pub(crate) watchdog: WatchdogArgs,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) ring: RingArgs,

    #[command(flatten)]
    pub(crate) roll: RollArgs,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
}

/// How tasks are timed, and how much is recorded of a call.
#[derive(Debug, Args)]
pub(crate) struct CaptureArgs {
    /// How tasks are timed. `auto` selects for each stream by the durations of its tasks. `events` puts a
    /// pair of events around each task. `chained` leaves one out where a task begins when the one before
    /// it ends. `sample=N` times every N-th task of a stream. `hardware` reads the hardware log with msPTI
    /// and records no event. `both` does this as well as `events`. `off` makes no AscendCL call
    #[arg(long, value_name = "HOW", value_parser = timing_of, default_value = "auto")]
    pub(crate) timing: Timing,

    /// With `--timing auto`: the part of a stream's time that events may take, in percent. Tasks beyond it have
    /// no events. `off` sets no limit
    #[arg(long, value_name = "PERCENT", value_parser = budget, default_value = "2")]
    pub(crate) budget: Budget,

    /// Record the stack of each call, N frames at most: reports then name the lines that made the calls
    /// (`ascend-trace help stacks`)
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "32",
        value_parser = clap::value_parser!(u32).range(1..=100)
    )]
    pub(crate) stacks: Option<u32>,

    /// Memory for data that is not written yet, in MiB. Bursts beyond it are lost and counted
    #[arg(long, value_name = "MIB", default_value_t = 24, value_parser = clap::value_parser!(u32).range(4..=65536))]
    pub(crate) buffer: u32,
}

impl CaptureArgs {
    /// The memory for data that is not written yet.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.buffer as usize * (1 << 20)
    }
}

/// When a report on standstill is printed.
#[derive(Debug, Args)]
pub(crate) struct WatchdogArgs {
    /// When nothing has moved for this time, such as 30s, print on standard error the program's waits. They are
    /// printed once, and again when nothing moves after the program has continued
    #[arg(long, value_name = "DURATION", value_parser = watchdog)]
    pub(crate) watchdog: Option<Duration>,
}

/// The trace file.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputFileArgs {
    /// The trace file [default: ./APP-PID.atrace; - is standard output]. In its name, %p is APP's
    /// pid, %r its rank, %h the host, %q{NAME} a variable of the environment, %% a percent sign
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace the trace file if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub(crate) file: OutputFileArgs,

    /// Show the live timeline [default: when stdin and stdout are terminals]
    #[arg(long, overrides_with = "no_tui")]
    pub(crate) tui: bool,

    /// Show no live timeline, only a summary at the end
    #[arg(long, overrides_with = "tui")]
    pub(crate) no_tui: bool,
}

/// Options of the Prometheus endpoint.
#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// While the program is recorded, serve metrics for Prometheus at `http://ADDR/metrics`. ADDR is PORT
    /// or HOST:PORT. A port alone is one of 127.0.0.1; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    metrics: Option<ListenAddress>,

    /// With --metrics: clients must send the token in this file (`Authorization: Bearer`). Addresses that
    /// other hosts can reach need one
    #[arg(long, value_name = "FILE", requires = "metrics")]
    metrics_token: Option<PathBuf>,

    /// With --metrics: the time between two looks at the recording
    #[arg(
        long,
        value_name = "DURATION",
        requires = "metrics",
        value_parser = interval,
        default_value = "5s"
    )]
    metrics_interval: Duration,
}

impl MetricsArgs {
    /// Whether requests by HTTP can control the recording.
    pub(crate) fn takes_requests(&self) -> bool {
        self.metrics_token.is_some()
    }

    /// The requested endpoint.
    pub(crate) fn wanted(self) -> Option<MetricsOptions> {
        Some(MetricsOptions {
            place: self.metrics?,
            token: self.metrics_token,
            interval: self.metrics_interval,
        })
    }
}

/// The value of `--metrics-interval`. Shorter ones would take processor time from the program without a
/// use.
fn interval(text: &str) -> Result<Duration, String> {
    let ns = parse_duration(text).map_err(|why| format!("`{text}` {why}"))?;
    let interval = Duration::from_nanos(ns.max(0).unsigned_abs());
    match (SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(&interval) {
        true => Ok(interval),
        false => Err("an interval lasts from 1s to 1h".to_owned()),
    }
}

const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

/// The value of `--watchdog`. A pause of less than a second counts as progress.
fn watchdog(text: &str) -> Result<Duration, String> {
    let ns = parse_duration(text).map_err(|why| format!("`{text}` {why}"))?;
    let limit = Duration::from_nanos(ns.max(0).unsigned_abs());
    match limit >= SHORTEST_WATCH {
        true => Ok(limit),
        false => Err("a watchdog waits for a second or longer, such as 30s".to_owned()),
    }
}

const SHORTEST_WATCH: Duration = Duration::from_secs(1);

/// A part of the time, of `WHOLE_BUDGET`; 0 for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget(pub(crate) u32);

/// The value of `--budget`.
pub(super) fn budget(text: &str) -> Result<Budget, String> {
    budget_of(text).map(Budget)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// Wrappers in a library that the loader loads first
    Preload,
    /// Patches of functions in memory as well
    Frida,
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
