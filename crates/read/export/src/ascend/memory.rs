//! Device memory of a rank: `operator_memory.csv` has each allocation, `memory_record.csv` the memory in use after each
//! change.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ascend_trace_analysis::memory::{
    MemoryChange, MemoryChangeKind, MemoryChanges, MemoryKey, MemoryPlace,
};
use ascend_trace_recording::Trace;
use rustc_hash::FxHashMap;

use super::operands::UNKNOWN;
use super::timing::{ClockOffsets, micros};
use crate::ExportSource;

const ALLOCATIONS: &str = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),\
    Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),\
    Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type";

const RECORDS: &str = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type";

/// The readers' word for the memory of a process as a whole.
pub(super) const COMPONENT: &str = "APP";

/// An allocation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Allocation {
    /// The function that made it.
    pub(super) name: String,
    pub(super) device: u8,
    pub(super) size: u64,
    pub(super) begin: i64,
    /// The memory in use after it.
    pub(super) total: u64,
    /// When it was freed, and the memory in use after that.
    pub(super) released: Option<(i64, u64)>,
}

/// The memory in use from a time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemoryRecord {
    pub(super) at: i64,
    pub(super) device: u8,
    pub(super) total: u64,
}

/// The memory of the devices of a rank.
#[derive(Debug, Default)]
pub(super) struct RankMemory {
    changes: MemoryChanges,
    live: FxHashMap<MemoryKey, Allocation>,
    in_use: BTreeMap<u8, u64>,
}

impl RankMemory {
    /// The allocations that were freed in a part, and the records of it.
    pub(super) fn take(
        &mut self,
        source: &ExportSource<'_>,
    ) -> (Vec<Allocation>, Vec<MemoryRecord>) {
        let (mut freed, mut records) = (Vec::new(), Vec::new());
        for change in self.changes.of_window(source) {
            if source.selection.process(change.site.process) {
                self.change(source.trace, &change, (&mut freed, &mut records));
            }
        }
        let selection = &source.selection;
        freed.retain(|it| {
            let end = it.released.map_or(i64::MAX, |it| it.0);
            selection.span(it.begin, end)
        });
        records.retain(|it| selection.span(it.at, it.at));
        (freed, records)
    }

    fn change(
        &mut self,
        trace: &Trace,
        change: &MemoryChange,
        (freed, records): (&mut Vec<Allocation>, &mut Vec<MemoryRecord>),
    ) {
        let at = change.at;
        let ended = match change.kind {
            MemoryChangeKind::Allocated { .. } | MemoryChangeKind::Freed => {
                self.live.remove(&change.key())
            }
            MemoryChangeKind::Refused { .. } => None,
        };
        if let Some(mut allocation) = ended {
            let total = self.in_use.entry(allocation.device).or_default();
            *total = total.saturating_sub(allocation.size);
            allocation.released = Some((at, *total));
            let (device, total) = (allocation.device, *total);
            records.push(MemoryRecord { at, device, total });
            freed.push(allocation);
        }
        let MemoryChangeKind::Allocated {
            place: Some(MemoryPlace::Device(device)),
            size: Some(size),
        } = change.kind
        else {
            return;
        };
        let total = self.in_use.entry(device).or_default();
        *total = total.saturating_add(size);
        let total = *total;
        records.push(MemoryRecord { at, device, total });
        let function = trace.function(change.site.function);
        let allocation = Allocation {
            name: function.name.clone(),
            device,
            size,
            begin: at,
            total,
            released: None,
        };
        self.live.insert(change.key(), allocation);
    }

    /// The allocations that were never freed, by their begin.
    pub(super) fn rest(&mut self, source: &ExportSource<'_>) -> Vec<Allocation> {
        let rest = self.live.drain().map(|(_, it)| it);
        let mut rest: Vec<Allocation> = rest
            .filter(|it| source.selection.span(it.begin, i64::MAX))
            .collect();
        rest.sort_by_key(|it| (it.begin, it.total));
        rest
    }
}

/// The two files.
pub(super) struct MemoryFiles<'w> {
    allocations: io::BufWriter<Box<dyn Write + 'w>>,
    records: io::BufWriter<Box<dyn Write + 'w>>,
    offsets: ClockOffsets,
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

impl<'w> MemoryFiles<'w> {
    pub(super) fn new(
        allocations: Box<dyn Write + 'w>,
        records: Box<dyn Write + 'w>,
        offsets: ClockOffsets,
    ) -> io::Result<Self> {
        let mut files = Self {
            allocations: io::BufWriter::new(allocations),
            records: io::BufWriter::new(records),
            offsets,
        };
        writeln!(files.allocations, "{ALLOCATIONS}")?;
        writeln!(files.records, "{RECORDS}")?;
        Ok(files)
    }

    pub(super) fn write(
        &mut self,
        allocations: &[Allocation],
        records: &[MemoryRecord],
    ) -> io::Result<()> {
        for it in allocations {
            let (released, lasted, total) = match it.released {
                Some((end, total)) => (
                    self.offsets.micros(end),
                    micros(end - it.begin),
                    megabytes(total).to_string(),
                ),
                None => (String::new(), String::new(), UNKNOWN.to_owned()),
            };
            let kilobytes = it.size as f64 / 1024.0;
            let (begin, before) = (self.offsets.micros(it.begin), megabytes(it.total));
            writeln!(
                self.allocations,
                "{},{kilobytes},{begin},{released},,{lasted},,{UNKNOWN},{before},{UNKNOWN},{UNKNOWN},{total},{UNKNOWN},{UNKNOWN},NPU:{}",
                it.name, it.device
            )?;
        }
        for it in records {
            let (at, total) = (self.offsets.micros(it.at), megabytes(it.total));
            writeln!(
                self.records,
                "{COMPONENT},{at},{UNKNOWN},{total},{UNKNOWN},{UNKNOWN},NPU:{}",
                it.device
            )?;
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.allocations.flush()?;
        self.records.flush()
    }
}
