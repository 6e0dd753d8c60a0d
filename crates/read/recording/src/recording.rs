//! A trace file of any size: opened by its index, read where it is looked at.
//!
//! A [`Recording`] knows the things of a recording, what its lanes did in sum, its clocks and its
//! counts. [`Recording::window`] reads a range of time into a [`Trace`]; [`Recording::summary`] sums
//! lanes up over any range. Neither takes more memory for a longer file. Ids of processes, threads,
//! streams, contexts and functions are the same in every window; those of calls, tasks and events
//! that are mentioned only there belong to the window.

mod clocks;
mod counts;
mod deferred_rows;
mod entries;
mod find;
mod graphs;
mod lanes;
mod layout;
mod losses;
mod open;
mod parts;
mod replay;
mod times_ahead;
mod window;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::TimeRange;
use crate::file::{Budget, FileParts, JoinedFiles, LostContent, OpenError, Warning};
use crate::load::TraceBuilder;
use crate::stacks::Symbols;
use crate::trace::Trace;

use clocks::DeviceClocks;
use layout::Layout;

pub use counts::FileCounts;
pub use find::{SearchDirection, SearchResult};
pub use graphs::GraphCalls;
pub use lanes::Summary;
pub use parts::LoadedPart;
pub use replay::{KeptCalls, Replay};
pub use window::WindowError;

/// A trace file, read where it is looked at.
#[derive(Debug)]
pub struct Recording {
    parts: FileParts,
    layout: Layout,
    /// The things, the clocks and the counts; no calls.
    builder: TraceBuilder,
    clocks: DeviceClocks,
    span: Option<TimeRange>,
    warnings: Vec<Warning>,
    /// Where the losses are known up to.
    losses_until: u64,
    /// Whether a recorder still writes the file, as the caller knows.
    growing: bool,
    /// Times that were counted one by one, and how far the file was known then.
    counted: Option<(u64, FileCounts)>,
}

