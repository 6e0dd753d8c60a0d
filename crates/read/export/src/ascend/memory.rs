//! Device memory of a rank: `operator_memory.csv` has each allocation, `memory_record.csv` the memory after each change.
//!
//! Where allocators of the program report their blocks, the blocks are the allocations. Memory of the runtime that an allocator has
//! split into blocks has no row as an allocation, so that no byte counts twice.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ascend_trace_analysis::memory::{
    MemoryChange, MemoryChangeKind, MemoryChanges, MemoryId, MemoryKey, MemoryPlace, PoolLevel,
    Pools,
};
use ascend_trace_recording::{ProcessId, Trace};
use rustc_hash::FxHashMap;

use super::operands::UNKNOWN;
use super::timing::{ClockOffsets, micros};
use crate::ExportSource;

const ALLOCATIONS: &str = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),\
    Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),\
    Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type";

const RECORDS: &str = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type";

/// An owner of memory, in the readers' words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryComponent {
    /// All memory that the process has of the runtime.
    Application,
    /// The caching allocator of PyTorch.
    Caching,
    /// Another allocator: that of workspaces, in PyTorch.
    Workspace,
}

impl MemoryComponent {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Application => "APP",
            Self::Caching => "PTA",
            Self::Workspace => "WORKSPACE",
        }
    }

    /// The component of blocks at a place.
    fn of_blocks(place: MemoryPlace) -> Option<Self> {
        match place {
            MemoryPlace::Cached(_) => Some(Self::Caching),
            MemoryPlace::Blocks(_) => Some(Self::Workspace),
            MemoryPlace::Device(_) | MemoryPlace::Pools(_) | MemoryPlace::Host => None,
        }
    }
}

/// The memory of a component in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemoryTotals {
    /// Given out as blocks. Of memory that the runtime gave out, this is not known.
    pub(super) allocated: Option<u64>,
    pub(super) reserved: u64,
}

/// An allocation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Allocation {
    /// The function that made it, or the allocator that gave it out.
    pub(super) name: String,
    pub(super) device: u8,
    pub(super) size: u64,
    pub(super) begin: i64,
    /// The memory of its component after it.
    pub(super) totals: MemoryTotals,
    /// When it was freed, and the memory of its component after that.
    pub(super) released: Option<(i64, MemoryTotals)>,
}

/// The memory of a component from a time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemoryRecord {
    pub(super) component: MemoryComponent,
    pub(super) at: i64,
    pub(super) device: u8,
    pub(super) totals: MemoryTotals,
}

/// The memory of the devices of a rank.
#[derive(Debug, Default)]
pub(super) struct RankMemory {
    changes: MemoryChanges,
    live: FxHashMap<MemoryKey, Allocation>,
    in_use: BTreeMap<u8, u64>,
    pools: BTreeMap<ProcessId, Pools>,
    /// The last level of each allocator.
    levels: BTreeMap<(MemoryPlace, ProcessId), PoolLevel>,
}

/// Allocations that ended, and records.
#[derive(Debug, Default)]
pub(super) struct MemoryRows {
    pub(super) allocations: Vec<Allocation>,
    pub(super) records: Vec<MemoryRecord>,
}

impl RankMemory {
    /// The allocations that were freed in a part, and the records of it.
    pub(super) fn take(&mut self, source: &ExportSource<'_>) -> MemoryRows {
        let mut rows = MemoryRows::default();
        for change in self.changes.of_window(source) {
            if source.selection.process(change.site.process) {
                self.change(source.trace, &change, &mut rows);
            }
        }
        let selection = &source.selection;
        rows.allocations.retain(|it| {
            let end = it.released.map_or(i64::MAX, |it| it.0);
            selection.span(it.begin, end)
        });
        rows.records.retain(|it| selection.span(it.at, it.at));
        rows
    }

    fn change(&mut self, trace: &Trace, change: &MemoryChange, rows: &mut MemoryRows) {
        let process = change.site.process;
        let level = self.pools.entry(process).or_default().take(change);
        let totals = level.and_then(|level| self.level(change, level, rows));
        match change.id {
            MemoryId::Block(_) => self.block(change, totals, rows),
            MemoryId::Address(_) | MemoryId::Physical(_) => {
                self.memory(trace, change, level.is_some(), rows);
            }
        }
    }

    /// An allocator has more or less memory. Returns that of its component.
    fn level(
        &mut self,
        change: &MemoryChange,
        level: PoolLevel,
        rows: &mut MemoryRows,
    ) -> Option<MemoryTotals> {
        let place = level.place;
        self.levels.insert((place, change.site.process), level);
        let own = self.levels.iter().filter(|((it, _), _)| *it == place);
        let sum = own.fold((0_u64, 0_u64), |(allocated, reserved), (_, it)| {
            (
                allocated.saturating_add(it.allocated),
                reserved.saturating_add(it.reserved),
            )
        });
        let totals = MemoryTotals {
            allocated: Some(sum.0),
            reserved: sum.1,
        };
        rows.records.push(MemoryRecord {
            component: MemoryComponent::of_blocks(place)?,
            at: change.at,
            device: place.device()?,
            totals,
        });
        Some(totals)
    }

