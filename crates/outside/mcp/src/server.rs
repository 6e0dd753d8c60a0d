//! The tools of the server.

use std::ffi::OsString;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};

use crate::command::{CommandOutput, Commands};
use crate::folder::Folder;
use crate::requests::{
    ChangeRequest, CriticalRequest, DiffRequest, FileRequest, NamesRequest, PartRequest,
    SourceRequest, SqlRequest, StepsRequest, TimelineRequest,
};
use crate::timeline::{self, LineRange};
use crate::tool_result::{of_command, of_text, refusal};
use crate::{recordings, source};

/// Bytes of the tables of a timeline.
const MOST_TABLES: u64 = 48 << 20;

/// The advice after a result that was cut.
const SHORTER: &str = "Ask about a shorter part, with `range`.";

/// The server of one client.
#[derive(Clone)]
pub(crate) struct TraceServer {
    folder: Folder,
    commands: Commands,
}

impl TraceServer {
    pub(crate) fn new(folder: Folder, commands: Commands) -> Self {
        Self { folder, commands }
    }

    /// The result of a command about files of the folder.
    async fn ask(
        &self,
        words: &[&str],
        files: &[&str],
        options: &[(&str, Option<&str>)],
        how_to_ask: &str,
    ) -> CallToolResult {
        let words = self.words(words, files, options);
        self.shown(words, how_to_ask).await
    }

    /// The same with further words after the files.
    async fn ask_with(
        &self,
        words: &[&str],
        file: &str,
        more: impl IntoIterator<Item = String>,
        how_to_ask: &str,
    ) -> CallToolResult {
        let words = self.words(words, &[file], &[]).map(|mut words| {
            words.extend(more.into_iter().map(OsString::from));
            words
        });
        self.shown(words, how_to_ask).await
    }

    async fn shown(
        &self,
        words: Result<Vec<OsString>, String>,
        how_to_ask: &str,
    ) -> CallToolResult {
        match self.output(words).await {
            Ok(output) => of_command(output, how_to_ask),
            Err(error) => refusal(error),
        }
    }

    async fn output(&self, words: Result<Vec<OsString>, String>) -> Result<CommandOutput, String> {
        self.commands.run(words?).await
    }

    /// The words of a command. A value from the client is never taken for an option.
    fn words(
        &self,
        words: &[&str],
        files: &[&str],
        options: &[(&str, Option<&str>)],
    ) -> Result<Vec<OsString>, String> {
        let mut all: Vec<OsString> = words.iter().map(OsString::from).collect();
        let given = options
            .iter()
            .filter_map(|(name, value)| Some((name, (*value)?)));
        all.extend(given.map(|(name, value)| format!("{name}={value}").into()));
        all.push("--".into());
        for file in files {
            all.push(self.folder.file(file)?.into());
        }
        Ok(all)
    }

    async fn timeline_of(&self, request: &TimelineRequest) -> Result<String, String> {
        let folder = tempfile::tempdir().map_err(|error| {
            format!("cannot make a temporary folder: {error}; TMPDIR names another place")
        })?;
        let tables = folder.path().join("tables");
        let output = tables.display().to_string();
        let options = [
            ("--format", Some("csv")),
            ("--output", Some(&*output)),
            ("--range", request.range.as_deref()),
        ];
        let words = self.words(&["export"], &[&request.file], &options)?;
        let limit = (tables.as_path(), MOST_TABLES);
        let made = self.commands.run_within(words, limit).await?;
        if !tables.is_dir() {
            return Err(made.notes);
        }
        let lines = LineRange::new(request.skip, request.limit);
        timeline::of_tables(&tables, lines)
    }

    async fn source_of(&self, request: &SourceRequest) -> Result<String, String> {
        for report in ["check", "stats"] {
            let words = self.words(&[report, "--json"], &[&request.file], &[])?;
            let output = self.commands.run(words).await?;
            let document = serde_json::from_str(&output.text).unwrap_or_default();
            if let Some(place) = source::named(&document, &request.site) {
                return source::around(&place);
            }
        }
        Err(format!(
            "{} is no call site that check or stats of this recording names; call sites need a recording with --stacks",
            request.site
        ))
    }
}

/// A result, or the reason for none.
fn text_or_refusal(result: Result<String, String>) -> CallToolResult {
    match result {
        Ok(text) => of_text(text),
        Err(error) => refusal(error),
    }
}

#[tool_router]
impl TraceServer {
    /// Lists the recordings (trace files) that can be asked about, the newest first.
    #[tool]
    async fn recordings(&self) -> CallToolResult {
        of_text(recordings::list(&self.folder))
    }

    /// The content of a recording: program, processes and ranks, devices, streams, counts, losses, how tasks were timed and
    /// what that cost. Begin with it: numbers of an incomplete recording are of a part only.
    #[tool]
    async fn overview(&self, Parameters(request): Parameters<FileRequest>) -> CallToolResult {
        self.ask(&["info"], &[&request.file], &[], "").await
    }

    /// The operations, functions and streams that take the most time: tables with the spread of durations, causes of idle
    /// time, the longest stalls, threads and devices. Times have their errors (±).
    #[tool]
    async fn slowest(&self, Parameters(request): Parameters<PartRequest>) -> CallToolResult {
        let range = [("--range", request.range.as_deref())];
        self.ask(&["stats"], &[&request.file], &range, SHORTER)
            .await
    }