impl Recording {
    /// Opens a file by its index. Parts without an index are read and summed up, which takes a while
    /// for a long file; `progress` gets the number of finished bytes, and stops the reading by
    /// returning false.
    pub fn open(
        path: impl AsRef<Path>,
        mut progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<Self, OpenError> {
        Self::from_parts(FileParts::new(File::open(path)?)?, &mut progress)
    }

    /// As [`Recording::open`], for several files of one recording (`--roll`), in any order. A file that still grows is read up to its
    /// present end.
    ///
    /// # Errors
    /// Also when they are not of one recording, or one between them is missing.
    pub fn open_parts(
        paths: &[PathBuf],
        mut progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<Self, OpenError> {
        Self::from_parts(FileParts::new(JoinedFiles::open(paths)?)?, &mut progress)
    }

    /// As [`Recording::open`], for a file that is in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, OpenError> {
        Self::from_parts(FileParts::new(bytes)?, &mut |_, _| true)
    }

    fn from_parts(
        parts: FileParts,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<Self, OpenError> {
        let mut recording = Self {
            parts,
            layout: Layout::new(),
            builder: TraceBuilder::default(),
            clocks: DeviceClocks::default(),
            span: None,
            warnings: Vec::new(),
            losses_until: 0,
            growing: false,
            counted: None,
        };
        recording.advance(progress)?;
        Ok(recording)
    }

    /// Reads the new part of the file. Returns whether it had one.
    pub fn poll(&mut self) -> Result<bool, OpenError> {
        self.advance(&mut |_, _| true)
    }

    /// Takes the file as final: calls that were under way when it was last written to are calls that did
    /// not return, instead of [`Trace::open_calls`].
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn close(&mut self) -> Result<(), OpenError> {
        self.layout.close(&self.parts, &mut self.builder)?;
        self.refresh();
        Ok(())
    }

    fn advance(&mut self, progress: &mut dyn FnMut(u64, u64) -> bool) -> Result<bool, OpenError> {
        if self.parts.length()? < self.layout.position() {
            return Err(OpenError::Shrunk);
        }
        let before = self.layout.position();
        let news =
            self.layout
                .advance(&self.parts, &mut self.builder, &mut self.warnings, progress)?;
        if self.layout.position() == before && !news {
            return Ok(false);
        }
        self.note_losses()?;
        self.warn(Vec::new());
        self.refresh();
        Ok(true)
    }

    /// Updates the data derived from the groups.
    fn refresh(&mut self) {
        self.clocks.extend(&self.layout);
        let totals = self.layout.totals();
        counts::name_lanes(&totals, &mut self.builder);
        let (clocks, figures) = self.clocks.fixed(&totals, &mut self.builder);
        self.builder.set_clocks(clocks.into_iter(), figures);
        self.builder.set_figures(totals.losses, totals.counters);
        self.builder.settle();
        let open = self.builder.trace().open_calls().iter();
        let open = open.map(|call| Some(call.range()));
        let whole = self.whole_span(totals.call_span);
        let span = TimeRange::around(open.chain([whole]));
        self.span = span.map(|span| self.entities().session().kept_span(span));
    }

    /// Sets the source of symbols. Files are read at the first query of a call site.
    pub fn set_symbols(&mut self, symbols: Arc<dyn Symbols>) {
        self.builder.set_symbols(symbols, false);
    }

    /// The same for readers who must not wait: they only get call sites that [`Self::find_call_sites`]
    /// has found.
    pub fn set_symbols_ahead(&mut self, symbols: Arc<dyn Symbols>) {
        self.builder.set_symbols(symbols, true);
    }

    /// Finds the call sites of all stacks until now.
    pub fn find_call_sites(&self) {
        self.entities().find_call_sites();
    }

    /// The things of the recording, as a trace without calls and tasks.
    pub fn entities(&self) -> &Trace {
        self.builder.trace()
    }

    /// Begin and end of everything in the file.
    pub fn span(&self) -> Option<TimeRange> {
        self.span
    }

    /// From when on [`Recording::entities`] may lack ranges that the program named, because there are too
    /// many; windows have them.
    pub fn ranges_until(&self) -> Option<i64> {
        self.layout.left().first_range()
    }

    /// Calls and task times in the file.
    pub fn rows(&self) -> u64 {
        self.layout.rows()
    }

    /// Bytes of the file that have been taken in.
    pub fn position(&self) -> u64 {
        self.layout.position()
    }

    /// Whether the recording ended properly and all of it is known.
    pub fn complete(&self) -> bool {
        self.layout.ended()
    }

    /// Damage that was found until now.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn warn(&mut self, warnings: Vec<Warning>) {
        self.warnings.extend(warnings);
        self.warnings.sort_by_key(|warning| warning.offset);
        self.warnings.dedup();
        if !self.warnings.is_empty() {
            self.builder.set_damaged();
        }
    }

    /// Looks for damage in the whole file, which is read through for that. The result is among the
    /// warnings.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn check(&mut self) -> Result<(), OpenError> {
        let all = (layout::HEADER, self.parts.length()?);
        let nothing = |_| false;
        let mut budget = Budget::unlimited();
        let warnings = self.parts.range(all, nothing, &mut budget, &mut |_| {})?;
        self.warn(warnings);
        Ok(())
    }

    /// Sets whether a recorder still writes the file. Nothing is missing at the end of such a file.
    pub fn set_growing(&mut self, growing: bool) {
        self.growing = growing;
    }

    /// Whether a recorder still writes the file, and the end is not known.
    pub fn is_growing(&self) -> bool {
        self.growing && !self.complete()
    }

    /// Missing parts when no more bytes will arrive, damage included.
    pub fn final_warnings(&self) -> Vec<Warning> {
        let missing = match self.is_growing() {
            true => vec![Warning {
                offset: self.position(),
                lost: LostContent::Rest,
            }],
            false => self.layout.missing(self.parts.length().unwrap_or(0)),
        };
        self.warnings.iter().cloned().chain(missing).collect()
    }
}
