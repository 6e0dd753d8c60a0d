//! The timeline of the page: what each stream and thread did, in a number of bytes that does not follow the recording.
//!
//! A lane has two levels of detail. Its columns cover all of the recording, with the busy share of each; the script joins
//! them for small scales. Its slices are those of single tasks and calls, with those that are longest in the recording first,
//! as many as there is room for.

mod columns;
mod fold;
mod lanes;
mod longest;
mod names;
mod packed;
mod write;

use serde::Serialize;

pub use fold::TimelineFold;

/// The timeline as the page has it. Packed lists are variable-length numbers, in base64.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timeline {
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Number of columns of each lane, which cover the whole time.
    pub columns: usize,
    pub names: Vec<String>,
    pub causes: Vec<&'static str>,
    pub kinds: Vec<&'static str>,
    pub lanes: Vec<Lane>,
    /// Lanes without room in the page.
    pub lanes_left_out: usize,
    /// For each: the lane and time where it begins, the lane where it ends, by how much later that is, and its kind.
    pub arrows: String,
    pub arrow_kinds: Vec<&'static str>,
    pub arrows_left_out: u64,
    /// All slices that are as long as this or longer are in the page; 0 if all are.
    pub complete_from_ns: i64,
    /// The same for stalls.
    pub stalls_complete_from_ns: i64,
}

/// One stream, one thread, or the ranges of one thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lane {
    pub label: String,
    /// The process and the device that it belongs to.
    pub group: String,
    pub is: &'static str,
    /// Slices that the recording has, and tasks without a time, which have no slice.
    pub count: u64,
    pub untimed: u64,
    /// How many slices the page has.
    pub kept: usize,
    /// Rows of nested slices.
    pub rows: u8,
    /// Runs of columns: how many are empty, how many follow, and three numbers for each of these. They are the busy share of
    /// 255, the number of slices that begin there, and the name that is ahead of others, if there is one.
    pub merged: String,
    /// For each: begin after the begin of the one before, duration, name, kind and row, error.
    pub slices: String,
    /// For each: begin, duration, cause, name of the held-up item, error; 0 if none is known.
    pub stalls: String,
}
