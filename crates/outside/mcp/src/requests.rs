//! The parameters of the tools.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct FileRequest {
    /// The trace file, as `recordings` lists it.
    pub(crate) file: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PartRequest {
    /// The trace file, as `recordings` lists it.
    pub(crate) file: String,
    /// Only this part: `1.5ms..20ms` from the begin of the recording, `-30s..` for its end, or `step 10..12`.
    pub(crate) range: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct StepsRequest {
    /// The trace file, as `recordings` lists it.
    pub(crate) file: String,
    /// The names of ranges or marks that are steps: `*` matches any text. Without it, ranges with names of steps, else work
    /// that repeats.
    pub(crate) by: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct NamesRequest {
    /// The trace file, as `recordings` lists it.
    pub(crate) file: String,
    /// The names of ranges and marks of requests, such as `{phase}: {id} n={tokens}`: `*` matches any text. Without it, the usual
    /// names of servers.
    pub(crate) names: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct CriticalRequest {
    /// The trace file, as `recordings` lists it.
    pub(crate) file: String,
    /// Only this part: `1.5ms..20ms`, `-30s..` or `step 10..12`.
    pub(crate) range: Option<String>,
    /// Only the step with this name, instead of a range.
    pub(crate) step: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ChangeRequest {
    /// The trace file, as `recordings` lists it.
    pub(crate) file: String,
    /// The changes, all together: `op=MatMul x0.5` (an operation takes half as long), `stream=3 wait=none`,
    /// `sync=DeviceSync->event`, `copy x0`, `launch x0`. Without changes, several are tried, each alone.
    #[serde(default)]
    pub(crate) changes: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct DiffRequest {
    /// The trace file to compare with.
    pub(crate) before: String,
    /// The trace file that has changed.
    pub(crate) after: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct TimelineRequest {
    /// The trace file, as `recordings` lists it.
    pub(crate) file: String,
    /// The part, such as `1.5ms..20ms`, `-10ms..` or `step 10`. Without it, all of a short recording.
    pub(crate) range: Option<String>,
    /// The most lines; 100 if it is left out, and at most 500.
    pub(crate) limit: Option<usize>,
    /// The number of lines to leave out: those of an earlier result.
    pub(crate) skip: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SqlRequest {
    /// The trace file, as `recordings` lists it, or the folder of a dataset.
    pub(crate) file: String,
    /// A query that reads, such as `SELECT name, count(*) FROM tasks GROUP BY name`. The tables are those of the Parquet
    /// export: tasks, calls, stalls, steps, ranges, memory and others.
    pub(crate) query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SourceRequest {
    /// The trace file, as `recordings` lists it.
    pub(crate) file: String,
    /// A call site of this recording as `check` or `stats` show it, such as `train.c:120`.
    pub(crate) site: String,
}
