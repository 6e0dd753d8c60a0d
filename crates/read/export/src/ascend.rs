//! The folders that torch_npu's profiler writes, for the tools that read them: MindStudio Insight and msprof-analyze.
//!
//! A rank has a folder with a name that ends in `_ascend_pt`. Unknown values are `N/A` in tables, as in
//! the vendor's, and absent from documents. Times are microseconds of the wall clock: readers show the
//! folders of several ranks side by side.

mod analysis_database;
mod collectives;
mod communication;
mod dialect;
mod kernels;
mod memory;
mod names;
mod operands;
mod operator_states;
mod overlap;
mod probable;
mod profiler_database;
mod profiler_tables;
mod rank_database;
mod rank_files;
mod statistics;
mod step_times;
mod timing;
mod trace_view;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ascend_trace_analysis::communication::CollectiveRuns;
use ascend_trace_recording::{Process, Trace};

use crate::{ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout};
pub use rank_database::{RankDatabase, RankDatabases, RankTable, RankValue};
use rank_files::RankFiles;

/// What readers know the folders by.
const ENDING: &str = "_ascend_pt";

/// The exporter for `--format ascend`.
#[derive(Clone, Copy, Debug)]
pub struct Ascend {
    databases: Option<&'static dyn RankDatabases>,
}

impl Ascend {
    /// The folders without databases.
    pub const PLAIN: Self = Self { databases: None };

    /// The folders with the databases that this makes.
    pub const fn with_databases(databases: &'static dyn RankDatabases) -> Self {
        Self {
            databases: Some(databases),
        }
    }
}

impl Exporter for Ascend {
    fn name(&self) -> &'static str {
        "ascend"
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::Folders { ending: ENDING }
    }

    fn begin<'w>(
        &self,
        _: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        Ok(Box::new(RankFolders {
            databases: self.databases,
            runs: CollectiveRuns::default(),
            ranks: BTreeMap::new(),
        }))
    }
}

/// The folders of an export.
struct RankFolders<'w> {
    databases: Option<&'static dyn RankDatabases>,
    /// The collectives of all ranks.
    runs: CollectiveRuns,
    ranks: BTreeMap<u64, RankFiles<'w>>,
}

/// Processes without a rank belong to the first one.
fn rank(process: &Process) -> u64 {
    process.rank_number().unwrap_or(0)
}

impl<'w> ExportPass<'w> for RankFolders<'w> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        let trace = source.trace;
        let mut ranks: Vec<u64> = trace.processes().iter().map(rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        self.runs.take(source);
        for number in &ranks {
            let own = source.narrowed(|id| rank(trace.process(id)) == *number);
            if own.has_any() || self.ranks.contains_key(number) {
                self.rank_step(*number, &own, sink)?;
            }
        }
        // The result needs at least one file.
        if source.part.is_last && self.ranks.is_empty() {
            let none = source.narrowed(|_| false);
            self.rank_step(0, &none, sink)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
    }
}

impl<'w> RankFolders<'w> {
    /// Writes a part of a rank.
    fn rank_step(
        &mut self,
        number: u64,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        let files = match self.ranks.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let databases = self.databases;
                place.insert(RankFiles::new(number, source, sink, databases)?)
            }
        };
        Ok(files.step(source, &self.runs)?)
    }
}

/// The name of a rank's folder: host, process and time of the begin, as readers take it apart.
fn folder(trace: &Trace, number: u64) -> String {
    let session = trace.session();
    let plain = |it: char| {
        if it.is_ascii_alphanumeric() || "-.".contains(it) {
            it
        } else {
            '-'
        }
    };
    let host: String = session.host.chars().map(plain).collect();
    let host = if host.is_empty() {
        "host".to_owned()
    } else {
        host
    };
    let mut processes = trace.processes().iter();
    let pid = processes
        .find(|it| rank(it) == number)
        .map_or(0, |it| it.pid);
    let digits: String = session
        .start_time
        .chars()
        .filter(char::is_ascii_digit)
        .take(14)
        .collect();
    // The rank, too: one host has several, and names must differ.
    format!("{host}_{pid}_{digits:0<14}{:03}{ENDING}", number % 1000)
}
