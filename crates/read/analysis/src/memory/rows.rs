//! The tables of memory.

use ascend_trace_recording::units::bytes;
use schemars::JsonSchema;
use serde::Serialize;

use super::changes::MemoryPlace;
use crate::columns::declare::*;

/// The columns of the place where memory lies.
#[rustfmt::skip]
macro_rules! place {
    () => {
        [
            column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").json::<u32>().text("process"),
            column("rank", Id, |it: &Self| it.rank.map(|it| it as i64).into(), "rank of the process; `null` if it is not known").json::<Option<u64>>().text("rank").if_any(|it: &Self| it.rank.is_some()),
            column("place", Word, |it: &Self| it.place.to_string().into(), "`device N`, `caching allocator of device N` for blocks that PyTorch's caching allocator gave out, `other blocks of device N` for those of other allocators, `pools of device N` for memory that `aclrtMemPoolMallocAsync` gave out, or `host`").json::<str>().text("memory of"),
        ]
    };
}

/// The columns of allocations that a place in the program made.
#[rustfmt::skip]
macro_rules! held {
    () => {
        [
            column("bytes", Bytes, |it: &Self| it.bytes.into(), "bytes of known size").json::<u64>(),
            column("unsized_count", Count, |it: &Self| it.unsized_count.into(), "allocations that are not in `bytes`, because their size is not known").json::<u64>(),
            column("", Bytes, |it: &Self| Value::estimate((it.bytes.try_into().unwrap_or(i64::MAX), 0), it.unsized_count), "the bytes; more, if sizes are not known").text("bytes"),
            column("share", Share, |it: &Self| it.share.into(), "of all bytes of the place at that time").json::<f64>().text("share"),
            column("count", Count, |it: &Self| it.count.into(), "allocations").json::<u64>().text("allocations"),
            column("function", Text, |it: &Self| (&it.function).into(), "name of the function").json::<str>().text("by"),
            column("site", Word, |it: &Self| it.site.as_deref().into(), "where the calls were made; `null` without recorded stacks").json::<Option<String>>().text("called at").if_any(|it: &Self| it.site.is_some()),
        ]
    };
}

table_row! {
/// Memory of a process in one place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceMemory {
    ..place!();
    pub peak_bytes: u64 => column("peak_bytes", Bytes, |it: &Self| it.peak_bytes.into(), "the most that was in use at a time").text("peak");
    pub peak_at_ns: i64 => column("peak_at_ns", Moment, |it: &Self| it.peak_at_ns.into(), "when this was reached").text("at");
    pub peak_step: Option<String> => column("peak_step", Word, |it: &Self| it.peak_step.as_deref().into(), "the step in which it was reached, if the program names its steps").text("in").if_any(|it: &Self| it.peak_step.is_some());
    pub peak_module: Option<String> => column("peak_module", Text, |it: &Self| it.peak_module.as_deref().into(), "the innermost module of PyTorch that the allocating thread was in then, if the ranges of `--python` have one").text("module").if_any(|it: &Self| it.peak_module.is_some());
    pub end_bytes: u64 => column("end_bytes", Bytes, |it: &Self| it.end_bytes.into(), "in use at the end").text("at end");
    pub end_count: u64 => column("end_count", Count, |it: &Self| it.end_count.into(), "allocations in use at the end").text("allocations");
    pub allocations: u64 => column("allocations", Count, |it: &Self| it.allocations.into(), "all allocations, freed ones too").text("of");
    pub releases: u64 => column("releases", Count, |it: &Self| it.releases.into(), "allocations that were freed");
    pub allocated_bytes: u64 => column("allocated_bytes", Bytes, |it: &Self| it.allocated_bytes.into(), "bytes of all allocations together").text("in all");
    pub unsized_count: u64 => column("unsized_count", Count, |it: &Self| it.unsized_count.into(), "allocations of unknown size in use at the end: the bytes are more").text("without size").if_any(|it: &Self| it.unsized_count > 0);
    pub process: u32;
    pub rank: Option<u64>;
    pub place: MemoryPlace;
}
}

