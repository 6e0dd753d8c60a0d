//! Counters of the tool. They only grow, but several threads of a process report them, and their
//! records arrive in any order: the largest value is the latest.

use std::collections::BTreeMap;

/// By process and `ascend_trace_format::record::Counter` code.
pub(crate) type Counters = BTreeMap<(u32, u16), u64>;

/// Raises a counter to at least this value.
pub(crate) fn raise(counters: &mut Counters, key: (u32, u16), value: u64) {
    let known = counters.entry(key).or_default();
    *known = value.max(*known);
}
