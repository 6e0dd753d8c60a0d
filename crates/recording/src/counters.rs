//! The tool's own counters. They only grow, but a process tells them from several threads, whose
//! records come in any order: the largest value is the latest.

use std::collections::BTreeMap;

/// By process and `ascend_trace_format::record::Counter` code.
pub(crate) type Counters = BTreeMap<(u32, u16), u64>;

/// A counter has come at least so far.
pub(crate) fn raise(counters: &mut Counters, key: (u32, u16), value: u64) {
    let known = counters.entry(key).or_default();
    *known = value.max(*known);
}
