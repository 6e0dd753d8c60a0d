//! System calls by their numbers: without the C library's functions, at which threads can be cancelled, and
//! which set `errno`.

pub(crate) use ascend_trace_ring::sys::call;
