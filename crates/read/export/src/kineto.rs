//! Trace events as Kineto, PyTorch's profiler, writes them, for the tools that read its files.
//!
//! The events are those of the Chrome export, by names and categories that these tools look for
//! ([`dialect`]), in a file for each rank, which names the rank before its events. Readers take a
//! device's number for the pid, a `stream` argument for work of a device, and an equal `correlation`
//! for a call and its task.

mod cuda;
mod dialect;
mod memory;
mod operators;
mod steps;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;

use ascend_trace_recording::Process;

use crate::base_time::BaseTime;
use crate::chrome::EventOutput;
use crate::timeline::TimelineFile;
use crate::{
    ArgDetail, ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout, open,
    rank_file,
};
use dialect::KinetoDialect as Dialect;
use memory::BlockMarks;

/// What calls and tasks are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventNames {
    /// As in all other formats.
    #[default]
    Own,
    /// As CUDA's, where there is such a thing: some questions of readers are about those names.
    Cuda,
}

/// The exporter for `--format kineto`.
#[derive(Clone, Copy, Debug)]
pub struct Kineto {
    names: EventNames,
}

impl Kineto {
    pub const OWN: Self = Self {
        names: EventNames::Own,
    };
    pub const CUDA: Self = Self {
        names: EventNames::Cuda,
    };
}

/// What readers know such files by.
const ENDING: &str = ".pt.trace.json";

impl Exporter for Kineto {
    fn name(&self) -> &'static str {
        "kineto"
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::Ranks { ending: ENDING }
    }

    fn begin<'w>(
        &self,
        _: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        Ok(Box::new(KinetoFiles {
            names: self.names,
            files: BTreeMap::new(),
        }))
    }
}

/// The files of an export, by rank.
struct KinetoFiles<'w> {
    names: EventNames,
    files: BTreeMap<u64, RankFile<'w>>,
}

/// The file of a rank.
struct RankFile<'w> {
    timeline: TimelineFile<EventOutput<'w>, Dialect>,
    blocks: BlockMarks,
}

impl RankFile<'_> {
    fn step(&mut self, source: &ExportSource<'_>) -> io::Result<()> {
        self.timeline.write_part(source)?;
        self.blocks.write(source, &mut self.timeline)?;
        match source.part.is_last {
            true => self.timeline.finish(source),
            false => Ok(()),
        }
    }
}

/// Processes without a rank belong to the first one.
fn rank(process: &Process) -> u64 {
    process.rank_number().unwrap_or(0)
}

impl<'w> KinetoFiles<'w> {
    fn file(
        &mut self,
        rank: u64,
        base: Option<BaseTime>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<&mut RankFile<'w>, ExportError> {
        Ok(match self.files.entry(rank) {
            Entry::Occupied(file) => file.into_mut(),
            Entry::Vacant(place) => {
                let file = open(sink, &rank_file(rank, ENDING))?;
                // Readers search for the rank line by line, with a blank before the number.
                let mut head =
                    format!(",\"schemaVersion\":1,\"distributedInfo\":{{\"rank\": {rank}}}");
                if let Some(base) = base {
                    head += &format!(",\"baseTimeNanoseconds\":{}", base.at_ns);
                }
                let first = base.map_or(0, |base| base.first_ns);
                let output = EventOutput::object(file, &head).beginning_at(first);
                place.insert(RankFile {
                    timeline: TimelineFile::new(output, Dialect::new(self.names)),
                    blocks: BlockMarks::default(),
                })
            }
        })
    }
}

impl<'w> ExportPass<'w> for KinetoFiles<'w> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        let trace = source.trace;
        let base = BaseTime::of(source);
        let mut ranks: Vec<u64> = trace.processes().iter().map(rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        for own in &ranks {
            let mut source = source.narrowed(|id| rank(trace.process(id)) == *own);
            // Without their numbers nothing leads from a call to its task.
            if source.args == ArgDetail::None {
                source.args = ArgDetail::Minimal;
            }
            if source.has_any() || self.files.contains_key(own) {
                self.file(*own, base, sink)?.step(&source)?;
            }
        }
        // The result needs at least one file.
        if source.part.is_last && self.files.is_empty() {
            self.file(0, base, sink)?
                .step(&source.narrowed(|_| false))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
    }
}
