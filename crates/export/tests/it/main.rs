//! Exports read back and compared with the model.

/// A Chrome trace as an importer sees it; knows nothing of the exporter.
mod checker;
/// Chrome JSON against the model.
mod chrome;
/// CSV against the model, and against the Chrome JSON.
mod csv;
/// Captures and replays.
mod graphs;
/// A sink that keeps files in memory.
mod memory;
/// Perfetto's own format against the model, and against the Chrome JSON.
mod perfetto;
/// Messages of protocol buffers.
mod protobuf;
/// Random traces through every format.
mod random;
/// Readers that others wrote, where they are installed.
mod tools;
/// A Perfetto trace as its trace processor sees it; knows nothing of the exporter.
mod trace_processor;