table_row! {
/// Memory that an allocator of the program has reserved on a device, and the blocks that it has given out.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolMemory {
    ..place!();
    pub peak_reserved_bytes: u64 => column("peak_reserved_bytes", Bytes, |it: &Self| it.peak_reserved_bytes.into(), "the most that was reserved at a time").text("peak reserved");
    pub peak_reserved_at_ns: i64 => column("peak_reserved_at_ns", Moment, |it: &Self| it.peak_reserved_at_ns.into(), "when this was reached");
    pub peak_reserved_step: Option<String> => column("peak_reserved_step", Word, |it: &Self| it.peak_reserved_step.as_deref().into(), "the step in which this was reached, if the program names its steps");
    pub peak_reserved_module: Option<String> => column("peak_reserved_module", Text, |it: &Self| it.peak_reserved_module.as_deref().into(), "the innermost module of PyTorch that the thread was in then, if the ranges of `--python` have one");
    pub peak_allocated_bytes: u64 => column("peak_allocated_bytes", Bytes, |it: &Self| it.peak_allocated_bytes.into(), "the most that was allocated at a time").text("peak allocated");
    pub peak_allocated_at_ns: i64 => column("peak_allocated_at_ns", Moment, |it: &Self| it.peak_allocated_at_ns.into(), "when this was reached").text("at");
    pub peak_allocated_step: Option<String> => column("peak_allocated_step", Word, |it: &Self| it.peak_allocated_step.as_deref().into(), "the step in which this was reached").text("in").if_any(|it: &Self| it.peak_allocated_step.is_some());
    pub peak_allocated_module: Option<String> => column("peak_allocated_module", Text, |it: &Self| it.peak_allocated_module.as_deref().into(), "the innermost module that the thread was in then").text("module").if_any(|it: &Self| it.peak_allocated_module.is_some());
    pub reserved_at_peak_bytes: u64 => column("reserved_at_peak_bytes", Bytes, |it: &Self| it.reserved_at_peak_bytes.into(), "reserved when most was allocated").text("reserved then");
    pub unused_at_peak_bytes: u64 => column("unused_at_peak_bytes", Bytes, |it: &Self| it.unused_at_peak_bytes.into(), "reserved and not allocated then").text("unused then");
    pub most_unused_bytes: u64 => column("most_unused_bytes", Bytes, |it: &Self| it.most_unused_bytes.into(), "the most that was reserved and not allocated").text("most unused");
    pub most_unused_at_ns: i64 => column("most_unused_at_ns", Moment, |it: &Self| it.most_unused_at_ns.into(), "when this was reached");
    pub end_reserved_bytes: u64 => column("end_reserved_bytes", Bytes, |it: &Self| it.end_reserved_bytes.into(), "reserved at the end").text("reserved at end");
    pub end_allocated_bytes: u64 => column("end_allocated_bytes", Bytes, |it: &Self| it.end_allocated_bytes.into(), "allocated at the end").text("allocated at end");
    pub process: u32;
    pub rank: Option<u64>;
    pub place: MemoryPlace;
}
}

table_row! {
/// The allocations of one place in the program that are in use at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldMemory {
    ..place!();
    ..held!();
    pub process: u32;
    pub rank: Option<u64>;
    pub place: MemoryPlace;
    pub function: String;
    pub site: Option<String>;
    pub count: u64;
    pub bytes: u64;
    pub unsized_count: u64;
    /// Of the place, 0 to 1.
    pub share: f64;
}
}

