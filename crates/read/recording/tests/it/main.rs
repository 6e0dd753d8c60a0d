//! Tests of the recording from outside.

#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers may panic like the test"
)]

/// Mapped device times are true within the error they come with.
mod clock;
/// Counts of a recording.
mod counts;
/// Files that are cut, damaged or made to do harm.
mod damage;
/// What ran inside of tasks, by the hardware's log.
mod entries;
/// Searches along the time of a long file.
mod find;
/// Files that grow while they are read.
mod follow;
/// The reader against the document.
mod format_document;
/// Files of every version, kept as they were written.
mod golden;
/// Traces from rows in any order.
mod load;
mod losses;
/// What reading takes.
mod memory;
/// Random damage.
mod mutations;
/// Calls that are under way while a file is written.
mod open;
/// What operators work on.
mod operands;
/// Files that are rewritten in larger chunks.
mod repack;
/// Rows to bytes and back.
mod round_trip;
/// Functions that a file describes at their first call.
mod tables;
/// Long files, read where they are looked at.
mod windows;
