//! The index: the places of a file's content, so that it can be shown without being read.
//!
//! A file is cut into *segments* (a few chunks), and segments make up *groups*. When a group is
//! full, the writer appends two chunks to it: `SUMM`, the group's lanes summed up finely, and
//! `INDX`: its segments with what they span, its lanes summed up coarsely, what its tasks tell
//! about device clocks, which times are of tasks that were launched where, and counts. `ROOT` lists the groups of a file that was ended properly. A
//! reader makes the same of chunks that no index covers, with the same [`Indexer`].

mod bounds;
mod builder;
mod codec;
mod group;
mod links;
mod pending;
mod run_spans;
mod sink;
mod streams;
mod stretches;
mod totals;

pub(crate) use builder::Indexer;
pub(crate) use codec::{decode, read_lanes};
pub(crate) use group::{ChunkGroup, FineLanes, LaneKey, Segment};
pub(crate) use links::TimesLink;
pub(crate) use pending::FileSpan;
pub(crate) use run_spans::RunSpan;
pub(super) use sink::IndexSink;
pub(crate) use totals::{CODES, DeviceTotals, Totals};