table_row! {
/// An allocation that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedAllocation {
    ..place!();
    pub at_ns: i64 => column("at_ns", Moment, |it: &Self| it.at_ns.into(), "when the call returned").text("at");
    pub step: Option<String> => column("step", Word, |it: &Self| it.step.as_deref().into(), "the step, if the program names its steps").text("in").if_any(|it: &Self| it.step.is_some());
    pub module: Option<String> => column("module", Text, |it: &Self| it.module.as_deref().into(), "the innermost module of PyTorch that the thread was in, if the ranges of `--python` have one").text("module").if_any(|it: &Self| it.module.is_some());
    pub size: Option<u64> => column("size", Bytes, |it: &Self| it.size.into(), "bytes that were asked for; `null` if they are not known").text("asked for");
    pub error: String => column("error", Word, |it: &Self| (&it.error).into(), "name of the error, or its number").text("error");
    pub in_use_bytes: u64 => column("in_use_bytes", Bytes, |it: &Self| it.in_use_bytes.into(), "in use in this place by this process then").text("in use");
    pub step_bytes: Option<i64> => column("step_bytes", Figures, |it: &Self| it.step_bytes.into(), "by how much this has grown since the begin of the step");
    => column("", Text, |it: &Self| it.growth().into(), "the same in words").text("since the step began").if_any(|it: &Self| it.step_bytes.is_some());
    pub gaps_bytes: u64 => column("gaps_bytes", Bytes, |it: &Self| it.gaps_bytes.into(), "free ranges between the addresses in use, together. Other processes and the runtime may use them");
    pub largest_gap_bytes: u64 => column("largest_gap_bytes", Bytes, |it: &Self| it.largest_gap_bytes.into(), "the largest of them").text("largest gap");
    pub unused_bytes: Option<u64> => column("unused_bytes", Bytes, |it: &Self| it.unused_bytes.into(), "reserved by allocators of the process on this device and not allocated then; `null` if they reported no blocks").text("reserved, unused").if_any(|it: &Self| it.unused_bytes.is_some());
    pub function: String => column("function", Text, |it: &Self| (&it.function).into(), "name of the function").text("by");
    pub site: Option<String> => column("site", Word, |it: &Self| it.site.as_deref().into(), "where the call was made; `null` without recorded stacks").text("called at").if_any(|it: &Self| it.site.is_some());
    => column("holders", Nested, |it: &Self| Value::list(&it.holders, Value::row), "the places in the program that held most then, five at most, with the keys of `peak[]`").json::<Vec<HeldMemory>>();
    pub holders: Vec<HeldMemory>;
    pub process: u32;
    pub rank: Option<u64>;
    pub place: MemoryPlace;
}
}

table_row! {
/// Memory in a step that the program names.
#[derive(Clone, Debug, PartialEq)]
pub struct StepMemory {
    ..place!();
    pub step: String => column("step", Word, |it: &Self| (&it.step).into(), "name of the step").text("step");
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "when its range began on the host").text("begin");
    pub begin_bytes: u64 => column("begin_bytes", Bytes, |it: &Self| it.begin_bytes.into(), "in use then").text("at begin");
    pub peak_bytes: u64 => column("peak_bytes", Bytes, |it: &Self| it.peak_bytes.into(), "the most that was in use in the step").text("peak");
    pub end_bytes: u64 => column("end_bytes", Bytes, |it: &Self| it.end_bytes.into(), "in use at its end").text("at end");
    pub process: u32;
    pub rank: Option<u64>;
    pub place: MemoryPlace;
}
}

/// Memory of a recording, largest first in each table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MemoryUsage {
    #[serde(serialize_with = "rows")]
    pub places: Vec<PlaceMemory>,
    /// Memory that allocators of the program have reserved, if they report their blocks.
    #[serde(serialize_with = "rows")]
    pub pools: Vec<PoolMemory>,
    /// Memory in use at the peak of each place.
    #[serde(serialize_with = "rows")]
    pub peak: Vec<HeldMemory>,
    /// Memory in use at the end.
    #[serde(serialize_with = "rows")]
    pub in_use: Vec<HeldMemory>,
    /// The first ones.
    #[serde(serialize_with = "rows")]
    pub refused: Vec<RefusedAllocation>,
    pub refused_left_out: u64,
    #[serde(serialize_with = "rows")]
    pub steps: Vec<StepMemory>,
    /// Allocations that are not in the tables, because their device is not known.
    pub unplaced: u64,
    /// Calls that reported blocks that were not recorded. With any, what allocators have allocated is not exact.
    pub missed_blocks: u64,
    /// False if there were too many allocations to follow.
    pub is_known: bool,
}

impl RefusedAllocation {
    fn growth(&self) -> Option<String> {
        let by = self.step_bytes?;
        let sign = if by < 0 { "-" } else { "+" };
        Some(format!("{sign}{}", bytes(by.unsigned_abs())))
    }
}