    /// Why streams were idle and threads waited: per stream and thread the idle time by cause, and the longest stalls with
    /// the chain of waits to the root cause. Who waits is not who is to blame: look at the root.
    #[tool]
    async fn why_idle(&self, Parameters(request): Parameters<PartRequest>) -> CallToolResult {
        let range = [("--range", request.range.as_deref())];
        let words = self.words(&["stats", "--json"], &[&request.file], &range);
        match self.output(words).await {
            Ok(mut output) => {
                if let Some(text) = idle_part(&output.text) {
                    output.text = text;
                }
                of_command(output, SHORTER)
            }
            Err(error) => refusal(error),
        }
    }

    /// Memory: the peak of each device and process, its composition and the memory at the end by call site, the peak of each step,
    /// and failed allocations with the largest holders of memory.
    #[tool]
    async fn memory(&self, Parameters(request): Parameters<FileRequest>) -> CallToolResult {
        self.ask(&["stats", "--memory"], &[&request.file], &[], "")
            .await
    }

    /// Collectives and messages between ranks: sizes, waits for the last rank with its number, transfer, bandwidth. It needs a
    /// recording of all ranks.
    #[tool]
    async fn communication(&self, Parameters(request): Parameters<PartRequest>) -> CallToolResult {
        let range = [("--range", request.range.as_deref())];
        self.ask(
            &["stats", "--communication"],
            &[&request.file],
            &range,
            SHORTER,
        )
        .await
    }

    /// The steps of a training or serving loop: their durations, parts (computing, communication, loading, idle), and why
    /// the slowest was slow.
    #[tool]
    async fn steps(&self, Parameters(request): Parameters<StepsRequest>) -> CallToolResult {
        let by = [("--by", request.by.as_deref())];
        self.ask(&["steps"], &[&request.file], &by, "").await
    }

    /// The requests of a server: time to the first token split into queue, host and device, and time for each further token, by
    /// request and as percentiles.
    #[tool]
    async fn requests(&self, Parameters(request): Parameters<NamesRequest>) -> CallToolResult {
        let names = [("--names", request.names.as_deref())];
        self.ask(&["requests"], &[&request.file], &names, "").await
    }

    /// The critical path: the chain of tasks and calls that the end of the recording, of a range or of a step waited for. Only
    /// changes on it can shorten the whole.
    #[tool]
    async fn critical(&self, Parameters(request): Parameters<CriticalRequest>) -> CallToolResult {
        let options = [
            ("--range", request.range.as_deref()),
            ("--step", request.step.as_deref()),
        ];
        self.ask(&["critical"], &[&request.file], &options, SHORTER)
            .await
    }

    /// Predicts how long the program would take with a change, with an error; or tries several changes and ranks them, with
    /// what must hold for each.
    #[tool]
    async fn what_if(&self, Parameters(request): Parameters<ChangeRequest>) -> CallToolResult {
        self.ask_with(&["what-if"], &request.file, request.changes, "")
            .await
    }

    /// Mistakes of the program and what costs it time, each with its call sites and advice: races, use after free, leaks,
    /// waits that are not needed, small copies.
    #[tool]
    async fn check(&self, Parameters(request): Parameters<FileRequest>) -> CallToolResult {
        self.ask(&["check"], &[&request.file], &[], "").await
    }

    /// What changed from one recording to another, and whether that is more than the spread of steps.
    #[tool]
    async fn diff(&self, Parameters(request): Parameters<DiffRequest>) -> CallToolResult {
        let files = [&*request.before, &*request.after];
        self.ask(&["diff"], &files, &[], "").await
    }

    /// Why a program hangs or hung: what its threads and streams wait for, and what never came.
    #[tool]
    async fn why_hangs(&self, Parameters(request): Parameters<FileRequest>) -> CallToolResult {
        self.ask(&["why"], &[&request.file], &[], "").await
    }

    /// The tasks and idle times of a short range as text, a line each, in the order of their begins. Ask on with `skip`.
    #[tool]
    async fn timeline(&self, Parameters(request): Parameters<TimelineRequest>) -> CallToolResult {
        text_or_refusal(self.timeline_of(&request).await)
    }

    /// Runs a SQL query on the tables of a recording or of a dataset. Needs a command with the feature `query`.
    #[tool]
    async fn sql(&self, Parameters(request): Parameters<SqlRequest>) -> CallToolResult {
        self.ask_with(
            &["query"],
            &request.file,
            [request.query],
            "Ask with LIMIT.",
        )
        .await
    }

    /// The program's source around a call site that `check` or `slowest` shows.
    #[tool]
    async fn source(&self, Parameters(request): Parameters<SourceRequest>) -> CallToolResult {
        text_or_refusal(self.source_of(&request).await)
    }
}

#[tool_handler(
    name = "ascend-trace",
    instructions = "Recordings of programs on Ascend NPUs. Begin with `recordings` and `overview`, then `steps` or `slowest`. \
        Ranges are times from the begin of the recording, such as 1.5ms..20ms. A time after ± is an error: a difference \
        that is smaller than it says nothing."
)]
impl ServerHandler for TraceServer {}

/// The parts of a document of `stats` that are about idle time.
fn idle_part(document: &str) -> Option<String> {
    let mut document: serde_json::Value = serde_json::from_str(document).ok()?;
    let fields = document.as_object_mut()?;
    fields.retain(|name, _| IDLE_PARTS.contains(&name.as_str()));
    serde_json::to_string_pretty(fields).ok()
}

/// Fields of a document of `stats`.
const IDLE_PARTS: [&str; 5] = [
    "complete",
    "lost",
    "streams",
    "stall_causes",
    "worst_stalls",
];