    /// A block of an allocator.
    fn block(
        &mut self,
        change: &MemoryChange,
        totals: Option<MemoryTotals>,
        rows: &mut MemoryRows,
    ) {
        if let Some(mut ended) = self.live.remove(&change.key()) {
            let totals = totals.unwrap_or(ended.totals);
            ended.released = Some((change.at, totals));
            rows.allocations.push(ended);
        }
        if let MemoryChangeKind::Allocated {
            place: Some(place),
            size: Some(size),
        } = change.kind
            && let Some((device, totals)) = place.device().zip(totals)
        {
            let block = Allocation {
                name: place.to_string(),
                device,
                size,
                begin: change.at,
                totals,
                released: None,
            };
            self.live.insert(change.key(), block);
        }
    }

    /// Memory of the runtime. `is_split`: it was memory that an allocator had split into blocks.
    fn memory(
        &mut self,
        trace: &Trace,
        change: &MemoryChange,
        is_split: bool,
        rows: &mut MemoryRows,
    ) {
        let at = change.at;
        let component = MemoryComponent::Application;
        let known = |reserved| MemoryTotals {
            allocated: None,
            reserved,
        };
        let mut record = |device, reserved| {
            rows.records.push(MemoryRecord {
                component,
                at,
                device,
                totals: known(reserved),
            });
        };
        let ended = match change.kind {
            MemoryChangeKind::Allocated { .. } | MemoryChangeKind::Freed => {
                self.live.remove(&change.key())
            }
            MemoryChangeKind::Refused { .. } => None,
        };
        let mut unchanged = None;
        if let Some(mut allocation) = ended {
            let total = self.in_use.entry(allocation.device).or_default();
            // A call inside an allocation reports it as well.
            let is_inside = !matches!(change.kind, MemoryChangeKind::Freed)
                && allocation.begin >= change.call.begin;
            unchanged = is_inside.then_some((allocation.device, *total));
            *total = total.saturating_sub(allocation.size);
            if !is_inside {
                allocation.released = Some((at, known(*total)));
                record(allocation.device, *total);
                if !is_split {
                    rows.allocations.push(allocation);
                }
            }
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
        if unchanged != Some((device, *total)) {
            record(device, *total);
        }
        let function = trace.function(change.site.function);
        let allocation = Allocation {
            name: function.name.clone(),
            device,
            size,
            begin: at,
            totals: known(*total),
            released: None,
        };
        self.live.insert(change.key(), allocation);
    }

    /// The allocations that were never freed, by their begin.
    pub(super) fn rest(&mut self, source: &ExportSource<'_>) -> Vec<Allocation> {
        let pools = &self.pools;
        let is_split = |(process, id): &MemoryKey| match id {
            MemoryId::Address(address) => {
                let pools = pools.get(process);
                pools.is_some_and(|it| it.has_blocks(*address))
            }
            MemoryId::Block(_) | MemoryId::Physical(_) => false,
        };
        let rest = self.live.drain().filter(|(key, _)| !is_split(key));
        let mut rest: Vec<Allocation> = rest
            .map(|(_, it)| it)
            .filter(|it| source.selection.span(it.begin, i64::MAX))
            .collect();
        rest.sort_by_key(|it| (it.begin, it.totals.reserved, it.totals.allocated));
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

/// The cells for the allocated, reserved and active memory of a component. The last one is not known.
fn total_cells(totals: Option<MemoryTotals>) -> String {
    let cell = |bytes: Option<u64>| match bytes {
        Some(bytes) => megabytes(bytes).to_string(),
        None => UNKNOWN.to_owned(),
    };
    let allocated = cell(totals.and_then(|it| it.allocated));
    let reserved = cell(totals.map(|it| it.reserved));
    format!("{allocated},{reserved},{UNKNOWN}")
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

    pub(super) fn write(&mut self, rows: &MemoryRows) -> io::Result<()> {
        for it in &rows.allocations {
            let (released, lasted) = match it.released {
                Some((end, _)) => (self.offsets.micros(end), micros(end - it.begin)),
                None => (String::new(), String::new()),
            };
            let kilobytes = it.size as f64 / 1024.0;
            let begin = self.offsets.micros(it.begin);
            let [before, after] = [Some(it.totals), it.released.map(|it| it.1)].map(total_cells);
            writeln!(
                self.allocations,
                "{},{kilobytes},{begin},{released},,{lasted},,{before},{after},{UNKNOWN},NPU:{}",
                it.name, it.device
            )?;
        }
        for it in &rows.records {
            let (at, totals) = (self.offsets.micros(it.at), total_cells(Some(it.totals)));
            writeln!(
                self.records,
                "{},{at},{totals},{UNKNOWN},NPU:{}",
                it.component.word(),
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
