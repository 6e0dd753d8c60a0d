//! Exports read back and compared with the recording.

/// Both formats of timelines against each other, and against the table of dependencies.
mod agreement;
/// A program that allocates memory.
mod allocations;
/// Folders of torch_npu's profiler, by the rules of their readers.
mod ascend;
/// A Chrome trace as an importer sees it; knows nothing of the exporter.
mod checker;
/// Chrome JSON against the recording.
mod chrome;
/// CSV against the recording, and against the Chrome JSON.
mod csv;
/// The Parquet tables of a dataset.
#[cfg(feature = "parquet")]
mod dataset;
/// Captures and replays.
mod graphs;
/// Kineto's dialect by the rules of its readers, and against the Chrome JSON.
mod kineto;
/// A sink that keeps files in memory.
mod memory;
/// Narrow ranges by the index, against the whole file.
mod narrow;
/// Parquet against the CSV tables, and its first queries.
#[cfg(feature = "parquet")]
mod parquet;
/// Perfetto's own format against the recording, and against the Chrome JSON.
mod perfetto;
/// Processes with the same pid.
mod processes;
/// Messages of protocol buffers.
mod protobuf;
/// The documentation's queries for Perfetto.
mod queries;
/// Random traces through every format.
mod random;
/// Ranges that the program named.
mod ranges;
/// Exports of a part of a trace.
mod selection;
/// How much room the timelines take.
mod sizes;
/// Files in tiny steps: selections, graphs, collectives, contradictions, damage.
mod steps;
/// Files that are exported part by part, against the whole.
mod stream;
/// What holds for both formats of timelines.
mod timelines;
/// Readers that others wrote, where they are installed.
mod tools;
/// A Perfetto trace as its trace processor sees it; knows nothing of the exporter.
mod trace_processor;
/// Arrows and counters of the timeline for MindStudio Insight, against the tables.
mod trace_view;
/// Steps of training loops.
mod training;
